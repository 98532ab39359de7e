"""What each placement is to have on each cluster now, as folders of files.

Not the newest snapshots: the works of the bindings as they were rolled out. What stays on a cluster although no work
has it (it waits for who takes it over, or cannot be read) keeps its file, and what cannot be rendered, or is only
compared, keeps its folder: whoever applies the branch removes what vanishes from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from gitfleet.api.objects import Identity, Manifest
from gitfleet.api.placements import PlacementKey
from gitfleet.model.decisions import Decision
from gitfleet.model.operations import Delete, Keep, KeepCode, Operation, Release
from gitfleet.model.state import FleetState, Inventory
from gitfleet.model.works import Work
from gitfleet.rendered.files import file_name, folder_path

_NOTHING: Final[Inventory] = {}
_Given = frozenset[tuple[PlacementKey, Identity]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendering:
    """What was published as intent: the state at the `head` of its branch, its works, and what is done on the clusters
    for them. `place` is where the FleetConfig stands that says whether the branch is `enabled`."""

    commit: str
    head: str | None
    enabled: bool
    place: tuple[str, int]
    state: FleetState
    works: Mapping[str, tuple[Work, ...]]
    operations: tuple[Operation, ...]

    @classmethod
    def of(cls, decision: Decision, operations: tuple[Operation, ...], head: str | None) -> Rendering:
        """That of a decision which was rendering."""
        config = decision.inputs.desired.config
        return cls(
            commit=decision.inputs.desired.commit,
            head=head,
            enabled=config.rendered_enabled,
            place=(config.origin.path, config.origin.line) if config.origin is not None else ("gitfleet.yaml", 1),
            state=decision.after,
            works=decision.works,
            operations=operations,
        )


class Folder(NamedTuple):
    """The manifests by file, and the files that stay as they are where they are there: every file of the folder but
    those of `elsewhere` where that is None. `needed`: the cluster has objects of the placement that cannot be rendered
    now, so that nobody knows what the folder is to have but from what is there."""

    manifests: Mapping[str, Manifest]
    stays: frozenset[str] | None = frozenset()
    elsewhere: frozenset[str] = frozenset()
    needed: bool = False

    def keeps(self, name: str) -> bool:
        """Whether a file stays as it is."""
        return name not in self.elsewhere if self.stays is None else name in self.stays


Folders = Mapping[str, Folder]
"""By path, `<cluster>/<placement>`."""


class OfCluster(NamedTuple):
    """All that the folders of one cluster follow from: its works, what gitfleet owns there, what of that goes now, and
    the placements that have it and no work there that can be used."""

    works: tuple[Work, ...]
    owned: Inventory
    going: _Given
    unsound: frozenset[PlacementKey]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldersMemo:
    """The folders that were worked out last, by cluster, each with what it followed from."""

    clusters: Mapping[str, tuple[OfCluster, Folders]] = field(default_factory=dict)


def wanted_folders(rendering: Rendering, memo: FoldersMemo) -> tuple[Folders, FoldersMemo]:
    """The folders of every cluster. Those of a cluster of which nothing changed are the very same values."""
    going, unsound = _going(rendering.operations), _unsound(rendering.state, rendering.works)
    state, clusters = rendering.state, dict[str, tuple[OfCluster, Folders]]()
    for name in sorted({*rendering.works, *state.inventory, *unsound}):
        facts = OfCluster(
            rendering.works.get(name, ()),
            state.inventory.get(name, _NOTHING),
            frozenset(going.get(name, ())),
            frozenset(unsound.get(name, ())),
        )
        previous = memo.clusters.get(name)
        # Mostly the works and the inventory are the very same values, which `==` sees at once.
        unchanged = previous is not None and previous[0] == facts
        clusters[name] = previous if previous and unchanged else (facts, _of_cluster(name, facts))
    all_folders = {path: folder for _, folders in clusters.values() for path, folder in folders.items()}
    return all_folders, FoldersMemo(clusters=clusters)


def _going(operations: Iterable[Operation]) -> dict[str, set[tuple[PlacementKey, Identity]]]:
    """By cluster what leaves it now, or has left it."""
    leaving: dict[str, set[tuple[PlacementKey, Identity]]] = {}
    for operation in operations:
        terminating = isinstance(operation, Keep) and operation.code is KeepCode.TERMINATING
        if terminating or isinstance(operation, Delete | Release):
            leaving.setdefault(operation.cluster, set()).add((operation.placement, operation.key.identity))
    return leaving


def _unsound(state: FleetState, works: Mapping[str, tuple[Work, ...]]) -> dict[str, set[PlacementKey]]:
    """By cluster the placements that are to have it and of which is not known what they put there: nothing was rolled
    out yet, or its work cannot be used."""
    sound = {
        (work.cluster, work.placement)
        for cluster_works in works.values()
        for work in cluster_works
        if work.error is None and not work.apply_strategy.type.only_reports
    }
    unsound: dict[str, set[PlacementKey]] = {}
    for key, record in state.placements.items():
        for binding in record.bindings:
            if binding.deleting is None and (binding.cluster, key) not in sound:
                unsound.setdefault(binding.cluster, set()).add(key)
    return unsound


def _of_cluster(cluster: str, facts: OfCluster) -> Folders:
    owners = {key.identity: entry.placement for key, entry in facts.owned.items()}
    holders = {identity: owner for identity, owner in owners.items() if owner in facts.unsound}
    sound = [work for work in facts.works if work.placement not in facts.unsound]
    for work in sound:
        for manifest in work.manifests:
            identity = manifest.key.identity
            if owners.get(identity) == work.placement:
                holders[identity] = work.placement
            else:
                holders.setdefault(identity, work.placement)
    folders: dict[str, Folder] = {}
    for work in sound:
        manifests = (m for m in work.manifests if holders[m.key.identity] == work.placement)
        folders[folder_path(cluster, work.placement)] = Folder({file_name(m.key): m for m in manifests})
    placed = frozenset(name for folder in folders.values() for name in folder.manifests) if facts.unsound else None
    compared = {work.placement for work in facts.works if work.error is None}
    for key in facts.unsound:
        needed = key in owners.values() and key not in compared
        folders[folder_path(cluster, key)] = Folder({}, None, placed or frozenset(), needed)
    for entry in facts.owned.values():
        identity = entry.key.identity
        if identity in holders or (entry.placement, identity) in facts.going:
            continue
        path = folder_path(cluster, entry.placement)
        folder = folders.get(path, Folder({}))
        if folder.stays is not None:
            folders[path] = folder._replace(stays=folder.stays | {file_name(entry.key)})
    return folders
