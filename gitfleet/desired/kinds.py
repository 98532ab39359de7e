"""The kinds that this package reads: which versions, which shape, which scope, and how the value is made."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from gitfleet.api.clusters import CLUSTER_GROUP
from gitfleet.api.objects import JsonObject, Origin
from gitfleet.api.placements import PLACEMENT_GROUP
from gitfleet.desired import clusters, fleet, overrides, placements, staged
from gitfleet.desired.breaks import Break
from gitfleet.desired.placement_files import PlacementShape, ResourcePlacementShape
from gitfleet.desired.shapes import ObjectShape

GITFLEET_GROUP: Final = "gitfleet.dev"
KUBEFLEET_VERSIONS: Final = ("v1", "v1beta1", "v1alpha1")


def _no_warnings(_shape: Any) -> Iterable[Break]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind: `namespaced` says whether its objects need a namespace or must not have one."""

    group: str
    name: str
    shape: type[ObjectShape]
    make: Callable[[Any, JsonObject, Origin], Any]
    namespaced: bool = False
    versions: tuple[str, ...] = KUBEFLEET_VERSIONS
    warnings: Callable[[Any], Iterable[Break]] = _no_warnings


def _placement_kind(name: str, shape: type[ObjectShape], make: Any, **more: Any) -> Kind:
    return Kind(group=PLACEMENT_GROUP, name=name, shape=shape, make=make, **more)


_KINDS: Final = (
    Kind(
        group=GITFLEET_GROUP,
        name="FleetConfig",
        shape=fleet.FleetConfigShape,
        make=fleet.config_of,
        versions=("v1alpha1",),
        warnings=fleet.config_warnings,
    ),
    Kind(group=CLUSTER_GROUP, name="MemberCluster", shape=clusters.MemberClusterShape, make=clusters.cluster_of),
    _placement_kind(
        "ClusterResourcePlacement", PlacementShape, placements.placement_of, warnings=placements.placement_warnings
    ),
    _placement_kind(
        "ResourcePlacement",
        ResourcePlacementShape,
        placements.placement_of,
        namespaced=True,
        warnings=placements.placement_warnings,
    ),
    _placement_kind(
        "ClusterResourceOverride",
        overrides.ClusterResourceOverrideShape,
        overrides.override_of,
        warnings=overrides.override_warnings,
    ),
    _placement_kind(
        "ResourceOverride",
        overrides.ResourceOverrideShape,
        overrides.override_of,
        namespaced=True,
        warnings=overrides.override_warnings,
    ),
    _placement_kind("ClusterStagedUpdateStrategy", staged.StagedStrategyShape, staged.strategy_of),
    _placement_kind("StagedUpdateStrategy", staged.StagedStrategyShape, staged.strategy_of, namespaced=True),
    _placement_kind("ClusterStagedUpdateRun", staged.StagedRunShape, staged.run_of),
    _placement_kind("StagedUpdateRun", staged.StagedRunShape, staged.run_of, namespaced=True),
    _placement_kind("ClusterApprovalRequest", staged.ApprovalShape, staged.approval_of),
    _placement_kind("ApprovalRequest", staged.ApprovalShape, staged.approval_of, namespaced=True),
    _placement_kind("ClusterResourcePlacementEviction", staged.EvictionShape, staged.eviction_of),
    _placement_kind("ClusterResourcePlacementDisruptionBudget", staged.BudgetShape, staged.budget_of),
)

KINDS: Final = {(kind.group, kind.name): kind for kind in _KINDS}
"""Every kind of ours by (group, kind)."""

ENVELOPES: Final = frozenset({"ClusterResourceEnvelope", "ResourceEnvelope"})
"""KubeFleet's kinds that are payload wherever they stand."""

WRITTEN_BY_GITFLEET: Final = frozenset(
    {
        "ClusterResourceBinding",
        "ClusterResourceOverrideSnapshot",
        "ClusterResourcePlacementStatus",
        "ClusterResourceSnapshot",
        "ClusterSchedulingPolicySnapshot",
        "InternalMemberCluster",
        "ResourceBinding",
        "ResourceOverrideSnapshot",
        "ResourceSnapshot",
        "SchedulingPolicySnapshot",
        "Work",
    }
)
"""KubeFleet's kinds that a hub's own controllers write: decisions, which here stand on the state branch."""

ROLLOUT_KINDS: Final = frozenset(
    {
        ("standard.oam.dev", "RolloutTrait"),
        ("standard.oam.dev", "Rollout"),
        ("core.oam.dev", "RolloutTrait"),
        ("core.oam.dev", "Rollout"),
        ("core.oam.dev", "AppRollout"),
        ("core.oam.dev", "ApplicationDeployment"),
    }
)
"""Workload rollouts (seed 004), kept as written."""

OUR_GROUPS: Final = frozenset({GITFLEET_GROUP, CLUSTER_GROUP, PLACEMENT_GROUP})
