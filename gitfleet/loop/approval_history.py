"""How approvals came to the watched branch: their commits, who signed them, and the policy that was in force before."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from typing import Final, NamedTuple

from gitfleet import api, approvals
from gitfleet.api.conditions import Status
from gitfleet.api.faults import Fault, is_error
from gitfleet.api.fleet import GITFLEET_GROUP, AllowedSigners, ApprovalPolicy, FleetConfig
from gitfleet.api.holds import REWRITE_PREFIX
from gitfleet.api.staged import Approval
from gitfleet.api.values import NamespacedName
from gitfleet.errors import BadInput, GitfleetError, RetryLater
from gitfleet.formats.yaml_reader import parse_documents
from gitfleet.loop.rewrites import Rewrite
from gitfleet.loop.texts import LoopText
from gitfleet.model.approvals import ApprovalCommit, ApprovalFacts, Asked, Change, FactsByApproval
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState
from gitfleet.ports.repos import CommitFacts, HistoryReader, RepoReader, Signature, SignerKeys
from gitfleet.state import FLEET_FILE

_LARGEST_BYTES: Final = 1 << 20
_MOST_KEPT: Final = 500
_CONFIG: Final = {"apiVersion": f"{GITFLEET_GROUP}/v1alpha1", "kind": "FleetConfig", "metadata": {"name": "fleet"}}
_ONE: Final = LoopText.MUST_ONE_YAML_DOCUMENT_FIELDS()
_PLAIN: Final = ("100644", "100755")
_MOST_ANCESTORS: Final = 1000
_MOST_EDITS: Final = 10
"""So often an approval may be written another way after it was given: a commit is read for each."""
_VERIFIED_FOR: Final = timedelta(minutes=1)
"""So long a signature that was verified stays so: its key may have an end."""
ReadAt = Callable[[str], Desired]


class PolicyFrom(NamedTuple):
    """The approvals that there are, how to read a commit, and the one that was reconciled last: with `alone` its policy
    is the only one. Keys must be valid `now`."""

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
    _known: dict[tuple[str, NamespacedName, Asked, str | None], tuple[ApprovalFacts, datetime]] = field(
        default_factory=dict
    )

    def rewrite(
        self, branch: str, wanted: Desired, before: FleetState, now: datetime, read_at: ReadAt
    ) -> Rewrite | None:
        """How the watched branch was rewritten since the state was made, None where it was not, or a person has
        accepted a head from there on, under the policy of the commit before. A head that has an approval, and needs
        another one, is asked for until then, whatever was committed on top. Where the history does not reach so far it
        counts as not rewritten."""
        old, head = before.observed_commit, wanted.commit
        if old is None or self.history.is_ancestor(old, head) is not False:
            return None
        line = [head, *self.reader.ancestors(head, most=_MOST_ANCESTORS)]
        waits, uncounted = dict[str, str](), dict[Fault, None]()
        for key in wanted.approvals:
            digits = key.name.partition(".")[0].removeprefix(REWRITE_PREFIX) if not key.namespace else ""
            for new in (oid for oid in line if digits and oid[: len(digits)] == digits):
                asked = Rewrite(branch=branch, old=old, new=new).request()
                facts = self.facts(wanted, [asked], read_at, old, now, alone=True)
                meant = approvals.given(asked, wanted.approvals_by_request)
                verdict = approvals.judge(asked, meant, facts, ApprovalPolicy(), now)
                if verdict.answer is not None and verdict.answer.status is Status.TRUE:
                    return None
                uncounted |= dict.fromkeys(verdict.faults)
                if verdict.answer is None and wanted.approvals[key].digest == asked.digest:
                    waits[new] = verdict.waits
        new = next((oid for oid in line if oid in waits), head)
        return Rewrite(branch=branch, old=old, new=new, waits=waits.get(new, ""), uncounted=tuple(uncounted))

    def facts(
        self,
        wanted: Desired,
        asked: Iterable[Asked],
        read_at: ReadAt,
        reconciled: str | None,
        now: datetime,
        *,
        alone: bool = False,
    ) -> FactsByApproval:
        """What is known of the approvals that are meant for what is asked, where the commit `reconciled` was reconciled
        last; with `alone` no other's policy holds. What cannot be found out is its `failure`: such an approval counts
        for nothing."""
        found, where = {}, PolicyFrom(wanted.approvals, cache(read_at), reconciled, alone, now)
        for one in asked:
            for approval in approvals.given(one, wanted.approvals_by_request):
                place = (wanted.commit, approval.key, one, reconciled)
                known, at = self._known.get(place, (None, now))
                signed = known is not None and known.policy.allowed_signers is not None
                if known is None or (signed and abs(now - at) >= _VERIFIED_FOR):
                    known, lasting = self._tried(wanted.commit, approval, one, where)
                    if len(self._known) >= _MOST_KEPT:
                        self._known.clear()
                    if lasting:
                        self._known[place] = (known, now)
                found[approval.key] = known
        return found

    def _tried(self, head: str, approval: Approval, asked: Asked, where: PolicyFrom) -> tuple[ApprovalFacts, bool]:
        try:
            return self._facts(head, approval, asked, where), True
        except GitfleetError as error:
            return ApprovalFacts(failure=str(error).rstrip(".")), not isinstance(error, RetryLater)

    def _facts(self, head: str, approval: Approval, asked: Asked, where: PolicyFrom) -> ApprovalFacts:
        if self._standing(asked.commit, approval, asked, where) is not None:
            return ApprovalFacts(older=True)
        found = self._given_by(head, approval, asked, where)
        policy, keys = self._policy(found[0], asked, where)
        fresh = [about for about in found if self.history.is_ancestor(about.id, asked.commit) is not True]
        authors = self._authors(head, asked) if policy.separate_duties else ()
        return ApprovalFacts(
            commits=tuple(self._commit(about, keys, where.now) for about in fresh),
            policy=policy,
            documents=self._documents(approval),
            older=found[0] not in fresh,
            authors=frozenset(email.lower() for email in authors),
        )

    def _given_by(self, head: str, approval: Approval, asked: Asked, where: PolicyFrom) -> Sequence[CommitFacts]:
        """The commits by which the answer of an approval came: those that only write it another way are passed by, back
        to the first parent that does not have it."""
        commit, origin = head, approval.origin
        for _ in range(_MOST_EDITS):
            ids = self.history.last_changes(commit, origin.path) if origin is not None else ()
            if not ids:
                raise BadInput(LoopText.NO_COMMIT_KNOWN_ADDED())
            found = [self.history.about(oid) for oid in ids]
            before = self._before(found[0], approval, asked, where)
            if before is None or ids[0] not in (commit, *self.reader.ancestors(commit, most=_MOST_ANCESTORS)):
                written = (one for one in found[1:] if self._before(one, approval, asked, where) is None)
                return [found[0], *written]
            commit, origin = found[0].parents[0], before.origin
        raise BadInput(LoopText.WRITTEN_ANOTHER_WAY_TIMES(most_edits=_MOST_EDITS))

    def _before(self, about: CommitFacts, approval: Approval, asked: Asked, where: PolicyFrom) -> Approval | None:
        """The same answer where a commit's first parent has it, in a file of its own."""
        parents = about.parents[:1]
        old = self._standing(parents[0], approval, asked, where) if parents else None
        return old if old is not None and self._documents(old) == 1 else None

    def _standing(self, commit: str, approval: Approval, asked: Asked, where: PolicyFrom) -> Approval | None:
        """The same answer as a commit itself has it: what was accepted last may stand in for a faulty file."""
        old = approvals.standing(asked, approval, where.approvals, where.read_at(commit).approvals_by_request)
        if old is None or old.origin is None:
            return None
        entry = self.reader.list_tree(commit).get(old.origin.path)
        return old if entry is not None and entry.oid == old.origin.blob else None

    def _documents(self, approval: Approval) -> int:
        """How many documents the file of an approval has."""
        blob = approval.origin.blob if approval.origin is not None else ""
        content = self.reader.read_blobs([blob], limit=_LARGEST_BYTES).get(blob, b"")
        return len(parse_documents(content, max_bytes=_LARGEST_BYTES).documents)

    def _authors(self, head: str, asked: Asked) -> Iterable[str]:
        """Who made the change that is asked for."""
        changes = asked.changes
        if not changes:
            changes = (Change(commit=asked.commit, after=self._before_asked(asked)),)
        for change in changes:
            known = (change.after,) if change.after else ()
            yield from self.history.authors(change.commit or head, known, change.paths)

    def _before_asked(self, asked: Asked) -> str:
        """The commit before the one at which it was asked for; "" where there is none."""
        return asked.after or next(iter(self.history.about(asked.commit).parents), "")

    def _commit(self, about: CommitFacts, keys: Collection[SignerKeys], now: datetime) -> ApprovalCommit:
        """A commit of an approval; whoever signed it has a key in each of `keys`, and the name that the first gives."""
        signed = Signature()
        for one in keys:
            found = self.history.signer(about.id, one, now)
            signed = signed if signed.name and found.name else found
            if not found.name:
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
        self, brought: CommitFacts, asked: Asked, where: PolicyFrom
    ) -> tuple[ApprovalPolicy, Collection[SignerKeys]]:
        """The strictest of the policies that hold, and the keys of each. Whoever pushes an approval chooses the parents
        of its commit, but neither the commit at which it was asked for nor the one that was reconciled last: these come
        first, so that all approvals of a request name people by the same file. What is asked for may be that very
        policy: the one of before holds too."""
        if self.own is not None:
            return self.own.policy, (self.own.keys,) if self.own.policy.allowed_signers is not None else ()
        before = (asked.commit, self._before_asked(asked), where.reconciled, *brought.parents[:1])
        commits = (where.reconciled,) if where.alone else before
        policies = {commit: _policy_at(commit, where.read_at) for commit in commits if commit}
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
            raise BadInput(LoopText.ALLOWEDSIGNERS_NAMES_NO_FILE_MOST(path=path, commit=commit[:10]))
        return content[entry.oid]


