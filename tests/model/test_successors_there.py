"""Who is to have an object on a cluster: placements with errors, what was given up and taken back, older content."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any, ClassVar

import pytest

from gitfleet.api.bindings import Binding
from gitfleet.api.conditions import Status
from gitfleet.api.objects import Manifest
from gitfleet.api.placements import PlacementKey
from gitfleet.api.strategies import RolloutStrategyType
from gitfleet.model.failures import Failures
from gitfleet.model.rolling import BUDGET_EXHAUSTED
from gitfleet.model.state import MisreadObjects, PlacementRecord
from gitfleet.model.successors import Successors
from gitfleet.model.works import Work
from tests.model.test_successors import GONE, LATE, MINE, ONE, THEIRS, TOOK, A, B, shop
from tests.removals.fleets import SHOP, WEB, config_map, hold, of_binding, of_object, placed
from tests.state import builders

MISREAD = MisreadObjects("placements/shop.yaml", frozenset({MINE}))
CORRECT_IT = "placements/shop.yaml has an error: correct it"
NORTH, SOUTH = PlacementKey("north", "web"), PlacementKey("south", "web")
"""Of one name, and so are their snapshots."""


def having(*contents: Manifest, key: PlacementKey = SHOP, there: int = -1) -> PlacementRecord:
    """One snapshot after the other; cluster c1 is to have one of them, the newest unless `there` says which."""
    of = [placed(key, ("c1",), one) for one in contents]
    snapshots = tuple(replace(one.resource_snapshots[0], index=index) for index, one in enumerate(of))
    bindings = tuple(replace(one, resource_snapshot=snapshots[there].name) for one in of[0].bindings)
    return replace(of[0], resource_snapshots=snapshots, bindings=bindings)


def misread(record: PlacementRecord | None, found: MisreadObjects = MISREAD) -> Successors:
    """The placement shop has an error in its file."""
    records = {WEB: ONE} if record is None else {WEB: ONE, SHOP: record}
    return Successors(records, misread={SHOP: found})


@pytest.mark.parametrize(
    ("found", "error"),
    [
        (misread(having(B)), CORRECT_IT),
        (misread(None), CORRECT_IT),
        (misread(having(B), replace(MISREAD, path="")), "its file has an error: correct it"),
        # What its newest content has it selects, whatever the file says now; one that goes selects nothing.
        (misread(TOOK), ""),
        (misread(GONE), CORRECT_IT),
        (misread(having(A, B)), CORRECT_IT),
        (misread(having(B, A)), ""),
        (misread(having(B), replace(MISREAD, objects=frozenset())), ""),
    ],
)
def test_what_a_placement_may_select_by_a_file_with_an_error_waits_for_its_correction(
    found: Successors, error: str
) -> None:
    assert (found.error_of(SHOP), found.error_of(SHOP, MINE), found.asks_for(SHOP)) == (error, error, error)
    assert (found.error_of(SHOP, THEIRS), found.error_of(WEB), found.error_of(WEB, MINE)) == ("", "", "")
    may_select = f", as ClusterResourcePlacement shop may select it, but {error}"
    until_it_is_there = " until ClusterResourcePlacement shop, which selects it, has it "
    if error:
        assert found.stays_for(SHOP, "c1", MINE) == may_select
    else:
        assert found.stays_for(SHOP, "c1", MINE) == until_it_is_there + "here"
        assert found.stays_for(SHOP, "c9", MINE) == until_it_is_there + "where it is picked"


def test_what_a_placement_may_select_again_by_a_file_with_an_error_it_does_not_give_up() -> None:
    found = misread(having(B, A, there=0), MisreadObjects("f", frozenset({THEIRS})))
    assert found.given_up(Failures()) == {}
    assert (found.awaited(SHOP, "c1", THEIRS), found.awaited_there(SHOP, "c1", THEIRS)) == (SHOP, SHOP)
    assert misread(having(A, B)).awaited(SHOP, "c1", MINE) == SHOP
    assert misread(having(A)).awaited(SHOP, "c1", MINE) is None


def test_of_placements_of_one_name_each_has_its_own_error_and_its_own_content() -> None:
    records = {NORTH: having(A, key=NORTH), SOUTH: having(B, key=SOUTH)}
    both = dict.fromkeys(records, MISREAD)
    for order in ((NORTH, SOUTH), (SOUTH, NORTH)):
        found = Successors(records, misread=both)
        assert {key: found.error_of(key) for key in order} == {NORTH: "", SOUTH: CORRECT_IT}


@pytest.mark.parametrize(
    ("record", "again"),
    [
        (having(A, B, A, there=1), True),
        (having(A, B, B, A, there=2), True),
        (having(A, B, A), False),
        # A rollback to what was before the object.
        (having(B, A, there=0), False),
        (having(B, B, A, there=1), False),
        (having(A, B, there=1), False),
    ],
)
def test_what_was_given_up_before_it_is_selected_again_is_still_its_own(record: PlacementRecord, again: bool) -> None:
    assert Successors({SHOP: record}).awaited(SHOP, "c1", MINE) == (SHOP if again else None)


def test_what_is_selected_again_beside_the_newest_content_is_its_own() -> None:
    found = Successors({SHOP: having(B), WEB: ONE}, unsaid={SHOP: [MINE]})
    assert found.awaited(SHOP, "c1", MINE) == SHOP
    assert Successors({SHOP: having(B)}, unsaid={SHOP: [THEIRS], WEB: [MINE]}).awaited(SHOP, "c1", MINE) is None


def test_of_placements_of_one_name_each_takes_its_own_back() -> None:
    """Of these, south alone: what north has waits for it."""
    spare = config_map("c")
    records = {NORTH: having(spare, B, A, key=NORTH, there=1), SOUTH: having(A, spare, A, key=SOUTH, there=1)}
    for order in ((NORTH, SOUTH), (SOUTH, NORTH)):
        found = Successors(records)
        assert {key: found.awaited(key, "c1", MINE) for key in order} == {NORTH: SOUTH, SOUTH: SOUTH}
    there = {NORTH: having(A, A, A, key=NORTH, there=1), SOUTH: having(A, B, A, key=SOUTH, there=1)}
    found = Successors(there)
    assert [found.awaited(key, "c1", MINE) for key in (NORTH, SOUTH)] == [SOUTH, SOUTH]


def test_of_several_holds_and_of_placements_of_one_name_everything_that_is_held_is_handed_over() -> None:
    held = hold("hold-web", (of_object(A), of_object(B)), "too much")
    found = Successors({WEB: placed(WEB, ("c1",), A, B)}, holds={held.name: held})
    assert found.held_on("c1") == {WEB: {MINE, THEIRS}}
    assert found.holding("c1") == ""
    records = {NORTH: having(A, key=NORTH), SOUTH: having(B, key=SOUTH)}
    removals = [of_binding("c1", key) for key in records]
    both = hold("hold-both", removals, "too much")
    assert Successors(records, holds={both.name: both}).held_on("c1") == {NORTH: {MINE}, SOUTH: {THEIRS}}


LACKS = shop(resource_snapshot=None)
ELSEWHERE = placed(SHOP, ("c2",), A)


@pytest.mark.parametrize(
    ("record", "taken"),
    [(TOOK, True), (LACKS, False), (ELSEWHERE, False), (placed(SHOP, ("c1",), B), False)],
)
def test_another_placement_takes_over_what_its_binding_of_that_cluster_names(
    record: PlacementRecord, taken: bool
) -> None:
    found = Successors({WEB: ONE, SHOP: record})
    assert found.is_taken(WEB, "c1", MINE) is taken
    assert found.is_taken(WEB, "c1", config_map("c").key.identity) is False
    assert found.is_taken(SHOP, "c1", MINE) is True, "web has it there"
    assert found.is_taken(SHOP, "c3", MINE) is False


@pytest.mark.parametrize(
    ("record", "awaited"),
    [
        # One takes it over there, so that it stays whatever the other one waits for.
        (TOOK, None),
        (ELSEWHERE, LATE),
        (LACKS, LATE),
    ],
)
def test_what_one_placement_takes_over_waits_for_no_other(
    record: PlacementRecord, awaited: PlacementKey | None
) -> None:
    late = shop(record=placed(LATE, ("c1",), A), resource_snapshot=None)
    assert Successors({LATE: late, SHOP: record, WEB: ONE}).awaited_there(WEB, "c1", MINE) == awaited
    assert Successors({SHOP: record, LATE: late, WEB: ONE}).awaited_there(WEB, "c1", MINE) == (
        SHOP if record is LACKS else awaited
    )


def taken_at(key: PlacementKey, *minutes: int, clusters: tuple[str, ...] = ("c1", "c2")) -> PlacementRecord:
    """A placement of which each cluster has another snapshot, in their order, taken so many minutes after the first."""
    record = placed(key, clusters, A)
    (first,) = record.resource_snapshots
    times = [first.created + timedelta(minutes=one) for one in minutes]
    snapshots = tuple(replace(first, index=index, created=time) for index, time in enumerate(times))
    each = zip(record.bindings, (one.name for one in snapshots), strict=True)
    bindings = tuple(replace(one, resource_snapshot=name, applied_snapshot=name) for one, name in each)
    return replace(record, resource_snapshots=snapshots, bindings=bindings)


def on_c1(**of_web: Any) -> PlacementRecord:
    """Web, whose second snapshot is ten minutes younger, with its first one on c1 but for what is given."""
    record = taken_at(WEB, 0, 10)
    return replace(record, bindings=(replace(record.bindings[0], **of_web), record.bindings[1]))


@pytest.mark.parametrize(
    ("web", "no_newer"),
    [
        (on_c1(), True),
        (on_c1(resource_snapshot="web-1-snapshot"), False),
        (on_c1(applied_snapshot="web-1-snapshot"), False),
        (on_c1(applied_snapshot=None), True),
        (on_c1(applied_snapshot="web-9-snapshot"), False),
        (on_c1(resource_snapshot=None, applied_snapshot=None), False),
        # What is on another cluster counts nothing.
        (taken_at(WEB, 10, 0), False),
        (taken_at(WEB, 5, 10), True),
        (taken_at(WEB, 0, clusters=("c2",)), False),
    ],
)
def test_a_work_of_older_content_names_those_that_have_no_newer_content_on_the_cluster(
    web: PlacementRecord, no_newer: bool
) -> None:
    """The work is five minutes younger than web's first snapshot; shop has a newer one."""
    records = {WEB: web, SHOP: taken_at(SHOP, 5, 10)}
    old, new, gone = (
        Work(placement=SHOP, cluster="c1", generation=1, snapshot=f"shop-{index}-snapshot", manifests=(A,))
        for index in (0, 1, 9)
    )
    owned = {A.key: builders.entry(A.key, "web"), B.key: builders.entry(B.key, "nobody")}
    found = Successors(records)
    assert found.outdated([old], owned) == {SHOP: {WEB} if no_newer else frozenset()}
    assert found.outdated([old], {}) == {SHOP: frozenset()}
    assert found.outdated([gone], owned) == {SHOP: frozenset()}, "when it was taken is not known any more"
    assert found.outdated([new], owned) == {}
    pinned = replace(records[SHOP], conditions=(builders.condition("ClusterResourcePlacementPinned"),))
    assert Successors({WEB: web, SHOP: pinned}).outdated([old], owned) == {}
    assert Successors({WEB: web}).outdated([old], owned) == {}


