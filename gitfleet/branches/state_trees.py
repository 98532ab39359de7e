"""From commits to values: the state branch, each blob parsed once per object id.

A state is read as a whole, or not at all: where the head of the branch is no commit that gitfleet wrote, or cannot be
read, the newest commit before it that is and can counts instead.
"""

from __future__ import annotations

import gc
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, NamedTuple

from gitfleet import snapshots
from gitfleet.api.fleet import Branches
from gitfleet.api.objects import Manifest
from gitfleet.api.runs import placement_of
from gitfleet.api.snapshots import ResourceSnapshot
from gitfleet.branches.desired_trees import DesiredTrees
from gitfleet.branches.texts import BranchesText
from gitfleet.errors import BadInput, RetryLater, UnreadableCommit
from gitfleet.model.desired import Desired
from gitfleet.model.failures import Failure, Subject, attempt
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.ports.caches import BlobCache
from gitfleet.ports.repos import RepoReader, TreeEntry
from gitfleet.rollout import staged
from gitfleet.settings import Limits
from gitfleet.state import (
    CACHED_FORM,
    FLEET_FILE,
    ParsedStateFile,
    assemble_state,
    document_paths,
    last_changed,
    parse_to_cache,
    snapshot_path,
    state_file_kind,
    too_large,
    unusable,
)

MOST_COMMITS: Final = 50
"""So many commits back a whole state is searched for."""
PHASE_TRAILER: Final = "Gitfleet-Phase"
TREE_TRAILER: Final = "Gitfleet-Tree"
PLAIN: Final = ("100644", "100755")
_BATCH: Final = 2000
"""So many files are read and parsed at once: a bound on memory, not on work."""

_File = tuple[str, str]
"""(path, blob id)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """The commit that a state was read from in place of the branch's head, and why. `readable`: git can read the head,
    so that the next commit goes on top of it; otherwise it takes the head's place."""

    head: str
    commit: str
    why: str
    readable: bool


class StateRead(NamedTuple):
    """A state, when gitfleet wrote it, and the commit that it was restored from (None: it is the head's)."""

    state: FleetState
    written: datetime | None = None
    restored: Restored | None = None


