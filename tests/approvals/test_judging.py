"""Which approvals of a request count, and why the others do not: a table of policies and of how they were given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from gitfleet import approvals
from gitfleet.api.conditions import Condition, Status
from gitfleet.api.faults import Fault, Severity
from gitfleet.api.fleet import AllowedSigners, ApprovalPolicy
from gitfleet.api.objects import Origin
from gitfleet.api.staged import DIGEST, SNAPSHOT_INDEX, Approval
from gitfleet.api.values import NamespacedName
from gitfleet.approvals import given as meant_for
from gitfleet.approvals import next_name, strictest
from gitfleet.approvals.texts import ApprovalsText
from gitfleet.formats.git_names import GITFLEET
from gitfleet.model.approvals import ApprovalCommit, ApprovalFacts, Asked, FactsByApproval, Verdict, by_request
from tests.texts import part

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
ASKED = Asked(name="hold-web-dddddddddd", digest="d" * 64, commit="c" * 40)
SIGNED = ApprovalPolicy(allowed_signers=AllowedSigners(ssh="signers"))
TWO = ApprovalPolicy(required=2)
SEPARATE = ApprovalPolicy(separate_duties=True)
HOUR = ApprovalPolicy(expires_after=3600.0)
US = GITFLEET[1]


def judge(
    asked: Asked,
    files: Mapping[NamespacedName, Approval],
    facts: FactsByApproval | None,
    policy: ApprovalPolicy,
    now: datetime,
) -> Verdict:
    """What all the approvals of a repo come to for a request."""
    return approvals.judge(asked, meant_for(asked, by_request(files.values())), facts, policy, now)


def approval(name: str = ASKED.name, status: str = "True", digest: str | None = None) -> Approval:
    condition = Condition(type="Approved", status=Status(status), reason="", last_transition_time=NOW)
    origin = Origin(f"approvals/{name}.yaml", 1)
    notes = {DIGEST: digest} if digest is not None else {}
    return Approval(key=NamespacedName("", name), conditions=(condition,), annotations=notes, origin=origin)


def by(
    author: str,
    *,
    committer: str | None = None,
    age: float = 1.0,
    signer: str = "",
    key: str = "",
    why: str = "is not signed",
) -> ApprovalCommit:
    return ApprovalCommit(
        id="a" * 40,
        author=author,
        committer=committer or author,
        at=NOW - timedelta(seconds=age),
        signer=signer,
        key=key or signer,
        unsigned="" if signer else why,
    )


def facts(policy: ApprovalPolicy, *commits: ApprovalCommit, authors: frozenset[str] = frozenset()) -> ApprovalFacts:
    return ApprovalFacts(policy=policy, commits=commits, authors=authors)


STRANGER = "is signed with a key that is not allowed"
UNSIGNED = "commit aaaaaaaaaa is not signed"
ANN, BOB = "ann@example.org", "bob@example.org"


@pytest.mark.parametrize(
    ("known", "why"),
    [
        (facts(ApprovalPolicy(), by(ANN)), ""),
        (facts(ApprovalPolicy(), by(US)), ""),
        (
            replace(facts(ApprovalPolicy(), by(ANN)), failure="the line broke"),
            ApprovalsText.COUNTS_NOTHING_SINCE(failure="the line broke"),
        ),
        (replace(facts(ApprovalPolicy(), by(ANN)), documents=2), ApprovalsText.COUNTS_NOTHING_FILE_OTHER_DOCUMENTS()),
        (replace(facts(ApprovalPolicy(), by(ANN)), older=True), ApprovalsText.BEFORE_ASKED_APPROVAL_ONE_REQUEST()),
        (facts(SIGNED, by(ANN, signer=ANN)), ""),
        (facts(SIGNED, by(BOB), by(ANN, signer=ANN)), ""),
        (facts(SIGNED, by(ANN, signer=ANN), by(US)), ""),
        (
            facts(SIGNED, by(ANN)),
            ApprovalsText.COUNTS_NOTHING_APPROVE_AGAIN_KEY(whys=UNSIGNED),
        ),
        (
            facts(SIGNED, by(ANN, why=STRANGER), by(BOB)),
            ApprovalsText.COUNTS_NOTHING_APPROVE_AGAIN_KEY(whys=f"{UNSIGNED}, commit aaaaaaaaaa {STRANGER}"),
        ),
        (facts(HOUR, by(ANN, age=3600)), ""),
        (
            facts(HOUR, by(ANN, age=3601)),
            ApprovalsText.EXPIRED_OLDER_EXPIRESAFTER(name="its commit aaaaaaaaaa", limit="1h0m0s"),
        ),
        (facts(HOUR, by(ANN, age=-300)), ""),
        (
            facts(HOUR, by(US, age=3601)),
            ApprovalsText.EXPIRED_OLDER_EXPIRESAFTER(name="its commit aaaaaaaaaa", limit="1h0m0s"),
        ),
        (facts(HOUR, by(ANN, age=-3600)), ApprovalsText.COUNTS_NOTHING_SINCE_SAYS_MADE(name="its commit aaaaaaaaaa")),
        (facts(SEPARATE, by(ANN), authors=frozenset({BOB})), ""),
        (
            facts(SEPARATE, by(ANN), authors=frozenset({BOB, ANN})),
            ApprovalsText.GIVEN_WHO_MADE_CHANGE_SEPARATEDUTIES(person="ann@example.org"),
        ),
        (
            facts(replace(SIGNED, separate_duties=True), by(ANN, signer="ann"), authors=frozenset({ANN})),
            ApprovalsText.GIVEN_WHO_MADE_CHANGE_SEPARATEDUTIES(person="ann"),
        ),
        (facts(SEPARATE, by(US)), ApprovalsText.NAMES_NO_PERSON()),
        (facts(TWO, by(US)), ApprovalsText.NAMES_NO_PERSON()),
        (
            facts(replace(SIGNED, separate_duties=True), by(BOB, signer="Ann@example.org"), authors=frozenset({ANN})),
            ApprovalsText.GIVEN_WHO_MADE_CHANGE_SEPARATEDUTIES(person="Ann@example.org"),
        ),
        (
            facts(replace(SIGNED, separate_duties=True), by(ANN, committer=BOB, signer="x"), authors=frozenset({ANN})),
            ApprovalsText.GIVEN_WHO_MADE_CHANGE_SEPARATEDUTIES(person="x"),
        ),
        (
            facts(SEPARATE, by(BOB, committer=ANN), authors=frozenset({ANN})),
            ApprovalsText.GIVEN_WHO_MADE_CHANGE_SEPARATEDUTIES(person="bob@example.org"),
        ),
        (
            facts(SEPARATE, by(US, committer=ANN), authors=frozenset({ANN})),
            ApprovalsText.GIVEN_WHO_MADE_CHANGE_SEPARATEDUTIES(person="ann@example.org"),
        ),
        (facts(SEPARATE, by(US, committer=ANN), authors=frozenset({BOB})), ""),
        (facts(SEPARATE, by(ANN), by(US), authors=frozenset({BOB})), ""),
        (facts(SEPARATE, by(US, committer="noreply@github.com")), ApprovalsText.NAMES_NO_PERSON()),
    ],
)
def test_one_approval_counts_or_says_why_not(known: ApprovalFacts, why: str) -> None:
    given = approval()
    verdict = judge(ASKED, {given.key: given}, {given.key: known}, ApprovalPolicy(), NOW)
    if not why:
        assert (verdict.answer, verdict.waits, verdict.faults) == (given.conditions[0], "", ())
        return
    sentence = f"approvals/{ASKED.name}.yaml:1: ClusterApprovalRequest/{ASKED.name}: {why}"
    assert (verdict.answer, verdict.waits, [str(fault) for fault in verdict.faults]) == (None, sentence, [sentence])


@pytest.mark.parametrize(
    ("people", "counts", "waits"),
    [
        ([ANN, BOB], True, ""),
        ([ANN], False, ApprovalsText.APPROVALS_ARE_THERE_BY(count="1", required="2", people="ann@example.org")),
        (
            [ANN, ANN, ANN],
            False,
            ApprovalsText.APPROVALS_ARE_THERE_BY(count="1", required="2", people="ann@example.org"),
        ),
    ],
)
def test_so_many_distinct_people_must_approve(people: list[str], counts: bool, waits: str) -> None:
    names: list[str] = []
    for _ in people:
        names.append(next_name(ASKED.name, (), [f"approvals/{name}.yaml" for name in names]))
    assert names == [ASKED.name, f"{ASKED.name}.2", f"{ASKED.name}.3"][: len(people)]
    given = {one.key: one for one in map(approval, names)}
    known = {key: facts(TWO, by(person)) for key, person in zip(given, people, strict=True)}
    verdict = judge(ASKED, given, known, ApprovalPolicy(), NOW)
    assert (verdict.answer is not None, verdict.waits.partition(";")[0]) == (counts, waits)


SIGNED_TWO = replace(SIGNED, required=2)


@pytest.mark.parametrize(
    ("signers", "people"),
    [
        ([(ANN, "k1"), (BOB, "k2")], [ANN, BOB]),
        ([(ANN, "k1"), (BOB, "k1")], [ANN]),  # renamed between two approvals
        ([(ANN, "k1"), (ANN, "k2")], [ANN]),  # two keys of one person
        ([(ANN, "k1"), (ANN.upper(), "k2")], [ANN]),
        ([(ANN, "k1"), (BOB, "k1"), ("cyd", "k2")], [ANN, "cyd"]),
    ],
)
def test_people_differ_in_their_names_and_in_their_keys(signers: list[tuple[str, str]], people: list[str]) -> None:
    names = [ASKED.name, *(f"{ASKED.name}.{number}" for number in range(2, len(signers) + 1))]
    given = {one.key: one for one in map(approval, names)}
    commits = (by("x", signer=name, key=key) for name, key in signers)
    known = {key: facts(SIGNED_TWO, one) for key, one in zip(given, commits, strict=True)}
    verdict = judge(ASKED, given, known, ApprovalPolicy(), NOW)
    assert (verdict.answer is not None) is (len(people) > 1)
    assert len(verdict.faults) == (len(signers) - 1 if len(people) == 1 else 0)
    assert all(part(ApprovalsText.BY_SAME_PERSON) in fault.message for fault in verdict.faults)


@pytest.mark.parametrize("policy", [SIGNED, ApprovalPolicy(), HOUR, SEPARATE])
@pytest.mark.parametrize(("before", "counts"), [(0, True), (300, True), (301, False), (86400 * 200, False)])
def test_a_commit_with_a_date_before_the_request_counts_for_nothing(
    policy: ApprovalPolicy, before: float, counts: bool
) -> None:
    """By the minutes that clocks may differ."""
    given = approval()
    asked = replace(ASKED, since=NOW - timedelta(seconds=1))
    known = {given.key: facts(policy, by(ANN, signer=ANN, age=1 + before))}
    verdict = judge(asked, {given.key: given}, known, ApprovalPolicy(), NOW)
    assert (verdict.answer is not None) is counts
    assert bool(verdict.faults) is not counts


def test_what_counts_is_said_beside_what_does_not() -> None:
    """One has no answer, one is of nobody known, one is for another request."""
    names = [f"{ASKED.name}.{number}" for number in range(2, 5)]
    given = {one.key: one for one in (approval(status="Unknown"), approval(names[0]), approval(names[1]))}
    wrong = replace(approval(names[2], digest="e" * 64), origin=Origin("a.yaml", 7))
    given[wrong.key] = wrong
    second, third = (NamespacedName("", name) for name in names[:2])
    known = {key: ApprovalFacts() for key in (second, third)}
    sentence = ApprovalsText.ANOTHER_REQUEST(
        asked=ASKED.name, digest=ApprovalsText.ANNOTATION_SAYS_APPROVE_ONE_WAITS(digest=DIGEST)
    )
    fault = Fault("a.yaml", 7, f"ClusterApprovalRequest/{names[2]}", "", sentence, Severity.WARNING)
    verdict = judge(ASKED, given, known, ApprovalPolicy(), NOW)
    assert verdict == Verdict(answer=given[second].conditions[0], faults=(fault,))
    known[third] = facts(replace(TWO, required=3), by(ANN))
    by_both = ApprovalsText.APPROVALS_ARE_THERE_BY(
        count="2", required="3", people=f"ann@example.org and somebody; {fault}"
    )
    assert judge(ASKED, given, known, ApprovalPolicy(), NOW) == Verdict(waits=by_both, faults=(fault,))
    known[second] = ApprovalFacts(failure="it broke")
    broken = _counts_for_nothing(names[0], "it broke")
    waits = ApprovalsText.APPROVALS_ARE_THERE_BY(count="1", required="3", people=f"ann@example.org; {broken}; {fault}")
    assert judge(ASKED, given, known, ApprovalPolicy(), NOW) == Verdict(waits=waits, faults=(broken, fault))
    no = approval(f"{ASKED.name}.9", status="False")
    verdict = judge(ASKED, {**given, no.key: no}, known, ApprovalPolicy(), NOW)
    assert verdict == Verdict(answer=no.conditions[0], faults=(broken, fault))


def _counts_for_nothing(name: str, why: str) -> Fault:
    sentence = ApprovalsText.COUNTS_NOTHING_SINCE(failure=why)
    return Fault(f"approvals/{name}.yaml", 1, f"ClusterApprovalRequest/{name}", "", sentence, Severity.WARNING)


ALL_KEYS = AllowedSigners(ssh="others")


@pytest.mark.parametrize(
    ("policies", "strict"),
    [
        ([], ApprovalPolicy()),
        ([ApprovalPolicy()], ApprovalPolicy()),
        ([TWO, ApprovalPolicy()], TWO),
        ([TWO, SEPARATE, HOUR], replace(TWO, separate_duties=True, expires_after=3600.0)),
        ([HOUR, replace(HOUR, expires_after=60.0)], replace(HOUR, expires_after=60.0)),
        ([SIGNED, ApprovalPolicy()], SIGNED),
        ([SIGNED, replace(SIGNED, allowed_signers=ALL_KEYS)], replace(SIGNED, allowed_signers=ALL_KEYS)),
    ],
)
def test_the_strictest_of_several_policies_asks_for_all(policies: list[ApprovalPolicy], strict: ApprovalPolicy) -> None:
    assert strictest(policies) == strict


@pytest.mark.parametrize(
    ("name", "digest", "policy", "counts"),
    [
        ("go-first", None, SIGNED, False),
        ("go-first", "d" * 64, SIGNED, True),
        ("go-first", None, TWO, True),
        (f"hold-web-{'d' * 10}", None, SIGNED, True),
    ],
)
def test_a_signature_is_for_one_request(name: str, digest: str | None, policy: ApprovalPolicy, counts: bool) -> None:
    given = approval(name, digest=digest)
    known = facts(replace(policy, required=1), by(ANN, signer=ANN))
    verdict = judge(replace(ASKED, name=name), {given.key: given}, {given.key: known}, ApprovalPolicy(), NOW)
    assert (verdict.answer is not None) is counts
    assert (part(ApprovalsText.COUNTS_NOTHING_NO_ANNOTATION) in verdict.waits) is not counts


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        (approval(digest="d" * 64), "True"),
        (approval(digest="e" * 64), None),
        (approval(status="False"), "False"),
        (approval(status="False", digest="e" * 64), None),
        (approval(f"{ASKED.name}.bob", status="False"), "False"),
        (approval(status="Unknown"), None),
        (approval(f"{ASKED.name}0"), None),
        (replace(approval(), key=NamespacedName("team", ASKED.name)), None),
        (replace(approval(), conditions=()), None),
    ],
)
def test_only_answers_to_this_request_are_looked_at(given: Approval, answer: str | None) -> None:
    known = {given.key: facts(ApprovalPolicy(), by(ANN))}
    verdict = judge(ASKED, {given.key: given}, known, ApprovalPolicy(), NOW)
    assert (verdict.answer.status.value if verdict.answer else None) == answer
    assert bool(verdict.waits) is (given.digest == "e" * 64)


@pytest.mark.parametrize(("policy", "counts"), [(ApprovalPolicy(), True), (SIGNED, False), (TWO, False), (HOUR, False)])
def test_where_nobody_looks_at_commits_only_a_policy_that_asks_nothing_is_met(
    policy: ApprovalPolicy, counts: bool
) -> None:
    given = approval()
    verdict = judge(ASKED, {given.key: given}, None, policy, NOW)
    assert (verdict.answer is not None) is counts
    sentence = f"ClusterApprovalRequest/{ASKED.name}: " + ApprovalsText.COUNTS_NOTHING_SINCE(
        failure=ApprovalsText.WHO_GAVE_CANNOT_VERIFIED_HERE()
    )
    assert verdict.waits == ("" if counts else f"approvals/{ASKED.name}.yaml:1: {sentence}")
    assert judge(ASKED, {given.key: given}, {}, ApprovalPolicy(), NOW).answer is None


@pytest.mark.parametrize("status", ["True", "False"])
@pytest.mark.parametrize(("index", "counts"), [(None, True), ("3", True), ("2", False), ("03", False), ("", False)])
def test_an_approval_that_names_another_snapshot_counts_for_nothing(
    index: str | None, counts: bool, status: str
) -> None:
    stage = replace(ASKED, name="go-first", snapshot="3")
    one = approval("go-first", status, digest=stage.digest)
    one = replace(one, annotations={**one.annotations, **({} if index is None else {SNAPSHOT_INDEX: index})})
    verdict = judge(stage, {one.key: one}, {one.key: facts(ApprovalPolicy(), by(ANN))}, ApprovalPolicy(), NOW)
    annotation = ApprovalsText.ANNOTATION_SAYS_APPROVE_ONE_WAITS(digest=SNAPSHOT_INDEX)
    sentence = ApprovalsText.ANOTHER_SNAPSHOT_WHOSE_RUN_ROLLS(asked="go-first", snapshot="3", snapshot_2=annotation)
    faults = [] if counts else [sentence]
    assert ([fault.message for fault in verdict.faults], verdict.answer is not None) == (faults, counts)
