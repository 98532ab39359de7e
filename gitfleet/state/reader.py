"""StateReader: any state of the state branch, present or past, without a driver.

It reads the files that a view needs and nothing else: a list of placements reads `placements/` and no binding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from gitfleet.api.bindings import Binding, shown_cluster
from gitfleet.api.faults import Fault
from gitfleet.api.placements import PlacementKey
from gitfleet.api.snapshots import OverrideSnapshot, ResourceSnapshot
from gitfleet.formats.limits import MAX_STATE_BYTES
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.state import paths
from gitfleet.state.file_kinds import ParsedStateFile
from gitfleet.state.read import assemble_state, parse_state_file, state_file_kind, too_large
from gitfleet.state.shapes.bindings import BindingsFile
from gitfleet.state.shapes.ledgers import FaultList, FleetHead
from gitfleet.state.shapes.placements import PlacementFile
from gitfleet.state.shapes.snapshots import PolicyFile
from gitfleet.state.table import kind_that_says

_PLACEMENTS_AT_ONCE: Final = 50
"""The bindings of so many placements are read at once: a bound on memory, not on work."""
_BESIDE_PLACEMENTS: Final = ("approvals", "clusters", "evictions", "holds", "quarantines", "rollouts", "runs")
T = TypeVar("T")


class Named(Protocol):
    """What has a name of its own."""

    @property
    def name(self) -> str:
        """Its name."""


N = TypeVar("N", bound=Named)


class StateBlob(Protocol):
    """One file of a listing."""

    @property
    def oid(self) -> str:
        """The id of its blob."""


class StateSource(Protocol):
    """Where the branch is read from: a RepoReader, or whatever else lists commits and reads blobs."""

    def list_tree(self, commit: str, under: str = "") -> Mapping[str, StateBlob]:
        """Every blob below a folder ("" = all) of a commit by full path."""

    def read_blobs(self, oids: Iterable[str], *, limit: int) -> Mapping[str, bytes]:
        """The bytes of blobs by id; one larger than `limit` bytes is left out."""


@dataclass(frozen=True, slots=True)
class StateReader:
    """Reads the state at one commit of the state branch (None: the branch has none yet, and everything is empty).

    It holds nothing but its source, so any number of threads may use it where they may use the source. For a file that
    cannot be used every result raises BadInput.
    """

    source: StateSource
    commit: str | None

    def head(self) -> FleetHead:
        """Which desired commit the state was made from, with which scheduler plug-ins, and when."""
        return next(self.each(FleetHead), FleetHead())

    def placements(self, name: str | None = None) -> tuple[PlacementFile, ...]:
        """Every placement's spec, conditions and summary, or those of a name (`name` or `namespace/name`), by key."""
        return tuple(sorted(self.each(PlacementFile, name), key=lambda file: file.placement.key))

    def records(self, name: str | None = None) -> tuple[PlacementRecord, ...]:
        """Every placement with its snapshots, bindings and decisions, or those of a name, by key."""
        if name is None:
            records = self._state("placements/", "bindings/", "snapshots/resources/", "snapshots/policies/").placements
            return tuple(records.values())
        return tuple(self._record(file.placement.key) for file in self.placements(name))

    def bindings(self, name: str | None = None) -> Iterator[Binding]:
        """Every binding, or those of a name (`name` or `namespace/name`), by placement and cluster. Few of them are in
        memory at a time."""
        folders: dict[PlacementKey, dict[str, str]] = {}
        for path, oid in self._state_files("bindings/").items():
            folders.setdefault(paths.bound_placement(path), {})[path] = oid
        keys = sorted(key for key in folders if name is None or _may_have(key, name))
        for start in range(0, len(keys), _PLACEMENTS_AT_ONCE):
            for binding in self._bindings(folders[key] for key in keys[start : start + _PLACEMENTS_AT_ONCE]):
                if name in (None, binding.name, f"{binding.placement.namespace}/{binding.name}"):
                    yield binding

    def resource_snapshots(self, name: str | None = None) -> Iterator[tuple[ResourceSnapshot, bool]]:
        """Every resource snapshot, or those of a name, by placement and index, and whether it is the latest. Manifests
        are not loaded."""
        return self._numbered("snapshots/resources/", ResourceSnapshot, name)

    def files_of(self, snapshot: ResourceSnapshot) -> tuple[bytes | None, ...]:
        """For each of a snapshot's documents, in order, the file that holds it; None for one that is not there, or is
        too large."""
        listing = self._listing(f"{paths.resource_snapshot_folder(snapshot.placement, snapshot.index)}/")
        oids = [listing.get(path) for path in paths.document_paths(snapshot)]
        contents = self._contents({oid: oid for oid in oids if oid is not None})
        return tuple(contents.get(oid) if oid is not None else None for oid in oids)

    def policies(self, name: str | None = None) -> Iterator[tuple[PolicyFile, bool]]:
        """Every policy snapshot with what the scheduler decided, or those of a name, as `resource_snapshots`."""
        return self._numbered("snapshots/policies/", PolicyFile, name)

    def overrides(self, name: str | None = None) -> Iterator[tuple[OverrideSnapshot, bool]]:
        """Every override snapshot, or those of a name, as `resource_snapshots`."""
        return self._numbered("snapshots/overrides/", OverrideSnapshot, name)

    def named(self, type_: type[N], name: str | None = None) -> tuple[N, ...]:
        """Every cluster, hold or eviction (its `type`), or the one of a name, by name. A hold has the removals that its
        own file lists."""
        return tuple(sorted(self.each(type_, name), key=lambda value: value.name))

    def faults(self) -> tuple[Fault, ...]:
        """The errors and warnings of the newest reconcile."""
        return tuple(fault for file in self.each(FaultList) for fault in file.faults)

    def each(self, type_: type[T], name: str | None = None) -> Iterator[T]:
        """What the files of one kind (its `type`) say, or those of a name (`name` or `namespace/name`), by path."""
        kind = kind_that_says(type_)
        listing = self._state_files(f"{kind.name}.yaml" if kind.place is None else f"{kind.name}/")
        own = {path: oid for path, oid in listing.items() if kind.pattern.fullmatch(path)}
        named = {path: oid for path, oid in own.items() if name is None or path.endswith(f"/{name}.yaml")}
        return (file for file in self._read(named).values() if isinstance(file, type_))

    def beside_placements(self) -> FleetState:
        """Everything but placements with their bindings and snapshots, overrides and the inventory."""
        return self._state(paths.FLEET, paths.FAULTS, *(f"{folder}/" for folder in _BESIDE_PLACEMENTS))

    def whole(self) -> FleetState:
        """Everything. Manifests of snapshots are not loaded."""
        return self._state("")

    def _record(self, key: PlacementKey) -> PlacementRecord:
        folders = (paths.bindings_folder(key), paths.resources_folder(key), paths.policies_folder(key))
        return self._state(paths.placement_path(key), *(f"{folder}/" for folder in folders)).placements[key]

    def _state(self, *parts: str) -> FleetState:
        """What the files of these paths and folders (with a slash at the end) say."""
        listing = {path: oid for part in parts for path, oid in self._listing(part).items()}
        files = self._read({path: oid for path, oid in listing.items() if state_file_kind(path)})
        return assemble_state(listing, files)

    def _bindings(self, folders: Iterable[Mapping[str, str]]) -> Iterator[Binding]:
        """The bindings of some files, by placement and cluster; their placements are not read."""
        files = self._read({path: oid for folder in folders for path, oid in folder.items()}).values()
        bindings = [binding for file in files if isinstance(file, BindingsFile) for binding in file.bindings]
        yield from sorted(bindings, key=lambda binding: (binding.placement, binding.cluster))

    def _numbered(self, part: str, type_: type[T], name: str | None) -> Iterator[tuple[T, bool]]:
        listing = self._state_files(part)
        places = sorted((paths.numbered(path), path) for path in listing)
        latest = {(namespace, owner): index for (namespace, owner, index), _ in places}
        matching: dict[str, bool] = {}
        for (namespace, owner, index), path in places:
            own = f"{owner}-{index}{'-snapshot' if type_ is ResourceSnapshot else ''}"
            if name in (None, own, f"{namespace}/{own}"):
                matching[path] = latest[namespace, owner] == index
        parsed = self._read({path: listing[path] for path in matching})
        for path, is_latest in matching.items():
            snapshot = parsed.get(path)
            if isinstance(snapshot, type_):
                yield snapshot, is_latest

    def _state_files(self, part: str) -> dict[str, str]:
        return {path: oid for path, oid in self._listing(part).items() if state_file_kind(path)}

    def _read(self, listing: Mapping[str, str]) -> dict[str, ParsedStateFile]:
        contents = self._contents(listing)
        parsed: dict[str, ParsedStateFile] = {}
        for path, oid in listing.items():
            if oid not in contents:
                raise too_large(path, MAX_STATE_BYTES)
            parsed[path] = parse_state_file(path, contents[oid])
        return parsed

    def _listing(self, part: str) -> dict[str, str]:
        if self.commit is None:
            return {}
        folder = part.rpartition("/")[0]
        entries = self.source.list_tree(self.commit, folder)
        return {path: blob.oid for path, blob in entries.items() if path == part or part in ("", f"{folder}/")}

    def _contents(self, listing: Mapping[str, str]) -> Mapping[str, bytes]:
        return self.source.read_blobs(set(listing.values()), limit=MAX_STATE_BYTES) if listing else {}


def _may_have(key: PlacementKey, name: str) -> bool:
    """Whether a placement's binding may have a name."""
    namespace, _, own = name.rpartition("/")
    return namespace in ("", key.namespace) and shown_cluster(key, own) is not None
