"""The state branch as this process knows it: each head is read once, and moved by compare-and-swap alone.

What is remembered saves work: the state at the head that was read or pushed last, and the events of the last commit.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from datetime import datetime

from gitfleet import status
from gitfleet.errors import Forbidden
from gitfleet.loop.results import Published
from gitfleet.loop.state_commits import Publication, on_files_of, state_commit
from gitfleet.loop.state_trees import StateTrees
from gitfleet.loop.texts import LoopText
from gitfleet.model.desired import Desired
from gitfleet.model.events import Event, EventType
from gitfleet.model.failures import Failures
from gitfleet.model.state import FleetState
from gitfleet.ports.repos import BranchChange, RepoReader, RepoWriter
from gitfleet.reconcile import rebuilding

log = logging.getLogger(__name__)


@dataclass(slots=True)
class StateBranch:
    """Reads the states of the branch and publishes the next one."""

    reader: RepoReader
    writer: RepoWriter
    trees: StateTrees
    _known: tuple[str | None, FleetState] | None = None
    _unchecked: FleetState | None = None
    _published: tuple[FleetState, FleetState, tuple[Event, ...]] | None = None
    _only_grows: bool = False

    def at(self, head: str | None) -> FleetState:
        """The state at a head; what this process wrote itself need not be read again."""
        if self._known is None or self._known[0] != head:
            self._known = (head, self.trees.at(head))
            self._unchecked = self._known[1]
        return self._known[1]

    def forget(self) -> None:
        """Read the head again: somebody else moved it, or it was not read as a whole."""
        self._known = None

    def rebuilt(self, before: FleetState, wanted: Desired, now: datetime) -> FleetState:
        """The state with what the branch lost rebuilt, and the snapshots loaded that runs and pins name; what this
        process wrote itself has lost nothing."""
        if before is not self._unchecked:
            return self.trees.with_snapshots_named(before, wanted)
        sound = rebuilding.rebuild(before, wanted, now)
        for notice in sound.damage.notices:
            log.warning("%s", notice)
        self._unchecked = None
        if self._known is not None and self._known[1] is before:
            self._known = (self._known[0], sound)
        return self.trees.with_snapshots_named(sound, wanted)

    def publish(self, asked: Publication) -> Published:
        """Push a state if the head is the one that was read (else LostRace); what cannot be written stays, as an intent
        says."""
        composed = state_commit(asked)
        head, change, unusable = asked.head, composed.change, asked.before.damage.head
        if change is not None:
            if unusable is not None:
                change = on_files_of(change, unusable, self.reader.list_tree(unusable.instead))
            head = self._commit(change)
            self._published = (asked.before, composed.state, composed.events)
        self._known = (head, composed.state)
        fields = {"branch": change.branch, "subject": change.subject} if change is not None else None
        commit = Event(type=EventType.COMMIT, fields=fields) if fields is not None else None
        return Published(head, composed.state, composed.failures, commit)

    def _commit(self, change: BranchChange) -> str:
        """Push a commit; where the remote lets nobody shorten the branch, with the whole history."""
        try:
            return self.writer.commit(replace(change, most_commits=None) if self._only_grows else change)
        except Forbidden as error:
            if self._only_grows:
                raise
            head = self.writer.commit(replace(change, most_commits=None))
            self._only_grows = True
            log.warning(LoopText.HISTORY_NOT_SHORTENED(), change.branch, error)
            return head

    def events_between(self, before: FleetState, after: FleetState) -> tuple[tuple[Event, ...], Failures]:
        """The events between two states, and what cannot be told; those of the commit that was pushed last are known,
        and told once."""
        known, self._published = self._published, None
        failures = Failures()
        if known is not None and known[0] is before and known[1] is after:
            return known[2], failures
        return status.emit_events(before, after, failures), failures
