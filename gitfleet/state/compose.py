"""What must be written to the state branch so that it holds one state, given that it holds another (contracts.md
§2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from gitfleet.api import write
from gitfleet.formats.yaml_writer import write_documents
from gitfleet.model.state import FleetState, changed
from gitfleet.state import paths
from gitfleet.state.changed_files import ChangedFiles
from gitfleet.state.shapes.ledgers import FleetHead, faults_object
from gitfleet.state.table import state_fields


@dataclass(frozen=True, slots=True, kw_only=True)
class StateChange:
    """What to write: `remove` names files and whole folders, to be dropped before `write` (path: bytes) and `link`
    (path: id of a blob that the repository has) are done. README.md is the caller's."""

    write: Mapping[str, bytes] = field(default_factory=dict)
    link: Mapping[str, str] = field(default_factory=dict)
    remove: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether there is nothing to write: then there must be no commit."""
        return not (self.write or self.link or self.remove)


def compose_state(before: FleetState, after: FleetState, *, now: datetime | None = None, version: str) -> StateChange:
    """The change of the state branch that leads from `before`, which it holds, to `after`; empty when they say the
    same.

    Values that are the same object in both cost nothing, equal ones next to nothing. The same arguments give the same
    bytes. `now` is shown as the time of the last change. GiveUp or BadInput, with the path or the name, for what cannot
    be written: then nothing is.
    """
    files = ChangedFiles()
    for name, stored in state_fields():
        for key, old, new in changed(getattr(before, name), getattr(after, name)):
            stored.write(files, key, old, new)
    _faults(files, before, after)
    head = _head_of(after)
    if head == _head_of(before) and not files.any:
        return StateChange()
    head = replace(head, gitfleet_version=version, last_changed=now)
    files.put_bytes(paths.FLEET, write_documents([write(head)]))
    return StateChange(
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
