"""The groups and kinds that are not read as gitfleet's own, and what becomes of them."""

from __future__ import annotations

from typing import Final

from gitfleet.api.clusters import CLUSTER_GROUP
from gitfleet.api.fleet import GITFLEET_GROUP
from gitfleet.api.placements import PLACEMENT_GROUP

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
