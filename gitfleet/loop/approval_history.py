"""How approvals came to the watched branch: their commits, who signed them, and the policy that was in force before."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from gitfleet import api, approvals
from gitfleet.api.conditions import Status
from gitfleet.api.faults import is_error
from gitfleet.api.fleet import GITFLEET_GROUP, AllowedSigners, ApprovalPolicy, FleetConfig
from gitfleet.api.holds import REWRITE_PREFIX
from gitfleet.api.staged import Approval
from gitfleet.api.values import NamespacedName
from gitfleet.errors import BadInput, GitfleetError, RetryLater
from gitfleet.formats.yaml_reader import parse_documents
from gitfleet.loop.rewrites import Rewrite
from gitfleet.model.approvals import ApprovalCommit, ApprovalFacts, Asked, FactsByApproval
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState
from gitfleet.ports.repos import CommitFacts, HistoryReader, RepoReader, SignerKeys
from gitfleet.state import FLEET_FILE

_LARGEST_BYTES: Final = 1 << 20
_MOST_KEPT: Final = 500
_CONFIG: Final = {"apiVersion": f"{GITFLEET_GROUP}/v1alpha1", "kind": "FleetConfig", "metadata": {"name": "fleet"}}
_ONE: Final = "it must be one YAML document with the fields of spec.approvals"
_PLAIN: Final = ("100644", "100755")
_MOST_ANCESTORS: Final = 1000
ReadAt = Callable[[str], Desired]
PolicyFrom = tuple[ReadAt, str | None]
"""How to read a commit, and that of the policy (None: the one before the approval)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnPolicy:
    """The policy that this process was given; it outranks the repository's. `keys` are those of its files."""

    policy: ApprovalPolicy
    keys: SignerKeys = SignerKeys()


