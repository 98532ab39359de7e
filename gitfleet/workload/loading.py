"""Loads workload rollouts when a fleet has the first one: others never do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from gitfleet.api.rollout_plans import RolloutPlan
from gitfleet.api.workload_records import ClusterRolloutStatus
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState
from gitfleet.workload.seam import Rollouts

if TYPE_CHECKING:
    from gitfleet.workload.handlers import Handlers

_NONE: Final = Rollouts()


@dataclass(slots=True)
class RolloutsLoader:
    """Loads the rollouts when a fleet has the first one. `handlers` gives the workload handlers that are installed,
    None those of gitfleet."""

    handlers: Callable[[], Handlers] | None = None
    _loaded: Rollouts | None = None

    def of(self, desired: Desired, *states: FleetState) -> Rollouts:
        """The rollouts of a commit and of states."""
        if not desired.rollouts and not any(state.rollouts for state in states):
            return _NONE
        if self._loaded is None:
            from gitfleet.workload.handlers import BUILT_IN
            from gitfleet.workload.rollouts import HandledRollouts

            self._loaded = HandledRollouts(self.handlers() if self.handlers is not None else BUILT_IN)
        return self._loaded


def batch_sizes(plan: RolloutPlan, status: ClusterRolloutStatus) -> tuple[int, ...]:
    """How many pods each batch changes; none where that is not known yet, or the batches do not add up."""
    from gitfleet.workload.goals import batch_sizes as sizes

    return sizes(plan, status)
