"""The kinds that stand in files of their own: which versions, which scope, which declaration, which short names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from gitfleet.api.bindings import Binding
from gitfleet.api.clusters import CLUSTER_GROUP, MemberCluster
from gitfleet.api.fleet import GITFLEET_GROUP, FleetConfig
from gitfleet.api.overrides import ClusterResourceOverride, ResourceOverride
from gitfleet.api.placements import PLACEMENT_GROUP, Placement
from gitfleet.api.scenarios import ScenarioFile
from gitfleet.api.schemas import json_schema
from gitfleet.api.snapshots import PolicySnapshot, ResourceSnapshot
from gitfleet.api.staged import Approval, DisruptionBudget, Eviction, StagedRun, StagedStrategy

KUBEFLEET_VERSIONS: Final = ("v1", "v1beta1", "v1alpha1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind: `namespaced` says whether its objects need a namespace or must not have one.

    `declaration` is its class, `short_names` what people type instead of the kind (`crp`).
    """

    group: str
    name: str
    declaration: type[Any]
    short_names: tuple[str, ...] = ()
    namespaced: bool = False
    versions: tuple[str, ...] = KUBEFLEET_VERSIONS

    @property
    def words(self) -> tuple[str, ...]:
        """What people may type for the kind: its name, its plural, its short names."""
        plural = f"{self.name[:-1]}ies" if self.name.endswith("y") else f"{self.name}s"
        return (self.name, plural, *self.short_names)

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the whole document."""
        schema = json_schema(self.declaration)
        named = {
            "apiVersion": {"enum": [f"{self.group}/{version}" for version in self.versions]},
            "kind": {"const": self.name},
        }
        return {**schema, "title": self.name, "properties": {**schema["properties"], **named}}


def _placement_kind(name: str, declaration: type[Any], *short_names: str, namespaced: bool = False) -> Kind:
    return Kind(
        group=PLACEMENT_GROUP, name=name, declaration=declaration, short_names=short_names, namespaced=namespaced
    )


_KINDS: Final = (
    Kind(
        group=GITFLEET_GROUP,
        name="FleetConfig",
        declaration=FleetConfig,
        short_names=("config",),
        versions=("v1alpha1",),
    ),
    Kind(
        group=CLUSTER_GROUP, name="MemberCluster", declaration=MemberCluster, short_names=("mc", "clusters", "cluster")
    ),
    _placement_kind("ClusterResourcePlacement", Placement, "crp", "placements", "placement"),
    _placement_kind("ResourcePlacement", Placement, "rp", namespaced=True),
    _placement_kind("ClusterResourceOverride", ClusterResourceOverride, "cro", "overrides", "override"),
    _placement_kind("ResourceOverride", ResourceOverride, "ro", namespaced=True),
    _placement_kind("ClusterStagedUpdateStrategy", StagedStrategy, "csus", "strategies", "strategy"),
    _placement_kind("StagedUpdateStrategy", StagedStrategy, "sus", namespaced=True),
    _placement_kind("ClusterStagedUpdateRun", StagedRun, "csur", "runs", "run"),
    _placement_kind("StagedUpdateRun", StagedRun, "sur", namespaced=True),
    _placement_kind("ClusterApprovalRequest", Approval, "careq", "approvals", "approval"),
    _placement_kind("ApprovalRequest", Approval, "areq", namespaced=True),
    _placement_kind("ClusterResourcePlacementEviction", Eviction, "crpe", "evictions", "eviction"),
    _placement_kind("ClusterResourcePlacementDisruptionBudget", DisruptionBudget, "crpdb", "budgets", "budget"),
)

KINDS: Final = {(kind.group, kind.name): kind for kind in _KINDS}
"""Every kind that is read from the watched branch, by (group, kind)."""

_OTHERS: Final = (
    Kind(
        group=GITFLEET_GROUP,
        name="Scenario",
        declaration=ScenarioFile,
        versions=("v1alpha1",),
    ),
    _placement_kind("ClusterResourceBinding", Binding, "crb", "bindings", "binding"),
    _placement_kind("ResourceBinding", Binding, "rb", namespaced=True),
    _placement_kind("ClusterResourceSnapshot", ResourceSnapshot, "crs", "snapshots", "snapshot"),
    _placement_kind("ResourceSnapshot", ResourceSnapshot, "rs", namespaced=True),
    _placement_kind(
        "ClusterSchedulingPolicySnapshot",
        PolicySnapshot,
        "csps",
        "policies",
        "policy",
        "policysnapshot",
        "policysnapshots",
    ),
    _placement_kind("SchedulingPolicySnapshot", PolicySnapshot, "sps", namespaced=True),
)

DESCRIBED: Final = (*_KINDS, *_OTHERS)
"""Every kind that has a schema: scenarios, and what gitfleet writes on its state branch, too."""
