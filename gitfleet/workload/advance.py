"""All rollouts, on all of their clusters, in one pass."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from gitfleet.api.objects import ObjectKey
from gitfleet.api.rollout_plans import RolloutOrder
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_records import ClusterRolloutStatus, RollingState, RolloutRecord
from gitfleet.formats.sentences import counted
from gitfleet.model.calls import Call
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.rolling import wait_for
from gitfleet.workload.cases import Advanced
from gitfleet.workload.finding import named_by, placement_of
from gitfleet.workload.lookup import Lookup, Request, record_of
from gitfleet.workload.on_cluster import on_cluster
from gitfleet.workload.seam import Advance
from gitfleet.workload.texts import WorkloadText


@dataclass(slots=True)
class _Result:
    """What a pass comes to."""

    lookup: Lookup
    calls: list[Call] = field(default_factory=list)
    wakes: list[datetime | None] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    asks: list[str] = field(default_factory=list)
    asking: set[tuple[str, NamespacedName]] = field(default_factory=set)


def advance_workloads(request: Request, failures: Failures) -> Advance:
    """One pass over all rollouts. One that fails, or a cluster of one, stays as it is, and is noted."""
    result, records = _Result(Lookup(request)), dict[NamespacedName, RolloutRecord]()
    previous = request.state.rollouts
    for before in previous.values():
        for status in before.clusters:
            result.lookup.claim(before, status)
    for key in sorted({*request.inputs.desired.rollouts, *previous}):
        subject = Subject("WorkloadRollout", str(key))
        record = failures.contain(subject, previous.get(key), _advance_one, key, result, failures)
        if record is not None:
            records[key] = record
    return Advance(
        rollouts=previous if records == previous else records,
        calls=tuple(result.calls),
        wake_at=min(filter(None, result.wakes), default=None),
        waiting=tuple(result.waiting),
        asks=tuple(result.asks),
        asking=frozenset(result.asking),
    )


def _advance_one(key: NamespacedName, result: _Result, failures: Failures) -> RolloutRecord | None:
    before, record = result.lookup.request.state.rollouts.get(key), _record(key, result.lookup.request)
    if record is None:
        return None
    renewed = before is not None and (before.removing, before.rollout_plan) != (record.removing, record.rollout_plan)
    previous, statuses, first = {status.cluster: status for status in record.clusters}, list[ClusterRolloutStatus](), ""
    first_stopped = False
    moving, stopped = list[tuple[str, str]](), list[tuple[str, str]]()
    for name in _clusters_of(record, previous, result.lookup):
        subject = Subject("WorkloadRollout", str(key), name)
        status = previous.get(name, ClusterRolloutStatus(cluster=name))
        at = (record, status, first, renewed, result.lookup)
        advanced = failures.contain(subject, Advanced(status=status), on_cluster, *at)
        if advanced is None:
            continue
        statuses.append(advanced.status)
        result.lookup.claim(record, advanced.status)
        result.calls += advanced.calls
        result.wakes.append(advanced.wake_at)
        is_stopped = advanced.asks or advanced.status.rolling_state is RollingState.FAILED
        is_behind = first_stopped and advanced.waits == first
        if is_stopped or is_behind or advanced.gated:
            result.asking.add((name, key))
        if is_stopped:
            stopped.append((name, advanced.waits or _ending(advanced.status)))
        elif advanced.waits and not is_behind:
            moving.append((name, advanced.waits))
        if record.order is RolloutOrder.SEQUENTIAL and not first and not _is_through(advanced):
            first, first_stopped = WorkloadText.CLUSTER_COMES_FIRST(name=name), (name, key) in result.asking
    result.waiting += _sentences(key, moving)
    result.asks += _sentences(key, stopped)
    if record.removing and not statuses:
        return None
    clusters = tuple(statuses)
    return record if clusters == record.clusters else replace(record, clusters=clusters)


def _record(key: NamespacedName, request: Request) -> RolloutRecord | None:
    """The record as the commit wants it, before anything moves."""
    rollout, before = request.inputs.desired.rollouts.get(key), request.state.rollouts.get(key)
    if rollout is not None:
        return record_of(rollout, before, request.inputs.desired.metric_templates, request.inputs.now)
    if before is None or before.removing or request.inputs.desired.refused:
        return before
    return replace(before, removing=True)


def _sentences(key: NamespacedName, waits: Iterable[tuple[str, str]]) -> Iterator[str]:
    """One sentence for a rollout, about the first of its clusters."""
    listed = list(waits)
    if listed:
        more = f" (and {counted(len(listed) - 1, 'more cluster')})" if len(listed) > 1 else ""
        name, why = listed[0]
        yield wait_for(why, f"rollout {key} on {name}{more}: {why}")


def _ending(status: ClusterRolloutStatus) -> str:
    return WorkloadText.FAILED_CHANGE_TARGET(why=status.message)


def _is_through(advanced: Advanced) -> bool:
    """Whether the next cluster may begin."""
    state = advanced.status.rolling_state
    return state is RollingState.SUCCEEDED or (state is RollingState.VERIFYING_SPEC and not advanced.waits)


def _clusters_of(record: RolloutRecord, previous: Mapping[str, ClusterRolloutStatus], lookup: Lookup) -> list[str]:
    """The clusters that a rollout is about, and those that it was about, by name."""
    request, selector = lookup.request, record.clusters_selector
    names = {name for name in previous if name in request.state.clusters}
    if record.removing:
        return sorted(names)
    placement, named = placement_of(record), named_by(record)
    for name, cluster in request.state.clusters.items():
        if selector is not None and not selector.matches(cluster.labels):
            continue
        placed = placement is not None and placement in lookup.placed_on(name).snapshots
        if placed or _has(named, lookup, name):
            names.add(name)
    return sorted(names)


def _has(named: Collection[ObjectKey], lookup: Lookup, cluster: str) -> bool:
    """Whether a placement brings the target to a cluster, which is named first, or one of the workloads is there."""
    manifests, observation = lookup.placed_on(cluster).manifests, lookup.request.inputs.observations.get(cluster)
    live = observation.live if observation is not None else {}
    return any(key.identity in manifests for key in list(named)[:1]) or any(live.get(key) is not None for key in named)
