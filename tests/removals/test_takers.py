"""Who takes over what a placement has: what of a hold is done with, what nobody would keep, and what is held again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.bindings import DELETED, KEPT_FOR_SUCCESSOR, FailedObject
from gitfleet.api.holds import Hold, HoldReason, HoldRule, Removal, RemovalKind
from gitfleet.api.objects import Identity, Manifest
from gitfleet.api.placements import PlacementKey, ResourceSelector
from gitfleet.api.strategies import ApplyStrategy, ApplyStrategyType, DeletePropagation, RolloutStrategy
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.removals import Kept, taken_over
from gitfleet.removals.answers import IN_PART
from gitfleet.removals.placed import Cell, Losses
from gitfleet.removals.takers import Takers
from gitfleet.removals.unanswered import held_before
from tests.removals.fleets import (
    CLUSTERS,
    NOW,
    SHOP,
    WEB,
    config_map,
    envelope,
    fleet,
    hold,
    none_overridden,
    of_binding,
    of_cluster,
    of_object,
    placed,
    with_web,
)
from tests.removals.test_judging import gone, judged, waits
from tests.state.builders import condition, entry
from tests.works.builders import snapshot

OTHER, NEXT, INNER = PlacementKey("", "other"), PlacementKey("", "next"), PlacementKey("shop", "web")
A, B, S = config_map("a"), config_map("b"), config_map("s", "shop")
OF_WEB, OF_INNER, OF_SHOP = (Removal(kind=RemovalKind.PLACEMENT, placement=key) for key in (WEB, INNER, SHOP))
DELETES_A = Removal(kind=RemovalKind.OVERRIDDEN, placement=WEB, cluster="c1", object=A.key)
NO_HOLD = Kept()
REPORTS = ApplyStrategy(type=ApplyStrategyType.REPORT_DIFF)


def by_name(*names: str) -> tuple[ResourceSelector, ...]:
    """Selectors of config maps."""
    return tuple(ResourceSelector(group="", version="v1", kind="ConfigMap", name=name) for name in names)


def having(
    key: PlacementKey, *manifests: Manifest, on: Iterable[str] = CLUSTERS, selects: Iterable[str] = (), **spec: Any
) -> PlacementRecord:
    """A placement that selects by these names, and that has these objects on these clusters."""
    record = placed(key, on, *manifests)
    return replace(record, placement=replace(record.placement, selectors=by_name(*selects), **spec))


def reporting(record: PlacementRecord) -> PlacementRecord:
    """The record, which writes nothing."""
    return replace(record, bindings=tuple(replace(one, apply_strategy=REPORTS) for one in record.bindings))


GOES = having(NEXT, A, deleting=NOW)
BEFORE = fleet(having(WEB, A, B, selects=["a", "b"]), having(SHOP, S))


def then(*records: PlacementRecord, before: FleetState = BEFORE) -> FleetState:
    """What is decided: these placements, and what lies on the clusters."""
    return replace(before, placements={record.placement.key: record for record in records})


def because(rule: HoldRule = HoldRule.MASS_DELETION, message: str = "too much") -> HoldReason:
    """Why something is held."""
    return HoldReason(rule=rule, message=message)


def waiting(*removals: Removal, why: Iterable[HoldReason] = (because(),), answer: str = "") -> Hold:
    """A hold."""
    conditions = (condition("Approved", answer),) if answer else ()
    return replace(hold("h", removals, conditions=conditions), reasons=tuple(why))


OLDER = replace(snapshot(A, B, placement=OTHER), index=0)
HAD = replace(having(OTHER, A), resource_snapshots=(OLDER, replace(snapshot(A, placement=OTHER), index=1)))
EMPTIED = replace(
    having(WEB, A, B), resource_snapshots=(having(WEB, A, B).resource_snapshots[0], replace(snapshot(), index=1))
)


@pytest.mark.parametrize(
    ("before", "removals", "after", "done"),
    [
        (BEFORE, [OF_WEB], [having(OTHER, A, B)], [OF_WEB]),
        (BEFORE, [OF_WEB], [having(OTHER, A), having(NEXT, B)], [OF_WEB]),
        (BEFORE, [OF_WEB], [having(NEXT), having(OTHER, A, B)], [OF_WEB]),
        (BEFORE, [OF_WEB], [having(OTHER, A)], []),
        (BEFORE, [OF_WEB], [HAD], []),
        (BEFORE, [OF_WEB], [having(OTHER, A, B, on=["c1"])], []),
        (BEFORE, [OF_WEB], [having(OTHER, A, B, deleting=NOW)], []),
        (BEFORE, [OF_WEB], [reporting(having(OTHER, A, B))], []),
        (BEFORE, [OF_WEB], [reporting(having(NEXT, A, B)), having(OTHER, A, B)], [OF_WEB]),
        (BEFORE, [OF_WEB], [], []),
        (BEFORE, [of_object(A), of_object(B)], [having(OTHER, A)], [of_object(A)]),
        (BEFORE, [of_binding("c1"), of_binding("c2")], [having(OTHER, A, B, on=["c2"])], [of_binding("c2")]),
        (BEFORE, [of_cluster("c1"), DELETES_A], [having(OTHER, A, B)], []),
        (BEFORE, [OF_WEB, Removal(kind=RemovalKind.PLACEMENT, placement=OTHER)], [having(OTHER, A, B)], []),
        (BEFORE, [OF_WEB, of_object(A, OTHER)], [having(OTHER, A, B)], []),
        (BEFORE, [OF_WEB, of_binding("c1", OTHER)], [having(OTHER, A, B)], []),
        (BEFORE, [OF_WEB, OF_SHOP], [having(OTHER, A, B), having(PlacementKey("shop", "other"), S)], [OF_WEB, OF_SHOP]),
        (BEFORE, [of_object(config_map("c")), of_binding("c9")], [having(OTHER, A, B)], []),
        (fleet(GOES, having(WEB, A)), [OF_WEB], [having(OTHER, A)], [OF_WEB]),
        (fleet(GOES, having(WEB, A)), [OF_WEB], [having(OTHER, B)], []),
        (BEFORE, [replace(OF_WEB, placement=NEXT)], [having(OTHER, A, B)], []),
        (replace(BEFORE, inventory={}), [OF_WEB], [having(OTHER, A, B)], []),
        (fleet(having(OTHER, A), having(WEB, A, B)), [OF_WEB], [having(OTHER, A, B)], [OF_WEB]),
        (fleet(having(OTHER, A, B), having(WEB, A, B)), [OF_WEB], [], [OF_WEB]),
        (with_web(BEFORE, EMPTIED), [OF_WEB], [having(OTHER, A, B)], [OF_WEB]),
        (fleet(EMPTIED, having(INNER, S)), [OF_WEB, OF_INNER], [having(OTHER, S)], [OF_INNER]),
        (replace(BEFORE, placements={WEB: EMPTIED, INNER: having(INNER)}), [OF_INNER, OF_WEB], [having(OTHER, A, B)],
         [OF_WEB]),
    ],
)  # fmt: skip
def test_what_is_held_is_done_with_where_others_have_all_of_it(
    before: FleetState, removals: list[Removal], after: list[PlacementRecord], done: list[Removal]
) -> None:
    """On the same clusters, by their newest content, whatever a hold keeps: not where they only report, nor where
    nothing of it lies anywhere."""
    left = then(*after, before=before)
    assert taken_over({"h": waiting(*removals)}, before, left, none_overridden) == {one.id for one in done}


@pytest.mark.parametrize(
    ("reasons", "why", "done"),
    [
        ((), [because()], True),
        ((), [because(), because(HoldRule.GATE_LOST)], False),
        ((), [because(HoldRule.NOT_EXTERNAL)], False),
        ((), [because(HoldRule.UNREADABLE_HOLD)], False),
        ((0,), [because(), because(HoldRule.GATE_LOST)], True),
        ((1,), [because(), because(HoldRule.GATE_LOST)], False),
    ],
)
def test_what_is_held_since_others_have_it_is_not_done_with(
    reasons: tuple[int, ...], why: list[HoldReason], done: bool
) -> None:
    removal = replace(OF_WEB, reasons=reasons)
    left = then(having(OTHER, A, B))
    assert taken_over({"h": waiting(removal, why=why)}, BEFORE, left, none_overridden) == (
        {OF_WEB.id} if done else set()
    )
    assert taken_over({}, BEFORE, left, none_overridden) == set()


def test_what_overrides_delete_for_the_others_is_not_taken_over() -> None:
    def deleted(key: PlacementKey, cluster: str) -> set[Identity]:
        return {A.key.identity} if (key, cluster) == (OTHER, "c1") else set()

    holds = {"h": waiting(OF_WEB, of_object(A), of_object(B), of_binding("c1"), of_binding("c2"))}
    found = taken_over(holds, BEFORE, then(having(OTHER, A, B)), deleted)
    assert found == {of_object(B).id, of_binding("c2").id}
    also = then(having(OTHER, A, B), having(NEXT, A))
    assert taken_over(holds, BEFORE, also, deleted) == {one.id for one in holds["h"].removals}


# -- what others keep until a placement has it

ABANDON = RolloutStrategy(delete_propagation_policy=DeletePropagation.ABANDON)
ON_BOTH, ON_C1 = ({(name, A.key.identity) for name in names} for names in (CLUSTERS, ["c1"]))
KEEPS = FailedObject(key=A.key, condition=DELETED, reason=KEPT_FOR_SUCCESSOR, message="")


def keeping(cluster: str) -> PlacementRecord:
    """The placement that gives A up on a cluster, where it stays until another one has it."""
    record = having(NEXT, B)
    bindings = tuple(replace(b, failed=(KEEPS,)) if b.cluster == cluster else b for b in record.bindings)
    return replace(record, bindings=bindings)


@pytest.mark.parametrize(
    ("before", "removal", "cells"),
    [
        (fleet(GOES, having(WEB, A)), OF_WEB, ON_BOTH),
        (fleet(GOES, having(WEB, A)), of_object(A), ON_BOTH),
        (fleet(GOES, having(WEB, A)), of_object(B), set()),
        (fleet(GOES, having(WEB, A, B)), of_object(B), {(name, B.key.identity) for name in CLUSTERS}),
        (fleet(having(WEB, A, strategy=ABANDON), keeping("c1")), OF_WEB, set()),
        (replace(fleet(keeping("c1"), having(WEB, A, strategy=ABANDON)), inventory={}), OF_WEB, ON_C1),
        (fleet(GOES, having(WEB, A)), of_binding("c1"), ON_C1),
        (fleet(GOES, having(WEB, A)), DELETES_A, set()),
        (fleet(GOES, having(WEB, S)), of_object(A), set()),
        (fleet(replace(GOES, placement=having(NEXT).placement), having(WEB, A)), OF_WEB, set()),
        (replace(fleet(keeping("c1"), having(WEB, A)), inventory={}), OF_WEB, ON_C1),
        (replace(fleet(keeping("c1"), having(WEB, A)), inventory={}), of_binding("c2"), set()),
        (fleet(keeping("c1"), having(WEB, A)), OF_WEB, ON_BOTH),
    ],
)
def test_what_others_keep_for_a_placement_goes_with_it(before: FleetState, removal: Removal, cells: set[Cell]) -> None:
    left = then(having(NEXT, deleting=NOW), before=before)
    assert Losses.between(before, left, Kept(), none_overridden).of(removal) == cells


def test_what_others_keep_is_asked_by_namespace_too() -> None:
    before = fleet(having(NEXT, A, S, deleting=NOW), having(WEB, A), having(INNER, S))
    losses = Losses.between(before, then(before=before), NO_HOLD, none_overridden)
    assert losses.of(OF_WEB) == ON_BOTH
    assert losses.of(OF_INNER) == {(name, S.key.identity) for name in CLUSTERS}
    both = {name: {key: entry(key) for key in (A.key, S.key)} for name in CLUSTERS}
    both["c2"][S.key] = replace(both["c2"][S.key], placement=INNER)
    left = then(having(OTHER, A), having(SHOP, S), before=replace(before, inventory=both))
    losses = Losses.between(replace(before, inventory=both), left, NO_HOLD, none_overridden)
    assert [losses.taken_by(one) for one in (OF_WEB, OF_INNER)] == [{key: {*CLUSTERS}} for key in (OTHER, SHOP)]


def test_the_placement_itself_takes_nothing_over() -> None:
    left = then(having(WEB, A, B))
    for removal in (of_object(A), of_binding("c1"), OF_WEB):
        assert taken_over({"h": waiting(removal, answer="True")}, BEFORE, left, none_overridden) == set()


@pytest.mark.parametrize(
    ("before", "removal", "after", "found"),
    [
        (BEFORE, OF_WEB, [having(OTHER, A, on=["c1"]), having(NEXT, B)], {OTHER: {"c1"}, NEXT: {"c1", "c2"}}),
        (BEFORE, of_object(A), [having(OTHER, A), having(NEXT, B)], {OTHER: {"c1", "c2"}}),
        (fleet(having(OTHER, A, on=["c1"]), having(WEB, A, B)), OF_WEB, [having(OTHER, A)], {OTHER: {"c2"}}),
        (fleet(having(OTHER, A), having(WEB, A, B)), OF_WEB, [having(OTHER, A)], {}),
        (fleet(GOES, having(WEB, A)), OF_WEB, [having(OTHER, A)], {}),
        (replace(BEFORE, placements={}), OF_WEB, [having(OTHER, A)], {}),
        (BEFORE, of_cluster("c1"), [having(OTHER, A)], {}),
        (fleet(having(OTHER, A, on=["c2"]), having(WEB, A, B)), of_object(A), [having(WEB, A, B)], {}),
    ],
    ids=[
        "two",
        "one object",
        "it has it on c1",
        "it has it",
        "nothing lies there",
        "nobody knows it",
        "a cluster",
        "itself",
    ],
)
def test_who_gets_what_a_removal_lets_go(
    before: FleetState, removal: Removal, after: list[PlacementRecord], found: dict[PlacementKey, set[str]]
) -> None:
    left = then(*after, before=before)
    assert Losses.between(before, left, NO_HOLD, none_overridden).taken_by(removal) == found


# -- who takes over


def takers(
    before: FleetState, *after: PlacementRecord, kept: Kept = NO_HOLD, approved: Iterable[Removal] = ()
) -> Takers:
    """The placements of a decision."""
    left = then(*after, before=before)
    losses = Losses.between(before, left, kept, none_overridden)
    return Takers(before, left, losses, frozenset(one.id for one in approved))


@pytest.mark.parametrize(
    ("key", "after", "kept", "found"),
    [
        (WEB, [having(SHOP, S), having(OTHER, A)], NO_HOLD, [OTHER]),
        (WEB, [having(WEB, A, B, selects=["a", "b"]), having(OTHER, A)], NO_HOLD, [OTHER]),
        (WEB, [having(OTHER, A, on=["c9"])], NO_HOLD, []),
        (WEB, [having(OTHER, A, on=["c9"], selects=["x", "b"])], NO_HOLD, [OTHER]),
        (WEB, [having(OTHER, on=[], selects=["x"])], NO_HOLD, []),
        (WEB, [having(OTHER, on=[], selects=["a"], deleting=NOW)], NO_HOLD, []),
        (WEB, [having(OTHER, on=[], selects=["a"])], Kept(placements=frozenset({OTHER})), []),
        (WEB, [having(INNER, on=[], selects=["a"])], NO_HOLD, []),
        (WEB, [having(INNER, A)], NO_HOLD, [INNER]),
        (WEB, [having(OTHER, A), having(NEXT, selects=["b"])], NO_HOLD, [OTHER, NEXT]),
        (NEXT, [having(OTHER, A, B, selects=["a"])], NO_HOLD, []),
    ],
)
def test_who_takes_over_what_a_placement_has(
    key: PlacementKey, after: list[PlacementRecord], kept: Kept, found: list[PlacementKey]
) -> None:
    """Who wants its objects on the same clusters, or has a selector in common with what it was."""
    assert [one.placement.key for one in takers(BEFORE, *after, kept=kept).of(key)] == found


@pytest.mark.parametrize(
    ("before", "record", "names"),
    [
        (BEFORE, having(OTHER, selects=["a", "x"]), ["a", "x"]),
        (BEFORE, having(WEB, selects=["a", "x"]), ["a", "x"]),
        (fleet(having(WEB, A, selects=["a"]), having(OTHER, selects=["y"])), having(OTHER, selects=["a", "x", "y"]),
         ["a", "x"]),
        (fleet(having(WEB, A, selects=["a"]), having(OTHER, selects=["a", "y"])), having(OTHER, selects=["a", "y"]),
         ["a"]),
        (fleet(having(WEB, A, selects=["a"]), having(OTHER, selects=["y"], deleting=NOW)),
         having(OTHER, selects=["a", "y"]), ["a", "y"]),
    ],
    ids=["a new one", "itself", "one that was there", "by a selector that it had, too", "one that leaves"],
)  # fmt: skip
def test_by_which_selectors_it_takes_over(before: FleetState, record: PlacementRecord, names: list[str]) -> None:
    found = takers(before, record).gained(record, before.placements[WEB])
    assert found == by_name(*names)


def test_what_nobody_takes_over_of_a_placement_that_goes() -> None:
    """What lies on clusters, in envelopes too, and what is not approved yet."""
    box = envelope(config_map("inner"))
    before = fleet(having(WEB, A, B, box), having(SHOP, S))
    other = having(OTHER, A)
    found = takers(before, other)
    old = before.placements[WEB]
    assert found.rest(OF_WEB, old, (other,)) == (of_object(B), of_object(box))
    assert found.rest(OF_WEB, old, ()) == (of_object(B), of_object(box)), "another one has A on the same clusters"
    assert takers(before, other, approved=[of_object(B)]).rest(OF_WEB, old, (other,)) == (of_object(box),)
    assert found.rest(OF_WEB, replace(old, resource_snapshots=()), (other,)) == ()
    away = having(OTHER, A, on=["c9"])
    assert takers(before, away).rest(OF_WEB, old, (away,)) == (of_object(B), of_object(box)), "it selects A"
    assert takers(before, away).rest(OF_WEB, old, ()) == (of_object(A), of_object(B), of_object(box))


OTHER_TAKES = "while ClusterResourcePlacement other takes over from placement web"
ONE = "ConfigMap/web/b of placement web"
TWO_TAKE = "while ClusterResourcePlacement other and ClusterResourcePlacement next take over from placement web"
ANOTHER_NAME = "x.yaml has ConfigMap/web/bb in its place"
SELECTS_NO_MORE = (
    "LabelsChanged: ClusterResourcePlacement {} selects ConfigMap/web/b no more, though the manifests are still there"
)


@pytest.mark.parametrize(
    ("after", "written", "how", "holds", "said"),
    [
        ([having(OTHER, A, selects=["a"])], False, {}, (), []),
        ([], True, {}, (), []),
        ([], False, {"ignored": 3}, (), []),
        ([having(OTHER, A, selects=["b", "a"])], True, {}, (), [f"{SELECTS_NO_MORE.format('other')}, {{}}"]),
        ([having(OTHER, A, B, selects=["a", "b"])], True, {}, (), []),
        ([having(OTHER, A, selects=["a", "b"])], True, {}, (), [f"{SELECTS_NO_MORE.format('other')}, {{}}"]),
        ([having(OTHER, A, selects=["a"])], True, {}, (), []),
        ([having(OTHER, A, B, on=["c9"], selects=["a", "b"])], True, {}, (), []),
        ([having(OTHER, A, selects=["a", "b"])], False, {}, (),
         ['EmptySelection: ClusterResourcePlacement other: nothing matches the selector ConfigMap "b", {}']),
        ([having(OTHER, A, selects=["a", "b"])], True, {}, (waiting(of_object(B), answer="True"),), []),
        ([having(OTHER, A, selects=["a", "b"])], True, {}, (waiting(of_object(B)),),
         [f"{SELECTS_NO_MORE.format('other')}, {{}}", "MassDeletion: too much; asked already, and not answered, by h"]),
        ([having(OTHER, A, selects=["a"])], False, {"ignored": 3}, (),
         [f"IgnoredFile: an ignore rule takes {ONE} away (line 3 hides x.yaml), {{}}"]),
        ([having(OTHER, A, selects=["a"])], False, {"successor": ("", "ConfigMap", "web", "bb")}, (),
         [f"LikelyTypo: the commit renames {ONE}, by what may be a typing error ({ANOTHER_NAME}), {{}}"]),
        ([having(OTHER, A, selects=["a"]), having(NEXT, A, selects=["a"])], False, {"ignored": 3}, (),
         [f"IgnoredFile: an ignore rule takes {ONE} away (line 3 hides x.yaml), {TWO_TAKE}"]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("leaves", [True, False])
def test_what_nobody_takes_over_is_judged_as_what_goes_from_one_that_stays(
    after: list[PlacementRecord],
    written: bool,
    how: dict[str, Any],
    holds: tuple[Hold, ...],
    said: list[str],
    leaves: bool,
) -> None:
    """Whether the placement leaves, or is gone already; what was approved is not asked for again."""
    web = BEFORE.placements[WEB]
    leaving = replace(web, placement=replace(web.placement, deleting=NOW))
    left = then(BEFORE.placements[SHOP], *after, *([leaving] if leaves else []))
    vanished = {B.key.identity: gone(**how)} if how else {}
    wanted: dict[str, Any] = {"payload": (A, B) if written else (A,), "vanished": vanished}
    found = judged(BEFORE, left, [OF_WEB], holds, **wanted)
    sentences = [one.format(OTHER_TAKES) for one in said]
    assert found == ([(sentences, waits(OF_WEB))] if said else [])
    assert judged(BEFORE, left, [of_binding("c1")], **wanted) == [], "what goes with it is no removal of its own"


@pytest.mark.parametrize(
    ("selects", "has", "said"), [(["b"], False, True), (["b"], True, False), (["a"], False, False), ([], False, False)]
)
def test_what_another_one_has_elsewhere_is_selected_still(selects: list[str], has: bool, said: bool) -> None:
    """The selector of what goes stands in another placement now, which has it on other clusters, or has it not."""
    left = then(having(WEB, A, selects=["a"]), having(OTHER, *([B] if has else []), on=["c9"], selects=selects))
    lost = ([SELECTS_NO_MORE.format("other")], waits(of_object(B)))
    assert judged(BEFORE, left, [of_object(B)], payload=(A, B)) == ([lost] if said else [])


def test_of_content_that_is_not_read_the_same_selectors_say_what_is_lost() -> None:
    web = BEFORE.placements[WEB]
    older = replace(web.resource_snapshots[0], manifests=None)
    unread = with_web(BEFORE, replace(web, resource_snapshots=(older,)))
    found = judged(
        unread,
        then(having(WEB, A, selects=["a", "b"])),
        [of_object(B)],
        payload=(A, B),
    )
    assert found == [([SELECTS_NO_MORE.format("web")], waits(of_object(B)))]


# -- what was asked for already

TWO = [because(message="one"), because(HoldRule.LABELS_CHANGED, "two")]
LEFT = having(WEB, B, selects=["b"])


def said(*messages: str, name: str = "h") -> list[str]:
    """What a hold says of removals that were asked for already."""
    return [f"{one}; asked already, and not answered, by {name}" for one in messages]


@pytest.mark.parametrize(
    ("holds", "after", "new", "kept", "expected"),
    [
        ([waiting(of_object(A), why=TWO)], [having(OTHER, B)], [OF_WEB], NO_HOLD, [(said("one", "two"), [OF_WEB])]),
        ([waiting(replace(of_object(A), reasons=(1,)), why=TWO)], [having(OTHER, B)], [OF_WEB], NO_HOLD,
         [(said("two"), [OF_WEB])]),
        ([waiting(of_object(A), of_binding("c1"), why=TWO[:1])], [having(OTHER, B)], [OF_WEB], NO_HOLD,
         [(said("one"), [OF_WEB])]),
        ([waiting(of_object(A), answer="False")], [having(OTHER, B)], [OF_WEB], NO_HOLD,
         [(said("too much"), [OF_WEB])]),
        ([waiting(of_object(A), answer="True")], [having(OTHER, B)], [OF_WEB], NO_HOLD, []),
        ([waiting(of_object(A))], [having(OTHER, S)], [OF_WEB], NO_HOLD, []),
        ([waiting(of_object(A))], [having(OTHER, A, B)], [OF_WEB], NO_HOLD, []),
        ([waiting(of_object(A))], [LEFT, having(OTHER, B)], [of_object(A)], NO_HOLD, []),
        ([waiting(OF_WEB)], [LEFT], [of_object(A)], NO_HOLD, [(said("too much"), [of_object(A)])]),
        ([waiting(OF_WEB)], [LEFT], [of_object(A)], Kept(placements=frozenset({WEB})), []),
        ([waiting(OF_WEB)], [LEFT], [of_object(S, SHOP)], NO_HOLD, []),
        ([waiting(OF_WEB)], [LEFT], [of_object(A), of_object(B), of_cluster("c1")], NO_HOLD,
         [(said("too much"), [of_object(A), of_object(B)])]),
        ([waiting(of_object(S, SHOP)), waiting(OF_WEB)], [LEFT], [of_object(A)], NO_HOLD,
         [(said("too much"), [of_object(A)])]),
        ([waiting(of_object(A), why=[because(message=f"one{IN_PART}")])], [having(OTHER, B)], [OF_WEB], NO_HOLD,
         [(said("one"), [OF_WEB])]),
        ([waiting(of_object(A), why=[because(message=said("one", name="older")[0])])], [having(OTHER, B)], [OF_WEB],
         NO_HOLD, [(said("one"), [OF_WEB])]),
    ],
)  # fmt: skip
def test_what_was_asked_for_already_is_held_in_another_way(
    holds: list[Hold], after: list[PlacementRecord], new: list[Removal], kept: Kept, expected: list[Any]
) -> None:
    """For the reasons of the hold that nobody has answered; where others take over, and where it is as it was."""
    found = takers(BEFORE, *after, kept=kept)
    cells: Mapping[Removal, frozenset[Cell]] = {removal: found.losses.of(removal) for removal in new}
    findings = list(held_before(holds, cells, found, found.losses))
    assert [([one.reason.message], list(one.removals)) for one in findings] == [
        ([message], removals) for messages, removals in expected for message in messages
    ]


def test_the_reason_is_that_of_the_hold_without_its_place() -> None:
    why = HoldReason(rule=HoldRule.LABELS_CHANGED, message="one", causes="a.yaml", path="a.yaml", line=3)
    found = takers(BEFORE, having(OTHER, B))
    (finding,) = held_before([waiting(of_object(A), why=[why])], {OF_WEB: found.losses.of(OF_WEB)}, found, found.losses)
    assert finding.reason == because(HoldRule.LABELS_CHANGED, said("one")[0])
    assert list(held_before([], {OF_WEB: found.losses.of(OF_WEB)}, found, found.losses)) == []
