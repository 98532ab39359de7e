"""Who owns what on one cluster: the inventory read for a plan, extended before operations are performed, settled after
them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from gitfleet.api.definitions import CRD
from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import GroupKind, Identity, JsonObject, ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.apply.comparisons import Comparisons
from gitfleet.apply.texts import ApplyText
from gitfleet.formats.json_values import conditions_of, mappings, section
from gitfleet.formats.managed_fields import FIELD_MANAGER, is_own_apply, managed_entries
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.observations import LiveObject
from gitfleet.model.operations import Create, Delete, Keep, KeepCode, Operation, Outcome, Release, Update
from gitfleet.model.state import Inventory

PRUNE: Final = "gitfleet.dev/prune"
_PROTECTING: Final[Mapping[str, tuple[str, ...]]] = {
    PRUNE: ("false",),
    "helm.sh/resource-policy": ("keep",),
    "kustomize.toolkit.fluxcd.io/prune": ("disabled",),
    # What Argo CD deletes only after a confirmation, which is for Argo CD, is not deleted.
    "argocd.argoproj.io/sync-options": ("Prune=false", "Prune=confirm", "Delete=false", "Delete=confirm"),
}

TAKES_ALONG: Final = (GroupKind("", "Namespace"), CRD)
"""Kinds that are deleted with all that is in them."""
TAKEN_OVER: Final = ApplyText.BEFORE_GITFLEET()
"""What protects one of these that was taken over: with it everything would go that others have in it."""


def is_taken_over(entry: InventoryEntry) -> bool:
    """Whether others made what an entry names. Those of an earlier version say so in `protected_by` alone."""
    return entry.taken_over or entry.protected_by == TAKEN_OVER


def protected_by(body: JsonObject, *, taken_over: bool = False) -> str | None:
    """What of an object's annotations says that it is not to be deleted, as `name: word`, or that it was taken over,
    where they do not ask for its deletion; None where nothing does.

    A label says it as well (Flux takes both). Of gitfleet's own every value but "true" protects: what may be a typing
    error deletes nothing. Of a value only the word that is known is said, which is shown and recorded: the rest may be
    anything, in a Secret too.
    """
    annotations, labels = (section(body, "metadata", part) for part in ("annotations", "labels"))
    for name, value in (*annotations.items(), *labels.items()):
        text = str(value).strip().lower()
        words = {word.strip() for word in text.split(",")}
        match = next((word for word in _PROTECTING.get(name, ()) if word.lower() in words), None)
        if match is not None:
            return f"{name}: {match}"
        if name == PRUNE and text != "true":
            return PRUNE
    # What was taken over is pruned where its manifest asks for that.
    prune = str(annotations.get(PRUNE)).strip().lower()
    return TAKEN_OVER if taken_over and prune != "true" else None


BEFORE_FIRST_APPLY: Final = "before-first-apply"
"""Who owns, by kube-apiserver, what stood in an object without managedFields when it was applied."""
_JOB: Final = GroupKind("batch", "Job")
_LONGEST_OWNER: Final = 200
"""What a cluster says of its objects goes into sentences and commits."""


def by_identity(inventory: Inventory) -> dict[Identity, InventoryEntry]:
    """The entries by what they name, whatever version they were applied in."""
    return {key.identity: entry for key, entry in inventory.items()}


def is_applied_by_gitfleet(live: LiveObject) -> bool:
    """Whether managedFields record an apply by gitfleet: the proof of an apply whose report was lost."""
    return any(map(is_own_apply, managed_entries(live.body)))


def has_managers(live: LiveObject) -> bool:
    """Whether managedFields name anybody who made the object. Every create, update and apply leaves an entry, but an
    apply of an object without any field of its own (seen with kube-apiserver 1.36); a second one of those leaves the
    server's own BEFORE_FIRST_APPLY, and controllers write statuses."""
    return bool(_managers(live) - {BEFORE_FIRST_APPLY})


def _managers(live: LiveObject) -> set[str]:
    return {str(e.get("manager")) for e in managed_entries(live.body) if not e.get("subresource")}


def other_owner(live: LiveObject) -> str | None:
    """The first object that owns this one, as kind and name: who made it, or means to delete it with itself."""
    owners = mappings(section(live.body, "metadata").get("ownerReferences"))
    return next((f"{owner.get('kind')} {owner.get('name')}"[:_LONGEST_OWNER] for owner in owners), None)


