"""What overrides of type Delete newly take from clusters, and what bindings keep while such a removal is held."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from gitfleet.api.bindings import Binding, BindingState
from gitfleet.api.cluster_selectors import ClusterSelectorTerm
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.holds import Removal, RemovalKind
from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.labels import LabelRequirement, LabelSelector
from gitfleet.api.objects import Manifest
from gitfleet.api.overrides import JsonPatch, OverridePlacement
from gitfleet.api.placements import Placement, PlacementKey
from gitfleet.api.snapshots import OverrideSnapshot
from gitfleet.api.strategies import RolloutStrategy, RolloutStrategyType
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.works import newly_deleted, state_when_done, target_overrides
from tests.works.builders import (
    EAST,
    NAMESPACE,
    ROLE,
    SETTINGS,
    WEB,
    WEST,
    binding_of,
    manifest,
    obj,
    override,
    rule,
    snapshot,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
API = PlacementKey("", "api")
QUOTA = obj("v1", "ResourceQuota", "quota", "web")
ENVELOPE = manifest(
    {
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
        "kind": "ResourceEnvelope",
        "metadata": {"name": "wrapper", "namespace": "web"},
        "data": {"quota.yaml": QUOTA.body},
    }
)
EXTERNAL = RolloutStrategy(type=RolloutStrategyType.EXTERNAL)
CLUSTERS = {"east": EAST, "west": WEST}
MOVED = replace(WEST, labels={"region": "eu"})
IN_EU = override("few", SETTINGS, rule(region="eu", delete=True), ns="web")
EVERYWHERE = replace(override("few", SETTINGS, rule(delete=True), ns="web"), index=1)
PATCH = override("few", SETTINGS, rule(JsonPatch("add", "/data/x", "y")), ns="web")
ODD_TERM = ClusterSelectorTerm(label_selector=LabelSelector(match_expressions=(LabelRequirement("a", "Near"),)))
UNUSABLE = override("cro", ROLE, replace(rule(delete=True), cluster_terms=(ODD_TERM,)))


def record_of(*manifests: Manifest, bindings: Sequence[Binding] = (), **spec: Any) -> PlacementRecord:
    """The placement with a snapshot, bound to both clusters."""
    return PlacementRecord(
        placement=Placement(key=WEB, selectors=(), **spec),
        bindings=tuple(bindings or map(binding_of, CLUSTERS.values())),
        resource_snapshots=(snapshot(*manifests),) if manifests else (),
    )


WHOLE = record_of(NAMESPACE, SETTINGS, ROLE)


def bound(*bindings: Binding) -> PlacementRecord:
    """The placement with these bindings."""
    return replace(WHOLE, bindings=bindings)


def fleet(record: PlacementRecord, *overrides: OverrideSnapshot, placed: Sequence[Manifest] = ()) -> FleetState:
    """Both clusters own the snapshot's objects (or those that are given)."""
    latest = record.latest_resources
    found = placed or (latest.manifests or () if latest is not None else ())
    owned = {m.key: InventoryEntry(key=m.key, placement=WEB, uid="u") for m in found}
    known: dict[Any, tuple[OverrideSnapshot, ...]] = {}
    for one in overrides:
        known[one.override.key] = (*known.get(one.override.key, ()), one)
    return FleetState(
        placements={WEB: record}, clusters=CLUSTERS, overrides=known, inventory={"east": owned, "west": owned}
    )


def taken(before: FleetState, *current: OverrideSnapshot, **clusters: MemberCluster) -> list[tuple[str, str, str]]:
    """The cluster, object and override of each removal."""
    failures = Failures()
    found = newly_deleted(before, {**CLUSTERS, **clusters}, current, failures)
    assert not failures.found
    assert all(one.kind is RemovalKind.OVERRIDDEN and one.placement == WEB for one in found)
    return [(one.cluster, one.object.name if one.object else "", one.override) for one in found]


EAST_GOES, WEST_GOES = (("east", "settings", "web/few"), ("west", "settings", "web/few"))


@pytest.mark.parametrize(
    ("known", "current", "moved", "expected"),
    [
        ([], [IN_EU], WEST, [EAST_GOES]),
        ([], [EVERYWHERE], WEST, [EAST_GOES, WEST_GOES]),
        ([], [], WEST, []),
        ([], [PATCH], WEST, []),
        ([IN_EU], [IN_EU], WEST, []),
        ([IN_EU], [EVERYWHERE], WEST, [WEST_GOES]),
        ([PATCH, IN_EU], [IN_EU], WEST, []),
        ([PATCH], [replace(IN_EU, index=1)], WEST, [EAST_GOES]),
        ([IN_EU], [IN_EU], MOVED, [WEST_GOES]),
        ([EVERYWHERE], [EVERYWHERE], MOVED, []),
        ([PATCH], [PATCH], MOVED, []),
        ([], [UNUSABLE, IN_EU], WEST, [EAST_GOES]),
        ([], [IN_EU, override("zz", SETTINGS, rule(delete=True), ns="web")], WEST,
         [EAST_GOES, ("west", "settings", "web/zz")]),
        ([], [override("all", NAMESPACE, rule(region="us", delete=True))], WEST,
         [("west", "web", "all"), ("west", "settings", "all")]),
        ([], [override("r", ROLE, rule(region="us"), rule(region="eu", delete=True))], WEST, [("east", "reader", "r")]),
        ([], [override("o", QUOTA, rule(delete=True), ns="web"), IN_EU], WEST, [EAST_GOES]),
        ([], [override("o", SETTINGS, rule(delete=True), ns="web", placement=OverridePlacement("api", "Cluster"))],
         WEST, []),
    ],
)  # fmt: skip
def test_what_overrides_newly_take(
    known: list[OverrideSnapshot],
    current: list[OverrideSnapshot],
    moved: MemberCluster,
    expected: list[tuple[str, str, str]],
) -> None:
    assert taken(fleet(WHOLE, *known), *current, west=moved) == expected


