"""Last good wins: where the version comes from that is used instead of a faulty object (ARCHITECTURE.md, invariant
2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Set
from dataclasses import replace
from typing import TypeVar

from gitfleet.api.clusters import CLUSTER_GROUP, MemberCluster
from gitfleet.api.faults import Severity, are_all_listed
from gitfleet.api.fleet import FleetConfig
from gitfleet.api.objects import Identity, Manifest, Origin
from gitfleet.api.overrides import OverrideKey
from gitfleet.api.placements import PLACEMENT_GROUP, Placement, PlacementKey
from gitfleet.api.staged import EVICTION
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_rollouts import ROLLOUT_KINDS
from gitfleet.desired.accepted_rollouts import rollout_of
from gitfleet.desired.paths import area_of, is_build_file
from gitfleet.desired.readings import FileReading, ReadObject, payload_identity
from gitfleet.desired.rebuilt import rebuilt_folders
from gitfleet.desired.request import DesiredRequest
from gitfleet.model.renames import WAITS_FOR_NAME

_Leaves = TypeVar("_Leaves", Placement, MemberCluster)


class Recovery:
    """What was in force before this commit, as far as the request has it; read when it is first needed.

    Three sources: what the state branch holds already of older versions, else the files that changed since as they were
    at the observed commit, else the newest snapshots of the placements.
    """

    def __init__(self, request: DesiredRequest) -> None:
        self._request = request
        self._readings: dict[str, FileReading | None] = {}
        self._before: dict[str, list[ReadObject]] = {}
        self._held: dict[Identity, ReadObject] | None = None
        self._held_for: dict[Identity, set[str]] = {}
        self._again: dict[Identity, set[str]] = {}
        self._index: dict[Identity, ReadObject] | None = None
        self._placed: dict[Identity, ReadObject] | None = None

    def held_for(self, path: str) -> list[ReadObject]:
        """What the state branch holds because of the file at a path."""
        return [item for identity, item in self.held().items() if path in self._held_for[identity]]

    def paths_of(self, identity: Identity) -> Set[str]:
        """The faulty files for which the state branch holds an older version of an object."""
        return self._held_for.get(identity, set()) if self.held() else set()

    def was_faulty(self, path: str) -> frozenset[Identity]:
        """The objects that a changed file refused at the observed commit already."""
        reading = self._reading(path)
        return frozenset(item.identity for item in reading.faulty) if reading is not None else frozenset()

    def named_in(self, path: str) -> frozenset[Identity]:
        """All objects that a changed file had at the observed commit, refused or not."""
        reading = self._reading(path)
        return frozenset(item.identity for item in (*reading.objects, *reading.faulty)) if reading else frozenset()

    def was_refused(self, path: str, label: str) -> bool:
        """Whether an object of a file was refused at the observed commit already, for what stands beside it."""
        faults = self._request.accepted.faults
        return any(f.path == path and f.object == label and f.severity is Severity.ERROR for f in faults)

    def may_be_new(self, path: str, label: str) -> bool:
        """Whether a refused object of a file may have been another one before this commit. Nothing says what a
        kustomization had: what was placed of it stays as long as the error does."""
        return is_build_file(path) or not self.was_refused(path, label)

    def is_used_again(self, identity: Identity, path: str) -> bool:
        """Whether no file had an object of a path before this commit, or one alone that has an error since it came:
        what still goes on under its name is one that a commit had removed."""
        changed, held_for = self._request.changed, self.paths_of(identity)
        again = self._again.get(identity, set())
        if changed is None or (path not in again and (path not in changed or path in held_for)):
            return False
        for known in self._request.before:
            reading = self._reading(known)
            faulty = reading.faulty if reading is not None and known in held_for - again else ()
            if reading is not None and any(one.identity == identity for one in (*reading.objects, *faulty)):
                return False
        return True

    def is_new_double(self, identity: Identity, path: str, count: int) -> bool:
        """Whether one of so many definitions of an object in a file was, or may have been, another object before this
        commit."""
        changed = self._request.changed
        if is_build_file(path) or any(not version.source.blob for version in self._request.held.get(path, ())):
            return True  # nothing says what was there: what was placed stays as long as the double does
        if changed is None:
            label = "/".join(part for part in identity[1:] if part)
            return not self.was_refused(path, label)
        reading = self._reading(path)
        had = sum(item.identity == identity for item in reading.objects) if reading is not None else 0
        return path in changed and count > had

    def of_path(self, path: str, below: str) -> list[ReadObject]:
        """Every object that was in force because of the file at a path, or was in a file at or below `below`."""
        found = {item.identity: item for item in self.held_for(path)}
        within = {one for one in self.held() if any(is_within(known, below) for known in self._held_for[one])}
        found |= {identity: item for identity, item in self.held().items() if identity in within}
        for known in self._request.before:
            if is_within(known, below):
                for item in self._in_force(known):
                    found.setdefault(item.identity, item)
        # Without blobs to go back to, what was placed last is all that is known; what is held there stays by its hold.
        if not self.knows(path) or is_build_file(path):
            held_back = self._held_back()
            for identity, item in self.placed().items():
                if is_within(item.origin.path, below) and identity not in held_back:
                    found.setdefault(identity, item)
        return list(found.values())

    def knows(self, path: str) -> bool:
        """Whether all is known that was in force because of a path: else anything that is missing may stand there."""
        held = self._request.held.get(path, ())
        return self._request.changed is not None and all(version.source.blob for version in held)

    def object(self, identity: Identity, path: str) -> ReadObject | None:
        """The last good version of one object: as accepted, else as in the files, else as placed last."""
        accepted = self._accepted(identity, path)
        return accepted or self.previous(identity) or self.placed().get(identity) or self.rollout(identity, path)

    def previous(self, identity: Identity) -> ReadObject | None:
        """The version of an object that was in force before this commit, from the files that changed since."""
        return self.everything().get(identity)

    def everything(self) -> dict[Identity, ReadObject]:
        """All that was in force before and may differ now: what is held, the changed files as they were, and what was
        placed of changed kustomizations."""
        if self._index is None:
            self._index = dict(self.held())
            for path in sorted(self._request.before):
                for item in self._in_force(path):
                    self._index.setdefault(item.identity, item)
            if folders := rebuilt_folders(self._request):
                held_back = self._held_back()
                for identity, item in self.placed().items():
                    path = item.origin.path
                    if is_build_file(path) and area_of(path) in folders and identity not in held_back:
                        self._index.setdefault(identity, item)
        return self._index

    def _held_back(self) -> frozenset[Identity | None]:
        """The objects whose removal is held: they are placed, though they were gone before this commit."""
        removals = (removal for hold in self._request.accepted.holds.values() for removal in hold.removals)
        return frozenset(payload_identity(r.object.identity) for r in removals if r.object is not None)

    def held(self) -> Mapping[Identity, ReadObject]:
        """What the state branch holds of older versions."""
        if self._held is None:
            self._held = {}
            for path, versions in sorted(self._request.held.items()):
                for version in versions:
                    reading = version.source.read(version.path, self._request.contents)
                    for item in reading.objects if reading else ():
                        if item.origin.document in version.documents:
                            self._held.setdefault(item.identity, item)
                            self._held_for.setdefault(item.identity, set()).add(path)
                            if version.removed:
                                self._again.setdefault(item.identity, set()).add(path)
        return self._held

    def placed(self) -> dict[Identity, ReadObject]:
        """The payload of the placements' newest snapshots, the version that was taken last where they differ."""
        if self._placed is None:
            self._placed = {item.identity: item for item in self._in_snapshots()}
        return self._placed

    def overrides_in_use(self) -> Iterator[ReadObject]:
        """The overrides of bindings, as they were accepted last."""
        accepted = self._request.accepted
        bindings = [binding for record in accepted.placements.values() for binding in record.bindings]
        in_use = {name for b in bindings for name in (*b.cluster_resource_overrides, *b.resource_overrides)}
        for key, snapshots in accepted.overrides.items():
            identity = (PLACEMENT_GROUP, key.kind, key.namespace, key.name)
            if snapshots[-1].reference in in_use and (item := self.object(identity, "")) is not None:
                yield item

    def known(self, identity: Identity) -> ReadObject | None:
        """What was in force of an object, with the path where it was as far as that is known ("" where it is not)."""
        return self.object(identity, "")

    def _in_force(self, path: str) -> list[ReadObject]:
        """The objects of a changed file as they were in force at the observed commit, those that are held left out."""
        if path not in self._before:
            reading = self._reading(path)
            self._before[path] = self._of_reading(path, reading) if reading is not None else []
        return self._before[path]

    def _reading(self, path: str) -> FileReading | None:
        if path not in self._readings:
            source = self._request.before.get(path)
            self._readings[path] = source.read(path, self._request.contents) if source is not None else None
        return self._readings[path]

    def _of_reading(self, path: str, reading: FileReading) -> list[ReadObject]:
        faults = self._request.accepted.faults
        errors = (fault for fault in faults if fault.path == path and fault.severity is Severity.ERROR)
        refused = {fault.object for fault in errors if WAITS_FOR_NAME not in fault.message}
        all_listed = are_all_listed(faults, path)
        doubled = Counter(item.identity for item in reading.objects)
        found: dict[Identity, ReadObject] = {}
        for item in reading.objects:
            # One that was refused beside others went on as it is held, or not at all; of doubles the first was taken.
            in_force = item.label not in refused or doubled[item.identity] > 1 or isinstance(item.value, FleetConfig)
            if in_force and item.identity not in self.held() and (all_listed or self._was_taken(item.identity, path)):
                found.setdefault(item.identity, item)
        # What the file itself refused went on as it was accepted before.
        for item in reading.faulty:
            identity = item.identity
            if identity not in self.held() and (accepted := self._accepted(identity, path)) is not None:
                found.setdefault(identity, accepted)
        return list(found.values())

    def _was_taken(self, identity: Identity, path: str) -> bool:
        """Whether an object is known to have been accepted or placed, where not all that were refused are listed."""
        return self._accepted(identity, path) is not None or identity in self.placed()

    def _in_snapshots(self) -> Iterator[ReadObject]:
        records = self._request.accepted.placements.values()
        newest = [record.latest_resources for record in records if record.latest_resources is not None]
        for snapshot in sorted(newest, key=lambda found: (found.created, found.placement)):
            for ref, manifest in zip(snapshot.documents, snapshot.manifests or (), strict=False):
                # What was rendered has no blob of the config repo: it is written out again with the next snapshot.
                blob = "" if ref.rendered or is_build_file(ref.path) else ref.blob
                origin = Origin(ref.path, manifest.origin.line, blob, ref.document)
                identity = payload_identity(manifest.key.identity)
                if identity is not None:
                    value = Manifest(manifest.key, manifest.body, manifest.digest, origin)
                    yield ReadObject(identity, str(manifest.key), origin, value)

    def rollout(self, identity: Identity, path: str) -> ReadObject | None:
        """A workload rollout as it was accepted last; its file says more, where it is known."""
        _, kind, namespace, name = identity
        record = self._request.accepted.rollouts.get(NamespacedName(namespace, name))
        if kind not in ROLLOUT_KINDS or record is None or record.kind != kind:
            return None
        return ReadObject(identity, f"{kind}/{record.key}", Origin(path, 1), rollout_of(record))

    def _accepted(self, identity: Identity, path: str) -> ReadObject | None:
        """The version that the state branch holds of a placement, cluster, override or eviction; of one that is leaving
        as it was before: what has an error takes a removal back, too (decision D33)."""
        group, kind, namespace, name = identity
        accepted = self._request.accepted
        label = "/".join(part for part in (kind, namespace, name) if part)
        if group == CLUSTER_GROUP and kind == "MemberCluster":
            cluster = accepted.clusters.get(name)
            if cluster is not None:
                return ReadObject(identity, label, cluster.origin or Origin(path, 1), _staying(cluster))
        if group == PLACEMENT_GROUP and kind in ("ClusterResourcePlacement", "ResourcePlacement"):
            record = accepted.placements.get(PlacementKey(namespace, name))
            if record is not None:
                placement = _staying(record.placement)
                return ReadObject(identity, label, placement.origin or Origin(path, 1), placement)
        if group == PLACEMENT_GROUP and kind in ("ClusterResourceOverride", "ResourceOverride"):
            snapshots = accepted.overrides.get(OverrideKey(namespace, name))
            if snapshots:
                override = snapshots[-1].override
                return ReadObject(identity, label, override.origin or Origin(path, 1), override)
        if group == PLACEMENT_GROUP and kind == EVICTION and name in accepted.evictions:
            return ReadObject(identity, label, Origin(path, 1), accepted.evictions[name])
        return None


def _staying(one: _Leaves) -> _Leaves:
    return one if one.deleting is None else replace(one, deleting=None)


def is_within(known: str, path: str) -> bool:
    """Whether a path is another one or lies below it."""
    return known == path or known.startswith(f"{path}/")
