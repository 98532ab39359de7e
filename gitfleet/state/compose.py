"""What must be written to the state branch so that it holds one state, given that it holds another (contracts.md
§2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeVar

from gitfleet import __version__
from gitfleet.api import write
from gitfleet.api.bindings import Binding
from gitfleet.api.objects import JsonObject
from gitfleet.api.overrides import OverrideKey
from gitfleet.api.placements import PlacementKey
from gitfleet.api.snapshots import OverrideSnapshot, ResourceSnapshot
from gitfleet.formats.yaml_writer import write_documents
from gitfleet.model.state import FleetState, Inventory, PlacementRecord, changed
from gitfleet.state import paths
from gitfleet.state.shapes.bindings import binding_line, bindings_bytes
from gitfleet.state.shapes.clusters import cluster_object
from gitfleet.state.shapes.ledgers import FleetHead, faults_object, inventory_bytes, inventory_line
from gitfleet.state.shapes.overrides import override_object
from gitfleet.state.shapes.placements import placement_file_object
from gitfleet.state.shapes.snapshots import policy_snapshot_bytes, policy_snapshot_object, resource_snapshot_object
from gitfleet.state.shards import cluster_address, inventory_address, shards

Entry = TypeVar("Entry")
K = TypeVar("K", bound=object)
V = TypeVar("V")


@dataclass(frozen=True, slots=True, kw_only=True)
class StateChange:
    """What to write: `remove` names files and whole folders, to be dropped before `write` (path: bytes) and `link`
    (path: id of a blob that the repository has) are done. README.md is the caller's."""

    write: Mapping[str, bytes] = field(default_factory=dict)
    link: Mapping[str, str] = field(default_factory=dict)
    remove: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether there is nothing to write: then there must be no commit."""
        return not (self.write or self.link or self.remove)


@dataclass(frozen=True, slots=True)
class _Files:
    misplaced: frozenset[str] = frozenset()
    write: dict[str, bytes] = field(default_factory=dict)
    link: dict[str, str] = field(default_factory=dict)
    remove: list[str] = field(default_factory=list)

    def put(self, path: str, old: JsonObject | None, new: JsonObject) -> None:
        """Write an object's file unless it says this already."""
        if old != new:
            self.write[path] = write_documents([new])

    @property
    def any(self) -> bool:
        return bool(self.write or self.link or self.remove)


def compose_state(
    before: FleetState, after: FleetState, *, now: datetime | None = None, version: str = __version__
) -> StateChange:
    """The change of the state branch that leads from `before`, which it holds, to `after`; empty when they say the
    same and every file of `before` lies where it belongs.

    Values that are the same object in both cost nothing, equal ones next to nothing. The same arguments give the same
    bytes. `now` is shown as the time of the last change. Raises BadInput for a name that can be no file of the
    branch.
    """
    if before is after and not before.misplaced:
        return StateChange()
    files = _Files(misplaced=before.misplaced)
    _clusters(files, before, after)
    for key, old, new in _changed(before.placements, after.placements, before.misplaced, paths.bindings_folder):
        _placement(files, key, old, new)
    for override_key, olds, news in changed(before.overrides, after.overrides):
        _overrides(files, override_key, olds or (), news or ())
    for cluster, had, has in _changed(before.inventory, after.inventory, before.misplaced, paths.inventory_folder):
        _inventory(files, cluster, had or {}, has or {})
    _faults(files, before, after)
    same_head = (before.observed_commit, before.scheduler_plugins) == (after.observed_commit, after.scheduler_plugins)
    if same_head and not files.any:
        return StateChange()
    head = FleetHead(
        observed_commit=after.observed_commit,
        gitfleet_version=version,
        last_changed=now,
        scheduler_plugins=after.scheduler_plugins,
    )
    files.write[paths.FLEET] = write_documents([write(head)])
    return StateChange(
        write=dict(sorted(files.write.items())),
        link=dict(sorted(files.link.items())),
        remove=tuple(sorted(files.remove)),
    )


