"""Bindings that were lost are to what their clusters have: which snapshot, with which overrides, by digests alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.bindings import Binding, BindingState
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import Manifest
from gitfleet.api.overrides import JsonPatch, OverridePlacement
from gitfleet.api.snapshots import OverrideSnapshot
from gitfleet.api.strategies import ApplyStrategy, RolloutStrategy, WhenToApply
from gitfleet.model.state import Inventory, PlacementRecord
from gitfleet.reconcile.rebinding import KnownOverrides, rebound
from gitfleet.works import render_work
from tests.removals.fleets import SHOP, config_map, placed
from tests.works.builders import EAST, NAMESPACE, SETTINGS, WEB, WEST, override, rule, snapshot


def changing(name: str, value: str, index: int = 0, selects: Manifest = NAMESPACE, **more: Any) -> OverrideSnapshot:
    """A snapshot of an override that adds something to an object."""
    patch = JsonPatch("add", f"/metadata/{more.pop('field', 'labels')}", {name: value})
    return replace(override(name, selects, rule(patch, **more.pop("rule", {})), **more), index=index)


OLD = snapshot(NAMESPACE, SETTINGS)
NEW = replace(snapshot(NAMESPACE, config_map("other", "web")), index=1)
FIRST, SECOND = changing("front", "a"), changing("front", "b", index=1)
SPACED = changing("ns", "c", selects=SETTINGS, ns="web")
EUROPE = changing("europe", "d", rule={"region": "eu"}, field="annotations")
EVERY = (FIRST, SECOND, SPACED, EUROPE)
KNOWN = KnownOverrides.of(
    {FIRST.override.key: (FIRST, SECOND), SPACED.override.key: (SPACED,), EUROPE.override.key: (EUROPE,)},
    [SECOND, SPACED, EUROPE],
)
APPLY = ApplyStrategy(when_to_apply=WhenToApply.IF_NOT_DRIFTED)
RECORD = replace(placed(WEB, ()), resource_snapshots=(OLD, NEW))
RECORD = replace(RECORD, placement=replace(RECORD.placement, strategy=RolloutStrategy(apply_strategy=APPLY)))
F, S, N, E = (one.reference for one in EVERY)


def to(index: int, *cluster_wide: str, namespaced: tuple[str, ...] = (), cluster: MemberCluster = EAST) -> Binding:
    """A binding to a snapshot with some overrides."""
    binding = Binding(
        placement=WEB, cluster=cluster.name, state=BindingState.BOUND, policy_snapshot="web-0",
        resource_snapshot=f"web-{index}-snapshot", apply_strategy=APPLY,
        cluster_resource_overrides=tuple(sorted(cluster_wide)), resource_overrides=namespaced,
    )  # fmt: skip
    labels = (("region", "eu"),) if E in cluster_wide else ()
    return replace(binding, override_labels=labels)


def applied(binding: Binding, cluster: MemberCluster = EAST, *, left_out: Iterable[Manifest] = ()) -> Inventory:
    """What stands on a cluster that has what a binding gives it, but for some objects."""
    found = (OLD, NEW)[int((binding.resource_snapshot or "").split("-")[1])]
    given = replace(binding, generation=7)
    work = render_work(given, found, KNOWN.compiled, cluster, {})
    assert work.error is None
    gone = {m.key for m in left_out}
    return {
        m.key: InventoryEntry(key=m.key, placement=WEB, applied_digest=m.digest)
        for m in work.manifests
        if m.key not in gone
    }


def bindings(
    owned: Inventory, *clusters: MemberCluster, record: PlacementRecord = RECORD, known: KnownOverrides = KNOWN
) -> list[Binding]:
    """What is rebuilt."""
    members = {one.name: one for one in clusters or (EAST,)}
    return list(rebound(record, members, {"east": owned}, known))


@pytest.mark.parametrize(
    "has",
    [
        to(1, S, E),
        to(0, S, E, namespaced=(N,)),
        to(0, F, E, namespaced=(N,)),
        to(0, E, namespaced=(N,)),
        to(0, S, namespaced=(N,)),
        to(0, S, E),
        to(1, F, E),
        to(1, E),
        to(1, S),
    ],
)
def test_a_cluster_is_bound_to_what_it_has(has: Binding) -> None:
    """With one override as it was before, or without it; the others as they are now."""
    assert bindings(applied(has)) == [has]


def test_where_nothing_gives_all_of_it_the_newest_of_the_closest_counts() -> None:
    newest, older = to(1, S, E), to(0, S, E, namespaced=(N,))
    half = applied(older, left_out=[NAMESPACE])
    assert bindings(half) == [older], "only the older snapshot has it"
    assert bindings(applied(older, left_out=[SETTINGS])) == [newest], "both have the namespace"
    assert bindings({}) == [newest], "nothing was applied yet"
    entry = next(iter(half.values()))
    assert bindings({entry.key: replace(entry, applied_digest=None)}) == [newest]
    assert bindings({entry.key: replace(entry, placement=SHOP)}) == [newest]
    assert bindings({entry.key: replace(entry, applied_digest="?")}) == [newest]
    both = {**applied(to(0, F, E, namespaced=(N,)), left_out=[SETTINGS])}
    assert bindings(both)[0].cluster_resource_overrides == tuple(sorted((F, E)))


def test_each_cluster_is_looked_at_by_itself_with_the_overrides_that_concern_it() -> None:
    east, west = bindings(applied(to(1, S, E)), EAST, WEST)
    assert (east, west) == (to(1, S, E), to(1, S, cluster=WEST))


def test_what_has_more_than_any_snapshot_left_has_one_that_was_lost() -> None:
    unloaded = replace(RECORD, resource_snapshots=(replace(OLD, manifests=None),), policy_snapshots=())
    assert bindings(applied(to(0)), record=unloaded) == [to(1)]
    assert bindings(applied(to(0)), record=replace(RECORD, resource_snapshots=())) == [to(0)]
    assert bindings(applied(to(1)), record=replace(RECORD, resource_snapshots=(OLD,))) == [to(1)]
    assert bindings(applied(to(1, S, E)), record=replace(RECORD, resource_snapshots=(NEW,))) == [to(1, S, E)]


def test_content_that_is_not_read_is_no_choice() -> None:
    one = replace(RECORD, resource_snapshots=(replace(NEW, manifests=None), OLD))
    assert bindings(applied(to(0, S, E, namespaced=(N,))), record=one) == [to(0, S, E, namespaced=(N,))]
    later = replace(RECORD.policy_snapshots[0], index=4)
    (found,) = bindings(applied(to(1, S, E)), record=replace(RECORD, policy_snapshots=(later,)))
    assert found == replace(to(1, S, E), policy_snapshot="web-4")


def test_a_choice_that_cannot_be_made_is_none() -> None:
    """An override that fails; without it the work can be made."""
    wrong = override("wrong", NAMESPACE, rule(JsonPatch("replace", "/metadata/none/there", "x")))
    known = KnownOverrides.of({wrong.override.key: (wrong,)}, [wrong])
    assert bindings(applied(to(1)), known=known) == [to(1)]
    (found,) = bindings({}, known=known)
    assert found.cluster_resource_overrides in ((), (wrong.reference,))
    no_body: Any = None
    broken = replace(NEW, index=2, manifests=(replace(NAMESPACE, body=no_body),))
    older = replace(RECORD, resource_snapshots=(OLD, NEW, broken))
    assert bindings(applied(to(1, S, E)), record=older) == [to(1, S, E)], "a snapshot that breaks is passed over"


def test_of_several_snapshots_of_an_override_that_give_the_same_the_newest_counts() -> None:
    third = changing("front", "c", index=2)
    same = replace(FIRST, index=1)
    every = {FIRST.override.key: (FIRST, same, third)}
    known = KnownOverrides.of(every, [third])
    (found,) = bindings(applied(to(1, F)), known=known)
    assert found == to(1, same.reference)


def test_an_override_of_another_placement_concerns_none() -> None:
    others = replace(FIRST, override=replace(FIRST.override, placement=OverridePlacement("shop")))
    mine = replace(FIRST, override=replace(FIRST.override, placement=OverridePlacement("web")))
    for one, references in ((others, ()), (mine, (F,))):
        known = KnownOverrides.of({one.override.key: (one,)}, [one])
        assert bindings({}, known=known)[0].cluster_resource_overrides == references