def test_with_an_envelope_goes_what_it_carries() -> None:
    before = fleet(record_of(NAMESPACE, ENVELOPE), placed=(NAMESPACE, QUOTA))
    for selected in (ENVELOPE, QUOTA):
        change = override("few", selected, rule(region="eu", delete=True), ns="web")
        assert taken(before, change) == [("east", "quota", "web/few")], selected.key
    all_of_it = override("all", NAMESPACE, rule(region="eu", delete=True))
    assert taken(before, all_of_it) == [("east", "web", "all"), ("east", "quota", "all")]


def test_the_removal_names_the_object_as_it_is_written() -> None:
    assert newly_deleted(fleet(WHOLE), CLUSTERS, (IN_EU,), Failures()) == (
        Removal(
            kind=RemovalKind.OVERRIDDEN, placement=WEB, cluster="east", object=SETTINGS.key, override="web/few"
        ),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (record_of(), []),
        (record_of(NAMESPACE, SETTINGS, deleting=NOW), []),
        (record_of(NAMESPACE, SETTINGS, strategy=EXTERNAL), []),
        (bound(replace(binding_of(EAST), state=BindingState.UNSCHEDULED), binding_of(WEST)), [WEST_GOES]),
        (bound(replace(binding_of(EAST), deleting=NOW), binding_of(WEST)), [WEST_GOES]),
        (bound(binding_of(MemberCluster(name="gone")), binding_of(WEST)), [WEST_GOES]),
    ],
    ids=["nothing taken yet", "deleted", "rolled out by others", "unscheduled", "given up", "no such cluster"],
)
def test_only_what_is_rolled_out_is_removed_by_an_override(
    record: PlacementRecord, expected: list[tuple[str, str, str]]
) -> None:
    assert taken(fleet(record), EVERYWHERE) == expected


def test_a_cluster_that_joins_in_this_commit_loses_nothing() -> None:
    new = MemberCluster(name="new", labels={"region": "eu"})
    record = replace(WHOLE, bindings=(binding_of(new), binding_of(EAST)))
    assert taken(fleet(record), IN_EU, new=new) == [EAST_GOES]


@pytest.mark.parametrize("entry", [{"placement": API}, {"uid": None}], ids=["another placement's", "unconfirmed"])
def test_only_placed_objects_are_removed(entry: dict[str, Any]) -> None:
    before = fleet(WHOLE)
    owned = before.inventory["east"]
    east = {**owned, SETTINGS.key: replace(owned[SETTINGS.key], **entry)}
    assert taken(replace(before, inventory={"east": east, "west": owned}), EVERYWHERE) == [WEST_GOES]
    assert taken(replace(before, inventory={"west": owned}), EVERYWHERE) == [WEST_GOES]


def test_a_placement_that_cannot_be_read_is_noted_and_the_next_is_decided() -> None:
    odd: Any = (object(),)
    before, failures = fleet(WHOLE), Failures()
    broken = replace(before, placements={API: replace(WHOLE, bindings=odd), WEB: WHOLE})
    found = newly_deleted(broken, CLUSTERS, (IN_EU,), failures)
    assert [one.cluster for one in found] == ["east"]
    assert [failure.subject for failure in failures.found] == [Subject.of_placement(API)]


# -- what bindings are to have

AT_EAST = replace(
    binding_of(EAST),
    cluster_resource_overrides=("aa-3",),
    resource_overrides=("web/few-0", "web/other-0"),
    override_labels=(("region", "past"), ("zone", None)),
)
OTHER = replace(override("other", SETTINGS, rule(region="eu"), ns="web"), index=4)
AFTER = replace(IN_EU, index=1)
HELD = {"east": frozenset({SETTINGS.key.identity})}


def test_without_a_hold_every_cluster_gets_the_newest() -> None:
    target = target_overrides(bound(AT_EAST, binding_of(WEST)), (AFTER, OTHER), CLUSTERS, {})
    assert target.references == {"east": ((), ("web/few-1", "web/other-4"))}
    assert target.labels == {"east": (("region", "eu"),)}
    assert target.held == {}
    nothing = target_overrides(record_of(), (AFTER,), CLUSTERS, HELD)
    assert (nothing.references, nothing.labels, nothing.held) == ({}, {}, {})


