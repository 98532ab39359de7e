"""What a driver keeps between passes saves work and nothing else."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

from gitfleet import reconcile, status
from gitfleet.model.decisions import Decision, Inputs
from gitfleet.model.events import Event
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.reconcile import placements
from tests.builders import (
    config_map,
    deployment,
    member_cluster,
    namespace,
    override,
    override_rule,
    pick_fixed,
    pick_n,
    placement,
)
from tests.properties.histories import History
from tests.scenarios.world import World

pytestmark = pytest.mark.slow

SHOP, BANK = (
    placement("shop", policy=pick_n(3, match_labels={"region": "eu"})),
    placement("bank", policy=pick_fixed("c1", "c2")),
)


def fleet() -> World:
    """Two placements on three clusters, at rest."""
    world = World()
    clusters = [member_cluster(name, labels={"region": "eu"}) for name in ("c1", "c2", "c3")]
    content = [namespace("shop"), deployment("shop", "web"), namespace("bank"), config_map("bank", "a", {"k": "1"})]
    world.roll_out(*clusters, *content, SHOP, BANK)
    world.reconcile()
    return world


@pytest.fixture
def decided(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The placements that were decided, as they are."""
    names: list[str] = []
    decide = placements.decide_placement

    def noted(record: PlacementRecord, *rest: Any) -> object:
        names.append(record.placement.key.name)
        return decide(record, *rest)

    monkeypatch.setattr(placements, "decide_placement", noted)
    return names


def test_a_placement_of_which_nothing_changed_is_not_decided_again(decided: list[str]) -> None:
    world = fleet()
    decided.clear()
    world.roll_out(config_map("bank", "a", {"k": "2"}))
    assert set(decided) == {"bank"}


def test_the_plans_of_clusters_keep_no_state_of_the_fleet_alive() -> None:
    plans = fleet().driver.memo.plans
    assert len(plans) == 3 and b"PlacementRecord" not in pickle.dumps(plans)


CHANGES: dict[str, Callable[[World], object]] = {
    "another object selected": lambda w: w.commit(config_map("shop", "b", {"k": "2"})),
    "the placement's policy": lambda w: w.commit(placement("shop", policy=pick_n(2))),
    "a placement that goes": lambda w: w.commit(remove=[SHOP]),
    "labels of a cluster": lambda w: w.commit(member_cluster("c1", labels={"region": "us"})),
    "a cluster that leaves": lambda w: w.commit(remove=[member_cluster("c1")]),
    "a cluster that falls silent": lambda w: w.silence("c1"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_a_placement_depends_on_has_it_decided_again(change: str, decided: list[str]) -> None:
    world = fleet()
    decided.clear()
    CHANGES[change](world)
    world.reconcile()
    assert "shop" in decided


def test_labels_count_for_the_placements_that_name_them(decided: list[str]) -> None:
    world = fleet()
    for expected in ({"shop"}, {"shop", "bank"}):
        decided.clear()
        world.roll_out(member_cluster("c1", labels={"region": "us"}))
        assert set(decided) == expected
        patch = {"op": "add", "path": "/data/k", "value": "3"}
        rule = override_rule(patch, labels={"region": "us"})
        world.roll_out(
            member_cluster("c1", labels={"region": "eu"}), override("o", "ConfigMap/a", rule, namespace="bank")
        )


@pytest.mark.parametrize("seed", range(3))
def test_an_empty_memo_gives_the_same_decisions_in_any_history(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    decide, compared = reconcile.decide, 0

    def checked(inputs: Inputs, memo: reconcile.Memo, *plugins: Any) -> tuple[Decision, reconcile.Memo]:
        nonlocal compared
        answer, after = decide(inputs, memo, *plugins)
        anew, _ = decide(inputs, reconcile.Memo(), *plugins)
        assert (answer.after, answer.works, answer.plans) == (anew.after, anew.works, anew.plans)
        assert (answer.wake_at, answer.failures) == (anew.wake_at, anew.failures)
        compared += 1
        return answer, after

    monkeypatch.setattr(reconcile, "decide", checked)
    history = History(seed)
    history.play()
    assert compared > 5


def test_the_events_of_a_commit_are_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    world, emit, asked = fleet(), status.emit_events, list[tuple[FleetState, FleetState]]()

    def counted(before: FleetState, after: FleetState) -> tuple[Event, ...]:
        asked.append((before, after))
        return emit(before, after)

    monkeypatch.setattr(status, "emit_events", counted)
    world.roll_out(config_map("bank", "a", {"k": "2"}))
    pairs = [(id(before), id(after)) for before, after in asked]
    assert pairs
    assert len(set(pairs)) == len(pairs)
