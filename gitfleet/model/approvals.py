"""What is asked of people before gitfleet goes on, whoever asks, and what is known of how an approval was given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from typing import Final

from gitfleet.api.conditions import APPROVED, Condition, Reason, Status
from gitfleet.api.faults import Fault
from gitfleet.api.fleet import ApprovalPolicy
from gitfleet.api.staged import Approval
from gitfleet.api.values import NamespacedName

FURTHER: Final = "."
"""After it, a name says which further approval of a request it is. No stage and no digest has it, so no request's name
continues another's in this way."""
ByRequest = Mapping[NamespacedName, Sequence[Approval]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What is approved: the commits up to `commit` ("": the watched branch's head) that `after` does not have ("": all
    that there are) and that touched one of `paths` (files and folders; none: whatever they touched)."""

    commit: str = ""
    after: str = ""
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What waits for an approval: `name` (and `namespace`) is that of the approval, `aliases` are further names of it,
    `digest` what it is bound to, `stage` the run and the stage that ask, `snapshot` the index of the snapshot that the
    run rolls out.

    `commit` is the watched branch's at which it was asked for, `after` the one that was reconciled before that
    ("": not known): what lies between them is what is approved, or `changes` where there are any. `since` is when it
    was asked for, by gitfleet's clock (None: not known).
    """

    name: str
    digest: str
    commit: str
    stage: tuple[str | None, str | None] = (None, None)
    after: str = ""
    namespace: str = ""
    aliases: tuple[str, ...] = ()
    snapshot: str = ""
    changes: tuple[Change, ...] = ()
    since: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequest(Asked):
    """The same for people: `subject` is the kind of object that asks (Hold), `title` one line, `body` all that they
    need to decide."""

    subject: str
    title: str
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalCommit:
    """A commit by which an approval came to the watched branch: the emails of its author and committer, the date that
    it gives itself, who signed it ("": nobody who may, as `unsigned` says), and the fingerprint of that key."""

    id: str
    author: str
    committer: str
    at: datetime
    signer: str = ""
    key: str = ""
    unsigned: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalFacts:
    """How one approval came to the watched branch.

    `commits` are the one that brought it there and, where that merged it, the one that wrote it. `policy` is the one in
    force before them, `documents` counts those of its file, `older` says that it was there before it was asked for,
    `authors` are the emails of those who made the change that it approves, where the policy asks for them. `failure`
    says why all this is not known.
    """

    commits: tuple[ApprovalCommit, ...] = ()
    policy: ApprovalPolicy = ApprovalPolicy()
    documents: int = 1
    older: bool = False
    authors: frozenset[str] = frozenset()
    failure: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What people's answers to a request come to: `answer` is the condition that decides, None while too few count.
    `waits` says why not ("" without any answer), `faults` which answers count for nothing."""

    answer: Condition | None = None
    waits: str = ""
    faults: tuple[Fault, ...] = ()

    def condition(self, since: datetime) -> Condition | None:
        """What a request that was made at a moment says of its answer."""
        if self.answer is not None or not self.waits:
            return self.answer
        return Condition(
            type=APPROVED,
            status=Status.UNKNOWN,
            reason=Reason.APPROVAL_NOT_COUNTED.value,
            message=self.waits,
            last_transition_time=since,
        )


FactsByApproval = Mapping[NamespacedName, ApprovalFacts]


def by_request(approvals: Iterable[Approval]) -> ByRequest:
    """Approvals by each request's name that theirs may be meant for: `go-canary.2` stands under `go-canary` too."""
    grouped: dict[NamespacedName, list[Approval]] = {}
    for approval in approvals:
        for name in accumulate(approval.key.name.split(FURTHER), f"{{}}{FURTHER}{{}}".format):
            grouped.setdefault(NamespacedName(approval.key.namespace, name), []).append(approval)
    return grouped
