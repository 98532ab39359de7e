"""Deciding placements one by one: what has one decided again, what stays as it is kept, and what a failure leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from typing import Any

import pytest

from gitfleet import observe, schedule
from gitfleet.api.bindings import Binding, BindingState
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.conditions import Status
from gitfleet.api.freeze_files import FREEZES, Freeze
from gitfleet.api.freezes import FreezeScope
from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.labels import LabelSelector
from gitfleet.api.objects import GroupKind, Manifest
from gitfleet.api.overrides import JsonPatch, Override
from gitfleet.api.pins import Pin
from gitfleet.api.placements import Placement, PlacementKey, PlacementPolicy, PlacementType, ResourceSelector
from gitfleet.api.quarantines import Quarantine
from gitfleet.api.staged import DisruptionBudget, StagedStrategy
from gitfleet.api.strategies import RolloutStrategy, RolloutStrategyType
from gitfleet.api.values import NamespacedName
from gitfleet.model.decisions import Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.failures import Failure, Failures, Subject, attempt
from gitfleet.model.observations import ClusterObservation
from gitfleet.model.rolling import MoveKind
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.model.works import Work
from gitfleet.reconcile.placements import Decided, PlacementsMemo, decide_placements, settle_placement
from gitfleet.reconcile.runs import Beside
from gitfleet.reconcile.shared import Shared, SharedMemo, prepare
from gitfleet.rollout import owners_of
from gitfleet.rollout.texts import RolloutText
from gitfleet.snapshots.texts import SnapshotsText
from tests.reconcile.test_evictions import of as eviction
from tests.reconcile.test_runs import asked, known
from tests.removals.fleets import SHOP, WEB, config_map
from tests.rollout.builders import NOW
from tests.rollout.run_trials import stage
from tests.state import builders
from tests.texts import part
from tests.works.builders import obj, override, rule

SPACE, A, B = obj("v1", "Namespace", "web"), config_map("a"), config_map("b")
OTHER = obj("v1", "Namespace", "other")
NAMESPACED = {GroupKind("", "Namespace"): False, GroupKind("", "ConfigMap"): True}
MEMBERS = {name: builders.cluster(name) for name in ("c1", "c2")}
NOTHING = observe.Seen.of({}, (), (), {})
LATER = NOW + timedelta(seconds=1)
SELECTS_WEB = (ResourceSelector(group="", version="v1", kind="Namespace", name="web"),)


def place(key: PlacementKey = WEB, **more: Any) -> Placement:
    """A placement of the namespace web and all that is in it, on every cluster."""
    return Placement(key=key, **{"selectors": SELECTS_WEB, **more})


PLACEMENT = place()


@dataclass(frozen=True)
class Pass:
    """What a pass reads, and what it has of the one before."""

    wanted: Desired
    before: FleetState
    memo: PlacementsMemo = PlacementsMemo()
    now: datetime = NOW
    seen: observe.Seen = NOTHING
    failures: tuple[Any, ...] = ()

    def shared(self, **more: Any) -> Shared:
        """What all placements of the pass share."""
        inputs = Inputs(desired=self.wanted, before=self.before, observations={}, now=self.now)
        profile, _ = schedule.profile_for(self.wanted.config, schedule.BUILT_IN)
        made = prepare(inputs, self.before.clusters, profile, {}, SharedMemo(), Failures())
        gates = {name: more.pop(name) for name in ("pins", "quarantines") if name in more}
        return replace(made, gates=replace(made.gates, **gates), **more)

    def decide(self, failures: Failures | None = None, **more: Any) -> PlacementsMemo:
        """The decisions of the pass."""
        placements = self.wanted.placements
        failures = Failures(self.failures) if failures is None else failures
        return decide_placements(placements, self.seen, self.shared(**more), self.memo, failures)

    def then(self, **more: Any) -> Pass:
        """The pass after this one, over what it decided."""
        memo = self.decide(**more)
        records = {key: one.record for key, one in memo.decided.items()}
        return replace(self, before=replace(self.before, placements=records), memo=memo)

    def write(self, **changes: Any) -> Pass:
        """The same of another commit."""
        objects = {**self.wanted.objects, **changes.pop("objects", {})}
        return replace(self, wanted=replace(self.wanted, commit="e", objects=objects, **changes))

    def with_clusters(self, **members: MemberCluster) -> Pass:
        """The same with other clusters."""
        return replace(self, before=replace(self.before, clusters={**self.before.clusters, **members}))

    def with_binding(self, at: int = 1, **changes: Any) -> Pass:
        """The same with something else in a binding."""
        return self.with_record(
            bindings=tuple(replace(b, **changes) if n == at else b for n, b in enumerate(self.record().bindings))
        )

    def with_record(self, **changes: Any) -> Pass:
        """The same with something else in the record of web."""
        records = {**self.before.placements, WEB: replace(self.record(), **changes)}
        return replace(self, before=replace(self.before, placements=records))

    def record(self, key: PlacementKey = WEB) -> PlacementRecord:
        """The record of a placement, web if none is named."""
        return self.before.placements[key]


def begun(*placements: Placement, payload: tuple[Manifest, ...] = (SPACE, A), **objects: Any) -> Pass:
    """A commit that nobody has decided yet."""
    every = {"placements": {one.key: one for one in placements or (PLACEMENT,)}, "clusters": MEMBERS, **objects}
    wanted = Desired(commit="d", objects=every, payload=payload, namespaced=NAMESPACED)
    return Pass(wanted, FleetState(clusters=MEMBERS))


def available(binding: Binding) -> Binding:
    """It has what it should have."""
    conditions = builders.through(generation=binding.generation)
    return replace(binding, conditions=conditions, applied_snapshot=binding.resource_snapshot)


def rolled_out(*placements: Placement, payload: tuple[Manifest, ...] = (SPACE, A)) -> Pass:
    """One that was rolled out, and of which nothing is left to decide."""
    found = begun(*placements, payload=payload).then()
    records = {
        key: replace(record, bindings=tuple(map(available, record.bindings)))
        for key, record in found.before.placements.items()
    }
    return replace(found, before=replace(found.before, placements=records)).then().then()


@cache
def settled() -> Pass:
    """The placement web, rolled out."""
    return rolled_out()


def failure(subject: Subject) -> Failure:
    """Something that could not be decided."""

    def breaks() -> None:
        raise ValueError("no")

    found = attempt(subject, breaks)
    assert isinstance(found, Failure)
    return found


def failed_on(cluster: str, key: PlacementKey = WEB) -> observe.Seen:
    """A placement's work on a cluster cannot be made."""
    work = Work(placement=key, cluster=cluster, generation=2, snapshot="s", manifests=(), error="broken")
    seen = ClusterObservation(cluster=cluster, reachable=True, observed=NOW)
    return observe.Seen.of({cluster: (work,)}, (), (), {cluster: seen})


