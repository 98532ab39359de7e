"""Clusters that their own agents reach: what they are to do is pushed to a branch each, what they did is read from
another.

The hub decides for them as for all others, over what their agents reported. What is to be written on such a cluster is
its delivery; that an operation is in one says nothing of its outcome, and what the agent answers is one.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Final, NamedTuple, Protocol

from gitfleet import workload
from gitfleet.api import InvalidContent, write
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.deliveries import DELIVERY_FILE, ClusterDelivery, DeliveredOperation, DeliveredStep
from gitfleet.api.fleet import Branches
from gitfleet.api.objects import ObjectKey
from gitfleet.branches.log_once import WarnOnce
from gitfleet.errors import BadInput, GitfleetError, LostRace
from gitfleet.fleet.pull_client import PullClient
from gitfleet.fleet.pull_reports import PullReports, Silence
from gitfleet.fleet.texts import FleetText
from gitfleet.formats.git_names import blob_id, is_branch
from gitfleet.formats.limits import MAX_STATE_BYTES
from gitfleet.formats.sentences import counted, named_briefly
from gitfleet.formats.yaml_writer import yaml_text
from gitfleet.model.decisions import Decision
from gitfleet.model.observations import ClusterObservation, LiveObject
from gitfleet.model.operations import (
    Delete,
    Outcome,
    RefusedStep,
    Write,
    is_refused,
)
from gitfleet.model.state import Inventory
from gitfleet.model.works import Work
from gitfleet.ports.clock import Clock
from gitfleet.ports.repos import BranchChange, HistoryReader, RepoReader, RepoWriter
from gitfleet.pull import (
    by_cluster,
    delivered,
    delivered_step,
    observation_of,
    operation_id,
    outcomes_of,
    pods_of,
    read_delivery,
    refused_steps,
    writes_by_cluster,
)
from gitfleet.rendered import file_content, file_path

log = logging.getLogger(__name__)
_PLAIN: Final = "100644"
_MOST_AT_ONCE: Final = 20
"""So many branches are looked at in one pass that no cluster needs."""


class _Delivered(NamedTuple):
    """What stands on a cluster's branch for deliveries: at which commit, what it asks for, and its files by path."""

    head: str | None = None
    delivery: ClusterDelivery | None = None
    files: Mapping[str, str] = MappingProxyType({})


_NO_BRANCH: Final = _Delivered()


class PulledRemote(RepoReader, HistoryReader, RepoWriter, Protocol):
    """What a remote has to be for agents to be reached through it."""


class _Rolling(NamedTuple):
    """What a delivery has for workload rollouts: steps, the workloads that they name, and those whose pods are to be
    reported."""

    steps: tuple[DeliveredStep, ...] = ()
    named: frozenset[ObjectKey] = frozenset()
    pods: tuple[ObjectKey, ...] = ()


class _Source(NamedTuple):
    """What a delivery is made of; what did not change is mostly the very same value, so comparing costs little."""

    works: tuple[Work, ...]
    owned: Inventory
    writes: tuple[Write, ...]
    rolling: _Rolling


