"""A member cluster: what people write about it (KubeFleet apis/cluster/v1, and `spec.connection`), and what is known
about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, field
from datetime import datetime
from typing import Annotated, Final

from annotated_types import Interval, Len

from gitfleet.api.annotations import FIRST_OF_LIST, At, Break, Check, Default, Inline, OneOf, Only, repeated
from gitfleet.api.conditions import Conditions, Status, find_condition
from gitfleet.api.layout import document
from gitfleet.api.objects import Origin
from gitfleet.api.strategies import DeletePropagation
from gitfleet.api.texts import ApiText
from gitfleet.api.values import (
    Annotations,
    LabelKey,
    Labels,
    LabelValue,
    NamespaceName,
    NonEmpty,
    PublicKey,
    QuantityText,
    Seconds,
    ShortName,
    Time,
)

CLUSTER_GROUP = "cluster.kubernetes-fleet.io"
NODE_COUNT = "kubernetes-fleet.io/node-count"
K8S_VERSION = "k8s.io/k8s-version"
MEMBER_NAME_LABEL = "kubernetes-fleet.io/member-name"
"""The label that every member carries by itself (KubeFleet)."""
SERVER: Final = "gitfleet.dev/server"
"""The annotation of a MemberCluster that accepts another API server than it had: the identity of the new one."""


@dataclass(frozen=True, slots=True)
class Taint:
    """Keeps placements away that do not tolerate it.

    key: the taint's key
    value: its value
    effect: always NoSchedule
    """

    key: LabelKey
    value: LabelValue = ""
    effect: Annotated[str, OneOf("NoSchedule"), Default(MISSING)] = "NoSchedule"


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who a member's agent is, as a subject of Kubernetes RBAC; gitfleet itself does not use it.

    kind: kind of the subject
    name: its name
    namespace: its namespace
    apiGroup: its API group
    """

    kind: NonEmpty
    name: NonEmpty
    namespace: NamespaceName | None = None
    api_group: str | None = None


@dataclass(frozen=True, slots=True)
class SecretKey:
    """A key of a Secret on the cluster where gitfleet runs.

    namespace: the Secret's namespace
    name: its name
    key: the key that holds the kubeconfig
    """

    namespace: NamespaceName
    name: NonEmpty
    key: NonEmpty = "kubeconfig"


_Set = Annotated[bool, Check(lambda value: None if value else ApiText.ONLY_TRUE_REMOVE(), {"const": True})]


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """How gitfleet reaches the cluster: exactly one way.

    None when the file says nothing (contracts.md §1). Names are looked up in what the process was given, never in the
    repo.

    context: a context of the kubeconfig that gitfleet was given
    kubeconfig.file: a file of the folder of kubeconfigs that gitfleet was given
    kubeconfig.secret: a Secret on the cluster where gitfleet runs
    inCluster: the cluster where gitfleet runs
    pull: an agent on the cluster fetches what it is to have
    publicKeys: the SSH keys of that agent; its reports count as they are where there is none
    silentAfter: how old its last report may be; three heartbeat periods where absent
    simulated: there is no cluster: it is simulated
    """

    context: NonEmpty | None = None
    kubeconfig_file: Annotated[NonEmpty | None, At("kubeconfig", "file")] = None
    kubeconfig_secret: Annotated[SecretKey | None, At("kubeconfig", "secret")] = None
    in_cluster: _Set = False
    pull: _Set = False
    public_keys: tuple[PublicKey, ...] = ()
    silent_after: Seconds | None = None
    simulated: _Set = False

    @property
    def is_by_name(self) -> bool:
        """Whether the cluster's own name says which one it is: then equal connections lead to different clusters."""
        return self.pull or self.simulated

    def breaks(self) -> Iterator[Break]:
        """Exactly one way."""
        if self.kubeconfig_file is not None and self.kubeconfig_secret is not None:
            yield ("kubeconfig",), ApiText.NEEDS_EXACTLY_ONE_FILE_SECRET()
        kubeconfig = self.kubeconfig_file or self.kubeconfig_secret
        ways = [self.context, kubeconfig, self.in_cluster, self.pull, self.simulated]
        if sum(bool(way) for way in ways) != 1:
            yield (), ApiText.NEEDS_EXACTLY_ONE_CONTEXT()
        for name, value in (("publicKeys", self.public_keys), ("silentAfter", self.silent_after)):
            if value and not self.pull:
                yield (name,), ApiText.ABOUT_REPORTS_AGENT()


@document(lenient=True)
@dataclass(frozen=True, slots=True)
class PropertyValue:
    """An observed property: its text (often a quantity) and when it was seen."""

    value: QuantityText
    observed: Annotated[Time | None, At("observationTime")] = None


_Quantities = Mapping[str, QuantityText]