FRONT = override("front", SPACE, rule(JsonPatch("add", "/metadata/labels", {"tier": "front"})))
OVERRIDES: dict[Any, Override] = {FRONT.override.key: FRONT.override}


@pytest.mark.parametrize(
    ("change", "more", "again"),
    [
        (lambda one: one, {}, False),
        (lambda one: replace(one, now=LATER), {}, False),
        (lambda one: one.write(), {}, False),
        (lambda one: one.write(payload=(SPACE, A, OTHER)), {}, False),
        (lambda one: one.write(payload=(SPACE, A, B)), {}, True),
        (lambda one: one.write(payload=(SPACE,)), {}, True),
        (lambda one: one.write(objects={"placements": {WEB: place(revision_history_limit=3)}}), {}, True),
        (lambda one: one.with_clusters(c1=replace(MEMBERS["c1"], labels={"a": "b"})), {}, False),
        (lambda one: one.with_clusters(c1=replace(MEMBERS["c1"], deleting=NOW)), {}, True),
        (lambda one: one.with_clusters(c3=builders.cluster("c3")), {}, True),
        (lambda one: one.write(objects={"overrides": OVERRIDES}), {}, True),
        (lambda one: one, {"quarantines": {WEB: {"d": "is bad"}}}, True),
        (lambda one: one, {"pins": {WEB: Pin(name="p", placement=WEB, snapshot=0)}}, True),
        (lambda one: one, {"evictions": {WEB: (eviction("a"),)}}, True),
        (lambda one: one, {"evictions": {SHOP: (eviction("a"),)}}, False),
        (lambda one: replace(one, seen=failed_on("c1")), {}, True),
        (lambda one: replace(one, seen=failed_on("c9", SHOP)), {}, False),
        (lambda one: replace(one, failures=(failure(Subject.of_placement(WEB)),)), {}, True),
        (lambda one: replace(one, failures=(failure(Subject.of_placement(SHOP)),)), {}, False),
        (lambda one: replace(one, memo=replace(one.memo, seen=None)), {}, True),
        (lambda one: replace(one, memo=PlacementsMemo()), {}, True),
        (lambda one: one.with_record(), {}, True),
    ],
)  # fmt: skip
def test_a_placement_is_decided_again_only_where_something_changed_for_it(
    change: Callable[[Pass], Pass], more: dict[str, Any], again: bool
) -> None:
    before = settled()
    found = change(before).decide(**more)
    assert (found.decided[WEB] is not before.memo.decided[WEB]) is again
    assert found.decided[WEB].lasting or again
    assert list(found.decided) == [WEB]


