"""The state branch as this process knows it: each head is read once, and moved by compare-and-swap alone.

What is remembered saves work: the state at the head that was read or pushed last, and the events of the last commit.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from gitfleet import status
from gitfleet.api.fleet import FEWEST_COMMITS
from gitfleet.branches.state_trees import PHASE_TRAILER, TREE_TRAILER, Restored, StateTrees
from gitfleet.branches.texts import BranchesText
from gitfleet.errors import Forbidden
from gitfleet.model.decisions import Inputs
from gitfleet.model.events import Event, EventType
from gitfleet.model.failures import Failure, Failures, Subject
from gitfleet.model.state import FleetState
from gitfleet.ports.repos import BranchChange, RepoReader, RepoWriter, TreeEntry
from gitfleet.state import README_FILE, compose_state
from gitfleet.views.readme import readme_text

log = logging.getLogger(__name__)
_LATEST_CLOCK: Final = timedelta(minutes=1)
"""A clock that is further behind the last commit of the state changes nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """What is to be published: `after` in the place of `before`, which stands at `head` of a branch. `phase` is
    intent or report; `inputs` are those that it was decided with."""

    before: FleetState
    after: FleetState
    inputs: Inputs
    branch: str
    head: str | None
    phase: str
    now: datetime
    version: str
    branches: str = ""
    """How the names of branches that ask for approvals begin, "" where none are pushed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateCommit:
    """`change` is None when there is nothing to commit; `failures` are what could not be told."""

    failures: tuple[Failure, ...]
    events: tuple[Event, ...] = ()
    change: BranchChange | None = None


@dataclass(frozen=True, slots=True)
class Published:
    """The head of the state branch, what it contains, what could not be told there, and the event of the commit that
    this took."""

    head: str | None
    state: FleetState
    failures: tuple[Failure, ...] = ()
    commit: Event | None = None


@dataclass(slots=True)
class StateBranch:
    """Reads the states of the branch and publishes the next one."""

    reader: RepoReader
    writer: RepoWriter
    trees: StateTrees
    _written: datetime | None = None
    _current: tuple[str | None, FleetState] | None = None
    _restored: Restored | None = None
    _published: tuple[FleetState, FleetState, tuple[Event, ...]] | None = None
    _only_grows: bool = False

    def at(self, head: str | None, branch: str) -> FleetState:
        """The state at a head of the branch; what this process wrote itself need not be read again."""
        if self._current is None or self._current[0] != head:
            state, self._written, restored = self.trees.read(head, branch)
            if restored is not None and restored != self._restored:
                log.warning(BranchesText.STATE_RESTORED(), restored.head[:12], restored.why, restored.commit[:12])
            self._current, self._restored = (head, state), restored
        return self._current[1]

    @property
    def written(self) -> datetime | None:
        """When gitfleet wrote the state that was read last."""
        return self._written

    def written_after(self, now: datetime) -> datetime | None:
        """When gitfleet wrote the state, if a clock that says `now` is more than a minute behind that."""
        return self._written if self._written is not None and now < self._written - _LATEST_CLOCK else None

    def forget(self) -> None:
        """Read the head again: somebody else moved it."""
        self._current = None

    def publish(self, publication: Publication) -> Published:
        """Push a state if the head is the one that was read (else LostRace); GiveUp where it cannot be written."""
        restored = self._restored if self._restored is not None and self._restored.head == publication.head else None
        composed = state_commit(publication, restored=restored is not None)
        head, change, event = publication.head, composed.change, None
        if change is not None:
            if restored is not None:
                change = on_tree_of(change, restored, self.reader.list_tree(restored.commit))
            head, self._written = self._commit(change), publication.now
            self._published = (publication.before, publication.after, composed.events)
            event = Event(type=EventType.COMMIT, fields={"branch": change.branch, "subject": change.subject})
        self._current = (head, publication.after)
        return Published(head, publication.after, composed.failures, event)

    def _commit(self, change: BranchChange) -> str:
        """Push a commit; where the remote lets nobody shorten the branch, with the whole history."""
        try:
            return self.writer.commit(replace(change, most_commits=None) if self._only_grows else change)
        except Forbidden as error:
            if self._only_grows:
                raise
            head = self.writer.commit(replace(change, most_commits=None))
            self._only_grows = True
            log.warning(BranchesText.HISTORY_NOT_SHORTENED(), change.branch, error)
            return head

    def events_between(self, before: FleetState, after: FleetState) -> tuple[Event, ...]:
        """The events between two states; those of the commit that was pushed last are known."""
        published, self._published = self._published, None
        if published is not None and published[0] is before and published[1] is after:
            return published[2]
        return status.emit_events(before, after)


def state_commit(publication: Publication, *, restored: bool = False) -> StateCommit:
    """The commit of a publication. There is always one where the state was `restored` from another commit than the
    head."""
    if restored:
        publication = replace(publication, before=replace(publication.before, restored=publication.head or ""))
    failures, desired = Failures(), publication.inputs.desired
    before, after = publication.before, publication.after
    change = compose_state(before, after, now=publication.now, version=publication.version)
    if change.empty:
        return StateCommit(failures=())
    events = failures.contain(Subject("Events", ""), (), status.emit_events, before, after)
    page = Subject("File", README_FILE)
    readme = failures.contain(page, None, readme_text, after, now=publication.now, branches=publication.branches)
    subject, body = failures.contain(Subject("Events", ""), status.commit_message(()), status.commit_message, events)
    commit = BranchChange(
        branch=publication.branch,
        expected=publication.head,
        subject=subject,
        body=body,
        trailers=(("Gitfleet-Commit", desired.commit), (PHASE_TRAILER, publication.phase)),
        tree_trailer=TREE_TRAILER,
        when=publication.now,
        write={**change.write, **({README_FILE: readme.encode()} if readme is not None else {})},
        link={path: TreeEntry("100644", blob) for path, blob in change.link.items()},
        remove=change.remove,
        most_commits=(most := max(FEWEST_COMMITS, desired.config.state_history_max_commits)),
        keep_commits=most // 2,
    )
    return StateCommit(failures=failures.found, events=events, change=commit)


def on_tree_of(change: BranchChange, restored: Restored, tree: Mapping[str, TreeEntry]) -> BranchChange:
    """The commit of a publication with the `tree` of the commit that its state was restored from: on top of the head
    or, where git cannot read that, in its place."""
    if not restored.readable:
        return replace(change, base=restored.commit)
    dropped = {path.rstrip("/") for path in change.remove}
    stays = {
        path: replace(entry, size=None)
        for path, entry in tree.items()
        if path not in change.write and dropped.isdisjoint((path, *_folders_of(path)))
    }
    return replace(change, remove=("",), link={**stays, **change.link})


def _folders_of(path: str) -> list[str]:
    return [path[:at] for at, sign in enumerate(path) if sign == "/"]
