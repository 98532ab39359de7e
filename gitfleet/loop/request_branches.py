"""Requests for approval as branches: each has one commit, on top of the watched branch, that adds the approval's file.
Merging it approves."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Final

from gitfleet.api.conditions import Status
from gitfleet.api.faults import Fault, Severity
from gitfleet.api.fleet import Branches
from gitfleet.api.values import NamespacedName
from gitfleet.approvals import APPROVALS_FOLDER, next_name
from gitfleet.errors import GitfleetError, LostRace, RetryLater
from gitfleet.formats.git_names import GITFLEET
from gitfleet.loop.said_once import SaidOnce
from gitfleet.loop.texts import LoopText
from gitfleet.model.approvals import ApprovalRequest
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState
from gitfleet.ports.clock import Clock
from gitfleet.ports.repos import BranchChange, CommitFacts, HistoryReader, RepoReader, RepoWriter
from gitfleet.views import approval_branch, approval_path, approval_text

log = logging.getLogger(__name__)
_TRAILER: Final = "Gitfleet-Request"
_KIND: Final = "Branch/"
_MOST_AT_ONCE: Final = 20
"""So many branches are looked at or pushed in one reconcile: each costs a push, any number of requests may wait when
the watched branch moves, and somebody may push any number of branches that no request needs."""
Asked = dict[str, ApprovalRequest | None]
"""The branches of requests that there are, with what each asks for; None: nothing, or it is somebody's own."""
Wanted = tuple[str, ApprovalRequest] | None
"""On top of which commit, and what; None: the branch is not needed."""


