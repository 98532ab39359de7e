"""What waits on a cluster for objects of another folder: to be applied, or to be deleted."""

from __future__ import annotations

from dataclasses import replace

from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import Manifest, ObjectKey
from gitfleet.apply.claims import Claims
from gitfleet.apply.manifests import left_alone
from gitfleet.apply.steps import WorkSteps
from gitfleet.apply.texts import ApplyText
from gitfleet.model.operations import Create, KeepCode, Operation, Update
from gitfleet.model.works import Work


def missing_of(work: Work, claims: Claims, steps: WorkSteps) -> dict[str, ObjectKey]:
    """By folder the first object of a work that is not available with the content that it is to have, or the first step
    that has not run."""
    order, missing = claims.request.order, dict[str, ObjectKey]()
    for manifest in work.manifests if order.folders else ():
        folder = order.folders.get(manifest.key.identity)
        if folder is None or folder in missing:
            continue
        step = steps.find(manifest)
        if not (_is_there(manifest, claims) if step is None else step.is_done):
            missing[folder] = manifest.key
    return missing


def _is_there(manifest: Manifest, claims: Claims) -> bool:
    entry, live = claims.entries.get(manifest.key.identity), claims.live(manifest.key)
    if entry is None or entry.applied_digest != manifest.digest:
        return False
    if live is None:
        return entry.finished
    return entry.uid == live.uid and claims.request.order.available(live.body)


def in_order(
    operation: Operation, manifest: Manifest, work: Work, claims: Claims, missing: dict[str, ObjectKey]
) -> Operation:
    """The operation; or that an object with other content than it has waits for those of another folder."""
    key, entry = manifest.key, claims.entries.get(manifest.key.identity)
    is_drift = entry is not None and entry.applied_digest == manifest.digest
    if not missing or is_drift or not isinstance(operation, Create | Update):
        return operation
    folder = next((name for name in sorted(claims.request.order.before(key.identity)) if name in missing), None)
    if folder is None:
        return operation
    why = ApplyText.WAITS_FOR_FOLDER(folder=folder, missing=missing[folder])
    return replace(left_alone(manifest, work, claims.live(key), KeepCode.FOLDER, why), step=operation.step)


def deleted_first(entry: InventoryEntry, claims: Claims) -> ObjectKey | None:
    """An object that goes from the cluster before this one, as its folder waits for the folder of this one; None for
    none."""
    order = claims.request.order
    folders = order.after(entry.key.identity) if order.folders else frozenset[str]()
    if not folders:
        return None
    for identity, candidate in claims.entries.items():
        if order.folders.get(identity) in folders and identity not in claims.staying:
            is_left = (
                candidate.is_protected or claims.abandons(candidate.placement) or claims.live(candidate.key) is None
            )
            if not is_left:
                return candidate.key
    return None
