"""An AppRollout whose revision or component is none, or is not the newest one: a rollout was asked for, so that no pod
changes until a person says which revision is meant, whatever the rollout did before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gitfleet.api.workload_records import RollingState
from gitfleet.views.texts import ViewsText
from gitfleet.workload.texts import WorkloadText
from tests.builders import deployment, namespace, placement
from tests.scenarios.test_rollouts_one_after_another import Played
from tests.scenarios.test_workload_rollout_changes import images
from tests.scenarios.test_workload_rollouts import a_world, app_rollout, status
from tests.scenarios.world import World

CONTENTS = [deployment("web", "web", f"web:{number}", replicas=4) for number in range(4)]


def named(target: int | str, component: str = "", **plan: Any) -> dict[str, Any]:
    """The rollout to a revision in two batches."""
    body = app_rollout("web", str(target), numBatches=2, **plan)
    return {**body, "spec": {**body["spec"], "componentList": [component]}} if component else body


def never(newest: int) -> World:
    """No rollout yet."""
    return a_world(CONTENTS[0])


def idle(newest: int) -> World:
    """One that had nothing to roll out."""
    return a_world(CONTENTS[0], named(0))


def over(newest: int) -> World:
    """One that has rolled out a revision."""
    world = idle(newest)
    world.commit(CONTENTS[1], named(1))
    world.settle()
    assert status(world).rolling_state is RollingState.SUCCEEDED
    return world


SLIPS: dict[str, tuple[Callable[[int], dict[str, Any]], str]] = {
    "a revision too far": (
        lambda right: named(right + 1),
        ("placement " + ViewsText.NO_SNAPSHOT(name="web", index="{next} yet")),
    ),
    "another number": (lambda right: named(222), ("placement " + ViewsText.NO_SNAPSHOT(name="web", index="222 yet"))),
    "a component": (lambda right: named(right, "wbe"), "has no workload wbe"),
}


@pytest.mark.parametrize(("begin", "newest"), [(never, 0), (idle, 0), (over, 1)], ids=["never", "idle", "over"])
@pytest.mark.parametrize("slip", SLIPS)
def test_no_pod_changes_until_the_slip_is_corrected(begin: Any, newest: int, slip: str) -> None:
    world, right = begin(newest), newest + 1
    wrong, why = SLIPS[slip]
    before = {f"web:{newest}": 4}
    world.commit(CONTENTS[right], wrong(right))
    world.settle()
    result = world.reconcile()
    assert result is not None
    assert images(world) == before
    (asked,) = result.asks
    assert asked.startswith("rollout web/web on c1: ") and why.format(next=right + 1) in asked
    world.restart()
    world.settle()
    assert images(world) == before
    world.commit(named(right, lastBatchToRollout=0))
    world.settle()
    assert images(world) == {f"web:{newest}": 2, f"web:{right}": 2}
    world.commit(named(right))
    world.settle()
    assert (images(world), status(world).rolling_state) == ({f"web:{right}": 4}, RollingState.SUCCEEDED)


@pytest.mark.parametrize("target", [222, 0])
def test_one_that_runs_goes_on_by_what_it_is_about(target: int) -> None:
    world = idle(0)
    world.commit(CONTENTS[1], named(1, lastBatchToRollout=0))
    world.settle()
    assert images(world) == {"web:0": 2, "web:1": 2}
    world.commit(named(target, lastBatchToRollout=0))
    world.settle()
    assert images(world) == {"web:0": 2, "web:1": 2}, "no pod changes by a slip half way"
    world.commit(named(1))
    world.settle()
    assert (images(world), status(world).rolling_state) == ({"web:1": 4}, RollingState.SUCCEEDED)


def test_a_first_deployment_waits_for_no_revision() -> None:
    world = a_world(CONTENTS[0], named(7))
    assert images(world) == {"web:0": 4}, "there are no pods that could change"
    result = world.reconcile()
    assert (
        result is not None
        and ("placement " + ViewsText.NO_SNAPSHOT(name="web", index="7 yet; its newest is 0")) in result.asks[0]
    )


def test_what_is_as_it_was_applied_is_no_problem_of_its_placement() -> None:
    world = a_world(CONTENTS[0], deployment("web", "other", "web:0", replicas=1))
    world.commit(named(0), app_rollout("beside", "222", numBatches=2))
    world.settle()
    result = world.reconcile()
    assert result is not None and (result.settled, result.waiting) == (True, ())
    ((binding,),) = (one.bindings for one in world.state().placements.values())
    assert binding.failed == ()


def test_a_removed_rollout_holds_nothing() -> None:
    world = never(0)
    world.commit(CONTENTS[1], named(222))
    world.settle()
    assert images(world) == {"web:0": 4}
    world.commit(remove=[named(222)])
    world.settle()
    assert images(world) == {"web:1": 4}


ONE, TWO, THREE = (deployment("web", f"web-{n}", f"web:{n}", replicas=4, labels={"app": "shop"}) for n in (1, 2, 3))


@pytest.mark.parametrize("first", [{}, {"lastBatchToRollout": 0}], ids=["over", "half"])
@pytest.mark.parametrize("component", ["", "shpo"], ids=["revision", "component"])
def test_a_slip_in_the_next_release_takes_no_pods(first: dict[str, Any], component: str) -> None:
    def release(target: str, source: str, name: str, **plan: Any) -> dict[str, Any]:
        body = app_rollout("app", target, source, numBatches=2, **plan)
        return {**body, "spec": {**body["spec"], "componentList": [name]}} if name else body

    played = Played([ONE], ([TWO, release("1", "0", component and "shop", **first)], [ONE]))
    played.then(THREE, release("2" if component else "9", "1", component), remove=[TWO])
    assert played.least >= 4, (played.least, played.images)


def test_a_slip_half_way_takes_no_pods_that_have_the_newer_content() -> None:
    played = Played([CONTENTS[0], named(0, "web")], ([CONTENTS[1], named(1, "web", lastBatchToRollout=0)], []))
    played.then(CONTENTS[2], named(2, "wbe"))
    assert played.least >= 4, played.images


@pytest.mark.parametrize("plan", [{}, {"lastBatchToRollout": 0}], ids=["over", "half"])
@pytest.mark.parametrize("rolls", [False, True], ids=["idle", "rolled"])
def test_a_workload_that_goes_leaves_a_question_and_no_commits(plan: dict[str, Any], rolls: bool) -> None:
    other = deployment("web", "api", "web:0", replicas=1)
    world = a_world(CONTENTS[0], other, named(0, "web"))
    if rolls:
        world.commit(CONTENTS[1], named(1, "web", **plan))
        world.settle()
    world.commit(remove=[CONTENTS[0]])
    world.settle()
    commits = world.state_commits()
    for _ in range(5):
        result = world.reconcile()
        assert result is not None and result.settled
        assert (ViewsText.NOT_CLUSTER() + " and no placement brings it; correct targetRevision") in "".join(result.asks)
        world.advance(seconds=60)
    assert world.state_commits() == commits and world.live("c1", "Deployment", "web", "web") is None
    world.commit(remove=[named(0)])
    world.settle()
    result = world.reconcile()
    assert result is not None and (result.asks, result.waiting) == ((), ())


def elsewhere(body: dict[str, Any]) -> dict[str, Any]:
    """The rollout with a placement that there is not."""
    return {**body, "spec": {**body["spec"], "placementRef": {"name": "wbe"}}}


@pytest.mark.parametrize("slip", ["component", "placement", "two workloads"])
def test_a_slip_in_the_next_revision_half_way_can_be_corrected(slip: str) -> None:
    mine = "web" if slip == "component" else ""
    played = Played([CONTENTS[0], named(0, mine, lastBatchToRollout=0)])
    played.then(CONTENTS[1], named(1, mine, lastBatchToRollout=0))
    assert played.images == {"web:0": 2, "web:1": 2}
    wrong = {"component": named(2, "wbe"), "placement": elsewhere(named(2)), "two workloads": named(2)}[slip]
    beside = [deployment("web", "api", "api:1", replicas=2)] if slip == "two workloads" else []
    played.then(CONTENTS[2], wrong, *beside)
    # What runs goes on by what it is about where the placement that is named is none.
    assert slip == "placement" or "web:2" not in played.images
    played.then(named(2, "" if slip == "placement" else "web"))
    assert {image: n for image, n in played.images.items() if image != "api:1"} == {"web:2": 4}
    assert played.world.state().faults == ()


def keeping_one(*first: dict[str, Any]) -> Played:
    """A placement that keeps its newest snapshot alone, and those in use."""
    placed = placement("web", "web")
    return Played([*first], ([{**placed, "spec": {**placed["spec"], "revisionHistoryLimit": 1}}], []))


def test_a_placement_that_is_misspelt_moves_nothing() -> None:
    played = Played([CONTENTS[0]], ([CONTENTS[1], elsewhere(named(1))], []))
    assert (played.images, played.least) == ({"web:0": 4}, 4)
    assert "placement wbe is on no cluster" in played.said
    played.then(named(1, lastBatchToRollout=0))
    assert played.images == {"web:0": 2, "web:1": 2}


def test_a_placement_that_is_misspelt_in_the_next_release_takes_no_pods() -> None:
    played = Played([ONE], ([TWO, app_rollout("web", "1", "0", numBatches=2)], [ONE]))
    played.then(THREE, elsewhere(app_rollout("web", "2", "1", numBatches=2)), remove=[TWO])
    assert played.least >= 4 and WorkloadText.NO_PLACEMENT_YOU_MEAN_CORRECT(key="wbe", meant="web") in played.said
    played.then(app_rollout("web", "2", "1", numBatches=2))
    assert (played.least >= 4, played.images) == (True, {"web:3": 4})


def test_a_rollout_that_its_placement_left_behind_holds_nothing_of_a_near_one() -> None:
    near = namespace("near")
    played = Played(
        [CONTENTS[0], named(0), near, placement("wbe", "near"), deployment("near", "web", "web:0", replicas=1)]
    )
    played.then(remove=[placement("web", "web"), CONTENTS[0]])
    played.then(deployment("near", "web", "web:1", replicas=1))
    assert "did you mean" not in played.said


def test_a_revision_that_is_not_kept_any_more_moves_nothing() -> None:
    played = keeping_one(CONTENTS[0])
    played.then(CONTENTS[1])
    played.then(CONTENTS[2], named(0))
    assert (
        played.images == {"web:1": 4}
        and WorkloadText.SNAPSHOT_PLACEMENT(index="0", key="web is not kept") in played.said
    )
    played.then(named(2, lastBatchToRollout=0))
    assert played.images == {"web:1": 2, "web:2": 2}


def test_a_revision_that_a_rollout_names_is_kept_so_that_one_that_is_forgotten_is_asked_about() -> None:
    played = keeping_one(CONTENTS[0], named(0))
    for number in range(3):
        played.then(deployment("web", "beside", f"x:{number}", replicas=1), named(0, "web"))
        assert played.said == ""
    played.then(CONTENTS[1])
    assert played.images == {"web:0": 4, "x:2": 1}
    assert "the cluster has web-4-snapshot and targetRevision is 0: name 4, or roll the placement back" in played.said
    (kept,) = (one.resource_snapshots for one in played.world.state().placements.values())
    assert [one.index for one in kept] == [0, 4]


@pytest.mark.parametrize("other", [[], [CONTENTS[2]]], ids=["alone", "with other content"])
def test_another_component_half_way(other: list[dict[str, Any]]) -> None:
    api = [deployment("web", "api", f"api:{number}", replicas=4) for number in range(2)]
    played = Played([CONTENTS[0], api[0], named(0, "web")], ([CONTENTS[1], named(1, "web", lastBatchToRollout=0)], []))
    played.then(api[1], named(2, "api", lastBatchToRollout=0), *other)
    images_of_api = {image: n for image, n in played.images.items() if image.startswith("api")}
    assert images_of_api == {"api:0": 2, "api:1": 2}, played.said
    assert "lastBatchToRollout is 0" in played.said