def _changed(
    before: Mapping[K, V], after: Mapping[K, V], misplaced: frozenset[str], folder_of: Callable[[K], str]
) -> Iterator[tuple[K, V | None, V | None]]:
    """What changed, and what stays and yet has to be written anew because its files lie elsewhere."""
    if not misplaced:
        yield from changed(before, after)
        return
    for key in sorted({*before, *after}):  # type: ignore[type-var]  # every key of the state has an order
        if before.get(key) is not after.get(key) or folder_of(key) in misplaced:
            yield key, before.get(key), after.get(key)


def _clusters(files: _Files, before: FleetState, after: FleetState) -> None:
    for name, old, new in changed(before.clusters, after.clusters):
        path = paths.cluster_path(name)
        if new is None:
            files.remove.append(path)
        elif new != old:
            files.put(path, cluster_object(old) if old else None, cluster_object(new))


def _placement(files: _Files, key: PlacementKey, old: PlacementRecord | None, new: PlacementRecord | None) -> None:
    if new is None:
        if old is not None:
            _drop_placement(files, key, old)
        return
    if len({binding.cluster for binding in new.bindings}) != len(new.bindings):
        raise ValueError(f"{key} was given two bindings to one cluster")
    files.put(paths.placement_path(key), placement_file_object(old) if old else None, placement_file_object(new))
    _resource_snapshots(files, key, old.resource_snapshots if old else (), new.resource_snapshots)
    _policy_snapshots(files, key, old, new)
    was, now = (record.bindings if record else () for record in (old, new))
    folder = paths.bindings_folder(key)
    if was is not now or folder in files.misplaced:
        kind: _Shards[Binding] = _Shards(
            folder=folder,
            address=lambda binding: cluster_address(binding.cluster),
            order=lambda binding: binding.cluster,
            render=lambda bindings: bindings_bytes(key, map(binding_line, bindings)),
        )
        _rewrite(files, kind, was, now)


def _drop_placement(files: _Files, key: PlacementKey, old: PlacementRecord) -> None:
    files.remove.append(paths.placement_path(key))
    for folder, content in (
        (paths.resources_folder(key), old.resource_snapshots),
        (paths.policies_folder(key), old.policy_snapshots),
        (paths.bindings_folder(key), old.bindings),
    ):
        if content:
            files.remove.append(folder)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shards(Generic[Entry]):
    """A folder of many entries: how they are spread over its files, their order inside one, and the file's bytes."""

    folder: str
    address: Callable[[Entry], int]
    order: Callable[[Entry], Any]
    render: Callable[[Sequence[Entry]], bytes]

    def files(self, entries: Iterable[Entry]) -> dict[str, list[Entry]]:
        return shards(self.folder, entries, self.address)


def _rewrite(files: _Files, kind: _Shards[Entry], before: Iterable[Entry], after: Iterable[Entry]) -> None:
    """Rewrite the files whose entries differ. Sorting is for those alone: entries that did not change stand as they
    did."""
    was, now = kind.files(before), kind.files(after)
    if kind.folder in files.misplaced:
        files.remove.append(kind.folder)
        was = {}
    files.remove.extend(path for path in was if path not in now)
    for path, entries in now.items():
        old = was.get(path)
        if entries != old:
            ordered = sorted(entries, key=kind.order)
            if old is None or sorted(old, key=kind.order) != ordered:
                files.write[path] = kind.render(ordered)


