"""gitfleet.yaml: the settings of one fleet (contracts.md §1), what people may write and its value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field
from pydantic.alias_generators import to_camel

from gitfleet.api.fleet import Branches, FleetConfig, HealthCheck, ListedPlugin, ListedProvider
from gitfleet.api.objects import JsonObject, Origin
from gitfleet.desired.breaks import Break
from gitfleet.desired.shapes import (
    AnyMapping,
    Duration,
    LabelSelectorShape,
    MetadataShape,
    NonEmpty,
    ObjectShape,
    Shape,
    seconds_of,
)


class BranchesShape(Shape):
    """Names of branches; approvals and members are prefixes."""

    watch: NonEmpty | None = None
    state: NonEmpty | None = None
    rendered: NonEmpty | None = None
    approvals: NonEmpty | None = None
    members: NonEmpty | None = None


class DeliveryShape(Shape):
    """How objects get to clusters, and how many clusters at a time."""

    mode: Literal["push", "pull", "render"] = "push"
    concurrency: Annotated[int, Field(ge=1, le=1000)] = 32
    executor: NonEmpty = "threads"


class RenderedShape(Shape):
    """The branch with each cluster's final manifests."""

    enabled: bool = False


def _plugin_by_name(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


class SchedulerPluginShape(Shape):
    """One plug-in of the scheduler's profile."""

    name: NonEmpty
    enabled: bool = True
    weight: int = 1
    args: AnyMapping = Field(default_factory=dict)


class SchedulerShape(Shape):
    """The scheduler's profile; no plug-ins means KubeFleet's default profile."""

    plugins: list[Annotated[SchedulerPluginShape, BeforeValidator(_plugin_by_name)]] = Field(default_factory=list)


class PropertyProviderShape(Shape):
    """One provider of cluster properties, beside the built-in one (core)."""

    name: NonEmpty
    args: AnyMapping = Field(default_factory=dict)


class ApprovalsShape(Shape):
    """Who may approve, how many must, and for how long it counts."""

    required: Annotated[int, Field(ge=1)] = 1
    allowed_signers: Any = None
    separate_duties: bool = False
    expires_after: Duration | None = None


class MassDeleteShape(Shape):
    """When one commit removes so much that a person must approve it (decision D25)."""

    max_percent: Annotated[int, Field(ge=0, le=100)] = 30
    min_clusters: Annotated[int, Field(ge=1)] = 5


class FreezeScopeShape(Shape):
    """What a freeze window holds still; empty means everything."""

    placements: list[str] = Field(default_factory=list)
    stages: list[str] = Field(default_factory=list)
    clusters: LabelSelectorShape | None = None


class FreezeWindowShape(Shape):
    """A time in which nothing moves: a cron schedule for its beginning, and how long it lasts."""

    name: NonEmpty
    schedule: NonEmpty
    duration: Duration
    time_zone: NonEmpty = "UTC"
    scope: FreezeScopeShape | None = None


class HealthCheckShape(Shape):
    """CEL expressions that judge one kind."""

    group: str
    kind: NonEmpty
    available: NonEmpty | None = None
    failed: NonEmpty | None = None


class IgnoreDifferencesShape(Shape):
    """Fields of live objects that are left alone."""

    group: str = ""
    kind: NonEmpty
    name: str | None = None
    namespace: str | None = None
    json_pointers: list[str] = Field(default_factory=list)
    managers: list[str] = Field(default_factory=list)


class StateHistoryShape(Shape):
    """How long the history of the state branch may grow."""

    max_commits: Annotated[int, Field(ge=1)] = 10000


class FleetConfigSpecShape(Shape):
    """Every field is optional."""

    interval: Duration = "30s"
    branches: BranchesShape = Field(default_factory=BranchesShape)
    delivery: DeliveryShape = Field(default_factory=DeliveryShape)
    rendered: RenderedShape = Field(default_factory=RenderedShape)
    scheduler: SchedulerShape = Field(default_factory=SchedulerShape)
    property_providers: list[Annotated[PropertyProviderShape, BeforeValidator(_plugin_by_name)]] = Field(
        default_factory=list
    )
    approvals: ApprovalsShape = Field(default_factory=ApprovalsShape)
    mass_delete: MassDeleteShape = Field(default_factory=MassDeleteShape)
    freeze_windows: list[FreezeWindowShape] = Field(default_factory=list)
    health_checks: list[HealthCheckShape] = Field(default_factory=list)
    ignore_differences: list[IgnoreDifferencesShape] = Field(default_factory=list)
    notifications: list[AnyMapping] = Field(default_factory=list)
    state_history: StateHistoryShape = Field(default_factory=StateHistoryShape)


class FleetConfigShape(ObjectShape):
    """FleetConfig: how the reconciler works on this repository."""

    metadata: MetadataShape
    spec: FleetConfigSpecShape = Field(default_factory=FleetConfigSpecShape)


_NOT_ACTED_ON: Final = (
    "rendered",
    "approvals",
    "mass_delete",
    "freeze_windows",
    "health_checks",
    "ignore_differences",
    "notifications",
    "state_history",
)
"""Settings that are read, and that this version does nothing with."""


def config_warnings(shape: FleetConfigShape) -> Iterator[Break]:
    """Settings that somebody may rely on and that have no effect yet: a safeguard that has no effect must say so."""
    spec = shape.spec
    for name in _NOT_ACTED_ON:
        if name in spec.model_fields_set and getattr(spec, name) != type(spec).model_fields[name].get_default(
            call_default_factory=True, validated_data={}
        ):
            yield ("spec", to_camel(name)), "has no effect in this version of gitfleet; do not rely on it"
    if spec.delivery.mode != "push":
        yield ("spec", "delivery", "mode"), "has no effect in this version of gitfleet, which pushes; do not rely on it"
    for name in ("concurrency", "executor"):
        if name in spec.delivery.model_fields_set and getattr(spec.delivery, name) not in (32, "threads"):
            yield ("spec", "delivery", name), "has no effect in this version of gitfleet; do not rely on it"


def config_of(shape: FleetConfigShape, body: JsonObject, origin: Origin) -> FleetConfig:
    """The configuration; freeze windows, notifications and the like stay in `body` for the packages that want them."""
    spec = shape.spec
    branches = {name: value for name, value in spec.branches.model_dump().items() if value is not None}
    return FleetConfig(
        name=shape.metadata.name,
        interval_seconds=seconds_of(spec.interval),
        branches=Branches(**branches),
        delivery_mode=spec.delivery.mode,
        concurrency=spec.delivery.concurrency,
        executor=spec.delivery.executor,
        rendered_enabled=spec.rendered.enabled,
        scheduler_plugins=tuple(
            ListedPlugin(name=p.name, enabled=p.enabled, weight=p.weight, args=p.args) for p in spec.scheduler.plugins
        ),
        approvals_required=spec.approvals.required,
        mass_delete_max_percent=spec.mass_delete.max_percent,
        mass_delete_min_clusters=spec.mass_delete.min_clusters,
        health_checks=tuple(
            HealthCheck(group=c.group, kind=c.kind, available=c.available, failed=c.failed) for c in spec.health_checks
        ),
        state_history_max_commits=spec.state_history.max_commits,
        body=body,
        origin=origin,
        property_providers=tuple(ListedProvider(name=p.name, args=p.args) for p in spec.property_providers),
    )
