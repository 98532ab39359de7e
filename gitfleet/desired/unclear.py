"""What makes a commit unclear: errors that it brings, and files that it puts out of sight before they were in force.

Any of them may be what is to have the objects that the same commit takes away, by whatever chain of names, selectors
and labels; so what nobody wants any more waits for a person, or for the correction.

Source: invariant 2 (a fault takes nothing away from a cluster), decision D31.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gitfleet.api.faults import Fault, Severity, is_error
from gitfleet.api.objects import Identity
from gitfleet.api.placements import PLACEMENT_GROUP, PlacementKey
from gitfleet.desired.paths import SUFFIXES, is_build_file, is_manifest_path, is_ours, is_payload_path
from gitfleet.desired.readings import FileReading, ReadObject
from gitfleet.desired.recovery import Recovery
from gitfleet.desired.replaced import Replacements
from gitfleet.desired.request import SYMLINK, DesiredRequest

_SAYS_NOTHING_OF_OBJECTS: Final = ("approvals", "evictions", "runs")
"""Folders of files that no object is placed by."""
_DOCUMENTATION: Final = (".md", ".markdown", ".rst", ".adoc", ".html")


@dataclass(frozen=True, slots=True)
class CommitRead:
    """What was read of a commit: its `errors` with what goes on for them, its files, and the objects that are
    `chosen`."""

    errors: Replacements
    readings: Mapping[str, FileReading]
    chosen: Mapping[Identity, ReadObject]

    @property
    def request(self) -> DesiredRequest:
        """The files, and what was in force before."""
        return self.errors.request

    @property
    def recovery(self) -> Recovery:
        """What was in force before, by name and file."""
        return self.errors.recovery

    def is_unknown(self, identity: Identity) -> bool:
        """Whether a name is a placement's that was never accepted."""
        key = PlacementKey(*identity[2:])
        return identity[:2] == (PLACEMENT_GROUP, key.kind) and key not in self.request.accepted.placements


def unclear_places(read: CommitRead, faults: Sequence[Fault]) -> tuple[Fault, ...]:
    """One fault for each file, by path: an error that is new, stands in a file that changed, or is all that there ever
    was of a placement or cluster; each error, where another one is corrected; a warning where such a file is out of
    sight now."""
    found = {fault.path: fault for fault in sorted(_brought(read, faults), reverse=True)}
    return tuple(found[path] for path in sorted(found)) + tuple(_out_of_sight(read, faults))


def read_again(read: CommitRead) -> frozenset[str]:
    """The files that holds wait for since they were out of sight, and that are read now; of misread names, those that
    are gone."""
    holds = read.request.accepted.holds.values()
    paths = {reason.unread for hold in holds for reason in hold.reasons if reason.unread}
    return frozenset(
        path
        for path in paths
        if ((reading := read.readings.get(path)) is not None and _says_something(reading))
        or (_is_misnamed(path) and path not in read.request.files)
    )


def _brought(read: CommitRead, faults: Sequence[Fault]) -> Iterator[Fault]:
    changed, before = read.request.changed, _errors(read.request.accepted.faults)
    is_corrected = _is_corrected(read, faults)
    never = {
        (one.origin.path, one.label)
        for one in read.errors.refused
        if not is_payload_path(one.origin.path) and read.recovery.known(one.identity) is None
    }
    for fault in filter(is_error, faults):
        if fault.path.partition("/")[0] in _SAYS_NOTHING_OF_OBJECTS:
            continue
        is_new = is_corrected or changed is None or fault.path in changed or _said(fault) not in before
        if is_new or fault.path in read.errors.keeping or (fault.path, fault.object) in never:
            yield fault


def _is_corrected(read: CommitRead, faults: Iterable[Fault]) -> bool:
    """Whether an error is gone. With it goes what it kept back, so that an edit may take effect now which came with any
    of the others."""
    return not _errors(read.request.accepted.faults) <= _errors(faults)


def _errors(faults: Iterable[Fault]) -> set[tuple[str, str, str, str]]:
    return {_said(fault) for fault in faults if is_error(fault)}


def _said(fault: Fault) -> tuple[str, str, str, str]:
    return fault.path, fault.object, fault.field, fault.message


def _out_of_sight(read: CommitRead, faults: Sequence[Fault]) -> Iterator[Fault]:
    """Files that had an error, or a placement that was not in force yet, and are not read any more or say nothing."""
    request = read.request
    waiting = {path for path in request.before if any(map(read.is_unknown, read.recovery.named_in(path)))}
    waiting |= {reason.error_in for hold in request.accepted.holds.values() for reason in hold.reasons} - {""}
    for path in sorted(waiting.union(request.held)):
        reading = read.readings.get(path)
        if is_build_file(path) or (reading is not None and _says_something(reading)):
            continue
        if path in request.files or (path in request.before and _is_moved(read, path)):
            yield Fault(path, 1, "", "", "is not read any more, or says nothing any more", Severity.WARNING)
    for path in sorted(request.files if _is_corrected(read, faults) else request.changed or ()):
        if path in request.files and path not in read.readings and _is_misnamed(path) and _may_say(read, path):
            yield Fault(path, 1, "", "", "is not read, by its name", Severity.WARNING)


def _is_moved(read: CommitRead, old: str) -> bool:
    """Whether a file that is gone stands in the commit, as it was or edited, where nothing of it is acted on."""
    request, recovery, was = read.request, read.recovery, read.request.before[old].blob
    names = {identity[3] for identity in recovery.named_in(old)} | {one.identity[3] for one in recovery.held_for(old)}
    built = {source for one in request.built.values() for source in one.sources}
    new = (path for path in request.changed or () if path in request.files and path not in built)
    return any(
        (request.files[path].blob == was or _may_say(read, path, names))
        for path in new
        if path not in read.readings or _is_only_placed(read.readings[path])
    )


def _may_say(read: CommitRead, path: str, names: Collection[str] = ()) -> bool:
    """Whether a file that is not read may hold an object (of one of these names), by its text; a page of documentation
    does not."""
    source = read.request.files[path]
    if source.mode >= SYMLINK or path.lower().endswith(_DOCUMENTATION):
        return False
    text = read.request.contents(source.blob)
    return b"kind" in text and (not names or any(name.encode() in text for name in names))


def _is_only_placed(reading: FileReading) -> bool:
    """Whether a file of the payload has what gitfleet would act on elsewhere."""
    return any(one.identity[0].startswith("payload ") for one in (*reading.objects, *reading.faulty))


def _is_misnamed(path: str) -> bool:
    """Whether a file of ours has the ending of those that are read, and another one after it (`web.yaml.txt`)."""
    name = path.rpartition("/")[2]
    meant = any(f"{ending}{sign}" in name for ending in SUFFIXES for sign in "._~-")
    return meant and is_ours(path) and not is_payload_path(path) and not is_manifest_path(path)


def _says_something(reading: FileReading) -> bool:
    return bool(reading.objects or reading.faulty or reading.unreadable)
