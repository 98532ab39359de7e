"""Gates: files that keep something from moving. One in force is ended by deleting its file, and by nothing less: not by
a rule or a name that hides the file, not by emptying it, and not by a slip in what it is for. A workload rollout is a
gate: without it all pods move at once.

Sources: invariant 2 (last good wins), decision D31 (what is hidden is no deletion), decision records 0015, 0018, 0020.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from gitfleet.api import Break
from gitfleet.api.annotations import below
from gitfleet.api.faults import Fault
from gitfleet.api.fleet import FleetConfig
from gitfleet.api.freeze_files import Freeze
from gitfleet.api.freezes import FreezeScope
from gitfleet.api.labels import LabelSelector
from gitfleet.api.objects import Identity, JsonValue
from gitfleet.api.pins import Pin
from gitfleet.api.placements import PlacementKey
from gitfleet.api.quarantines import Quarantine
from gitfleet.api.staged import DisruptionBudget
from gitfleet.api.workload_rollouts import AppRollout, RolloutTrait
from gitfleet.desired.commented import STAYS, Comments, lost_windows
from gitfleet.desired.ignore_rules import IgnoreRules
from gitfleet.desired.paths import IGNORE_FILE, read_paths
from gitfleet.desired.present import Present, any_matches
from gitfleet.desired.readings import Contents, FileReading, ReadObject, payload_identity
from gitfleet.desired.recovery import Recovery
from gitfleet.desired.request import SYMLINK, DesiredRequest
from gitfleet.desired.vanished import ignore_rules, ignored_at
from gitfleet.formats.limits import MAX_FILE_BYTES
from gitfleet.formats.near_names import is_near
from gitfleet.formats.yaml_reader import parse_documents
from gitfleet.model.state import FleetState

_RIGHT: Final = "write the right name, or delete the file to end it"


def hidden_gates(
    request: DesiredRequest,
    recovery: Recovery,
    chosen: Mapping[Identity, ReadObject],
    readings: Mapping[str, FileReading],
) -> Iterator[tuple[ReadObject, str, Fault]]:
    """The gates that were in force and are not `chosen`, though their file was not deleted; each with the path for
    which it is kept, and the error that says so."""
    known = recovery.everything()
    gone = [item for identity, item in known.items() if _is_gate(item.value) and _is_elsewhere(item, chosen)]
    if not gone:
        return
    rules = ignore_rules(request)
    read = read_paths(request.files, rules)
    unread = sorted(path for path in request.changed or () if path in request.files and path not in read)
    files = _Files(request, recovery, chosen, readings, rules, read, unread)
    for item in gone:
        if (found := files.hiding(item)) is not None:
            kept_for, path, line, what, do = found
            kind = item.identity[1]
            message = f"{what}, so that the {kind} there goes on as it was; {do} to end it"
            yield item, kept_for, Fault(path, line, item.label, "", message)


def _is_elsewhere(item: ReadObject, chosen: Mapping[Identity, ReadObject]) -> bool:
    """Whether the commit has not this object, or not in its file."""
    now = chosen.get(item.identity)
    return now is None or now.origin.path != item.origin.path


def _is_gate(value: object) -> bool:
    """A quarantine that is lifted and an override of freezes hold nothing back: hidden, they are as if deleted."""
    return isinstance(value, Freeze | Pin | FleetConfig | DisruptionBudget | RolloutTrait | AppRollout) or (
        isinstance(value, Quarantine) and not value.lifted
    )


@dataclass(frozen=True, slots=True)
class _Files:
    """The files of a commit, those of them that are `read` one by one, those that changed and are not, and the comments
    of some."""

    request: DesiredRequest
    recovery: Recovery
    chosen: Mapping[Identity, ReadObject]
    readings: Mapping[str, FileReading]
    rules: IgnoreRules
    read: frozenset[str]
    unread: Sequence[str]
    comments: dict[str, Comments] = field(default_factory=dict)

    def hiding(self, gate: ReadObject) -> tuple[str, str, int, str, str] | None:
        """Where a gate is kept for, the path and line of the error, what is so, and what to do; None where its file was
        deleted, or has other objects now."""
        own = min(self.recovery.paths_of(gate.identity), default=gate.origin.path)
        if line := ignored_at(own, self.request, self.rules):
            return own, IGNORE_FILE, line, f"hides {own}", "take the rule back, or delete that file"
        if gate.identity in self.chosen:
            return None
        if (reading := self.readings.get(own)) is not None and own in self.read:
            if not (reading.objects or reading.faulty or reading.unreadable):
                return own, own, 1, "holds nothing any more", "write it back, or delete this file"
            if own not in self.comments:
                self.comments[own] = Comments.of(self.request.contents(self.request.files[own].blob))
            if line := self.comments[own].line_of(gate.identity[3], gate.identity[1]):
                return own, own, line, "comments it out", "write it back, or delete these lines"
            if self._payload_at(gate) != own:
                return None
        moved = self._moved(gate, own)
        if not moved:
            return None
        how = "only placed" if moved in self.read else "not read"
        return moved, moved, 1, f"was {gate.origin.path} and is {how} here", "move it back, or delete this file"

    def _moved(self, gate: ReadObject, own: str) -> str:
        """Where a gate stands since this commit, or since it is kept for the path `own`, without being one ("":
        nowhere)."""
        as_payload, is_there = self._payload_at(gate), own in self.request.files
        if as_payload and (as_payload == own or as_payload in (self.request.changed or ())):
            return as_payload
        if is_there and own not in self.read:
            return own
        before = self.request.before.get(own)
        blobs = {gate.origin.blob, before.blob if before is not None else ""} - {""}
        same = (path for path in self.unread if self.request.files[path].blob in blobs or self._has(path, gate, own))
        return next(same, "")

    def _has(self, path: str, gate: ReadObject, own: str) -> bool:
        """Whether a file that is not read has a gate, edited or not, its kind misspelt or not; or its file's name."""
        if own not in self.request.files and _basename(path).lstrip("._").startswith(_basename(own)):
            return True
        source, (_, kind, _, name) = self.request.files[path], gate.identity
        content = self.request.contents(source.blob) if source.mode < SYMLINK else b""
        if name.encode() not in content:
            return False
        parsed = source.parsed or parse_documents(content, max_bytes=MAX_FILE_BYTES)
        return any(_is_nearly(document.value, kind, name) for document in parsed.documents)

    def _payload_at(self, gate: ReadObject) -> str:
        identity = payload_identity(gate.identity)
        item = self.chosen.get(identity) if identity is not None else None
        return item.origin.path if item is not None else ""


