"""Which objects a placement selects (KubeFleet ResourceSelectorResolver).

A selector means its kind in every version: a hub serves each object in all versions of its kind. That the version is
one of them is judged when a commit is read (decision D28).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from gitfleet.api.conditions import Reason
from gitfleet.api.labels import InvalidSelector
from gitfleet.api.objects import GroupKind, Identity, Manifest
from gitfleet.api.placements import Placement, ResourceSelector, SelectionScope
from gitfleet.api.values import is_reserved_namespace
from gitfleet.formats.kinds import is_selectable
from gitfleet.snapshots.index import PayloadIndex
from gitfleet.snapshots.order import order_of
from gitfleet.snapshots.texts import SnapshotsText

_NAMESPACE: Final = GroupKind("", "Namespace")


@dataclass(frozen=True, slots=True)
class UserError:
    """What only a change by a person can correct: the Scheduled condition's reason and its sentence."""

    reason: Reason
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The selected objects as written (not yet stripped), in snapshot order; none when there is an `error`."""

    manifests: tuple[Manifest, ...] = ()
    error: UserError | None = None


class _Invalid(Exception):
    """Carries the sentence of a user error up to `select`."""


def select(placement: Placement, *indexes: PayloadIndex) -> Selection:
    """What the selectors pick, ORed, from one index (or several, taken together). Names that are not there pick
    nothing; picking an object twice, a reserved namespace or a kind out of scope is a user error. Selectors of one kind
    in two versions may pick the same object, as in KubeFleet, where each picks its own version of it. One that goes on
    as it was accepted last may be picked by its old labels and by a new name."""
    picked: dict[Identity, tuple[Manifest, ResourceSelector]] = {}
    try:
        home = placement.key.namespace or _chosen_namespace(placement, indexes)
        for selector in placement.selectors:
            for manifest in _picked_by(selector, placement, indexes, home):
                _, other = picked.get(manifest.key.identity, (None, None))
                if other is None:
                    picked[manifest.key.identity] = (manifest, selector)
                elif any(index.is_kept(manifest.key) for index in indexes):
                    continue
                elif _kind(other) != _kind(selector) or other.version == selector.version:
                    raise _Invalid(SnapshotsText.SELECTED_MORE_ONCE(manifest=manifest.key))
    except (_Invalid, InvalidSelector) as invalid:
        return Selection(error=unusable(placement, str(invalid)))
    return Selection(manifests=tuple(sorted((manifest for manifest, _ in picked.values()), key=order_of)))


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


def _namespaces(selector: ResourceSelector, indexes: Sequence[PayloadIndex]) -> Iterator[Manifest]:
    if selector.name and is_reserved_namespace(selector.name):
        raise _Invalid(SnapshotsText.NAMESPACE_RESERVED_CANNOT_PLACED(selector=selector.name))
    for manifest in _matching(selector, indexes, ""):
        name = manifest.key.name
        if is_reserved_namespace(name):
            raise _Invalid(SnapshotsText.NAMESPACE_RESERVED_CANNOT_PLACED(selector=name))
        yield manifest
        if selector.selection_scope is SelectionScope.NAMESPACE_WITH_RESOURCES:
            for index in indexes:
                yield from index.in_namespace(name)


def _matching(selector: ResourceSelector, indexes: Iterable[PayloadIndex], namespace: str) -> Iterator[Manifest]:
    """By name, by labels, or (neither) every object of the kind, in one namespace or ("") outside of any."""
    kind = _kind(selector)
    for index in indexes:
        if selector.name:
            found = index.objects.get((kind.group, kind.kind, namespace, selector.name))
            if found is not None:
                yield found
            continue
        labels = selector.label_selector
        for manifest in index.of_kind(kind):
            if manifest.key.namespace == namespace and (labels is None or labels.matches(manifest.labels)):
                yield manifest


def _is_namespaced(kind: GroupKind, indexes: Sequence[PayloadIndex]) -> bool | None:
    """None for a kind that nobody knows: then there is no object of it either."""
    for index in indexes:
        known = index.namespaced.get(kind)
        if known is not None:
            return known
        some = index.of_kind(kind)
        if some:
            return bool(some[0].key.namespace)
    return None


def _kind(selector: ResourceSelector) -> GroupKind:
    return GroupKind(selector.group, selector.kind)