class StateTrees:
    """Reads the state branch. One instance serves one thread."""

    def __init__(self, repo: RepoReader, trees: DesiredTrees, limits: Limits, cache: BlobCache | None = None) -> None:
        """Files that are slow to read are kept in `cache` by blob id."""
        self._cache = cache
        self._repo = repo
        self._trees = trees
        self._limits = limits
        self._parsed: dict[_File, ParsedStateFile] = {}

    def at(self, head: str | None) -> FleetState:
        """See `read`."""
        return self.read(head).state

    def read(self, head: str | None, branch: str = Branches().state) -> StateRead:
        """All that the state branch contains at a head (None: nothing yet), snapshots in use loaded: of the head, or of
        the nearest commit before it that gitfleet wrote and that can be read as a whole. BadInput where there is none.
        """
        if head is None:
            return StateRead(FleetState())
        reasons: list[Failure] = []
        for commit in self._line(head):
            read = attempt(Subject("Commit", commit), self._whole, commit)
            if isinstance(read, Failure):
                if isinstance(read.cause, RetryLater):
                    raise read.cause
                reasons.append(read)
            elif commit == head:
                return read
            else:
                readable = not isinstance(reasons[0].cause, UnreadableCommit)
                restored = Restored(head=head, commit=commit, why=reasons[0].error, readable=readable)
                return read._replace(state=replace(read.state, restored=commit), restored=restored)
        if head.startswith("dir:"):
            raise BadInput(reasons[0].error, hint=BranchesText.STATE_FOLDER_START_AGAIN()) from reasons[0].cause
        sentence = BranchesText.STATE_BRANCH_COMMIT(head=head[:12], why=reasons[0].error, most=MOST_COMMITS)
        raise BadInput(sentence, hint=BranchesText.STATE_BRANCH_START_AGAIN(branch=branch))

    def _line(self, head: str) -> Iterator[str]:
        """A head and the commits before it; plain files have none."""
        yield head
        if not head.startswith("dir:"):
            with suppress(BadInput):
                yield from self._repo.ancestors(head, most=MOST_COMMITS)

    def _whole(self, commit: str) -> StateRead:
        """The state of one commit; BadInput unless gitfleet wrote it and every file that is needed can be read."""
        if not commit.startswith("dir:"):
            about = self._repo.about(commit)
            trailers = about.trailers
            written = trailers.get(TREE_TRAILER, about.tree if PHASE_TRAILER in trailers else "")
            if written != about.tree:
                raise BadInput(BranchesText.NOT_WRITTEN_BY_GITFLEET())
        entries = self._repo.list_tree(commit)
        if FLEET_FILE not in entries:
            raise unusable(FLEET_FILE, BranchesText.IT_IS_GONE())
        modes = {(path, entry.oid): entry.mode for path, entry in entries.items() if state_file_kind(path)}
        if odd := [path for (path, _), mode in modes.items() if mode not in PLAIN]:
            raise unusable(odd[0], BranchesText.NO_PLAIN_FILE())
        with _without_collection():
            unread = [file for file in modes if file not in self._parsed]
            for start in range(0, len(unread), _BATCH):
                self._parsed |= self._parse(unread[start : start + _BATCH])
            self._parsed = {file: self._parsed[file] for file in modes}
            files = {path: file for (path, _), file in self._parsed.items()}
            state = assemble_state({path: entry.oid for path, entry in entries.items()}, files)
        return StateRead(self._with_documents(state, entries), last_changed(files))

    def _parse(self, files: Collection[_File]) -> dict[_File, ParsedStateFile]:
        """What files say, from the cache where it has them. BadInput for one that cannot be read."""
        keys = {(path, oid): f"{CACHED_FORM}:{state_file_kind(path)}:{oid}" for path, oid in files}
        cached = self._cache.get_many(set(keys.values())) if self._cache is not None else {}
        missing = {oid for (_, oid), key in keys.items() if key not in cached}
        limit = 16 * self._limits.file_bytes
        read = self._repo.read_blobs(missing, limit=limit)
        fresh: dict[str, bytes] = {}
        parsed: dict[_File, ParsedStateFile] = {}
        for (path, oid), key in keys.items():
            content = cached.get(key, read.get(oid))
            if content is None:
                raise too_large(path, limit)
            parsed[path, oid], form = parse_to_cache(path, content)
            if form is not None:
                fresh[key] = form
        if self._cache is not None:
            self._cache.put_many(fresh)
        return parsed

    def with_snapshots_named(self, state: FleetState, desired: Desired) -> FleetState:
        """The state with the manifests of the snapshots that unfinished runs roll out or replace and pins keep, old
        ones that nothing else uses; the very same where there are none. One whose documents are not all there stays
        unloaded."""
        records = dict(state.placements)
        for pin in desired.pins.values():
            record = records.get(pin.placement)
            # What a placement has already is the content of its newest snapshot.
            if record is not None and (latest := record.latest_resources) is not None and latest.hash != pin.digest:
                named = next((s for s in record.resource_snapshots if s.index == pin.snapshot), None)
                records[pin.placement] = self.loaded(Subject.of_placement(pin.placement), record, named)
        for run in desired.runs.values():
            recorded = state.runs.get(run.key)
            record = records.get(placement_of(run))
            if record is None or (recorded and recorded.finished):
                continue
            names = {former.resource_snapshot for _, former in recorded.formers} if recorded else set()
            target = staged.snapshot_for(recorded or run, record)
            for snapshot in (target, *map(record.snapshot_named, sorted(names))):
                record = self.loaded(Subject.of_run(run.key), record, snapshot)
            records[record.placement.key] = record
        is_same = all(records[key] is record for key, record in state.placements.items())
        return state if is_same else replace(state, placements=records)

    def loaded(self, subject: Subject, record: PlacementRecord, snapshot: ResourceSnapshot | None) -> PlacementRecord:
        """The record with the manifests of one of its snapshots; the very same where they are there already, or not all
        of its documents are there any more."""
        if snapshot is None or snapshot.manifests is not None:
            return record
        documents = self._trees.documents(sorted({(d.path, d.blob) for d in snapshot.documents}))
        loaded = attempt(subject, snapshots.restore_snapshot, snapshot, documents)
        if isinstance(loaded, Failure):
            return record
        resource_snapshots = (loaded if current is snapshot else current for current in record.resource_snapshots)
        return replace(record, resource_snapshots=tuple(resource_snapshots))

    def _with_documents(self, state: FleetState, entries: Mapping[str, TreeEntry]) -> FleetState:
        """The state with the manifests of the snapshots in use; BadInput where one of their documents is not there."""
        used = {key: snapshots_in_use(record) for key, record in state.placements.items()}
        needed = [snapshot for of_record in used.values() for snapshot in of_record]
        for snapshot in needed:
            for document, path in zip(snapshot.documents, document_paths(snapshot), strict=True):
                if path not in entries or entries[path].oid != document.blob:
                    raise unusable(snapshot_path(snapshot), BranchesText.SNAPSHOT_LACKS(path=path))
        documents = self._trees.documents(sorted({(d.path, d.blob) for s in needed for d in s.documents}))
        records = {key: _with_manifests(record, used[key], documents) for key, record in state.placements.items()}
        return replace(state, placements=records)


@contextmanager
def _without_collection() -> Iterator[None]:
    """No garbage collection inside: a hundred thousand values that all stay are searched in vain again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def snapshots_in_use(record: PlacementRecord) -> tuple[ResourceSnapshot, ...]:
    """The snapshots whose manifests are needed: the newest, and those that bindings have or are to have."""
    names = {name for binding in record.bindings for name in (binding.resource_snapshot, binding.applied_snapshot)}
    return tuple(s for s in record.resource_snapshots if s is record.latest_resources or s.name in names)


def _with_manifests(
    record: PlacementRecord, used: Collection[ResourceSnapshot], documents: Mapping[tuple[str, int], Manifest]
) -> PlacementRecord:
    indexes = {snapshot.index for snapshot in used}
    loaded = (
        snapshots.restore_snapshot(snapshot, documents) if snapshot.index in indexes else snapshot
        for snapshot in record.resource_snapshots
    )
    return replace(record, resource_snapshots=tuple(loaded))
