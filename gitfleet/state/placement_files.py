"""The files of one placement, its own, its snapshots and its bindings: gathered to its record, and written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from gitfleet.api.bindings import Binding
from gitfleet.api.objects import JsonObject
from gitfleet.api.placements import PlacementKey
from gitfleet.api.snapshots import ResourceSnapshot
from gitfleet.formats.yaml_writer import write_documents
from gitfleet.model.state import PlacementRecord
from gitfleet.state import paths
from gitfleet.state.changed_files import ChangedFiles, EntryFolder, rewrite_entries
from gitfleet.state.file_kinds import Parts, unusable
from gitfleet.state.shapes.bindings import BindingsFile, bindings_bytes
from gitfleet.state.shapes.placements import PlacementFile, placement_file_object
from gitfleet.state.shapes.snapshots import (
    PolicyFile,
    policy_snapshot_bytes,
    policy_snapshot_object,
    resource_snapshot_object,
)
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
    files.put(paths.placement_path(key), placement_file_object(old) if old else None, placement_file_object(new))
    _resource_snapshots(files, key, old.resource_snapshots if old else (), new.resource_snapshots)
    _policy_snapshots(files, key, old, new)
    old_bindings, new_bindings = (record.bindings if record else () for record in (old, new))
    if old_bindings is not new_bindings:
        rewrite_entries(files, bindings_folder(key), old_bindings, new_bindings)


def bindings_folder(key: PlacementKey) -> EntryFolder[Binding]:
    """How a placement's bindings are spread over files."""
    return EntryFolder(
        folder=paths.bindings_folder(key),
        address=lambda binding: named_address(binding.cluster),
        order=lambda binding: binding.cluster,
        render=lambda bindings: bindings_bytes(key, bindings),
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
        body = _snapshot_object(snapshot, news)
        if before.get(index) == body:
            continue
        folder = paths.resource_snapshot_folder(key, index)
        files.put_bytes(f"{folder}/{paths.SNAPSHOT_FILE}", write_documents([body]))
        if index not in before or before[index]["spec"] != body["spec"]:
            if index in before:
                files.remove.append(folder)
            _documents(files, snapshot)


def _snapshot_object(snapshot: ResourceSnapshot, snapshots: tuple[ResourceSnapshot, ...]) -> JsonObject:
    return resource_snapshot_object(snapshot, latest=snapshot is snapshots[-1])


def _documents(files: ChangedFiles, snapshot: ResourceSnapshot) -> None:
    """The selected manifests: by blob where they have one, written out where they were rendered."""
    bodies = {(manifest.key, manifest.variants): manifest.body for manifest in snapshot.manifests or ()}
    for ref, path in zip(snapshot.documents, paths.document_paths(snapshot), strict=True):
        if paths.is_rendered(ref) and (ref.key, ref.variants) in bodies:
            files.put_bytes(path, write_documents([bodies[ref.key, ref.variants]]))
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
    files.put_changed(before, after, policy_snapshot_bytes)


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


def gather_placements(parts: Parts) -> Mapping[PlacementKey, PlacementRecord]:
    """The records of all placements, by key; BadInput for snapshots and bindings of a placement without a file."""
    files = {file.placement.key: file for _, file in parts.of(PlacementFile)}
    resources = parts.grouped(ResourceSnapshot, lambda snapshot: snapshot.placement)
    policies = parts.grouped(PolicyFile, lambda file: file.snapshot.placement)
    bindings = parts.grouped(BindingsFile, lambda file: file.placement)
    for key in (*resources, *policies, *bindings):
        if key not in files:
            raise unusable(paths.placement_path(key), StateText.IT_IS_GONE())
    records: dict[PlacementKey, PlacementRecord] = {}
    for key, file in sorted(files.items()):
        decided = sorted((policy for _, policy in policies.get(key, ())), key=lambda policy: policy.snapshot.index)
        taken = sorted((snapshot for _, snapshot in resources.get(key, ())), key=lambda snapshot: snapshot.index)
        records[key] = PlacementRecord(
            placement=file.placement,
            resource_snapshots=tuple(_found_in(parts.listing, snapshot) for snapshot in taken),
            policy_snapshots=tuple(policy.snapshot for policy in decided),
            bindings=_bindings(bindings.get(key, ())),
            decisions=decided[-1].decisions if decided else (),
            conditions=file.conditions,
            schedule_key=file.schedule_key,
        )
    return records


def _bindings(files: Iterable[tuple[str, BindingsFile]]) -> tuple[Binding, ...]:
    return tuple(sorted((b for _, file in files for b in file.bindings), key=lambda binding: binding.cluster))


def _found_in(listing: Mapping[str, str], snapshot: ResourceSnapshot) -> ResourceSnapshot:
    """The snapshot with its rendered documents pointing at the files of the state branch that hold them."""
    if not any(ref.rendered for ref in snapshot.documents):
        return snapshot
    places = zip(snapshot.documents, paths.document_paths(snapshot), strict=True)
    documents = tuple(replace(ref, blob=listing.get(path, "")) if ref.rendered else ref for ref, path in places)
    return replace(snapshot, documents=documents)
