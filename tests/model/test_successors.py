"""Which placement an object is kept for that another one gives up, cluster by cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.bindings import KEPT_FOR_SUCCESSOR, Binding, BindingState, FailedObject
from gitfleet.api.holds import HoldRule, Removal, RemovalKind
from gitfleet.api.objects import Manifest
from gitfleet.api.overrides import OverrideKey
from gitfleet.api.placements import PlacementKey, PlacementPolicy, PlacementType
from gitfleet.api.strategies import ApplyStrategy, ApplyStrategyType
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.renames import under_name
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.model.successors import Successors
from gitfleet.model.works import Work
from tests.removals.fleets import SHOP, WEB, config_map, envelope, fleet, hold, of_binding, of_object, placed
from tests.rollout.builders import NOW
from tests.state import builders

A, B = config_map("a"), config_map("b")
MINE = A.key.identity
ONE = placed(WEB, ("c1", "c2"), A)
TOOK = placed(SHOP, ("c1", "c2"), A)
LATE = PlacementKey("", "late")
DELETED = {MINE: OverrideKey("", "o")}


def shop(*conditions: Any, at: int = 0, record: PlacementRecord = TOOK, **changes: Any) -> PlacementRecord:
    """The placement shop with something else in one of its bindings."""
    if conditions:
        changes["conditions"] = conditions
    bindings = tuple(replace(b, **changes) if n == at else b for n, b in enumerate(record.bindings))
    return replace(record, bindings=bindings)


def newer(record: PlacementRecord = TOOK) -> PlacementRecord:
    """It has another snapshot by now, which no cluster has, with a; the one before had b alone."""
    (first,) = record.resource_snapshots
    (old,) = placed(SHOP, (), B).resource_snapshots
    return replace(record, resource_snapshots=(old, replace(first, index=1)))


def scheduled(status: str, reason: str, *clusters: str) -> PlacementRecord:
    """As scheduling came out, on these clusters."""
    said = builders.condition("ClusterResourcePlacementScheduled", status, reason)
    return replace(placed(SHOP, clusters, A), conditions=(said,))


def naming(record: PlacementRecord, *names: str) -> PlacementRecord:
    """It names its clusters, one of which there is not, or these."""
    policy = PlacementPolicy(placement_type=PlacementType.PICK_FIXED, cluster_names=names or ("c2", "gone"))
    return replace(record, placement=replace(record.placement, policy=policy))


def rendered(type_: str, status: str, generation: int = 1) -> tuple[Any, ...]:
    """Both steps of rendering, one of them as given."""
    every = [builders.condition(name) for name in ("Overridden", "WorkSynchronized") if name != type_]
    return (*every, builders.condition(type_, status, generation=generation))


COMPARES = ApplyStrategy(type=ApplyStrategyType.REPORT_DIFF)
GONE = replace(TOOK, placement=replace(TOOK.placement, deleting=NOW))
EMPTY = placed(SHOP, ("c1", "c2"))


@pytest.mark.parametrize(
    ("record", "awaited"),
    [
        (TOOK, False),
        (placed(SHOP, ("c1",), B), False),
        (GONE, False),
        (placed(SHOP, ("c1", "c2"), envelope(A)), False),
        (shop(resource_snapshot="shop-9-snapshot"), True),
        (shop(resource_snapshot=None), True),
        (newer(), True),
        (shop(record=newer(), resource_snapshot="shop-1-snapshot"), False),
        (shop(*rendered("Overridden", "True")), False),
        (shop(*rendered("Overridden", "False")), True),
        (shop(*rendered("WorkSynchronized", "Unknown")), True),
        (shop(*rendered("WorkSynchronized", "True", generation=0)), True),
        (shop(builders.condition("Overridden")), True),
        # It does not want this cluster, and has what it wants on others.
        (placed(SHOP, ("c2",), A), False),
        (shop(state=BindingState.UNSCHEDULED), False),
        (shop(deleting=NOW), False),
        # Nobody could schedule it, or it has no cluster at all.
        (placed(SHOP, (), A), True),
        (scheduled("True", "SchedulingPolicyFulfilled", "c2"), False),
        (scheduled("False", "SchedulingPolicyUnfulfilled", "c2"), False),
        (scheduled("False", "InvalidResourceSelectors", "c2"), True),
        (scheduled("Unknown", "SchedulingPolicyFulfilled", "c2"), False),
        (replace(placed(SHOP, ("c2",), A), conditions=()), True),
        (naming(scheduled("False", "SchedulingPolicyUnfulfilled", "c2")), True),
        (naming(scheduled("False", "SchedulingPolicyUnfulfilled", "c2"), "c2"), False),
        (naming(scheduled("True", "SchedulingPolicyFulfilled", "c2")), False),
        # It only compares: it never has it.
        (shop(apply_strategy=COMPARES), True),
        # It has not got the object on the cluster that it does want.
        (shop(record=placed(SHOP, ("c2",), A), applied_snapshot=None), True),
        (shop(record=placed(SHOP, ("c2",), A), applied_snapshot="shop-9-snapshot"), True),
        (shop(record=placed(SHOP, ("c2",), A), resource_snapshot=None), False),
        (shop(record=placed(SHOP, ("c2",), A), apply_strategy=COMPARES), True),
        (shop(record=placed(SHOP, ("c2", "c3"), A), at=1, applied_snapshot=None), True),
    ],
)
def test_an_object_is_kept_for_who_selects_it_and_has_not_got_it(record: PlacementRecord, awaited: bool) -> None:
    found = Successors({WEB: ONE, SHOP: record}, {"c1": builders.cluster("c1")})
    for _ in range(2):  # what was asked once is remembered
        assert found.awaited(WEB, "c1", MINE) == (SHOP if awaited else None)
    assert found.awaited(SHOP, "c1", MINE) is None, "its owner has it"
    assert found.awaited(WEB, "c1", ("", "ConfigMap", "web", "other")) is None


SILENT = ("lost", "mute")


@pytest.mark.parametrize(
    ("clusters", "lacks", "left_out", "awaited"),
    [
        # One that answers has it, and so has each of the others that is not left out.
        (("c2", "lost"), (), (), False),
        (("c2", "lost"), (1,), (), True),
        (("c2", "lost"), (1,), SILENT, False),
        (("c2", "c3", "lost", "mute"), (2, 3), SILENT, False),
        # None of those that answer has it.
        (("lost", "c2"), (1,), SILENT, True),
        (("lost",), (), SILENT, True),
        (("lost", "mute"), (), (), True),
        # More than half are silent, whatever they have.
        (("c2", "lost", "mute"), (), SILENT, True),
    ],
)
def test_an_object_goes_once_the_other_placement_has_it_elsewhere(
    clusters: tuple[str, ...], lacks: tuple[int, ...], left_out: tuple[str, ...], awaited: bool
) -> None:
    record = placed(SHOP, clusters, A)
    bindings = tuple(replace(b, applied_snapshot=None) if n in lacks else b for n, b in enumerate(record.bindings))
    known = {n: builders.cluster(n, healthy="Unknown" if n in SILENT else "True") for n in clusters}
    found = Successors({WEB: ONE, SHOP: replace(record, bindings=bindings)}, known, left_out=left_out)
    assert found.awaited(WEB, "c1", MINE) == (SHOP if awaited else None)


def test_a_cluster_whose_removal_is_held_keeps_what_the_other_placement_has_elsewhere() -> None:
    state = fleet(ONE, placed(SHOP, ("c2",), A))
    removals = (Removal(kind=RemovalKind.CLUSTER, cluster="c1"),)
    held = hold("hold-c1", removals)
    approved = replace(held, conditions=(builders.condition("Approved"),))
    for one, stays in ((held, SHOP), (approved, None)):
        found = Successors.of(replace(state, holds={one.name: one}))
        assert found.awaited(WEB, "c1", MINE) == stays
    found = Successors.of(replace(state, holds={held.name: held}))
    assert found.stays_for(SHOP, "c1", MINE).endswith("while hold-c1 holds the removal of c1")


THEIRS = B.key.identity
WITH_B = placed(WEB, ("c1", "c2"), A, B)


@pytest.mark.parametrize(
    ("removal", "on_c1", "on_c2"),
    [
        (of_object(A), {WEB: {MINE}}, {WEB: {MINE}}),
        (Removal(kind=RemovalKind.PLACEMENT, placement=WEB), {WEB: {MINE, THEIRS}}, {WEB: {MINE, THEIRS}}),
        (of_binding("c1"), {WEB: {MINE, THEIRS}}, {}),
        (Removal(kind=RemovalKind.PLACEMENT, placement=LATE), {}, {}),
        (Removal(kind=RemovalKind.STRATEGY, placement=WEB), {}, {}),
        (Removal(kind=RemovalKind.OVERRIDDEN, placement=WEB, cluster="c1", object=A.key), {}, {}),
        (Removal(kind=RemovalKind.CLUSTER, cluster="c1"), {}, {}),
    ],
)
def test_what_is_held_may_be_handed_over_unless_that_is_what_the_hold_is_about(
    removal: Removal, on_c1: dict[PlacementKey, Any], on_c2: dict[PlacementKey, Any]
) -> None:
    held = hold("hold-web", (removal,), "too much")
    found = Successors({WEB: WITH_B}, holds={held.name: held})
    assert (dict(found.held_on("c1")), found.hold_of(WEB)) == (on_c1, "")
    assert found.held_on("c2") == on_c2
    (reason,) = held.reasons
    external = replace(held, reasons=(replace(reason, rule=HoldRule.NOT_EXTERNAL),))
    found = Successors({WEB: WITH_B}, holds={held.name: external})
    assert (found.held_on("c1"), found.hold_of(WEB)) == ({}, "hold-web" if removal.placement == WEB else "")


def test_of_a_pinned_placement_nothing_is_handed_over_for_a_hold() -> None:
    held = hold("hold-web", (of_object(A),), "too much")
    pinned = replace(WITH_B, conditions=(builders.condition("ClusterResourcePlacementPinned"),))
    assert Successors({WEB: pinned}, holds={held.name: held}).held_on("c1") == {}


def work(**changes: Any) -> Mapping[PlacementKey, Work]:
    """What the cluster is to have of shop."""
    fields: dict[str, Any] = {"placement": SHOP, "cluster": "c1", "generation": 1, "snapshot": "s", "manifests": (A,)}
    return {SHOP: Work(**{**fields, **changes})}


HELD = shop(builders.condition("RolloutStarted", "False"))


@pytest.mark.parametrize(
    ("record", "works", "awaited"),
    [
        (TOOK, work(), False),
        (TOOK, {}, True),
        (TOOK, work(error="broken"), True),
        (shop(*rendered("Overridden", "False")), work(), False),
        (newer(), work(), True),
        # An override takes it from the cluster: that is how it is meant, once the newest content is there.
        (TOOK, work(deleted=DELETED), False),
        (newer(), work(deleted=DELETED), True),
        (shop(record=newer(), resource_snapshot="shop-1-snapshot"), work(deleted=DELETED), False),
        (HELD, work(deleted=DELETED), True),
        (shop(builders.condition("RolloutStarted", "False", generation=0)), work(deleted=DELETED), False),
        (TOOK, work(deleted=DELETED, error="broken"), True),
        (shop(apply_strategy=COMPARES), work(), True),
        (replace(EMPTY, resource_snapshots=()), work(deleted=DELETED), True),
    ],
)
def test_where_works_are_given_they_say_what_a_cluster_is_to_have(
    record: PlacementRecord, works: Mapping[PlacementKey, Work], awaited: bool
) -> None:
    found = Successors({WEB: ONE, SHOP: record}, unsaid={SHOP: frozenset({MINE})})
    assert found.awaited(WEB, "c1", MINE, works) == (SHOP if awaited else None)


def test_the_first_of_several_that_lacks_it_is_named() -> None:
    lacks = shop(resource_snapshot=None)
    other = replace(under_name(lacks, LATE), placement=replace(lacks.placement, key=LATE))
    every = {LATE: TOOK, SHOP: lacks, PlacementKey("", "z"): other}
    assert Successors(every).awaited(WEB, "c1", MINE) == SHOP
    assert list(Successors(every).selecting(MINE, SHOP)) == [LATE, PlacementKey("", "z")]
    assert list(Successors(every).selecting(MINE, None)) == list(every)


def test_what_is_selected_beside_the_newest_snapshot_counts() -> None:
    state = replace(fleet(ONE, EMPTY), unsaid={SHOP: frozenset({MINE})})
    found = Successors.of(state)
    assert list(found.selecting(MINE, WEB)) == [SHOP]
    assert found.awaited(WEB, "c1", MINE) == SHOP
    assert Successors.of(replace(state, unsaid={})).awaited(WEB, "c1", MINE) is None
    assert found.clusters is state.clusters and Successors.of(FleetState()).awaited(WEB, "c1", MINE) is None
    binding = found.binding(SHOP, "c2")
    assert binding is not None and binding.cluster == "c2" and found.binding(SHOP, "c3") is None


def keeping(at: int = 0, record: PlacementRecord = TOOK, reason: str = KEPT_FOR_SUCCESSOR) -> PlacementRecord:
    """The placement gives b up on a cluster, where it stays until another one has it."""
    return shop(at=at, record=record, failed=(FailedObject(key=B.key, condition="Deleted", reason=reason, message=""),))


@pytest.mark.parametrize(
    ("record", "again"),
    [
        (keeping(), False),  # the snapshot that is to be there has it
        (keeping(record=newer()), True),
        (TOOK, False),
        (keeping(reason="Held"), False),
        (keeping(at=1), False),
        (keeping(record=placed(SHOP, ("c1", "c2"), B)), False),
        (keeping(record=GONE), False),
        (replace(keeping(), resource_snapshots=()), False),
        (replace(keeping(), bindings=()), False),
        (shop(record=keeping(), deleting=NOW), False),
    ],
)
def test_what_a_placement_selects_again_is_its_own_where_it_kept_something(
    record: PlacementRecord, again: bool
) -> None:
    found = Successors({SHOP: record})
    assert found.awaited(SHOP, "c1", MINE) == (SHOP if again else None)
    assert found.awaited(SHOP, "c3", MINE) is None and found.awaited(SHOP, "c1", ("", "ConfigMap", "web", "x")) is None
    assert Successors({}).awaited(SHOP, "c1", MINE) is None


def test_who_waits_elsewhere_is_awaited_but_not_there() -> None:
    elsewhere = shop(record=placed(SHOP, ("c2",), A, B), applied_snapshot=None)
    for record, there in ((elsewhere, False), (shop(resource_snapshot=None), True), (TOOK, False)):
        found = Successors({WEB: ONE, SHOP: record})
        assert found.awaited_there(WEB, "c1", MINE) == (SHOP if there else None)
        assert found.awaited_there(SHOP, "c1", MINE) is None
        assert found.awaited(WEB, "c1", MINE) == (None if record is TOOK else SHOP)
    lacks = Successors({WEB: shop(record=ONE, resource_snapshot=None), SHOP: TOOK})
    assert lacks.awaited_there(SHOP, "c1", MINE) == WEB and lacks.awaited_there(WEB, "c1", MINE) is None


REPORTS = tuple(replace(binding, apply_strategy=COMPARES) for binding in TOOK.bindings)
NO_CLUSTER = "its policy does not pick the clusters that it names: correct it (`gitfleet explain shop`)"
NO_APPLY = "it only reports differences: change its applyStrategy, or what it selects"


@pytest.mark.parametrize(
    ("record", "asks"),
    [
        (TOOK, ""),
        (replace(TOOK, bindings=()), NO_CLUSTER),
        (replace(TOOK, bindings=(), conditions=()), ""),
        (replace(TOOK, conditions=()), ""),
        (scheduled("False", "InvalidResourceSelectors", "c2"), NO_CLUSTER),
        (scheduled("False", "SchedulingPolicyUnfulfilled", "c2"), ""),
        (replace(TOOK, bindings=REPORTS), NO_APPLY),
        (replace(TOOK, bindings=(REPORTS[0], replace(TOOK.bindings[1], deleting=NOW))), NO_APPLY),
        (replace(TOOK, bindings=(REPORTS[0], TOOK.bindings[1])), ""),
    ],
)
def test_what_a_person_is_to_do_before_a_placement_takes_anything_over(record: PlacementRecord, asks: str) -> None:
    assert Successors({WEB: ONE, SHOP: record}).asks_for(SHOP) == asks


PINNED = builders.condition("ClusterResourcePlacementPinned")
OTHER = B.key.identity


@pytest.mark.parametrize(
    ("record", "gone"),
    [
        (TOOK, False),
        (newer(), True),
        (shop(record=newer(), resource_snapshot="shop-1-snapshot"), True),
        (shop(record=newer(), resource_snapshot="shop-9-snapshot"), True),
        (replace(newer(), bindings=()), False),
        (replace(newer(), bindings=tuple(replace(b, resource_snapshot=None) for b in TOOK.bindings)), False),
        (replace(newer(), resource_snapshots=()), False),
        (replace(newer(), conditions=(PINNED,)), False),
        (replace(newer(), placement=GONE.placement), False),
    ],
)
def test_what_clusters_have_by_an_older_snapshot_alone_is_given_up(record: PlacementRecord, gone: bool) -> None:
    failures = Failures()
    assert Successors({WEB: ONE, SHOP: record}).given_up(failures) == ({SHOP: {OTHER}} if gone else {})
    assert Successors({SHOP: record}, unsaid={SHOP: [OTHER]}).given_up(failures) == {}
    assert failures.found == ()


def test_one_that_cannot_be_read_gives_up_nothing_and_says_so() -> None:
    broken: Any = None
    failures = Failures()
    found = Successors({WEB: replace(ONE, bindings=broken), SHOP: newer()}).given_up(failures)
    assert found == {SHOP: {OTHER}}
    assert [one.subject for one in failures.found] == [Subject.of_placement(WEB)]


def test_placements_of_one_name_in_two_namespaces_are_told_apart() -> None:
    """Their snapshots have the same names; only south has a already."""
    north, south = PlacementKey("north", "web"), PlacementKey("south", "web")

    def having(key: PlacementKey, old: Manifest, new: Manifest) -> PlacementRecord:
        (first,), (second,) = (placed(key, (), one).resource_snapshots for one in (old, new))
        return replace(placed(key, ("c1",), old), resource_snapshots=(first, replace(second, index=1)))

    spare, more = config_map("c"), config_map("d")
    found = Successors({south: having(south, A, A), north: having(north, B, A)})
    assert (found.awaited(WEB, "c1", MINE), found.awaited(WEB, "c2", MINE)) == (north, north)
    apart = Successors({south: having(south, B, A), north: having(north, spare, more)})
    assert apart.given_up(Failures()) == {south: {OTHER}, north: {spare.key.identity}}
    stays = Successors({south: having(south, B, A), north: having(north, more, more)})
    assert stays.given_up(Failures()) == {south: {OTHER}}
    assert [list(apart.selecting(one.key.identity, None)) for one in (A, more)] == [[south], [north]]
    kept = {key: keeping(record=having(key, B, one)) for key, one in ((south, A), (north, more))}
    assert [Successors(kept).awaited(key, "c1", MINE) for key in (south, north)] == [south, south]
    both = Successors(kept)
    assert [both.awaited(south, "c1", one) for one in (MINE, more.key.identity)] == [south, north]
    assert both.awaited(north, "c1", more.key.identity) == north


def test_what_an_envelope_carries_is_selected() -> None:
    carries = placed(SHOP, ("c1",), envelope(A))
    unloaded = replace(carries.resource_snapshots[0], manifests=None)
    assert list(Successors({SHOP: carries}).selecting(MINE, None)) == [SHOP]
    assert list(Successors({SHOP: replace(carries, resource_snapshots=(unloaded,))}).selecting(MINE, None)) == []


@pytest.mark.parametrize(
    ("has", "becomes"),
    [
        (("web-0", "web-0-snapshot", "web-0-snapshot"), ("new-0", "new-0-snapshot", "new-0-snapshot")),
        (("web-7", "web-7-snapshot", None), ("new-7", "new-7-snapshot", None)),
        (("web-0", None, "web-3-snapshot"), ("new-0", None, "new-3-snapshot")),
        (("web-web-1", "other", "web-web-snapshot"), ("new-web-1", "other", "new-web-snapshot")),
    ],
)
def test_a_binding_names_the_snapshots_of_the_new_name(
    has: tuple[str, str | None, str | None], becomes: tuple[str, str | None, str | None]
) -> None:
    """Those that are not kept any more, too."""
    new = PlacementKey("", "new")

    def named(binding: Binding, names: tuple[str, str | None, str | None]) -> Binding:
        policy, wanted, applied = names
        return replace(binding, policy_snapshot=policy, resource_snapshot=wanted, applied_snapshot=applied)

    record = replace(ONE, bindings=(named(ONE.bindings[0], has),), schedule_key="k")
    assert under_name(record, new) == replace(
        record,
        placement=replace(record.placement, key=new),
        resource_snapshots=tuple(replace(s, placement=new) for s in record.resource_snapshots),
        policy_snapshots=tuple(replace(s, placement=new) for s in record.policy_snapshots),
        bindings=(replace(named(record.bindings[0], becomes), placement=new),),
        schedule_key="",
    )
