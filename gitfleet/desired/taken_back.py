"""Objects of the payload with an error that placements are still to lose: a commit may take that back by them.

Source: invariant 2 (a fault takes nothing away from a cluster).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gitfleet.api.objects import Identity, ObjectKey
from gitfleet.api.placements import Placement, PlacementKey, ResourceSelector
from gitfleet.desired.paths import area_of, is_payload_path
from gitfleet.desired.readings import ReadObject
from gitfleet.desired.recovery import is_within
from gitfleet.desired.replaced import Replacements, kept_payload
from gitfleet.formats.kinds import is_envelope_kind
from gitfleet.formats.near_names import is_near
from gitfleet.model.desired import Misread
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.model.successors import Successors


def misread_placements(
    errors: Replacements, chosen: Mapping[Identity, ReadObject], kept: Mapping[Identity, Collection[str]]
) -> dict[PlacementKey, Misread]:
    """The placements with an error, and those that may select what others (or they themselves) still have on clusters,
    are to lose, and what stands in a file with an error: each with these objects."""
    misread, accepted = errors.misread(chosen, kept), errors.request.accepted
    doubts = _Doubts.of(errors, chosen, kept)
    if not (doubts.refused or doubts.texts):
        return misread
    stay = {one.value.key: one.value for one in chosen.values() if isinstance(one.value, Placement)}
    takers, found = _Takers.of(stay.values()), dict[PlacementKey, dict[Identity, str]]()
    for key, record in accepted.placements.items():
        lost = lost_by(record, accepted, key in stay, in_envelopes=bool(doubts.envelopes))
        for one, at in lost.items():
            if key in stay and (path := doubts.about(one, at, stay[key])):
                found.setdefault(key, {})[one] = path
            for other, path in doubts.taken(one, at, takers):
                found.setdefault(other, {})[one] = path
    for key, objects in found.items():
        known = misread.get(key, Misread(min(objects.values()), Placement(key=key, selectors=())))
        misread[key] = replace(known, objects=frozenset(objects))
    return misread


def _has_newest(record: PlacementRecord) -> bool:
    """Whether a placement has its newest content and nothing else, or is pinned to an older one."""
    newest = record.latest_resources.name if record.latest_resources is not None else None
    has = all((b.resource_snapshot, b.applied_snapshot) == (newest, newest) and not b.kept for b in record.bindings)
    return has or record.pinned is not None


def lost_by(record: PlacementRecord, accepted: FleetState, stays: bool, *, in_envelopes: bool) -> dict[Identity, str]:
    """What a placement has on clusters and is to lose: all of one that leaves, else what its newest content has not.
    Each with its file where a snapshot says it; of what envelopes carried none does."""
    leaves = record.placement.deleting is not None and not stays
    if not leaves and (not stays or _has_newest(record)):
        return {}
    latest, clusters = record.latest_resources, [binding.cluster for binding in record.bindings]
    owned = [accepted.inventory.get(cluster, {}) for cluster in clusters]
    paths: dict[ObjectKey, str] = {one.key: "" for binding in record.bindings for one in binding.kept}
    if in_envelopes:
        key = record.placement.key
        paths |= {one: "" for inventory in owned for one, entry in inventory.items() if entry.placement == key}
    older = (one for one in record.resource_snapshots if leaves or one is not latest)
    paths |= {document.key: document.path for one in older for document in one.documents}
    has = Successors({}).content(record.placement.key, latest) if not leaves else ()
    return {
        one.identity: path
        for one, path in paths.items()
        if one.identity not in has and any(one in inventory for inventory in owned)
    }


@dataclass(frozen=True, slots=True)
class _Doubts:
    """The objects with an error, and, as if they had any label, those that go on for an error elsewhere; the texts of
    those of them that are `envelopes`, and the `texts` of the files that cannot be read ("" where any name may be in
    it); the texts by path."""

    refused: tuple[ReadObject, ...]
    envelopes: Mapping[str, str]
    texts: Mapping[str, str]

    @classmethod
    def of(
        cls, errors: Replacements, chosen: Mapping[Identity, ReadObject], kept: Mapping[Identity, Collection[str]]
    ) -> _Doubts:
        """Those of a commit."""
        refused = [one for one in errors.refused if is_payload_path(one.origin.path)]
        named = {one.identity for one in refused}
        for identity, path in kept_payload(kept).items():
            if identity not in named and path not in errors.unreadable and (one := chosen.get(identity)) is not None:
                refused.append(replace(one, origin=replace(one.origin, path=path), value=""))
        of_envelopes = (one for one in refused if one.identity[1] == "ConfigMap" or is_envelope_kind(*one.identity[:2]))
        texts = {path: errors.request.text_of(path).decode("utf-8", "replace") for path in errors.unreadable}
        return cls(tuple(refused), {one.origin.path: str(one.value) for one in of_envelopes}, texts)

    def about(self, identity: Identity, path: str, placement: Placement) -> str:
        """The file that may have an object, which stood at a path, or its Namespace; "" where none has, or no selector
        may name either."""
        roots = roots_of(identity)
        if not path:
            found = next((at for at, text in self.envelopes.items() if _names(text, identity)), "")
            if found:
                return found
        if not any(_may_select(placement, root) for root in roots):
            return ""
        return next((at for root in roots for at, _ in self._files(root, path)), "")

    def taken(self, identity: Identity, path: str, takers: _Takers) -> Iterator[tuple[PlacementKey, str]]:
        """The placements that select an object, which stood at a path, or its Namespace, by what a file with an error
        says of it, and these files."""
        for root in roots_of(identity):
            for at, text in self._files(root, path):
                yield from ((key, at) for key in takers.of_object(root, text))

    def _files(self, identity: Identity, path: str) -> Iterator[tuple[str, str]]:
        """The files with an error that may have an object, and their texts."""
        _, kind, *names = identity
        for one in self.refused:
            if [*one.identity[2:]] == names and is_near(one.identity[1], kind):
                yield one.origin.path, str(one.value)
        for at, text in self.texts.items():
            if is_within(path, area_of(at)) or _names(text, identity):
                yield at, text


@dataclass(frozen=True, slots=True)
class _Takers:
    """The selectors of the placements that stay, by the group, kind and name that they are for, None for any."""

    selectors: Mapping[tuple[str, str, str | None], Sequence[tuple[PlacementKey, ResourceSelector]]]

    @classmethod
    def of(cls, placements: Iterable[Placement]) -> _Takers:
        """Those of these placements."""
        found: dict[tuple[str, str, str | None], list[tuple[PlacementKey, ResourceSelector]]] = {}
        for placement in placements:
            for one in placement.selectors:
                found.setdefault((one.group, one.kind, one.name), []).append((placement.key, one))
        return cls(found)

    def of_object(self, identity: Identity, text: str) -> Iterator[PlacementKey]:
        """The placements that select an object by its name, or by labels all of which stand in its text."""
        group, kind, namespace, name = identity
        for by in (name, None):
            for key, selector in self.selectors.get((group, kind, by), ()):
                if key.namespace in ("", namespace) and _has_labels(text, selector):
                    yield key


def _has_labels(text: str, selector: ResourceSelector) -> bool:
    """Whether a text has every label that a selector asks for; with any file that is too large to read, it may."""
    by = selector.label_selector
    if by is None or not text:
        return True
    wanted: list[tuple[str, tuple[str, ...]]] = [(key, (value,)) for key, value in by.match_labels.items()]
    wanted += [(one.key, one.values) for one in by.match_expressions if one.operator in ("In", "Exists")]
    return all(key in text and (not values or any(one in text for one in values)) for key, values in wanted)


def roots_of(identity: Identity) -> tuple[Identity, ...]:
    """An object, and its Namespace."""
    return (identity, ("", "Namespace", "", identity[2])) if identity[2] else (identity,)


def _names(text: str, identity: Identity) -> bool:
    return bool(text) and all(part in text for part in identity[1:])


def _may_select(placement: Placement, identity: Identity) -> bool:
    """Whether a selector may name an object, whatever labels it has."""
    selectors = placement.selectors
    return any((one.group, one.kind) == identity[:2] and one.name in (None, identity[3]) for one in selectors)
