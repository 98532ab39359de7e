"""From commits to values: the state branch, each blob parsed once per object id.

What is gone or cannot be read is never fatal: the last version that can be read is searched for in the commits before,
and what has none is left out of the state. The state's damage says both.
"""

from __future__ import annotations

import gc
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from gitfleet import snapshots
from gitfleet.api.objects import Manifest
from gitfleet.api.placements import PlacementKey
from gitfleet.api.runs import placement_of
from gitfleet.api.snapshots import ResourceSnapshot
from gitfleet.loop.state_heads import MOST_COMMITS, PLAIN, usable_files
from gitfleet.loop.texts import LoopText
from gitfleet.loop.trees import DesiredTrees
from gitfleet.model.desired import Desired
from gitfleet.model.failures import Failure, Subject, attempt
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.ports.caches import BlobCache
from gitfleet.ports.repos import RepoReader, TreeEntry
from gitfleet.rollout import staged
from gitfleet.settings import Limits
from gitfleet.state import (
    CACHED_FORM,
    FAULTS_FILE,
    FLEET_FILE,
    ParsedStateFile,
    Unusable,
    assemble_state,
    document_paths,
    is_state_file,
    lost_faults,
    parse_to_cache,
    snapshot_path,
    state_file_kind,
    too_large,
)

_BATCH: Final = 2000
"""So many files are read and parsed at once: a bound on memory, not on work."""

_File = tuple[str, str]
"""(path, blob id)"""


class StateTrees:
    """Reads the state branch. One instance serves one thread."""

    def __init__(self, repo: RepoReader, trees: DesiredTrees, limits: Limits, cache: BlobCache | None = None) -> None:
        """Files that are slow to read are kept in `cache` by blob id."""
        self._cache = cache
        self._repo = repo
        self._trees = trees
        self._limits = limits
        self._parsed: dict[_File, ParsedStateFile | Failure] = {}

    def at(self, head: str | None) -> FleetState:
        """All that the state branch holds at a head (None: nothing yet), snapshots in use loaded.

        Of a head that cannot be read, or holds no state, the nearest commit before it that does; BadInput for none.
        What gitfleet wrote and the head lacks is read from the commit that has it.
        """
        if head is None:
            return FleetState()
        entries, unusable = usable_files(self._repo, head)
        wanted = {path: entry for path, entry in entries.items() if is_state_file(path)}
        with _without_collection():
            known = {(path, entry.oid): self._parsed.get((path, entry.oid)) for path, entry in wanted.items()}
            unread = [file for file, parsed in known.items() if parsed is None and wanted[file[0]].mode in PLAIN]
            fresh: dict[_File, ParsedStateFile | Failure] = {}
            for start in range(0, len(unread), _BATCH):
                fresh |= self._parse(unread[start : start + _BATCH])
            fresh |= {file: _no_plain_file(file[0]) for file in known.keys() - fresh.keys() if known[file] is None}
            self._parsed = {file: fresh[file] if parsed is None else parsed for file, parsed in known.items()}
            state = self._assembled(unusable.instead if unusable and not unusable.missing else head, entries)
        return self._with_documents(replace(state, damage=replace(state.damage, head=unusable)), entries)

    def _assembled(self, head: str, entries: Mapping[str, TreeEntry]) -> FleetState:
        found = {path: file for (path, _), file in self._parsed.items() if not isinstance(file, Failure)}
        bad = {path: file.error for (path, _), file in self._parsed.items() if isinstance(file, Failure)}
        if FLEET_FILE not in found:
            bad.setdefault(FLEET_FILE, LoopText.STATE_BRANCH_GONE(fleet_file=FLEET_FILE))
        if lost_faults(found):
            bad.setdefault(FAULTS_FILE, LoopText.STATE_BRANCH_LACKS_ENTRIES(faults_file=FAULTS_FILE))
        restored: dict[str, str] = {}
        for path, (commit, file) in self._before(head, bad).items():
            restored[path], found[path] = commit, file
        listing = {path: entry.oid for path, entry in entries.items()}
        return assemble_state(listing, found, Unusable(commit=head, files=bad, restored=restored))

    def _before(self, head: str, bad: Collection[str]) -> dict[str, tuple[str, ParsedStateFile]]:
        """The last version of each path that can be read, and its commit; a path that has none is left out."""
        found: dict[str, tuple[str, ParsedStateFile]] = {}
        tried: set[_File] = set()
        missing = set(bad)
        for commit in self._repo.ancestors(head, most=MOST_COMMITS) if bad else ():
            tree = self._repo.list_tree(commit)
            there = {path: tree[path].oid for path in missing if path in tree and tree[path].mode in PLAIN}
            unread = set(there.items()) - tried
            tried |= unread
            for (path, _), file in self._parse(unread).items():
                if not isinstance(file, Failure):
                    found[path] = (commit, file)
            missing -= found.keys()
            if not missing:
                break
        return found

    def _parse(self, files: Collection[_File]) -> dict[_File, ParsedStateFile | Failure]:
        """What files say, from the cache where it has them; the failure of one that cannot be read."""
        keys = {(path, oid): f"{CACHED_FORM}:{state_file_kind(path)}:{oid}" for path, oid in files}
        kept = self._cache.get_many(set(keys.values())) if self._cache is not None else {}
        missing = {oid for (_, oid), key in keys.items() if key not in kept}
        limit = 16 * self._limits.file_bytes
        read = self._repo.read_blobs(missing, limit=limit)
        fresh: dict[str, bytes] = {}
        parsed: dict[_File, ParsedStateFile | Failure] = {}
        for (path, oid), key in keys.items():
            content = kept.get(key, read.get(oid))
            if content is None:
                parsed[path, oid] = Failure(subject=Subject("File", path), error=str(too_large(path, limit)))
                continue
            file = attempt(Subject("File", path), parse_to_cache, path, content)
            if isinstance(file, Failure):
                parsed[path, oid] = file
                continue
            parsed[path, oid], form = file
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
            known = state.runs.get(run.key)
            record = records.get(placement_of(run))
            if record is None or (known and known.finished):
                continue
            names = {former.resource_snapshot for _, former in known.formers} if known else set()
            wanted = staged.snapshot_for(known or run, record)
            for snapshot in (wanted, *map(record.snapshot_named, sorted(names))):
                record = self.loaded(Subject.of_run(run.key), record, snapshot)
            records[record.placement.key] = record
        same = all(records[key] is record for key, record in state.placements.items())
        return state if same else replace(state, placements=records)

    def loaded(self, subject: Subject, record: PlacementRecord, snapshot: ResourceSnapshot | None) -> PlacementRecord:
        """The record with the manifests of one of its snapshots; the very same where they are there already, or not all
        of its documents are there any more."""
        if snapshot is None or snapshot.manifests is not None:
            return record
        documents = self._trees.documents(sorted({(d.path, d.blob) for d in snapshot.documents}))
        loaded = attempt(subject, snapshots.restore_snapshot, snapshot, documents)
        if isinstance(loaded, Failure):
            return record
        kept = (loaded if one is snapshot else one for one in record.resource_snapshots)
        return replace(record, resource_snapshots=tuple(kept))

    def _with_documents(self, state: FleetState, entries: Mapping[str, TreeEntry]) -> FleetState:
        """The state with the manifests of the snapshots in use; a snapshot whose documents are not all there any more
        is lost as one whose file is; where that is the newest, the one before it is."""
        lost: dict[str, str] = {}
        records = {**state.placements, **state.damage.orphans}
        unbound = _unbound(state, records)
        used = {
            key: tuple(
                _linked(record.resource_snapshots if key in unbound else snapshots_in_use(record), entries, lost)
            )
            for key, record in records.items()
        }
        wanted = {(d.path, d.blob) for found in used.values() for snapshot in found for d in snapshot.documents}
        documents = self._trees.documents(sorted(wanted))
        whole = {key: _with_manifests(record, used[key], documents, lost) for key, record in records.items()}
        if not (lost or state.damage.any):
            return replace(state, placements=whole)
        damage = replace(
            state.damage,
            files={**state.damage.files, **lost},
            restored={path: commit for path, commit in state.damage.restored.items() if path not in lost},
            orphans={key: whole[key] for key in state.damage.orphans},
        )
        found = replace(state, placements={key: whole[key] for key in state.placements}, damage=damage)
        return self._with_documents(found, entries) if any(map(_is_unread, whole.values())) else found