def test_what_is_held_stays_as_it_is_bound_and_the_rest_goes_on() -> None:
    target = target_overrides(bound(binding_of(WEST), AT_EAST), iter((AFTER, OTHER)), CLUSTERS, HELD)
    assert target.references == {"east": ((), ("web/few-0", "web/other-4"))}
    assert target.labels == {"east": (("region", "past"), ("zone", None))}
    assert target.held == HELD
    for placement, held in (("web", HELD), ("api", {})):
        of_one = replace(AFTER, override=replace(AFTER.override, placement=OverridePlacement(placement, "Cluster")))
        target = target_overrides(bound(replace(AT_EAST, override_labels=())), (of_one, OTHER), CLUSTERS, HELD)
        assert (target.labels, target.held) == ({"east": (("region", "eu"),)}, held)


def test_an_override_that_is_new_does_not_go_to_a_cluster_where_it_is_held() -> None:
    target = target_overrides(bound(binding_of(EAST), binding_of(WEST)), (EVERYWHERE,), CLUSTERS, HELD)
    assert target.references == {"east": ((), ()), "west": ((), ("web/few-1",))}
    assert (target.labels, target.held) == ({"east": ()}, HELD)


@pytest.mark.parametrize(
    ("binding", "held", "clusters"),
    [
        (AT_EAST, {"west": HELD["east"]}, CLUSTERS),
        (AT_EAST, {"east": frozenset({ROLE.key.identity})}, CLUSTERS),
        (replace(AT_EAST, state=BindingState.UNSCHEDULED), HELD, CLUSTERS),
        (AT_EAST, HELD, {**CLUSTERS, "east": replace(EAST, labels={"region": "us"})}),
        (AT_EAST, HELD, {"west": WEST}),
    ],
    ids=["held elsewhere", "another object is held", "unscheduled", "not deleted there", "no such cluster"],
)
def test_where_nothing_is_held_the_newest_is_bound(binding: Binding, held: Any, clusters: Any) -> None:
    record = bound(binding, replace(binding_of(WEST), resource_overrides=("web/few-0",)))
    target = target_overrides(record, (AFTER, OTHER), clusters, held)
    expected = target_overrides(record, (AFTER, OTHER), clusters, {})
    assert (target.references, target.labels, target.held) == (expected.references, expected.labels, {})


def test_the_order_of_overrides_is_that_of_their_names() -> None:
    """Cluster-wide by name, namespaced by namespace and name, whatever their index."""
    roles = [override(name, ROLE, rule()) for name in ("a-b", "c")]
    gone = override("b", ROLE, rule(delete=True))
    east = replace(binding_of(EAST), cluster_resource_overrides=("b-7", "a-9"))
    held = {"east": frozenset({ROLE.key.identity})}
    target = target_overrides(bound(east), (*roles, replace(gone, index=8)), CLUSTERS, held)
    assert target.references["east"] == (("a-b-0", "b-7", "c-0"), ())

    objects = [obj("v1", "ConfigMap", "one", namespace) for namespace in ("we", "we-b")]
    last, first = (override(name, one, rule(), ns=one.key.namespace) for name, one in zip("za", objects, strict=True))
    deleting = replace(first, override=replace(first.override, rules=(rule(delete=True),)), index=1)
    record = replace(record_of(*objects), bindings=(replace(binding_of(EAST), resource_overrides=("we-b/a-0",)),))
    held = {"east": frozenset({objects[1].key.identity})}
    target = target_overrides(record, (deleting, last), CLUSTERS, held)
    assert target.references["east"] == ((), ("we/z-0", "we-b/a-0"))


def test_when_all_is_done_what_is_held_is_there_still() -> None:
    record = bound(AT_EAST, binding_of(WEST), replace(binding_of(WEST), state=BindingState.UNSCHEDULED))
    state, failures = fleet(record), Failures()
    done = state_when_done(state, (AFTER, OTHER), {WEB: HELD}, [WEB], failures)
    east, west = done.placements[WEB].bindings
    assert (east.resource_overrides, east.override_labels) == (
        ("web/few-0", "web/other-4"), (("region", "past"), ("zone", None))
    )  # fmt: skip
    assert (west.resource_overrides, west.override_labels) == ((), ())
    free = state_when_done(state, (AFTER, OTHER), {API: HELD}, [WEB], failures).placements[WEB].bindings[0]
    assert (free.resource_overrides, free.override_labels) == (("web/few-1", "web/other-4"), (("region", "eu"),))
    assert not failures.found


def test_a_deleted_placement_is_bound_nowhere_when_all_is_done() -> None:
    failures = Failures()
    odd: Any = (object(),)
    state = fleet(record_of(NAMESPACE, deleting=NOW))
    assert state_when_done(state, (), {}, [WEB], failures).placements[WEB].bindings == ()
    assert not failures.found
    broken = replace(WHOLE, bindings=odd)
    assert state_when_done(fleet(WHOLE), (), {}, [], failures).placements == {WEB: WHOLE}
    assert state_when_done(replace(state, placements={WEB: broken}), (), {}, [WEB], failures).placements[WEB] is broken
    assert [failure.subject for failure in failures.found] == [Subject.of_placement(WEB)]