class CountedBindings(tuple[Binding, ...]):
    """Bindings that note how often they are gone through."""

    reads: ClassVar[int] = 0

    def __iter__(self) -> Iterator[Binding]:
        CountedBindings.reads += 1
        return super().__iter__()


def test_bindings_are_read_once_for_all_clusters() -> None:
    clusters = tuple(f"c{number}" for number in range(50))
    web = taken_at(WEB, *range(50), clusters=clusters)
    records = {WEB: replace(web, bindings=CountedBindings(web.bindings)), SHOP: taken_at(SHOP, 100, 101)}
    owned, found = {A.key: builders.entry(A.key, "web")}, Successors(records)
    for name in clusters:
        work = Work(placement=SHOP, cluster=name, generation=1, snapshot="shop-0-snapshot", manifests=(A,))
        assert found.outdated([work], owned) == {SHOP: {WEB}}
    assert CountedBindings.reads == 1


def binding_on_c1(record: PlacementRecord, started: Status | None, message: str, **of: Any) -> PlacementRecord:
    """The record, whose binding there says this of its rollout."""
    first, *others = record.bindings
    said = [] if started is None else [builders.condition("RolloutStarted", started, message=message)]
    return replace(record, bindings=(replace(first, conditions=tuple(said), **of), *others))


