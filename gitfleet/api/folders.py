"""Folder (gitfleet.dev/v1alpha1): what the objects of a folder have in common, and which variant of them a cluster
gets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Annotated, Final, Protocol, TypeVar

from annotated_types import Len

from gitfleet.api.annotations import At, Break, Form, names_taken
from gitfleet.api.fleet import GITFLEET_GROUP
from gitfleet.api.labels import LabelSelector
from gitfleet.api.layout import document
from gitfleet.api.objects import Authored, GroupKind, JsonObject, Manifest
from gitfleet.api.texts import ApiText
from gitfleet.api.values import Annotations, Labels, NamespaceName, NonEmpty, ObjectName, is_reserved_namespace

FOLDER_FILE: Final = "gitfleet-folder.yaml"
"""The name of the file, in a folder below `resources/`."""
FOLDER: Final = GroupKind(GITFLEET_GROUP, "Folder")


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """What the clusters that a selector matches get of a folder.

    name: the variant's name
    path: the folder that is built for it, from the folder of this file on
    clusterSelector: labels of the clusters that get it; every cluster where absent
    """

    name: NamespaceName
    path: NonEmpty
    cluster_selector: LabelSelector | None = None

    @property
    def is_for_all(self) -> bool:
        """Whether every cluster matches."""
        return self.cluster_selector is None or self.cluster_selector == LabelSelector()


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependency:
    """What has to be available on a cluster first.

    folder: the name of a Folder
    placement: the name of a ClusterResourcePlacement
    """

    folder: NamespaceName | None = None
    placement: ObjectName | None = None

    def breaks(self) -> Iterator[Break]:
        """It names one thing."""
        if (self.folder is None) == (self.placement is None):
            yield (), ApiText.NAME_FOLDER_OR_PLACEMENT()


@document("spec", identify=lambda _: (f"{GITFLEET_GROUP}/v1alpha1", "Folder"))
@dataclass(frozen=True, slots=True, kw_only=True)
class Folder(Authored):
    """A folder below `resources/` whose objects belong together.

    namespace: the namespace of namespaced objects that name none
    createNamespace: whether the Namespace is made where no manifest of the repo defines it
    labels: labels that every object gets
    annotations: annotations that every object gets
    variants: folders of which each cluster gets the first one that it matches
    dependsOn: what has to be available on a cluster before the objects of this folder
    """

    name: Annotated[NamespaceName, At("metadata", "name")]
    namespace: NamespaceName | None = None
    create_namespace: bool = False
    labels: Labels = field(default_factory=dict)
    annotations: Annotations = field(default_factory=dict)
    variants: Annotated[tuple[Variant, ...], Len(0, 100)] = ()
    depends_on: Annotated[tuple[Dependency, ...], Len(0, 20)] = ()

    @property
    def own_labels(self) -> Mapping[str, str]:
        """The labels of the Folder itself."""
        return (self.body.get("metadata") or {}).get("labels") or {}

    def breaks(self) -> Iterator[Break]:
        """A made Namespace has a name that may be placed; variants have names of their own, and each of them can
        match."""
        if self.create_namespace and self.namespace is None:
            yield ("spec", "createNamespace"), ApiText.NEEDS_NAMESPACE()
        elif self.create_namespace and is_reserved_namespace(self.namespace or ""):
            yield ("spec", "createNamespace"), ApiText.MAKES_RESERVED_NAMESPACE()
        at = ("spec", "variants")
        yield from names_taken((variant.name for variant in self.variants), at, "variant")
        for index, (variant, following) in enumerate(pairwise(self.variants)):
            if variant.is_for_all:
                yield (*at, index), ApiText.VARIANT_NEVER_MATCHES(name=following.name)


_MADE: Final = "gitfleet.dev/made-by"
_PRUNE: Final = "gitfleet.dev/prune"


def made_namespace(name: str) -> JsonObject:
    """The Namespace that a Folder makes: gitfleet never deletes it, and several placements may have it."""
    annotations = {_MADE: FOLDER.kind, _PRUNE: "false"}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "annotations": annotations}}


def is_made(manifest: Manifest) -> bool:
    """Whether an object is a Namespace that a Folder makes."""
    return manifest.key.group_kind == ("", "Namespace") and manifest.body == made_namespace(manifest.key.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantSelector:
    """A variant as a snapshot keeps it: which clusters get it."""

    name: str
    cluster_selector: LabelSelector = LabelSelector()


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderVariants:
    """The variants of a Folder, in the order in which they are tried."""

    name: str
    variants: tuple[VariantSelector, ...]


def variants_of(folder: Folder) -> FolderVariants:
    """The variants of a Folder as a snapshot keeps them."""
    selectors = ((variant.name, variant.cluster_selector or LabelSelector()) for variant in folder.variants)
    variants = (VariantSelector(name=name, cluster_selector=selector) for name, selector in selectors)
    return FolderVariants(name=folder.name, variants=tuple(variants))


def _read_chosen(value: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, Mapping) or not all(isinstance(text, str) for pair in value.items() for text in pair):
        raise ValueError(ApiText.MUST_MAPPING_FOLDERS_VARIANTS())
    return tuple(sorted(value.items()))


ChosenVariants = Annotated[
    tuple[tuple[str, str], ...],
    Form(_read_chosen, {"type": "object", "additionalProperties": {"type": "string"}}, dict),
]
"""The variant of each folder that a cluster gets, by the folder's name."""


class _InVariants(Protocol):
    @property
    def folder(self) -> str: ...
    @property
    def variants(self) -> tuple[str, ...]: ...


_Item = TypeVar("_Item", bound=_InVariants)


def of_variants(items: Iterable[_Item], chosen: tuple[tuple[str, str], ...]) -> tuple[_Item, ...]:
    """The objects that a cluster with these variants gets."""
    by_folder = dict(chosen)
    return tuple(item for item in items if not item.variants or by_folder.get(item.folder) in item.variants)


def variant_changes(old: tuple[tuple[str, str], ...], new: tuple[tuple[str, str], ...]) -> str:
    """Which variants differ, as `apps: prod, was rest`."""
    before, after = dict(old), dict(new)
    folders = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
    return "; ".join(f"{name}: {after.get(name, 'none')}, was {before.get(name, 'none')}" for name in folders)


def choose_variants(folders: Iterable[FolderVariants], labels: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The first variant of each folder that a cluster with these labels matches. Folders without a match are left
    out."""
    chosen = (
        (folder.name, next((v.name for v in folder.variants if v.cluster_selector.matches(labels)), None))
        for folder in folders
    )
    return tuple(sorted((folder, variant) for folder, variant in chosen if variant is not None))
