"""Objects whose removal is held stay in the next snapshot, and the envelopes that carry them with them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitfleet.api.objects import Manifest
from gitfleet.api.placing_policy import KindPattern, PlacingPolicy, PlacingRule
from gitfleet.snapshots import Identity, Retained, SnapshotResult
from gitfleet.snapshots.texts import SnapshotsText
from tests.snapshots.builders import (
    config,
    envelope,
    index,
    namespace,
    pick_namespace,
    placement,
    record_of,
    take,
)

SUBJECT = placement(pick_namespace("web"))
WEB, EDITED = namespace("web"), namespace("web", team="a")
ONE, TWO, THREE = (config(name, "web") for name in ("one", "two", "three"))
FULL, HALF, EMPTY, OTHER, CHANGED = (
    envelope("bundle", "web", ONE, TWO),
    envelope("bundle", "web", ONE),
    envelope("bundle", "web"),
    envelope("other", "web", THREE),
    envelope("other", "web", replace(THREE, body={**THREE.body, "data": {"k": "2"}})),
)


def after(
    before: tuple[Manifest, ...], now: tuple[Manifest, ...], held: set[Identity], *, loaded: bool = True
) -> SnapshotResult:
    """What is taken when the payload was `before` and is `now`, and some removals are held."""
    record = record_of(SUBJECT, take(SUBJECT, index(*before)))
    if not loaded:
        unloaded = tuple(replace(snapshot, manifests=None) for snapshot in record.resource_snapshots)
        record = replace(record, resource_snapshots=unloaded)
    return take(SUBJECT, index(*now), record, retain=Retained(objects=held))


@pytest.mark.parametrize(
    ("before", "now", "held", "expected", "retained"),
    [
        ((FULL,), (HALF,), (TWO,), (FULL,), (TWO,)),
        ((FULL,), (), (TWO,), (FULL,), (TWO,)),
        ((FULL,), (ONE, EMPTY), (TWO,), (FULL,), (TWO,)),
        ((FULL, OTHER), (HALF, CHANGED), (TWO,), (FULL, CHANGED), (TWO,)),
        ((FULL,), (HALF, TWO), (TWO,), (HALF, TWO), ()),
        ((ONE, TWO), (FULL,), (ONE,), (FULL,), ()),
        ((ONE, TWO), (TWO,), (ONE,), (ONE, TWO), (ONE,)),
        ((ONE, TWO), (TWO,), (ONE, THREE), (ONE, TWO), (ONE,)),
        ((ONE, TWO), (ONE, TWO), (ONE,), (ONE, TWO), ()),
    ],
    ids=["part", "whole", "moved beside", "another envelope", "out of it", "into it", "object", "unknown", "there"],
)
def test_what_stays(
    before: tuple[Manifest, ...],
    now: tuple[Manifest, ...],
    held: tuple[Manifest, ...],
    expected: tuple[Manifest, ...],
    retained: tuple[Manifest, ...],
) -> None:
    """The Namespace is edited in the same commit, and that goes out."""
    found = after((WEB, *before), (EDITED, *now), {m.key.identity for m in held})
    assert found.user_error is None
    latest = found.resource_snapshots[-1]
    assert latest.index == 1 and latest.manifests == (EDITED, *expected)
    assert found.retained == {m.key.identity for m in retained}


def test_an_unloaded_snapshot_stays_while_what_is_held_may_lie_in_one_of_its_envelopes() -> None:
    held = {TWO.key.identity}
    found = after((WEB, FULL), (EDITED, HALF), held, loaded=False)
    assert [(s.index, s.manifests) for s in found.resource_snapshots] == [(0, None)]
    assert found.retained == held


def test_a_snapshot_that_is_held_as_it_is_keeps_all_its_objects() -> None:
    """Removals are held because a file cannot be read, and the latest snapshot is not loaded."""
    record = record_of(SUBJECT, take(SUBJECT, index(WEB, ONE, TWO)))
    unloaded = tuple(replace(snapshot, manifests=None) for snapshot in record.resource_snapshots)
    held = Retained(objects={ONE.key.identity})
    payload = index(WEB, ONE, holds_removals=True)
    found = take(SUBJECT, payload, replace(record, resource_snapshots=unloaded), retain=held)
    assert found.resource_snapshots == unloaded and found.retained == held.objects


def test_nothing_is_retained_for_a_placement_that_is_new_and_everything_while_its_selectors_are_unusable() -> None:
    held = Retained(objects={ONE.key.identity})
    assert take(SUBJECT, index(WEB), retain=held).retained == frozenset()
    first = take(SUBJECT, index(WEB, ONE))
    wrong = replace(SUBJECT, selectors=(pick_namespace("kube-system"),))
    found = take(wrong, index(WEB), record_of(SUBJECT, first), retain=held)
    assert found.user_error is not None and found.retained == held.objects


def moved(one: Manifest, blob: str = "b10b") -> Manifest:
    """The same in another file; without a blob as kustomize makes it of files."""
    assert one.origin is not None
    return replace(one, origin=replace(one.origin, blob=blob))


@pytest.mark.parametrize(
    ("payload", "waiting"),
    [
        ((WEB, ONE), ""),
        ((WEB, ONE, TWO), "snapshot 1"),
        ((WEB, THREE), "newer content"),
        ((WEB, moved(ONE)), ""),
    ],
)
def test_pinned_content_takes_the_place_of_the_selection(payload: tuple[Manifest, ...], waiting: str) -> None:
    """What is held stays as it was; what would be selected is said to wait."""
    record = record_of(SUBJECT, take(SUBJECT, index(WEB, ONE)))
    record = record_of(SUBJECT, take(SUBJECT, index(WEB, ONE, TWO), record))
    old, new = record.resource_snapshots
    found = take(SUBJECT, index(*payload), record, retain=Retained(pinned=old))
    assert (found.waiting, [one.index for one in found.resource_snapshots]) == (waiting, [0, 1, 2])
    assert (found.resource_snapshots[-1].hash, found.resource_snapshots[-1].manifests) == (old.hash, old.manifests)
    wrong = replace(SUBJECT, selectors=(pick_namespace("kube-system"),))
    found = take(wrong, index(*payload), record, retain=Retained(pinned=new))
    assert (found.waiting, found.user_error) == (SnapshotsText.SELECTS_NOW_CANNOT_USED(), None)
    assert found.resource_snapshots == (old, new)
    unloaded = replace(record, resource_snapshots=(old, replace(new, manifests=None)))
    nothing = take(SUBJECT, index(WEB, holds_removals=True), unloaded, retain=Retained(pinned=old))
    assert nothing.waiting == "" == take(SUBJECT, index(*payload), record).waiting
    edited = index(*payload, config("two", "web", "9"))
    kept = take(SUBJECT, edited, record, retain=Retained(pinned=old, objects={TWO.key.identity}))
    assert kept.retained == {TWO.key.identity}
    assert TWO.body in [one.body for one in kept.resource_snapshots[-1].manifests or ()]
    denying = index(*payload, policy=PlacingPolicy(deny=(PlacingRule(kinds=(KindPattern(kind="ConfigMap"),)),)))
    alone = replace(record, resource_snapshots=(old, replace(old, index=1, documents=old.documents[:1])))
    refused = take(SUBJECT, denying, alone, retain=Retained(pinned=old))
    assert refused.user_error is not None and bool(refused.waiting) is bool(waiting)


def test_what_is_rendered_anew_under_the_same_names_waits_for_the_end_of_a_pin() -> None:
    record = record_of(SUBJECT, take(SUBJECT, index(WEB, moved(config("one", "web", "1"), ""))))
    (old,) = record.resource_snapshots
    for value, waiting in (("1", ""), ("2", "newer content")):
        found = take(SUBJECT, index(WEB, moved(config("one", "web", value), "")), record, retain=Retained(pinned=old))
        assert found.waiting == waiting