def _is_nearly(body: JsonValue, kind: str, name: str) -> bool:
    """Whether a document is of a kind, or one that is nearly that, and has a name."""
    metadata = body.get("metadata") if isinstance(body, Mapping) else None
    named = isinstance(body, Mapping) and isinstance(metadata, Mapping) and metadata.get("name") == name
    return named and is_near(str(body.get("kind")), kind)


def _basename(path: str) -> str:
    return path.rpartition("/")[2]


def gate_slips(
    objects: Iterable[ReadObject], recovery: Recovery, accepted: FleetState, contents: Contents
) -> list[tuple[ReadObject, Break, ReadObject]]:
    """Edits by which a gate is for nothing that exists, while what it was for still does, of its name as well, or by
    which windows of a configuration are commented out: the object, what is wrong with it, and the gate as it was."""
    items = list(objects)
    gates = [item for item in items if _is_gate(item.value)]
    chosen = {item.identity for item in gates}
    gone = (
        [old for one, old in recovery.everything().items() if one not in chosen and _is_gate(old.value)]
        if gates
        else []
    )
    edited = [(item, old) for item in gates if (old := _before(item, recovery, gone)) is not None]
    there = _There(items, accepted) if edited else None
    return [
        (item, note, old)
        for item, old in edited
        if there
        for note in (*there.slips(item.value, old.value), *lost_windows(item, old, contents))
    ]


def _before(item: ReadObject, recovery: Recovery, gone: Collection[ReadObject]) -> ReadObject | None:
    """What a gate was before, where it may be another now: under its name, or the only one of its kind that its file
    has no more."""
    old = recovery.previous(item.identity)
    if old is not None:
        return old if type(old.value) is type(item.value) and _is_gate(old.value) else None
    same = [one for one in gone if type(one.value) is type(item.value) and one.origin.path == item.origin.path]
    return same[0] if len(same) == 1 else None


