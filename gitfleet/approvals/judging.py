"""Who may approve: which of the approvals of a request count."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from gitfleet.api.conditions import APPROVED, Condition, Status, find_condition
from gitfleet.api.faults import Fault
from gitfleet.api.fleet import ApprovalPolicy
from gitfleet.api.staged import DIGEST, SNAPSHOT_INDEX, Approval
from gitfleet.approvals.naming import fault_of
from gitfleet.approvals.texts import ApprovalsText
from gitfleet.formats.durations import seconds_text
from gitfleet.formats.git_names import GITFLEET
from gitfleet.formats.sentences import named_briefly
from gitfleet.model.approvals import ApprovalCommit, ApprovalFacts, Asked, FactsByApproval, Verdict

_NOT_PEOPLE: Final = frozenset({GITFLEET[1], "noreply@github.com", ""})
"""Who commits in the place of a person: a forge that squashes a branch of gitfleet's names nobody else."""
_CLOCKS_DIFFER: Final = timedelta(minutes=5)
_MOST_NAMED: Final = 5
_ID_DIGITS: Final = 10


@dataclass(frozen=True, slots=True)
class _Counted:
    """Whose approval counts: the name and (where commits must be signed) the fingerprint of the key."""

    person: str
    key: str
    required: int

    def is_same(self, counted: _Counted) -> bool:
        """Whether this is the same person: names and keys must both differ, since a file gives keys their names."""
        return self.person.lower() == counted.person.lower() or self.key == counted.key != ""


def judge(
    request: Asked,
    meant: Iterable[Approval],
    facts: FactsByApproval | None,
    policy: ApprovalPolicy,
    now: datetime,
) -> Verdict:
    """Whether those approvals that are meant for a request approve it. One rejection among them rejects, whoever wrote
    it. `facts` None: nobody could look at the commits, and then an approval counts only where `policy` does not ask
    who gave it."""
    counted, conditions, required = list[_Counted](), list[Condition](), 1
    faults, again = list[Fault](), list[Fault]()
    for approval in meant:
        condition = find_condition(approval.conditions, APPROVED)
        if condition is None or condition.status is Status.UNKNOWN:
            continue
        if another := _of_another(approval, request):
            faults.append(fault_of(approval, another))
        elif condition.status is Status.FALSE:
            return Verdict(answer=condition, faults=tuple(faults))
        else:
            approval_facts = _unverified(policy) if facts is None else facts.get(approval.key, _NOT_SEEN)
            result = _judged(approval_facts, approval, request, now)
            if isinstance(result, str):
                faults.append(fault_of(approval, result))
                continue
            required = max(required, result.required)
            if any(map(result.is_same, counted)):
                again.append(fault_of(approval, ApprovalsText.BY_SAME_PERSON(person=result.person)))
            else:
                counted.append(result)
                conditions.append(condition)
    people = sorted(approval.person for approval in counted)
    if len(people) >= required:
        return Verdict(answer=conditions[0], faults=tuple(faults))
    faults += again  # what is enough needs no others
    names = named_briefly(people, _MOST_NAMED)
    summary = ApprovalsText.APPROVALS_ARE_THERE_BY(count=len(people), required=required, people=names)
    waits = [summary, *map(str, faults)] if people else map(str, faults)
    return Verdict(waits="; ".join(waits), faults=tuple(faults))


def strictest(policies: Iterable[ApprovalPolicy]) -> ApprovalPolicy:
    """The policy that asks for all that these ask for; of the names of keys those of the last."""
    ordered = tuple(policies)
    limits = [policy.expires_after for policy in ordered if policy.expires_after is not None]
    return ApprovalPolicy(
        required=max((policy.required for policy in ordered), default=1),
        allowed_signers=next((p.allowed_signers for p in reversed(ordered) if p.allowed_signers is not None), None),
        separate_duties=any(policy.separate_duties for policy in ordered),
        expires_after=min(limits, default=None),
    )


_SPEC: Final = ApprovalsText.SPEC_SAYS_APPROVE_ONE_WAITS()
_DIGEST: Final = ApprovalsText.ANNOTATION_SAYS_APPROVE_ONE_WAITS(digest=DIGEST)
_SNAPSHOT: Final = ApprovalsText.ANNOTATION_SAYS_APPROVE_ONE_WAITS(digest=SNAPSHOT_INDEX)
_NO_DIGEST: Final = ApprovalsText.COUNTS_NOTHING_NO_ANNOTATION(digest=DIGEST)
_NOT_SEEN: Final = ApprovalFacts(failure=ApprovalsText.NO_COMMIT_WATCHED_BRANCH_KNOWN())


