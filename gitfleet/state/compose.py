"""What must be written to the state branch so that it holds one state, given that it holds another (contracts.md
§2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Concatenate, ParamSpec, TypeVar

from gitfleet import __version__
from gitfleet.api import write
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.holds import Hold
from gitfleet.api.overrides import OverrideKey
from gitfleet.api.snapshots import OverrideSnapshot
from gitfleet.errors import GiveUp
from gitfleet.formats.git_names import is_path
from gitfleet.formats.yaml_writer import write_documents
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.state import FleetState, Inventory, changed
from gitfleet.state import paths
from gitfleet.state.changed_files import ChangedFiles, EntryFolder, rewrite_entries
from gitfleet.state.placement_files import write_placement
from gitfleet.state.shapes.ledgers import FleetHead, faults_object, inventory_bytes, inventory_line
from gitfleet.state.shapes.overrides import override_object
from gitfleet.state.shards import inventory_address

P = ParamSpec("P")
K = TypeVar("K", bound=object)
V = TypeVar("V")


@dataclass(frozen=True, slots=True, kw_only=True)
class StateChange:
    """What to write: `remove` names files and whole folders, to be dropped before `write` (path: bytes) and `link`
    (path: id of a blob that the repository has) are done. README.md is the caller's. `state` is what the branch holds
    then."""

    state: FleetState
    write: Mapping[str, bytes] = field(default_factory=dict)
    link: Mapping[str, str] = field(default_factory=dict)
    remove: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether there is nothing to write: then there must be no commit."""
        return not (self.write or self.link or self.remove)


def compose_state(
    before: FleetState,
    after: FleetState,
    *,
    now: datetime | None = None,
    version: str = __version__,
    failures: Failures | None = None,
) -> StateChange:
    """The change of the state branch that leads from `before`, which it holds, to `after`; empty when they say the
    same and every file of `before` lies where it belongs.

    Values that are the same object in both cost nothing, equal ones next to nothing. The same arguments give the same
    bytes. What is damaged in `before` is removed, and its owner's files are written again. `now` is shown as the time
    of the last change. With `failures`, a placement, override or cluster that cannot be written keeps the files that it
    has, and is noted there; without, BadInput is raised for a name that can be no file of the branch.
    """
    if before is after and not (before.misplaced or before.damage.any):
        return StateChange(state=after)
    files, noted = ChangedFiles(misplaced=before.misplaced | _damaged_folders(before)), Failures()
    _set_aside(files, before, after)
    written = _Change(files, before, after, noted).write_all()
    if failures is None and noted.found:
        raise noted.found[0].cause or GiveUp(noted.found[0].sentence)
    if failures is not None:
        failures.note_all(noted)
    same_head = _head_facts(before) == _head_facts(after)
    if same_head and not files.any:
        return StateChange(state=written)
    head = FleetHead(
        observed_commit=after.observed_commit,
        gitfleet_version=version,
        last_changed=now,
        scheduler_plugins=after.scheduler_plugins,
        mass_delete=after.mass_delete,
        faults=len(written.faults) + len(written.last_good),
    )
    files.put_bytes(paths.FLEET, write_documents([write(head)]))
    return StateChange(
        state=written,
        write=dict(sorted(files.write.items())),
        link=dict(sorted(files.link.items())),
        remove=tuple(sorted(set(files.remove))),
    )


def _head_facts(state: FleetState) -> tuple[object, ...]:
    return state.observed_commit, state.scheduler_plugins, state.mass_delete


@dataclass(frozen=True, slots=True)
class _Change:
    """What is to be written, each placement, override and cluster by itself."""

    files: ChangedFiles
    before: FleetState
    after: FleetState
    failures: Failures

    def write_all(self) -> FleetState:
        """Write what changed; the state that the branch holds then: `after`, but for what could not be written."""
        before, after, misplaced = self.before, self.after, self.files.misplaced
        clusters, holds = changed(before.clusters, after.clusters), changed(before.holds, after.holds)
        written = replace(
            after,
            clusters=self._written(
                before.clusters, after.clusters, _of_cluster, clusters, partial(_alone, paths.cluster_path)
            ),
            holds=self._written(before.holds, after.holds, _of_hold, holds, partial(_alone, paths.hold_path)),
            overrides=self._written(
                before.overrides, after.overrides, _of_override, changed(before.overrides, after.overrides), _overrides
            ),
        )
        inventory = _changed(before.inventory, after.inventory, misplaced, paths.inventory_folder)
        placements = _changed(before.placements, after.placements, misplaced, paths.bindings_folder)
        unwritten = _references(after) - _references(written)
        written = replace(
            written,
            inventory=self._written(before.inventory, after.inventory, _of_cluster, inventory, _inventory),
            placements=self._written(
                before.placements,
                after.placements,
                Subject.of_placement,
                placements,
                partial(write_placement, unwritten=unwritten),
            ),
        )
        if not self._contained(Subject("Faults", "fleet"), _faults, before, after):
            written = replace(written, faults=before.faults, last_good=before.last_good)
        return written if self.failures.found else after

    def _written(
        self,
        before: Mapping[K, V],
        after: Mapping[K, V],
        subject_of: Callable[[K], Subject],
        changes: Iterable[tuple[K, V | None, V | None]],
        write: Callable[[ChangedFiles, K, V | None, V | None], None],
    ) -> Mapping[K, V]:
        """Write what changed; `after`, in which what could not be written is as `before`."""
        damage = self.before.damage
        damaged = {*damage.rebuilt, *(owner for path in damage.files if (owner := paths.owner_of(path)) is not None)}

        def write_whole(files: ChangedFiles, key: K, old: V | None, new: V | None) -> None:
            write(files, key, old, new)
            if key in damaged and old is not None:
                write(files, key, None, new)

        same = [(key, old, after[key]) for key, old in before.items() if key in damaged and after.get(key) is old]
        every = (*changes, *same)
        failed = {key for key, old, new in every if not self._contained(subject_of(key), write_whole, key, old, new)}
        if not failed:
            return after
        kept = {key: value for key, value in before.items() if key in failed}
        return {**{key: value for key, value in after.items() if key not in failed}, **kept}

    def _contained(
        self, subject: Subject, write: Callable[Concatenate[ChangedFiles, P], None], *args: P.args, **named: P.kwargs
    ) -> bool:
        """Whether it could be written; nothing of it is written where it could not."""
        part = ChangedFiles(misplaced=self.files.misplaced)
        if self.failures.contain(subject, "failed", write, part, *args, **named) is not None:
            return False
        self.files.add(part)
        return True


