"""The rendered branch: one commit for each change of what the clusters are to have, by compare-and-swap.

It follows from the state branch, which is pushed first: a process that ends in between leaves the rest to the next one.
Whatever somebody else does to it is undone, and what the remote refuses is said and tried again: neither stops the
fleet.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from gitfleet.api.faults import Fault, Severity
from gitfleet.api.fleet import Branches
from gitfleet.errors import BadInput, GitfleetError, LostRace, RetryLater, UnreadableCommit
from gitfleet.formats.git_names import GITFLEET
from gitfleet.formats.sentences import named_briefly
from gitfleet.loop.request_branches import RequestBranches
from gitfleet.loop.said_once import SaidOnce
from gitfleet.loop.texts import LoopText
from gitfleet.model.backoff import Curve
from gitfleet.model.desired import Desired
from gitfleet.model.events import Event, EventType
from gitfleet.model.state import FleetState
from gitfleet.ports.clock import Clock
from gitfleet.ports.repos import BranchChange, CommitFacts, HistoryReader, RepoReader, RepoWriter, TreeEntry
from gitfleet.rendered import (
    Contents,
    FoldersMemo,
    Rendering,
    Tree,
    commit_message,
    readme_text,
    tree_change,
    tree_of,
    wanted_folders,
)

log = logging.getLogger(__name__)
Heads: TypeAlias = Mapping[str, str]
"""The remote's branches with their commits."""
_KIND: Final = "RenderedBranch/"
_TRAILER: Final = "Gitfleet-State"
_PLAIN: Final = "100644"
_MOST_COMMITS: Final = 50
"""So many commits back, the last one of gitfleet's own is searched for."""
_PAUSES: Final = Curve.growing(1.0, 2.0, 300.0)


@dataclass(frozen=True, slots=True)
class _Base:
    """From where a commit starts: the files that gitfleet wrote last, those that are there, and the parent where that
    is not the head ("" for none)."""

    own: Tree
    there: Tree
    parent: str | None = None


