"""Which custom kinds are namespaced: as the CRDs of the repo say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from gitfleet.api.objects import GroupKind, Manifest

CRD: Final = GroupKind("apiextensions.k8s.io", "CustomResourceDefinition")


def declared_scopes(manifests: Iterable[Manifest]) -> dict[GroupKind, bool]:
    """What the CustomResourceDefinitions among the manifests say about their kinds."""
    scopes: dict[GroupKind, bool] = {}
    for manifest in manifests:
        if manifest.key.group_kind != CRD:
            continue
        spec = manifest.body.get("spec")
        names = spec.get("names") if isinstance(spec, Mapping) else None
        kind = names.get("kind") if isinstance(names, Mapping) else None
        if isinstance(spec, Mapping) and isinstance(kind, str) and isinstance(spec.get("group"), str):
            scopes[GroupKind(spec["group"], kind)] = spec.get("scope") != "Cluster"
    return scopes
