"""What of a decision is performed: nothing for what could not be published, and no delete where it is not sure."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from gitfleet.api.objects import ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.model.decisions import Decision, Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.failures import Failure, Subject, attempt
from gitfleet.model.observations import ClusterObservation, LiveObject
from gitfleet.model.operations import Delete, Operation
from gitfleet.model.state import Damage, FleetState
from gitfleet.model.works import Work
from gitfleet.reconcile import Memo, decide, plan_operations, settle, withhold
from tests.removals.fleets import CLUSTERS, SHOP, WEB, config_map, fleet, placed
from tests.rollout.builders import NOW

A, S = config_map("a"), config_map("s", "shop")
AFTER = fleet(placed(WEB, CLUSTERS, A), placed(SHOP, CLUSTERS, S))
EMPTY = Desired(commit="d")


def failed(name: str) -> Failure:
    """What could not be written of a placement."""

    def breaks() -> None:
        raise ValueError(name)

    found = attempt(Subject("ClusterResourcePlacement", name), breaks)
    assert isinstance(found, Failure)
    return found


def delete(cluster: str, placement: PlacementKey = WEB) -> Operation:
    """Something that is done."""
    return Delete(cluster=cluster, placement=placement, reason="why", key=A.key, uid="u", wave=1)


DECISION = Decision(
    inputs=Inputs(desired=EMPTY, before=FleetState(), observations={}, now=NOW),
    after=AFTER,
    works={
        name: tuple(Work(placement=key, cluster=name, generation=1, snapshot="s", manifests=()) for key in (WEB, SHOP))
        for name in CLUSTERS
    },
    failures=(failed("earlier"),),
)
DONE = tuple(delete(name, key) for name in CLUSTERS for key in (WEB, SHOP))


@pytest.mark.parametrize(
    ("published", "left"),
    [
        (replace(AFTER), [("c1", "web"), ("c1", "shop"), ("c2", "web"), ("c2", "shop")]),
        (replace(AFTER, placements={SHOP: AFTER.placements[SHOP]}), [("c1", "shop"), ("c2", "shop")]),
        (
            replace(AFTER, placements={**AFTER.placements, SHOP: replace(AFTER.placements[SHOP], schedule_key="")}),
            [("c1", "web"), ("c2", "web")],
        ),
        (replace(AFTER, clusters={"c2": AFTER.clusters["c2"]}), [("c2", "web"), ("c2", "shop")]),
        (replace(AFTER, inventory={"c1": AFTER.inventory["c1"]}), [("c1", "web"), ("c1", "shop")]),
        (replace(AFTER, inventory={**AFTER.inventory, "c2": {}}), [("c1", "web"), ("c1", "shop")]),
    ],
)
def test_what_could_not_be_published_is_not_performed(published: FleetState, left: list[tuple[str, str]]) -> None:
    held, operations = withhold(DECISION, DONE, published, (failed("later"),))
    assert [(one.cluster, one.placement.name) for one in operations] == left
    works = [(name, one.placement.name) for name, found in held.works.items() for one in found]
    assert (works, held.after) == (left, published)
    assert [failure.subject.name for failure in held.failures] == ["earlier", "later"]
    assert withhold(DECISION, DONE, AFTER, ()) == (DECISION, DONE)


@pytest.mark.parametrize("unsure", [frozenset[str](), frozenset({"c1"})])
def test_nothing_is_deleted_where_the_inventory_was_rebuilt(unsure: frozenset[str]) -> None:
    """Nothing of the repo is left; what a cluster has is owned by a placement that goes."""
    before = replace(AFTER, damage=Damage(unsure=unsure))
    goes = {key: replace(one, placement=replace(one.placement, deleting=NOW)) for key, one in AFTER.placements.items()}
    gone = {
        key: replace(one, bindings=tuple(replace(b, deleting=NOW) for b in one.bindings)) for key, one in goes.items()
    }
    observations = {
        name: ClusterObservation(cluster=name, reachable=True, observed=NOW, live=live_of(before, name))
        for name in CLUSTERS
    }
    inputs = Inputs(desired=EMPTY, before=before, observations=observations, now=NOW)
    decision = Decision(inputs=inputs, after=replace(AFTER, placements=gone))
    decided, operations, _ = plan_operations(decision, {}, Memo())
    assert sorted({one.cluster for one in operations if isinstance(one, Delete)}) == sorted({*CLUSTERS} - unsure)
    assert decided.observed_again == frozenset()
    again, _, memo = plan_operations(decision, {"c1": observations["c1"]}, Memo())
    assert again.observed_again == {"c1"} and memo.plans
    state, failures = settle(decided, operations, (), NOW, memo)
    assert not failures and state.placements.keys() == gone.keys(), "nothing was answered"


def live_of(state: FleetState, cluster: str) -> dict[ObjectKey, LiveObject | None]:
    """What the cluster has."""
    return {
        key: LiveObject(key, {"metadata": {"uid": entry.uid, "resourceVersion": "1"}})
        for key, entry in state.inventory[cluster].items()
    }


def test_a_pass_over_nothing_decides_nothing() -> None:
    inputs = Inputs(desired=EMPTY, before=FleetState(observed_commit="d"), observations={}, now=NOW)
    decision, memo = decide(inputs, Memo())
    assert (decision.after, decision.works, decision.wake_at) == (inputs.before, {}, None)
    again, _ = decide(replace(inputs, now=NOW + timedelta(1)), memo)
    assert again.after == decision.after
