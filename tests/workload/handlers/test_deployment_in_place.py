"""A Deployment whose template changes: whole answers, and what its controller makes of them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gitfleet.api.objects import key_of
from gitfleet.api.rollout_plans import RolloutStrategy
from gitfleet.api.workload_records import RolloutMode
from gitfleet.apply.texts import ApplyText
from gitfleet.model.observations import LiveObject
from gitfleet.model.rollout_fields import ABSENT
from gitfleet.workload.handlers import Counts, Goal, Step, Workloads
from gitfleet.workload.handlers.deployments import DeploymentHandler
from tests.workload.handlers.models import Deployment
from tests.workload.handlers.playing import Play, goals, hold_new_template
from tests.workload.handlers.test_pairs import splits

HANDLER = DeploymentHandler()
INCREASE, DECREASE = RolloutStrategy.INCREASE_FIRST, RolloutStrategy.DECREASE_FIRST
NEVER = 2147483646
S = "/spec/strategy"
TYPE, SURGE, AWAY = f"{S}/type", f"{S}/rollingUpdate/maxSurge", f"{S}/rollingUpdate/maxUnavailable"


def goal_of(size: int, strategy: RolloutStrategy = INCREASE, before: int = 0, upgraded: int = 0, away: int = 0) -> Goal:
    return Goal(
        mode=RolloutMode.IN_PLACE, strategy=strategy, original=size, size=size,
        before=before, upgraded=upgraded, unavailable=away,
    )  # fmt: skip


def seen(manifest: dict[str, Any] | None = None, originals: dict[str, Any] | None = None, size: int = 10) -> Workloads:
    wanted = None if manifest is None else {"kind": "Deployment", "spec": manifest}
    model = Deployment.running("web", size)
    model.status["updatedReplicas"] = 0
    return Workloads(target=model.live, wanted=wanted, originals=originals)


def asked_for(strategy: RolloutStrategy, before: int, upgraded: int, away: int, step: Step) -> dict[str, object]:
    (fields,) = HANDLER.scale(seen(), goal_of(10, strategy, before, upgraded, away), step).fields.values()
    return dict(fields)


def moving(surge: int, away: int) -> dict[str, object]:
    return {
        "/spec/replicas": 10, "/spec/paused": False, TYPE: "RollingUpdate", SURGE: surge, AWAY: away,
        "/spec/minReadySeconds": NEVER, "/spec/progressDeadlineSeconds": NEVER + 1,
    }  # fmt: skip


HELD = {
    "/spec/replicas": 10, "/spec/paused": True, TYPE: "RollingUpdate", SURGE: "25%", AWAY: "25%",
    "/spec/minReadySeconds": ABSENT, "/spec/progressDeadlineSeconds": 600,
}  # fmt: skip


@pytest.mark.parametrize(
    ("strategy", "before", "upgraded", "away", "step", "expected"),
    [
        (INCREASE, 0, 0, 0, Step.HOLD, HELD),
        (INCREASE, 0, 0, 0, Step.CLAIM, HELD),
        (INCREASE, 0, 3, 0, Step.FIRST, moving(3, 0)),
        (INCREASE, 0, 3, 0, Step.SECOND, moving(0, 3)),
        (INCREASE, 3, 10, 0, Step.FIRST, moving(7, 3)),
        (INCREASE, 3, 10, 0, Step.SECOND, moving(0, 10)),
        (INCREASE, 3, 3, 0, Step.FIRST, moving(0, 3)),
        (INCREASE, 0, 0, 0, Step.FIRST, HELD),  # the server refuses zero for both
        (DECREASE, 0, 3, 3, Step.FIRST, moving(0, 3)),
        (DECREASE, 0, 3, 2, Step.FIRST, moving(0, 2)),
        (DECREASE, 0, 3, 0, Step.SECOND, moving(0, 1)),
        (INCREASE, 0, 3, 0, Step.KEEP, HELD),
        (INCREASE, 0, 3, 0, Step.REVERT, HELD),
    ],
)
def test_what_each_step_wants(
    strategy: RolloutStrategy, before: int, upgraded: int, away: int, step: Step, expected: dict[str, object]
) -> None:
    assert asked_for(strategy, before, upgraded, away, step) == expected


@pytest.mark.parametrize(
    ("strategy", "before", "upgraded", "there", "ready", "step", "expected"),
    [
        (INCREASE, 0, 4, {"1": 3, "2": 7}, 7, Step.FIRST, moving(0, 7)),
        (INCREASE, 0, 4, {"1": 3, "2": 7}, 7, Step.SECOND, moving(0, 7)),
        (INCREASE, 4, 8, {"1": 3, "2": 7}, 7, Step.FIRST, moving(1, 4)),
        (INCREASE, 4, 8, {"1": 3, "2": 8}, 8, Step.FIRST, moving(1, 4)),
        (INCREASE, 4, 8, {"1": 3, "2": 8}, 8, Step.SECOND, moving(0, 8)),
        (INCREASE, 0, 4, {"1": 4, "2": 10}, 10, Step.FIRST, moving(0, 10)),
        (INCREASE, 0, 4, {"1": 4, "2": 10}, 10, Step.SECOND, moving(0, 10)),
        (INCREASE, 0, 4, {"1": 4, "2": 10}, 8, Step.SECOND, moving(0, 9)),
        (INCREASE, 0, 4, {"1": 2, "2": 12}, 12, Step.SECOND, moving(0, 10)),
        (DECREASE, 0, 4, {"1": 3, "2": 7}, 7, Step.FIRST, moving(0, 7)),
        (DECREASE, 0, 4, {"1": 3, "2": 7}, 2, Step.FIRST, moving(0, 3)),
        (DECREASE, 4, 8, {"1": 3, "2": 7}, 7, Step.FIRST, moving(0, 8)),
    ],
)
def test_what_is_upgraded_already_counts(
    strategy: RolloutStrategy, before: int, upgraded: int, there: dict[str, int], ready: int, step: Step,
    expected: dict[str, object],
) -> None:  # fmt: skip
    model = Deployment.running("web", 10)
    total = sum(there.values())
    model.status.update(replicas=total, updatedReplicas=there["2"], readyReplicas=total - there["2"] + ready)
    model.annotations = {"deployment.kubernetes.io/revision": "2"}
    live = Workloads(target=model.live, pods=(replica_set("1", there["1"]), replica_set("2", ready)))
    (fields,) = HANDLER.scale(live, goal_of(10, strategy, before, upgraded, 1), step).fields.values()
    assert dict(fields) == expected


@pytest.mark.parametrize("step", [Step.HOLD, Step.CLAIM, Step.KEEP, Step.REVERT])
@pytest.mark.parametrize(
    ("seconds", "given", "there", "expected"),
    [(NEVER, 0, 12, 2), (NEVER, 3, 12, 3), (NEVER, 0, 9, 0), (0, "25%", 15, "25%"), (0, 1, 15, 1)],
)
def test_a_paused_one_has_room_for_all_pods_of_a_rollout_under_way(
    step: Step, seconds: int, given: int | str, there: int, expected: int | str
) -> None:
    model = Deployment.running("web", 10)
    model.give({"/spec/minReadySeconds": seconds, SURGE: given, AWAY: 1})
    model.status["replicas"] = there
    (fields,) = HANDLER.scale(Workloads(target=model.live), goal_of(10), step).fields.values()
    assert (fields["/spec/paused"], fields[SURGE], fields[AWAY]) == (True, expected, 1)


def test_nothing_else_is_asked_for_before_its_controller_has_seen_the_last() -> None:
    model = Deployment.running("web", 10)
    model.status["updatedReplicas"] = 0
    model.give({SURGE: 2, AWAY: 0, "/spec/minReadySeconds": NEVER, "/spec/progressDeadlineSeconds": NEVER + 1})
    fields = partial(HANDLER.scale, goal=goal_of(10, upgraded=4), step=Step.FIRST)
    assert fields(Workloads(target=model.live)).fields == {
        model.live.key: {name: value for name, value in moving(2, 0).items() if name != "/spec/paused"}
        | {"/spec/paused": ABSENT}
    }
    model.status["observedGeneration"] = model.generation
    assert fields(Workloads(target=model.live)).fields == {model.live.key: moving(4, 0)}


@pytest.mark.parametrize(
    ("manifest", "originals", "expected"),
    [
        (None, None, {"/spec/replicas": 10, TYPE: "RollingUpdate", SURGE: "25%", AWAY: "25%"}),
        (
            {},
            {SURGE: 1, AWAY: 0, TYPE: "RollingUpdate"},
            {"/spec/replicas": 10, TYPE: "RollingUpdate", SURGE: 1, AWAY: 0},
        ),
        (
            {"replicas": 4, "strategy": {"rollingUpdate": {"maxUnavailable": 2}}},
            {SURGE: 0, AWAY: 1},
            {"/spec/replicas": 4, TYPE: "RollingUpdate", SURGE: "25%", AWAY: 2},
        ),
        (
            {"strategy": {"type": "Recreate"}},
            {SURGE: 0, AWAY: 1},
            {"/spec/replicas": 10, TYPE: "Recreate", f"{S}/rollingUpdate": ABSENT},
        ),
        (None, {TYPE: "Recreate"}, {"/spec/replicas": 10, TYPE: "Recreate", f"{S}/rollingUpdate": ABSENT}),
    ],
)
def test_what_is_given_back(
    manifest: dict[str, Any] | None, originals: dict[str, Any] | None, expected: dict[str, object]
) -> None:
    (fields,) = HANDLER.scale(seen(manifest, originals), goal_of(10, upgraded=10), Step.RELEASE).fields.values()
    rest = {"/spec/paused": False, "/spec/minReadySeconds": ABSENT, "/spec/progressDeadlineSeconds": 600}
    assert dict(fields) == {**rest, **expected}


@pytest.mark.parametrize(("written", "given"), [(0, ABSENT), (30, 30)])
def test_seconds_of_the_manifest_come_back(written: int, given: object) -> None:
    manifest = {"minReadySeconds": written, "progressDeadlineSeconds": 90}
    (fields,) = HANDLER.scale(seen(manifest, {"/spec/minReadySeconds": 7}), goal_of(10), Step.RELEASE).fields.values()
    assert (fields["/spec/minReadySeconds"], fields["/spec/progressDeadlineSeconds"]) == (given, 90)


def play_of(size: int, broken: int = 0, seed: int = 0) -> Play:
    return Play(HANDLER, Deployment.running("web", size, broken=broken), order=Random(seed))


def roll(play: Play, one: Goal) -> None:
    """A whole batch."""
    play.step(one, Step.FIRST, partial(play.is_up, one))
    play.step(one, Step.SECOND, partial(play.is_done, one))


def half_way(case: tuple[Play, Goal, list[int]], full: int, half: Step, passes: int, bad: bool) -> Goal:
    """Some whole batches of new content, and some passes of the next one, whose goal is given; of `bad` content the
    first batch gets no further."""
    play, goal, batches = case
    play.target.bad = ("new",) if bad else ()
    hold_new_template(play, goal)
    *done, present = list(goals(goal, batches))[: 1 if bad else full + 1]
    for one in done:
        roll(play, one)
    for _ in range(passes):
        play.patch(present, half if not bad and play.is_up(present) else Step.FIRST)
        play.target.sync()
        play.target.run_pods()
        play.watch(play)
    return present


def watch_ready(play: Play, goal: Goal, most: int | None = None) -> None:
    """Ready pods are no fewer than they were, or than may be missing; pods are no more than `most`."""
    missing, last = max(goal.unavailable, goal.strategy is DECREASE), [play.ready]

    def watch(play: Play) -> None:
        assert play.ready >= last[0] or play.ready >= goal.size - missing
        assert most is None or play.there <= most
        last[0] = play.ready

    play.watch = watch


@st.composite
def rollouts(draw: st.DrawFn) -> tuple[Play, Goal, list[int]]:
    size = draw(st.integers(0, 12))
    play = play_of(size, draw(st.integers(0, min(3, size))), draw(st.integers(0, 2**16)))
    goal = goal_of(size, draw(st.sampled_from(RolloutStrategy)), away=draw(st.integers(0, 4)))
    return play, goal, draw(splits(size))


@given(rollouts())
@example((play_of(0), goal_of(0), [0]))
@example((play_of(1), goal_of(1), [1]))
@example((play_of(1), goal_of(1, DECREASE), [1]))
def test_it_comes_to_its_end_with_enough_ready_pods_and_never_too_many(case: tuple[Play, Goal, list[int]]) -> None:
    play, goal, batches = case
    most = goal.size + (0 if goal.strategy is DECREASE else max(batches))
    missing = max(goal.unavailable, goal.strategy is DECREASE)
    last = [play.ready, 0]

    def watch(play: Play) -> None:
        ready, new = play.ready, sum(pod.revision == "new" for pod in play.target.pods)
        assert ready >= last[0] or ready >= goal.size - missing
        assert play.there <= most
        assert new <= allowed[0]
        last[0] = ready

    allowed = [0]
    play.watch = watch
    hold_new_template(play, goal)
    play.step(goal, Step.CLAIM, lambda: True)
    for one in goals(goal, batches):
        allowed[0] = one.upgraded
        roll(play, one)
        new = sum(pod.revision == "new" for pod in play.target.pods)
        assert (new, play.there) == (one.upgraded, goal.size)
    play.watch = lambda _: None
    play.settle(goal, Step.RELEASE)
    assert [pod.revision for pod in play.target.pods] == ["new"] * goal.size
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}
    spec = dict(play.target.spec)
    spec.pop("template")
    assert spec == {"replicas": goal.size, "paused": False, "strategy": strategy, "progressDeadlineSeconds": 600}


@given(rollouts(), st.integers(0, 3), st.sampled_from([Step.FIRST, Step.SECOND]), st.integers(0, 6), st.booleans())
@example((play_of(5), goal_of(5, away=0), [2, 2, 1]), 0, Step.FIRST, 6, True)
@example((play_of(5), goal_of(5, away=0), [2, 2, 1]), 1, Step.FIRST, 6, False)
@example((play_of(5), goal_of(5, DECREASE, away=1), [2, 2, 1]), 1, Step.FIRST, 6, False)
def test_another_content_in_the_middle_is_rolled_out_in_its_place(
    case: tuple[Play, Goal, list[int]], full: int, half: Step, passes: int, bad: bool
) -> None:
    """Of three contents none is taken for another, and the pods of a bad one hold nothing up."""
    play, goal, batches = case
    watch_ready(play, goal)
    half_way(case, full, half, passes, bad)
    hold_new_template(play, goal, "third")
    play.step(goal, Step.HOLD, lambda: True)
    play.step(goal, Step.CLAIM, lambda: True)
    for one in goals(goal, batches):
        roll(play, one)
        assert sum(pod.revision == "third" for pod in play.target.pods) <= one.upgraded
    play.watch = lambda _: None
    play.settle(goal, Step.RELEASE)
    assert [pod.revision for pod in play.target.pods] == ["third"] * goal.size


@given(rollouts(), st.integers(0, 3), st.sampled_from([Step.FIRST, Step.SECOND]), st.integers(0, 6))
def test_pods_stay_as_they_are_once_kept(
    case: tuple[Play, Goal, list[int]], full: int, half: Step, passes: int
) -> None:
    play, goal, batches = case
    hold_new_template(play, goal)
    *done, last = list(goals(goal, batches))[: full + 1]
    for one in done:
        roll(play, one)
    for _ in range(passes):  # the new pods of this batch come, and are never ready
        play.patch(last, half)
        play.target.sync()
    play.target.sync()
    before = [pod.name for pod in play.target.pods]
    play.settle(last, Step.KEEP)
    # A pod that was missing in that moment comes back, and none goes.
    assert set(before) <= {pod.name for pod in play.target.pods}
    assert play.there == max(len(before), goal.size)


@given(rollouts(), st.integers(0, 3), st.sampled_from([Step.FIRST, Step.SECOND]), st.integers(0, 6), st.booleans())
@example((play_of(5), goal_of(5), [2, 3]), 1, Step.SECOND, 3, False)
@example((play_of(5), goal_of(5), [2, 3]), 0, Step.FIRST, 2, True)
@example((play_of(5), goal_of(5, DECREASE, away=2), [5]), 0, Step.SECOND, 1, False)
def test_it_goes_back_to_the_template_of_before_within_its_bounds(
    case: tuple[Play, Goal, list[int]], full: int, half: Step, passes: int, bad: bool
) -> None:
    play, goal, batches = case
    for pod in play.target.pods:
        pod.ready = pod.can = True
    play.target.sync()
    present = half_way(case, full, half, passes, bad)
    watch_ready(play, goal, goal.size + (0 if goal.strategy is DECREASE else max(1, *batches)))
    play.before = {"spec": {"image": "old"}}
    play.step(present, Step.REVERT, lambda: play.counts(present) == replace(play.counts(present), upgraded=0))
    play.settle(present, Step.REVERT)
    assert [pod.revision for pod in play.target.pods] == ["old"] * goal.size


@given(
    rollouts(),
    st.lists(st.tuples(st.sampled_from(["old", "new"]), st.integers(0, 3), st.integers(0, 8)), max_size=3),
    st.sampled_from(["old", "new"]),
)
@example((play_of(4), goal_of(4), [2, 2]), [("new", 1, 0)], "old")
@example((play_of(4), goal_of(4), [3, 1]), [("new", 1, 0)], "old")
@example((play_of(5), goal_of(5), [3, 2]), [("new", 0, 2)], "old")
@example((play_of(5), goal_of(5, DECREASE, away=1), [3, 2]), [("new", 1, 0)], "old")
@example((play_of(5), goal_of(5), [2, 2, 1]), [("new", 1, 2), ("old", 1, 2)], "new")
@example((play_of(3, seed=5), goal_of(3), [0, 1, 1, 1]), [("new", 2, 1), ("new", 0, 1)], "old")
def test_the_content_of_before_comes_back_half_way(
    case: tuple[Play, Goal, list[int]], between: list[tuple[str, int, int]], last: str
) -> None:
    """What is there of it already counts: it is neither doubled nor waited for."""
    play, goal, batches = case
    for pod in play.target.pods:
        pod.ready = pod.can = True
    play.target.sync()
    watch_ready(play, goal, goal.size + (0 if goal.strategy is DECREASE else max(batches)))
    for image, whole, passes in between:
        hold_new_template(play, goal, image)
        play.step(goal, Step.HOLD, lambda: play.counts(goal).observed)
        *done, present = list(goals(goal, batches))[: whole + 1]
        for one in done:
            roll(play, one)
        for _ in range(passes):
            play.patch(present, Step.FIRST)
            play.target.sync()
            play.watch(play)
    hold_new_template(play, goal, last)
    play.step(goal, Step.HOLD, lambda: play.counts(goal).observed)
    for one in goals(goal, batches):
        roll(play, one)
    play.watch = lambda _: None
    play.settle(goal, Step.RELEASE)
    assert [pod.revision for pod in play.target.pods] == [last] * goal.size


SURGED = {"minReadySeconds": NEVER, "strategy": {"rollingUpdate": {"maxSurge": 3}}}
COUNTS: dict[str, tuple[dict[str, int], dict[str, Any], str, dict[str, int], Counts]] = {
    "nothing has moved: the last revision is that of the older pods": (
        {"replicas": 10, "readyReplicas": 10}, {"paused": True}, "1", {"1": 10}, Counts(old=10, old_ready=10),
    ),
    "the newest ones are counted by their ReplicaSet": (
        {"replicas": 13, "updatedReplicas": 3, "readyReplicas": 11}, SURGED, "2", {"1": 9, "2": 2},
        Counts(upgraded=3, upgraded_ready=2, old=10, old_ready=9),
    ),
    "of three revisions, too": (
        {"replicas": 13, "updatedReplicas": 3, "readyReplicas": 10}, SURGED, "10", {"10": 1, "1": 5, "9": 4},
        Counts(upgraded=3, upgraded_ready=1, old=10, old_ready=9),
    ),
    "a third content whose pods are still to come": (
        {"replicas": 13, "readyReplicas": 12}, {**SURGED, "paused": True}, "2", {"1": 9, "2": 3},
        Counts(old=13, old_ready=12),
    ),
    "the ReplicaSets are newer than the Deployment": (
        {"replicas": 13, "updatedReplicas": 3, "readyReplicas": 12}, SURGED, "2", {"1": 9, "2": 3, "3": 0},
        Counts(upgraded=3, upgraded_ready=2, old=10, old_ready=10, observed=False),
    ),
    "more are ready by now": (
        {"replicas": 13, "updatedReplicas": 2, "readyReplicas": 10}, SURGED, "2", {"1": 10, "2": 3},
        Counts(upgraded=2, upgraded_ready=2, old=11, old_ready=10),
    ),
    ("the ReplicaSets " + ApplyText.COULD_NOT_READ(unreadable="as few as it can be")): (
        {"replicas": 10, "updatedReplicas": 5, "readyReplicas": 7}, {"strategy": {"rollingUpdate": {"maxSurge": 0}}},
        "2", {}, Counts(upgraded=5, upgraded_ready=2, old=5, old_ready=5),
    ),
    "revisions that are no numbers": (
        {"replicas": 13, "updatedReplicas": 5, "readyReplicas": 9}, SURGED, "x", {"x": 9, "": 1},
        Counts(upgraded=5, upgraded_ready=1, old=8, old_ready=8, observed=False),
    ),
    "pods of the batch are still to come": (
        {"replicas": 10, "readyReplicas": 10}, SURGED, "1", {"1": 10}, Counts(old=10, old_ready=10, observed=False),
    ),
    "a status about the older template, whose pods were all updated": (
        {"observedGeneration": 0, "replicas": 10, "updatedReplicas": 10, "readyReplicas": 10}, {"paused": True},
        "1", {"1": 10}, Counts(upgraded=1, upgraded_ready=1, old=9, old_ready=9, observed=False),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", COUNTS.values(), ids=COUNTS)
def test_counts(case: tuple[dict[str, int], dict[str, Any], str, dict[str, int], Counts]) -> None:
    status, spec, revision, ready, expected = case
    model = Deployment.running("web", 10)
    model.spec.update(spec)
    model.status = {"observedGeneration": 1, **status}
    model.annotations = {"deployment.kubernetes.io/revision": revision}
    sets = tuple(replica_set(number, count) for number, count in ready.items())
    assert HANDLER.counts(Workloads(target=model.live, pods=sets), goal_of(10, before=1, upgraded=3)) == expected


def replica_set(revision: str, ready: int) -> LiveObject:
    body = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": f"web-{revision}", "annotations": {"deployment.kubernetes.io/revision": revision}},
        "status": {"readyReplicas": ready, "availableReplicas": ready},
    }
    return LiveObject(key_of(body), body)


@pytest.mark.parametrize(
    ("metadata", "status", "expected"), [({"uid": "u"}, {}, 0), ({"uid": "u"}, {"replicas": 2}, 5), ({}, {}, 5)]
)
def test_one_that_was_made_while_it_was_paused_has_no_pods(
    metadata: dict[str, str], status: dict[str, int], expected: int
) -> None:
    body = {"metadata": metadata, "spec": {"replicas": 5, "paused": True}, "status": status}
    assert HANDLER.size(body) == expected
