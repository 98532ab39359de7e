"""The objects that go on while a commit is read: each fault holds the last good version in its place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from gitfleet.api.faults import Fault
from gitfleet.api.fleet import FleetConfig
from gitfleet.api.objects import Identity
from gitfleet.desired.crosschecks import Refusals
from gitfleet.desired.gathering import Gathered
from gitfleet.desired.hidden import Hidden
from gitfleet.desired.paths import area_of, is_build_file
from gitfleet.desired.readings import ReadObject, faults_at
from gitfleet.desired.recovery import Recovery, is_within
from gitfleet.desired.request import DesiredRequest

_MOST_GUESSES: Final = 1_000_000
"""Beyond so many pairs of a vanished object and a file that may hold it, all of them are taken to be there."""


@dataclass(slots=True)
class Pool:
    """The objects that go on, and what was found on the way."""

    request: DesiredRequest
    recovery: Recovery
    chosen: dict[Identity, ReadObject] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    kept: dict[Identity, set[str]] = field(default_factory=dict)
    doubled: list[ReadObject] = field(default_factory=list)
    refused: list[ReadObject] = field(default_factory=list)
    last_good: dict[str, dict[tuple[str, str], set[int]]] = field(default_factory=dict)
    incomplete: set[str] = field(default_factory=set)
    """The files of which not every object counts."""
    hidden: Hidden = field(default_factory=Hidden)
    holds_removals: bool = False

    def refuse(self, refusals: Refusals) -> None:
        """Report each fault, and put the object's last good version in its place, or nothing where there is none. One
        that is refused itself, because something else changed around it, goes on nevertheless."""
        self.faults += faults_at(refusals, self.request.contents)
        unmatched: dict[str, dict[Identity, str]] = {}
        for item in {item.identity: item for item, _ in refusals}.values():
            self.hidden.add(item.identity)
            refused = self.chosen.pop(item.identity, None)
            if item.identity not in self.kept:
                self.refused.append(item)
                self.incomplete.add(item.origin.path)
            kept = self.recovery.object(item.identity, item.origin.path) if refused is not None else None
            configs = (one for one in self.chosen.values() if isinstance(one.value, FleetConfig))
            if kept is not None and not (isinstance(kept.value, FleetConfig) and any(configs)):
                self.keep(kept, item.origin.path)
            elif kept is None:
                unmatched.setdefault(item.origin.path, {})[item.identity] = item.label
        self.restore_unmatched(unmatched)

    def restore_unmatched(self, unmatched: Mapping[str, Mapping[Identity, str]]) -> None:
        """A refused object that nobody knows may be a known one whose name, namespace or kind was damaged: what was in
        its file stays."""
        damaged: dict[str, frozenset[str] | None] = {}
        for path, labels in unmatched.items():
            fresh = {identity for identity, label in labels.items() if self.recovery.may_be_new(path, label)}
            self.restore_damaged(path, set(labels), fresh, damaged)
        self.restore_vanished(damaged)

    def restore_doubled(self, gathered: Gathered) -> None:
        """What the documents that define something a second time were before: a copied name takes nothing away."""
        by_path: dict[str, set[Identity]] = {}
        for item in self.doubled:
            by_path.setdefault(item.origin.path, set()).add(item.identity)
        for path, identities in by_path.items():
            counts = Counter(item.identity for item in gathered.readings[path].objects)
            fresh = {found for found in identities if self.recovery.is_new_double(found, path, counts[found])}
            self.restore_damaged(path, set(), fresh, {})

    def restore_damaged(
        self, path: str, refused: set[Identity], fresh: set[Identity], damaged: dict[str, frozenset[str] | None]
    ) -> None:
        """What faulty objects of a file that nobody knows may hide. One that was there already (not `fresh`) hides no
        more than it did then; the names of the others go to `damaged`."""
        if fresh:
            self.restore_file(path, path, refused)
            damaged[path] = frozenset(identity[3] for identity in fresh)
        else:
            for item in self.recovery.held_for(path):
                self.keep(item, path)

    def restore_file(self, path: str, below: str, refused: set[Identity]) -> None:
        """All that was in a file that cannot be read in full, or below a closed folder, and is nowhere now.

        A faulty object that nobody knows counts as well: it may be a known one whose name or namespace was damaged.
        """
        for item in self.recovery.of_path(path, below):
            if item.identity not in refused:
                self.keep(item, path)
        if not self.recovery.knows(path):
            self.hold_removals(path)

    def hold_removals(self, path: str) -> None:
        """Nobody knows what was in a faulty file: whatever is missing may stand there."""
        self.holds_removals = True
        self.last_good.setdefault(path, {})[("", "")] = set()

    def restore_vanished(self, damaged: Mapping[str, frozenset[str] | None]) -> None:
        """What this commit has no more, and what may have moved into a file that cannot be read in full.

        `damaged` are these files: the names of faulty objects that nobody knows, or None where any may be missing.
        """
        changed = self.request.changed
        known = self.recovery.everything() if damaged else {}
        vanished = {identity: item for identity, item in known.items() if identity not in self.chosen}
        many = len(vanished) * len(damaged) > _MOST_GUESSES
        for path, names in damaged.items() if vanished else ():
            content = self.request.text_of(path) if names is None and not many else b""
            is_new = changed is None or path in changed
            is_new = is_new or (is_build_file(path) and any(is_within(other, area_of(path)) for other in changed or ()))
            for identity, item in vanished.items():
                name = identity[3]
                named = (name.encode() in content or not content) if names is None else name in names
                # What is held already may be so because of this file, or because of one that was renamed to it; other
                # things cannot have moved into a file that did not change.
                held_for = self.recovery.paths_of(identity)
                renamed = names is None and is_new and not held_for <= self.request.files.keys()
                if renamed or (named and (is_new or held_for)):
                    self.keep(item, path)

    def restore_overrides(self) -> None:
        """While removals are held, an override that bindings use goes on as well."""
        for item in self.recovery.overrides_in_use() if self.holds_removals else ():
            self.chosen.setdefault(item.identity, item)

    def restore(self, identity: Identity, path: str) -> bool:
        """One object's last good version, unless another file of this commit defines it; whether it was known."""
        if identity in self.chosen:
            return True
        item = self.recovery.object(identity, path)
        if item is not None:
            self.keep(item, path)
        return item is not None

    def keep(self, item: ReadObject, path: str) -> None:
        """Let a last good version go on because of the file at a path, unless the commit has the object; note which
        version it is, so that the next commits can hold it too. One may go on because of several files, for each as
        long as that has the error."""
        if self.chosen.setdefault(item.identity, item) is not item and item.identity not in self.kept:
            return
        self.kept.setdefault(item.identity, set()).add(path)
        # What was accepted does not name its file: the version that the files had is noted for it.
        origin = (item if item.origin.blob else self.recovery.previous(item.identity) or item).origin
        if origin.blob:
            is_own = origin.path == path and not self.recovery.is_used_again(item.identity, path)
            source = (origin.blob, "" if is_own else origin.path)
            self.last_good.setdefault(path, {}).setdefault(source, set()).add(origin.document)
        elif is_build_file(item.origin.path) and area_of(item.origin.path) != area_of(path):
            # No file has it: the next commits hold whatever is gone.
            self.last_good.setdefault(path, {})[("", "")] = set()
