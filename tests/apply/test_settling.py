"""What an outcome does to the inventory: an entry leaves only for the very object that was deleted or released."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.placements import PlacementKey
from gitfleet.apply import record_intended, settle_inventory
from gitfleet.apply.texts import ApplyText
from gitfleet.model.failures import Failures
from gitfleet.model.observations import LiveObject
from gitfleet.model.operations import Create, Delete, Outcome, OutcomeCode, Release, Update
from tests.apply.model_cluster import config_map, namespace
from tests.apply.test_plan_apply import OTHER, WEB, live, owned
from tests.gates import permit

CM, OTHER_CM = config_map("cm", a="1"), config_map("other", a="1")
THERE = live(CM, "u1")
ENTRY = owned(CM, THERE)


def delete(uid: str = "u1", placement: PlacementKey = WEB) -> Delete:
    """The deletion of the object with this uid."""
    return Delete(
        cluster="c1", placement=placement, key=CM.key, uid=uid, wave=1, reason="", permit=permit("c1", CM.key)
    )


def release(placement: PlacementKey = WEB) -> Release:
    """The release of the object."""
    return Release(cluster="c1", placement=placement, key=CM.key, reason="")


@pytest.mark.parametrize(
    ("operation", "ok", "still_there", "entry", "stays"),
    [
        (delete(), True, None, ENTRY, False),
        (delete(), False, None, ENTRY, True),
        (delete(), True, THERE, ENTRY, True),
        (delete("of-another-object"), True, None, ENTRY, True),
        (delete(), True, None, replace(ENTRY, uid=None), False),
        (delete(placement=OTHER), True, None, ENTRY, True),
    ],
    ids=["gone", "refused", "under way", "another uid", "unconfirmed", "of another placement"],
)
def test_a_deletion_takes_the_entry_of_that_very_object_alone(
    operation: Delete, ok: bool, still_there: LiveObject | None, entry: InventoryEntry, stays: bool
) -> None:
    before = {CM.key: entry}
    outcome, failures = Outcome(operation=operation, ok=ok, code=OutcomeCode.APPLIED, live=still_there), Failures()
    after = settle_inventory(before, [outcome], [operation], failures)
    assert not failures.found
    assert after == (before if stays else {})
    assert (after is before) == stays


def test_what_protects_an_object_is_recorded_as_it_is_applied() -> None:
    metadata = {**CM.body["metadata"], "annotations": {"helm.sh/resource-policy": "keep"}}
    for body, by in ((CM.body, None), ({**CM.body, "metadata": metadata}, "helm.sh/resource-policy: keep")):
        made = Create(
            cluster="c1", placement=WEB, manifest=replace(CM, body=body), wave=1, reason="", needs=(), force=True
        )
        after = settle_inventory({}, [Outcome(operation=made, ok=True, code=OutcomeCode.APPLIED, live=THERE)], [made])
        assert after[CM.key].protected_by == by


@pytest.mark.parametrize(("operation", "stays"), [(release(), False), (release(OTHER), True)])
def test_a_release_takes_the_entry_of_its_own_placement_alone(operation: Release, stays: bool) -> None:
    before = {CM.key: ENTRY}
    assert settle_inventory(before, [], [operation]) == (before if stays else {})


def test_nothing_is_learnt_from_what_failed_or_from_an_answer_without_the_object() -> None:
    before = {CM.key: replace(ENTRY, applied_digest="old")}
    update = Update(cluster="c1", placement=WEB, manifest=CM, live=THERE, wave=1, reason="")
    for ok, found in ((False, THERE), (True, None)):
        outcome, failures = Outcome(operation=update, ok=ok, code=OutcomeCode.APPLIED, live=found), Failures()
        assert settle_inventory(before, [outcome], [], failures) is before
        assert not failures.found
    assert settle_inventory(before, [Outcome(operation=update, ok=True, code=OutcomeCode.APPLIED, live=THERE)]) == {
        CM.key: ENTRY
    }


@pytest.mark.parametrize(
    ("entry", "uid", "intended"),
    [
        (ENTRY, "u1", ENTRY),
        (ENTRY, "u2", replace(ENTRY, uid=None, applied_digest=None, shape_digest=None)),
        (replace(ENTRY, uid=None), "u2", replace(ENTRY, uid=None)),
        (None, "u2", InventoryEntry(key=CM.key, placement=WEB)),
    ],
    ids=["the same object", "another object", "unconfirmed", "no entry"],
)
def test_what_is_about_to_be_written_is_recorded_before_it_is(
    entry: InventoryEntry | None, uid: str, intended: InventoryEntry
) -> None:
    update = Update(cluster="c1", placement=WEB, manifest=CM, live=live(CM, uid), wave=1, reason="")
    before = {} if entry is None else {CM.key: entry}
    assert record_intended(before, [update]) == {CM.key: intended}
    new = Create(cluster="c1", placement=WEB, manifest=OTHER_CM, wave=1, reason="")
    assert record_intended(before, [update, new]) == {
        CM.key: intended, OTHER_CM.key: InventoryEntry(key=OTHER_CM.key, placement=WEB, to_be_made=True)
    }  # fmt: skip


def test_what_is_made_anew_forgets_the_uid_of_what_is_gone() -> None:
    create = Create(cluster="c1", placement=WEB, manifest=CM, wave=1, reason="")
    (entry,) = record_intended({CM.key: ENTRY}, [create]).values()
    assert entry == replace(ENTRY, uid=None, applied_digest=None, shape_digest=None, to_be_made=True)
    unchanged = {CM.key: entry}
    assert record_intended(unchanged, [create]) is unchanged


PRUNE, KEEP = "gitfleet.dev/prune", "helm.sh/resource-policy: keep"
MARKED: dict[str, Any] = {"taken_over": True, "protected_by": ApplyText.BEFORE_GITFLEET()}
UNCONFIRMED = InventoryEntry(key=namespace().key, placement=WEB)
BEGUN = replace(UNCONFIRMED, to_be_made=True)
"""Seen to be missing, and created by a process whose end nobody knows."""
OLDER = replace(UNCONFIRMED, protected_by=MARKED["protected_by"])


@pytest.mark.parametrize(
    ("entry", "managers", "taken"),
    [
        (None, ("kubectl",), True),
        (None, (), True),
        (UNCONFIRMED, ("gitfleet",), True),
        (BEGUN, (), False),
        (BEGUN, ("gitfleet",), False),
        (BEGUN, ("gitfleet", "before-first-apply"), False),
        (BEGUN, ("kubectl",), True),
        (BEGUN, ("gitfleet", "kubectl"), True),
        (replace(UNCONFIRMED, **MARKED), ("gitfleet",), True),
        (replace(UNCONFIRMED, **MARKED), None, False),
        (OLDER, ("gitfleet",), True),
        (replace(UNCONFIRMED, uid="old", **MARKED), ("gitfleet",), True),
        (replace(UNCONFIRMED, uid="old", **MARKED), None, False),
        (replace(UNCONFIRMED, uid="old"), ("kubectl",), True),
        (replace(UNCONFIRMED, uid="u1"), ("gitfleet", "kubectl"), False),
        (replace(UNCONFIRMED, uid="u1", **MARKED), ("gitfleet",), True),
    ],
)
def test_where_a_namespace_comes_from_is_learnt_as_it_is_first_written_and_stays(
    entry: InventoryEntry | None, managers: tuple[str, ...] | None, taken: bool
) -> None:
    """`managers` None: it is not there, and made."""
    space = namespace()
    fields = [{"manager": name, "operation": "Apply"} for name in managers or ()]
    status = {"manager": "controller", "operation": "Update", "subresource": "status"}
    body = {**space.body, "metadata": {"name": "ns", "uid": "u1", "managedFields": [*fields, status]}}
    operation = (
        Create(cluster="c1", placement=WEB, manifest=space, wave=1, reason="")
        if managers is None
        else Update(cluster="c1", placement=WEB, manifest=space, wave=1, reason="", live=LiveObject(space.key, body))
    )
    inventory = record_intended({} if entry is None else {space.key: entry}, [operation])
    assert record_intended(inventory, [operation]) == inventory
    there = live(space, "u1", manager="gitfleet")
    protected = MARKED["protected_by"] if taken else None
    for name, value, by in (("helm.sh/resource-policy", "keep", KEEP), (PRUNE, "true", None), ("a", "b", protected)):
        said = replace(space, body={**space.body, "metadata": {"name": "ns", "annotations": {name: value}}})
        update = Update(cluster="c1", placement=OTHER, manifest=said, wave=1, reason="", live=there)
        outcome = Outcome(operation=update, ok=True, code=OutcomeCode.APPLIED, live=there)
        inventory = settle_inventory(record_intended(inventory, [update]), [outcome])
        assert (inventory[space.key].taken_over, inventory[space.key].protected_by) == (taken, by)
