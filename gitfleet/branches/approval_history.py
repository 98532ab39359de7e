"""How approvals came to the watched branch: their commits, who signed them, and the policy that was in force before.
And how the branch itself was rewritten, which needs one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from hashlib import sha256
from typing import Final, NamedTuple

from gitfleet import api, approvals
from gitfleet.api.conditions import Status
from gitfleet.api.faults import Fault, is_error
from gitfleet.api.fleet import GITFLEET_GROUP, AllowedSigners, ApprovalPolicy, FleetConfig
from gitfleet.api.staged import REWRITE_PREFIX, Approval
from gitfleet.api.values import NamespacedName
from gitfleet.branches.texts import BranchesText
from gitfleet.errors import BadInput, GitfleetError, RetryLater
from gitfleet.formats.yaml_reader import parse_documents
from gitfleet.model.approvals import ApprovalCommit, ApprovalFacts, ApprovalRequest, Asked, Change, FactsByApproval
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState
from gitfleet.ports.repos import CommitFacts, HistoryReader, RepoReader, Signature, SignerKeys
from gitfleet.state import FLEET_FILE

_LARGEST_BYTES: Final = 1 << 20
_MOST_KEPT: Final = 500
_CONFIG: Final = {"apiVersion": f"{GITFLEET_GROUP}/v1alpha1", "kind": "FleetConfig", "metadata": {"name": "fleet"}}
_ONE: Final = BranchesText.MUST_ONE_YAML_DOCUMENT_FIELDS()
_PLAIN: Final = ("100644", "100755")
_MOST_ANCESTORS: Final = 1000
_MOST_EDITS: Final = 10
"""So often an approval may be written another way after it was given: a commit is read for each."""
_VERIFIED_FOR: Final = timedelta(minutes=1)
"""So long a signature that was verified stays so: its key may have an end."""
_ID_DIGITS: Final = 12
ReadAt = Callable[[str], Desired]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """A watched branch that was rewritten: it was at `old`, the last accepted commit, and `new` is no successor of it.
    `waits` and `uncounted` say why the approvals that are there do not accept `new`, as in a Verdict."""

    branch: str
    old: str
    new: str
    waits: str = ""
    uncounted: tuple[Fault, ...] = ()

    def request(self) -> ApprovalRequest:
        """What people are asked."""
        name, old, new = f"{REWRITE_PREFIX}{self.new[:_ID_DIGITS]}", self.old[:_ID_DIGITS], self.new[:_ID_DIGITS]
        return ApprovalRequest(
            name=name,
            subject="Rewrite",
            digest=sha256(f"{self.old} {self.new}".encode()).hexdigest(),
            commit=self.new,
            after=self.old,
            title=f"Accept {new} as the head of {self.branch}, which does not come after {old}",
            body=(
                f"{self.branch} was rewritten (a forced push, or another branch is watched): {self.new}\n"
                f"does not come after {self.old}, which is reconciled on.\n\n"
                "Merge this (merge, squash or rebase) to accept the new head with all that differs:\n\n"
                f"    git diff {old} {new}\n\n"
                f"Otherwise push {old} back. Closing or deleting this branch accepts nothing."
            ),
        )

    def fault(self) -> Fault:
        """What is said until then."""
        name, old, new = self.request().name, self.old[:_ID_DIGITS], self.new[:_ID_DIGITS]
        problem = BranchesText.REWRITTEN_NOT_COME_AFTER(branch=self.branch, new=new, old=old)
        remedy = BranchesText.NOTHING_NEW_HEAD_HAPPENS_BEFORE(old=old, name=name)
        return Fault(approvals.approval_path(name), 1, "", "", "; ".join(filter(None, (problem, self.waits, remedy))))

    def faults(self) -> tuple[Fault, ...]:
        """The same, and a warning for each approval that counts for nothing."""
        return self.fault(), *self.uncounted


class ApprovalContext(NamedTuple):
    """The commit `head` and its approvals, how to read a commit, and the one that was reconciled last: with `alone` its
    policy is the only one. Keys must be valid `now`."""

    head: str
    approvals: Mapping[NamespacedName, Approval]
    read_at: ReadAt
    reconciled: str | None
    alone: bool
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnPolicy:
    """The policy that this process was given; it outranks the repository's. `keys` are those of its files."""

    policy: ApprovalPolicy
    keys: SignerKeys = SignerKeys()


