"""Which objects a placement selects (KubeFleet ResourceSelectorResolver).

A selector means its kind in every version: a hub serves each object in all versions of its kind. That the version is
one of them is judged when a commit is read (decision D28).

What the fleet's policy denies a placement (decision D37) is judged then too. Left for here is what depends on the
placement: what lies in the envelopes that it selects, and objects that stay in the payload only because they are placed
already.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from gitfleet.api.conditions import Reason
from gitfleet.api.envelopes import EnvelopeError, is_envelope, objects_in
from gitfleet.api.folders import FOLDER, FolderVariants, is_made, variants_of
from gitfleet.api.labels import LabelSelector
from gitfleet.api.objects import GroupKind, Identity, Manifest, ObjectKey
from gitfleet.api.placements import Placement, ResourceSelector, SelectionScope
from gitfleet.api.placing_policy import PlacingPolicy
from gitfleet.api.snapshots import ResourceSnapshot
from gitfleet.api.values import is_reserved_namespace
from gitfleet.formats.kinds import is_selectable
from gitfleet.snapshots.index import PayloadIndex, order_of
from gitfleet.snapshots.strip import strip
from gitfleet.snapshots.texts import SnapshotsText

_NAMESPACE: Final = GroupKind("", "Namespace")


@dataclass(frozen=True, slots=True)
class UserError:
    """What only a change by a person can correct: the Scheduled condition's reason and its sentence."""

    reason: Reason
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The selected objects as written (not yet stripped), in snapshot order; none when there is an `error`. `folders`
    are the variants to choose from."""

    manifests: tuple[Manifest, ...] = ()
    folders: tuple[FolderVariants, ...] = ()
    error: UserError | None = None


class _Invalid(Exception):
    """Carries the sentence of a user error up to `select`."""


def select(placement: Placement, *indexes: PayloadIndex, before: Iterable[FolderVariants] = ()) -> Selection:
    """What the selectors pick, ORed, from one index (or several, taken together). `before` are the variants of the
    latest snapshot, for Folders that the commit lost by an error. Names that are not there pick nothing; picking an
    object twice, a reserved namespace or a kind out of scope is a user error. Selectors of one kind in two versions may
    pick the same object, as in KubeFleet, where each picks its own version of it."""
    picked: dict[Identity, tuple[Manifest, ResourceSelector]] = {}
    try:
        home = placement.key.namespace or _chosen_namespace(placement, indexes)
        for selector in placement.selectors:
            for manifest in _distinct(_picked_by(selector, placement, indexes, home)):
                _refuse_reserved(manifest.key.group_kind, manifest.key.name)
                _, previous = picked.get(manifest.key.identity, (None, None))
                if previous is None:
                    picked[manifest.key.identity] = (manifest, selector)
                elif is_made(manifest):
                    continue
                elif _kind(previous) != _kind(selector) or previous.version == selector.version:
                    raise _Invalid(SnapshotsText.SELECTED_MORE_ONCE(manifest=manifest.key))
    except _Invalid as invalid:
        return Selection(error=unusable(placement, str(invalid)))
    manifests = [variant for manifest, _ in picked.values() for variant in _variants(manifest, indexes)]
    names = {manifest.folder for manifest in manifests if manifest.variants}
    by_name = {folder.name: folder for folder in before}
    by_name |= {name: variants_of(folder) for index in indexes for name, folder in index.folders.items()}
    if missing := sorted(names - by_name.keys()):
        return Selection(error=unusable(placement, SnapshotsText.FOLDER_NOT_KNOWN(folder=missing[0])))
    folders = tuple(by_name[name] for name in sorted(names))
    return Selection(manifests=tuple(sorted(manifests, key=order_of)), folders=folders)


def _distinct(manifests: Iterable[Manifest]) -> list[Manifest]:
    """Each object once, whichever of its variants a selector matches."""
    return [*{manifest.key.identity: manifest for manifest in manifests}.values()]


def _variants(manifest: Manifest, indexes: Iterable[PayloadIndex]) -> Iterable[Manifest]:
    """An object with its other variants: if a selector selects one of them, all belong to the placement."""
    if not manifest.variants:
        return (manifest,)
    return (variant for index in indexes for variant in index.objects.get(manifest.key.identity, ()))


def unusable(placement: Placement, why: str) -> UserError:
    """The user error of selectors that select what they may not."""
    message = SnapshotsText.RESOURCE_SELECTORS_CANNOT_USED(placement=placement.key, why=why)
    return UserError(Reason.INVALID_RESOURCE_SELECTORS, message)


def _chosen_namespace(placement: Placement, indexes: Sequence[PayloadIndex]) -> str:
    """The namespace of the selector with scope NamespaceWithResourceSelectors, "" where there is none."""
    for selector in placement.selectors:
        if _kind(selector) == _NAMESPACE and (
            selector.selection_scope is SelectionScope.NAMESPACE_WITH_RESOURCE_SELECTORS
        ):
            names = [m.key.name for m in _matching(selector, indexes, "")]
            if len(names) != 1:
                raise _Invalid(
                    SnapshotsText.NAMESPACEWITHRESOURCESELECTORS_NEEDS_EXACTLY_ONE_NAMESPACE(count=len(names))
                )
            return names[0]
    return ""


def _picked_by(
    selector: ResourceSelector, placement: Placement, indexes: Sequence[PayloadIndex], home: str
) -> Iterator[Manifest]:
    kind = _kind(selector)
    if not is_selectable(kind.group, kind.kind):
        return
    if kind == FOLDER:
        if placement.key.namespace:
            raise _Invalid(SnapshotsText.RESOURCEPLACEMENT_CANNOT_SELECT(selector=selector.kind))
        yield from _in_folder(selector, indexes)
        return
    if kind == _NAMESPACE:
        if placement.key.namespace:
            raise _Invalid(SnapshotsText.RESOURCEPLACEMENT_CANNOT_SELECT_NAMESPACE())
        yield from _namespaces(selector, indexes)
        return
    namespaced = _is_namespaced(kind, indexes)
    if namespaced is None:
        return
    if not namespaced and placement.key.namespace:
        raise _Invalid(SnapshotsText.RESOURCEPLACEMENT_CANNOT_SELECT(selector=selector.kind))
    if namespaced and not home:
        raise _Invalid(SnapshotsText.PLACEMENT_CANNOT_SELECT(selector=selector.kind))
    yield from _matching(selector, indexes, home if namespaced else "")


def _in_folder(selector: ResourceSelector, indexes: Sequence[PayloadIndex]) -> Iterator[Manifest]:
    """Everything of Folders, cluster-scoped objects and the Namespaces that they make included."""
    for index in indexes:
        labels = selector.label_selector or LabelSelector()
        chosen = (name for name, folder in index.folders.items() if labels.matches(folder.own_labels))
        names = {selector.name} if selector.name else {*chosen}
        made = {f.namespace for f in index.folders.values() if f.name in names and f.create_namespace}
        for manifests in index.kinds.values():
            for manifest in manifests:
                if manifest.folder in names or (is_made(manifest) and manifest.key.name in made):
                    yield manifest


def _namespaces(selector: ResourceSelector, indexes: Sequence[PayloadIndex]) -> Iterator[Manifest]:
    _refuse_reserved(_NAMESPACE, selector.name or "")
    for manifest in _matching(selector, indexes, ""):
        yield manifest
        if selector.selection_scope is SelectionScope.NAMESPACE_WITH_RESOURCES:
            for index in indexes:
                yield from index.in_namespace(manifest.key.name)


def _refuse_reserved(kind: GroupKind, name: str) -> None:
    if kind == _NAMESPACE and is_reserved_namespace(name):
        raise _Invalid(SnapshotsText.NAMESPACE_RESERVED_CANNOT_PLACED(selector=name))


def _matching(selector: ResourceSelector, indexes: Iterable[PayloadIndex], namespace: str) -> Iterator[Manifest]:
    """By name, by labels, or (neither) every object of the kind, in one namespace or ("") outside of any."""
    kind = _kind(selector)
    for index in indexes:
        if selector.name:
            yield from index.objects.get((kind.group, kind.kind, namespace, selector.name), ())
            continue
        labels = selector.label_selector
        for manifest in index.of_kind(kind):
            if manifest.key.namespace == namespace and (labels is None or labels.matches(manifest.labels)):
                yield manifest


def _is_namespaced(kind: GroupKind, indexes: Sequence[PayloadIndex]) -> bool | None:
    """None for a kind that nobody knows: then there is no object of it either."""
    for index in indexes:
        namespaced = index.namespaced.get(kind)
        if namespaced is not None:
            return namespaced
        some = index.of_kind(kind)
        if some:
            return bool(some[0].key.namespace)
    return None


def _kind(selector: ResourceSelector) -> GroupKind:
    return GroupKind(selector.group, selector.kind)


def denial_of(
    placement: Placement, selected: Iterable[Manifest], policy: PlacingPolicy, latest: ResourceSnapshot | None
) -> str:
    """What is selected and may not be placed, and the rule that says so; "" when all may. What the latest snapshot has
    in the same version stays, whatever the rules say now."""
    for manifest in selected:
        if (sentence := _denial(placement, manifest, policy)) and not _is_in(manifest, latest):
            return sentence
    return ""


def _denial(placement: Placement, manifest: Manifest, policy: PlacingPolicy) -> str:
    for key, entry in _objects(manifest):
        if (note := policy.denial(key, str(placement.key))) is not None:
            (*_, field), sentence = note
            where = f"{key} in {manifest.key}" if entry else str(key)
            return f"{where} ({manifest.origin}): its {field} {sentence}"
    return ""


def _objects(manifest: Manifest) -> Iterator[tuple[ObjectKey, str]]:
    """The object, and what lies in it where it is an envelope, after the name of its entry."""
    yield manifest.key, ""
    if is_envelope(manifest):
        try:
            for entry, key in objects_in(manifest, {}):
                yield key, entry
        except EnvelopeError:
            return  # nothing of it is placed, and the work says why


def _is_in(manifest: Manifest, latest: ResourceSnapshot | None) -> bool:
    documents = zip(latest.documents, latest.manifests or (), strict=False) if latest is not None else ()
    digest = strip(manifest).digest
    return any(d.key.identity == manifest.key.identity and placed.digest == digest for d, placed in documents)
