"""Edits and errors in the file of a workload rollout that runs, through whole reconciles and the state branch."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.api.faults import Severity
from gitfleet.api.workload_records import BatchState, RollingState
from tests.builders import stateful_set, to_yaml
from tests.scenarios.test_workload_rollouts import KEY, a_world, rollout, status
from tests.scenarios.world import World

OLD, NEW = (stateful_set("web", "db", f"db:{number}", replicas=4) for number in (1, 2))
PATH = "rollouts/web/web.yaml"


def planned(**plan: Any) -> str:
    """The rollout of the set in a file."""
    return to_yaml(rollout(OLD, **{"numBatches": 2, "lastBatchToRollout": 0, **plan}))


def running() -> World:
    """A rollout in place that waits after its first batch."""
    world = a_world(OLD)
    world.roll_out(files={PATH: planned()})
    world.roll_out(NEW)
    assert at(world) == (RollingState.ROLLING_IN_BATCHES, BatchState.READY, 0, []), status(world)
    return world


def at(world: World) -> tuple[RollingState, BatchState | None, int, list[str]]:
    """Where the rollout is, and the fields with errors."""
    found = status(world)
    errors = [fault.field for fault in world.state().faults if fault.severity is Severity.ERROR]
    return found.rolling_state, found.batch_rolling_state, found.current_batch, errors


@pytest.mark.parametrize(
    ("files", "field"),
    [
        ({PATH: planned(numBatches=4)}, "spec.rolloutPlan.numBatches"),
        ({PATH: planned(numBatches=4, paused="no")}, "spec.rolloutPlan.paused"),
        ({PATH: planned().replace("RolloutTrait", "RolloutTriat")}, "kind"),
        ({PATH: "kind: [\n"}, ""),
    ],
    ids=["a fixed field", "a wrong value", "another kind", "no YAML"],
)
def test_an_error_neither_moves_nor_ends_a_rollout(files: dict[str, str | None], field: str) -> None:
    world = running()
    world.write(files)
    for _ in range(2):
        world.settle()
        assert at(world) == (RollingState.ROLLING_IN_BATCHES, BatchState.READY, 0, [field])
        record = world.state().rollouts[KEY]
        assert (record.removing, record.rollout_plan.num_batches, record.rollout_plan.paused) == (False, 2, False)
        world.restart()
    world.roll_out(files={PATH: planned(lastBatchToRollout=1)})
    assert at(world) == (RollingState.SUCCEEDED, None, 1, []), status(world)


def test_what_may_change_is_taken() -> None:
    world = running()
    world.roll_out(files={PATH: planned(paused=True, lastBatchToRollout=1)})
    assert at(world) == (RollingState.ROLLING_IN_BATCHES, BatchState.READY, 0, [])
    world.roll_out(files={PATH: planned(paused=False, lastBatchToRollout=1)})
    assert at(world) == (RollingState.SUCCEEDED, None, 1, [])
    # What is over may change in any way.
    world.roll_out(files={PATH: planned(numBatches=4)})
    assert at(world)[3] == [] and world.state().rollouts[KEY].rollout_plan.num_batches == 4
