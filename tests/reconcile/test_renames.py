"""What a placement takes along that another one names in `gitfleet.dev/renamed-from`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.placements import RENAMED_FROM, Placement, PlacementKey, ResourceSelector
from gitfleet.api.quarantines import Quarantine
from gitfleet.api.runs import ClusterUpdate, Former, RunRecord, RunStatus, StageStatus
from gitfleet.api.staged import StagedRun
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_records import ClusterRolloutStatus, RolloutRecord
from gitfleet.api.workload_rollouts import PlacementReference
from gitfleet.model.decisions import Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.reconcile.renames import with_renames
from tests import workload_records
from tests.removals.fleets import config_map, hold, of_object
from tests.rollout.builders import NOW
from tests.state import builders

WEB, SHOP, NEW = PlacementKey("", "web"), PlacementKey("", "shop"), PlacementKey("", "new")
OBJECT = config_map("a")


def place(key: PlacementKey, former: str | None = None, **more: Any) -> Placement:
    annotations = {} if former is None else {RENAMED_FROM: former}
    selector = ResourceSelector(group="", version="v1", kind="Namespace", name="one")
    return Placement(key=key, selectors=(selector,), annotations=annotations, **more)


def recorded(placement: Placement) -> PlacementRecord:
    """A placement with a snapshot, and on two clusters."""
    key = placement.key
    found = builders.record(key.name, *(builders.binding(key, name) for name in ("c1", "c2")), namespace=key.namespace)
    return replace(found, placement=placement, schedule_key="k")


def inputs(had: list[Placement], has: list[Placement], before: FleetState | None = None, **objects: Any) -> Inputs:
    every = {"placements": {one.key: one for one in has}, **objects}
    state = replace(before or FleetState(), placements={one.key: recorded(one) for one in had})
    return Inputs(desired=Desired(commit="d", objects=every), before=state, observations={}, now=NOW)


INNER, OTHER = PlacementKey("x", "web"), PlacementKey("x", "new")


@pytest.mark.parametrize(
    ("had", "has", "names"),
    [
        ([place(WEB)], [place(NEW, "web")], {"new"}),
        ([place(WEB, deleting=NOW)], [place(NEW, "web")], {"new"}),
        ([place(WEB)], [place(NEW)], {"web"}),
        ([place(WEB)], [place(WEB), place(NEW, "web")], {"web"}),
        ([place(WEB), place(NEW)], [place(NEW, "web")], {"web", "new"}),
        ([place(NEW, "web")], [place(SHOP, "new")], {"shop"}),
        ([place(NEW, "web")], [place(WEB, "new")], {"web"}),
        ([place(WEB)], [place(NEW, "web"), place(SHOP, "web")], {"new"}),
        ([place(WEB), place(SHOP)], [place(NEW, "web"), place(WEB, "shop")], {"web", "shop"}),
        ([place(INNER)], [place(OTHER, "web")], {"x/new"}),
        ([place(WEB)], [place(OTHER, "web")], {"web"}),
    ],
)
def test_a_record_is_taken_over_once_by_a_new_placement(
    had: list[Placement], has: list[Placement], names: set[str]
) -> None:
    given = inputs(had, has)
    found = with_renames(given)
    assert set(map(str, found.before.placements)) == names
    assert (found is given) == (names == {str(one.key) for one in had})
    assert with_renames(found) is found


def run(name: str, placement: str = "web", *formers: str) -> RunRecord:
    clusters = (
        ClusterUpdate(cluster="c1"),
        *(ClusterUpdate(cluster=one, former=Former(resource_snapshot=one)) for one in formers),
    )
    stages = (StageStatus(name="s", clusters=clusters),)
    status = RunStatus(stages=stages, deletion=stages[0] if formers else None)
    key = NamespacedName("", name)
    return RunRecord(key=key, placement_name=placement, strategy_name="all", created=NOW, status=status)


def rollout(name: str, placement: str | None) -> RolloutRecord:
    reference = None if placement is None else PlacementReference(name=placement)
    clusters = (ClusterRolloutStatus(cluster="c1", revision=f"{placement or ''}-1-snapshot"),)
    return replace(
        workload_records.rollout_record(), key=NamespacedName("", name), placement_ref=reference, clusters=clusters
    )


def test_everything_of_the_old_name_has_the_new_one() -> None:
    entries = {one.key: one for one in (InventoryEntry(key=OBJECT.key, placement=WEB, uid="u"),)}
    others = {OBJECT.key: InventoryEntry(key=OBJECT.key, placement=SHOP)}
    quarantines = [Quarantine(name="web-d", placement=WEB, digest="d", run="go"), Quarantine(name="p", placement=WEB)]
    runs = [run("go", "web", "web-0-snapshot", "odd"), run("over"), run("gone"), run("shop", "shop", "shop-0-snapshot")]
    rollouts = [rollout("r", "web"), rollout("s", "shop"), rollout("t", None)]
    holds = [hold("h", [of_object(OBJECT), of_object(OBJECT, SHOP)], "why"), hold("i", [of_object(OBJECT, SHOP)], "")]
    before = FleetState(
        inventory={"c1": entries, "c2": others},
        quarantines={one.name: one for one in quarantines},
        runs={one.key: one for one in runs},
        rollouts={one.key: one for one in rollouts},
        holds={one.name: one for one in holds},
    )
    files = {
        key: StagedRun(key=key, placement_name=name, strategy_name="all")
        for key, name in ((runs[0].key, "new"), (runs[1].key, "web"))
    }
    found = with_renames(inputs([place(WEB), place(SHOP)], [place(NEW, "web"), place(SHOP)], before, runs=files)).before
    record, was, newest = found.placements[NEW], recorded(place(WEB)), "new-0-snapshot"
    assert record == replace(
        was,
        placement=place(NEW),
        resource_snapshots=tuple(replace(s, placement=NEW) for s in was.resource_snapshots),
        policy_snapshots=tuple(replace(s, placement=NEW) for s in was.policy_snapshots),
        bindings=tuple(
            replace(b, placement=NEW, policy_snapshot="new-0", resource_snapshot=newest, applied_snapshot=newest)
            for b in was.bindings
        ),
        schedule_key="",
    )
    assert (found.inventory["c1"][OBJECT.key].placement, found.inventory["c1"][OBJECT.key].uid) == (NEW, "u")
    assert found.inventory["c2"] is others
    assert [(name, q.name, q.placement) for name, q in found.quarantines.items()] == [
        ("new-d", "new-d", NEW),
        ("p", "p", WEB),
    ]
    assert [one.placement_name for one in found.runs.values()] == ["new", "web", "new", "shop"]
    status = found.runs[runs[0].key].status
    assert status.deletion == status.stages[0]
    assert [one.former and one.former.resource_snapshot for one in status.stages[0].clusters] == [None, newest, "odd"]
    assert [one.revision for r in found.rollouts.values() for one in r.clusters] == [
        "new-1-snapshot",
        "shop-1-snapshot",
        "-1-snapshot",
    ]
    assert [{str(removal.placement) for removal in one.removals} for one in found.holds.values()] == [
        {"new", "shop"},
        {"shop"},
    ]
