"""DaemonSets: whole answers, and what their controller makes of them."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitfleet.api.rollout_plans import RolloutStrategy
from gitfleet.api.workload_records import RolloutMode
from gitfleet.workload.handlers import Counts, Goal, Step, Workloads
from gitfleet.workload.handlers.daemon_sets import DaemonSetHandler
from gitfleet.workload.texts import WorkloadText
from tests.workload.handlers.models import DaemonSet
from tests.workload.handlers.playing import Play, goals, hold_new_template
from tests.workload.handlers.test_pairs import splits

HANDLER = DaemonSetHandler()
TYPE = "/spec/updateStrategy/type"
ANNOTATION = "deprecated.daemonset.template.generation"


def goal_of(size: int, upgraded: int = 0, away: int = 0, *names: str, mode: RolloutMode = RolloutMode.IN_PLACE) -> Goal:
    return Goal(
        mode=mode, strategy=RolloutStrategy.INCREASE_FIRST, original=size, size=size, upgraded=upgraded,
        unavailable=away, pod_list=names,
    )  # fmt: skip


def held(nodes: int, broken: int = 0, seed: int = 0) -> Play:
    """A DaemonSet with a new template and pods of the older one."""
    play = Play(HANDLER, DaemonSet.running("agent", nodes, broken=broken), order=Random(seed))
    hold_new_template(play, goal_of(nodes))
    play.target.sync()
    return play


def going(play: Play, goal: Goal, step: Step = Step.FIRST) -> list[str]:
    return [pod.key.name for pod in HANDLER.scale(play.seen, goal, step).pods]


@pytest.mark.parametrize(
    ("broken", "goal", "expected"),
    [
        (0, goal_of(5, 3), ["agent-1"]),
        (0, goal_of(5, 3, 2), ["agent-1", "agent-2"]),
        (0, goal_of(5, 1, 2), ["agent-1"]),
        (0, goal_of(5, 0, 2), []),
        (2, goal_of(5, 3, 1), ["agent-1", "agent-2"]),  # those that are not ready are missing already
        (2, goal_of(5, 3, 3), ["agent-1", "agent-2", "agent-3"]),
        (0, goal_of(5, 2, 2, "agent-4", "agent-3"), ["agent-3", "agent-4"]),
        (0, goal_of(5, 3, 3, "agent-5"), ["agent-5", "agent-1", "agent-2"]),
    ],
)
def test_which_pods_go_first(broken: int, goal: Goal, expected: list[str]) -> None:
    assert going(held(5, broken), goal) == expected


@pytest.mark.parametrize("step", [Step.HOLD, Step.CLAIM, Step.KEEP, Step.REVERT, Step.RELEASE])
def test_no_pod_goes_outside_a_batch(step: Step) -> None:
    play = held(5)
    assert going(play, goal_of(5, 3, 2), step) == []
    (fields,) = HANDLER.scale(play.seen, goal_of(5, 3, 2), step).fields.values()
    assert fields == {TYPE: "RollingUpdate" if step is Step.RELEASE else "OnDelete"}


def test_no_pod_goes_while_the_controller_may_do_it_itself() -> None:
    play = Play(HANDLER, DaemonSet.running("agent", 3))
    play.target.give_template("new")
    play.target.sync()
    assert going(play, goal_of(3, 2)) == []
    play.patch(goal_of(3, 2), Step.FIRST)
    assert going(play, goal_of(3, 2)) == []  # it has not seen that yet
    play.target.sync()
    assert going(play, goal_of(3, 2)) == ["agent-1"]


@pytest.mark.parametrize(
    ("manifest", "originals", "expected"),
    [
        (None, None, "RollingUpdate"),
        (None, {TYPE: "OnDelete"}, "OnDelete"),
        ({"updateStrategy": {"type": "OnDelete"}}, None, "OnDelete"),
    ],
)
def test_what_is_given_back(manifest: dict[str, Any] | None, originals: dict[str, Any] | None, expected: str) -> None:
    wanted = None if manifest is None else {"spec": manifest}
    seen = Workloads(target=DaemonSet.running("agent", 3).live, wanted=wanted, originals=originals)
    assert list(HANDLER.scale(seen, goal_of(3, 3), Step.RELEASE).fields.values()) == [{TYPE: expected}]


@pytest.mark.parametrize(
    ("mode", "annotated", "expected"),
    [
        (RolloutMode.IN_PLACE, True, ""),
        (RolloutMode.SCALE, True, WorkloadText.POD_EVERY_NODE_SELECTS(name_of="DaemonSet/web/agent")),
        (RolloutMode.SOURCE_TO_TARGET, True, WorkloadText.PODS_BOTH_CONTENTS_ITSELF(name_of="DaemonSet/web/agent")),
        (
            RolloutMode.IN_PLACE,
            False,
            WorkloadText.SERVER_NOT_SAY_TEMPLATE(name_of="DaemonSet/web/agent", generation=ANNOTATION),
        ),
    ],
)
def test_what_cannot_be_carried_out(mode: RolloutMode, annotated: bool, expected: str) -> None:
    model = DaemonSet.running("agent", 3)
    if not annotated:
        model.annotations = {}
    assert HANDLER.refusal(Workloads(target=model.live), goal_of(3, mode=mode)) == expected


def test_pods_of_a_template_that_came_back_are_upgraded_once_one_shows_its_revision() -> None:
    play = held(3)
    play.target.give_template("old")
    play.target.sync()
    assert play.counts(goal_of(3, 1)) == Counts(old=3, old_ready=3)
    play.patch(goal_of(3, 1), Step.FIRST)
    play.target.sync()
    play.target.run_pods()
    assert play.counts(goal_of(3, 1)) == Counts(upgraded=3, upgraded_ready=3)


def test_a_pod_that_is_still_to_come_is_one_of_the_batch() -> None:
    play = held(3, broken=2)
    play.patch(goal_of(3, 1), Step.FIRST)
    assert [pod.name for pod in play.target.pods] == ["agent-2", "agent-3"]
    assert going(play, goal_of(3, 1)) == []


def test_a_node_that_is_gone_counts_as_upgraded_and_one_that_came_has_a_new_pod() -> None:
    play = held(4)
    assert isinstance(play.target, DaemonSet)
    play.target.nodes.remove("node-0")
    play.target.sync()
    assert play.counts(goal_of(4, 2)) == Counts(upgraded=1, upgraded_ready=1, old=3, old_ready=3)
    play.target.nodes.append("node-7")
    play.target.sync()
    play.target.run_pods()
    assert play.counts(goal_of(4, 2)) == Counts(upgraded=1, upgraded_ready=1, old=3, old_ready=3)
    assert going(play, goal_of(4, 4, 4)) == ["agent-2", "agent-3", "agent-4"]


@given(st.integers(0, 7), st.data(), st.integers(0, 2**16), st.integers(0, 3))
def test_it_comes_to_its_end_with_enough_ready_pods(size: int, data: st.DataObject, seed: int, away: int) -> None:
    batches, broken = data.draw(splits(size)), data.draw(st.integers(0, min(2, size)))
    play = held(size, broken, seed)
    goal, last = goal_of(size, 0, away), [play.ready, 0]

    def watch(play: Play) -> None:
        assert play.ready >= last[0] or play.ready >= size - max(1, away)
        assert sum(pod.revision == "new" for pod in play.target.pods) <= last[1]
        last[0] = play.ready

    play.watch = watch
    play.step(goal, Step.CLAIM, lambda: True)
    for one in goals(goal, batches):
        last[1] = one.upgraded
        play.step(one, Step.FIRST, partial(play.is_done, one))
    play.settle(goal, Step.RELEASE)
    assert [pod.revision for pod in play.target.pods] == ["new"] * size
