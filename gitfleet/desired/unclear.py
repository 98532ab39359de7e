"""What makes a commit unclear: errors that it brings, and files that it puts out of sight before they were in force.

Any of them may be what is to have the objects that the same commit takes away, by whatever chain of names, selectors
and labels; so what nobody wants any more waits for a person, or for the correction.

Source: invariant 2 (a fault takes nothing away from a cluster), decision D31.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from gitfleet.api.clusters import CLUSTER_GROUP
from gitfleet.api.faults import Fault, Severity, errors_of, is_error
from gitfleet.api.objects import Identity
from gitfleet.api.placements import PLACEMENT_GROUP, Placement, PlacementKey
from gitfleet.desired.kinds import is_our_group
from gitfleet.desired.paths import (
    SUFFIXES,
    folders_of,
    is_build_file,
    is_hidden,
    is_manifest_path,
    is_ours,
    is_payload_path,
)
from gitfleet.desired.readings import FileReading, ReadObject, read_file
from gitfleet.desired.recovery import Recovery
from gitfleet.desired.replaced import Replacements
from gitfleet.desired.request import SYMLINK, DesiredRequest
from gitfleet.desired.vanished import ignore_rules
from gitfleet.formats.limits import MAX_FILE_BYTES
from gitfleet.formats.yaml_reader import parse_documents
from gitfleet.model.desired import MisnamedFile, Vanished

_SAYS_NOTHING_OF_OBJECTS: Final = ("approvals", "evictions", "runs")
"""Folders of files that no object is placed by."""
_KIND: Final = re.compile(rb"""(?:^[ \t-]*+|[{,][ \t]*+)["']?kind["']?[ \t]*:""", re.MULTILINE)
_GROUPS: Final = frozenset((PLACEMENT_GROUP, CLUSTER_GROUP))
_NO_MANIFESTS: Final = (
    *(".md", ".markdown", ".rst", ".adoc", ".html"),
    *(".sh", ".py", ".go", ".tmpl", ".tpl", ".jsonnet", ".libsonnet"),
)
"""Pages, programs and what manifests are made of."""
_MOST_MISNAMED: Final = 100
"""So many files that an earlier commit brought are looked into."""


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


def misnamed_files(read: CommitRead, gone: Mapping[Identity, Vanished]) -> dict[str, MisnamedFile]:
    """What files of ours that are not read for their name have of what is gone, and of placements that nobody has; of
    whatever commit, these may be meant to have what goes. The payload's are read only where anything is gone. So may
    files that say nothing any more of placements and clusters that stood in them."""
    request, had = read.request, dict[str, set[Identity]]()
    for identity, place in gone.items():
        path = place.path
        if is_our_group(identity[0]) and path in request.files and not is_payload_path(path):
            had.setdefault(path, set()).add(identity)
    silent = {path: ones for path, ones in had.items() if _is_out_of_sight(read, path)}
    found = {path: MisnamedFile("says nothing any more", (), frozenset(ones)) for path, ones in silent.items()}
    for path in islice(_misnamed(read, of_payload=bool(gone)), _MOST_MISNAMED):
        source = request.files[path]
        content = request.contents(source.blob) if source.mode < SYMLINK else b""
        if _KIND.search(content):
            parsed = parse_documents(content, max_bytes=MAX_FILE_BYTES)
            reading = read_file(f"{path}{SUFFIXES[0]}", source.blob, parsed, request.contents)
            objects = [one for one in reading.objects if one.identity not in read.chosen]
            placements = (one.value for one in objects if isinstance(one.value, Placement))
            new = tuple(one for one in placements if one.key not in request.accepted.placements)
            copies = frozenset(one.identity for one in objects if one.identity in gone)
            found[path] = MisnamedFile("is not read (its name hides it)", new, copies)
    return found


def _misnamed(read: CommitRead, *, of_payload: bool) -> Iterator[str]:
    request, rules, unread = read.request, ignore_rules(read.request), _Unread.of(read, (), ())
    for path in request.files:
        folder, _, name = path.rpartition("/")
        if path in read.readings or not is_ours(path) or is_hidden(folder) or path.lower().endswith(_NO_MANIFESTS):
            continue
        is_named_so = name.startswith(".") or not is_manifest_path(path)
        is_wanted = of_payload and not unread.is_part(path) if is_payload_path(path) else True
        if is_named_so and is_wanted and not rules.hide(path):
            yield path


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
    request, changed = read.request, set(read.request.changed or ())
    reasons = [reason for hold in request.accepted.holds.values() for reason in hold.reasons]
    # To ignore a file that is none of ours is what its error says to do.
    wrong = {one.error_in for one in reasons if is_ours(one.error_in) or one.error_in not in request.files}
    wrong |= request.held.keys()
    acted = {path for path in request.before if _acts(read, path)}
    known = wrong | acted | {one.unread for one in reasons}
    for path in sorted(known & request.files.keys()):
        if not is_build_file(path) and _is_out_of_sight(read, path):
            yield Fault(path, 1, "", "", "is not read any more, or says nothing any more", Severity.WARNING)
    unread = _Unread.of(read, acted, wrong)
    is_corrected = not errors_of(request.accepted.faults) <= errors_of(faults)
    paths = changed.union(filter(_is_misnamed, request.files) if is_corrected else ()) - known - unread.sources
    for path in sorted(paths & request.files.keys()):
        if path not in read.readings:
            why = "is not read (its name or an ignore rule hides it)" if unread.may_hold(path) else ""
        elif path in request.before or not _is_out_of_sight(read, path):
            why = ""
        elif is_payload_path(path):
            why = "is only placed on clusters, as all in resources/ is"
        else:
            why = "says nothing, since all of it is a comment" if b"kind" in unread.text(path) else ""
        if why:
            yield Fault(path, 1, "", "", why, Severity.WARNING)


@dataclass(slots=True)
class _Unread:
    """Files that nothing reads: not the `sources` of kustomizations and charts, nor, but for those that were read, what
    else lies in their `folders`. `blobs` are of files that are gone, `names` of what had an error or never was in
    force."""

    read: CommitRead
    sources: frozenset[str]
    folders: frozenset[str]
    blobs: frozenset[str]
    names: frozenset[str]
    left: int = 1000
    """So many texts are looked into: a commit may bring any number of files."""

    @classmethod
    def of(cls, read: CommitRead, acted: Iterable[str], wrong: Collection[str]) -> _Unread:
        request = read.request
        return cls(
            read=read,
            sources=frozenset(source for one in request.built.values() for source in one.sources),
            folders=frozenset(request.built),
            blobs=frozenset(request.before[path].blob for path in acted if path not in request.files),
            names=frozenset(one for path in (*request.before, *wrong) for one in _names(read, path, path in wrong)),
        )

    def may_hold(self, path: str) -> bool:
        """Whether a file holds an object, by its text, where it is one of ours, one of the names, or, in YAML anywhere,
        one of our kinds; a page or a program does not."""
        request = self.read.request
        source = request.files[path]
        is_one_of_ours = is_ours(path) and (path in request.before or not self.is_part(path))
        if source.blob in self.blobs:
            return True
        is_page = source.mode >= SYMLINK or path.lower().endswith(_NO_MANIFESTS)
        if is_page or not (is_one_of_ours or self.names or is_manifest_path(path)):
            return False
        text = self.text(path)
        named = self.names | _GROUPS if is_manifest_path(path) else self.names
        return _KIND.search(text) is not None and (is_one_of_ours or any(name.encode() in text for name in named))

    def text(self, path: str) -> bytes:
        """The text of a file, empty where it is too large or too many have been read."""
        self.left -= 1
        return self.read.request.contents(self.read.request.files[path].blob) if self.left >= 0 else b""

    def is_part(self, path: str) -> bool:
        """Whether a file belongs to a kustomization or chart."""
        return path in self.sources or any(one in self.folders or one in self.sources for one in folders_of(path))


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


def _is_only_placed(reading: FileReading) -> bool:
    """Whether a file of the payload has what gitfleet would act on elsewhere."""
    return any(one.identity[0].startswith("payload ") for one in (*reading.objects, *reading.faulty))


def _is_misnamed(path: str) -> bool:
    """Whether a file of ours has the ending of those that are read, and another one after it (`web.yaml.txt`)."""
    name = path.rpartition("/")[2]
    meant = any(f"{ending}{sign}" in name for ending in SUFFIXES for sign in "._~-")
    return meant and is_ours(path) and not is_payload_path(path) and not is_manifest_path(path)