def waiting(started: Status | None = Status.FALSE, message: str = BUDGET_EXHAUSTED, **of: Any) -> PlacementRecord:
    """Web on c1, where its second snapshot does not come yet."""
    return binding_on_c1(taken_at(WEB, 0, 3), started, message, **of)


def external(record: PlacementRecord) -> PlacementRecord:
    strategy = replace(record.placement.strategy, type=RolloutStrategyType.EXTERNAL)
    return replace(record, placement=replace(record.placement, strategy=strategy))


def pinned(record: PlacementRecord) -> PlacementRecord:
    return replace(record, conditions=(builders.condition("ClusterResourcePlacementPinned"),))


UPDATED = taken_at(SHOP, 10, 5)
"""Shop, whose one snapshot is on c1 and the next one on no cluster but c2."""


@pytest.mark.parametrize(
    ("web", "shop", "yields"),
    [
        (waiting(), UPDATED, True),
        (waiting(Status.TRUE), UPDATED, False),
        (waiting(None), UPDATED, False),
        (waiting(message="frozen by sale until May"), UPDATED, False),
        (waiting(generation=2), UPDATED, False),
        (waiting(deleting=builders.T0), UPDATED, False),
        (waiting(applied_snapshot="web-9-snapshot"), UPDATED, False),
        (external(waiting()), UPDATED, False),
        (waiting(), external(UPDATED), False),
        (waiting(), pinned(UPDATED), False),
        (waiting(), binding_on_c1(UPDATED, None, "", applied_snapshot=None), False),
        (waiting(), taken_at(SHOP, -1, -2), False),
    ],
)
def test_what_waits_for_its_budget_yields_to_what_is_at_its_newest_content(
    web: PlacementRecord, shop: PlacementRecord, yields: bool
) -> None:
    newest = replace(shop, resource_snapshots=shop.resource_snapshots[:1])
    works = [
        Work(placement=key, cluster="c1", generation=1, snapshot=f"{key.name}-0-snapshot", manifests=(A,))
        for key in (SHOP, WEB)
    ]
    owned, found = {A.key: builders.entry(A.key, "web")}, Successors({WEB: web, SHOP: newest})
    assert found.yielding(works, owned, {WEB}) == ({SHOP: {WEB}} if yields else {})
    assert found.yielding(iter(works), owned, {SHOP}) == found.yielding(works, {}, {WEB}) == {}
    assert found.yielding([replace(works[0], snapshot="shop-9-snapshot"), works[1]], owned, {WEB}) == {}
    assert Successors({WEB: web}).yielding(works, owned, {WEB}) == {}
