"""The arithmetic of maxUnavailable and maxSurge (KubeFleet pkg/controllers/rollout, calculateMaxToRemove and
calculateMaxToAdd)."""

from __future__ import annotations

from dataclasses import dataclass

from gitfleet.api.placements import PlacementType
from gitfleet.api.strategies import RollingUpdate
from gitfleet.formats.int_or_percent import scaled
from gitfleet.model.rolling import RolloutRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What the arithmetic counts: `ready` bindings, those of them that are `leaving` (being removed already), and
    `can_be_ready`: placed, not failed, so that each may hold running resources."""

    ready: int
    leaving: int
    can_be_ready: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """`max_to_remove` clusters may be taken down now and `max_to_add` may be bound; either may be negative, which
    means that the limit is exceeded already and nothing may move."""

    target: int
    max_unavailable: int
    max_surge: int
    max_to_remove: int
    max_to_add: int

    @property
    def floor(self) -> int:
        """How many clusters must stay available."""
        return max(0, self.target - self.max_unavailable)


def budget(target: int, limits: RollingUpdate, counts: Counts) -> Budget:
    """What may move, for a target number of clusters: any limits are taken (decision D1 is validation's)."""
    unavailable, surge = scaled(limits.max_unavailable, target), scaled(limits.max_surge, target)
    return Budget(
        target=target,
        max_unavailable=unavailable,
        max_surge=surge,
        max_to_remove=(counts.ready - counts.leaving) - (target - unavailable),
        max_to_add=target + surge - counts.can_be_ready,
    )


def target_of(request: RolloutRequest, targeted: int, left_out: int) -> int:
    """The target number of clusters: PickAll those picked, PickN numberOfClusters, PickFixed the length of the list
    (clusters that do not exist included), as the seed on safe rollout says; `left_out` of the picked clusters have been
    silent for long and are not counted (decision D32)."""
    targets = {
        PlacementType.PICK_ALL: targeted,
        PlacementType.PICK_FIXED: len(request.cluster_names),
        PlacementType.PICK_N: request.number_of_clusters or 0,
    }
    return max(0, targets[request.placement_type] - left_out)
