"""The rendered branch: one commit for each change of what the clusters are to have, by compare-and-swap.

It follows from the state branch, which is pushed first: a process that ends in between leaves the rest to the next one.
Whatever somebody else does to it is undone, and what the remote refuses is said and tried again: neither stops the
fleet.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import ClassVar, Final

from gitfleet.api.faults import Fault, Severity
from gitfleet.api.fleet import Branches
from gitfleet.branches.log_once import WarnOnce
from gitfleet.branches.steps import Step
from gitfleet.branches.texts import BranchesText
from gitfleet.errors import BadInput, GitfleetError, LostRace, RetryLater
from gitfleet.formats.git_names import GITFLEET
from gitfleet.formats.sentences import named_briefly
from gitfleet.model.backoff import Curve
from gitfleet.model.events import Event, EventType
from gitfleet.ports.clock import Clock
from gitfleet.ports.publishers import Publisher, Report
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
_TRAILER: Final = "Gitfleet-State"
_PLAIN: Final = "100644"
_MOST_COMMITS: Final = 50
"""So many commits back, the last one of gitfleet's own is searched for."""
_PAUSES: Final = Curve.growing(1.0, 2.0, 300.0)


@dataclass(slots=True, kw_only=True)
class RenderedBranch(Publisher):
    """Keeps the branch where the FleetConfig enables it. What is remembered saves work: the files of the commit that
    was found or made last, and what they follow from."""

    reader: RepoReader
    history: HistoryReader
    writer: RepoWriter
    clock: Clock
    name: ClassVar[str] = "rendered branch"
    kind: ClassVar[str] = "RenderedBranch/"
    steps: ClassVar[tuple[Step, Step]] = (Step.RENDERED_PUSH, Step.RENDERED_PUSHED)
    _last_commit: tuple[str, Tree] | None = None
    _written: tuple[Rendering, Branches, str] | None = None
    _folders: FoldersMemo = FoldersMemo()
    _warnings: WarnOnce = field(default_factory=WarnOnce)
    refused: dict[str, Fault] | None = None
    due: bool = False
    _failures: int = 0
    _not_before: float = 0.0

    def publish(self, report: Report) -> tuple[Event, ...]:
        """Bring the branch to what was published. Nothing is raised that the remote or a person can bring about."""
        rendering, branches = report.rendering, report.branches
        if rendering is None:
            return ()
        head = report.heads.get(branches.rendered)
        written = self._written or (None,)
        is_current = written[0] is rendering and written[1:] == (branches, head)
        if not rendering.enabled or (is_current and head is not None):
            self.due, self.refused = False, {}
            return ()
        if self.clock.monotonic() < self._not_before:
            return ()
        self.due = False
        try:
            event = self._update(head, branches, rendering)
        except LostRace:
            self.due = True
            return ()
        except GitfleetError as error:
            self._refuse(error, branches, rendering)
            return ()
        self.refused, self._failures = {}, 0
        self._warnings.forget()
        return (event,) if event is not None else ()

    def _update(self, head: str | None, branches: Branches, rendering: Rendering) -> Event | None:
        if branches.rendered in (branches.watch, branches.state):
            raise BadInput(BranchesText.CANNOT_BRANCH_HOLDS_SOMETHING_ELSE(rendered=branches.rendered))
        desired_folders, folders = wanted_folders(rendering, self._folders)
        (own, present), contents = self._base(head, branches), Contents(len(rendering.commit))
        if lost := [path for path, folder in desired_folders.items() if folder.needed and path not in own.files]:
            raise BadInput(
                BranchesText.CANNOT_RENDERED_NOW(lost=named_briefly(lost, 3)),
                hint=BranchesText.CORRECT_CONDITION_SAYS(),
            )
        readme = readme_text(branches.watch, branches.state).encode()
        change = tree_change(desired_folders, own, present, readme, contents)
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
                )
            )
            event = Event(type=EventType.COMMIT, fields={"branch": branches.rendered, "subject": subject})
        self._last_commit, self._folders = (head, change.after), folders
        self._written = (rendering, branches, head)
        return event

    def _base(self, head: str | None, branches: Branches) -> tuple[Tree, Tree]:
        """The files that gitfleet wrote last, and those that are there: as this process knows, or reads them."""
        if self._last_commit is not None and head in (self._last_commit[0], None):
            tree = self._last_commit[1]
            return tree, tree if head is not None else Tree()
        if head is None:
            return Tree(), Tree()
        own = self._last_own(head, branches)
        if own == head:
            return (tree := self._tree_at(head)), tree
        self._warnings.warn(BranchesText.BRANCH_COMMITS_SOMEBODY_ELSE(rendered=branches.rendered))
        return self._tree_at(own), self._tree_at(head)

    def _last_own(self, head: str, branches: Branches) -> str:
        """The head, or the last commit before it, that gitfleet made; BadInput where none is gitfleet's."""
        last_own = self._last_commit[0] if self._last_commit is not None else None
        if head == last_own or made_by_gitfleet(self.history.about(head), _TRAILER):
            return head
        for commit in self.reader.ancestors(head, most=_MOST_COMMITS):
            if commit == last_own or made_by_gitfleet(self.history.about(commit), _TRAILER):
                return commit
        raise BadInput(BranchesText.BRANCH_HOLDS_SOMEBODY_ELSE_COMMITS(rendered=branches.rendered))

    def _tree_at(self, commit: str) -> Tree:
        entries = self.reader.list_tree(commit)
        return tree_of((path, entry.oid if entry.mode == _PLAIN else "") for path, entry in entries.items())

    def _refuse(self, error: GitfleetError, branches: Branches, rendering: Rendering) -> None:
        sentence = BranchesText.RENDERED_BRANCH_CANNOT_WRITTEN(rendered=branches.rendered, error=error)
        self._warnings.warn(sentence)
        self._last_commit, self._failures = None, self._failures + 1
        self._not_before = self.clock.monotonic() + _PAUSES.after(self._failures)
        if isinstance(error, RetryLater):
            self.due = True
            return
        path, line = rendering.place
        hint = f" ({error.hint})" if error.hint else ""
        field_ = "spec.rendered.enabled"
        message = BranchesText.TRIED_AGAIN_ITSELF.coded(sentence=sentence.rstrip("."), hint=hint)
        object_ = f"{self.kind}{branches.rendered}"
        self.refused = {object_: Fault(path, line, object_, field_, message, Severity.WARNING)}


def made_by_gitfleet(about: CommitFacts, trailer: str) -> bool:
    """Whether gitfleet made a commit with a trailer: whoever commits on top, or changes it, has a name of their own."""
    return about.author == about.committer == GITFLEET and f"\n{trailer}: " in about.message