class _There(Present):
    """What a gate may be for."""

    @cached_property
    def _were(self) -> Collection[str]:
        return {str(key) for key, record in self.accepted.placements.items() if record.placement.deleting is None}

    def slips(self, new: object, old: object) -> Iterator[Break]:
        """What an edited gate names that is not there, in the place of what is."""
        match new, old:
            case Freeze(), Freeze():
                yield from below(("spec", "scope"), list(self._of_scope(new.scope, old.scope)))
            case FleetConfig(), FleetConfig():
                scopes = {window.name: window.scope for window in old.freeze_windows}
                for index, window in enumerate(new.freeze_windows):
                    notes = list(self._of_scope(window.scope, scopes.get(window.name, window.scope)))
                    yield from below(("spec", "freezeWindows", index, "scope"), notes)
            case Pin(), Pin():
                yield from self._of_placement(new.placement, old.placement)
            case Quarantine(), Quarantine():
                notes = list(self._of_placement(new.placement, old.placement))
                yield from notes
                if not notes and str(old.placement) in self.placements and self._has(old) and not self._has(new):
                    hint = "copy it from the snapshot, or delete the file to end it"
                    yield ("spec", "digest"), f"is the digest of no snapshot of {new.placement}, {STAYS}; {hint}"
            case DisruptionBudget(), DisruptionBudget():
                if notes := list(self._of_placement(PlacementKey("", new.name), PlacementKey("", old.name))):
                    yield ("metadata", "name"), notes[0][1]
            case _:
                return

    def _of_placement(self, new: PlacementKey, old: PlacementKey) -> Iterator[Break]:
        known = self.placements
        if str(new) not in known and (do := self._slip(str(new), str(old) in known, str(old) in self._were, known)):
            yield ("spec", "placement"), f"names no placement, {STAYS}; {do}"

    def _slip(self, name: str, is_left: bool, was_there: bool, known: Collection[str]) -> str:
        """What to do about a name of nothing that came by a slip, "" for one that did not: what was named is left, or
        has perhaps another name since this commit, which the name resembles, or may when enough was compared."""
        near = self.nearest(name, known) if is_left or was_there else None
        if near is not None:
            return f"did you mean {near}?"
        return _RIGHT if is_left or (was_there and self.not_compared) else ""

    def _has(self, quarantine: Quarantine) -> bool:
        record = self.accepted.placements.get(quarantine.placement)
        return record is not None and any(one.hash == quarantine.digest for one in record.resource_snapshots)

    def _of_scope(self, new: FreezeScope, old: FreezeScope) -> Iterator[Break]:
        # What froze everything, or nothing that there is, named nothing: only what is nearly a name is a slip then, so
        # that a scope that was lost, or a part of it, comes back by a revert.
        had_any = old != FreezeScope() and self._names_any(old)
        for word, patterns, before, known, were in (
            ("placement", new.placements, old.placements, self.placements, self._were),
            ("stage", new.stages, old.stages, self.stages, ()),
        ):
            dropped = [one for one in before if one not in patterns]
            is_left = (had_any and not before) or any(any_matches(one, known) for one in dropped)
            was_there = not had_any or any(any_matches(one, were) for one in dropped)
            for index, pattern in enumerate(patterns):
                is_new = pattern not in before and not any_matches(pattern, known)
                if is_new and (do := self._slip(pattern, is_left, was_there, known)):
                    yield (f"{word}s", index), f"matches no {word}, {STAYS}; {do}"
        if had_any and new.clusters != old.clusters and self._has_any(old.clusters) and not self._has_any(new.clusters):
            yield ("clusters",), f"matches no cluster, {STAYS}; {_RIGHT}"

    def _names_any(self, scope: FreezeScope) -> bool:
        """Whether each part of a scope matches something that is there, or was."""
        named = ((scope.placements, (self.placements, self._were)), (scope.stages, (self.stages,)))
        return self._has_any(scope.clusters) and all(
            not patterns or any(any_matches(one, names) for one in patterns for names in known)
            for patterns, known in named
        )

    def _has_any(self, selector: LabelSelector | None) -> bool:
        return selector is None or self.clusters.any_matches(selector)
