"""What waits on a cluster for objects of another folder: to be applied, or to be deleted."""

from __future__ import annotations

from dataclasses import replace

from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import Manifest, ObjectKey
from gitfleet.apply.claims import Claims
from gitfleet.apply.manifests import left_alone
from gitfleet.apply.steps import Step, WorkSteps
from gitfleet.apply.texts import ApplyText
from gitfleet.model.operations import Create, KeepCode, Operation, Update
from gitfleet.model.works import Work


def missing_of(work: Work, claims: Claims, steps: WorkSteps) -> dict[str, ObjectKey]:
    """By folder the first object of a work that is not available with the content that it is to have, or the first step
    that has not run."""
    order, missing = claims.request.order, dict[str, ObjectKey]()
    for manifest in work.manifests:
        folder = order.folders.get(manifest.key.identity)
        if folder is not None and folder not in missing and not _is_there(manifest, claims, steps.find(manifest)):
            missing[folder] = manifest.key
    return missing


def _is_there(manifest: Manifest, claims: Claims, step: Step | None) -> bool:
    if step is not None:
        return step.is_done
    if not claims.was_applied(manifest):
        return False
    entry, live = claims.entries[manifest.key.identity], claims.live(manifest.key)
    if live is None:
        return entry.finished
    return entry.uid == live.uid and claims.request.order.available(live.body)


def in_order(
    operation: Operation, manifest: Manifest, work: Work, claims: Claims, missing: dict[str, ObjectKey]
) -> Operation:
    """The operation; or that an object with other content than it has waits for those of another folder."""
    key = manifest.key
    awaited = missing.keys() & claims.request.order.before(key.identity)
    if not awaited or claims.was_applied(manifest) or not isinstance(operation, Create | Update):
        return operation
    folder = min(awaited)
    why = ApplyText.WAITS_FOR_FOLDER(folder=folder, missing=missing[folder])
    return replace(left_alone(manifest, work, claims.live(key), KeepCode.FOLDER, why), step=operation.step)


def deleted_first(entry: InventoryEntry, claims: Claims) -> ObjectKey | None:
    """An object that goes from the cluster before this one, as its folder waits for the folder of this one; None for
    none."""
    order = claims.request.order
    folders = order.after(entry.key.identity)
    entries = claims.entries if folders else {}
    candidates = (e for i, e in entries.items() if order.folders.get(i) in folders and i not in claims.staying)
    return next((candidate.key for candidate in candidates if _goes(candidate, claims)), None)


def _goes(entry: InventoryEntry, claims: Claims) -> bool:
    """Whether an object that no work wants is deleted."""
    return not (entry.is_protected or claims.abandons(entry.placement) or claims.live(entry.key) is None)