@dataclass(slots=True, kw_only=True)
class RequestBranches:
    """Keeps the branches of requests. What is remembered saves work: a branch that was found or left as it should be is
    not looked at again, and one that somebody removed is not pushed again, until the request or the watched branch
    changes."""

    reader: RepoReader
    history: HistoryReader
    writer: RepoWriter
    clock: Clock
    _left: dict[str, tuple[str | None, Wanted]] = field(default_factory=dict)
    _said: SaidOnce = field(default_factory=SaidOnce)
    _refused: dict[str, Fault] | None = None
    """What the remote refused, by branch; None before the first look."""
    _noted: tuple[Desired, tuple[Fault, ...], Desired] | None = None
    _passes: int = 0
    _tried: dict[str, int] = field(default_factory=dict)
    """In which pass a branch was last looked at or pushed."""
    _due: bool = False
    """Whether the last pass left branches for the next."""

    def noted(self, wanted: Desired, before: FleetState) -> Desired:
        """What is wanted, with a warning for each branch that the remote refused; those that are recorded hold until
        this process has tried itself. The same for the same."""
        notes = tuple(self._refused.values()) if self._refused is not None else _recorded(before)
        if self._noted is None or self._noted[0] is not wanted or self._noted[1] != notes:
            noted = replace(wanted, faults=(*wanted.faults, *notes)) if notes else wanted
            self._noted = (wanted, notes, noted)
        return self._noted[2]

    def is_through(self, state: FleetState) -> bool:
        """Whether no branch is left for the next pass, and a state has these warnings and no others."""
        noted = self._refused is None or set(_recorded(state)) == set(self._refused.values())
        return noted and not self._due

    def publish(self, heads: Mapping[str, str], branches: Branches, requests: Iterable[ApprovalRequest]) -> Asked:
        """Push a branch for each request that has none, renew those that are out of date, remove those of no request;
        the branches that there are then.

        A branch with somebody else's commits is left alone. Nothing is raised: what the remote refuses is logged, once,
        and stands in the next state (`noted`) while it lasts. At most `_MOST_AT_ONCE` in one pass, what asks for the
        first time before all others: a request on an older commit of the watched branch can be merged, too.
        """
        self._passes += 1
        refused = self._refused = self._refused or {}
        watched = heads[branches.watch]
        wanted = {
            approval_branch(branches.approvals, NamespacedName(request.namespace, request.name)): (watched, request)
            for request in requests
        }
        ours = {branches.watch, branches.state, branches.rendered}
        there = {name for name in heads if name.startswith(branches.approvals)}
        every = {*wanted, *there} - ours
        due = [branch for branch in every if not self._is_left(branch, heads.get(branch), wanted.get(branch))]
        due.sort(key=lambda branch: (branch not in wanted, branch in heads, self._tried.get(branch, 0), branch))
        self._due = len(due) > _MOST_AT_ONCE
        for branch in due[:_MOST_AT_ONCE]:
            self._tried[branch] = self._passes
            (there.add if self._bring(branch, heads.get(branch), wanted.get(branch)) else there.discard)(branch)
        for name in refused.keys() - wanted.keys():
            del refused[name]
        self._left = {name: left for name, left in self._left.items() if name in wanted or name in heads}
        self._tried = {name: number for name, number in self._tried.items() if name in every}
        return {name: wanted[name][1] if name in wanted else None for name in sorted(there - ours)}

    def _is_left(self, branch: str, head: str | None, wanted: Wanted) -> bool:
        """Whether nothing is to do with a branch that was found or made as it should be."""
        left = self._left.get(branch)
        return left is not None and left[1] == wanted and head in (left[0], None)

    def _bring(self, branch: str, head: str | None, wanted: Wanted) -> str | None:
        """The head that a branch has then, None where it is not there."""
        try:
            head = self._brought(branch, head, wanted)
        except LostRace:
            return head  # by another reconcile, which wants the same, or by a person: the next one sees
        except GitfleetError as error:
            sentence = LoopText.BRANCH_ASKS_APPROVAL(branch=branch, error=error)
            self._said.say(sentence)
            if isinstance(error, RetryLater):
                return head
            if self._refused is not None and wanted is not None:
                self._refused[branch] = _refusal(branch, wanted[1], sentence)
        else:
            if self._refused is not None:
                self._refused.pop(branch, None)
        self._left[branch] = (head, wanted)
        return head

    def _brought(self, branch: str, head: str | None, wanted: Wanted) -> str | None:
        """The head of the branch once it is as it should be."""
        about = self.history.about(head) if head is not None else None
        if head is not None and about is not None and not _is_ours(about):
            if wanted is not None:
                self._said.say(LoopText.BRANCH_COMMITS_SOMEBODY_ELSE_GITFLEET(branch=branch))
            return head
        if wanted is None:
            if head is not None:
                self.writer.remove_branch(branch, head)
            return None
        watched, request = wanted
        there = self._noted[0].approvals if self._noted is not None else ()
        name = next_name(request.name, there, self.reader.list_tree(watched, APPROVALS_FOLDER), request.namespace)
        content = approval_text(name, Status.TRUE, request.digest, request.namespace, request.snapshot).encode()
        sign = sha256(b"\0".join([request.title.encode(), request.body.encode(), content])).hexdigest()
        if about is not None and about.parents == (watched,) and f"{_TRAILER}: {sign}" in about.message.splitlines():
            return head
        change = BranchChange(
            branch=branch,
            expected=head,
            base=watched,
            subject=request.title,
            body=request.body,
            trailers=((_TRAILER, sign),),
            when=self.clock.now(),
            write={approval_path(name, request.namespace): content},
        )
        return self.writer.commit(change)


def _refusal(branch: str, request: ApprovalRequest, sentence: str) -> Fault:
    path = approval_path(request.name, request.namespace)
    remedy = LoopText.ADD_HAND_GITFLEET_APPROVE(path=path)
    return Fault(path, 1, f"{_KIND}{branch}", "", f"{sentence.rstrip('.')}; {remedy}", Severity.WARNING)


def _recorded(state: FleetState) -> tuple[Fault, ...]:
    return tuple(fault for fault in state.faults if fault.object.startswith(_KIND))


def _is_ours(about: CommitFacts) -> bool:
    """Whether gitfleet made a commit as a request: whoever commits on top, or changes it, has a name of their own."""
    return about.author == about.committer == GITFLEET and f"\n{_TRAILER}: " in about.message
