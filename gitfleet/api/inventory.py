"""The inventory: what gitfleet owns on each cluster, the only source for pruning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from gitfleet.api.annotations import Inline
from gitfleet.api.objects import ObjectKey
from gitfleet.api.placements import OwnerText


@dataclass(frozen=True, slots=True, kw_only=True)
class InventoryEntry:
    """One owned object.

    It is written before the object is (intent), then without `uid`, and with `to_be_made` where the object was not
    there; after a successful apply it has the object's `uid`, `applied_digest` (the digest of the manifest that was
    applied) and `shape_digest` (a digest of the live object's values at the manifest's own fields, as the server
    returned them): when either differs in a later observation, the object has to be applied again. `taken_over` is
    where it comes from: others made it, and all that they have in it would go with it; it stays so while that very
    object is owned. `protected_by` is why it is not to be deleted, by the last apply: an annotation of that manifest
    (its name and the word that is known), or that it was taken over, where the manifest does not ask for the deletion.
    `finished` is a Job that completed and that its TTL may remove: it is not made again for the same manifest.
    `step` is the content for which the Job of a step runs, or did, or need not (`finished`), even where it is gone.
    `keeps` names what was released in it (a Namespace, a definition) because of that: who deletes the one deletes the
    other. It leaves only when the server says NotFound, or by a release that is reported.
    """

    key: Annotated[ObjectKey, Inline()]
    placement: OwnerText
    uid: str | None = None
    applied_digest: str | None = None
    shape_digest: str | None = None
    to_be_made: bool = False
    taken_over: bool = False
    finished: bool = False
    step: str | None = None
    protected_by: str | None = None
    keeps: tuple[str, ...] = ()

    @property
    def is_protected(self) -> bool:
        """Whether it is known that the object is not to be deleted."""
        return self.protected_by is not None or bool(self.keeps)
