"""Objects that are never deleted, since their own metadata says so: gitfleet's annotation, and those that people who
come from Helm, Flux or Argo CD have in their manifests already."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gitfleet.api.objects import JsonObject

PRUNE: Final = "gitfleet.dev/prune"
_PROTECTING: Final[Mapping[str, frozenset[str]]] = {
    "helm.sh/resource-policy": frozenset({"keep"}),
    "kustomize.toolkit.fluxcd.io/prune": frozenset({"disabled"}),
    # What Argo CD deletes only after a confirmation, which is for Argo CD, is not deleted.
    "argocd.argoproj.io/sync-options": frozenset({"prune=false", "prune=confirm", "delete=false", "delete=confirm"}),
}


def protected_by(body: JsonObject) -> str | None:
    """What of an object's annotations says that it is not to be deleted, as `name: value`; None where nothing does.

    A label says it as well (Flux takes both). Of gitfleet's own every value but "true" protects: what may be a typing
    error deletes nothing.
    """
    metadata = body.get("metadata") or {}
    for part in ("annotations", "labels"):
        found = metadata.get(part) or {}
        for name, value in found.items():
            text = str(value).strip().lower()
            if name == PRUNE:
                protects = text != "true"
            else:
                words = {word.strip() for word in text.split(",")} if name in _PROTECTING else set()
                protects = not words.isdisjoint(_PROTECTING.get(name, ()))
            if protects:
                return f"{name}: {value}"
    return None
