"""The gates of a batch in the state machine, by what a handler counts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitfleet.api.workload_records import BatchState, RolloutMode
from gitfleet.workload.cases import Advanced, Case
from gitfleet.workload.finding import NamedWorkloads
from gitfleet.workload.handlers import BUILT_IN, Counts, Goal, Step, Workloads
from gitfleet.workload.handlers.stateful_sets import StatefulSetHandler
from gitfleet.workload.progress import advance_cluster
from gitfleet.workload.texts import WorkloadText
from tests.workload.handlers.models import StatefulSet
from tests.workload.handlers.playing import Play, always_open
from tests.workload.test_reverting import NOW, record_of, rolling


class Counting(StatefulSetHandler):
    """One that counts what it is told to."""

    def __init__(self, counts: Counts) -> None:
        self._counts = counts

    def counts(self, seen: Workloads, goal: Goal) -> Counts:
        return self._counts


def advanced(counts: Counts, reached: int = 0) -> Advanced:
    """One pass over the second batch of three, of two pods each, that is being verified."""
    model = StatefulSet.running("web", 6)
    play = Play(BUILT_IN[model.live.key.group_kind], model)
    status = replace(rolling(play, RolloutMode.IN_PLACE, size=6), upgraded_replicas=reached)
    status = replace(status, batch_rolling_state=BatchState.VERIFYING)
    goal = Goal(mode=RolloutMode.IN_PLACE, strategy=record_of(status).rollout_plan.rollout_strategy, original=6, size=6)
    goal = replace(goal, before=2, upgraded=4)
    model.give(play.handler.scale(play.seen, goal, Step.SECOND).fields[model.live.key])
    workloads = NamedWorkloads(target=model.live.key, sources=(), handler=Counting(counts))
    case = Case(
        record=replace(record_of(status), removing=False), status=status, workloads=workloads, seen=play.seen,
        template="t", wanted_digest="d", snapshot="", applied=True, now=NOW, answers={}, gate=always_open,
    )  # fmt: skip
    return advance_cluster(case)


@pytest.mark.parametrize(
    ("ready", "old", "observed", "says"),
    [
        (4, 2, True, ""),
        (3, 2, True, WorkloadText.PODS_READY_NOT(upgraded_ready="3", wanted="4", unavailable="0")),
        (4, 3, True, WorkloadText.PODS_OLDER_CONTENT(old="3", most="2")),
        (4, 2, False, WorkloadText.CONTROLLER_NOT_SEEN_NEWEST_CHANGE(live="StatefulSet/web/web")),
    ],
)
def test_a_batch_is_verified_once_its_pods_are_ready_and_the_older_ones_are_gone(
    ready: int, old: int, observed: bool, says: str
) -> None:
    found = advanced(Counts(upgraded=4, upgraded_ready=ready, old=old, old_ready=old, observed=observed))
    assert (found.status.batch_rolling_state is BatchState.VERIFYING) == bool(says)
    assert not says or found.waits == says


@pytest.mark.parametrize(("observed", "upgraded"), [(False, 4), (True, 2)])
def test_a_controller_that_has_not_seen_a_step_takes_back_nothing(observed: bool, upgraded: int) -> None:
    counts = Counts(upgraded=2, upgraded_ready=2, old=4, old_ready=4, observed=observed)
    assert advanced(counts, reached=4).status.upgraded_replicas == upgraded