def _resource_snapshots(
    files: _Files, key: PlacementKey, olds: tuple[ResourceSnapshot, ...], news: tuple[ResourceSnapshot, ...]
) -> None:
    if olds is news:
        return
    before = {snapshot.index: _snapshot_object(snapshot, olds) for snapshot in olds}
    after = {snapshot.index: snapshot for snapshot in news}
    files.remove.extend(paths.resource_snapshot_folder(key, index) for index in before if index not in after)
    for index, snapshot in after.items():
        wanted = _snapshot_object(snapshot, news)
        if before.get(index) == wanted:
            continue
        folder = paths.resource_snapshot_folder(key, index)
        files.write[f"{folder}/{paths.SNAPSHOT_FILE}"] = write_documents([wanted])
        if index not in before or before[index]["spec"] != wanted["spec"]:
            if index in before:
                files.remove.append(folder)
            _documents(files, snapshot)


def _snapshot_object(snapshot: ResourceSnapshot, every: tuple[ResourceSnapshot, ...]) -> JsonObject:
    return resource_snapshot_object(snapshot, latest=snapshot is every[-1])


def _documents(files: _Files, snapshot: ResourceSnapshot) -> None:
    """The selected manifests: by blob where they have one, written out where they were rendered."""
    bodies = {manifest.key: manifest.body for manifest in snapshot.manifests or ()}
    for ref, path in zip(snapshot.documents, paths.document_paths(snapshot), strict=True):
        if paths.is_rendered(ref) and ref.key in bodies:
            files.write[path] = write_documents([bodies[ref.key]])
        elif ref.rendered == paths.is_rendered(ref) and ref.blob:
            files.link[path] = ref.blob
        else:
            raise ValueError(f"{snapshot.name} was given without the manifest of {ref.key}, which has no blob")


def _policy_snapshots(files: _Files, key: PlacementKey, old: PlacementRecord | None, new: PlacementRecord) -> None:
    if (
        old is not None
        and old.policy_snapshots is new.policy_snapshots
        and old.decisions is new.decisions
        and old.scheduled == new.scheduled
    ):
        return
    before, after = (_policy_files(key, record) if record else {} for record in (old, new))
    files.remove.extend(path for path in before if path not in after)
    for path, wanted in after.items():
        if before.get(path) != wanted:
            files.write[path] = policy_snapshot_bytes(wanted)


def _policy_files(key: PlacementKey, record: PlacementRecord) -> dict[str, JsonObject]:
    return {
        paths.policy_path(key, snapshot.index): policy_snapshot_object(
            snapshot,
            latest=snapshot is record.latest_policy,
            scheduled=record.scheduled,
            decisions=record.decisions,
        )
        for snapshot in record.policy_snapshots
    }


def _overrides(
    files: _Files, key: OverrideKey, olds: tuple[OverrideSnapshot, ...], news: tuple[OverrideSnapshot, ...]
) -> None:
    before, after = (
        {
            paths.override_path(key, snapshot.index): override_object(snapshot, latest=snapshot is every[-1])
            for snapshot in every
        }
        for every in (olds, news)
    )
    files.remove.extend(path for path in before if path not in after)
    for path, wanted in after.items():
        if before.get(path) != wanted:
            files.write[path] = write_documents([wanted])


def _inventory(files: _Files, cluster: str, old: Inventory, new: Inventory) -> None:
    kind = _Shards(
        folder=paths.inventory_folder(cluster),
        address=inventory_address,
        order=lambda entry: (entry.placement, entry.key),
        render=lambda entries: inventory_bytes(cluster, map(inventory_line, entries)),
    )
    _rewrite(files, kind, old.values(), new.values())


def _faults(files: _Files, before: FleetState, after: FleetState) -> None:
    if (before.faults, before.last_good) == (after.faults, after.last_good):
        return
    if after.faults or after.last_good:
        files.write[paths.FAULTS] = write_documents([faults_object(after.faults, after.last_good)])
    else:
        files.remove.append(paths.FAULTS)
    was, now = (
        {good.blob for versions in state.last_good.values() for good in versions if good.blob}
        for state in (before, after)
    )
    files.remove.extend(paths.last_good_path(blob) for blob in was - now)
    files.link.update({paths.last_good_path(blob): blob for blob in now - was})
