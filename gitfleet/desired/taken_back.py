"""Objects of the payload with an error that placements are still to lose: a commit may take that back by them.

Source: invariant 2 (a fault takes nothing away from a cluster).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from gitfleet.api.objects import Identity, ObjectKey
from gitfleet.api.placements import PLACEMENT_GROUP, Placement, PlacementKey
from gitfleet.desired.paths import area_of, is_payload_path
from gitfleet.desired.readings import ReadObject
from gitfleet.desired.recovery import is_within
from gitfleet.desired.replaced import Replacements
from gitfleet.formats.kinds import is_envelope_kind
from gitfleet.formats.near_names import is_near
from gitfleet.model.desired import Misread
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.model.successors import Successors


def misread_placements(
    errors: Replacements, chosen: Mapping[Identity, ReadObject], kept: Mapping[Identity, Collection[str]]
) -> dict[PlacementKey, Misread]:
    """The placements with an error, and those that still have on clusters what they are to lose and what stands in a
    file with an error, where their selectors may name it: each with these objects."""
    misread, accepted = errors.misread(chosen, kept), errors.request.accepted
    doubts = _Doubts.of(errors)
    for key, record in accepted.placements.items() if doubts.refused or doubts.texts else ():
        item = chosen.get((PLACEMENT_GROUP, key.kind, key.namespace, key.name))
        if item is None or not isinstance(item.value, Placement) or _has_newest(record):
            continue
        lost = _lost(record, accepted, bool(doubts.envelopes))
        if found := {one: path for one, at in lost.items() if (path := doubts.about(one, at, item.value))}:
            known = misread.get(key, Misread(min(found.values()), Placement(key=key, selectors=())))
            misread[key] = replace(known, objects=frozenset(found))
    return misread


def _has_newest(record: PlacementRecord) -> bool:
    """Whether a placement has its newest content and nothing else, or is pinned to an older one."""
    newest = record.latest_resources.name if record.latest_resources is not None else None
    has = all((b.resource_snapshot, b.applied_snapshot) == (newest, newest) and not b.kept for b in record.bindings)
    return has or record.pinned is not None


def _lost(record: PlacementRecord, accepted: FleetState, in_envelopes: bool) -> dict[Identity, str]:
    """What a placement has on clusters and its newest content has not, each with its file where a snapshot says it; of
    what envelopes carried none does."""
    latest, clusters = record.latest_resources, [binding.cluster for binding in record.bindings]
    owned = [accepted.inventory.get(cluster, {}) for cluster in clusters]
    paths: dict[ObjectKey, str] = {one.key: "" for binding in record.bindings for one in binding.kept}
    if in_envelopes:
        key = record.placement.key
        paths |= {one: "" for inventory in owned for one, entry in inventory.items() if entry.placement == key}
    older = (one for one in record.resource_snapshots if one is not latest)
    paths |= {document.key: document.path for one in older for document in one.documents}
    has = Successors({}).content(record.placement.key, latest)
    return {
        one.identity: path
        for one, path in paths.items()
        if one.identity not in has and any(one in inventory for inventory in owned)
    }


@dataclass(frozen=True, slots=True)
class _Doubts:
    """The objects with an error, the texts of those of them that are `envelopes`, and the `texts` of the files that
    cannot be read ("" where any name may be in it); the texts by path."""

    refused: tuple[ReadObject, ...]
    envelopes: Mapping[str, str]
    texts: Mapping[str, str]

    @classmethod
    def of(cls, errors: Replacements) -> _Doubts:
        """Those of a commit."""
        refused = tuple(one for one in errors.refused if is_payload_path(one.origin.path))
        of_envelopes = (one for one in refused if one.identity[1] == "ConfigMap" or is_envelope_kind(*one.identity[:2]))
        texts = {path: errors.request.text_of(path).decode("utf-8", "replace") for path in errors.unreadable}
        return cls(refused, {one.origin.path: str(one.value) for one in of_envelopes}, texts)

    def about(self, identity: Identity, path: str, placement: Placement) -> str:
        """The file that may have an object, which stood at a path, or its Namespace; "" where none has, or no selector
        may name either."""
        namespace = ("", "Namespace", "", identity[2])
        roots = (identity, namespace) if identity[2] else (identity,)
        if not path:
            found = next((at for at, text in self.envelopes.items() if _names(text, identity)), "")
            if found:
                return found
        if not any(_may_select(placement, root) for root in roots):
            return ""
        return next((at for root in roots for at in self._files(root, path)), "")

    def _files(self, identity: Identity, path: str) -> Iterator[str]:
        _, kind, *names = identity
        for one in self.refused:
            if [*one.identity[2:]] == names and is_near(one.identity[1], kind):
                yield one.origin.path
        for at, text in self.texts.items():
            if is_within(path, area_of(at)) or _names(text, identity):
                yield at


def _names(text: str, identity: Identity) -> bool:
    return bool(text) and all(part in text for part in identity[1:])


def _may_select(placement: Placement, identity: Identity) -> bool:
    """Whether a selector may name an object, whatever labels it has."""
    selectors = placement.selectors
    return any((one.group, one.kind) == identity[:2] and one.name in (None, identity[3]) for one in selectors)
