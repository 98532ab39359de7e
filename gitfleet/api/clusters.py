"""A member cluster: what people write about it, and what is known about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from gitfleet.api.conditions import Conditions
from gitfleet.api.objects import JsonObject, Origin
from gitfleet.api.placements import DeletePropagation

CLUSTER_GROUP = "cluster.kubernetes-fleet.io"
MEMBER_NAME_LABEL = "kubernetes-fleet.io/member-name"
"""The label that every member carries by itself (KubeFleet)."""


@dataclass(frozen=True, slots=True)
class Taint:
    """Keeps placements away that do not tolerate it; the only effect is NoSchedule."""

    key: str
    value: str = ""
    effect: str = "NoSchedule"


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """How to reach the cluster (contracts.md §1): exactly one way, none when the file says nothing.

    `kubeconfig_secret` is (namespace, name, key). Names are looked up in what the process was given, never in the repo.
    """

    context: str | None = None
    kubeconfig_file: str | None = None
    kubeconfig_secret: tuple[str, str, str] | None = None
    in_cluster: bool = False
    pull: bool = False
    simulated: bool = False


@dataclass(frozen=True, slots=True)
class PropertyValue:
    """An observed property: its text (often a quantity) and when it was seen."""

    value: str
    observed: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceUsage:
    """Quantities by resource name ("cpu", "memory"), and when they were seen. `capacity` is the seed's `total`."""

    capacity: Mapping[str, str] = field(default_factory=dict)
    allocatable: Mapping[str, str] = field(default_factory=dict)
    available: Mapping[str, str] = field(default_factory=dict)
    observed: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentStatus:
    """The member agent's own report: conditions Joined and Healthy, and its last heartbeat.

    gitfleet's push mode writes it on the cluster's behalf: an answering API server is a heartbeat. So that an unchanged
    fleet makes no commit, `last_received_heartbeat` is written only when one of the conditions changes.
    """

    type: str = "MemberAgent"
    conditions: Conditions = ()
    last_received_heartbeat: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterStatus:
    """What is known of a cluster. `namespaces` is None until they were collected (name -> name of the Work, or "")."""

    conditions: Conditions = ()
    properties: Mapping[str, PropertyValue] = field(default_factory=dict)
    resource_usage: ResourceUsage = ResourceUsage()
    namespaces: Mapping[str, str] | None = None
    agent: AgentStatus | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberCluster:
    """cluster.kubernetes-fleet.io MemberCluster with its status.

    `deleting` is when gitfleet saw the file gone (KubeFleet's deletionTimestamp): the cluster is leaving.
    `body` is the object as written, without status.
    """

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    heartbeat_period_seconds: int = 60
    delete_validation_mode: str = "Strict"
    delete_propagation_policy: DeletePropagation = DeletePropagation.ABANDON
    """What becomes of placed objects when the cluster leaves: Abandon keeps them (KubeFleet), Delete removes them."""
    connection: Connection | None = None
    generation: int = 1
    deleting: datetime | None = None
    status: ClusterStatus = ClusterStatus()
    body: JsonObject = field(default_factory=dict)
    origin: Origin | None = None

    @property
    def scheduling_labels(self) -> Mapping[str, str]:
        """The labels selectors see: those written, and the member's own name under KubeFleet's key."""
        return {**self.labels, MEMBER_NAME_LABEL: self.labels.get(MEMBER_NAME_LABEL, self.name)}
