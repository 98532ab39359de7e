"""Evictions on whole simulated fleets: decided once, within the budget, and carried out (seed 003, issue 8)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from gitfleet.api.conditions import Condition, Status
from gitfleet.api.objects import JsonObject
from gitfleet.api.staged import Eviction
from gitfleet.desired.texts import DesiredText
from gitfleet.model.events import EventType
from gitfleet.rollout.texts import RolloutText
from gitfleet.views.texts import ViewsText
from tests import builders
from tests.scenarios.world import World, nothing, only_hold

CLUSTERS = ("c1", "c2", "c3", "c4")
NO_BUDGET = RolloutText.EVICTION_ALLOWED_NO_BUDGET_SPECIFIED()
MAINTENANCE = {"key": "maintenance", "value": "true", "effect": "NoSchedule"}


def settled(policy: JsonObject | None = None, *more: JsonObject, world: World | None = None) -> World:
    """Four clusters and the placement `web`."""
    world = world or World()
    world.roll_out(
        *(builders.member_cluster(name) for name in CLUSTERS),
        builders.namespace("web"),
        builders.deployment("web", "web"),
        builders.placement("web", policy=policy),
        *more,
    )
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
    world.roll_out(builders.member_cluster(picked[0], taints=[MAINTENANCE]))
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


def test_an_eviction_is_decided_once_as_long_as_its_file_is_there() -> None:
    world = settled(None, builders.placement_budget("web", minAvailable=4))
    evict(world, "c1")
    world.settle()
    assert outcomes(world) == {"drain-c1": REFUSED}
    world.roll_out(remove=[builders.placement_budget("web", minAvailable=4)])
    assert outcomes(world) == {"drain-c1": REFUSED}
    world.roll_out(builders.eviction("drain-c1", "web", "c2"))
    (fault,) = world.state().faults
    assert (fault.object, fault.field) == ("ClusterResourcePlacementEviction/drain-c1", "spec.clusterName")
    assert DesiredText.CANNOT_CHANGE_ONCE_DECIDED() in fault.message
    assert the(world, "drain-c1").cluster_name == "c1"
    assert removed(world) == []
    world.roll_out(remove=[builders.eviction("drain-c1", "web", "c1")])
    assert outcomes(world) == {}
    assert not world.state_text("evictions/drain-c1.yaml")
    evict(world, "c1")
    world.settle()
    assert outcomes(world) == {"drain-c1": VALID}, "a file that was removed and comes back is a new eviction"


def tainted(effect: str) -> JsonObject:
    return builders.member_cluster("c1", taints=[{**MAINTENANCE, "effect": effect}])


@pytest.mark.parametrize("effect", ["NoSchedule", "NoExecute"])
def test_an_eviction_waits_while_the_taint_of_its_own_commit_is_refused(effect: str) -> None:
    """Without the taint the placement would be on the cluster again at once."""
    world = settled()
    world.roll_out(tainted(effect), builders.eviction("drain-c1", "web", "c1"))
    refused = effect == "NoExecute"
    assert outcomes(world) == ({} if refused else {"drain-c1": VALID})
    assert removed(world) == ([] if refused else ["c1"])
    world.roll_out(tainted("NoSchedule"))
    assert (outcomes(world), removed(world)) == ({"drain-c1": VALID}, ["c1"])
    assert world.image("c1") is None


def test_an_eviction_carries_out_a_removal_that_is_held() -> None:
    """A person asked for this very one; the others of the hold go on waiting."""
    world = settled()
    nowhere = builders.pick_n(1, match_labels={"region": "nowhere"})["affinity"]
    world.roll_out(builders.placement("web", policy={"placementType": "PickAll", "affinity": nowhere}))
    assert {one.cluster for one in only_hold(world).clusters} == set(CLUSTERS)
    evict(world, "c2")
    world.settle()
    assert outcomes(world) == {"drain-c2": VALID}
    assert running(world) == ["c1", "c3", "c4"]
    assert {one.cluster for one in only_hold(world).clusters} == {"c1", "c3", "c4"}


def test_a_silent_cluster_is_given_up_and_cleared_when_it_answers() -> None:
    world = settled(builders.pick_n(3))
    picked = running(world)
    world.fleet.cluster(picked[0]).reachable = False
    world.rest()
    evict(world, picked[0])
    world.roll_out(builders.member_cluster(picked[0], taints=[MAINTENANCE]), limit=timedelta(minutes=20))
    assert outcomes(world)[f"drain-{picked[0]}"] == VALID
    assert len(running(world)) == 4, "another cluster took its place; this one has not heard of it"
    world.roll_out(remove=[builders.eviction(f"drain-{picked[0]}", "web", picked[0])], limit=timedelta(minutes=20))
    assert world.bindings("web")[picked[0]].deleting is not None, "the removal is not taken back with the file"
    world.fleet.cluster(picked[0]).reachable = True
    world.settle(limit=timedelta(minutes=20))
    assert len(running(world)) == 3
    assert picked[0] not in world.bindings("web")


def test_an_eviction_of_before_asks_for_no_later_removal() -> None:
    world = settled()
    world.roll_out(builders.member_cluster("c1", taints=[MAINTENANCE]), builders.eviction("drain-c1", "web", "c1"))
    assert world.image("c1") is None
    world.roll_out(builders.member_cluster("c1"))
    assert world.image("c1") is not None
    world.advance(hours=1)
    nowhere = builders.pick_n(1, match_labels={"region": "nowhere"})["affinity"]
    world.commit(builders.placement("web", policy={"placementType": "PickAll", "affinity": nowhere}))
    with world.nothing_deleted():
        world.settle()
    assert {one.cluster for one in only_hold(world).clusters} == set(CLUSTERS)
