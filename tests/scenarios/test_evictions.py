"""Evictions on whole simulated fleets: decided once, within the budget, and carried out (seed 003, issue 8)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.conditions import Condition, Status
from gitfleet.api.objects import JsonObject
from gitfleet.api.scenarios import ClusterRule
from gitfleet.api.staged import Eviction
from gitfleet.desired.texts import DesiredText
from gitfleet.loop.texts import LoopText
from gitfleet.model.events import EventType
from gitfleet.reconcile.texts import ReconcileText
from gitfleet.rollout.texts import RolloutText
from gitfleet.status.texts import StatusText
from gitfleet.views.texts import ViewsText
from tests import builders
from tests.scenarios.explaining import explain
from tests.scenarios.test_garbled_state import garble
from tests.scenarios.world import World, nothing

CLUSTERS = ("c1", "c2", "c3", "c4")
NO_BUDGET = RolloutText.EVICTION_ALLOWED_NO_BUDGET_SPECIFIED()
MAINTENANCE = {"key": "maintenance", "value": "true", "effect": "NoSchedule"}


def settled(policy: JsonObject | None = None, *more: JsonObject, world: World | None = None) -> World:
    """Four clusters and the placement `web`."""
    world = world or World()
    world.commit(
        *(builders.member_cluster(name) for name in CLUSTERS),
        builders.namespace("web"),
        builders.deployment("web", "web"),
        builders.placement("web", policy=policy),
        *more,
    )
    world.settle()
    return world


def evict(world: World, *clusters: str) -> None:
    """A person commits an eviction of `web` from each cluster."""
    world.commit(*(builders.eviction(f"drain-{name}", "web", name) for name in clusters))


def outcomes(world: World) -> dict[str, tuple[Status | None, Status | None]]:
    """Valid and Executed by name."""
    return {name: (_status(one.valid), _status(one.executed)) for name, one in world.state().evictions.items()}


def _status(condition: Condition | None) -> Status | None:
    return condition.status if condition is not None else None


def the(world: World, name: str) -> Eviction:
    return world.state().evictions[name]


def message(world: World, name: str) -> str:
    found = the(world, name).outcome
    assert found is not None
    return found.message


def running(world: World) -> list[str]:
    return [name for name in CLUSTERS if world.image(name) is not None]


def removed(world: World) -> list[str]:
    """The clusters that lost the Deployment, once for each time."""
    return [h.cluster for h in world.happenings if h.what == "delete" and h.key.kind == "Deployment"]


VALID, EXECUTED = (Status.TRUE, Status.TRUE), Status.TRUE
REFUSED, INVALID = (Status.TRUE, Status.FALSE), (Status.FALSE, None)


def test_an_evicted_cluster_is_picked_again_at_once_without_a_taint() -> None:
    world = settled()
    evict(world, "c2")
    published: list[bool] = []

    def look(step: str) -> None:
        if step == "intent published":
            published.append(world.bindings("web")["c2"].deleting is not None and "drain-c2" in world.state().evictions)
            assert running(world) == list(CLUSTERS), "nothing is done before it is published"

    world.driver.checkpoint = look
    world.reconcile()
    assert published == [True], "the binding is given up in the pass that reads the eviction"
    world.driver.checkpoint = nothing
    assert not world.state().holds
    assert running(world) == ["c1", "c3", "c4"]
    world.settle()
    assert removed(world) == ["c2"]
    assert running(world) == list(CLUSTERS)
    assert outcomes(world) == {"drain-c2": VALID}
    assert message(world, "drain-c2") == NO_BUDGET
    told = [event.fields["eviction"] for event in world.events if event.type is EventType.EVICTED]
    assert told == ["drain-c2"]
    for _ in range(3):
        world.restart()
        world.settle()
    assert removed(world) == ["c2"], "a process that knows nothing but the remote " + ViewsText.NOT_EVICT() + " again"


def test_a_taint_first_keeps_the_cluster_empty_and_pick_n_finds_another() -> None:
    world = settled(builders.pick_n(2))
    picked = running(world)
    world.commit(builders.member_cluster(picked[0], taints=[MAINTENANCE]))
    world.settle()
    assert running(world) == picked, "a taint alone moves nothing"
    evict(world, picked[0])
    world.settle()
    assert len(running(world)) == 2
    assert picked[0] not in running(world)
    assert removed(world) == [picked[0]]


def test_pick_all_with_a_taint_loses_the_cluster_and_no_hold_is_made() -> None:
    world = settled()
    world.commit(
        builders.member_cluster("c1", taints=[MAINTENANCE]), builders.member_cluster("c2", taints=[MAINTENANCE])
    )
    evict(world, "c1", "c2")
    world.settle()
    assert running(world) == ["c3", "c4"]
    assert not world.state().holds, "two of four clusters: an eviction asks for its removal, no mass deletion is meant"


@pytest.mark.parametrize(
    ("policy", "budget", "executed"),
    [
        (None, {"minAvailable": 3}, ["a"]),
        (None, {"minAvailable": 2}, ["a", "b"]),
        (None, {"minAvailable": 4}, []),
        (None, {"maxUnavailable": 1}, []),
        (None, {"minAvailable": "50%"}, []),
        (builders.pick_n(4), {"minAvailable": "51%"}, ["a"]),
        (builders.pick_n(4), {"maxUnavailable": 2}, ["a", "b"]),
        (builders.pick_n(4), {"maxUnavailable": "10%"}, ["a"]),
        (builders.pick_n(4), {"maxUnavailable": 0}, []),
    ],
)
def test_evictions_of_one_commit_never_overrun_the_budget(
    policy: JsonObject | None, budget: dict[str, Any], executed: list[str]
) -> None:
    """By name, whatever the order of their clusters; the budget counts each one before the next."""
    world = settled(policy, builders.placement_budget("web", **budget))
    asked = {"b": "c1", "c": "c2", "a": "c3"}
    world.commit(*(builders.eviction(name, "web", cluster) for name, cluster in asked.items()))
    low = len(CLUSTERS)

    def watch(_: object) -> None:
        nonlocal low
        low = min(low, len(running(world)))

    world.watch = watch
    world.settle()
    assert [name for name, (_, done) in outcomes(world).items() if done is Status.TRUE] == executed
    assert low == len(CLUSTERS) - len(executed)
    assert sorted(removed(world)) == sorted(asked[name] for name in executed)


def test_a_binding_that_is_being_updated_counts_as_unavailable() -> None:
    world = settled(None, builders.placement_budget("web", minAvailable=4))
    world.commit(
        builders.placement_budget("web", minAvailable=3),
        builders.deployment("web", "web", image="web:2"),
    )
    world.reconcile()
    evict(world, "c4")
    world.reconcile()
    assert outcomes(world) == {"drain-c4": REFUSED}
    assert "availablePlacements: 3, totalPlacements: 4" in message(world, "drain-c4")
    world.settle()
    assert outcomes(world) == {"drain-c4": REFUSED}, "what was refused is " + LoopText.NOT_TRIED_AGAIN()
    assert removed(world) == []


def test_a_failed_placement_needs_no_budget() -> None:
    rule = ClusterRule(names=("c1",), apply="fail")
    world = settled(None, builders.placement_budget("web", minAvailable=4), world=World(rules=(rule,)))
    evict(world, "c1", "c2")
    world.reconcile()
    assert outcomes(world) == {"drain-c1": VALID, "drain-c2": REFUSED}
    assert message(world, "drain-c1") == RolloutText.EVICTION_ALLOWED_PLACEMENT_FAILED()


@pytest.mark.parametrize(
    ("bodies", "why"),
    [
        ([builders.eviction("e", "shop", "c1")], RolloutText.FAILED_FIND_PLACEMENT_TARGETED_EVICTION()),
        ([builders.eviction("e", "web", "c9")], "Failed to find scheduler decision for placement in cluster"),
        (
            [builders.eviction("e", "fixed", "c1")],
            RolloutText.FOUND_PLACEMENT_PICKFIXED_PLACEMENT_TYPE(),
        ),
    ],
)
def test_what_cannot_be_evicted_is_invalid_for_good(bodies: list[JsonObject], why: str) -> None:
    fixed = builders.placement("fixed", "web", policy=builders.pick_fixed("c1"))
    world = settled(builders.pick_n(1), fixed)
    world.commit(*bodies)
    world.settle()
    assert outcomes(world) == {"e": INVALID}
    assert message(world, "e").startswith(why)
    world.commit(builders.placement("shop", "web"), builders.member_cluster("c9"))
    world.settle()
    assert outcomes(world) == {"e": INVALID}
    assert removed(world) == []


def test_an_eviction_is_decided_once_as_long_as_its_file_is_there() -> None:
    world = settled(None, builders.placement_budget("web", minAvailable=4))
    evict(world, "c1")
    world.settle()
    assert outcomes(world) == {"drain-c1": REFUSED}
    world.commit(remove=[builders.placement_budget("web", minAvailable=4)])
    world.settle()
    assert outcomes(world) == {"drain-c1": REFUSED}
    world.commit(builders.eviction("drain-c1", "web", "c2"))
    world.settle()
    (fault,) = world.state().faults
    assert (fault.object, fault.field) == ("ClusterResourcePlacementEviction/drain-c1", "spec.clusterName")
    assert DesiredText.CANNOT_CHANGE_ONCE_DECIDED() in fault.message
    assert the(world, "drain-c1").cluster_name == "c1"
    assert removed(world) == []
    world.commit(remove=[builders.eviction("drain-c1", "web", "c1")])
    world.settle()
    assert outcomes(world) == {}
    assert not world.state_text("evictions/drain-c1.yaml")
    evict(world, "c1")
    world.settle()
    assert outcomes(world) == {"drain-c1": VALID}, "a file that was removed and comes back is a new eviction"


def test_a_file_that_cannot_be_read_any_more_forgets_nothing() -> None:
    world = settled()
    evict(world, "c1")
    world.settle()
    world.write({"evictions/drain-c1.yaml": "kind: [\n"})
    world.settle()
    assert outcomes(world) == {"drain-c1": VALID}
    evict(world, "c1")
    world.settle()
    assert removed(world) == ["c1"]


@pytest.mark.parametrize("budget", ["kind: [\n", "both"])
def test_an_eviction_waits_for_a_budget_that_cannot_be_read(budget: str) -> None:
    both = builders.to_yaml(builders.placement_budget("web", minAvailable=4, maxUnavailable=1))
    world = settled()
    world.write({"budgets/web.yaml": both if budget == "both" else budget})
    evict(world, "c1")
    world.settle()
    assert outcomes(world) == {}
    assert removed(world) == []
    sentence = StatusText.WAITS_TAKE_OFF(
        placement_name="web", eviction="c1", why=ReconcileText.DISRUPTION_BUDGET_CANNOT_READ(placement_name="web")
    )
    said = [fault.message for fault in world.state().faults if fault.object.endswith("Eviction/drain-c1")]
    assert said == [sentence] or (budget != "both" and ReconcileText.FILE_CONFIG_REPO_CANNOT_READ() in said[0])
    rows = {row["clusterName"]: row["evictions"] for row in explain(world.repo, world.fleet, world.clock, "web")}
    assert rows["c1"] == [f"drain-c1 {said[0]}"] and not rows["c2"]
    world.commit(builders.placement_budget("web", minAvailable=4))
    world.settle()
    assert outcomes(world) == {"drain-c1": REFUSED}


def tainted(effect: str) -> JsonObject:
    return builders.member_cluster("c1", taints=[{**MAINTENANCE, "effect": effect}])


@pytest.mark.parametrize("effect", ["NoSchedule", "NoExecute"])
def test_an_eviction_waits_while_the_taint_of_its_own_commit_is_refused(effect: str) -> None:
    """Without the taint the placement would be on the cluster again at once."""
    world = settled()
    world.commit(tainted(effect), builders.eviction("drain-c1", "web", "c1"))
    world.settle()
    refused = effect == "NoExecute"
    assert outcomes(world) == ({} if refused else {"drain-c1": VALID})
    assert removed(world) == ([] if refused else ["c1"])
    world.commit(tainted("NoSchedule"))
    world.settle()
    assert (outcomes(world), removed(world)) == ({"drain-c1": VALID}, ["c1"])
    assert world.image("c1") is None


def test_an_eviction_carries_out_a_removal_that_is_held() -> None:
    """A person asked for this very one; the others of the hold go on waiting."""
    world = settled()
    nowhere = builders.pick_n(1, match_labels={"region": "nowhere"})["affinity"]
    world.commit(builders.placement("web", policy={"placementType": "PickAll", "affinity": nowhere}))
    world.settle()
    (hold,) = world.state().holds.values()
    assert {removal.cluster for removal in hold.removals} == set(CLUSTERS)
    evict(world, "c2")
    world.settle()
    assert outcomes(world) == {"drain-c2": VALID}
    assert running(world) == ["c1", "c3", "c4"]
    (hold,) = world.state().holds.values()
    assert {removal.cluster for removal in hold.removals} == {"c1", "c3", "c4"}


def test_a_silent_cluster_is_given_up_and_cleared_when_it_answers() -> None:
    world = settled(builders.pick_n(3))
    picked = running(world)
    world.fleet.cluster(picked[0]).reachable = False
    world.rest()
    evict(world, picked[0])
    world.commit(builders.member_cluster(picked[0], taints=[MAINTENANCE]))
    world.settle(limit=timedelta(minutes=20))
    assert outcomes(world)[f"drain-{picked[0]}"] == VALID
    assert len(running(world)) == 4, "another cluster took its place; this one has not heard of it"
    world.commit(remove=[builders.eviction(f"drain-{picked[0]}", "web", picked[0])])
    world.settle(limit=timedelta(minutes=20))
    assert world.bindings("web")[picked[0]].deleting is not None, "the removal is not taken back with the file"
    world.fleet.cluster(picked[0]).reachable = True
    world.settle(limit=timedelta(minutes=20))
    assert len(running(world)) == 3
    assert picked[0] not in world.bindings("web")


@pytest.mark.parametrize("history", [True, False])
def test_a_record_that_cannot_be_read_is_not_decided_again(history: bool) -> None:
    """From an earlier commit of the state branch; where that has none, nobody knows any more what became of it."""
    world = settled()
    evict(world, "c1")
    world.settle()
    garble(world, {"evictions/drain-c1.yaml": b"- 1\n"}, history=history)
    for _ in range(2):
        world.restart()
        world.settle()
    assert removed(world) == ["c1"]
    assert outcomes(world) == {"drain-c1": VALID if history else (Status.TRUE, Status.UNKNOWN)}
    assert "evictions/drain-c1.yaml" in [fault.path for fault in world.state().faults]
    assert not world.state().damage.any