def test_one_of_which_it_cannot_be_said_whether_anything_changed_is_decided_again() -> None:
    """And fails, by itself."""
    no_binding: Any = None
    rests, failures = settled(), Failures()
    record = replace(rests.record(), bindings=(no_binding,))
    known = replace(rests.memo.decided[WEB], record=record)
    memo = replace(rests.memo, decided={WEB: known})
    broken = replace(rests, memo=memo, before=replace(rests.before, placements={WEB: record}))
    assert broken.decide(failures).decided[WEB].record is record
    assert [one.subject for one in failures.found] == [Subject.of_placement(WEB)]


def test_what_moves_or_waits_is_decided_again() -> None:
    """A rollout that is under way, a run, an eviction, and a placement that leaves."""
    first = begun().then()
    assert not first.memo.decided[WEB].lasting, "bound just now"
    newer = settled().write(payload=(SPACE, A, B)).then().then()
    assert newer.memo.decided[WEB].plan is not None
    assert newer.decide().decided[WEB] is not newer.memo.decided[WEB]
    rests = settled()
    assert not rests.decide(evictions={WEB: (eviction("a"),)}).decided[WEB].lasting
    run = known("go")
    moved = replace(rests, before=replace(rests.before, runs={run.key: run}))
    moved = moved.write(objects={"runs": {run.key: asked("go")}})
    assert not moved.decide().decided[WEB].lasting
    gone = place(deleting=NOW)
    leaving = rests.write(objects={"placements": {WEB: gone}})
    after = leaving.then()
    assert [b.deleting for b in after.record().bindings] == [NOW, None]
    assert not after.memo.decided[WEB].lasting and not after.decide().decided[WEB].lasting
    everywhere = replace(after, now=LATER).with_binding(0, deleting=NOW).with_binding(1, deleting=NOW)
    twice = everywhere.then().then()
    assert twice.memo.decided[WEB].lasting and twice.decide().decided[WEB] is twice.memo.decided[WEB]


ONE = PlacementPolicy(placement_type=PlacementType.PICK_FIXED, cluster_names=("c1",))


def states(record: PlacementRecord) -> list[tuple[str, str, bool]]:
    """Each binding's cluster and state, and whether it is given up."""
    return [(b.cluster, b.state, b.deleting is not None) for b in record.bindings]


def test_a_selector_that_selects_nothing_usable_says_so_and_keeps_what_is_there() -> None:
    selectors = (ResourceSelector(group="", version="v1", kind="Namespace"),) * 2
    wrong = settled().write(objects={"placements": {WEB: place(selectors=selectors)}})
    one = wrong.decide().decided[WEB]
    assert one.record.scheduled is not None and one.record.scheduled.reason == "InvalidResourceSelectors"
    assert one.record.scheduled.status is Status.FALSE and one.record.scheduled.last_transition_time == NOW
    assert part(SnapshotsText.SELECTED_MORE_ONCE) in one.record.scheduled.message
    assert one.record.bindings == settled().record().bindings


