"""Rollouts that go back, by the state machine itself against models of controllers."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gitfleet.api import read
from gitfleet.api.rollout_plans import RolloutPlan
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_records import BatchState, ClusterRolloutStatus, RollingState, RolloutMode, RolloutRecord
from gitfleet.model.decisions import Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.failures import Failures
from gitfleet.model.observations import ClusterObservation
from gitfleet.model.operations import DeletePod, Patch
from gitfleet.model.state import FleetState
from gitfleet.workload.cases import Case
from gitfleet.workload.finding import NamedWorkloads
from gitfleet.workload.goals import goal_of
from gitfleet.workload.handlers import BUILT_IN, Goal, Step
from gitfleet.workload.movement import movement
from gitfleet.workload.progress import advance_cluster
from gitfleet.workload.texts import WorkloadText
from tests.workload.handlers.models import CloneSet, DaemonSet, Deployment, Model, StatefulSet
from tests.workload.handlers.playing import Play, always_open, hold_new_template

NOW = datetime(2026, 1, 1, tzinfo=UTC)
KEY = NamespacedName("web", "web")


def record_of(status: ClusterRolloutStatus) -> RolloutRecord:
    plan, breaks = read(RolloutPlan, {"numBatches": 3, "revertOnDelete": True})
    assert plan is not None, breaks
    return RolloutRecord(
        key=KEY, kind="RolloutTrait", created=NOW, rollout_plan=plan, removing=True, clusters=(status,)
    )


def give(model: Model, fields: object, pointer: str = "") -> None:
    """What a merge patch does to a model."""
    if isinstance(fields, dict):
        for name, value in fields.items():
            give(model, value, f"{pointer}/{name}")
    else:
        model.give({pointer: fields})


def abandon(play: Play, status: ClusterRolloutStatus) -> tuple[ClusterRolloutStatus, list[str]]:
    """From the middle of a batch, with the file gone, to the end; all that it said meanwhile."""
    said = list[str]()
    for passes in range(200):
        record, handler = record_of(status), BUILT_IN[play.target.live.key.group_kind]
        workloads = NamedWorkloads(
            target=play.target.live.key, sources=tuple(one.live.key for one in play.sources), handler=handler
        )
        case = Case(
            record=record, status=status, workloads=workloads, seen=play.seen,
            template=status.new_template, wanted_digest="d", snapshot="", applied=True, now=NOW, answers={},
            gate=always_open,
        )  # fmt: skip
        advanced = advance_cluster(case)
        status = advanced.status
        said += [advanced.waits, *(one.message for one in status.conditions)]
        if status.is_over:
            return status, said
        observation = ClusterObservation(
            cluster="c1",
            reachable=True,
            live={one.live.key: one.live for one in play.models},
            pods={play.target.live.key: play.target.live_pods()},
        )
        failures = Failures()
        inputs = Inputs(desired=Desired(commit=""), before=FleetState(), observations={"c1": observation}, now=NOW)
        moved = movement({KEY: record_of(status)}, {}, inputs, BUILT_IN, failures)
        assert failures.found == ()
        for step in moved.steps:
            if isinstance(step, Patch):
                give(next(one for one in play.models if one.live.key == step.key), step.patch)
            if isinstance(step, DeletePod):
                play.target.delete(step.key.name)
        for one in play.models:
            one.sync()
            if passes % 2:
                one.run_pods()
    raise AssertionError(f"it does not end: {status}")


def rolling(play: Play, mode: RolloutMode, *sizes: int, size: int) -> ClusterRolloutStatus:
    return ClusterRolloutStatus(
        cluster="c1", rolling_state=RollingState.ROLLING_IN_BATCHES, batch_rolling_state=BatchState.READY,
        current_batch=1, mode=mode, original_size=size, target_size=size, source_sizes=sizes, new_template="t",
        attempt=1, target=play.target.live.key, sources=tuple(one.live.key for one in play.sources), half=True,
    )  # fmt: skip


def _goal(status: ClusterRolloutStatus) -> Goal:
    return goal_of(record_of(status).rollout_plan, status, NOW)


def test_the_older_pods_of_a_pair_are_ready_before_it_is_over() -> None:
    play = Play(BUILT_IN[Deployment.running("x", 1).live.key.group_kind], Deployment.running("new", 4, "new"))
    play.sources = [Deployment.running("old", 2)]
    status, _ = abandon(play, rolling(play, RolloutMode.SOURCE_TO_TARGET, 6, size=6))
    assert status.rolling_state is RollingState.ABANDONED
    assert [len(one.pods) for one in play.models] == [0, 6]


@pytest.mark.parametrize("model", [StatefulSet.running("web", 6), CloneSet.running("web", 6)])
def test_all_pods_have_the_older_content_before_it_is_over(model: Model) -> None:
    play = Play(BUILT_IN[model.live.key.group_kind], model)
    status = rolling(play, RolloutMode.IN_PLACE, size=6)
    goal = _goal(status)
    hold_new_template(play, goal)
    play.step(goal, Step.FIRST, lambda: play.is_done(goal))
    status, said = abandon(play, status)
    assert status.rolling_state is RollingState.ABANDONED
    assert ("1 " + WorkloadText.STILL_GO_BACK_BEFORE(count="pod")) in said
    assert [pod.revision for pod in play.target.pods] == ["old"] * 6


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (Deployment.running("web", 6), WorkloadText.NO_LONGER_TEMPLATE_BEFORE(name_of="Deployment/web/web")),
        (DaemonSet.running("web", 6), WorkloadText.MAKES_PODS_NEWEST_TEMPLATE_ALONE(name_of="DaemonSet/web/web")),
    ],
)
def test_what_cannot_go_back_says_so_and_keeps_its_pods(model: Model, why: str) -> None:
    play = Play(BUILT_IN[model.live.key.group_kind], model)
    status = rolling(play, RolloutMode.IN_PLACE, size=6)
    hold_new_template(play, _goal(status))
    play.target.sync()
    play.step(_goal(status), Step.FIRST, lambda: play.is_up(_goal(status)))
    play.step(_goal(status), Step.SECOND, lambda: play.is_done(_goal(status)))
    names = [pod.name for pod in play.target.pods]
    status, said = abandon(play, status)
    assert status.rolling_state is RollingState.ABANDONED
    assert [pod.name for pod in play.target.pods] == names
    assert said[-1] == WorkloadText.NOTHING_GOES_BACK(why=why)
