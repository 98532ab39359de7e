"""What a decision leads to when everything that it began is through: tables over whole states and operations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.bindings import BindingState
from gitfleet.api.objects import Manifest, ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.api.runs import ClusterUpdate, RunRecord, StageStatus
from gitfleet.api.strategies import RolloutStrategy, RolloutStrategyType
from gitfleet.model.decisions import Decision, Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.observations import ClusterObservation, LiveObject
from gitfleet.model.operations import Create, Delete, Update
from gitfleet.model.removals import WantedObjects
from gitfleet.model.rolling import RolloutPlan
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.model.works import Work
from gitfleet.reconcile import Memo
from gitfleet.reconcile.later_steps import remaining_operations, when_rolled_out, with_namespaces
from gitfleet.rollout import staged
from tests.gates import OPEN
from tests.reconcile.test_runs import asked, known
from tests.removals.fleets import CLUSTERS, SHOP, WEB, config_map, fleet, placed, with_web
from tests.rollout.builders import NOW
from tests.state import builders
from tests.works.builders import obj, override, rule, snapshot

A, B, SPACE = config_map("a"), config_map("b"), obj("v1", "Namespace", "web")
BEFORE = fleet(placed(WEB, CLUSTERS, A, SPACE), placed(SHOP, ("c1",), config_map("s", "shop")))
SETTINGS = PlacementKey("web", "settings")


def held(record: PlacementRecord, *, asks: bool = False, moves: bool = True) -> RolloutPlan:
    """The plan of a rolling update that holds c2 back, or both for good where it `asks` people."""
    waiting = dict.fromkeys(("c1", "c2") if asks else ("c2",) if moves else (), "later")
    return RolloutPlan(
        moves=(), blocked=waiting, up_to_date=(), need_roll=True, bindings=record.bindings,
        asks=("later",) if asks else (),
    )  # fmt: skip


def decision(after: FleetState, before: FleetState = BEFORE, **more: Any) -> Decision:
    """A decision that leads to a state; every cluster answers and has what is recorded of it."""
    seen = {name: observed(name, before) for name in before.clusters}
    seen |= more.pop("observations", {})
    wanted = more.pop("desired", Desired(commit="d"))
    return Decision(inputs=Inputs(desired=wanted, before=before, observations=seen, now=NOW), after=after, **more)


def live(*manifests: Manifest) -> dict[ObjectKey, LiveObject | None]:
    """Objects as their servers show them."""
    bodies = {m.key: {**m.body, "metadata": {**m.body["metadata"], "uid": "u-1"}} for m in manifests}
    return {key: LiveObject(key, body) for key, body in bodies.items()}


def observed(name: str, state: FleetState, **more: Any) -> ClusterObservation:
    """A cluster that has all that is recorded."""
    every = {m.key: m for r in state.placements.values() for s in r.resource_snapshots for m in s.manifests or ()}
    there = live(*(every[key] for key in state.inventory.get(name, {})))
    return ClusterObservation(**{"cluster": name, "reachable": True, "observed": NOW, "live": there, **more})


def newer(*manifests: Manifest, state: FleetState = BEFORE) -> FleetState:
    """The placement web with another snapshot, which no cluster has yet."""
    web = state.placements[WEB]
    fresh = replace(snapshot(*manifests, placement=WEB), index=1)
    return with_web(state, replace(web, resource_snapshots=(*web.resource_snapshots, fresh)))


def changed(state: FleetState, **fields: Any) -> FleetState:
    """The placement web as people write it otherwise."""
    web = state.placements[WEB]
    return with_web(state, replace(web, placement=replace(web.placement, **fields)))


def has(done: Decision, key: PlacementKey = WEB) -> list[tuple[str, str | None]]:
    """What each binding has."""
    return [(b.cluster, b.resource_snapshot) for b in done.after.placements[key].bindings]


NEW = newer(A, B)
PICKED = ("c1", "web-0-snapshot"), ("c2", "web-0-snapshot")
ALL = ("c1", "web-1-snapshot"), ("c2", "web-1-snapshot")
EXTERNAL = RolloutStrategy(type=RolloutStrategyType.EXTERNAL)


def leaving(state: FleetState) -> FleetState:
    """The placement web picks c2 no more, which still has it."""
    web = state.placements[WEB]
    gone = {"c2": BindingState.UNSCHEDULED}
    bindings = tuple(replace(b, state=gone.get(b.cluster, b.state)) for b in web.bindings)
    return with_web(state, replace(web, bindings=bindings))


@pytest.mark.parametrize(
    ("after", "plan", "left"),
    [
        (NEW, held(NEW.placements[WEB]), ALL),
        (NEW, held(NEW.placements[WEB], moves=False), PICKED),
        (NEW, None, PICKED),
        (NEW, held(NEW.placements[WEB], asks=True), PICKED),
        (leaving(NEW), held(NEW.placements[WEB]), ALL[:1]),
        (leaving(NEW), held(NEW.placements[WEB], asks=True), PICKED[:1]),
        (changed(NEW, strategy=EXTERNAL), held(NEW.placements[WEB]), PICKED),
        (changed(leaving(NEW), strategy=EXTERNAL), held(NEW.placements[WEB], asks=True), PICKED),
        (changed(NEW, deleting=NOW), None, ()),
        (changed(NEW, deleting=NOW), held(NEW.placements[WEB]), ()),
    ],
)
def test_a_rollout_that_is_held_ends_with_the_newest_snapshot(
    after: FleetState, plan: RolloutPlan | None, left: tuple[tuple[str, str], ...]
) -> None:
    found = when_rolled_out(decision(after, plans={WEB: plan} if plan else {}), Memo())
    assert tuple(has(found)) == left
    assert has(found, SHOP) == [("c1", "shop-0-snapshot")]
    names = dict(left)
    assert {(name, w.snapshot) for name, works in found.works.items() for w in works if w.placement == WEB} == {
        *names.items()
    }
    assert found.failures == () and found.after.inventory == BEFORE.inventory


def test_a_cluster_that_does_not_answer_has_what_is_recorded() -> None:
    lost = ClusterObservation(cluster="c1", reachable=False, error="no route")
    work = Work(placement=WEB, cluster="c1", generation=1, snapshot="web-0-snapshot", manifests=(A,))
    digests = {
        name: {
            key: replace(entry, applied_digest=A.digest if key == A.key else "old", shape_digest="s")
            for key, entry in owned.items()
        }
        for name, owned in BEFORE.inventory.items()
    }
    before = replace(BEFORE, inventory=digests)
    given = decision(
        replace(NEW, inventory=digests), before, plans={WEB: held(NEW.placements[WEB])},
        observations={"c1": lost}, seen_works={"c1": (work,)},
    )  # fmt: skip
    found = when_rolled_out(given, Memo())
    seen = found.inputs.observations
    assert seen["c2"] is given.inputs.observations["c2"]
    assert (seen["c1"].cluster, seen["c1"].reachable) == ("c1", True)
    assert {key.name: one is not None for key, one in seen["c1"].live.items()} == {
        "a": True, "b": False, "web": True, "s": True
    }  # fmt: skip
    shown = seen["c1"].live[A.key]
    assert shown is not None and shown.body.get("data") == A.body.get("data") and shown.body["kind"] == "ConfigMap"
    after = found.after.inventory
    assert after["c2"] is digests["c2"] and after["c1"].keys() == digests["c1"].keys()
    assert after["c1"][A.key].shape_digest != "s" and after["c1"][SPACE.key].shape_digest == "s"
    nothing = decision(NEW, before, observations={"c9": replace(lost, cluster="c9")})
    found = when_rolled_out(nothing, Memo())
    assert (found.inputs.observations["c9"].live, found.after.inventory["c9"]) == ({}, {})


def run(name: str, *clusters: str, **more: Any) -> RunRecord:
    """A run under way, of snapshot 1."""
    updates = tuple(ClusterUpdate(cluster=one, **more.pop("overrides", {})) for one in clusters)
    left = tuple(ClusterUpdate(cluster=one) for one in more.pop("left", ()))
    status = replace(
        known(name).status,
        stages=(StageStatus(name="all", clusters=updates),),
        deletion=StageStatus(name="gone", clusters=left) if left else None,
        resource_snapshot_index_used=more.pop("index", "1"),
    )
    return replace(known(name), status=status, **more)


OVER = replace(run("over", "c1"), status=staged.new_run(asked("over", began_elsewhere="is over"), NOW).status)
LATER = timedelta(hours=2)
FRONT = override("front", A, rule(region="eu"))


@pytest.mark.parametrize(
    ("runs", "left"),
    [
        ([], PICKED),
        ([run("go", "c1")], (ALL[0], PICKED[1])),
        ([run("go", "c1", "c2")], ALL),
        ([run("go", "c1", "c2", placement_name="ghost")], PICKED),
        ([run("go", "c1", left=("c2",))], ALL[:1]),
        ([OVER], PICKED),
        ([OVER, run("go", "c1", "c2")], ALL),
        ([run("ghost", "c1", placement_name="ghost"), run("go", "c1", "c2")], ALL),
        # In the order in which they were seen, then by name: the last one decides.
        ([run("b", "c1", "c2"), run("a", "c1", index="0")], ALL),
        ([run("b", "c1", "c2", created=NOW), run("a", "c1", index="0", created=NOW + LATER)], (PICKED[0], ALL[1])),
    ],
)
def test_runs_that_are_under_way_are_through(runs: list[RunRecord], left: tuple[tuple[str, str], ...]) -> None:
    after = replace(changed(NEW, strategy=EXTERNAL), runs={one.key: one for one in runs})
    found = when_rolled_out(decision(after), Memo())
    assert tuple(has(found)) == left


def test_a_run_brings_its_overrides_and_leaves_what_is_not_picked() -> None:
    web = NEW.placements[WEB]
    going = replace(run("go"), status=replace(
        run("go").status,
        stages=(StageStatus(name="all", clusters=(
            ClusterUpdate(cluster="c1", cluster_resource_overrides=(FRONT.reference,)),
            ClusterUpdate(cluster="c2", resource_overrides=("web/o-0",)),
        )),),
    ))  # fmt: skip
    state = replace(changed(NEW, strategy=EXTERNAL), runs={going.key: going}, overrides={FRONT.override.key: (FRONT,)})
    state = replace(state, clusters={name: replace(c, labels={"region": "eu"}) for name, c in state.clusters.items()})
    found = when_rolled_out(decision(state), Memo()).after.placements[WEB].bindings
    assert found == (
        replace(
            web.bindings[0],
            resource_snapshot="web-1-snapshot",
            cluster_resource_overrides=(FRONT.reference,),
            override_labels=(("region", "eu"),),
        ),
        replace(web.bindings[1], resource_snapshot="web-1-snapshot", resource_overrides=("web/o-0",)),
    )
    gone = tuple(replace(b, state=BindingState.UNSCHEDULED) for b in web.bindings)
    state = with_web(state, replace(state.placements[WEB], bindings=gone))
    assert when_rolled_out(decision(state), Memo()).after.placements[WEB].bindings == gone


def spaces(*manifests: Manifest, **clusters: Mapping[str, str] | None) -> Decision:
    """What places these on each cluster, which has these namespaces."""
    members = {name: builders.cluster(name) for name in clusters}
    members = {n: replace(c, status=replace(c.status, namespaces=clusters[n])) for n, c in members.items()}
    works = {
        name: (Work(placement=WEB, cluster=name, generation=1, snapshot="s", manifests=manifests),) for name in members
    }
    waits = placed(SETTINGS, (), A)
    return Decision(
        inputs=Inputs(desired=Desired(commit="d"), before=FleetState(), observations={}, now=NOW),
        after=FleetState(clusters=members, placements={SETTINGS: waits}),
        works=works,
    )


OTHER = obj("v1", "Namespace", "other")
IN_GROUP = obj("x.example.com/v1", "Namespace", "web")


@pytest.mark.parametrize(
    ("done", "there"),
    [
        (spaces(SPACE, c1=None), {"c1": {"web": ""}}),
        (spaces(SPACE, c1={}), {"c1": {"web": ""}}),
        (spaces(SPACE, c1={"kube-system": "w"}), {"c1": {"kube-system": "w", "web": ""}}),
        (spaces(SPACE, c1={"web": "w"}), None),
        (spaces(SPACE, c1={"web": "w"}, c2={}), {"c1": {"web": "w"}, "c2": {"web": ""}}),
        (spaces(SPACE, c1={}, c2={"web": "w"}, c3={}), {"c1": {"web": ""}, "c2": {"web": "w"}, "c3": {"web": ""}}),
        (spaces(OTHER, c1=None), None),
        (spaces(IN_GROUP, c1=None), None),
        (spaces(c1=None), None),
        (replace(spaces(SPACE, c1=None), works={}), None),
        (replace(spaces(SPACE, c1=None), after=replace(spaces(SPACE, c1=None).after, placements={})), None),
    ],
)
def test_the_namespaces_that_others_wait_for_count_as_there(
    done: Decision, there: dict[str, dict[str, str]] | None
) -> None:
    before = replace(done.after, placements=BEFORE.placements)
    given = decision(NEW, before)
    found = with_namespaces(given, done)
    if there is None:
        assert found is None
        return
    assert found is not None
    assert {n: dict(c.status.namespaces or {}) for n, c in found.before.clusters.items()} == there
    assert {n: one.namespaces for n, one in found.observations.items() if one.namespaces is not None} == {
        name: names for name, names in there.items() if names != (done.after.clusters[name].status.namespaces or {})
    }
    assert replace(found, before=before, observations=given.inputs.observations) == given.inputs
    assert replace(found.before, clusters=before.clusters) == before
    unknown = with_namespaces(replace(given, inputs=replace(given.inputs, before=BEFORE, observations={})), done)
    assert unknown is not None and unknown.observations == {} and unknown.before.clusters.keys() == {*CLUSTERS}


def work(cluster: str, *manifests: Manifest) -> dict[str, tuple[Work, ...]]:
    """What a cluster is to have of web."""
    return {cluster: (Work(placement=WEB, cluster=cluster, generation=1, snapshot="s", manifests=manifests),)}


OTHER_A = config_map("a", tier="front")


def test_what_is_left_is_what_is_not_done_now() -> None:
    """b is created, a applied again otherwise; c, which is wanted no more, is deleted. shop stays."""
    s = config_map("s", "shop")
    after = fleet(placed(WEB, CLUSTERS, A, config_map("c")), placed(SHOP, ("c1",), s))
    shop = Work(placement=SHOP, cluster="c1", generation=1, snapshot="s", manifests=(s,))
    works = {"c1": (*work("c1", OTHER_A, B)["c1"], shop)}
    seen = {"c1": observed("c1", after)}
    after = replace(after, wanted=WantedObjects({WEB: {"c1": {A.key.identity, B.key.identity}}}))
    given = replace(decision(after, works=works, gate=OPEN), inputs=replace(decision(after).inputs, observations=seen))
    fresh = {"c1": ClusterObservation(cluster="c1", reachable=True, live={B.key: None})}
    every = remaining_operations(given, (), fresh, Memo())
    assert [(type(one), one.key.name, one.cluster) for one in every if one.placement == WEB] == [
        (Update, "a", "c1"),
        (Create, "b", "c1"),
        (Delete, "c", "c1"),
    ]
    update, made, gone = (one for one in every if one.placement == WEB)
    assert isinstance(update, Update) and isinstance(made, Create) and isinstance(gone, Delete)
    for now, left in (
        ((), 3),
        ((made,), 2),
        ((made, update, gone), 0),
        ((replace(made, reason="another"), replace(update, wave=9)), 1),
        ((replace(made, cluster="c2"), replace(made, placement=SHOP)), 3),
        ((replace(update, manifest=A),), 3),
        ((replace(made, manifest=OTHER_A),), 3),
        ((replace(gone, key=A.key), replace(gone, uid="x")), 2),
    ):
        found = remaining_operations(given, now, fresh, Memo())
        assert len([one for one in found if one.placement == WEB]) == left, now
    unseen = remaining_operations(given, (), {}, Memo())
    assert "b" not in [one.key.name for one in unseen], "nobody looked whether it is there"