def _policy_at(commit: str, read_at: ReadAt) -> ApprovalPolicy:
    """The policy that a commit has. BadInput where its FleetConfig has errors: a weaker default does not hold then."""
    wanted = read_at(commit)
    broken = (f for f in wanted.faults if f.path == FLEET_FILE or f.object.startswith("FleetConfig"))
    if wanted.config.origin is None and any(map(is_error, broken)):
        raise BadInput(LoopText.FLEETCONFIG_COMMIT_CAME_BEFORE(commit=commit[:10]))
    return wanted.config.approvals


def own_policy(content: bytes, shown: str, read: Callable[[str], bytes]) -> OwnPolicy:
    """The policy of a file of this process, in the form of `spec.approvals` of a FleetConfig; `read` gives the files of
    keys that it names. BadInput for whatever is wrong with it."""
    parsed = parse_documents(content, max_bytes=_LARGEST_BYTES)
    if parsed.faults or len(parsed.documents) != 1:
        raise BadInput(LoopText.NO_APPROVAL_POLICY(shown=shown, faults=parsed.faults[0][1] if parsed.faults else _ONE))
    body = {**_CONFIG, "spec": {"approvals": parsed.documents[0].value}}
    config, breaks = api.read(FleetConfig, body)
    if config is None:
        place, sentence = breaks[0]
        raise BadInput(
            LoopText.NO_APPROVAL_POLICY_2(shown=shown, place=api.dotted(place[2:]), sentence=sentence).replace(
                "  ", " "
            )
        )
    allowed = config.approvals.allowed_signers or AllowedSigners()
    ssh, gpg = (read(path) if path is not None else None for path in (allowed.ssh, allowed.gpg))
    return OwnPolicy(policy=config.approvals, keys=SignerKeys(ssh=ssh, gpg=gpg))