def is_unreported(entry: InventoryEntry, live: LiveObject) -> bool:
    """Whether an object is there by an apply of gitfleet's whose report was lost. One without any field (a Namespace
    that has only a name) leaves no managedFields: then it counts that gitfleet saw it missing and was to make it."""
    return is_applied_by_gitfleet(live) or (entry.to_be_made and not has_managers(live))


def is_named(entry: InventoryEntry, live: LiveObject) -> bool:
    """Whether a live object is the one that an entry names."""
    return is_unreported(entry, live) if entry.uid is None else entry.uid == live.uid


def may_be_made_by_others(entry: InventoryEntry, live: LiveObject) -> bool:
    """Whether others may have made what takes everything along that they have in it. Where the inventory does not say
    that gitfleet was to make it (it was released, or the record is lost), gitfleet's own apply proves nothing: it may
    have taken the last field of those who made it. Where it does, whoever else wrote into it may have been first."""
    if live.key.group_kind not in TAKES_ALONG:
        return False
    return not entry.to_be_made or bool(_managers(live) - {FIELD_MANAGER, BEFORE_FIRST_APPLY})


def record_intended(inventory: Inventory, operations: Iterable[Operation]) -> Inventory:
    """The inventory to publish before `operations` are performed: intent before action.

    What is about to be created, or taken over from somebody else, has an entry without uid until a server has
    responded: a process that ends in between leaves an object that the next one knows by its field manager. An entry of
    another placement stays that placement's until its object has been handed over. The same inventory is given back
    when nothing changes.
    """
    recorded = [operation for operation in operations if operation.step or isinstance(operation, Create | Update)]
    if not recorded:
        return inventory
    entries = by_identity(inventory)
    for operation in recorded:
        identity = operation.key.identity
        if isinstance(operation, Create | Update):
            entries[identity] = _intended(entry_of(entries, operation.key, operation.placement), operation)
        if operation.step:
            entries[identity] = _of_step(entry_of(entries, operation.key, operation.placement), operation)
    return _changed(inventory, entries)


def entry_of(entries: Mapping[Identity, InventoryEntry], key: ObjectKey, placement: PlacementKey) -> InventoryEntry:
    """The entry of an object; for one that has none yet, an entry of a placement that names no object."""
    return entries.get(key.identity) or InventoryEntry(key=key, placement=placement)


def _of_step(entry: InventoryEntry, operation: Operation) -> InventoryEntry:
    """The entry of a step's Job, which need not be there. For other content than before, nothing was applied yet."""
    if entry.step != operation.step:
        entry = replace(entry, step=operation.step, finished=False, applied_digest=None, shape_digest=None)
    if isinstance(operation, Delete):
        return replace(entry, placement=operation.placement, uid=operation.uid)
    if isinstance(operation, Keep) and operation.code is KeepCode.FINISHED:
        entry = replace(entry, finished=True, uid=entry.uid if operation.live is not None else None)
    return replace(entry, placement=operation.placement)


def _intended(entry: InventoryEntry, operation: Create | Update) -> InventoryEntry:
    """The entry of what is about to be written. One that names no object yet learns from the one that is there where
    that comes from, and keeps it until there is none."""
    live = operation.live if isinstance(operation, Update) else None
    if entry.uid is not None:
        if live is not None and live.uid == entry.uid:
            return entry
        entry = replace(entry, uid=None, applied_digest=None, shape_digest=None, taken_over=False, finished=False)
        entry = replace(entry, protected_by=None)
    taken = live is not None and (is_taken_over(entry) or may_be_made_by_others(entry, live))
    made = live is None or entry.to_be_made
    return replace(entry, to_be_made=made, taken_over=taken, protected_by=protected_by({}, taken_over=taken))