@dataclass(slots=True, kw_only=True)
class ApprovalHistory:
    """Looks at the commits of approvals. What is remembered saves work: a commit says the same each time, and its
    signature for a while."""

    history: HistoryReader
    reader: RepoReader
    own: OwnPolicy | None = None
    _cache: dict[tuple[str, NamespacedName, Asked, str | None], tuple[ApprovalFacts, datetime]] = field(
        default_factory=dict
    )

    def rewrite(
        self, branch: str, desired: Desired, before: FleetState, now: datetime, read_at: ReadAt
    ) -> Rewrite | None:
        """How the watched branch was rewritten since the state was made, None where it was not, or a person has
        accepted a head from there on, under the policy of the commit before. A head that has an approval, and needs
        another one, is asked for until then, whatever was committed on top. Where the history does not reach so far it
        counts as not rewritten."""
        old, head = before.observed_commit, desired.commit
        if old is None or self.history.is_ancestor(old, head) is not False:
            return None
        line = [head, *self.reader.ancestors(head, most=_MOST_ANCESTORS)]
        waits, uncounted = dict[str, str](), dict[Fault, None]()
        for key in desired.approvals:
            digits = key.name.partition(".")[0].removeprefix(REWRITE_PREFIX) if not key.namespace else ""
            for new in (oid for oid in line if digits and oid[: len(digits)] == digits):
                request = Rewrite(branch=branch, old=old, new=new).request()
                facts = self.facts(desired, [request], read_at, old, now, alone=True)
                meant = approvals.given(request, desired.approvals_by_request)
                verdict = approvals.judge(request, meant, facts, ApprovalPolicy(), now)
                if verdict.answer is not None and verdict.answer.status is Status.TRUE:
                    return None
                uncounted |= dict.fromkeys(verdict.faults)
                if verdict.answer is None and desired.approvals[key].digest == request.digest:
                    waits[new] = verdict.waits
        new = next((oid for oid in line if oid in waits), head)
        return Rewrite(branch=branch, old=old, new=new, waits=waits.get(new, ""), uncounted=tuple(uncounted))

    def facts(
        self,
        desired: Desired,
        requests: Iterable[Asked],
        read_at: ReadAt,
        reconciled: str | None,
        now: datetime,
        *,
        alone: bool = False,
    ) -> FactsByApproval:
        """What is known of the approvals that are meant for what is asked, where the commit `reconciled` was reconciled
        last; with `alone` no other's policy applies. What cannot be found out is its `failure`: such an approval counts
        for nothing."""
        facts, context = {}, ApprovalContext(desired.commit, desired.approvals, cache(read_at), reconciled, alone, now)
        for request in requests:
            for approval in approvals.given(request, desired.approvals_by_request):
                place = (desired.commit, approval.key, request, reconciled)
                entry, at = self._cache.get(place, (None, now))
                signed = entry is not None and entry.policy.allowed_signers is not None
                if entry is None or (signed and abs(now - at) >= _VERIFIED_FOR):
                    entry, lasting = self._facts_or_failure(approval, request, context)
                    if len(self._cache) >= _MOST_KEPT:
                        self._cache.clear()
                    if lasting:
                        self._cache[place] = (entry, now)
                facts[approval.key] = entry
        return facts

    def _facts_or_failure(
        self, approval: Approval, request: Asked, context: ApprovalContext
    ) -> tuple[ApprovalFacts, bool]:
        try:
            return self._facts(approval, request, context), True
        except GitfleetError as error:
            return ApprovalFacts(failure=str(error).rstrip(".")), not isinstance(error, RetryLater)

    def _facts(self, approval: Approval, request: Asked, context: ApprovalContext) -> ApprovalFacts:
        if self._standing(request.commit, approval, request, context) is not None:
            return ApprovalFacts(older=True)
        commits = self._given_by(approval, request, context)
        policy, keys = self._policy(commits[0], request, context)
        fresh = [about for about in commits if self.history.is_ancestor(about.id, request.commit) is not True]
        authors = self._authors(context.head, request) if policy.separate_duties else ()
        return ApprovalFacts(
            commits=tuple(self._commit(about, keys, context.now) for about in fresh),
            policy=policy,
            documents=self._documents(approval),
            older=commits[0] not in fresh,
            authors=frozenset(email.lower() for email in authors),
        )

    def _given_by(self, approval: Approval, request: Asked, context: ApprovalContext) -> Sequence[CommitFacts]:
        """The commits by which the answer of an approval came: those that only write it another way are passed by, back
        to the first parent that does not have it."""
        commit, origin = context.head, approval.origin
        for _ in range(_MOST_EDITS):
            ids = self.history.last_changes(commit, origin.path) if origin is not None else ()
            if not ids:
                raise BadInput(BranchesText.NO_COMMIT_KNOWN_ADDED())
            commits = [self.history.about(oid) for oid in ids]
            before = self._before(commits[0], approval, request, context)
            if before is None or ids[0] not in (commit, *self.reader.ancestors(commit, most=_MOST_ANCESTORS)):
                written = (about for about in commits[1:] if self._before(about, approval, request, context) is None)
                return [commits[0], *written]
            commit, origin = commits[0].parents[0], before.origin
        raise BadInput(BranchesText.WRITTEN_ANOTHER_WAY_TIMES(most_edits=_MOST_EDITS))

    def _before(
        self, about: CommitFacts, approval: Approval, request: Asked, context: ApprovalContext
    ) -> Approval | None:
        """The same answer where a commit's first parent has it, in a file of its own."""
        parents = about.parents[:1]
        old = self._standing(parents[0], approval, request, context) if parents else None
        return old if old is not None and self._documents(old) == 1 else None

    def _standing(self, commit: str, approval: Approval, request: Asked, context: ApprovalContext) -> Approval | None:
        """The same answer as a commit itself has it: what was accepted last may stand in for a faulty file."""
        old = approvals.standing(request, approval, context.approvals, context.read_at(commit).approvals_by_request)
        if old is None or old.origin is None:
            return None
        entry = self.reader.list_tree(commit).get(old.origin.path)
        return old if entry is not None and entry.oid == old.origin.blob else None

    def _documents(self, approval: Approval) -> int:
        """How many documents the file of an approval has."""
        blob = approval.origin.blob if approval.origin is not None else ""
        content = self.reader.read_blobs([blob], limit=_LARGEST_BYTES).get(blob, b"")
        return len(parse_documents(content, max_bytes=_LARGEST_BYTES).documents)

    def _authors(self, head: str, request: Asked) -> Iterable[str]:
        """Who made the change that is asked for."""
        changes = request.changes
        if not changes:
            changes = (Change(commit=request.commit, after=self._before_asked(request)),)
        for change in changes:
            exclude = (change.after,) if change.after else ()
            yield from self.history.authors(change.commit or head, exclude, change.paths)

    def _before_asked(self, request: Asked) -> str:
        """The commit before the one at which it was asked for; "" where there is none."""
        return request.after or next(iter(self.history.about(request.commit).parents), "")

    def _commit(self, about: CommitFacts, keys: Collection[SignerKeys], now: datetime) -> ApprovalCommit:
        """A commit of an approval; whoever signed it has a key in each of `keys`, and the name that the first gives."""
        signed = Signature()
        for signer_keys in keys:
            signature = self.history.signer(about.id, signer_keys, now)
            signed = signed if signed.name and signature.name else signature
            if not signature.name:
                break
        return ApprovalCommit(
            id=about.id,
            author=about.author[1].lower(),
            committer=about.committer[1].lower(),
            at=about.at,
            signer=signed.name,
            key=signed.key,
            unsigned=signed.why,
        )

    def _policy(
        self, brought: CommitFacts, request: Asked, context: ApprovalContext
    ) -> tuple[ApprovalPolicy, Collection[SignerKeys]]:
        """The strictest of the policies in force, and the keys of each. Whoever pushes an approval chooses the parents
        of its commit, but neither the commit at which it was asked for nor the one that was reconciled last: these come
        first, so that all approvals of a request name people by the same file. What is asked for may be that very
        policy: the one of before applies too."""
        if self.own is not None:
            return self.own.policy, (self.own.keys,) if self.own.policy.allowed_signers is not None else ()
        before = (request.commit, self._before_asked(request), context.reconciled, *brought.parents[:1])
        commits = (context.reconciled,) if context.alone else before
        policies = {commit: _policy_at(commit, context.read_at) for commit in commits if commit}
        keys = (
            SignerKeys(ssh=self._file(allowed.ssh, commit), gpg=self._file(allowed.gpg, commit))
            for commit, policy in policies.items()
            if (allowed := policy.allowed_signers) is not None
        )
        return approvals.strictest(policies.values()), tuple(dict.fromkeys(keys))

    def _file(self, path: str | None, commit: str) -> bytes | None:
        if path is None:
            return None
        entry = self.reader.list_tree(commit).get(path)
        content = self.reader.read_blobs([entry.oid], limit=_LARGEST_BYTES) if entry and entry.mode in _PLAIN else {}
        if entry is None or entry.oid not in content:
            raise BadInput(BranchesText.ALLOWEDSIGNERS_NAMES_NO_FILE_MOST(path=path, commit=commit[:10]))
        return content[entry.oid]