@document(lenient=True)
@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceUsage:
    """Quantities by the name of a resource, such as cpu and memory, and when they were seen.

    `capacity` is the seed's `total`.

    capacity: what the cluster has
    allocatable: what of it can be used
    available: what of that is free
    observationTime: when this was seen
    """

    capacity: _Quantities = field(default_factory=dict)
    allocatable: _Quantities = field(default_factory=dict)
    available: _Quantities = field(default_factory=dict)
    observed: Annotated[Time | None, At("observationTime")] = None


@document(lenient=True)
@dataclass(frozen=True, slots=True, kw_only=True)
class AgentStatus:
    """The member agent's own report: conditions Joined and Healthy, and its last heartbeat.

    gitfleet's push mode writes it on the cluster's behalf: an answering API server is a heartbeat. So that an unchanged
    fleet makes no commit, `last_received_heartbeat` is written only when one of the conditions becomes another status.
    """

    type: str = "MemberAgent"
    conditions: Conditions = ()
    last_received_heartbeat: Time | None = None


@document(lenient=True)
@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterStatus:
    """What is known of a cluster, and may be written in a file to plan without a live observation.

    `namespaces` is None until they were collected (name -> name of the Work, or ""). `server` is the API server's
    identity, the UID of its Namespace kube-system: two members with the same are one cluster.
    """

    conditions: Conditions = ()
    properties: Mapping[str, PropertyValue] = field(default_factory=dict)
    resource_usage: ResourceUsage = ResourceUsage()
    namespaces: Mapping[str, str] | None = None
    server: str = ""
    agent: Annotated[AgentStatus | None, FIRST_OF_LIST, At("agentStatus")] = None


@document(
    "spec",
    identify=lambda _: (f"{CLUSTER_GROUP}/v1beta1", "MemberCluster"),
    derived={("metadata", "generation"): lambda cluster: cluster.generation},
)
@dataclass(frozen=True, slots=True, kw_only=True)
class MemberCluster:
    """One cluster of the fleet: its labels and taints, how to reach it, and what is known of it.

    `deleting` is when gitfleet saw the file gone (KubeFleet's deletionTimestamp): the cluster is leaving.

    identity: who the cluster's agent is; not used
    taints: keep placements away that do not tolerate them
    heartbeatPeriodSeconds: how often an agent reports
    deleteOptions.validationMode: Strict or Skip, as KubeFleet has it
    deleteOptions.propagationPolicy: whether placed objects are deleted or kept (Abandon) when the cluster leaves the
        fleet
    connection: how gitfleet reaches the cluster
    """

    name: Annotated[ShortName, At("metadata", "name")]
    labels: Annotated[Labels, At("metadata", "labels")] = field(default_factory=dict)
    annotations: Annotated[Annotations, At("metadata", "annotations")] = field(default_factory=dict)
    identity: Identity | None = None
    taints: Annotated[tuple[Taint, ...], Len(0, 100)] = ()
    heartbeat_period_seconds: Annotated[int, Interval(ge=1, le=600)] = 60
    delete_validation_mode: Annotated[str, OneOf("Strict", "Skip"), At("spec", "deleteOptions", "validationMode")] = (
        "Strict"
    )
    delete_propagation_policy: Annotated[DeletePropagation, At("spec", "deleteOptions", "propagationPolicy")] = (
        DeletePropagation.ABANDON
    )
    """What becomes of placed objects when the cluster leaves: Abandon keeps them (KubeFleet), Delete removes them."""
    connection: Connection | None = None
    generation: Annotated[int, At("metadata", "generation"), Only.SERVER] = 1
    deleting: Annotated[Time | None, At("metadata", "deletionTimestamp"), Only.SERVER] = None
    status: Annotated[ClusterStatus, Inline(("status",))] = ClusterStatus()
    origin: Annotated[Origin | None, Only.MEMORY] = None

    def breaks(self) -> Iterator[Break]:
        """No taint stands twice (KubeFleet pkg/utils/validator/membercluster.go)."""
        return repeated(self.taints, ("spec", "taints"), ApiText.STANDS_TWICE_REMOVE_ONE())

    @property
    def is_pulled(self) -> bool:
        """Whether the cluster is reached by its own agent."""
        return self.connection is not None and self.connection.pull

    @property
    def scheduling_labels(self) -> Mapping[str, str]:
        """The labels selectors see: those written, and the member's own name under KubeFleet's key."""
        return {**self.labels, MEMBER_NAME_LABEL: self.labels.get(MEMBER_NAME_LABEL, self.name)}


def is_leaving(cluster: MemberCluster | None) -> bool:
    """Whether a cluster is gone from the fleet or on its way out."""
    return cluster is None or cluster.deleting is not None


def silent_from(cluster: MemberCluster | None) -> datetime | None:
    """Since when a cluster does not answer: its agent's Healthy condition is Unknown. None where it answers, and where
    nothing is known of it."""
    agent = cluster.status.agent if cluster is not None else None
    healthy = find_condition(agent.conditions, "Healthy") if agent is not None else None
    return healthy.last_transition_time if healthy is not None and healthy.status is Status.UNKNOWN else None