def test_what_was_scheduled_is_scheduled_once() -> None:
    first = begun().then()
    assert first.then().record().schedule_key == first.record().schedule_key != ""


def test_snapshots_that_a_pin_or_a_run_names_stay_beyond_the_limit() -> None:
    """Of four contents one is kept, and the one that is named."""
    few, run = place(revision_history_limit=1, strategy=EXTERNAL), known("go", resource_snapshot_index="0")
    given = begun(few, payload=(SPACE,)).then()
    digest = given.record().resource_snapshots[0].hash
    pinned = {"pins": {WEB: Pin(name="p", placement=WEB, snapshot=0, digest=digest)}}
    running = replace(given.before, runs={run.key: run})
    for before, objects, more, left in (
        (given.before, {}, {}, [2]),
        (given.before, {}, pinned, [0, 2]),
        (running, {"runs": {run.key: asked("go", resource_snapshot_index="0")}}, {}, [0, 2]),
    ):
        grown = replace(given, before=before)
        for payload in ((SPACE, A), (SPACE, A, B)):
            grown = grown.write(payload=payload, objects=objects).then(**more)
        assert [one.index for one in grown.record().resource_snapshots] == left


def test_a_removal_that_nothing_asks_for_is_taken_back_and_one_of_a_leaving_cluster_begins() -> None:
    back = settled().with_binding(1, deleting=NOW).decide().decided[WEB]
    assert states(back.record) == states(settled().record())
    newer = settled().write(payload=(SPACE, A, B)).with_clusters(c1=replace(MEMBERS["c1"], deleting=NOW))
    leaving = newer.decide()
    assert [(b.cluster, b.deleting) for b in leaving.decided[WEB].record.bindings] == [("c1", NOW), ("c2", None)]
    assert [move.cluster for move in plan(leaving).moves] == ["c2"]


def test_what_cannot_be_decided_stays_as_it_is() -> None:
    """Something before it failed; the other placement is decided."""
    both = rolled_out(PLACEMENT, place(SHOP, selectors=(replace(SELECTS_WEB[0], name="other"),)))
    failures = Failures([failure(Subject.of_placement(WEB))])
    found = both.decide(failures)
    assert found.decided[WEB] == Decided(both.record()) and found.decided[WEB].record is both.record()
    assert [one.subject for one in failures.found] == [Subject.of_placement(WEB)]
    assert found.decided[SHOP].record is both.record(SHOP)


EXTERNAL = RolloutStrategy(type=RolloutStrategyType.EXTERNAL)


def frozen(**scope: Any) -> dict[str, Any]:
    """A freeze of an hour."""
    one = Freeze(name="sale", owner="ann", reason="r", until=NOW + timedelta(hours=1), scope=FreezeScope(**scope))
    return {FREEZES: {("Freeze", "sale"): one}}


def bad(snapshot: str) -> dict[str, Any]:
    """That content is quarantined."""
    return {"quarantines": {"q": Quarantine(name="q", placement=WEB, digest=snapshot, reason="it burns")}}


def test_a_rollout_is_held_by_freezes_and_quarantines_and_silence() -> None:
    newer = settled().write(payload=(SPACE, A, B))
    taken = newer.then()
    assert [(move.cluster, move.kind) for move in plan(taken.memo).moves] == [("c1", MoveKind.UPDATE)]
    digest = taken.record().resource_snapshots[-1].hash
    for change, reasons in (
        (newer.write(objects=frozen()), {"c1": "frozen by", "c2": "frozen by"}),
        (newer.write(objects=frozen(placements=("web",))), {"c1": "frozen by", "c2": "frozen by"}),
        (newer.write(objects=bad(digest)), {"c1": "it burns", "c2": "it burns"}),
    ):
        found = plan(change.decide())
        assert not found.moves and found.blocked.keys() == reasons.keys()
        assert all(reasons[name] in why for name, why in found.blocked.items())
    early = replace(newer, now=NOW + timedelta(minutes=10))
    silent = early.with_clusters(c1=builders.cluster("c1", healthy="Unknown"), c2=builders.cluster("c2"))
    skipping = plan(silent.decide())
    assert [move.cluster for move in skipping.moves] == ["c2"]
    config = replace(newer.wanted.config, rollout_unreachable="Wait")
    waiting = plan(silent.write(objects={"fleetconfigs": {"fleet": config}}).decide())
    assert [move.cluster for move in waiting.moves] != ["c2"]
    disturbed = plan(newer.decide(disturbed={WEB: frozenset({"c2"})}))
    assert disturbed.moves == (), "what may be down counts as unavailable"


