"""The files of one placement: its own, its snapshots and its bindings."""

from __future__ import annotations

from gitfleet.api.bindings import Binding
from gitfleet.api.objects import JsonObject
from gitfleet.api.placements import PlacementKey
from gitfleet.api.snapshots import ResourceSnapshot
from gitfleet.errors import GiveUp
from gitfleet.formats.yaml_writer import write_documents
from gitfleet.model.state import PlacementRecord
from gitfleet.state import paths
from gitfleet.state.changed_files import ChangedFiles, EntryFolder, rewrite_entries
from gitfleet.state.shapes.bindings import binding_lines, bindings_bytes
from gitfleet.state.shapes.placements import placement_file_object
from gitfleet.state.shapes.snapshots import policy_snapshot_bytes, policy_snapshot_object, resource_snapshot_object
from gitfleet.state.shards import named_address
from gitfleet.state.texts import StateText


def write_placement(
    files: ChangedFiles, key: PlacementKey, old: PlacementRecord | None, new: PlacementRecord | None
) -> None:
    """Note the files that lead from one record of a placement to another."""
    if new is None:
        if old is not None:
            _drop_placement(files, key, old)
        return
    if len({binding.cluster for binding in new.bindings}) != len(new.bindings):
        raise ValueError(StateText.GIVEN_TWO_BINDINGS_ONE_CLUSTER(key=key))
    if files.unwritten:
        named = {r for b in new.bindings for r in (*b.cluster_resource_overrides, *b.resource_overrides)}
        if missing := sorted(named & files.unwritten):
            raise GiveUp(StateText.OVERRIDE_SNAPSHOT_NAMES(missing=missing[0]))
    files.put(paths.placement_path(key), placement_file_object(old) if old else None, placement_file_object(new))
    _resource_snapshots(files, key, old.resource_snapshots if old else (), new.resource_snapshots)
    _policy_snapshots(files, key, old, new)
    was, now = (record.bindings if record else () for record in (old, new))
    folder = bindings_folder(key)
    if was is not now or folder.folder in files.misplaced:
        rewrite_entries(files, folder, was, now)


def bindings_folder(key: PlacementKey) -> EntryFolder[Binding]:
    """How a placement's bindings are spread over files."""
    return EntryFolder(
        folder=paths.bindings_folder(key),
        address=lambda binding: named_address(binding.cluster),
        order=lambda binding: binding.cluster,
        render=lambda bindings: bindings_bytes(key, binding_lines(bindings)),
    )


def _drop_placement(files: ChangedFiles, key: PlacementKey, old: PlacementRecord) -> None:
    files.remove.append(paths.placement_path(key))
    for folder, content in (
        (paths.resources_folder(key), old.resource_snapshots),
        (paths.policies_folder(key), old.policy_snapshots),
        (paths.bindings_folder(key), old.bindings),
    ):
        if content:
            files.remove.append(folder)


def _resource_snapshots(
    files: ChangedFiles, key: PlacementKey, olds: tuple[ResourceSnapshot, ...], news: tuple[ResourceSnapshot, ...]
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
        files.put_bytes(f"{folder}/{paths.SNAPSHOT_FILE}", write_documents([wanted]))
        if index not in before or before[index]["spec"] != wanted["spec"]:
            if index in before:
                files.remove.append(folder)
            _documents(files, snapshot)


def _snapshot_object(snapshot: ResourceSnapshot, every: tuple[ResourceSnapshot, ...]) -> JsonObject:
    return resource_snapshot_object(snapshot, latest=snapshot is every[-1])


def _documents(files: ChangedFiles, snapshot: ResourceSnapshot) -> None:
    """The selected manifests: by blob where they have one, written out where they were rendered."""
    bodies = {manifest.key: manifest.body for manifest in snapshot.manifests or ()}
    for ref, path in zip(snapshot.documents, paths.document_paths(snapshot), strict=True):
        if paths.is_rendered(ref) and ref.key in bodies:
            files.put_bytes(path, write_documents([bodies[ref.key]]))
        elif ref.rendered == paths.is_rendered(ref) and ref.blob:
            files.link[path] = ref.blob
        else:
            raise ValueError(StateText.GIVEN_WITHOUT_MANIFEST(snapshot=snapshot.name, ref=ref.key))


def _policy_snapshots(
    files: ChangedFiles, key: PlacementKey, old: PlacementRecord | None, new: PlacementRecord
) -> None:
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
            files.put_bytes(path, policy_snapshot_bytes(wanted))


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
