"""Which placement is another one under a new name, what it takes along, and what keeps it at its old name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.conditions import Status
from gitfleet.api.faults import Fault, Severity
from gitfleet.api.freeze_files import FREEZES, Freeze
from gitfleet.api.freezes import FreezeScope
from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import Manifest, ObjectKey, Origin
from gitfleet.api.overrides import Override, OverrideKey, OverridePlacement
from gitfleet.api.pins import Pin
from gitfleet.api.placements import Placement, PlacementKey, PlacementPolicy, PlacementType, ResourceSelector
from gitfleet.api.quarantines import Quarantine
from gitfleet.api.runs import RunRecord
from gitfleet.api.staged import DisruptionBudget, Eviction, StagedRun
from gitfleet.api.values import NamespacedName
from gitfleet.model.decisions import Inputs
from gitfleet.model.desired import NAMES_NO_PLACEMENT, Desired
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.reconcile.renamed import with_former_names, with_renamed
from gitfleet.rollout import staged
from tests.removals.fleets import config_map, hold, of_binding, of_object
from tests.rollout.builders import NOW, condition
from tests.state import builders

WEB, SHOP, NEW = PlacementKey("", "web"), PlacementKey("", "shop"), PlacementKey("", "new")
OBJECT = config_map("a")
WARNING = Severity.WARNING


def spaces(*names: str, kind: str = "Namespace") -> tuple[ResourceSelector, ...]:
    """Selectors of namespaces by name."""
    return tuple(ResourceSelector(group="", version="v1", kind=kind, name=name or None) for name in names)


def place(name: str, *selected: str, namespace: str = "", kind: str = "Namespace", **more: Any) -> Placement:
    """A placement of these namespaces."""
    return Placement(key=PlacementKey(namespace, name), selectors=spaces(*selected, kind=kind), **more)


def recorded(placement: Placement) -> PlacementRecord:
    """A placement with a snapshot, and on two clusters."""
    key = placement.key
    found = builders.record(key.name, *(builders.binding(key, name) for name in ("c1", "c2")), namespace=key.namespace)
    return replace(found, placement=placement, schedule_key="k")


def inputs(had: Iterable[Placement], has: Iterable[Placement], before: FleetState | None = None, **more: Any) -> Inputs:
    """A commit with these placements after one with those."""
    objects = {"placements": {one.key: one for one in has}, **more.pop("objects", {})}
    state = replace(before or FleetState(), placements={one.key: recorded(one) for one in had})
    return Inputs(desired=Desired(commit="d", objects=objects, **more), before=state, observations={}, now=NOW)


def renamed(given: Inputs) -> Inputs:
    """The same with its renames; none of them fails."""
    failures = Failures()
    found = with_renamed(given, failures)
    assert not failures.found
    return found


ONE, TWO = place("web", "one"), place("shop", "two")
INNER = place("shop", "more", namespace="x")
FIXED = PlacementPolicy(placement_type=PlacementType.PICK_FIXED, cluster_names=("c1",))
THERE = (config_map("one", "").key, config_map("x").key)


@pytest.mark.parametrize(
    ("had", "has", "names"),
    [
        ([ONE], [ONE], {}),
        ([ONE], [], {}),
        ([], [ONE], {}),
        ([ONE], [place("new", "one")], {"new": "web"}),
        ([ONE, TWO], [place("new", "one"), TWO], {"new": "web"}),
        ([ONE, TWO], [place("new", "one"), place("late", "two")], {"new": "web", "late": "shop"}),
        ([ONE], [ONE, place("new", "one")], {}),
        ([replace(ONE, deleting=NOW)], [place("new", "one")], {}),
        # Others that select the same on either side.
        ([ONE], [place("new", "one"), place("late", "one")], {}),
        ([ONE, place("shop", "one")], [place("new", "one")], {}),
        # The order of selectors says nothing; what they say does, and so does the namespace.
        ([place("web", "one", "two")], [place("new", "two", "one")], {"new": "web"}),
        ([ONE], [place("new", "one", namespace="x")], {}),
        ([place("web", "one", kind="Secret")], [place("new", "one")], {}),
        # One of them selects all that the other one does, and more, where one goes and one comes.
        ([ONE], [place("new", "one", "more")], {"new": "web"}),
        ([place("web", "one", "more")], [place("new", "one")], {"new": "web"}),
        ([place("web", "one", "more")], [place("new", "one", "less")], {}),
        ([ONE], [place("new", "one", "more", namespace="x")], {}),
        ([ONE, TWO], [place("new", "one", "two")], {}),
        ([ONE], [place("new", "one", "more"), place("late", "more")], {}),
        ([ONE, TWO], [place("new", "one", "more"), place("late", "two")], {"new": "web", "late": "shop"}),
        # Its own name may stand in what it selects.
        ([place("web", "web-data")], [place("new", "new-data")], {"new": "web"}),
        ([place("web", "web-data", "")], [place("new", "new-data", "")], {"new": "web"}),
        ([place("web", "web-data")], [place("new", "new-data"), place("late", "late-data")], {}),
        # A misspelt name in what it selects, where one goes and one comes.
        ([place("web", "frontend")], [place("new", "frontent")], {"new": "web"}),
        ([place("web", "frontend")], [place("new", "database")], {}),
        ([place("web", "frontend")], [place("new", "frontent", namespace="x")], {}),
        ([place("web", "frontend")], [place("new", "frontent", kind="Secret")], {}),
        ([place("web", "frontend")], [place("new", "frontent", "more")], {}),
        ([place("web", "frontend", "more")], [place("new", "frontent", "less")], {}),
        ([place("web", "frontend", "")], [place("new", "frontent", "")], {"new": "web"}),
        ([place("web", "frontend"), TWO], [place("new", "frontent")], {}),
        ([place("web", "frontend")], [place("new", "frontent"), place("late", "x")], {}),
        ([place("web", "frontend"), TWO], [place("new", "frontent"), place("z", "two")], {"new": "web", "z": "shop"}),
    ],
)  # fmt: skip
def test_a_placement_that_selects_what_another_one_did_is_that_one(
    had: list[Placement], has: list[Placement], names: dict[str, str]
) -> None:
    given = inputs(had, has)
    found = renamed(given)
    assert {key.name: was.name for key, was in found.renamed.items()} == names
    assert found.desired is given.desired
    if not names:
        assert found is given
    ordered = list(found.before.placements)
    assert ordered == (sorted(ordered) if names else [one.key for one in had])


def namespaces(*names: str) -> tuple[Manifest, ...]:
    """The namespaces that are there."""
    return tuple(replace(OBJECT, key=ObjectKey("", "v1", "Namespace", "", name)) for name in names)


@pytest.mark.parametrize(
    ("had", "has", "selected", "is_one"),
    [
        # What has other names and selects something that is there is another placement.
        (place("web", "web-data"), place("new", "new-data"), ("new-data",), False),
        (place("web", "web-data"), place("new", "new-data"), ("web-data",), True),
        (place("web", "frontend"), place("new", "frontent"), ("frontent",), False),
        (place("web", "frontend"), place("new", "frontent"), ("frontend",), True),
        (place("web", "frontend", "b"), place("new", "frontent", "b"), ("b",), False),
    ],
)
def test_what_selects_objects_that_are_there_is_not_misspelt(
    had: Placement, has: Placement, selected: tuple[str, ...], is_one: bool
) -> None:
    payload = namespaces(*selected)
    found = renamed(inputs([had], [has], payload=payload))
    assert found.renamed == ({has.key: had.key} if is_one else {})
    other = tuple(replace(one, key=replace(one.key, kind="Secret")) for one in payload)
    assert renamed(inputs([had], [has], payload=other)).renamed == {has.key: had.key}


def run(name: str = "go", placement: str = "web", **more: Any) -> RunRecord:
    """A run that is not over."""
    return RunRecord(key=NamespacedName("", name), placement_name=placement, strategy_name="all", created=NOW, **more)


def quarantine(name: str, placement: PlacementKey = WEB, **more: Any) -> Quarantine:
    """Content that must not go out."""
    return Quarantine(name=name, placement=placement, digest="d", **more)


def test_everything_that_the_old_name_had_has_the_new_one() -> None:
    owned = {OBJECT.key: InventoryEntry(key=OBJECT.key, placement=WEB, uid="u")}
    others = {OBJECT.key: InventoryEntry(key=OBJECT.key, placement=SHOP, uid="u")}
    both = {**others, config_map("b").key: InventoryEntry(key=config_map("b").key, placement=WEB)}
    quarantines = [quarantine("web-d", run="go"), quarantine("mine"), quarantine("shop-d", SHOP, run="went")]
    before = FleetState(
        inventory={"c1": owned, "c2": others, "c3": both}, quarantines={one.name: one for one in quarantines}
    )
    given = inputs([ONE, TWO], [place("new", "one"), TWO], before)
    found = renamed(given).before
    assert [*found.placements] == [NEW, SHOP]
    record = found.placements[NEW]
    was, newest = recorded(ONE), "new-0-snapshot"
    assert record == replace(
        was,
        placement=replace(ONE, key=NEW),
        resource_snapshots=tuple(replace(s, placement=NEW) for s in was.resource_snapshots),
        policy_snapshots=tuple(replace(s, placement=NEW) for s in was.policy_snapshots),
        bindings=tuple(
            replace(b, placement=NEW, policy_snapshot="new-0", resource_snapshot=newest, applied_snapshot=newest)
            for b in was.bindings
        ),
        schedule_key="",
    )  # fmt: skip
    assert {name: [entry.placement for entry in owned.values()] for name, owned in found.inventory.items()} == {
        "c1": [NEW],
        "c2": [SHOP],
        "c3": [SHOP, NEW],
    }
    assert with_former_names(found, given.before, {NEW: WEB}, found) is found
    assert with_former_names(found, given.before, {NEW: WEB}, given.before) == given.before
    for written in ({**found.placements, **given.before.placements}, {SHOP: found.placements[SHOP]}):
        other = replace(found, placements=written)
        assert with_former_names(found, given.before, {NEW: WEB}, other) == given.before
    assert found.inventory["c2"] is others and found.inventory["c1"][OBJECT.key].uid == "u"
    assert [(name, one.name, one.placement) for name, one in found.quarantines.items()] == [
        ("new-d", "new-d", NEW),
        ("mine", "mine", WEB),
        ("shop-d", "shop-d", SHOP),
    ]


def override(placement: str | None, scope: str = "Cluster") -> dict[str, Any]:
    """An override of one placement, or of all."""
    named = OverridePlacement(name=placement, scope=scope) if placement else None
    place = Origin("overrides/front.yaml", 4)
    found = Override(key=OverrideKey("", "front"), resources=(), rules=(), placement=named, origin=place)
    return {"overrides": {found.key: found}}


def freezes(*placements: str, until: timedelta = timedelta(1)) -> dict[str, Any]:
    """A freeze of placements by name."""
    scope = FreezeScope(placements=placements)
    one = Freeze(name="sale", owner="ann", reason="r", until=NOW + until, scope=scope)
    return {"objects": {FREEZES: {("Freeze", "sale"): one}}}


PIN = Pin(name="p", placement=WEB, snapshot=0, digest="d", origin=Origin("pins/p.yaml", 2))
BAD = quarantine("bad", origin=Origin("quarantines/bad.yaml", 1))
BUDGET = DisruptionBudget(name="web", min_available=1)
GO = StagedRun(key=NamespacedName("", "go"), placement_name="web", strategy_name="all")
OVER = staged.lost_run(GO, NOW)
HOLD = hold("remove-1", [of_object(OBJECT)], "why")
APPROVED = replace(HOLD, conditions=(condition("Approved", Status.TRUE, "x"),))
OF_SHOP = hold("remove-2", [of_object(OBJECT, SHOP)], "why")


def before(*, holds: tuple[Any, ...] = (), runs: tuple[RunRecord, ...] = ()) -> FleetState:
    """What the state branch has beside the placement."""
    return FleetState(holds={one.name: one for one in holds}, runs={one.key: one for one in runs})


def kinds(**every: Any) -> dict[str, Any]:
    """Objects of the commit."""
    return {
        "objects": {kind: {one.key if isinstance(one, StagedRun) else one.name: one} for kind, one in every.items()}
    }


@pytest.mark.parametrize(
    ("more", "state", "why"),
    [
        (kinds(pins=PIN), before(), "pins/p.yaml:2 names web; name new there, too, or remove it"),
        (kinds(pins=replace(PIN, origin=None)), before(), "Pin names web; name new there, too, or remove it"),
        (kinds(pins=replace(PIN, placement=SHOP)), before(), ""),
        (kinds(pins=replace(PIN, placement=NEW)), before(), ""),
        (kinds(quarantines=BAD), before(), "quarantines/bad.yaml:1 names web; name new there, too, or remove it"),
        (
            kinds(quarantines=replace(BAD, lifted=True)),
            before(),
            "quarantines/bad.yaml:1 names web; name new there, too, or remove it",
        ),
        (kinds(quarantines=replace(BAD, placement=SHOP)), before(), ""),
        ({"objects": override("web")}, before(), "overrides/front.yaml:4 names web; name new there, too, or remove it"),
        ({"objects": override("new")}, before(), ""),
        ({"objects": override(None)}, before(), ""),
        ({"objects": override("shop")}, before(), ""),
        (kinds(budgets=BUDGET), before(), "DisruptionBudget names web; name new there, too, or remove it"),
        ({"objects": {"budgets": {"web": BUDGET, "new": replace(BUDGET, name="new")}}}, before(), ""),
        (kinds(budgets=replace(BUDGET, name="shop")), before(), ""),
        (freezes("web"), before(), "Freeze sale names web; name new there, too"),
        (freezes("web", "new"), before(), ""),
        (freezes("web", until=timedelta()), before(), ""),
        (freezes(), before(), ""),
        (kinds(runs=GO), before(runs=(run(),)), "run go of it is not over; let it end, or remove its file"),
        (kinds(runs=GO), before(runs=(run(placement="shop"),)), ""),
        (kinds(runs=GO), before(runs=(OVER,)), ""),
        (kinds(), before(runs=(run(),)), ""),
        (kinds(pins=PIN, runs=GO), before(runs=(run(),)), "pins/p.yaml:2 names web; name new there, too, or remove it"),
    ],
)  # fmt: skip
def test_a_placement_keeps_its_name_while_something_names_it(more: dict[str, Any], state: FleetState, why: str) -> None:
    new = replace(place("new", "one"), origin=Origin("placements/new.yaml", 7))
    given = inputs([ONE, TWO], [new, TWO], state, **more)
    found = renamed(given)
    if not why:
        assert (found.renamed, found.desired, found.waiting) == ({NEW: WEB}, given.desired, {})
        return
    assert found.renamed == {} and found.before is given.before
    assert found.waiting == {WEB: new}
    assert found.desired.placements == {WEB: given.before.placements[WEB].placement, SHOP: TWO}
    (fault,) = found.desired.faults
    assert (fault.path, fault.line) == ("placements/new.yaml", 7)
    assert (fault.object, fault.field) == ("ClusterResourcePlacement/new", "metadata.name")
    assert fault.message == (
        f"is ClusterResourcePlacement web under a new name, and goes on as web for now, because {why}"
    )
    assert found.desired.objects == {**given.desired.objects, "placements": found.desired.placements}
    (fault,) = renamed(inputs([ONE], [place("new", "one")], state, **more)).desired.faults
    assert (fault.path, fault.line) == ("", 1)


def test_a_hold_is_about_the_placement_whatever_it_is_called() -> None:
    said = (
        "ClusterResourcePlacement web selects nothing, placement web has 3, placements web-2, web/x and web.x stay: web"
    )
    both = replace(hold("remove-3", [of_object(OBJECT), of_object(OBJECT, SHOP)], said), digest="d")
    found = renamed(inputs([ONE, TWO], [place("new", "one"), TWO], before(holds=(APPROVED, both, OF_SHOP))))
    one, two, other = found.before.holds.values()
    assert other is OF_SHOP
    assert one == replace(APPROVED, removals=(replace(APPROVED.removals[0], placement=NEW),))
    assert [removal.placement for removal in two.removals] == [NEW, SHOP]
    assert (two.name, two.digest) == ("remove-3", "d")
    assert two.reasons[0].message == said.replace("ment web ", "ment new ")


@pytest.mark.parametrize(
    ("holds", "selected", "is_one"),
    [
        ((HOLD,), ("frontent",), True),
        ((HOLD,), ("frontent", "frontend"), False),
        ((APPROVED,), ("frontent",), False),
        ((OF_SHOP,), ("frontent",), False),
        ((hold("remove-4", [of_binding("c1")], "why"),), ("frontent",), False),
        ((), ("frontent",), False),
    ],
)
def test_what_keeps_objects_until_a_person_answers_may_be_misspelt(
    holds: tuple[Any, ...], selected: tuple[str, ...], is_one: bool
) -> None:
    """It names nothing that is there, and the placement that came names what it meant."""
    for had, has in (("frontend", "frontent"), ("web-data", "new-data")):
        payload = namespaces(*(name if had == "frontend" else {"frontent": has}.get(name, had) for name in selected))
        given = inputs([place("web", had)], [place("new", has)], before(holds=holds), payload=payload)
        assert renamed(given).renamed == ({NEW: WEB} if is_one else {})


def test_a_run_or_an_eviction_of_the_new_name_waits_for_the_rename() -> None:
    """What began before and what is for others go on; each says that it waits, where it stands."""
    inner = place("late", "two", namespace="x")
    had, has = [ONE, place("old", "two", namespace="x"), TWO], [place("new", "one"), inner, TWO]
    pins = {"p": PIN, "q": replace(PIN, name="q", placement=PlacementKey("x", "old"))}
    one = replace(GO, placement_name="new", origin=Origin("runs/go.yaml", 5))
    runs = [
        one,
        replace(one, key=NamespacedName("x", "up"), placement_name="late", origin=None),
        replace(one, key=NamespacedName("", "began")),
        replace(one, key=NamespacedName("", "other"), placement_name="shop"),
        replace(one, key=NamespacedName("x", "new")),
    ]
    out = Eviction(name="out", placement_name="new", cluster_name="c1", origin=Origin("evictions/out.yaml", 2))
    evictions = [out, replace(out, name="before"), replace(out, name="shop", placement_name="shop")]
    objects = {"pins": pins, "runs": {r.key: r for r in runs}, "evictions": {e.name: e for e in evictions}}
    state = replace(before(runs=(run("began", "new"),)), evictions={"before": evictions[1]})
    found = renamed(inputs(had, has, state, objects=objects)).desired
    assert [*found.runs] == [one.key for one in runs[2:]] and [*found.evictions] == ["before", "shop"]
    late = "ResourcePlacement x/late"
    assert [one for one in found.faults if one.severity is Severity.WARNING] == [
        Fault(path, line, said, "", f"waits until {of} has its new name; the error there says what to change", WARNING)
        for path, line, said, of in (
            ("", 1, "StagedUpdateRun/x/up", late),
            ("evictions/out.yaml", 2, "ClusterResourcePlacementEviction/out", "ClusterResourcePlacement new"),
            ("runs/go.yaml", 5, "ClusterStagedUpdateRun/go", "ClusterResourcePlacement new"),
        )
    ]
    assert len(found.faults) == 5 and list(found.faults) == sorted(found.faults)
    unasked = renamed(inputs(had, has, state, objects={"pins": pins})).desired
    assert [one.severity for one in unasked.faults] == [Severity.ERROR] * 2 and unasked.runs == {}
    ready = renamed(inputs(had, has, state, objects={**objects, "pins": {}})).desired
    assert [*ready.runs] == [one.key for one in runs] and ready.faults == ()


def test_what_names_the_name_that_is_kept_for_now_names_a_placement_that_is_there() -> None:
    """The errors that say otherwise go; those of what names another one, and other errors, stay."""
    had = [ONE, place("old", "two", namespace="x"), TWO]
    has = [place("new", "one"), place("late", "two", namespace="x"), TWO]
    pins = {"p": PIN, "q": replace(PIN, name="q", placement=PlacementKey("x", "old"), origin=None)}
    go = replace(GO, origin=Origin("runs/go.yaml", 5))
    up = replace(go, key=NamespacedName("x", "up"), placement_name="old")
    lost = replace(go, key=NamespacedName("", "lost"), placement_name="gone")
    out = Eviction(name="out", placement_name="web", cluster_name="c1", origin=Origin("evictions/out.yaml", 2))
    objects = {"pins": pins, "runs": {r.key: r for r in (go, up, lost)}, "evictions": {"out": out}, **override("web")}
    nothing = [
        Fault(path, 1, name, "", f"{NAMES_NO_PLACEMENT} x")
        for path, name in (
            ("pins/p.yaml", "Pin/p"),
            ("overrides/front.yaml", "ClusterResourceOverride/front"),
            ("runs/go.yaml", "ClusterStagedUpdateRun/go"),
            ("runs/go.yaml", "StagedUpdateRun/x/up"),
            ("evictions/out.yaml", "ClusterResourcePlacementEviction/out"),
        )
    ]
    stay = [replace(nothing[2], object="ClusterStagedUpdateRun/lost"), replace(nothing[3], message="is wrong")]
    found = renamed(inputs(had, has, objects=objects, faults=(*nothing, *stay))).desired
    late = [one for one in found.faults if one.field == "metadata.name"]
    assert [one.object for one in late] == ["ClusterResourcePlacement/new", "ResourcePlacement/x/late"]
    assert sorted(found.faults) == sorted((*late, *stay))


def test_one_keeps_its_old_name_while_another_one_gets_its_new_one() -> None:
    """The faults are in order, with those that were there."""
    old = Fault("z.yaml", 1, "o", "", "is wrong")
    has = [place("new", "one"), replace(place("late", "two"), origin=Origin("a.yaml", 1))]
    given = inputs([ONE, TWO], has, faults=(old,), **kinds(pins=replace(PIN, placement=SHOP)))
    found = renamed(given)
    assert found.renamed == {NEW: WEB} and [*found.before.placements] == [NEW, SHOP]
    assert found.desired.placements.keys() == {NEW, SHOP}
    assert [fault.path for fault in found.desired.faults] == ["a.yaml", "z.yaml"]


def test_what_an_edit_may_not_change_a_rename_may_not_either() -> None:
    (fault,) = renamed(inputs([ONE], [place("new", "one", policy=FIXED)])).desired.faults
    assert fault.message.partition("because ")[2].startswith("spec.policy.placementType ")


@pytest.mark.parametrize(
    ("had", "has", "is_one"),
    [
        ([place("web", "one", "more"), TWO], [place("new", "one", policy=FIXED), TWO], True),
        ([place("web", "one", "more"), TWO], [place("new", "one", policy=FIXED), place("shop", "two", "more")], False),
        ([place("web", "one", "more"), TWO], [place("new", "one"), place("shop", "two", "more")], True),
        ([place("web", "one", "more"), TWO], [place("new", "one", policy=FIXED), place("shop", "two", "one")], True),
        ([ONE, place("shop", "two", "more")], [place("new", "one", "more", policy=FIXED), TWO], False),
        ([ONE, place("shop", "two", "more")], [place("new", "one", "more"), TWO], True),
        ([ONE, INNER], [place("new", "one", "more", policy=FIXED), INNER], True),
        ([ONE, TWO], [place("new", "one", "more", policy=FIXED), place("shop", "two", "more")], True),
    ],
)
def test_what_an_edit_may_not_change_tells_a_split_or_a_fold_from_a_rename(
    had: list[Placement], has: list[Placement], is_one: bool
) -> None:
    """Where what is more moves to or from a third."""
    found = renamed(inputs(had, has))
    assert bool(found.renamed or found.waiting) == is_one


def test_a_budget_is_no_matter_of_a_placement_in_a_namespace() -> None:
    """A disruption budget names placements without one."""
    has, had = place("new", "one", namespace="x"), place("web", "one", namespace="x")
    found = renamed(inputs([had], [has], objects={"budgets": {"web": BUDGET}}))
    assert found.renamed == {has.key: had.key}


def test_what_cannot_be_found_out_is_noted_and_changes_nothing() -> None:
    given, failures = inputs([ONE, TWO], [place("new", "one"), place("late", "two")]), Failures()
    whole = replace(given, desired=replace(given.desired, objects={"placements": {NEW: None}}))
    assert with_renamed(whole, failures) is whole
    assert [failure.subject for failure in failures.found] == [Subject("FleetState", "")]
    no_binding: Any = None
    record, failures = replace(given.before.placements[WEB], bindings=(no_binding,)), Failures()
    one = replace(given, before=replace(given.before, placements={**given.before.placements, WEB: record}))
    found = with_renamed(one, failures)
    assert [failure.subject for failure in failures.found] == [Subject.of_placement(WEB)]
    assert (found.renamed, [*found.desired.placements]) == ({place("late").key: SHOP}, [place("late").key, WEB])
    assert [*found.before.placements] == [place("late").key, WEB]
    (fault,) = found.desired.faults
    assert fault.message.endswith(f"for now, because {failures.found[0].sentence}")
