"""FleetConfig (gitfleet.dev/v1alpha1): the settings of one fleet, every field with its default (contracts.md §1)."""

from __future__ import annotations

from dataclasses import dataclass, field

from gitfleet.api.objects import JsonObject, Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class Branches:
    """Names of the branches; `approvals` and `members` are prefixes."""

    watch: str = "main"
    state: str = "gitfleet/state"
    rendered: str = "gitfleet/rendered"
    approvals: str = "gitfleet/approve/"
    members: str = "gitfleet/member/"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedPlugin:
    """One plug-in of the profile: its entry-point name, whether it takes part, and the factor of its score."""

    name: str
    enabled: bool = True
    weight: int = 1
    args: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthCheck:
    """A user's CEL rule for one kind: `available` and `failed` are expressions over the object."""

    group: str
    kind: str
    available: str | None = None
    failed: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedProvider:
    """One property provider: its entry-point name and its args."""

    name: str
    args: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetConfig:
    """How the reconciler works on this repo; `interval_seconds` is the poll interval."""

    name: str = "fleet"
    interval_seconds: float = 30.0
    branches: Branches = Branches()
    delivery_mode: str = "push"  # push | pull | render
    concurrency: int = 32
    executor: str = "threads"
    rendered_enabled: bool = False
    scheduler_plugins: tuple[ListedPlugin, ...] = ()
    approvals_required: int = 1
    mass_delete_max_percent: int = 30
    mass_delete_min_clusters: int = 5
    health_checks: tuple[HealthCheck, ...] = ()
    state_history_max_commits: int = 10000
    body: JsonObject = field(default_factory=dict)
    origin: Origin | None = None
    property_providers: tuple[ListedProvider, ...] = ()
