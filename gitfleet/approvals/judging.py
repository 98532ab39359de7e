"""Who may approve: which of the approvals of a request count."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from gitfleet.api.conditions import Condition, Status, find_condition
from gitfleet.api.faults import Fault
from gitfleet.api.fleet import ApprovalPolicy
from gitfleet.api.holds import APPROVED
from gitfleet.api.staged import DIGEST, SNAPSHOT_INDEX, Approval
from gitfleet.approvals.naming import fault_of
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
    person: str
    required: int


def judge(
    asked: Asked,
    meant: Iterable[Approval],
    facts: FactsByApproval | None,
    policy: ApprovalPolicy,
    now: datetime,
) -> Verdict:
    """Whether those approvals that are meant for a request approve it. One rejection among them rejects, whoever wrote
    it. `facts` None: nobody could look at the commits, and then an approval counts only where `policy` does not ask
    who gave it."""
    counted: list[_Counted] = []
    faults: list[Fault] = []
    deciding: Condition | None = None
    for approval in meant:
        condition = find_condition(approval.conditions, APPROVED)
        if condition is None or condition.status is Status.UNKNOWN:
            continue
        if approval.digest not in (None, asked.digest):
            faults.append(fault_of(approval, f"is for another request than {asked.name}, as {_DIGEST}"))
        elif approval.snapshot_index not in (None, asked.snapshot):
            said = f"is for another snapshot than {asked.name}, whose run rolls out {asked.snapshot}, as {_SNAPSHOT}"
            faults.append(fault_of(approval, said))
        elif condition.status is Status.FALSE:
            return Verdict(answer=condition, faults=tuple(faults))
        else:
            known = _unverified(policy) if facts is None else facts.get(approval.key, _NOT_SEEN)
            result = _judged(known, now)
            bound = approval.digest is not None or asked.digest[:_ID_DIGITS] in asked.name  # as a hold's name does
            if not isinstance(result, str) and known.policy.allowed_signers is not None and not bound:
                result = _NO_DIGEST
            if isinstance(result, str):
                faults.append(fault_of(approval, result))
            else:
                counted.append(result)
                deciding = deciding or condition
    people = sorted({one.person for one in counted})
    required = max((one.required for one in counted), default=1)
    if deciding is not None and len(people) >= required:
        return Verdict(answer=deciding, faults=tuple(faults))
    by = f"{len(people)} of {required} approvals are there, by {named_briefly(people, _MOST_NAMED)}"
    return Verdict(waits="; ".join([*([by] if people else []), *map(str, faults)]), faults=tuple(faults))


def strictest(policies: Iterable[ApprovalPolicy]) -> ApprovalPolicy:
    """The policy that asks for all that these ask for; of the names of keys those of the last."""
    every = tuple(policies)
    limits = [policy.expires_after for policy in every if policy.expires_after is not None]
    return ApprovalPolicy(
        required=max((policy.required for policy in every), default=1),
        allowed_signers=next((p.allowed_signers for p in reversed(every) if p.allowed_signers is not None), None),
        separate_duties=any(policy.separate_duties for policy in every),
        expires_after=min(limits, default=None),
    )


_DIGEST: Final = f"its annotation {DIGEST} says; approve the one that waits"
_SNAPSHOT: Final = f"its annotation {SNAPSHOT_INDEX} says; approve the one that waits"
_NO_DIGEST: Final = (
    f"counts for nothing, as it has no annotation {DIGEST}, without which a signed commit may be meant for another "
    "request (allowedSigners); use gitfleet approve, or merge the request's branch"
)
_NOT_SEEN: Final = ApprovalFacts(failure="no commit of the watched branch is known that added it")


def _unverified(policy: ApprovalPolicy) -> ApprovalFacts:
    return ApprovalFacts(failure="who gave it cannot be verified here" if policy != ApprovalPolicy() else "")


def _judged(facts: ApprovalFacts, now: datetime) -> _Counted | str:
    """The person whose approval counts, or why it does not."""
    policy = facts.policy
    if facts.failure:
        return f"counts for nothing, since {facts.failure}"
    if facts.documents > 1:
        return "counts for nothing in a file with other documents; give it a file of its own"
    if facts.older:
        return "was there before it was asked for, and an approval is for one request; approve again"
    found = _giver(facts)
    if isinstance(found, str):
        return found
    person, commit = found
    if commit is None:
        return _Counted(person, policy.required)
    name = f"its commit {commit.id[:_ID_DIGITS]}"
    if commit.at > now + _CLOCKS_DIFFER:
        return f"counts for nothing, since {name} says that it was made in the future; approve again"
    if policy.expires_after is not None and now - commit.at > timedelta(seconds=policy.expires_after):
        limit = seconds_text(policy.expires_after)
        return f"expired: {name} is older than {limit} (expiresAfter); approve again"
    if policy.separate_duties and not facts.authors.isdisjoint({person.lower(), commit.author, commit.committer}):
        return f"was given by {person}, who made the change (separateDuties); another person must approve"
    return _Counted(person, policy.required)


def _giver(facts: ApprovalFacts) -> tuple[str, ApprovalCommit | None] | str:
    """Who gave an approval, and by which commit; or why that is nobody."""
    policy = facts.policy
    written_first = tuple(reversed(facts.commits))
    if policy.allowed_signers is not None:
        signed = next((commit for commit in written_first if commit.signer), None)
        if signed is not None:
            return signed.signer, signed
        whys = [f"commit {commit.id[:_ID_DIGITS]} {commit.unsigned}" for commit in written_first]
        return f"counts for nothing: {', '.join(whys)}; approve again with a key of allowedSigners"
    for commit in written_first:
        for email in (commit.author, commit.committer):
            if email not in _NOT_PEOPLE:
                return email, commit
    if policy.required > 1 or policy.separate_duties:
        return "names no person, as its commit is gitfleet's own; merge it by a merge commit, or use gitfleet approve"
    return "somebody", written_first[0] if written_first else None
