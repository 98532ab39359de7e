"""Placements and clusters that are gone while something with an error may be what takes their place: they go on.

Source: invariant 2 (a fault takes nothing away from a cluster). A new name, or a selector that moved to another
placement, in a file that has an error, is no removal as long as the error is there.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from gitfleet.api.clusters import CLUSTER_GROUP, MemberCluster
from gitfleet.api.faults import Fault
from gitfleet.api.objects import Identity
from gitfleet.api.placements import PLACEMENT_GROUP, Placement, PlacementKey, ResourceSelector
from gitfleet.api.runs import placement_of
from gitfleet.api.staged import Eviction, StagedRun
from gitfleet.desired.kinds import is_our_group
from gitfleet.desired.paths import area_of, is_payload_path
from gitfleet.desired.readings import ReadObject
from gitfleet.desired.recovery import Recovery, is_within
from gitfleet.desired.request import DesiredRequest
from gitfleet.formats.sentences import agreeing, named_briefly
from gitfleet.model.desired import Misread

_KINDS: Final = {
    (PLACEMENT_GROUP, "ClusterResourcePlacement"): Placement,
    (PLACEMENT_GROUP, "ResourcePlacement"): Placement,
    (CLUSTER_GROUP, "MemberCluster"): MemberCluster,
}
_PLACES: Final = re.compile(rb"[Pp]lacement|resourceSelector")
"""What the text of a placement has, whatever else is misspelt in it."""
_MOST_GUESSES: Final = 10_000
"""Beyond so many pairs of what is gone and what has an error, no selectors are compared: everything may be replaced."""


@dataclass(frozen=True, slots=True)
class Replacements:
    """What a commit has that cannot be used: the objects that are `refused`, whose value is what was read or the
    document as it is written, and the paths that are `unreadable`. `keeping` are the files for which `of` found
    something."""

    request: DesiredRequest
    recovery: Recovery
    refused: Sequence[ReadObject]
    unreadable: Sequence[str]
    keeping: set[str] = field(default_factory=set)

    def of(
        self, chosen: Mapping[Identity, ReadObject], kept: Collection[Identity], faults: Iterable[Fault]
    ) -> Iterator[tuple[str, list[ReadObject], Fault]]:
        """For each such object and file, its path, what is gone and goes on for it, and the error that says so.

        What is `kept` already for another reason than an error of its own is gone as well. `faults` say on which line
        a file cannot be read.
        """
        refused = [one for one in self.refused if one.identity[:2] in _KINDS]
        if not refused and not self.unreadable:
            return
        named = {one.identity for one in refused}
        gone = [
            item
            for identity, item in self.recovery.everything().items()
            if identity[:2] in _KINDS and identity not in named and (identity not in chosen or identity in kept)
        ]
        gone = sorted([*gone, *self._narrowed(chosen, named)], key=lambda item: item.identity)
        for path in self.unreadable if gone else ():
            if items := [item for item in gone if self._may_hold(path, item)]:
                line = min((fault.line for fault in faults if fault.path == path), default=1)
                self.keeping.add(path)
                yield path, items, Fault(path, line, "", "", _sentence(items))
        there = _There(chosen if gone and refused else ())
        compares = len(gone) * len(refused) <= _MOST_GUESSES
        for one in refused if gone else ():
            same = [item for item in gone if _KINDS[one.identity[:2]] is _KINDS[item.identity[:2]]]
            if items := [
                item for item in same if not compares or self._may_replace(one, self._lost(item, chosen), there)
            ]:
                origin = one.origin
                self.keeping.add(origin.path)
                yield origin.path, items, Fault(origin.path, origin.line, one.label, "metadata.name", _sentence(items))

    def _narrowed(self, chosen: Mapping[Identity, ReadObject], named: Collection[Identity]) -> Iterator[ReadObject]:
        """The placements that this commit takes selectors from, as they were."""
        for identity, item in self.recovery.everything().items():
            is_edited = identity in chosen and identity not in named and chosen[identity] is not item
            if is_edited and self._lost(item, chosen) is not item:
                yield item

    def _lost(self, item: ReadObject, chosen: Mapping[Identity, ReadObject]) -> ReadObject:
        """A placement with the selectors alone that it loses; the very same where it loses none, or as a whole."""
        new = chosen.get(item.identity)
        if new is None or not isinstance(item.value, Placement) or not isinstance(new.value, Placement):
            return item
        left = tuple(one for one in item.value.selectors if one not in new.value.selectors)
        return replace(item, value=replace(item.value, selectors=left)) if left else item

    def misread(
        self, chosen: Mapping[Identity, ReadObject], kept: Mapping[Identity, Collection[str]]
    ) -> dict[PlacementKey, Misread]:
        """The placements with an error, with what can still be read of their selectors: of those that are `kept` as
        they were for other files, and of those that leave, or that runs and evictions name and nobody has, while such a
        file may be theirs, nothing."""
        found: dict[PlacementKey, Misread] = {}
        for one in self.refused:
            if _KINDS.get(one.identity[:2]) is Placement:
                key = PlacementKey(*one.identity[2:])
                found[key] = _misread(one, key, found.get(key))
        for key, paths in kept_placements(kept).items():
            found.setdefault(key, Misread(paths[0], None))
        known = self.request.accepted.placements
        nowhere = {key for key, record in known.items() if record.placement.deleting is not None}
        for one in chosen.values() if self.unreadable else ():
            if isinstance(one.value, StagedRun):
                nowhere.add(placement_of(one.value))
            elif isinstance(one.value, Eviction):
                nowhere.add(PlacementKey("", one.value.placement_name))
        nowhere = {key for key in nowhere if (PLACEMENT_GROUP, key.kind, key.namespace, key.name) not in chosen}
        for path in self.unreadable if nowhere else ():
            text, stem = self.request.text_of(path), path.rpartition("/")[2].partition(".")[0]
            for key in sorted(nowhere) if not is_payload_path(path) else ():
                named = re.search(rb"(?<![-.\w])%s(?![-.\w])" % re.escape(key.name.encode()), text)
                if key.name == stem or not text or (named and _PLACES.search(text)):
                    found.setdefault(key, Misread(path, None))
        return found

    def of_unknown_files(self) -> Iterator[str]:
        """The paths of which nobody knows what was there before."""
        paths = {one.origin.path for one in self.refused if one.identity[:2] in _KINDS}
        yield from (path for path in sorted(paths) if not self.recovery.knows(path))

    def _may_hold(self, path: str, item: ReadObject) -> bool:
        """Whether an entry that cannot be read in full is new, or had any such object, and so may be about this one."""
        area = area_of(path)
        if is_payload_path(path) or not self._concerns(path, item) or is_within(item.origin.path, area):
            return False
        had = self.recovery.of_path(path, area)
        return not had or any(_KINDS.get(one.identity[:2]) is _KINDS[item.identity[:2]] for one in had)

    def _concerns(self, path: str, item: ReadObject) -> bool:
        """Whether a file changed in this commit, or has held the object since an earlier one."""
        changed = self.request.changed
        return changed is None or path in changed or path in self.recovery.paths_of(item.identity)

    def _may_replace(self, new: ReadObject, old: ReadObject, there: _There) -> bool:
        if not isinstance(old.value, Placement):
            # A cluster that is known already stands for itself, but in the file of another one.
            is_known = self.recovery.known(new.identity) is not None
            return self._concerns(new.origin.path, old) and (not is_known or new.origin.path == old.origin.path)
        selected, before = _selected(new.value), _selected(old.value)
        if selected is not None and _share(new.identity[2], selected, old.identity[2], before or []):
            return True
        return (selected is None or not there.has_all(selected)) and self._concerns(new.origin.path, old)


def kept_placements(kept: Mapping[Identity, Collection[str]]) -> dict[PlacementKey, tuple[str, ...]]:
    """The placements that go on as they were accepted last, with the paths of the files that have the errors."""
    found = ((one, tuple(sorted(paths))) for one, paths in kept.items() if _KINDS.get(one[:2]) is Placement)
    return {PlacementKey(*identity[2:]): paths for identity, paths in sorted(found)}


def kept_payload(kept: Mapping[Identity, Collection[str]]) -> dict[Identity, str]:
    """The payload that goes on as it was accepted last, with the first of the files that have the errors."""
    return {one: min(paths) for one, paths in sorted(kept.items()) if not is_our_group(one[0])}


class _There:
    """The payload that is chosen, by what selectors name."""

    def __init__(self, chosen: Iterable[Identity]) -> None:
        self._objects = {(group, kind, name) for group, kind, _, name in chosen}
        self._objects |= {(group, kind, "") for group, kind, _ in self._objects}

    def has_all(self, selected: Iterable[_Selected]) -> bool:
        return all(one in self._objects for one in selected)


def _sentence(items: Sequence[ReadObject]) -> str:
    names = [f"{item.label.replace('/', ' ', 1)} ({item.origin.path})" for item in items]
    go = agreeing(len(names), "goes on as it was", "go on as they were")
    return f"may be meant to replace {named_briefly(names, 3)}, which {go} accepted last until this is corrected"


_Selected = tuple[str, str, str]
"""Group, kind and name; "" for any name."""


def _selected(value: object) -> list[_Selected] | None:
    """What a placement selects, as far as its document can be read; None where it cannot."""
    if isinstance(value, Placement):
        return [(one.group, one.kind, one.name or "") for one in value.selectors]
    spec: Any = value.get("spec") if isinstance(value, Mapping) else None
    rows = spec.get("resourceSelectors") if isinstance(spec, Mapping) else None
    if not isinstance(rows, list) or not rows or not all(isinstance(row, Mapping) for row in rows):
        return None
    texts = [tuple(row.get(part, "") for part in ("group", "kind", "name")) for row in rows]
    return [(one[0], one[1], one[2]) if all(isinstance(part, str) for part in one) else ("", "", "") for one in texts]


def _misread(one: ReadObject, key: PlacementKey, other: Misread | None) -> Misread:
    """What a placement selects by a document with an error, and by another one of the same name."""
    rows = _selected(one.value)
    if rows is None or (other is not None and other.placement is None):
        return Misread(one.origin.path, None)
    if isinstance(one.value, Placement):
        selectors = one.value.selectors
    else:
        selectors = tuple(ResourceSelector(group=g, version="", kind=k, name=name or None) for g, k, name in rows)
    before = other.placement.selectors if other is not None and other.placement is not None else ()
    return Misread(one.origin.path, Placement(key=key, selectors=(*before, *selectors)))


def _share(namespace: str, one: Iterable[_Selected], other_namespace: str, other: Iterable[_Selected]) -> bool:
    """Whether two placements may select one object. Of a placement of a whole namespace and one within it, any."""
    if namespace != other_namespace:
        within = ("", "Namespace", namespace or other_namespace)
        one, other = (other if namespace else one), (() if namespace and other_namespace else [within])
    wanted = list(other)
    return any(a[:2] == b[:2] and (a[2] == b[2] or not (a[2] and b[2])) for a in one for b in wanted)