def settle_inventory(
    inventory: Inventory,
    outcomes: Iterable[Outcome],
    operations: Iterable[Operation] = (),
    failures: Failures | None = None,
    compared: Comparisons | None = None,
) -> Inventory:
    """The inventory after performing: what was applied has the uid, digest and shape that the server returned; what is
    gone, and what `operations` release, has no entry any more.

    A deletion that is only under way keeps its entry until an observation finds nothing, and what cannot be settled
    stays as it was recorded. The same inventory is given back when nothing changes. The shapes are remembered in
    `compared`, so that the next plan does not work them out again.
    """
    contained = failures or Failures()
    shapes = Comparisons() if compared is None else compared
    settling = [o for o in operations if isinstance(o, Release) or _may_vanish_finished(o)]
    outcomes = tuple(outcomes)
    if not (settling or outcomes):
        return inventory
    entries = by_identity(inventory)
    for operation in settling:
        if isinstance(operation, Release):
            _drop(entries, operation)
            _note_kept(entries, operation.keeping, operation.key, is_kept=True)
        elif (entry := _own_entry(entries, operation)) is not None:
            entries[operation.key.identity] = replace(entry, finished=True)
    for outcome in outcomes:
        if outcome.ok:
            about = partial(Subject.of_object, outcome.operation.key, outcome.operation.cluster)
            contained.contain(about, None, _settle_one, outcome, entries, shapes)
    return _changed(inventory, entries)


def _settle_one(outcome: Outcome, entries: dict[Identity, InventoryEntry], compared: Comparisons) -> None:
    operation = outcome.operation
    if isinstance(operation, Create | Update) and outcome.live is not None:
        before = entry_of(entries, operation.key, operation.placement)
        taken = is_taken_over(before)
        entries[operation.key.identity] = InventoryEntry(
            key=operation.key,
            placement=operation.placement,
            uid=outcome.live.uid,
            applied_digest=operation.manifest.digest,
            shape_digest=compared.shape(operation.rendered or operation.manifest, outcome.live),
            taken_over=taken,
            protected_by=protected_by(operation.manifest.body, taken_over=taken),
            keeps=before.keeps if before.uid == outcome.live.uid else (),
            step=operation.step or None,
        )
        _note_kept(entries, [("", "Namespace", "", operation.key.namespace)], operation.key, is_kept=False)
    elif isinstance(operation, Release) or (isinstance(operation, Delete) and outcome.live is None):
        _drop(entries, operation)


def _may_vanish_finished(operation: Operation) -> bool:
    """Whether a Job as applied is complete, so that the TTL of its manifest removes it (D43). Not one that failed."""
    is_job = (operation.key.group, operation.key.kind) == _JOB
    if not (is_job and isinstance(operation, Keep) and operation.code is KeepCode.IN_PLACE):
        return False
    live, manifest = operation.live, operation.manifest
    if live is None or manifest is None or section(manifest.body, "spec").get("ttlSecondsAfterFinished") is None:
        return False
    return any((c.get("type"), c.get("status")) == ("Complete", "True") for c in conditions_of(live.body))


def _own_entry(entries: Mapping[Identity, InventoryEntry], operation: Operation) -> InventoryEntry | None:
    """The entry of an operation's object, as long as it is its placement's."""
    entry = entries.get(operation.key.identity)
    return entry if entry is not None and entry.placement == operation.placement else None


def _drop(entries: dict[Identity, InventoryEntry], operation: Release | Delete) -> None:
    entry = _own_entry(entries, operation)
    if entry is None or (isinstance(operation, Delete) and entry.uid not in (None, operation.uid)):
        return
    if operation.step:
        entries[operation.key.identity] = replace(entry, uid=None)
    else:
        del entries[operation.key.identity]


def _note_kept(
    entries: dict[Identity, InventoryEntry], outer: Iterable[Identity], key: ObjectKey, *, is_kept: bool
) -> None:
    """What would take a released object along says so, as without its own entry nothing else does; until that is owned
    again."""
    name = "/".join(key.identity).lstrip("/")
    for identity in outer:
        entry = entries.get(identity)
        if entry is not None:
            names = {*entry.keeps, name} if is_kept else {*entry.keeps} - {name}
            entries[identity] = replace(entry, keeps=tuple(sorted(names)))


def _changed(inventory: Inventory, entries: dict[Identity, InventoryEntry]) -> Inventory:
    """The entries in order; the same inventory where it has them."""
    if entries == by_identity(inventory):
        return inventory
    return {entry.key: entry for entry in sorted(entries.values(), key=lambda e: e.key.order)}
