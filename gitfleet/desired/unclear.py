"""What makes a commit unclear: errors that it brings, and files that it puts out of sight before they were in force.

Any of them may be what is to have the objects that the same commit takes away, by whatever chain of names, selectors
and labels; so what nobody wants any more waits for a person, or for the correction.

Source: invariant 2 (a fault takes nothing away from a cluster), decision D31.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gitfleet.api.faults import Fault, Severity, errors_of, is_error
from gitfleet.api.objects import Identity
from gitfleet.api.placements import PLACEMENT_GROUP, PlacementKey
from gitfleet.desired.kinds import is_our_group
from gitfleet.desired.paths import SUFFIXES, folders_of, is_build_file, is_manifest_path, is_ours, is_payload_path
from gitfleet.desired.readings import FileReading, ReadObject
from gitfleet.desired.recovery import Recovery
from gitfleet.desired.replaced import Replacements
from gitfleet.desired.request import SYMLINK, DesiredRequest

_SAYS_NOTHING_OF_OBJECTS: Final = ("approvals", "evictions", "runs")
"""Folders of files that no object is placed by."""
_KIND: Final = re.compile(rb"""(?:^[ \t-]*+|[{,][ \t]*+)["']?kind["']?[ \t]*:""", re.MULTILINE)
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
    """The files that holds wait for since they were out of sight, and that are read now or gone."""
    holds = read.request.accepted.holds.values()
    paths = {reason.unread for hold in holds for reason in hold.reasons if reason.unread}
    return frozenset(path for path in paths if path not in read.request.files or not _is_out_of_sight(read, path))


def _brought(read: CommitRead, faults: Sequence[Fault]) -> Iterator[Fault]:
    changed, before = read.request.changed, errors_of(read.request.accepted.faults)
    is_corrected = not before <= errors_of(faults)
    never = {
        (one.origin.path, one.label)
        for one in read.errors.refused
        if not is_payload_path(one.origin.path) and read.recovery.known(one.identity) is None
    }
    for fault in filter(is_error, faults):
        if fault.path.partition("/")[0] in _SAYS_NOTHING_OF_OBJECTS:
            continue
        is_new = is_corrected or changed is None or fault.path in changed or not errors_of([fault]) <= before
        if is_new or fault.path in read.errors.keeping or (fault.path, fault.object) in never:
            yield fault


def _out_of_sight(read: CommitRead, faults: Sequence[Fault]) -> Iterator[Fault]:
    """Files of the commit that are not read, or say nothing any more, and may be what is to have what it takes away."""
    request = read.request
    held_for = {reason.error_in for hold in request.accepted.holds.values() for reason in hold.reasons}
    # To ignore a file that is none of ours is what its error says to do.
    wrong = {path for path in held_for if is_ours(path) or path not in request.files}.union(request.held)
    for path in sorted(wrong | {path for path in request.before if _acts(read, path)}):
        if path in request.files and not is_build_file(path) and _is_out_of_sight(read, path):
            yield Fault(path, 1, "", "", "is not read any more, or says nothing any more", Severity.WARNING)
    blobs = {request.before[path].blob for path in request.before if path not in request.files and _acts(read, path)}
    names = {one for path in (*request.before, *wrong) for one in _names(read, path, path in wrong)}
    changed, built = set(request.changed or ()), _Built.of(read)
    is_corrected = not errors_of(request.accepted.faults) <= errors_of(faults)
    for path in sorted(request.files if is_corrected else changed):
        if path not in request.files or path in request.before or not _is_out_of_sight(read, path):
            continue
        if path in read.readings:
            is_meant, why = path in changed, "is only placed on clusters, as all in resources/ is"
        else:
            is_meant = path in changed and (request.files[path].blob in blobs or _may_say(read, path, built, names))
            is_meant = is_meant or (_is_misnamed(path) and _may_say(read, path, built, names))
            why = "is not read (its name or an ignore rule hides it)"
        if is_meant and path not in built.sources:
            yield Fault(path, 1, "", "", why, Severity.WARNING)


@dataclass(frozen=True, slots=True)
class _Built:
    """What kustomizations and charts are made of, and their folders: what else lies there is nobody's mistake here."""

    sources: frozenset[str]
    folders: frozenset[str]

    @classmethod
    def of(cls, read: CommitRead) -> _Built:
        found = read.request.built
        return cls(frozenset(source for one in found.values() for source in one.sources), frozenset(found))

    def has(self, path: str) -> bool:
        """Whether a path lies in a folder that is built, or of a chart that is."""
        return any(folder in self.folders or folder in self.sources for folder in folders_of(path))


def _is_out_of_sight(read: CommitRead, path: str) -> bool:
    """Whether nothing is done for what a file has: it is not read, says nothing, or is payload of a kind of ours."""
    reading = read.readings.get(path)
    if reading is None or is_payload_path(path):
        return reading is None or _is_only_placed(reading)
    return not (reading.objects or reading.faulty or reading.unreadable)


def _acts(read: CommitRead, path: str) -> bool:
    """Whether gitfleet acted on what a changed file had: a placement, a cluster and the like, no payload."""
    return not is_payload_path(path) and any(is_our_group(one[0]) for one in read.recovery.named_in(path))


def _names(read: CommitRead, path: str, was_wrong: bool) -> Iterator[str]:
    """The names of what had an error in a file or was not in force yet."""
    yield from (one.identity[3] for one in read.recovery.held_for(path))
    yield from (one[3] for one in read.recovery.named_in(path) if was_wrong or read.is_unknown(one))


def _may_say(read: CommitRead, path: str, built: _Built, names: Collection[str]) -> bool:
    """Whether a file that is not read may hold an object, by its text, where it is one of ours, or one of these names;
    a page of documentation does not."""
    source = read.request.files[path]
    if source.mode >= SYMLINK or path.lower().endswith(_DOCUMENTATION):
        return False
    text, is_one_of_ours = read.request.contents(source.blob), is_ours(path) and not built.has(path)
    return _KIND.search(text) is not None and (is_one_of_ours or any(name.encode() in text for name in names))


def _is_only_placed(reading: FileReading) -> bool:
    """Whether a file of the payload has what gitfleet would act on elsewhere."""
    return any(one.identity[0].startswith("payload ") for one in (*reading.objects, *reading.faulty))


def _is_misnamed(path: str) -> bool:
    """Whether a file of ours has the ending of those that are read, and another one after it (`web.yaml.txt`)."""
    name = path.rpartition("/")[2]
    meant = any(f"{ending}{sign}" in name for ending in SUFFIXES for sign in "._~-")
    return meant and is_ours(path) and not is_payload_path(path) and not is_manifest_path(path)
