"""All rollouts, on all of their clusters, in one pass."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from gitfleet.api.objects import ObjectKey
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_records import ClusterRolloutStatus, RollingState, RolloutRecord
from gitfleet.formats.sentences import counted
from gitfleet.model.calls import Call
from gitfleet.model.failures import Failures, Subject
from gitfleet.workload.cases import Advanced
from gitfleet.workload.conditions import message_of
from gitfleet.workload.finding import named_by, placement_of
from gitfleet.workload.lookup import Lookup, Request
from gitfleet.workload.nowhere import why_nowhere
from gitfleet.workload.on_cluster import Turn, on_cluster
from gitfleet.workload.phases import phase_of
from gitfleet.workload.records import record_of
from gitfleet.workload.texts import WorkloadText


@dataclass(frozen=True, slots=True, kw_only=True)
class Advance:
    """The records after the pass, the calls that are to be under way, when time alone changes something, and what waits
    by itself, or for a person, in a sentence each."""

    rollouts: Mapping[NamespacedName, RolloutRecord] = field(default_factory=dict)
    calls: tuple[Call, ...] = ()
    wake_at: datetime | None = None
    waiting: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    asking: frozenset[tuple[str, NamespacedName]] = frozenset()
    """The rollouts that wait for a person or a gate, each with its cluster."""


@dataclass(slots=True)
class _Found:
    """What a pass comes to."""

    lookup: Lookup
    calls: list[Call] = field(default_factory=list)
    wakes: list[datetime] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    asks: list[str] = field(default_factory=list)
    asking: set[tuple[str, NamespacedName]] = field(default_factory=set)


def advance_workloads(request: Request, failures: Failures) -> Advance:
    """One pass over all rollouts. One that fails, or a cluster of one, stays as it is, and is noted."""
    found, records = _Found(Lookup(request)), dict[NamespacedName, RolloutRecord]()
    for before in request.before.values():
        for status in before.clusters:
            found.lookup.claim(before, status)
    for key in sorted({*request.rollouts, *request.before}):
        subject, known = Subject("WorkloadRollout", str(key)), request.before.get(key)
        record = failures.contain(subject, known, _advance_one, key, found, failures)
        if record is not None:
            records[key] = record
    same = records.keys() == request.before.keys() and all(records[k] is one for k, one in request.before.items())
    return Advance(
        rollouts=request.before if same else records,
        calls=tuple(found.calls),
        wake_at=min(found.wakes, default=None),
        waiting=tuple(found.waiting),
        asks=tuple(found.asks),
        asking=frozenset(found.asking),
    )


def _advance_one(key: NamespacedName, found: _Found, failures: Failures) -> RolloutRecord | None:
    before, record = found.lookup.request.before.get(key), _record(key, found.lookup.request)
    if record is None:
        return None
    renewed = before is not None and (before.removing, before.rollout_plan) != (record.removing, record.rollout_plan)
    known, statuses, first = {one.cluster: one for one in record.clusters}, list[ClusterRolloutStatus](), ""
    moving, stopped = list[tuple[str, str]](), list[tuple[str, str]]()
    for name in _clusters_of(record, known, found.lookup):
        status, subject = (
            known.get(name) or ClusterRolloutStatus(cluster=name),
            Subject("WorkloadRollout", str(key), name),
        )
        turn, kept = Turn(first, renewed), Advanced(status=status)
        advanced = failures.contain(subject, kept, on_cluster, record, status, turn, found.lookup)
        if advanced is None:
            continue
        statuses.append(advanced.status)
        found.lookup.claim(record, advanced.status)
        found.calls += advanced.calls
        found.wakes += [advanced.wake_at] if advanced.wake_at is not None else []
        if advanced.asks or advanced.status.rolling_state is RollingState.FAILED:
            found.asking.add((name, key))
            stopped.append((name, advanced.waits or _ending(advanced.status)))
        elif advanced.waits:
            found.asking |= {(name, key)} if advanced.gated else set()
            moving.append((name, advanced.waits))
        if record.order == "sequential" and not first and not _is_through(advanced):
            first = WorkloadText.CLUSTER_COMES_FIRST(name=name)
    found.waiting += _sentences(key, moving)
    found.asks += _sentences(key, stopped)
    if record.removing and not statuses:
        return None
    if not statuses and (why := why_nowhere(record, found.lookup.request)):
        found.asks.append(f"rollout {key}: {why}")
    clusters = tuple(statuses)
    return record if clusters == record.clusters else replace(record, clusters=clusters)


def _record(key: NamespacedName, request: Request) -> RolloutRecord | None:
    """The record as the commit wants it, before anything moves."""
    wanted, before = request.rollouts.get(key), request.before.get(key)
    if wanted is not None:
        return record_of(wanted, before, request.templates, request.now)
    if before is None or before.removing or key in request.kept:
        return before
    return replace(before, removing=True)


def _sentences(key: NamespacedName, said: Iterable[tuple[str, str]]) -> Iterator[str]:
    """One sentence for a rollout, about the first of its clusters."""
    found = list(said)
    if found:
        more = f" (and {counted(len(found) - 1, 'more cluster')})" if len(found) > 1 else ""
        name, why = found[0]
        yield f"rollout {key} on {name}{more}: {why}"


def _ending(status: ClusterRolloutStatus) -> str:
    why = message_of(status, phase_of(status.rolling_state, status.batch_rolling_state))
    return WorkloadText.FAILED_CHANGE_TARGET(why=why or WorkloadText.SEE_CONDITIONS())


def _is_through(advanced: Advanced) -> bool:
    """Whether the next cluster may begin."""
    state = advanced.status.rolling_state
    return state is RollingState.SUCCEEDED or (state is RollingState.VERIFYING_SPEC and not advanced.waits)


def _clusters_of(record: RolloutRecord, known: Mapping[str, ClusterRolloutStatus], lookup: Lookup) -> list[str]:
    """The clusters that a rollout is about, and those that it was about, by name."""
    request, selector = lookup.request, record.clusters_selector
    names = {name for name in known if name in request.clusters}
    if record.removing:
        return sorted(names)
    placement, named = placement_of(record), named_by(record)
    for name, cluster in request.clusters.items():
        if selector is not None and not selector.matches(cluster.labels):
            continue
        placed = placement is not None and placement in lookup.wanted_on(name).snapshots
        if placed or _has(named, lookup, name):
            names.add(name)
    return sorted(names)


def _has(named: Collection[ObjectKey], lookup: Lookup, cluster: str) -> bool:
    """Whether a placement brings the target to a cluster, which is named first, or one of the workloads is there."""
    wanted, observation = lookup.wanted_on(cluster).manifests, lookup.request.observations.get(cluster)
    live = observation.live if observation is not None else {}
    return any(key.identity in wanted for key in list(named)[:1]) or any(live.get(key) is not None for key in named)