def _no_plain_file(path: str) -> Failure:
    return Failure(subject=Subject("File", path), error=LoopText.STATE_BRANCH_NO_PLAIN_FILE(path=path))


@contextmanager
def _without_collection() -> Iterator[None]:
    """No garbage collection inside: a hundred thousand values that all stay are searched in vain again and again."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def snapshots_in_use(record: PlacementRecord) -> tuple[ResourceSnapshot, ...]:
    """The snapshots whose manifests are needed: the newest, and those that bindings have or are to have."""
    names = {name for binding in record.bindings for name in (binding.resource_snapshot, binding.applied_snapshot)}
    return tuple(s for s in record.resource_snapshots if s is record.latest_resources or s.name in names)


def _unbound(state: FleetState, records: Mapping[PlacementKey, PlacementRecord]) -> frozenset[PlacementKey]:
    """The placements that own something where they have no binding: what it is follows from all of their snapshots."""
    bound = {(binding.cluster, key) for key, record in records.items() for binding in record.bindings}
    owners = {(name, entry.placement) for name, owned in state.inventory.items() for entry in owned.values()}
    return frozenset(key for _, key in owners - bound)


def _is_unread(record: PlacementRecord) -> bool:
    latest = record.latest_resources
    return latest is not None and latest.manifests is None


def _linked(
    used: tuple[ResourceSnapshot, ...], entries: Mapping[str, TreeEntry], lost: dict[str, str]
) -> Iterator[ResourceSnapshot]:
    """The snapshots whose documents lie on the branch; of the others, the reason by their file. So no blob is asked for
    that the repository does not have."""
    for snapshot in used:
        places = zip(snapshot.documents, document_paths(snapshot), strict=True)
        if any(path not in entries or entries[path].oid != document.blob for document, path in places):
            lost[snapshot_path(snapshot)] = LoopText.OBJECTS_SNAPSHOT_NOT_ALL_BRANCH(snapshot=snapshot.name)
        else:
            yield snapshot


def _with_manifests(
    record: PlacementRecord,
    used: tuple[ResourceSnapshot, ...],
    documents: Mapping[tuple[str, int], Manifest],
    lost: dict[str, str],
) -> PlacementRecord:
    """The record with the manifests of the snapshots in use; the reasons of those that are left out by their file."""
    indexes = {snapshot.index for snapshot in used}
    kept: list[ResourceSnapshot] = []
    for snapshot in record.resource_snapshots:
        path = snapshot_path(snapshot)
        restored: ResourceSnapshot | Failure = snapshot
        if snapshot.index in indexes:
            restored = attempt(Subject("File", path), snapshots.restore_snapshot, snapshot, documents)
        if isinstance(restored, Failure):
            lost[path] = restored.error
        elif path not in lost:
            kept.append(restored)
    return replace(record, resource_snapshots=tuple(kept))
