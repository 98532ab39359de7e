"""Requests for approval as branches: each has one commit, on top of the watched branch, that adds the approval's file.
Merging it approves."""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import dataclass, field
from hashlib import sha256
from typing import ClassVar, Final

from gitfleet.api.conditions import Status
from gitfleet.api.faults import Fault, Severity
from gitfleet.api.values import NamespacedName
from gitfleet.approvals import APPROVALS_FOLDER, approval_branch, approval_path, approval_text, next_name
from gitfleet.branches.log_once import WarnOnce
from gitfleet.branches.rendered_branch import made_by_gitfleet
from gitfleet.branches.steps import Step
from gitfleet.branches.texts import BranchesText
from gitfleet.errors import GitfleetError, LostRace, RetryLater
from gitfleet.model.approvals import ApprovalRequest
from gitfleet.ports.clock import Clock
from gitfleet.ports.publishers import Publisher, Report
from gitfleet.ports.repos import BranchChange, HistoryReader, RepoReader, RepoWriter
from gitfleet.views.requests import approval_requests

log = logging.getLogger(__name__)
_TRAILER: Final = "Gitfleet-Request"
_MOST_AT_ONCE: Final = 20
"""So many branches are looked at or pushed in one reconcile: each costs a push, any number of requests may wait when
the watched branch moves, and somebody may push any number of branches that no request needs."""
BranchRequests = dict[str, ApprovalRequest | None]
"""The branches of requests that there are, with what each asks for; None: nothing, or it is somebody's own."""
Target = tuple[str, ApprovalRequest] | None
"""On top of which commit, and what; None: the branch is not needed."""


@dataclass(slots=True, kw_only=True)
class RequestBranches(Publisher):
    """Keeps the branches of requests. `branch_requests` are those that there are, None where that is not known.

    What is remembered saves work: a branch that was found or left as it should be is not looked at again, and one that
    somebody removed is not pushed again, until the request or the watched branch changes."""

    reader: RepoReader
    history: HistoryReader
    writer: RepoWriter
    clock: Clock
    name: ClassVar[str] = "approvals"
    asks_for_approval: ClassVar[bool] = True
    kind: ClassVar[str] = "Branch/"
    steps: ClassVar[tuple[Step, Step]] = (Step.REQUEST_PUSH, Step.REQUEST_PUSHED)
    branch_requests: BranchRequests | None = None
    _handled: dict[str, tuple[str | None, Target]] = field(default_factory=dict)
    _warnings: WarnOnce = field(default_factory=WarnOnce)
    refused: dict[str, Fault] | None = None
    """What the remote refused, by branch."""
    _passes: int = 0
    _tried: dict[str, int] = field(default_factory=dict)
    """In which pass a branch was last looked at or pushed."""
    due: bool = False

    def publish(self, report: Report) -> tuple[()]:
        """Push a branch for each request that has none, renew those that are out of date, remove those of no request.

        A branch with somebody else's commits is left alone. Nothing is raised: what the remote refuses is logged, once,
        and stands in the next state (`refused`) while it lasts. At most `_MOST_AT_ONCE` in one pass, what asks for the
        first time before all others: a request on an older commit of the watched branch can be merged, too.
        """
        self.branch_requests = None
        self._passes += 1
        refused = self.refused = self.refused or {}
        heads, branches = report.heads, report.branches
        watched = heads[branches.watch]
        requested = {
            approval_branch(branches.approvals, NamespacedName(request.namespace, request.name)): (watched, request)
            for request in (*approval_requests(report.state), *report.rewrite)
        }
        reserved = {branches.watch, branches.state, branches.rendered}
        present = {name for name in heads if name.startswith(branches.approvals)}
        candidates = {*requested, *present} - reserved
        due = [name for name in candidates if not self._is_handled(name, heads.get(name), requested.get(name))]
        due.sort(key=lambda branch: (branch not in requested, branch in heads, self._tried.get(branch, 0), branch))
        self.due = len(due) > _MOST_AT_ONCE
        for branch in due[:_MOST_AT_ONCE]:
            self._tried[branch] = self._passes
            head = self._update(branch, heads.get(branch), requested.get(branch), report.desired.approvals)
            (present.add if head else present.discard)(branch)
        for name in refused.keys() - requested.keys():
            del refused[name]
        self._handled = {name: handled for name, handled in self._handled.items() if name in requested or name in heads}
        self._tried = {name: number for name, number in self._tried.items() if name in candidates}
        shown = sorted(present - reserved)
        self.branch_requests = {name: requested[name][1] if name in requested else None for name in shown}
        return ()

    def _is_handled(self, branch: str, head: str | None, target: Target) -> bool:
        """Whether nothing is to do with a branch that was found or made as it should be."""
        handled = self._handled.get(branch)
        return handled is not None and handled[1] == target and head in (handled[0], None)

    def _update(self, branch: str, head: str | None, target: Target, names: Collection[NamespacedName]) -> str | None:
        """The head that a branch has then, None where it is not there."""
        try:
            head = self._updated_head(branch, head, target, names)
        except LostRace:
            return head  # by another reconcile, which wants the same, or by a person: the next one sees
        except GitfleetError as error:
            sentence = BranchesText.BRANCH_ASKS_APPROVAL(branch=branch, error=error)
            self._warnings.warn(sentence)
            if isinstance(error, RetryLater):
                return head
            if self.refused is not None and target is not None:
                self.refused[branch] = _refusal(branch, target[1], sentence)
        else:
            (self.refused or {}).pop(branch, None)
        self._handled[branch] = (head, target)
        return head

    def _updated_head(
        self, branch: str, head: str | None, target: Target, names: Collection[NamespacedName]
    ) -> str | None:
        """The head of the branch once it is as it should be."""
        about = self.history.about(head) if head is not None else None
        if head is not None and about is not None and not made_by_gitfleet(about, _TRAILER):
            if target is not None:
                self._warnings.warn(BranchesText.BRANCH_COMMITS_SOMEBODY_ELSE_GITFLEET(branch=branch))
            return head
        if target is None:
            if head is not None:
                self.writer.remove_branch(branch, head)
            return None
        watched, request = target
        name = next_name(request.name, names, self.reader.list_tree(watched, APPROVALS_FOLDER), request.namespace)
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
    remedy = BranchesText.ADD_HAND_GITFLEET_APPROVE(path=path)
    return Fault(path, 1, f"{RequestBranches.kind}{branch}", "", f"{sentence.rstrip('.')}; {remedy}", Severity.WARNING)
