"""A member's own reconciler: it does what its hub delivered, and reports what its cluster has.

It needs its own API server and git alone: it reads the branch with its deliveries and replaces the one commit of its
own branch. Nothing depends on memory: a process that was killed is followed by one that does again what is delivered,
which is harmless. What stands on its own branch is never taken for its own answers: others may push there.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from gitfleet.agent.texts import AgentText
from gitfleet.api import InvalidContent
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.deliveries import DELIVERY_FILE, ClusterDelivery, DeliveredOperation, DeliveredStep
from gitfleet.api.fleet import Branches
from gitfleet.api.member_reports import REPORT_FILE, MemberReport, ReportedOutcome
from gitfleet.api.objects import Manifest, Origin, key_of
from gitfleet.branches.log_once import WarnOnce
from gitfleet.errors import BadInput, LostRace, UnreadableCommit
from gitfleet.formats.canonical_json import digest_of
from gitfleet.formats.git_names import blob_id
from gitfleet.formats.limits import MAX_FILE_BYTES, MAX_STATE_BYTES
from gitfleet.formats.yaml_reader import parse_documents
from gitfleet.loop.runner import BUSY_PAUSE, Loop
from gitfleet.model.backoff import Curve
from gitfleet.model.failures import Failure, Subject
from gitfleet.model.observations import ClusterObservation
from gitfleet.model.operations import Outcome, OutcomeCode, RolloutOutcome, RolloutWrite, Write
from gitfleet.payload.encrypted_secrets import EncryptedSecrets
from gitfleet.ports.clock import Clock
from gitfleet.ports.clusters import ClusterDirectory
from gitfleet.ports.repos import BranchChange, Person, RepoReader, RepoWriter
from gitfleet.pull import (
    LARGEST_REPORT,
    applied_file,
    news_of,
    object_files,
    performable,
    performable_step,
    read_delivery,
    read_report,
    report_content,
    report_of,
    reported,
    reported_step,
)

log = logging.getLogger(__name__)
_PLAIN: Final = "100644"
_ID: Final = re.compile("[0-9a-f]{32}")
_PAUSES: Final = Curve.growing(1.0, 2.0, 300.0)


_Result: TypeAlias = Outcome | RolloutOutcome | str
"""What came of an operation, or why it was not begun."""


class AgentStep(StrEnum):
    """The boundaries of what an agent does: a process that is killed at one leaves nothing that the next one does not
    end."""

    FETCHED = "fetched"
    OBSERVED = "observed"
    PERFORMED = "performed"
    REPORTED = "reported"


class _Delivery(NamedTuple):
    """What is to be done, by the commit that says so (None: there is none yet); `blobs` are its plain files by path."""

    head: str | None = None
    content: ClusterDelivery = ClusterDelivery(cluster="")
    blobs: Mapping[str, str] = MappingProxyType({})


class _Answer(NamedTuple):
    """What came of an operation, the file with its object, how often it was tried, and when (monotonic) it may be
    tried again."""

    outcome: ReportedOutcome
    files: Mapping[str, bytes]
    times: int = 1
    again: float = 0.0


class AgentPass(NamedTuple):
    """What one pass did: whether it reported something new, how many operations failed, and in how many seconds the
    first of those is tried again."""

    reported: bool
    failed: int
    again: float | None = None


@dataclass(slots=True, kw_only=True)
class Agent:
    """Reconciles one cluster. `mask_key` is the key of digests of what Secrets contain; `person` signs the reports, and
    `counts` says whether a commit is signed so; `identity` is what no other cluster has, "" where that is not
    known."""

    cluster: MemberCluster
    repo: RepoReader
    writer: RepoWriter
    directory: ClusterDirectory
    clock: Clock
    encrypted: EncryptedSecrets
    mask_key: Callable[[], bytes]
    version: str
    branches: Branches = Branches()
    person: Person | None = None
    counts: Callable[[str], bool] | None = None
    identity: Callable[[], str] = lambda: ""
    checkpoint: Callable[[AgentStep], None] = lambda _: None
    _delivery: _Delivery = _Delivery()
    _answers: dict[str, _Answer] = field(default_factory=dict)
    _answered: str = ""
    _last: tuple[str, object, float] | None = None
    """The head of its own branch, what was news there, and when (monotonic) it was pushed."""
    _warnings: WarnOnce = field(default_factory=WarnOnce)

    @property
    def needed(self) -> tuple[str, str]:
        """The two branches of this cluster."""
        return self.branches.delivery_of(self.cluster.name), self.branches.report_of(self.cluster.name)

    def reconcile(self) -> AgentPass:
        """Do what is delivered and was not done, and report. RetryLater and GiveUp for an error of the remote; LostRace
        where another agent of this cluster reported first. Whatever the cluster does is reported."""
        heads = self.repo.fetch(self.needed)
        deliveries, own = (heads.get(name) for name in self.needed)
        self._read_delivery(deliveries)
        self.checkpoint(AgentStep.FETCHED)
        delivery = self._delivery.content
        if self._delivery.head is None:
            self._warnings.warn(AgentText.NO_BRANCH_YET(needed=self.needed[0]))
        client = self.directory.client(self.cluster)
        seen = client.observe(delivery.observe)
        if not seen.reachable:
            self._warnings.warn(seen.error)
        self._check_identity(own)
        self.checkpoint(AgentStep.OBSERVED)
        todo = [operation for operation in delivery.operations if self._is_due(operation)]
        steps = [step for step in delivery.steps if self._is_due(step)]
        if (todo or steps) and seen.reachable:
            for outcome_id, outcome in (self._perform(todo, seen) | self._perform_steps(steps, seen)).items():
                self._note(outcome_id, outcome)
            self.checkpoint(AgentStep.PERFORMED)
            after = client.observe(delivery.observe, probe=False)
            if after.reachable:
                seen = replace(seen, live=after.live, unreadable=after.unreadable)
        if delivery.pods and seen.reachable:
            live = (seen.live.get(key) for key in delivery.pods)
            seen = replace(seen, pods=client.pods([workload for workload in live if workload is not None]))
        pushed = self._report(seen, own, delivery.heartbeat_seconds)
        self.checkpoint(AgentStep.REPORTED)
        failed = [answer for answer in self._answers.values() if not answer.outcome.ok]
        now = self.clock.monotonic()
        return AgentPass(pushed, len(failed), min((answer.again - now for answer in failed), default=None))

    def _read_delivery(self, head: str | None) -> None:
        """Read what is to be done, where that changed. What is none, or another cluster's, asks for nothing."""
        if head is None:
            self._delivery = _Delivery()
            return
        if self._delivery.head != head:
            self._delivery = _Delivery(head)
            try:
                entries = self.repo.list_tree(head)
                blobs = {path: entry.oid for path, entry in entries.items() if entry.mode == _PLAIN}
                oid = blobs.get(DELIVERY_FILE, "")
                content = self.repo.read_blobs([oid], limit=MAX_STATE_BYTES).get(oid, b"") if oid else b""
                delivery = read_delivery(content)
                if delivery.cluster != self.cluster.name:
                    raise InvalidContent(AgentText.ANOTHER_CLUSTER(cluster=delivery.cluster[:80]))
                names = (*(order.id for order in delivery.operations), *(order.id for order in delivery.steps))
                if not all(map(_ID.fullmatch, names)):
                    raise InvalidContent(AgentText.OPERATIONS_ANOTHER_FORM_HUB_GIVES())
                self._delivery = _Delivery(head, delivery, blobs)
            except (InvalidContent, UnreadableCommit) as error:
                self._warnings.warn(AgentText.DELIVERY_NOT_CARRIED_OUT(head=head[:12], error=error))
        if self._answered != head:
            self._answers, self._answered = {}, head

    def _is_due(self, order: DeliveredOperation | DeliveredStep) -> bool:
        answer = self._answers.get(order.id)
        return answer is None or (not answer.outcome.ok and self.clock.monotonic() >= answer.again)

    def _perform_steps(self, todo: list[DeliveredStep], seen: ClusterObservation) -> dict[str, _Result]:
        """As `_perform`, of the steps of workload rollouts."""
        results: dict[str, _Result] = {}
        steps: dict[str, RolloutWrite] = {}
        for order in todo:
            step = performable_step(self.cluster.name, order, seen.live_and_pods)
            if isinstance(step, str):
                results[order.id] = step
            else:
                steps[order.id] = step
        client = self.directory.client(self.cluster)
        outcomes = client.perform_steps([*steps.values()]) if steps else ()
        return results | dict(zip(steps, outcomes, strict=True))

    def _perform(self, todo: list[DeliveredOperation], seen: ClusterObservation) -> dict[str, _Result]:
        """What came of each operation by its id: an outcome, or why it was not begun."""
        results: dict[str, _Result] = {}
        names: dict[int, str] = {}
        writes: list[Write] = []
        manifests = self._manifests(todo)
        for order in todo:
            write = performable(self.cluster.name, order, manifests.get(order.file), seen.live)
            if isinstance(write, str):
                results[order.id] = write
            else:
                names[len(writes)] = order.id
                writes.append(write)
        by_place = {(write.key, write.placement): names[number] for number, write in enumerate(writes)}
        client = self.directory.client(self.cluster)

        def perform(by_cluster: Mapping[str, Sequence[Write]]) -> tuple[Outcome, ...]:
            return tuple(client.perform(by_cluster[self.cluster.name]))

        for outcome in self.encrypted.perform(perform, {self.cluster.name: writes}) if writes else ():
            results[by_place[outcome.operation.key, outcome.operation.placement]] = outcome
        return results

    def _manifests(self, todo: list[DeliveredOperation]) -> dict[str, Manifest]:
        """The manifests of operations by their files; one that is not the object that is named is left out."""
        blobs = self._delivery.blobs
        objects = {order.file: order.object for order in todo if order.file in blobs}
        contents = self.repo.read_blobs(sorted({blobs[path] for path in objects}), limit=MAX_FILE_BYTES)
        manifests: dict[str, Manifest] = {}
        for path, key in objects.items():
            parsed = parse_documents(contents.get(blobs[path], b""), max_bytes=MAX_FILE_BYTES)
            body = parsed.documents[0].value if len(parsed.documents) == 1 and not parsed.faults else None
            if isinstance(body, dict) and key_of(body).identity == key.identity:
                manifests[path] = Manifest(key, body, digest_of(body), Origin(path, 1, blobs[path]))
        return manifests

    def _note(self, name: str, outcome: _Result) -> None:
        files: dict[str, bytes] = {}
        if isinstance(outcome, str):
            answer = ReportedOutcome(id=name, ok=False, code=OutcomeCode.CONFLICT.value, message=outcome)
        elif isinstance(outcome, RolloutOutcome):
            answer = reported_step(name, outcome)
        else:
            answer = reported(name, outcome)
            files |= [applied_file(name, outcome.live, self.mask_key())] if outcome.live is not None else []
        times = self._answers[name].times + 1 if name in self._answers else 1
        self._answers[name] = _Answer(answer, files, times, self.clock.monotonic() + _PAUSES.after(times))

    def _report(self, seen: ClusterObservation, own: str | None, period: int) -> bool:
        """Replace the commit of the own branch where there is news, or the heartbeat is due; whether it was."""
        now = self.clock.monotonic()
        outcomes = [answer.outcome for answer in self._answers.values()]
        report = report_of(seen, outcomes, at=self.clock.now(), delivery=self._answered, version=self.version)
        report = replace(report, identity=self.identity())
        objects = object_files(seen.live.values(), self.mask_key())
        for answer in self._answers.values():
            objects |= answer.files
        news = (news_of(report), {path: blob_id(content) for path, content in objects.items()})
        if own is not None and (self._last is None or self._last[0] != own) and self._is_same(own, news, period):
            self._last = (own, news, now)  # another agent of this cluster says the same
        if self._last is not None and self._last[:2] == (own, news) and now - self._last[2] < period:
            return False
        files = {REPORT_FILE: report_content(report), **objects}
        change = BranchChange(
            branch=self.branches.report_of(self.cluster.name),
            expected=own,
            base="",
            subject=f"Report of {self.cluster.name}",
            trailers=(("Gitfleet-Delivery", self._answered or "none"),),
            when=self.clock.now(),
            write=files,
            person=self.person,
        )
        head = self.writer.commit(change)
        self._last = (head, news, now)
        return True

    def _check_identity(self, own: str | None) -> None:
        """BadInput where the last report is of another cluster: this agent was given a wrong context, or name."""
        if self._last is not None or own is None or not (identity := self.identity()):
            return
        report = self._counted(own)
        if report is not None and report.identity not in ("", identity):
            raise BadInput(
                AgentText.REPORTED_ANOTHER_CLUSTER_ONE_AGENT(needed=self.needed[1]),
                hint=AgentText.CHECK_CLUSTER_CONTEXT(),
            )

    def _counted(self, head: str) -> MemberReport | None:
        """A report at a head that would count at the hub, None for anything else."""
        try:
            if self.counts is not None and not self.counts(head):
                return None
            entries = self.repo.list_tree(head)
            oid = entries[REPORT_FILE].oid if REPORT_FILE in entries else ""
            content = self.repo.read_blobs([oid], limit=LARGEST_REPORT).get(oid, b"") if oid else b""
            return read_report(self.cluster.name, content)
        except (InvalidContent, UnreadableCommit, BadInput):
            return None

    def _is_same(self, head: str, news: object, period: int) -> bool:
        """Whether somebody else's report at a head is fresh and says the same as this one would, and would count."""
        report = self._counted(head)
        if report is None or abs((self.clock.now() - report.at).total_seconds()) >= period:
            return False
        entries = self.repo.list_tree(head)
        objects = {path: entry.oid for path, entry in entries.items() if path != REPORT_FILE}
        return (news_of(report), objects) == news


@dataclass(slots=True, kw_only=True)
class AgentLoop(Loop[AgentPass]):
    """Reconciles an agent; `interval` is in seconds."""

    recovered = AgentText.REPORTING_AGAIN_AFTER()
    agent: Agent
    interval: float

    def once(self) -> AgentPass:
        """One pass; a lost race is tried once more."""
        try:
            return self.agent.reconcile()
        except LostRace:
            return self.agent.reconcile()

    @property
    def subject(self) -> Subject:
        """See Loop."""
        return Subject("agent", self.agent.cluster.name)

    def reconcile(self) -> AgentPass:
        """See Loop."""
        return self.agent.reconcile()

    def pause_after(self, result: AgentPass) -> float:
        """See Loop: soon after a report, which the hub may answer, and when an operation is tried again."""
        pause = min(self.interval, BUSY_PAUSE) if result.reported else self.interval
        return min(pause, max(BUSY_PAUSE, result.again)) if result.again is not None else pause

    def note(self, result: AgentPass | Failure, pause: float) -> None:
        """See Loop."""
        cause = result.cause if isinstance(result, Failure) else None
        self.pulse.rest(self.clock.monotonic() + pause, worked=cause is None, failed_by=cause)