@dataclass(slots=True, kw_only=True)
class ApprovalHistory:
    """Looks at the commits of approvals. What is remembered saves work: a commit says the same each time."""

    history: HistoryReader
    reader: RepoReader
    own: OwnPolicy | None = None
    _known: dict[tuple[str, NamespacedName, Asked], ApprovalFacts] = field(default_factory=dict)

    def rewrite(
        self, branch: str, wanted: Desired, before: FleetState, now: datetime, read_at: ReadAt
    ) -> Rewrite | None:
        """How the watched branch was rewritten since the state was made, None where it was not, or a person has
        accepted a head from there on, under the policy of the commit before. Where the history does not reach so far it
        counts as not rewritten."""
        old, head = before.observed_commit, wanted.commit
        if old is None or self.history.is_ancestor(old, head) is not False:
            return None
        line = [head, *self.reader.ancestors(head, most=_MOST_ANCESTORS)]
        for key in wanted.approvals:
            digits = key.name.partition(".")[0].removeprefix(REWRITE_PREFIX) if not key.namespace else ""
            for new in (oid for oid in line if digits and oid[: len(digits)] == digits):
                asked = Rewrite(branch=branch, old=old, new=new).request()
                facts = self.facts(wanted, [asked], read_at, policy_at=old)
                answer = approvals.judge(asked, wanted.approvals, facts, ApprovalPolicy(), now).answer
                if answer is not None and answer.status is Status.TRUE:
                    return None
        return Rewrite(branch=branch, old=old, new=head)

    def facts(
        self, wanted: Desired, asked: Iterable[Asked], read_at: ReadAt, *, policy_at: str | None = None
    ) -> FactsByApproval:
        """What is known of the approvals that are meant for what is asked; with `policy_at` under the policy of that
        commit. What cannot be found out is its `failure`: such an approval counts for nothing."""
        found = {}
        for one in asked:
            for approval in approvals.given(one, wanted.approvals):
                place = (wanted.commit, approval.key, one)
                known = self._known.get(place)
                if known is None:
                    known, lasting = self._tried(wanted.commit, approval, one, (read_at, policy_at))
                    if len(self._known) >= _MOST_KEPT:
                        self._known.clear()
                    if lasting:
                        self._known[place] = known
                found[approval.key] = known
        return found

    def _tried(self, head: str, approval: Approval, asked: Asked, where: PolicyFrom) -> tuple[ApprovalFacts, bool]:
        try:
            return self._facts(head, approval, asked, where), True
        except GitfleetError as error:
            return ApprovalFacts(failure=str(error).rstrip(".")), not isinstance(error, RetryLater)

    def _facts(self, head: str, approval: Approval, asked: Asked, where: PolicyFrom) -> ApprovalFacts:
        origin = approval.origin
        ids = self.history.last_changes(head, origin.path) if origin is not None else ()
        if origin is None or not ids:
            raise BadInput("no commit is known that added it")
        found = [self.history.about(commit) for commit in ids]
        read_at, policy_at = where
        before = policy_at or (found[0].parents[0] if found[0].parents else None)
        policy = self.own.policy if self.own else _policy_at(before, read_at)
        keys = self._keys(policy, before)
        authors = self._authors(head, asked) if policy.separate_duties else ()
        content = self.reader.read_blobs([origin.blob], limit=_LARGEST_BYTES).get(origin.blob, b"")
        return ApprovalFacts(
            commits=tuple(self._commit(about, keys) for about in found),
            policy=policy,
            documents=len(parse_documents(content, max_bytes=_LARGEST_BYTES).documents),
            older=self.history.is_ancestor(found[0].id, asked.commit) is True,
            authors=frozenset(email.lower() for email in authors),
        )

    def _authors(self, head: str, asked: Asked) -> Iterable[str]:
        """Who made the change that is asked for."""
        lasts = [commit for path in asked.files for commit in self.history.last_changes(head, path)]
        commits = (*asked.changes, *lasts)
        if not commits:
            return self.history.authors(asked.commit, asked.after or None)
        return {email for commit in dict.fromkeys(commits) for email in self.history.authors(commit, None)}

    def _commit(self, about: CommitFacts, keys: SignerKeys | None) -> ApprovalCommit:
        signer, why = self.history.signer(about.id, keys) if keys is not None else ("", "")
        return ApprovalCommit(
            id=about.id,
            author=about.author[1].lower(),
            committer=about.committer[1].lower(),
            at=about.at,
            signer=signer,
            unsigned=why,
        )

    def _keys(self, policy: ApprovalPolicy, before: str | None) -> SignerKeys | None:
        allowed = policy.allowed_signers
        if allowed is None or self.own is not None:
            return self.own.keys if allowed is not None and self.own is not None else None
        if before is None:
            raise BadInput("the policy before it has no files")
        return SignerKeys(ssh=self._file(allowed.ssh, before), gpg=self._file(allowed.gpg, before))

    def _file(self, path: str | None, commit: str) -> bytes | None:
        if path is None:
            return None
        entry = self.reader.list_tree(commit).get(path)
        content = self.reader.read_blobs([entry.oid], limit=_LARGEST_BYTES) if entry and entry.mode in _PLAIN else {}
        if entry is None or entry.oid not in content:
            raise BadInput(f"{path}, which allowedSigners names, is no file of at most 1 MiB in the commit before it")
        return content[entry.oid]


def _policy_at(commit: str | None, read_at: ReadAt) -> ApprovalPolicy:
    """The policy that a commit has. BadInput where its FleetConfig has errors: a weaker default does not hold then."""
    if commit is None:
        return ApprovalPolicy()
    wanted = read_at(commit)
    broken = (f for f in wanted.faults if f.path == FLEET_FILE or f.object.startswith("FleetConfig"))
    if wanted.config.origin is None and any(map(is_error, broken)):
        raise BadInput(f"the FleetConfig of commit {commit[:10]}, which came before it, has errors")
    return wanted.config.approvals


def own_policy(content: bytes, shown: str, read: Callable[[str], bytes]) -> OwnPolicy:
    """The policy of a file of this process, in the form of `spec.approvals` of a FleetConfig; `read` gives the files of
    keys that it names. BadInput for whatever is wrong with it."""
    parsed = parse_documents(content, max_bytes=_LARGEST_BYTES)
    if parsed.faults or len(parsed.documents) != 1:
        raise BadInput(f"{shown} is no approval policy: {parsed.faults[0][1] if parsed.faults else _ONE}")
    body = {**_CONFIG, "spec": {"approvals": parsed.documents[0].value}}
    config, breaks = api.read(FleetConfig, body)
    if config is None:
        place, sentence = breaks[0]
        raise BadInput(f"{shown} is no approval policy: {api.dotted(place[2:])} {sentence}".replace("  ", " "))
    allowed = config.approvals.allowed_signers or AllowedSigners()
    ssh, gpg = (read(path) if path is not None else None for path in (allowed.ssh, allowed.gpg))
    return OwnPolicy(policy=config.approvals, keys=SignerKeys(ssh=ssh, gpg=gpg))
