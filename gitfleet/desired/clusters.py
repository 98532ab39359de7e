"""MemberCluster files: what people may write (KubeFleet apis/cluster/v1, and `spec.connection`) and its value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, model_validator

from gitfleet.api.clusters import (
    AgentStatus,
    ClusterStatus,
    Connection,
    MemberCluster,
    PropertyValue,
    ResourceUsage,
    Taint,
)
from gitfleet.api.objects import JsonObject, Origin
from gitfleet.api.placements import DeletePropagation
from gitfleet.desired.breaks import Break, Broken
from gitfleet.desired.shapes import (
    ConditionShape,
    LabelKey,
    LabelValue,
    NamespaceName,
    NonEmpty,
    ObjectShape,
    QuantityText,
    Shape,
    ShortMetadataShape,
    Time,
    conditions_of,
    parse_time,
)


class TaintShape(Shape):
    """Keeps placements away that do not tolerate it."""

    key: LabelKey
    value: LabelValue | None = None
    effect: Literal["NoSchedule"]


class IdentityShape(Shape):
    """Who a member's agent is; rbac/v1 Subject."""

    kind: NonEmpty
    name: NonEmpty
    namespace: NamespaceName | None = None
    api_group: str | None = None


class DeleteOptionsShape(Shape):
    """How a cluster leaves."""

    validation_mode: Literal["Strict", "Skip"] | None = None
    propagation_policy: Literal["Abandon", "Delete"] | None = None


class SecretKeyShape(Shape):
    """A key of a Secret on the cluster where gitfleet runs."""

    namespace: NamespaceName
    name: NonEmpty
    key: NonEmpty = "kubeconfig"


class KubeconfigShape(Shape):
    """Where the process finds the cluster's kubeconfig; never the kubeconfig itself."""

    file: NonEmpty | None = None
    secret: SecretKeyShape | None = None

    @model_validator(mode="after")
    def _rules(self) -> KubeconfigShape:
        if (self.file is None) == (self.secret is None):
            raise Broken([((), "needs exactly one of file and secret; write one")])
        return self


class ConnectionShape(Shape):
    """How to reach the cluster: exactly one way."""

    context: NonEmpty | None = None
    kubeconfig: KubeconfigShape | None = None
    in_cluster: Literal[True] | None = None
    pull: Literal[True] | None = None
    simulated: Literal[True] | None = None

    @model_validator(mode="after")
    def _rules(self) -> ConnectionShape:
        ways = [self.context, self.kubeconfig, self.in_cluster, self.pull, self.simulated]
        if sum(way is not None for way in ways) != 1:
            raise Broken([((), "needs exactly one of context, kubeconfig, inCluster, pull and simulated; write one")])
        return self


class MemberClusterSpecShape(Shape):
    """The spec of a MemberCluster."""

    identity: IdentityShape | None = None
    heartbeat_period_seconds: Annotated[int, Field(ge=1, le=600)] | None = None
    taints: Annotated[list[TaintShape], Field(max_length=100)] = Field(default_factory=list)
    delete_options: DeleteOptionsShape | None = None
    connection: ConnectionShape | None = None

    @model_validator(mode="after")
    def _rules(self) -> MemberClusterSpecShape:
        if breaks := taint_breaks(self.taints):
            raise Broken(breaks)
        return self


class StatusShape(Shape):
    """What is observed, and may be written in a file to plan without a live answer; unknown fields are let through."""

    model_config = ConfigDict(extra="ignore")


class PropertyShape(StatusShape):
    """One observed property."""

    value: QuantityText
    observation_time: Time | None = None


class ResourceUsageShape(StatusShape):
    """Quantities by resource name."""

    capacity: dict[str, QuantityText] = Field(default_factory=dict)
    allocatable: dict[str, QuantityText] = Field(default_factory=dict)
    available: dict[str, QuantityText] = Field(default_factory=dict)
    observation_time: Time | None = None


