"""What must be written to the state branch so that it holds one state, given that it holds another (contracts.md
§2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Concatenate, ParamSpec

from gitfleet.api import write
from gitfleet.formats.yaml_writer import write_documents
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.state import FleetState, changed
from gitfleet.state import paths
from gitfleet.state.changed_files import ChangedFiles
from gitfleet.state.file_kinds import StateField
from gitfleet.state.shapes.ledgers import FleetHead, faults_object
from gitfleet.state.table import state_fields

P = ParamSpec("P")


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
    same.

    Values that are the same object in both cost nothing, equal ones next to nothing. The same arguments give the same
    bytes. `now` is shown as the time of the last change. A placement, override or cluster that cannot be written keeps
    the files that it has, and is noted in `failures`.
    """
    if before is after:
        return StateChange(state=after)
    files = ChangedFiles()
    written = _Change(files, before, after, failures, after).write_all()
    head = _head_of(after)
    if head == _head_of(before) and not files.any:
        return StateChange(state=written)
    head = replace(head, gitfleet_version=version, last_changed=now)
    files.put_bytes(paths.FLEET, write_documents([write(head)]))
    return StateChange(
        state=written,
        write=dict(sorted(files.write.items())),
        link=dict(sorted(files.link.items())),
        remove=tuple(sorted(set(files.remove))),
    )


def _head_of(state: FleetState) -> FleetHead:
    return FleetHead(
        observed_commit=state.observed_commit,
        scheduler_plugins=state.scheduler_plugins,
        removal_settings=state.removal_settings,
        freezes=state.freezes,
        restored=state.restored,
    )


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
            {snapshot.reference for snapshots in state.overrides.values() for snapshot in snapshots}
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
                unwritten = {key: value for key, value in before.items() if key in failed}
                written = {key: value for key, value in after.items() if key not in failed}
                fields: dict[str, Any] = {name: {**written, **unwritten}}
                self.written = replace(self.written, **fields)
        if not self._contained(Subject("Faults", "fleet"), _faults, self.before, self.after):
            self.written = replace(self.written, faults=self.before.faults, last_good=self.before.last_good)
        return self.written

    def _unwritten(self, name: str, stored: StateField[Any, Any]) -> set[Any]:
        """Write what changed in a field; the keys of what could not be written."""
        pairs = changed(getattr(self.before, name), getattr(self.after, name))
        return {key for key, old, new in pairs if not self._contained(stored.subject(key), stored.write, key, old, new)}

    def _contained(
        self, subject: Subject, write: Callable[Concatenate[ChangedFiles, P], None], *args: P.args, **named: P.kwargs
    ) -> bool:
        """Whether it could be written; nothing of it is written where it could not."""
        part = ChangedFiles(self.unwritten)
        if self.failures.contain(subject, "failed", write, part, *args, **named) is not None:
            return False
        self.files.add(part)
        return True


def _faults(files: ChangedFiles, before: FleetState, after: FleetState) -> None:
    if (before.faults, before.last_good) == (after.faults, after.last_good):
        return
    if after.faults or after.last_good:
        files.put_bytes(paths.FAULTS, write_documents([faults_object(after.faults, after.last_good)]))
    else:
        files.remove.append(paths.FAULTS)
    old_blobs, new_blobs = (
        {good.blob for versions in state.last_good.values() for good in versions if good.blob}
        for state in (before, after)
    )
    files.remove.extend(paths.last_good_path(blob) for blob in old_blobs - new_blobs)
    files.link.update({paths.last_good_path(blob): blob for blob in new_blobs - old_blobs})