def plan(memo: PlacementsMemo) -> Any:
    """The plan of web."""
    found = memo.decided[WEB].plan
    assert found is not None
    return found


def test_an_external_placement_is_moved_by_its_runs_alone() -> None:
    rests = rolled_out(place(strategy=EXTERNAL))
    assert states(rests.record()) == [("c1", "Scheduled", False), ("c2", "Scheduled", False)]
    assert rests.memo.decided[WEB].plan is None
    run = known("go")
    waits = replace(rests, before=replace(rests.before, runs={run.key: run}))
    found = waits.write(objects={"runs": {run.key: asked("go")}}).decide().decided[WEB]
    assert found.plan is not None and found.plan.waiting == () and found.runs is not None
    (last,) = (one.status.conditions[-1] for one in found.runs.runs)
    assert part(RolloutText.REFERENCED_UPDATESTRATEGY_NOT_FOUND) in last.message
    written = StagedStrategy(key=NamespacedName("", "all"), stages=(stage(),))
    objects = {"runs": {run.key: asked("go")}, "strategies": {written.key: written}}
    begins = waits.write(objects=objects).with_clusters(c2=replace(MEMBERS["c2"], deleting=NOW)).decide().decided[WEB]
    assert begins.runs is not None
    assert [c.cluster for c in begins.runs.runs[0].status.stages[0].clusters] == ["c1"], "c2 leaves"
    only_c1 = {**objects, "placements": {WEB: place(strategy=EXTERNAL, policy=ONE)}}
    begins = waits.write(objects=only_c1).decide().decided[WEB]
    assert states(begins.record) == [("c1", "Bound", False), ("c2", "Unscheduled", True)]
    assert begins.runs is not None and begins.runs.runs[0].status.deletion is not None
    assert [c.cluster for c in begins.runs.runs[0].status.deletion.clusters] == ["c2"]
    assert begins.plan is not None and begins.plan.bindings == begins.record.bindings, (
        "the run knows that c2 is given up"
    )
    quarantined = Quarantine(name="q", placement=WEB, digest=rests.record().resource_snapshots[-1].hash, reason="burns")
    bad_one = waits.write(objects=objects).decide(quarantines={WEB: {quarantined.digest: quarantined}}).decided[WEB]
    assert bad_one.runs is not None and "burns" in bad_one.runs.runs[0].status.conditions[-1].message
    gone = place(strategy=EXTERNAL, deleting=NOW)
    for more, left in ((frozen(), [False, False]), ({}, [True, False])):
        leaving = waits.with_binding(0, state=BindingState.BOUND).with_binding(1, state=BindingState.BOUND)
        after = leaving.write(objects={**objects, "placements": {WEB: gone}, **more}).decide().decided[WEB]
        assert [ends for _, _, ends in states(after.record)] == left


def test_an_eviction_takes_a_placement_off_a_cluster_and_waits_for_a_freeze() -> None:
    asked_for = {WEB: (eviction("a", cluster="c1"), eviction("b", cluster="c2"))}
    found = settled().decide(evictions=asked_for).decided[WEB]
    assert [one.name for one in found.evictions] == ["a", "b"] and found.frozen == ()
    half = settled().write(objects=frozen(clusters=LabelSelector({"tier": "gold"})))
    half = half.with_clusters(c1=replace(MEMBERS["c1"], labels={"tier": "gold"}))
    one = half.decide(evictions=asked_for).decided[WEB]
    assert [e.name for e in one.evictions] == ["b"]
    assert [(e.name, why.until) for e, why in one.frozen] == [("a", NOW + timedelta(hours=1))]
    for scope in ({}, {"placements": ("web",)}):
        whole = settled().write(objects=frozen(**scope)).decide(evictions=asked_for)
        assert whole.decided[WEB].evictions == () and [e.name for e, _ in whole.frozen()] == ["a", "b"]
    budget = DisruptionBudget(name="web", min_available=2)
    refused = settled().write(objects={"budgets": {"web": budget}}).decide(evictions=asked_for).decided[WEB]
    assert [one.executed.status for one in refused.evictions if one.executed] == [Status.FALSE] * 2
    assert [gone for _, _, gone in states(refused.record)] == [False, False]