class AgentStatusShape(StatusShape):
    """One agent's report."""

    type: str = "MemberAgent"
    conditions: list[ConditionShape] = Field(default_factory=list)
    last_received_heartbeat: Time | None = None


class ClusterStatusShape(StatusShape):
    """The status of a MemberCluster."""

    conditions: list[ConditionShape] = Field(default_factory=list)
    properties: dict[str, PropertyShape] = Field(default_factory=dict)
    resource_usage: ResourceUsageShape | None = None
    namespaces: dict[str, str] | None = None
    agent_status: list[AgentStatusShape] = Field(default_factory=list)


class MemberClusterShape(ObjectShape):
    """MemberCluster: one cluster of the fleet, its labels and taints, and how to reach it."""

    metadata: ShortMetadataShape
    spec: MemberClusterSpecShape = Field(default_factory=MemberClusterSpecShape)
    status: ClusterStatusShape | None = None  # type: ignore[assignment]  # narrower than any mapping, on purpose


def taint_breaks(taints: Sequence[TaintShape]) -> list[Break]:
    """No (key, value, effect) stands twice (KubeFleet pkg/utils/validator/membercluster.go)."""
    seen: set[tuple[str, str, str]] = set()
    breaks: list[Break] = []
    for index, taint in enumerate(taints):
        identity = (taint.key, taint.value or "", taint.effect)
        if identity in seen:
            breaks.append((("taints", index), "stands twice; remove one"))
        seen.add(identity)
    return breaks


def cluster_of(shape: MemberClusterShape, body: JsonObject, origin: Origin) -> MemberCluster:
    """The member cluster, with the status that the file has."""
    spec, options = shape.spec, shape.spec.delete_options
    return MemberCluster(
        name=shape.metadata.name,
        labels=dict(shape.metadata.labels),
        annotations=dict(shape.metadata.annotations),
        taints=tuple(Taint(taint.key, taint.value or "", taint.effect) for taint in spec.taints),
        heartbeat_period_seconds=spec.heartbeat_period_seconds or 60,
        delete_validation_mode=(options.validation_mode if options else None) or "Strict",
        delete_propagation_policy=DeletePropagation((options.propagation_policy if options else None) or "Abandon"),
        connection=_connection(spec.connection) if spec.connection else None,
        status=_status(shape.status) if shape.status else ClusterStatus(),
        body=body,
        origin=origin,
    )


def _connection(shape: ConnectionShape) -> Connection:
    secret = shape.kubeconfig.secret if shape.kubeconfig else None
    return Connection(
        context=shape.context,
        kubeconfig_file=shape.kubeconfig.file if shape.kubeconfig else None,
        kubeconfig_secret=(secret.namespace, secret.name, secret.key) if secret else None,
        in_cluster=bool(shape.in_cluster),
        pull=bool(shape.pull),
        simulated=bool(shape.simulated),
    )


def _status(shape: ClusterStatusShape) -> ClusterStatus:
    usage = shape.resource_usage or ResourceUsageShape()
    agent = shape.agent_status[0] if shape.agent_status else None
    return ClusterStatus(
        conditions=conditions_of(shape.conditions),
        properties={
            name: PropertyValue(found.value, parse_time(found.observation_time) if found.observation_time else None)
            for name, found in shape.properties.items()
        },
        resource_usage=ResourceUsage(
            capacity=dict(usage.capacity),
            allocatable=dict(usage.allocatable),
            available=dict(usage.available),
            observed=parse_time(usage.observation_time) if usage.observation_time else None,
        ),
        namespaces=shape.namespaces,
        agent=AgentStatus(
            type=agent.type,
            conditions=conditions_of(agent.conditions),
            last_received_heartbeat=(
                parse_time(agent.last_received_heartbeat) if agent.last_received_heartbeat else None
            ),
        )
        if agent
        else None,
    )
