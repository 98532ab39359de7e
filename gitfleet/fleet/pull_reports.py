"""The hub's reading of what agents report: one commit on a branch of each cluster's own, read again when it changes.

A report that cannot be read, is not signed as it has to be, or is too old makes that one cluster unreachable.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from gitfleet.api import InvalidContent
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.fleet import Branches
from gitfleet.api.member_reports import REPORT_FILE
from gitfleet.errors import BadInput, GitfleetError
from gitfleet.fleet.texts import FleetText
from gitfleet.formats.times import time_text
from gitfleet.model.failures import Failure, Subject, attempt
from gitfleet.model.observations import LiveObject
from gitfleet.ports.clock import Clock
from gitfleet.ports.repos import HistoryReader, RepoReader, SignerKeys
from gitfleet.pull import (
    LARGEST_OBJECT,
    LARGEST_OBJECTS,
    LARGEST_REPORT,
    MemberSeen,
    listed_files,
    read_report,
    seen_from,
)

PERIODS: Final = 3
"""So many heartbeat periods a report counts, where the connection says nothing of it."""
_LONGEST: Final = 300
_PLAIN: Final = "100644"
_CLOCKS: Final = timedelta(minutes=10)
"""So far the clock of an agent may be ahead: so much longer its last report counts."""
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """What is known of one cluster's branch: its report, or why there is none in one sentence."""

    head: str | None = None
    keys: tuple[str, ...] = ()
    seen: MemberSeen | None = None
    error: str = ""
    objects: Mapping[str, LiveObject] = field(default_factory=dict)


_NOT_REPORTED: Final = Reported()


class Silence(NamedTuple):
    """Why a cluster's report does not count, in one sentence, and when the last one was made, if any was."""

    why: str
    since: datetime | None = None


@dataclass(slots=True)
class PullReports:
    """Reads the branches of the agents. What is remembered saves work: a process that starts reads them again."""

    reader: RepoReader
    history: HistoryReader
    clock: Clock
    _reports: dict[str, Reported] = field(default_factory=dict)

    def read(self, heads: Mapping[str, str], branches: Branches, clusters: Iterable[MemberCluster]) -> None:
        """Read what changed since the last time. Nothing is raised that a member can bring about."""
        reports: dict[str, Reported] = {}
        for cluster in clusters:
            head, keys = heads.get(branches.report_of(cluster.name)), _keys_of(cluster)
            before = self._reports.get(cluster.name, _NOT_REPORTED)
            if head is not None:
                is_same = (before.head, before.keys) == (head, keys)
                reports[cluster.name] = before if is_same else self._read(cluster.name, head, keys, before)
        self._reports = reports

    def report_of(self, cluster: MemberCluster, branches: Branches, now: datetime) -> MemberSeen | Silence:
        """The report of a cluster, or why it does not count now."""
        report, branch = self._reports.get(cluster.name, _NOT_REPORTED), branches.report_of(cluster.name)
        if report.head is None:
            usual = Branches()
            named = "" if branches.members == usual.members else f" --members {branches.members}"
            named += "" if branches.deliveries == usual.deliveries else f" --deliveries {branches.deliveries}"
            how = FleetText.RUN_GITFLEET_AGENT_CLUSTER(cluster=cluster.name, named=named)
            return Silence(FleetText.NO_AGENT_REPORTED_BRANCH_YET(branch=branch, how=how))
        if report.seen is None:
            return Silence(FleetText.REPORT_BRANCH(branch=branch, error=report.error))
        connection = cluster.connection
        chosen = connection.silent_after if connection is not None else None
        most = PERIODS * cluster.heartbeat_period_seconds if chosen is None else chosen
        stated = report.seen.report.at
        if stated - now > _CLOCKS:
            return Silence(FleetText.AGENT_REPORTS_NOT_YET(time_text=time_text(stated)), None)
        if now - stated > timedelta(seconds=most):
            return Silence(FleetText.AGENT_NOT_REPORTED_SINCE(time_text=time_text(stated)), stated)
        return report.seen

    def head_of(self, name: str) -> str | None:
        """The commit that was read of a cluster's branch."""
        return self._reports.get(name, _NOT_REPORTED).head

    def seen(self, name: str) -> MemberSeen | None:
        """The report of a cluster, however old."""
        return self._reports.get(name, _NOT_REPORTED).seen

    def _read(self, name: str, head: str, keys: tuple[str, ...], before: Reported) -> Reported:
        reported = Reported(head=head, keys=keys)
        result = attempt(Subject("MemberCluster", name), self._parsed, name, head, keys, before.objects)
        if isinstance(result, Failure):
            return replace(reported, error=_why(result)[:_LONGEST])
        seen, objects = result
        return replace(reported, seen=seen, objects=objects)

    def _check_signature(self, head: str, keys: tuple[str, ...]) -> None:
        allowed = "".join(f'agent namespaces="git" {" ".join(key.split()[:2])}\n' for key in keys)
        signed = self.history.signer(head, SignerKeys(ssh=allowed.encode()), self.clock.now())
        if not signed.name:
            raise InvalidContent(FleetText.NOT_COUNT(why=signed.why))

    def _parsed(
        self, name: str, head: str, keys: tuple[str, ...], objects: Mapping[str, LiveObject]
    ) -> tuple[MemberSeen, Mapping[str, LiveObject]]:
        if keys:
            self._check_signature(head, keys)
        entries = self.reader.list_tree(head)
        files = {path: entry for path, entry in entries.items() if entry.mode == _PLAIN}
        if REPORT_FILE not in files:
            raise BadInput(FleetText.IT_HAS_NO(report_file=REPORT_FILE))
        first = files[REPORT_FILE].oid
        content = self.reader.read_blobs([first], limit=LARGEST_REPORT).get(first)
        if content is None:
            raise BadInput(FleetText.LARGER_BYTES(report_file=REPORT_FILE, largest_report=LARGEST_REPORT))
        report = read_report(name, content)
        oids = {path: files[path].oid for path in listed_files(report) if path in files}
        sizes = {files[path].oid: files[path].size or 0 for path in oids}
        missing = sorted(oid for oid in set(oids.values()) if oid not in objects and sizes[oid] <= LARGEST_OBJECT)
        if sum(map(sizes.__getitem__, missing)) > LARGEST_OBJECTS:
            raise BadInput(FleetText.OBJECTS_MORE_BYTES_TOGETHER(largest_objects=LARGEST_OBJECTS))
        blobs = self.reader.read_blobs(missing, limit=LARGEST_OBJECT)
        contents = {path: blobs[oid] for path, oid in oids.items() if oid in blobs}
        return seen_from(report, contents, objects, oids)


def _keys_of(cluster: MemberCluster) -> tuple[str, ...]:
    return cluster.connection.public_keys if cluster.connection is not None else ()


def _why(failure: Failure) -> str:
    """Why a report cannot be read."""
    if isinstance(failure.cause, InvalidContent):
        return str(failure.cause)
    if isinstance(failure.cause, GitfleetError):
        return FleetText.CANNOT_READ(error=failure.cause)
    log.error("%s", failure.report)
    return FleetText.CANNOT_READ(error=failure.sentence)
