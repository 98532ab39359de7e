"""StatefulSets: whole answers, and what their controller makes of them."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitfleet.api.rollout_plans import RolloutStrategy
from gitfleet.api.workload_records import RolloutMode
from gitfleet.model.rollout_fields import ABSENT
from gitfleet.workload.handlers import Counts, Goal, Step, Workloads
from gitfleet.workload.handlers.stateful_sets import StatefulSetHandler
from gitfleet.workload.texts import WorkloadText
from tests.workload.handlers.models import Pod, StatefulSet
from tests.workload.handlers.playing import Play, goals, hold_new_template
from tests.workload.handlers.test_pairs import splits

HANDLER = StatefulSetHandler()
PARTITION = "/spec/updateStrategy/rollingUpdate/partition"
TYPE, ROLLING = "/spec/updateStrategy/type", "/spec/updateStrategy/rollingUpdate"
ON_DELETE = {"type": "OnDelete"}


def goal_of(size: int, upgraded: int = 0, *names: str, mode: RolloutMode = RolloutMode.IN_PLACE) -> Goal:
    return Goal(
        mode=mode, strategy=RolloutStrategy.INCREASE_FIRST, original=size, size=size, upgraded=upgraded, pod_list=names
    )


@pytest.mark.parametrize("strategy", [None, ON_DELETE])
@pytest.mark.parametrize(
    ("step", "partition"), [(Step.HOLD, 5), (Step.CLAIM, 5), (Step.FIRST, 3), (Step.SECOND, 3), (Step.REVERT, 5)]
)
def test_what_each_step_wants(strategy: dict[str, Any] | None, step: Step, partition: int) -> None:
    play = Play(HANDLER, StatefulSet.running("db", 5, strategy=strategy))
    play.target.status["updateRevision"] = "new"
    (fields,) = HANDLER.scale(play.seen, goal_of(5, 2), step).fields.values()
    assert fields == {"/spec/replicas": 5, TYPE: "RollingUpdate", PARTITION: partition}


@pytest.mark.parametrize(
    ("manifest", "originals", "expected"),
    [
        (None, {TYPE: "RollingUpdate", PARTITION: 3}, {"/spec/replicas": 5, TYPE: "RollingUpdate", PARTITION: 0}),
        ({"replicas": 7}, None, {"/spec/replicas": 7, TYPE: "RollingUpdate", PARTITION: 0}),
        ({"updateStrategy": ON_DELETE}, None, {"/spec/replicas": 5, TYPE: "OnDelete", ROLLING: ABSENT}),
        (None, {TYPE: "OnDelete"}, {"/spec/replicas": 5, TYPE: "OnDelete", ROLLING: ABSENT}),
    ],
)
def test_what_is_given_back(
    manifest: dict[str, Any] | None, originals: dict[str, Any] | None, expected: dict[str, object]
) -> None:
    live = StatefulSet.running("db", 5).live
    seen = Workloads(target=live, wanted=None if manifest is None else {"spec": manifest}, originals=originals)
    assert list(HANDLER.scale(seen, goal_of(5, 5), Step.RELEASE).fields.values()) == [expected]


@pytest.mark.parametrize(
    ("goal", "start", "expected"),
    [
        (goal_of(5, 2, "db-4", "db-3"), 0, ""),
        (goal_of(5, 2, "db-3", "db-4"), 0, ""),
        (goal_of(5, 2, "db-6", "db-7"), 3, ""),
        (
            goal_of(5, 2, "db-0", "db-4"),
            0,
            WorkloadText.UPGRADES_PODS_FROM_HIGHEST_ORDINAL(name_of="StatefulSet/web/db", names="", part="db-4, db-3"),
        ),
        (
            goal_of(5, 2, mode=RolloutMode.SOURCE_TO_TARGET),
            0,
            WorkloadText.PODS_BOTH_CONTENTS_ITSELF(name_of="StatefulSet/web/db"),
        ),
    ],
)
def test_what_cannot_be_carried_out(goal: Goal, start: int, expected: str) -> None:
    assert HANDLER.refusal(Workloads(target=StatefulSet.running("db", 5, start=start).live), goal) == expected


@given(st.integers(0, 7), st.data(), st.integers(0, 2**16), st.integers(0, 3))
def test_it_comes_to_its_end_one_pod_at_a_time(size: int, data: st.DataObject, seed: int, start: int) -> None:
    batches = data.draw(splits(size))
    play = Play(HANDLER, StatefulSet.running("db", size, start=start), order=Random(seed))
    goal, allowed = goal_of(size), [0]

    def watch(play: Play) -> None:
        assert play.ready >= size - 1
        assert sum(pod.revision == "new" for pod in play.target.pods) <= allowed[0]

    play.watch = watch
    hold_new_template(play, goal)
    play.step(goal, Step.CLAIM, lambda: True)
    for one in goals(goal, batches):
        allowed[0] = one.upgraded
        play.step(one, Step.FIRST, partial(play.is_done, one))
        assert play.counts(one) == Counts(
            upgraded=one.upgraded, upgraded_ready=one.upgraded,
            old=size - one.upgraded, old_ready=size - one.upgraded,
        )  # fmt: skip
    play.settle(goal, Step.RELEASE)
    assert [pod.revision for pod in play.target.pods] == ["new"] * size


@given(st.integers(1, 6), st.data(), st.booleans())
def test_a_revert_brings_back_the_pods_of_before(size: int, data: st.DataObject, broken: bool) -> None:
    upgraded = data.draw(st.integers(0, size - 1))
    play = Play(HANDLER, StatefulSet.running("db", size), order=Random(size))
    goal = goal_of(size, upgraded)
    hold_new_template(play, goal)
    play.step(goal, Step.FIRST, lambda: play.is_up(goal))
    new = [pod for pod in play.target.pods if pod.revision == "new"]
    for pod in new[: int(broken)]:
        pod.ready = pod.can = False
    play.watch = lambda play: check(play.ready >= size - 1)
    play.settle(goal, Step.REVERT)
    assert [pod.revision for pod in play.target.pods] == ["old"] * size
    assert play.ready == size


def check(holds: bool) -> None:
    assert holds


def test_what_every_pod_has_cannot_be_taken_back_and_no_pod_goes() -> None:
    play = Play(HANDLER, StatefulSet.running("db", 3))
    hold_new_template(play, goal_of(3))
    play.settle(goal_of(3, 3), Step.FIRST)
    assert HANDLER.irreversible(play.seen, goal_of(3, 3)) == (
        WorkloadText.NO_LONGER_REVISION_BEFORE(name_of="StatefulSet/web/db")
    )
    scaling = HANDLER.scale(play.seen, goal_of(3, 3), Step.REVERT)
    assert (list(scaling.fields.values()), scaling.pods) == (
        [{"/spec/replicas": 3, TYPE: "RollingUpdate", PARTITION: 0}],
        (),
    )


def test_pods_are_not_taken_before_the_controller_has_seen_the_partition() -> None:
    play = Play(HANDLER, StatefulSet.running("db", 3))
    hold_new_template(play, goal_of(3))
    play.settle(goal_of(3, 1), Step.FIRST)
    assert HANDLER.scale(play.seen, goal_of(3, 1), Step.REVERT).pods == ()
    play.patch(goal_of(3, 1), Step.REVERT)
    assert HANDLER.scale(play.seen, goal_of(3, 1), Step.REVERT).pods == ()
    play.target.sync()
    assert [one.key.name for one in HANDLER.scale(play.seen, goal_of(3, 1), Step.REVERT).pods] == ["db-2"]


def test_a_status_about_the_older_template_counts_nothing_as_upgraded() -> None:
    play = Play(HANDLER, StatefulSet.running("db", 3))
    play.target.give_template("new")
    assert HANDLER.counts(play.seen, goal_of(3, 2)) == Counts(old=3, old_ready=3, observed=False)


@pytest.mark.parametrize(
    ("revisions", "failing", "upgraded", "step", "expected"),
    [
        ("old old old bad", [3], 2, Step.FIRST, ["db-3"]),
        ("old old old bad", [3], 2, Step.SECOND, ["db-3"]),
        ("old old bad bad", [2, 3], 2, Step.FIRST, ["db-2"]),  # one at a time
        ("old old old bad", [3], 0, Step.FIRST, []),  # no batch has it yet
        ("old old old bad", [1, 3], 2, Step.FIRST, ["db-3"]),
        ("old old old bad", [1], 2, Step.FIRST, []),  # another one, in a later batch
        ("old old old bad", [], 2, Step.FIRST, []),  # its controller replaces a ready one
        ("old old old new", [3], 2, Step.FIRST, []),  # it is as it should be
        ("old old old", [2], 2, Step.FIRST, []),  # one is being made
        ("old old old bad", [3], 2, Step.CLAIM, []),
        ("old old old bad", [3], 2, Step.HOLD, []),
        ("old old old bad", [3], 2, Step.KEEP, []),
        ("old old old bad", [3], 4, Step.RELEASE, []),
    ],
)
def test_a_pod_that_its_controller_waits_for_in_vain_is_deleted(
    revisions: str, failing: list[int], upgraded: int, step: Step, expected: list[str]
) -> None:
    target = StatefulSet.running("db", 4)
    play = Play(HANDLER, target)
    target.by_ordinal = {
        n: Pod(f"db-{n}", revision, ready=n not in failing) for n, revision in enumerate(revisions.split())
    }
    target.status["updateRevision"] = "new"
    assert [one.key.name for one in HANDLER.scale(play.seen, goal_of(4, upgraded), step).pods] == expected


@given(st.integers(1, 6), st.data(), st.sampled_from(["old", "third"]))
def test_other_content_repairs_what_failed(size: int, data: st.DataObject, image: str) -> None:
    batches = data.draw(splits(size))
    target = StatefulSet.running("db", size)
    play, goal = Play(HANDLER, target, order=Random(size)), goal_of(size)
    hold_new_template(play, goal)
    (first,) = [one for one in goals(goal, batches) if one.upgraded][:1]
    play.settle(first, Step.FIRST)
    pod = target.by_ordinal[max(target.by_ordinal)]
    pod.ready = pod.can = False
    play.target.sync()
    play.watch = lambda play: check(play.ready >= size - 1)
    hold_new_template(play, goal, image)
    play.step(goal, Step.HOLD, lambda: True)
    for one in goals(goal, batches):
        play.step(one, Step.FIRST, partial(play.is_done, one))
    play.settle(goal, Step.RELEASE)
    assert [pod.revision for pod in play.target.pods] == [image] * size