def _damaged_folders(before: FleetState) -> frozenset[str]:
    """The folders of bindings and inventory of which all files have to be written again."""
    folders = {path.rpartition("/")[0] for path in before.damage.files}
    for owner in before.damage.rebuilt:
        folder = paths.inventory_folder(owner) if isinstance(owner, str) else paths.bindings_folder(owner)
        folders.add(folder)
    return frozenset(folders)


def _set_aside(files: ChangedFiles, before: FleetState, after: FleetState) -> None:
    """Remove what cannot be used. Its content stays in the branch's history."""
    files.remove.extend(path for path in before.damage.files if is_path(path))
    for key in before.damage.orphans:
        if key not in after.placements:
            files.remove.extend((paths.resources_folder(key), paths.policies_folder(key), paths.bindings_folder(key)))


def _of_cluster(name: str) -> Subject:
    return Subject("MemberCluster", name)


def _of_hold(name: str) -> Subject:
    return Subject("Hold", name)


def _of_override(key: OverrideKey) -> Subject:
    return Subject(key.kind, str(key))


def _references(state: FleetState) -> frozenset[str]:
    return frozenset(snapshot.reference for found in state.overrides.values() for snapshot in found)


def _changed(
    before: Mapping[K, V], after: Mapping[K, V], misplaced: frozenset[str], folder_of: Callable[[K], str]
) -> Iterator[tuple[K, V | None, V | None]]:
    """What changed, and what stays and yet has to be rewritten because its files are elsewhere."""
    if not misplaced:
        yield from changed(before, after)
        return
    for key in sorted({*before, *after}):  # type: ignore[type-var]  # every key of the state has an order
        if before.get(key) is not after.get(key) or folder_of(key) in misplaced:
            yield key, before.get(key), after.get(key)


def _alone(
    path_of: Callable[[str], str],
    files: ChangedFiles,
    name: str,
    old: MemberCluster | Hold | None,
    new: MemberCluster | Hold | None,
) -> None:
    """What has a file of its own."""
    if new is None:
        files.remove.append(path_of(name))
    elif new != old:
        files.put(path_of(name), write(old) if old else None, write(new))


def _overrides(
    files: ChangedFiles,
    key: OverrideKey,
    olds: tuple[OverrideSnapshot, ...] | None,
    news: tuple[OverrideSnapshot, ...] | None,
) -> None:
    before, after = (
        {
            paths.override_path(key, snapshot.index): override_object(snapshot, latest=snapshot is every[-1])
            for snapshot in every
        }
        for every in (olds or (), news or ())
    )
    files.remove.extend(path for path in before if path not in after)
    for path, wanted in after.items():
        if before.get(path) != wanted:
            files.put_bytes(path, write_documents([wanted]))


def _inventory(files: ChangedFiles, cluster: str, old: Inventory | None, new: Inventory | None) -> None:
    kind = EntryFolder(
        folder=paths.inventory_folder(cluster),
        address=inventory_address,
        order=lambda entry: (entry.placement.namespace, entry.placement.name, entry.key.order),
        render=lambda entries: inventory_bytes(cluster, map(inventory_line, entries)),
    )
    rewrite_entries(files, kind, (old or {}).values(), (new or {}).values())


def _faults(files: ChangedFiles, before: FleetState, after: FleetState) -> None:
    damaged = paths.FAULTS in before.damage.files
    if (before.faults, before.last_good) == (after.faults, after.last_good) and not damaged:
        return
    if after.faults or after.last_good:
        files.put_bytes(paths.FAULTS, write_documents([faults_object(after.faults, after.last_good)]))
    else:
        files.remove.append(paths.FAULTS)
    was, now = (
        {good.blob for versions in state.last_good.values() for good in versions if good.blob}
        for state in (before, after)
    )
    files.remove.extend(paths.last_good_path(blob) for blob in was - now)
    files.link.update({paths.last_good_path(blob): blob for blob in now - was})
