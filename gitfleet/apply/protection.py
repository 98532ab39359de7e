"""Objects that are never deleted, since their own metadata says so: gitfleet's annotation, and those that people who
come from Helm, Flux or Argo CD have in their manifests already."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gitfleet.api.definitions import CRD
from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import GroupKind, JsonObject
from gitfleet.apply.texts import ApplyText

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


def is_taken_over(entry: InventoryEntry | None) -> bool:
    """Whether others made what an entry names. Those of an earlier version say so in `protected_by` alone."""
    return entry is not None and (entry.taken_over or entry.protected_by == TAKEN_OVER)


def _asks_to_be_pruned(body: JsonObject) -> bool:
    """Whether a manifest says that its object may be deleted though it was taken over."""
    metadata = body.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, Mapping) else None
    said = annotations.get(PRUNE) if isinstance(annotations, Mapping) else None
    return str(said).strip().lower() == "true"


def protected_by(body: JsonObject, *, taken_over: bool = False) -> str | None:
    """What of an object's annotations says that it is not to be deleted, as `name: word`, or that it was taken over,
    where they do not ask for its deletion; None where nothing does.

    A label says it as well (Flux takes both). Of gitfleet's own every value but "true" protects: what may be a typing
    error deletes nothing. Of a value only the word that is known is said, which is shown and recorded: the rest may be
    anything, in a Secret too.
    """
    metadata = body.get("metadata")
    for part in ("annotations", "labels"):
        found = metadata.get(part) if isinstance(metadata, Mapping) else None
        for name, value in found.items() if isinstance(found, Mapping) else ():
            if name not in _PROTECTING:
                continue
            text = str(value).strip().lower()
            words = {word.strip() for word in text.split(",")}
            known = next((word for word in _PROTECTING[name] if word.lower() in words), None)
            if known is not None:
                return f"{name}: {known}"
            if name == PRUNE and text != "true":
                return PRUNE
    return TAKEN_OVER if taken_over and not _asks_to_be_pruned(body) else None