@dataclass(slots=True, kw_only=True)
class PullClusters:
    """ClusterDirectory of the clusters that are reached by agents. `gather` and `perform` are their
    part of a reconcile.

    For one thread, but for the clients, which read what was gathered."""

    repo: RepoReader
    writer: RepoWriter
    reports: PullReports
    clock: Clock
    rollouts: workload.RolloutsLoader = field(default_factory=workload.RolloutsLoader)
    _branches: Branches = Branches()
    _current: dict[str, _Delivered] = field(default_factory=dict)
    _heads: Mapping[str, str] = field(default_factory=dict)
    _clusters: dict[str, MemberCluster] = field(default_factory=dict)
    _prefixes: set[str] = field(default_factory=set)
    """How branches for deliveries begin, and began before they were renamed, as far as that is known."""
    _pending: dict[str, int] = field(default_factory=dict)
    _refused: dict[str, str] = field(default_factory=dict)
    _made: dict[str, tuple[str | None, _Source]] = field(default_factory=dict)
    """What a delivery was made of that stands there, with its commit."""
    _warnings: WarnOnce = field(default_factory=WarnOnce)
    _due: bool = False

    @classmethod
    def on(cls, remote: PulledRemote, clock: Clock) -> PullClusters:
        """Those of one remote."""
        return cls(repo=remote, writer=remote, reports=PullReports(remote, remote, clock), clock=clock)

    @property
    def needed(self) -> tuple[str, ...]:
        """The branches to fetch beside the watched one: those of the clusters that were gathered last."""
        names, branches = sorted(self._clusters), self._branches
        return tuple(branch for name in names for branch in (branches.report_of(name), branches.delivery_of(name)))

    @property
    def is_due(self) -> bool:
        """Whether a branch for deliveries is not as it was left, or could not be pushed."""
        return self._due

    @property
    def waiting(self) -> tuple[str, ...]:
        """What agents have not carried out yet, in a sentence each."""
        pending = [
            f"{name} ({counted(number, 'operation')})" for name, number in sorted(self._pending.items()) if number
        ]
        waiting = [FleetText.AGENT_NOT_ANSWERED(found=named_briefly(pending, 3))] if pending else []
        unseen = [name for name in self._clusters if name not in self._refused and self._is_unseen(name)]
        if unseen:
            waiting.append(FleetText.AGENT_NOT_SEEN_LAST_DELIVERY(unseen=named_briefly(sorted(unseen), 3)))
        return (*waiting, *(why for _, why in sorted(self._refused.items())))

    def _is_unseen(self, name: str) -> bool:
        """Whether an agent that reports does not answer what was delivered last, where that asks for anything."""
        seen, current = self.reports.seen(name), self._current.get(name, _NO_BRANCH)
        if seen is None or current.delivery is None:
            return False
        return bool(current.delivery.observe) and seen.report.delivery != current.head

    def gather(
        self, heads: Mapping[str, str] | None, branches: Branches, clusters: Mapping[str, MemberCluster]
    ) -> None:
        """Read what the agents reported, and what stands in their deliveries; heads None asks the remote for them."""
        pulled = {name: cluster for name, cluster in clusters.items() if cluster.is_pulled}
        self._prefixes |= {self._branches.deliveries, branches.deliveries}
        fresh = heads is None or branches != self._branches or pulled.keys() - self._clusters.keys()
        self._branches, self._clusters = branches, pulled
        if pulled and fresh:
            heads = self.repo.fetch(self.needed)
        self._heads = heads or {}
        self.reports.read(self._heads, branches, pulled.values())
        contents: dict[str, _Delivered] = {}
        self._due = False
        for name in pulled:
            head, before = self._heads.get(branches.delivery_of(name)), self._current.get(name, _NO_BRANCH)
            if before.head not in (None, head):
                self._due = True
            if head is not None:
                contents[name] = before if before.head == head else self._delivered(head)
        self._current = contents
        self._pending = {name: number for name, number in self._pending.items() if name in pulled}
        self._refused = {name: why for name, why in self._refused.items() if name in pulled}

    def report_of(self, cluster: MemberCluster) -> str | None:
        """The commit of a cluster's report; None while it does not count."""
        report = self.reports.report_of(cluster, self._branches, self.clock.now())
        return None if isinstance(report, Silence) else self.reports.head_of(cluster.name)

    # -- ClusterDirectory

    def reader(self, cluster: MemberCluster) -> PullClient:
        """See ClusterDirectory."""
        return self.client(cluster)

    def client(self, cluster: MemberCluster) -> PullClient:
        """See ClusterDirectory."""
        return PullClient(cluster, partial(self._observation, cluster), partial(self._pods, cluster))

    def _observation(self, cluster: MemberCluster, keys: Collection[ObjectKey]) -> ClusterObservation:
        report = self.reports.report_of(cluster, self._branches, self.clock.now())
        if not is_branch(self._branches.delivery_of(cluster.name)):
            report = Silence(FleetText.NAME_ENDS_WAY_GIT_TAKES())
        if isinstance(report, Silence):
            return ClusterObservation(cluster=cluster.name, reachable=False, error=report.why, observed=report.since)
        return observation_of(report, keys)

    def _pods(
        self, cluster: MemberCluster, workloads: Sequence[ObjectKey]
    ) -> Mapping[ObjectKey, tuple[LiveObject, ...]]:
        report = self.reports.report_of(cluster, self._branches, self.clock.now())
        return {} if isinstance(report, Silence) else pods_of(report, workloads)

    # -- performing

    def perform(
        self, decision: Decision, operations: tuple[Write, ...], make_sure: Callable[[], None]
    ) -> tuple[tuple[Outcome, ...], tuple[Write, ...]]:
        """Push to each cluster's branch what it is to do now; what the agents answered of it before, of the very
        delivery that stands there, and the operations on all other clusters.

        `make_sure` raises LostRace where another process has decided since; it is asked before each push of operations.
        What was answered with success is asked no more. What cannot be pushed is said, and tried again in the next
        pass."""
        self._pending, outcomes, writes = {}, list[Outcome](), writes_by_cluster(operations)
        rolling = self._rolling(decision)
        for name in sorted(self._clusters.keys() & decision.after.clusters.keys()):
            cluster_writes = writes.get(name, [])
            answered = self._answered(name, cluster_writes) if cluster_writes else []
            outcomes += answered
            done = {outcome.operation.key for outcome in answered if outcome.ok}
            cluster_writes = [operation for operation in cluster_writes if operation.key not in done]
            self._deliver(decision, name, (cluster_writes, rolling.get(name, _Rolling())), make_sure)
        self._withdraw()
        return tuple(outcomes), tuple(operation for operation in operations if operation.cluster not in self._clusters)

    def without_steps(self, decision: Decision) -> Decision:
        """The decision without the steps that are delivered to agents: nobody else carries them out."""
        return replace(decision, steps=tuple(step for step in decision.steps if step.cluster not in self._clusters))

    def refused_steps(self) -> tuple[RefusedStep, ...]:
        """The steps that stand in deliveries and that agents could not carry out."""
        refused = list[RefusedStep]()
        for name, current in sorted(self._current.items()):
            seen = self.reports.seen(name)
            if seen is not None and current.delivery is not None:
                refused += refused_steps(name, current.delivery.steps, seen.report.outcomes)
        return tuple(refused)

    def _rolling(self, decision: Decision) -> dict[str, _Rolling]:
        """What the deliveries have for workload rollouts, by cluster."""
        after, observations, rollouts = decision.after, decision.inputs.observations, decision.inputs.desired.rollouts
        records, steps = after.rollouts.values(), by_cluster(decision.steps)
        if not records and not rollouts:
            return {}
        desired = decision.inputs.desired
        named = self.rollouts.of(desired, after).keys_to_observe(desired, after, after.clusters)
        pods: dict[str, set[ObjectKey]] = {}
        for status in (status for record in records for status in record.clusters):
            if status.is_running and status.target is not None:
                pods.setdefault(status.cluster, set()).add(status.target)
        rolling = {}
        for name in self._clusters.keys() & {*named, *pods, *steps}:
            live = observations[name].live_and_pods if name in observations else {}
            orders = tuple(delivered_step(step, live) for step in steps.get(name, ()))
            rolling[name] = _Rolling(orders, frozenset(named.get(name, ())), tuple(sorted(pods.get(name, ()))))
        return rolling

    def _deliver(
        self, decision: Decision, name: str, orders: tuple[Sequence[Write], _Rolling], make_sure: Callable[[], None]
    ) -> None:
        """Bring the branch of a cluster to what it is to do; nothing is worked out where nothing changed."""
        writes, rolling = orders
        seen = self.reports.seen(name)
        outcomes = seen.report.outcomes if seen is not None else ()
        # What was refused was answered: the rollout waits for it, and says so.
        answered = {outcome.id for outcome in outcomes if outcome.ok or is_refused(outcome.ok, outcome.code)}
        self._pending[name] = len(writes) + sum(step.id not in answered for step in rolling.steps)
        source = _Source(decision.works.get(name, ()), decision.after.inventory.get(name, {}), tuple(writes), rolling)
        if self._made.get(name) == (self._current.get(name, _NO_BRANCH).head, source):
            return
        if not is_branch(self._branches.delivery_of(name)):
            return
        if writes or rolling.steps:
            make_sure()
        try:
            files = _files_of(source, decision.after.clusters[name])
            self._push(name, files, len(writes) + len(rolling.steps), decision.inputs.desired.commit)
            self._made[name] = (self._current[name].head, source)
            self._refused.pop(name, None)
        except LostRace:
            self._due = True
        except GitfleetError as error:
            self._due = True
            branch = self._branches.delivery_of(name)
            self._refused[name] = FleetText.CANNOT_PUSHED(name=name, branch=branch, error=error)
            self._warnings.warn(self._refused[name])

    def _withdraw(self) -> None:
        """Remove deliveries for clusters that are reached otherwise by now, or that have left: an agent that still runs
        there is to do nothing of them."""
        needed = {self._branches.delivery_of(name) for name in self._clusters}
        unneeded = [
            (branch, branch.removeprefix(prefix))
            for branch in sorted(self._heads.keys() - needed)
            for prefix in sorted(self._prefixes)
            if branch.startswith(prefix)
        ]
        for branch, name in unneeded[:_MOST_AT_ONCE]:
            head = self._heads[branch]
            delivery = self._delivered(head).delivery
            if delivery is None or delivery.cluster != name:
                continue  # somebody else's
            try:
                self.writer.remove_branch(branch, head)
            except GitfleetError as error:
                self._warnings.warn(FleetText.BRANCH_NO_CLUSTER_NEEDS_ANY(branch=branch, error=error))

    def _answered(self, name: str, writes: Sequence[Write]) -> list[Outcome]:
        seen, current = self.reports.seen(name), self._current.get(name, _NO_BRANCH)
        if seen is None or seen.report.delivery != current.head or current.delivery is None:
            return []
        delivered_ids = {operation.id for operation in current.delivery.operations}
        return outcomes_of(seen, [write for write in writes if operation_id(write) in delivered_ids])

    def _push(self, name: str, files: Mapping[str, bytes], number: int, commit: str) -> None:
        current, branch = self._current.get(name, _NO_BRANCH), self._branches.delivery_of(name)
        blobs = {path: blob_id(content, len(current.head or commit)) for path, content in files.items()}
        if blobs == current.files:
            return
        if branch in (self._branches.watch, self._branches.state, self._branches.rendered):
            raise BadInput(FleetText.BRANCH_HOLDS_SOMETHING_ELSE())
        head = self.writer.commit(
            BranchChange(
                branch=branch,
                expected=current.head,
                subject=f"Deliver {counted(number, 'operation')} to {name}",
                trailers=(("Gitfleet-Commit", commit),),
                when=self.clock.now(),
                write={path: files[path] for path, oid in blobs.items() if current.files.get(path) != oid},
                remove=[path for path in current.files if path not in blobs],
            )
        )
        self._current[name] = self._delivered(head)

    def _delivered(self, head: str) -> _Delivered:
        """What stands at a head; nothing of what cannot be read or is no delivery counts, and it is written again."""
        try:
            entries = self.repo.list_tree(head)
            files = {path: entry.oid if entry.mode == _PLAIN else "" for path, entry in entries.items()}
            oid = files.get(DELIVERY_FILE, "")
            content = self.repo.read_blobs([oid], limit=MAX_STATE_BYTES).get(oid, b"") if oid else b""
        except GitfleetError as error:
            self._warnings.warn(FleetText.BRANCH_DELIVERIES_CANNOT_READ(error=error))
            return _Delivered(head, None, {"": ""})
        try:
            return _Delivered(head, read_delivery(content), files)
        except InvalidContent:
            return _Delivered(head, None, files)


def _files_of(source: _Source, cluster: MemberCluster) -> dict[str, bytes]:
    """The files of a delivery, by path: the manifests that the cluster is to have now, and what is to be done there."""
    name, works = cluster.name, [work for work in source.works if work.error is None]
    manifests = {file_path(name, work.placement, m.key): m for work in works for m in work.manifests}
    orders: list[DeliveredOperation] = []
    for operation in source.writes:
        path = ""
        if not isinstance(operation, Delete):
            path = file_path(name, operation.placement, operation.key)
            manifests[path] = operation.manifest
        orders.append(delivered(operation, path))
    keys = {*source.owned, *source.rolling.named, *(m.key for work in works for m in work.manifests)}
    delivery = ClusterDelivery(
        cluster=name,
        heartbeat_seconds=cluster.heartbeat_period_seconds,
        operations=tuple(sorted(orders, key=lambda order: (order.action.value, order.object, order.id))),
        observe=tuple(sorted(keys)),
        steps=source.rolling.steps,
        pods=source.rolling.pods,
    )
    first = {DELIVERY_FILE: yaml_text(write(delivery)).encode()}
    return first | {path: file_content(manifest) for path, manifest in manifests.items()}
