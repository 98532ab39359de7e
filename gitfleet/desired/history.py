"""The last good version of each object (ARCHITECTURE.md, invariant 2): what was in force before this commit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

from gitfleet.api import read_state, write
from gitfleet.api.clusters import CLUSTER_GROUP, MemberCluster
from gitfleet.api.faults import are_all_listed, is_error
from gitfleet.api.fleet import FleetConfig
from gitfleet.api.folders import FOLDER_FILE, Folder
from gitfleet.api.objects import Identity, Manifest, Origin
from gitfleet.api.overrides import Override, OverrideKey
from gitfleet.api.placements import PLACEMENT_GROUP, RENAMED_FROM, Placement, PlacementKey
from gitfleet.api.staged import EVICTION, Eviction
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_records import RolloutRecord
from gitfleet.api.workload_rollouts import ROLLOUT_KINDS, AppRollout, RolloutTrait, WorkloadRollout
from gitfleet.desired.reading.files import FileReading, ReadObject, payload_identity, variant_identity
from gitfleet.desired.reading.folders import FolderLayout
from gitfleet.desired.reading.paths import is_build_file
from gitfleet.desired.reading.request import ABSENT, DesiredRequest
from gitfleet.formats.json_values import section
from gitfleet.model.state import FleetState


class History:
    """What was in force before this commit, as far as the request has it.

    The sources: the older versions that the state branch names, the changed files as they were at the observed commit,
    the accepted state, and the newest snapshots of the placements.
    """

    def __init__(self, request: DesiredRequest, layout: FolderLayout | None = None) -> None:
        self._request = request
        self._layout = layout or FolderLayout()
        self._readings: dict[str, FileReading] = {}

    def last_good(self, item: ReadObject) -> ReadObject | None:
        """Return the last good version of an object that is refused. If only objects in other files changed, this is
        the object itself; payload that is not placed needs none."""
        is_itself = not isinstance(item.value, Manifest) and self.was_in_force(item)
        return self.version(item.identity, item.origin.path) or (item if is_itself else None)

    def version(self, identity: Identity, path: str = "") -> ReadObject | None:
        """Return the version of an object that was in force: as accepted, else as its file had it, else as placed last.
        `path` is its origin where no other is known."""
        return (
            self._accepted(identity, path)
            or self.previous(identity)
            or self.placed.get(identity)
            or self._rollout(identity, path)
        )

    def former(self, item: ReadObject) -> ReadObject | None:
        """Return the placement that a refused one was to take over: it has the record until then."""
        group, kind, namespace, _ = item.identity
        name = _renamed_from(item.value)
        return None if name is None else self._accepted((group, kind, namespace, name), item.origin.path)

    def previous(self, identity: Identity) -> ReadObject | None:
        """Return the version of an object that its file had, if that file changed or has an error."""
        return self._older.get(identity) or self._in_changed_files.get(identity)

    def of_path(self, path: str, area: str) -> Iterator[ReadObject]:
        """Yield the objects that were accepted from a file, and from all files below `area`."""
        for file in (*self._older_of, *self._request.before):
            if is_within(file, area):
                yield from self._older_of.get(file, ())
                yield from self._in_force(file)
        everything = self._request.changed is None or area != path
        for item, manifest in self._placed_manifests:  # no blob has what is built, or what a Folder gives
            if is_within(item.origin.path, area) and (everything or manifest.folder or not item.origin.blob):
                yield item

    def of_folder(self, name: str) -> Iterator[ReadObject]:
        """Yield the placed objects of a Folder, of all its variants."""
        yield from (item for item, manifest in self._placed_manifests if manifest.folder == name)

    def was_in_force(self, item: ReadObject) -> bool:
        """Whether an object was in force before this commit, which does not change its file."""
        changed, accepted, path = self._request.changed, self._request.accepted, item.origin.path
        is_same = accepted.observed_commit is not None and changed is not None and path not in changed
        return is_same and are_all_listed(accepted.faults) and not self._was_refused(item)

    def _was_refused(self, item: ReadObject) -> bool:
        return item.label in self._refused_labels.get(item.origin.path, ())

    @cached_property
    def placed(self) -> Mapping[Identity, ReadObject]:
        """The payload of the placements' newest snapshots; the version that was taken last where they differ."""
        return {item.identity: item for item in self._in_snapshots()}

    @cached_property
    def _placed_manifests(self) -> Sequence[tuple[ReadObject, Manifest]]:
        return [(item, item.value) for item in self.placed.values() if isinstance(item.value, Manifest)]

    @cached_property
    def _older_of(self) -> Mapping[str, list[ReadObject]]:
        """By faulty path, the older versions that the state branch names."""
        items: dict[str, list[ReadObject]] = {}
        for path, versions in sorted(self._request.last_good.items()):
            for version in versions:
                reading = version.source.read(version.path, self._request.contents) or FileReading()
                objects = (item for item in reading.objects if item.origin.document in version.documents)
                items.setdefault(path, []).extend(objects)
        return items

    @cached_property
    def _older(self) -> Mapping[Identity, ReadObject]:
        return _by_identity(item for items in self._older_of.values() for item in items)

    @cached_property
    def _in_changed_files(self) -> Mapping[Identity, ReadObject]:
        return _by_identity(item for path in sorted(self._request.before) for item in self._in_force(path))

    @cached_property
    def _refused_labels(self) -> Mapping[str, set[str]]:
        labels: dict[str, set[str]] = {}
        for fault in filter(is_error, self._request.accepted.faults):
            labels.setdefault(fault.path, set()).add(fault.object)
        return labels

    def _in_force(self, path: str) -> Iterator[ReadObject]:
        """Yield the objects of a changed file that were in force at the observed commit. One that was refused is left
        out; of doubles in the file the first one was in force."""
        reading = self._reading(path)
        counts = Counter(item.identity for item in reading.objects)
        all_listed = are_all_listed(self._request.accepted.faults)
        for item in reading.objects:
            was_taken = all_listed or self._accepted(item.identity, path) or item.identity in self.placed
            is_sound = not self._was_refused(item) or counts[item.identity] > 1 or isinstance(item.value, FleetConfig)
            if was_taken and is_sound and item.identity not in self._older:
                yield item
        for item in reading.faulty:
            accepted = self._accepted(item.identity, path)
            if accepted is not None and item.identity not in self._older:
                yield accepted

    def _reading(self, path: str) -> FileReading:
        if path not in self._readings:
            source = self._request.before.get(path, ABSENT)
            self._readings[path] = source.read(path, self._request.contents) or FileReading()
        return self._readings[path]

    def _in_snapshots(self) -> Iterator[ReadObject]:
        records = self._request.accepted.placements.values()
        newest = [record.latest_resources for record in records if record.latest_resources is not None]
        for snapshot in sorted(newest, key=lambda snapshot: (snapshot.created, snapshot.placement)):
            for ref, manifest in zip(snapshot.documents, snapshot.manifests or (), strict=False):
                # What was rendered has no blob of the config repo: it is written out again with the next snapshot.
                blob = "" if ref.rendered or is_build_file(ref.path) else ref.blob
                origin = Origin(ref.path, manifest.origin.line, blob, ref.document)
                identity = payload_identity(manifest.key.identity)
                for variant in manifest.variants or ("",):
                    folder, variants = manifest.folder or self._governing(ref.path), (variant,) * bool(variant)
                    value = replace(manifest, origin=origin, folder=folder, variants=variants)
                    yield ReadObject(variant_identity(identity, folder, variant), str(manifest.key), origin, value)

    def _governing(self, path: str) -> str:
        """The name of the Folder that governs a path; of one that cannot be read now, the name that it had."""
        directory = self._layout.at(path)
        if not directory or directory in self._layout.names:
            return self._layout.names.get(directory, "")
        file = f"{directory}/{FOLDER_FILE}"
        items = (*self._older_of.get(file, ()), *self._reading(file).objects)
        return next((item.value.name for item in items if isinstance(item.value, Folder)), "")

    def _accepted(self, identity: Identity, path: str) -> ReadObject | None:
        """The accepted version of a placement, cluster, override or eviction; of one that is leaving as it was before
        (decision D33)."""
        group, kind, namespace, name = identity
        accepted = _ACCEPTED.get((group, kind), _nothing)
        value = accepted(self._request.accepted, namespace, name)
        return None if value is None else ReadObject(identity, _label(identity), value.origin or Origin(path, 1), value)

    def _rollout(self, identity: Identity, path: str) -> ReadObject | None:
        """A workload rollout as it was accepted last; its file says more, where it is known."""
        _, kind, namespace, name = identity
        record = self._request.accepted.rollouts.get(NamespacedName(namespace, name))
        if kind not in ROLLOUT_KINDS or record is None or record.kind != kind:
            return None
        return ReadObject(identity, _label(identity), Origin(path, 1), rollout_of(record))