def _policy_at(commit: str, read_at: ReadAt) -> ApprovalPolicy:
    """The policy that a commit has. BadInput where its FleetConfig has errors: a weaker default does not apply then."""
    desired = read_at(commit)
    broken = (f for f in desired.faults if f.path == FLEET_FILE or f.object.startswith("FleetConfig"))
    if desired.config.origin is None and any(map(is_error, broken)):
        raise BadInput(BranchesText.FLEETCONFIG_COMMIT_CAME_BEFORE(commit=commit[:10]))
    return desired.config.approvals


def own_policy(content: bytes, shown: str, read: Callable[[str], bytes]) -> OwnPolicy:
    """The policy of a file of this process, in the form of `spec.approvals` of a FleetConfig; `read` gives the files of
    keys that it names. BadInput for whatever is wrong with it."""
    parsed = parse_documents(content, max_bytes=_LARGEST_BYTES)
    if parsed.faults or len(parsed.documents) != 1:
        raise BadInput(
            BranchesText.NO_APPROVAL_POLICY(shown=shown, faults=parsed.faults[0][1] if parsed.faults else _ONE)
        )
    body = {**_CONFIG, "spec": {"approvals": parsed.documents[0].value}}
    config, breaks = api.read(FleetConfig, body)
    if config is None:
        place, sentence = breaks[0]
        why = " ".join(filter(None, (api.dotted(place[2:]), sentence)))
        raise BadInput(BranchesText.NO_APPROVAL_POLICY(shown=shown, faults=why))
    allowed = config.approvals.allowed_signers or AllowedSigners()
    ssh, gpg = (read(path) if path is not None else None for path in (allowed.ssh, allowed.gpg))
    return OwnPolicy(policy=config.approvals, keys=SignerKeys(ssh=ssh, gpg=gpg))