def _unverified(policy: ApprovalPolicy) -> ApprovalFacts:
    return ApprovalFacts(failure=ApprovalsText.WHO_GAVE_CANNOT_VERIFIED_HERE() if policy != ApprovalPolicy() else "")


def _judged(facts: ApprovalFacts, approval: Approval, request: Asked, now: datetime) -> _Counted | str:
    """The person whose approval counts, or why it does not."""
    policy = facts.policy
    if facts.failure:
        return ApprovalsText.COUNTS_NOTHING_SINCE(failure=facts.failure)
    if facts.documents > 1:
        return ApprovalsText.COUNTS_NOTHING_FILE_OTHER_DOCUMENTS()
    if facts.older:
        return ApprovalsText.BEFORE_ASKED_APPROVAL_ONE_REQUEST()
    giver = _giver(facts)
    if isinstance(giver, str):
        return giver
    person, commit = giver
    if commit is None:
        return _Counted(person, "", policy.required)
    if sentence := _wrong_date(commit, policy.expires_after, request.since, now):
        return sentence
    if policy.separate_duties and not facts.authors.isdisjoint({person.lower(), commit.author, commit.committer}):
        return ApprovalsText.GIVEN_WHO_MADE_CHANGE_SEPARATEDUTIES(person=person)
    bound = approval.digest is not None or request.digest[:_ID_DIGITS] in request.name  # as a hold's name does
    if policy.allowed_signers is not None and not bound:
        return _NO_DIGEST
    return _Counted(person, commit.key, policy.required)


def _wrong_date(commit: ApprovalCommit, expires: float | None, since: datetime | None, now: datetime) -> str:
    """Why the date of a commit does not count: it is whatever its maker wrote, and times of requests are ours."""
    name = f"its commit {commit.id[:_ID_DIGITS]}"
    if commit.at > now + _CLOCKS_DIFFER:
        return ApprovalsText.COUNTS_NOTHING_SINCE_SAYS_MADE(name=name)
    if expires is not None and now - commit.at > timedelta(seconds=expires):
        return ApprovalsText.EXPIRED_OLDER_EXPIRESAFTER(name=name, limit=seconds_text(expires))
    if since is not None and commit.at < since - _CLOCKS_DIFFER:
        return ApprovalsText.COUNTS_NOTHING_DATED_BEFORE(name=name)
    return ""


def _giver(facts: ApprovalFacts) -> tuple[str, ApprovalCommit | None] | str:
    """Who gave an approval, and by which commit; or why that is nobody."""
    policy = facts.policy
    written_first = tuple(reversed(facts.commits))
    if policy.allowed_signers is not None:
        signed = next((commit for commit in written_first if commit.signer), None)
        if signed is not None:
            return signed.signer, signed
        whys = [f"commit {commit.id[:_ID_DIGITS]} {commit.unsigned}" for commit in written_first]
        return ApprovalsText.COUNTS_NOTHING_APPROVE_AGAIN_KEY(whys=", ".join(whys))
    for commit in written_first:
        for email in (commit.author, commit.committer):
            if email not in _NOT_PEOPLE:
                return email, commit
    if policy.required > 1 or policy.separate_duties:
        return ApprovalsText.NAMES_NO_PERSON()
    return "somebody", next(iter(written_first), None)


def _of_another(approval: Approval, request: Asked) -> str:
    """How an approval says that it is for another request; "" where it does not."""
    if (approval.parent_run, approval.target_stage) not in ((None, None), request.stage):
        return ApprovalsText.ANOTHER_REQUEST(asked=request.name, digest=_SPEC)
    if approval.digest not in (None, request.digest):
        return ApprovalsText.ANOTHER_REQUEST(asked=request.name, digest=_DIGEST)
    if approval.snapshot_index not in (None, request.snapshot):
        return ApprovalsText.ANOTHER_SNAPSHOT_WHOSE_RUN_ROLLS(
            asked=request.name, snapshot=request.snapshot, snapshot_2=_SNAPSHOT
        )
    return ""
