"""StateReader: any state of the state branch, present or past, without a driver.

It reads the files that a view needs and nothing else: a list of placements reads `placements/` and no binding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Protocol

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.holds import Hold
from gitfleet.api.placements import PlacementKey
from gitfleet.errors import BadInput
from gitfleet.model.state import FleetState, Inventory, PlacementRecord
from gitfleet.state import paths
from gitfleet.state.assemble import assemble_state, refuse_damage
from gitfleet.state.read import ParsedStateFile, PlacementFile, is_state_file, parse_state_file, too_large
from gitfleet.state.shapes.ledgers import FleetHead
from gitfleet.state.shapes.summaries import summary_of

_LARGEST_BYTES: Final = 64 * 1024 * 1024


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
    is broken every result raises BadInput, as `parse_state_file` does; with `warn`, that is given the sentence, and
    the file is left out.
    """

    source: StateSource
    commit: str | None
    warn: Callable[[str], None] | None = None

    def head(self) -> FleetHead:
        """Which desired commit the state was made from, with which scheduler plug-ins, and when."""
        return next((file for file in self._files(paths.FLEET).values() if isinstance(file, FleetHead)), FleetHead())

    def placements(self, name: str | None = None) -> tuple[PlacementFile, ...]:
        """Every placement's spec, conditions and summary, or those of a name (`name` or `namespace/name`), by key."""
        found = [file for file in self._files("placements/", _named(name)).values() if isinstance(file, PlacementFile)]
        whole = {file.placement.key: file for file in found}
        for key, file in whole.items():
            if file.summary is None:  # an earlier version wrote it
                whole[key] = replace(file, summary=summary_of(self._record(key)))
        return tuple(whole[key] for key in sorted(whole))

    def records(self, name: str | None = None) -> tuple[PlacementRecord, ...]:
        """Every placement with its snapshots, bindings and decisions, or those of a name, by key."""
        if name is None:
            found = self._state("placements/", "bindings/", "snapshots/resources/", "snapshots/policies/").placements
            return tuple(found.values())
        return tuple(self._record(file.placement.key) for file in self.placements(name))

    def clusters(self, name: str | None = None) -> tuple[MemberCluster, ...]:
        """Every member cluster with its status, or the one of a name, by name."""
        found = self._files("clusters/", _named(name)).values()
        return tuple(sorted((file for file in found if isinstance(file, MemberCluster)), key=lambda file: file.name))

    def holds(self, name: str | None = None) -> tuple[Hold, ...]:
        """Every hold, or the one of a name, by name."""
        found = self._files("holds/", _named(name)).values()
        return tuple(sorted((file for file in found if isinstance(file, Hold)), key=lambda file: file.name))

    def inventory(self, cluster: str) -> Inventory:
        """What gitfleet owns on a cluster."""
        return self._state(f"{paths.inventory_folder(cluster)}/").inventory.get(cluster, {})

    def fleet(self) -> FleetState:
        """The faults, override snapshots and observed commit: a state without clusters, placements and inventory."""
        return self._state(paths.FLEET, paths.FAULTS, "snapshots/overrides/")

    def whole(self) -> FleetState:
        """Everything. Manifests of snapshots are not loaded."""
        return self._state("")

    def text(self, path: str) -> str:
        """One file of the branch as text, "" when it is not there."""
        blob = self._listing(path).get(path)
        return "" if blob is None else self._contents({path: blob}).get(blob, b"").decode(errors="replace")

    def _record(self, key: PlacementKey) -> PlacementRecord:
        folders = (paths.bindings_folder(key), paths.resources_folder(key), paths.policies_folder(key))
        return self._state(paths.placement_path(key), *(f"{folder}/" for folder in folders)).placements[key]

    def _state(self, *parts: str) -> FleetState:
        """What the files of these paths and folders (with a slash at the end) say."""
        files: dict[str, ParsedStateFile] = {}
        listing: dict[str, str] = {}
        for part in parts:
            files |= self._files(part)
            listing |= self._listing(part)
        state = assemble_state(listing, files)
        if self.warn is None:
            return refuse_damage(state)
        for path, reason in state.damage.files.items():
            self.warn(f"the state branch's file {path} cannot be used: {reason}")
        return state

    def _files(self, part: str, wanted: tuple[str, ...] = ()) -> dict[str, ParsedStateFile]:
        listing = {path: oid for path, oid in self._listing(part).items() if is_state_file(path)}
        if wanted:
            listing = {path: oid for path, oid in listing.items() if path.endswith(wanted)}
        contents = self._contents(listing)
        parsed: dict[str, ParsedStateFile] = {}
        for path, oid in listing.items():
            try:
                if oid not in contents:
                    raise too_large(path, _LARGEST_BYTES)
                parsed[path] = parse_state_file(path, contents[oid])
            except BadInput as error:
                if self.warn is None:
                    raise
                self.warn(str(error))
        return parsed

    def _listing(self, part: str) -> dict[str, str]:
        if self.commit is None:
            return {}
        folder = part.rpartition("/")[0]
        found = self.source.list_tree(self.commit, folder)
        return {path: blob.oid for path, blob in found.items() if path == part or part in ("", f"{folder}/")}

    def _contents(self, listing: Mapping[str, str]) -> Mapping[str, bytes]:
        return self.source.read_blobs(set(listing.values()), limit=_LARGEST_BYTES) if listing else {}


def _named(name: str | None) -> tuple[str, ...]:
    return () if name is None else (f"/{name}.yaml",)