@dataclass(slots=True, kw_only=True)
class RenderedBranch:
    """Keeps the branch where the FleetConfig enables it. What is remembered saves work: the files of the commit that
    was found or made last, and what they follow from."""

    reader: RepoReader
    history: HistoryReader
    writer: RepoWriter
    clock: Clock
    _known: tuple[str, Tree] | None = None
    _written: tuple[Rendering, Branches, str] | None = None
    _folders: FoldersMemo = FoldersMemo()
    _said: SaidOnce = field(default_factory=SaidOnce)
    _refused: tuple[Fault, ...] | None = None
    """What is wrong with the branch; None before the first look."""
    _noted: tuple[Desired, tuple[Fault, ...], Desired] | None = None
    _due: bool = False
    """Whether another pass is to try at once."""
    _failures: int = 0
    _not_before: float = 0.0

    def noted(self, wanted: Desired, before: FleetState) -> Desired:
        """What is wanted, with a warning while the branch cannot be written; one that is recorded holds until this
        process has tried itself. The same for the same."""
        notes = _recorded(before) if self._refused is None else self._refused
        if self._noted is None or self._noted[0] is not wanted or self._noted[1] != notes:
            noted = replace(wanted, faults=(*wanted.faults, *notes)) if notes else wanted
            self._noted = (wanted, notes, noted)
        return self._noted[2]

    def is_through(self, state: FleetState) -> bool:
        """Whether nothing is left to try at once, and a state has this warning and no other."""
        return not self._due and (self._refused is None or _recorded(state) == self._refused)

    def publish(self, heads: Heads, branches: Branches, rendering: Rendering) -> Event | None:
        """Bring the branch to what was published; the event of the commit that this took. Nothing is raised that the
        remote or a person can bring about."""
        head = heads.get(branches.rendered)
        known = self._written is not None and self._written[0] is rendering and self._written[1:] == (branches, head)
        if not rendering.enabled or (known and head is not None):
            self._due, self._refused = False, ()
            return None
        if self.clock.monotonic() < self._not_before:
            return None
        self._due = False
        try:
            event = self._brought(head, branches, rendering)
        except LostRace:
            self._due = True
            return None
        except GitfleetError as error:
            self._refuse(error, branches, rendering)
            return None
        self._refused, self._failures = (), 0
        self._said.forget()
        return event

    def _brought(self, head: str | None, branches: Branches, rendering: Rendering) -> Event | None:
        if branches.rendered in (branches.watch, branches.state):
            raise BadInput(LoopText.CANNOT_BRANCH_HOLDS_SOMETHING_ELSE(rendered=branches.rendered))
        wanted, folders = wanted_folders(rendering, self._folders)
        base, contents = self._base(head, branches), Contents(len(rendering.commit))
        if lost := [path for path, folder in wanted.items() if folder.needed and path not in base.own.files]:
            raise BadInput(
                LoopText.CANNOT_RENDERED_NOW(lost=named_briefly(lost, 3)),
                hint=LoopText.CORRECT_CONDITION_SAYS(),
            )
        readme = readme_text(branches.watch, branches.state).encode()
        change = tree_change(wanted, base.own, base.there, readme, contents)
        # What takes the place of a head that cannot be read differs from its parent; the next pass writes the page.
        again = change.empty and base.parent is not None
        if again:
            change = tree_change(wanted, base.own, base.there, readme + b"\nWritten again.\n", contents)
        event = None
        if head is None or not change.empty:
            subject, body = commit_message(change, rendering.commit)
            head = self.writer.commit(
                BranchChange(
                    branch=branches.rendered,
                    expected=head,
                    subject=subject,
                    body=body,
                    trailers=(("Gitfleet-Commit", rendering.commit), (_TRAILER, rendering.head or "none")),
                    when=self.clock.now(),
                    write=change.write,
                    link={path: TreeEntry(_PLAIN, oid) for path, oid in change.link.items()},
                    remove=change.remove,
                    base=base.parent,
                )
            )
            event = Event(type=EventType.COMMIT, fields={"branch": branches.rendered, "subject": subject})
        self._known, self._folders, self._due = (head, change.after), folders, again
        self._written = None if again else (rendering, branches, head)
        return event

    def _base(self, head: str | None, branches: Branches) -> _Base:
        """Where to start: at what this process knows, or at what it reads of the branch."""
        if self._known is not None and head in (self._known[0], None):
            tree = self._known[1]
            return _Base(tree, tree if head is not None else Tree())
        if head is None:
            return _Base(Tree(), Tree())
        own, tree = self._last_own(head, branches)
        try:
            there, parent = (tree if own == head else self._tree_at(head)), None
        except UnreadableCommit as error:
            self._said.say(LoopText.BRANCH_CANNOT_READ(rendered=branches.rendered, reason=error.reason))
            there, parent = tree, own
        if own != head and parent is None:
            self._said.say(LoopText.BRANCH_COMMITS_SOMEBODY_ELSE(rendered=branches.rendered))
        return _Base(tree, there, parent)

    def _last_own(self, head: str, branches: Branches) -> tuple[str, Tree]:
        """The head, or the last commit before it, that gitfleet made and that can be read, with its files; the one that
        this process made last where none can be read. BadInput where none is gitfleet's."""
        if (found := self._own(head)) is not None:
            return found
        try:
            before = self.reader.ancestors(head, most=_MOST_COMMITS)
        except UnreadableCommit:
            if self._known is None:
                raise
            return self._known
        for commit in before:
            if (found := self._own(commit)) is not None:
                return found
        raise BadInput(LoopText.BRANCH_HOLDS_SOMEBODY_ELSE_COMMITS(rendered=branches.rendered))

    def _own(self, commit: str) -> tuple[str, Tree] | None:
        """A commit with its files, None where it is not gitfleet's or cannot be read."""
        if self._known is not None and self._known[0] == commit:
            return self._known
        with suppress(UnreadableCommit):
            if _is_ours(self.history.about(commit)):
                return commit, self._tree_at(commit)
        return None

    def _tree_at(self, commit: str) -> Tree:
        entries = self.reader.list_tree(commit)
        return tree_of((path, entry.oid if entry.mode == _PLAIN else "") for path, entry in entries.items())

    def _refuse(self, error: GitfleetError, branches: Branches, rendering: Rendering) -> None:
        sentence = LoopText.RENDERED_BRANCH_CANNOT_WRITTEN(rendered=branches.rendered, error=error)
        self._said.say(sentence)
        self._known, self._failures = None, self._failures + 1
        self._not_before = self.clock.monotonic() + _PAUSES.after(self._failures)
        if isinstance(error, RetryLater):
            self._due = True
            return
        path, line = rendering.place
        hint = f" ({error.hint})" if error.hint else ""
        field_ = "spec.rendered.enabled"
        message = LoopText.TRIED_AGAIN_ITSELF(sentence=sentence.rstrip("."), hint=hint)
        self._refused = (Fault(path, line, f"{_KIND}{branches.rendered}", field_, message, Severity.WARNING),)


def beside_state(
    requests: RequestBranches | None, rendered: RenderedBranch | None
) -> Sequence[RequestBranches | RenderedBranch]:
    """What keeps other branches than the state branch, as far as there is any."""
    return [one for one in (requests, rendered) if one is not None]


def _recorded(state: FleetState) -> tuple[Fault, ...]:
    return tuple(fault for fault in state.faults if fault.object.startswith(_KIND))


def _is_ours(about: CommitFacts) -> bool:
    """Whether gitfleet made a commit of the branch: whoever commits on top has a name of their own."""
    return about.author == about.committer == GITFLEET and f"\n{_TRAILER}: " in about.message