def rollout_of(record: RolloutRecord) -> WorkloadRollout:
    """Return the rollout that was accepted last, as it would be written."""
    declaration: type[WorkloadRollout] = AppRollout if record.target_ref is None else RolloutTrait
    rollout = read_state(declaration, write(record))
    return replace(rollout, kind=record.kind, body=write(replace(rollout, kind=record.kind)))


def is_within(path: str, area: str) -> bool:
    """Whether a path is another one or lies below it."""
    return f"{path}/".startswith(f"{area}/")


def _by_identity(items: Iterator[ReadObject]) -> dict[Identity, ReadObject]:
    """The first item of each identity."""
    first: dict[Identity, ReadObject] = {}
    for item in items:
        first.setdefault(item.identity, item)
    return first


def _renamed_from(value: object) -> str | None:
    """The former name of a placement, as it was read or is written."""
    if isinstance(value, Placement):
        return value.annotations.get(RENAMED_FROM)
    name = section(value, "metadata", "annotations").get(RENAMED_FROM)
    return name if isinstance(name, str) else None


def _label(identity: Identity) -> str:
    return "/".join(part for part in identity[1:] if part)


def _nothing(*_: object) -> None:
    pass


def _placement(accepted: FleetState, namespace: str, name: str) -> Placement | None:
    record = accepted.placements.get(PlacementKey(namespace, name))
    return None if record is None else replace(record.placement, deleting=None)


def _cluster(accepted: FleetState, _: str, name: str) -> MemberCluster | None:
    cluster = accepted.clusters.get(name)
    return None if cluster is None else replace(cluster, deleting=None)


def _override(accepted: FleetState, namespace: str, name: str) -> Override | None:
    snapshots = accepted.overrides.get(OverrideKey(namespace, name))
    return snapshots[-1].override if snapshots else None


def _eviction(accepted: FleetState, _: str, name: str) -> Eviction | None:
    eviction = accepted.evictions.get(name)
    return None if eviction is None else replace(eviction, origin=None)  # it was decided, wherever it was written then


_ACCEPTED: Final[Mapping[tuple[str, str], Callable[[FleetState, str, str], Any]]] = {
    (CLUSTER_GROUP, "MemberCluster"): _cluster,
    (PLACEMENT_GROUP, "ClusterResourcePlacement"): _placement,
    (PLACEMENT_GROUP, "ResourcePlacement"): _placement,
    (PLACEMENT_GROUP, "ClusterResourceOverride"): _override,
    (PLACEMENT_GROUP, "ResourceOverride"): _override,
    (PLACEMENT_GROUP, EVICTION): _eviction,
}
"""By group and kind, how the accepted version of a namespace and name is found."""
