"""What must be written to the state branch so that it holds one state, given that it holds another (contracts.md
§2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from gitfleet.api import write
from gitfleet.api.placements import PlacementKey
from gitfleet.formats.git_names import is_path
from gitfleet.formats.yaml_writer import write_documents
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.state import FleetState, changed
from gitfleet.state import paths
from gitfleet.state.changed_files import ChangedFiles
from gitfleet.state.file_kinds import StateField
from gitfleet.state.hold_files import hold_digests
from gitfleet.state.shapes.ledgers import FleetHead, faults_object
from gitfleet.state.table import owner_of, state_fields

if TYPE_CHECKING:
    from _typeshed import SupportsDunderLT

P = ParamSpec("P")
K = TypeVar("K", bound="SupportsDunderLT[Any]")
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
    before: FleetState, after: FleetState, failures: Failures, *, now: datetime | None = None, version: str
) -> StateChange:
    """The change of the state branch that leads from `before`, which it holds, to `after`; empty when they say the
    same and every file of `before` lies where it belongs.

    Values that are the same object in both cost nothing, equal ones next to nothing. The same arguments give the same
    bytes. What is damaged in `before` is removed, and its owner's files are written again. `now` is shown as the time
    of the last change. A placement, override or cluster that cannot be written keeps the files that it has, and is
    noted in `failures`.
    """
    if before is after and not (before.misplaced or before.damage.any):
        return StateChange(state=after)
    files = ChangedFiles(misplaced=before.misplaced | _damaged_folders(before))
    _set_aside(files, before, after)
    written = _Change(files, before, after, failures, after).write_all()
    same_head = _head_facts(before) == _head_facts(after)
    if same_head and not files.any:
        return StateChange(state=written)
    head = FleetHead(
        observed_commit=after.observed_commit,
        gitfleet_version=version,
        last_changed=now,
        scheduler_plugins=after.scheduler_plugins,
        mass_delete=after.mass_delete,
        freezes=after.freezes,
        faults=len(written.faults) + len(written.last_good),
        holds=hold_digests(written.holds),
    )
    files.put_bytes(paths.FLEET, write_documents([write(head)]))
    return StateChange(
        state=written,
        write=dict(sorted(files.write.items())),
        link=dict(sorted(files.link.items())),
        remove=tuple(sorted(set(files.remove))),
    )


def _head_facts(state: FleetState) -> tuple[object, ...]:
    return state.observed_commit, state.scheduler_plugins, state.mass_delete, state.freezes


@dataclass(slots=True)
class _Change:
    """What is to be written, each placement, override, cluster and so on by itself. `written` is `after`, but for what
    could not be written."""

    files: ChangedFiles
    before: FleetState
    after: FleetState
    failures: Failures
    written: FleetState

    @property
    def unwritten(self) -> frozenset[str]:
        """The references of override snapshots, and the placements, that the branch will not have as they are now."""
        if self.written is self.after:
            return frozenset()
        after, written = (
            {snapshot.reference for found in state.overrides.values() for snapshot in found}
            for state in (self.after, self.written)
        )
        records = self.written.placements
        late = (key for key, record in self.after.placements.items() if records.get(key) is not record)
        return frozenset({*(after - written), *(str(Subject.of_placement(key)) for key in late)})

    def write_all(self) -> FleetState:
        """Write what changed; the state that the branch holds then."""
        for name, stored in state_fields():
            if failed := self._unwritten(name, stored):
                before, after = getattr(self.before, name), getattr(self.after, name)
                kept = {key: value for key, value in before.items() if key in failed}
                others = {key: value for key, value in after.items() if key not in failed}
                fields: dict[str, Any] = {name: {**others, **kept}}
                self.written = replace(self.written, **fields)
        if not self._contained(Subject("Faults", "fleet"), _faults, self.before, self.after):
            self.written = replace(self.written, faults=self.before.faults, last_good=self.before.last_good)
        return self.written

    def _unwritten(self, name: str, stored: StateField[Any, Any]) -> set[Any]:
        """Write what changed in a field; the keys of what could not be written."""
        before, after = getattr(self.before, name), getattr(self.after, name)
        damaged = {*self.before.damage.rebuilt, *map(owner_of, self.before.damage.files)}

        def write_whole(files: ChangedFiles, key: Any, old: Any, new: Any) -> None:
            stored.write(files, key, old, new)
            if key in damaged and old is not None:
                stored.write(files, key, None, new)

        same = [(key, old, old) for key, old in before.items() if key in damaged and after.get(key) is old]
        every = (*_changed(before, after, self.files.misplaced, stored.folder), *same)
        return {key for key, old, new in every if not self._contained(stored.subject(key), write_whole, key, old, new)}

    def _contained(
        self, subject: Subject, write: Callable[Concatenate[ChangedFiles, P], None], *args: P.args, **named: P.kwargs
    ) -> bool:
        """Whether it could be written; nothing of it is written where it could not."""
        part = ChangedFiles(self.files.misplaced, self.unwritten)
        if self.failures.contain(subject, "failed", write, part, *args, **named) is not None:
            return False
        self.files.add(part)
        return True


def _damaged_folders(before: FleetState) -> frozenset[str]:
    """The folders of bindings and inventory of which all files have to be written again."""
    folders = {path.rpartition("/")[0] for path in before.damage.files}
    rebuilt = before.damage.rebuilt
    folders |= {paths.inventory_folder(owner) for owner in rebuilt if isinstance(owner, str)}
    folders |= {paths.bindings_folder(owner) for owner in rebuilt if isinstance(owner, PlacementKey)}
    return frozenset(folders)


def _set_aside(files: ChangedFiles, before: FleetState, after: FleetState) -> None:
    """Remove what cannot be used. Its content stays in the branch's history."""
    files.remove.extend(path for path in before.damage.files if is_path(path))
    for key in before.damage.orphans:
        if key not in after.placements:
            files.remove.extend((paths.resources_folder(key), paths.policies_folder(key), paths.bindings_folder(key)))


def _changed(
    before: Mapping[K, V], after: Mapping[K, V], misplaced: frozenset[str], folder: Callable[[K], str] | None
) -> Iterator[tuple[K, V | None, V | None]]:
    """What changed, and what stays and yet has to be rewritten because its files are elsewhere."""
    if not misplaced or folder is None:
        yield from changed(before, after)
        return
    for key in sorted({*before, *after}):
        if before.get(key) is not after.get(key) or folder(key) in misplaced:
            yield key, before.get(key), after.get(key)


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
