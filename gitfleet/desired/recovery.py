"""Last good wins: where the version comes from that goes on in a faulty object's stead (architecture.md, law 2)."""

from __future__ import annotations

from gitfleet.desired.readings import FileReading, Identity, ReadObject
from gitfleet.desired.request import DesiredRequest
from gitfleet.model.clusters import CLUSTER_GROUP
from gitfleet.model.objects import Origin
from gitfleet.model.overrides import OverrideKey
from gitfleet.model.placements import PLACEMENT_GROUP, PlacementKey


class Recovery:
    """The last good versions of one request, read when they are first asked for."""

    def __init__(self, request: DesiredRequest) -> None:
        self._request = request
        self._readings: dict[str, FileReading | None] = {}
        self._index: dict[Identity, ReadObject] | None = None

    def file(self, path: str) -> FileReading | None:
        """The last good version of a file; None when none was given, or it could not be read."""
        if path not in self._readings:
            source = self._request.last_good.get(path)
            self._readings[path] = source.read(path, self._request.contents) if source is not None else None
        return self._readings[path]

    def below(self, path: str) -> list[str]:
        """The paths with a last good version that are a path itself or lie below it."""
        return [known for known in self._request.last_good if known == path or known.startswith(f"{path}/")]

    def blob(self, path: str) -> str | None:
        """The blob of a file's last good version."""
        source = self._request.last_good.get(path)
        return source.blob if source is not None else None

    def object(self, identity: Identity, path: str) -> ReadObject | None:
        """The last good version of one object: as accepted, else as in the same file, else as in any file."""
        if (accepted := self._accepted(identity, path)) is not None:
            return accepted
        reading = self.file(path)
        own = next((item for item in reading.objects if item.identity == identity), None) if reading else None
        return own or self._everywhere().get(identity)

    def previous(self, identity: Identity) -> ReadObject | None:
        """The version of an object before this commit, from the files that changed."""
        return self._everywhere().get(identity)

    def was_placed(self, identity: Identity) -> bool:
        """Whether some placement's newest snapshot has the object: then it must not be forgotten silently."""
        group, kind, namespace, name = identity
        wanted = (group.removeprefix("payload "), kind, namespace, name)
        return any(
            document.key.identity == wanted
            for record in self._request.accepted.placements.values()
            if record.latest_resources is not None
            for document in record.latest_resources.documents
        )

    def known_path(self, identity: Identity) -> str | None:
        """Where an object stood before, as far as the state branch tells."""
        accepted = self._accepted(identity, "")
        if accepted is not None:
            return accepted.origin.path
        group, kind, namespace, name = identity
        for record in self._request.accepted.placements.values():
            for document in record.latest_resources.documents if record.latest_resources else ():
                if document.key.identity == (group, kind, namespace, name):
                    return document.path
        return None

    def _everywhere(self) -> dict[Identity, ReadObject]:
        if self._index is None:
            readings = [self.file(path) for path in sorted(self._request.last_good)]
            self._index = {item.identity: item for reading in readings if reading for item in reading.objects}
        return self._index

    def _accepted(self, identity: Identity, path: str) -> ReadObject | None:
        """The version that the state branch holds of a placement, cluster or override; none when it is leaving."""
        group, kind, namespace, name = identity
        accepted = self._request.accepted
        label = "/".join(part for part in (kind, namespace, name) if part)
        if group == CLUSTER_GROUP and kind == "MemberCluster":
            cluster = accepted.clusters.get(name)
            if cluster is not None and cluster.deleting is None:
                return ReadObject(identity, label, cluster.origin or Origin(path, 1), cluster)
        if group == PLACEMENT_GROUP and kind in ("ClusterResourcePlacement", "ResourcePlacement"):
            record = accepted.placements.get(PlacementKey(namespace, name))
            if record is not None and record.placement.deleting is None:
                return ReadObject(identity, label, record.placement.origin or Origin(path, 1), record.placement)
        if group == PLACEMENT_GROUP and kind in ("ClusterResourceOverride", "ResourceOverride"):
            snapshots = accepted.overrides.get(OverrideKey(namespace, name))
            if snapshots:
                override = snapshots[-1].override
                return ReadObject(identity, label, override.origin or Origin(path, 1), override)
        return None
