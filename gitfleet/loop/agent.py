"""A member's own reconciler: it does what its hub delivered, and reports what its cluster has.

It needs its own API server and git alone: it reads the branch with its deliveries and replaces the one commit of its
own branch. Nothing depends on memory that is not in git: a process that was killed reads its last report, and does
again what is not in it, which is harmless.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final, NamedTuple

from gitfleet.api import InvalidContent
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.deliveries import DELIVERY_FILE, ClusterDelivery, DeliveredOperation
from gitfleet.api.fleet import Branches
from gitfleet.api.member_reports import REPORT_FILE, ReportedOutcome
from gitfleet.api.objects import Manifest, Origin, key_of
from gitfleet.errors import UnreadableCommit
from gitfleet.formats.canonical_json import digest_of
from gitfleet.formats.limits import MAX_FILE_BYTES, MAX_STATE_BYTES
from gitfleet.formats.yaml_reader import parse_documents
from gitfleet.loop.encrypted import EncryptedSecrets
from gitfleet.loop.pull_clusters import delivery_branch, read_delivery
from gitfleet.loop.pull_reports import report_branch
from gitfleet.model.backoff import Curve
from gitfleet.model.observations import ClusterObservation
from gitfleet.model.operations import Outcome, OutcomeCode
from gitfleet.ports.clock import Clock
from gitfleet.ports.clusters import ClusterDirectory
from gitfleet.ports.repos import BranchChange, Person, RepoReader, RepoWriter
from gitfleet.pull import (
    LARGEST_REPORT,
    Write,
    applied_file,
    applied_path,
    news_of,
    object_files,
    performable,
    read_report,
    report_content,
    report_of,
    reported,
)

log = logging.getLogger(__name__)
_PLAIN: Final = "100644"
_PAUSES: Final = Curve.growing(1.0, 2.0, 300.0)


class AgentStep(StrEnum):
    """The boundaries of what an agent does: a process that is killed at one leaves nothing that the next one does not
    end."""

    FETCHED = "fetched"
    OBSERVED = "observed"
    PERFORMED = "performed"
    REPORTED = "reported"


class _Delivery(NamedTuple):
    """What is to be done, by the commit that says so; `blobs` are its plain files by path."""

    head: str
    content: ClusterDelivery
    blobs: Mapping[str, str]


class _Answer(NamedTuple):
    """What came of an operation, the file with its object, how often it was tried, and when (monotonic) it may be
    tried again."""

    outcome: ReportedOutcome
    files: Mapping[str, bytes]
    times: int = 1
    again: float = 0.0


class AgentPass(NamedTuple):
    """What one pass did: whether it reported something new, and how many operations failed and are tried again."""

    reported: bool
    failed: int


@dataclass(slots=True, kw_only=True)
class Agent:
    """Reconciles one cluster. `mask_key` is the key of digests of what Secrets hold; `person` signs the reports."""

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
    checkpoint: Callable[[AgentStep], None] = lambda step: None
    _delivery: _Delivery | None = None
    _answers: dict[str, _Answer] = field(default_factory=dict)
    _answered: str = ""
    _last: tuple[str, object, float] | None = None
    """The head of its own branch, what was news there, and when (monotonic) it was pushed."""
    _said: set[str] = field(default_factory=set)

    @property
    def needed(self) -> tuple[str, str]:
        """The two branches of this cluster."""
        return delivery_branch(self.branches, self.cluster.name), report_branch(self.branches, self.cluster.name)

    def reconcile(self) -> AgentPass:
        """Do what is delivered and was not done, and report. RetryLater and GiveUp for an error of the remote; LostRace
        where another agent of this cluster reported first. Whatever the cluster does is reported."""
        heads = self.repo.fetch(self.needed)
        deliveries, own = (heads.get(name) for name in self.needed)
        self._read_own(own, deliveries)
        self._read_delivery(deliveries)
        self.checkpoint(AgentStep.FETCHED)
        wanted = self._delivery.content if self._delivery is not None else ClusterDelivery(cluster=self.cluster.name)
        client = self.directory.client(self.cluster)
        seen = client.observe(wanted.observe)
        self.checkpoint(AgentStep.OBSERVED)
        todo = [one for one in wanted.operations if self._is_due(one)]
        if todo and seen.reachable:
            for outcome_id, outcome in self._perform(todo, seen).items():
                self._note(outcome_id, outcome)
            self.checkpoint(AgentStep.PERFORMED)
            after = client.observe(wanted.observe, probe=False)
            if after.reachable:
                seen = replace(seen, live=after.live, unreadable=after.unreadable)
        pushed = self._report(seen, own, wanted.heartbeat_seconds)
        self.checkpoint(AgentStep.REPORTED)
        return AgentPass(pushed, sum(not answer.outcome.ok for answer in self._answers.values()))

    def _read_own(self, own: str | None, delivery: str | None) -> None:
        """Learn from the last report what was done already, where this process did not write it."""
        if own is None or (self._last is not None and self._last[0] == own):
            return
        self._last, self._answers, self._answered = None, {}, ""
        try:
            entries = self.repo.list_tree(own)
            oids = {path: entry.oid for path, entry in entries.items() if entry.mode == _PLAIN}
            first = oids.get(REPORT_FILE, "")
            content = self.repo.read_blobs([first], limit=LARGEST_REPORT).get(first, b"") if first else b""
            report = read_report(self.cluster.name, content)
            answers = {one.id: one for one in report.outcomes if report.delivery == delivery}
            paths = {applied_path(name): name for name, one in answers.items() if one.live}
            blobs = self.repo.read_blobs([oids[path] for path in paths if path in oids], limit=MAX_FILE_BYTES)
        except (InvalidContent, UnreadableCommit) as error:
            self._say(f"the last report on {report_branch(self.branches, self.cluster.name)} is not used: {error}")
            return
        there = {name: {path: blobs[oids[path]]} for path, name in paths.items() if oids.get(path) in blobs}
        sound = {name: one for name, one in answers.items() if not one.live or name in there}
        self._answers = {name: _Answer(one, there.get(name, {})) for name, one in sound.items()}
        self._answered = delivery or ""

    def _read_delivery(self, head: str | None) -> None:
        """Read what is to be done, where that changed. What is none, or another cluster's, asks for nothing."""
        if head is None:
            self._delivery = None
            return
        if self._delivery is None or self._delivery.head != head:
            self._delivery = _Delivery(head, ClusterDelivery(cluster=self.cluster.name), {})
            try:
                entries = self.repo.list_tree(head)
                blobs = {path: entry.oid for path, entry in entries.items() if entry.mode == _PLAIN}
                oid = blobs.get(DELIVERY_FILE, "")
                content = self.repo.read_blobs([oid], limit=MAX_STATE_BYTES).get(oid, b"") if oid else b""
                found = read_delivery(content)
                if found.cluster != self.cluster.name:
                    raise InvalidContent(f'it is for another cluster, "{found.cluster[:80]}"')
                self._delivery = _Delivery(head, found, blobs)
            except (InvalidContent, UnreadableCommit) as error:
                self._say(f"the delivery {head[:12]} is not carried out: {error}")
        if self._answered != head:
            self._answers, self._answered = {}, head

    def _is_due(self, order: DeliveredOperation) -> bool:
        answer = self._answers.get(order.id)
        return answer is None or (not answer.outcome.ok and self.clock.monotonic() >= answer.again)

    def _perform(self, todo: list[DeliveredOperation], seen: ClusterObservation) -> dict[str, Outcome | str]:
        """What came of each operation by its id: an outcome, or why it was not begun."""
        found: dict[str, Outcome | str] = {}
        names: dict[int, str] = {}
        writes: list[Write] = []
        manifests = self._manifests(todo)
        for order in todo:
            write = performable(self.cluster.name, order, manifests.get(order.file), seen.live)
            if isinstance(write, str):
                found[order.id] = write
            else:
                names[len(writes)] = order.id
                writes.append(write)
        by_place = {(one.key, one.placement): names[number] for number, one in enumerate(writes)}
        client = self.directory.client(self.cluster)

        def perform(given: Mapping[str, Sequence[Write]]) -> tuple[Outcome, ...]:
            return tuple(client.perform(given[self.cluster.name]))

        for outcome in self.encrypted.perform(perform, {self.cluster.name: writes}) if writes else ():
            found[by_place[outcome.operation.key, outcome.operation.placement]] = outcome
        return found

    def _manifests(self, todo: list[DeliveredOperation]) -> dict[str, Manifest]:
        """The manifests of operations by their files; one that is not the object that is named is left out."""
        assert self._delivery is not None  # noqa: S101 - operations come from a delivery
        blobs = self._delivery.blobs
        wanted = {one.file: one.object for one in todo if one.file in blobs}
        contents = self.repo.read_blobs(sorted({blobs[path] for path in wanted}), limit=MAX_FILE_BYTES)
        found: dict[str, Manifest] = {}
        for path, key in wanted.items():
            parsed = parse_documents(contents.get(blobs[path], b""), max_bytes=MAX_FILE_BYTES)
            body = parsed.documents[0].value if len(parsed.documents) == 1 and not parsed.faults else None
            if isinstance(body, dict) and key_of(body).identity == key.identity:
                found[path] = Manifest(key, body, digest_of(body), Origin(path, 1, blobs[path]))
        return found

    def _note(self, name: str, outcome: Outcome | str) -> None:
        before = self._answers.get(name)
        times = before.times + 1 if before is not None else 1
        again = self.clock.monotonic() + _PAUSES.after(times)
        if isinstance(outcome, str):
            said = ReportedOutcome(id=name, ok=False, code=OutcomeCode.CONFLICT.value, message=outcome)
            self._answers[name] = _Answer(said, {}, times, again)
            return
        files = dict([applied_file(name, outcome.live, self.mask_key())]) if outcome.live is not None else {}
        self._answers[name] = _Answer(reported(name, outcome), files, times, again)

    def _report(self, seen: ClusterObservation, own: str | None, period: int) -> bool:
        """Replace the commit of the own branch where there is news, or the heartbeat is due; whether it was."""
        now = self.clock.monotonic()
        outcomes = [answer.outcome for answer in self._answers.values()]
        report = report_of(seen, outcomes, at=self.clock.now(), delivery=self._answered, version=self.version)
        objects = object_files(seen.live.values(), self.mask_key())
        for answer in self._answers.values():
            objects |= answer.files
        news = (news_of(report), {path: hash(content) for path, content in objects.items()})
        if self._last is not None and self._last[:2] == (own, news) and now - self._last[2] < period:
            return False
        files = {REPORT_FILE: report_content(report), **objects}
        change = BranchChange(
            branch=report_branch(self.branches, self.cluster.name),
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

    def _say(self, sentence: str) -> None:
        if sentence not in self._said:
            self._said.add(sentence)
            log.warning("%s", sentence)