@pytest.mark.parametrize("deleting", [None, NOW])
def test_a_settled_placement_is_gone_when_nothing_of_it_is_left(deleting: datetime | None) -> None:
    old = replace(settled().record(), placement=place(deleting=deleting))
    given_up = replace(old, bindings=tuple(replace(b, deleting=NOW) for b in old.bindings))
    owned = {"c1": {A.key: InventoryEntry(key=A.key, placement=WEB)}}
    for record, inventory, left in ((old, {}, ["c1", "c2"]), (given_up, owned, ["c1"]), (given_up, {}, [])):
        failures = Failures()
        owners = owners_of({WEB: record}, inventory, failures)
        found = settle_placement(record, NOTHING, owners, LATER, failures, PlacementsMemo())
        if deleting is not None and not left:
            assert found is None
            continue
        assert found is not None and [b.cluster for b in found.bindings] == left
        assert (found is record) is (left == ["c1", "c2"])
    failures = Failures()
    seen = settle_placement(old, failed_on("c1"), {}, LATER, failures, PlacementsMemo())
    assert seen is not None and seen is not old and not failures.found
    assert [c.last_transition_time for c in seen.conditions if c.status is Status.FALSE] == [LATER]


def test_what_placements_share_is_what_their_runs_see() -> None:
    bad = Quarantine(name="q", placement=WEB, digest="d", reason="it burns")
    before = replace(settled().before, overrides={FRONT.override.key: (FRONT,)})
    given = replace(settled(), before=before).write(objects={**frozen(), "overrides": OVERRIDES})
    shared = given.shared(disturbed={WEB: frozenset({"c1"})}, quarantines={WEB: {"d": bad}})
    assert shared.overrides == shared.every_override == (FRONT,) and shared.gates.freezes.in_force
    for key, mine in ((WEB, True), (SHOP, False)):
        assert shared.beside(key) == Beside(
            inputs=shared.inputs,
            runs=shared.runs,
            clusters=shared.clusters,
            overrides=(FRONT,),
            every_override=(FRONT,),
            disturbed=frozenset({"c1"}) if mine else frozenset(),
            freezes=shared.gates.freezes,
            quarantined={"d": bad.sentence} if mine else {},
        )
    assert shared.memo(Failures()) == SharedMemo(
        payload=shared.payload_memo, index=shared.index, digests=shared.digests
    )
    failures = Failures([failure(Subject("MemberCluster", "c1"))])
    assert shared.memo(failures) == SharedMemo(payload=shared.payload_memo, index=None, digests=shared.digests)


def test_what_overrides_look_at_of_a_cluster_has_placements_decided_again() -> None:
    note = JsonPatch("add", "/metadata/labels", {"note": "${MEMBER-CLUSTER-ANNOTATION-KEY-note}"})
    reads = override("reads", SPACE, rule(note))
    rests = settled().write(objects={"overrides": {reads.override.key: reads.override}})
    noted = rests.with_clusters(c1=replace(MEMBERS["c1"], annotations={"note": "x"}))
    assert rests.shared().facts() != noted.shared().facts()


def test_a_placement_takes_over_what_its_owner_selects_no_more() -> None:
    """On clusters that are new to it: these count as updates. Where both select an object there is a conflict."""
    one = (replace(SELECTS_WEB[0], name="other"),)
    for owner, moves in (((), ["c1"]), ((place(SHOP, selectors=one),), ["c1"]), ((place(SHOP),), ["c1", "c2"])):
        given = begun(PLACEMENT, *owner)
        inventory = {name: {A.key: InventoryEntry(key=A.key, placement=SHOP, uid="u")} for name in MEMBERS}
        found = replace(given, before=replace(given.before, inventory=inventory)).decide().decided[WEB].plan
        assert found is not None and [move.cluster for move in found.moves] == moves
