"""No time of the state lies in the future: where the clock jumped back, what holds is taken to have begun at `now`.

Every wait (a soak time, an unavailable period, the time after which a cluster is left out or released) counts from such
a time. So it takes at most its own length after the jump, and ends. A clock that jumped ahead ends waits early, as
that looks like time that has passed; what was written meanwhile is corrected when the clock is put right.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Generic, TypeVar

from gitfleet.api.bindings import Binding, DivergedObject
from gitfleet.api.clusters import AgentStatus, ClusterStatus, MemberCluster
from gitfleet.api.conditions import Conditions
from gitfleet.api.holds import Hold
from gitfleet.api.placements import PlacementKey
from gitfleet.api.runs import RunRecord, StageStatus
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_records import ClusterRolloutStatus, RolloutRecord, WebhookStatus
from gitfleet.formats.times import EPOCH
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.state import FleetState, PlacementRecord

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
Diverged = TypeVar("Diverged", bound=DivergedObject)
Latest = tuple[V, datetime]
"""A value, and the latest of its times."""


@dataclass(frozen=True, slots=True)
class TimesMemo:
    """The latest time of each value of the state of the pass before."""

    placements: Mapping[PlacementKey, Latest[PlacementRecord]] = field(default_factory=dict)
    clusters: Mapping[str, Latest[MemberCluster]] = field(default_factory=dict)


def with_past_times(
    state: FleetState, now: datetime, memo: TimesMemo, failures: Failures
) -> tuple[FleetState, TimesMemo]:
    """The state with `now` in the place of every later time that something waits for; the very same where there is
    none. What cannot be read stays as it is."""
    placements = _Times(Subject.of_placement, _times_of_record, _record_until, now, failures)
    clusters = _Times(partial(Subject, "MemberCluster"), _times_of_cluster, _cluster_until, now, failures)
    past = replace(
        state,
        placements=placements.past(state.placements, memo.placements),
        clusters=clusters.past(state.clusters, memo.clusters),
        holds={
            name: failures.contain(Subject("Hold", name), one, _hold_until, one, now)
            for name, one in state.holds.items()
        },
        runs=runs_until(state.runs, now, failures),
        rollouts=rollouts_until(state.rollouts, now, failures),
    )
    known = TimesMemo(placements.latest, clusters.latest)
    same = past.placements is state.placements and past.clusters is state.clusters and past.holds == state.holds
    same = same and past.runs is state.runs and past.rollouts is state.rollouts
    return state if same else past, known


@dataclass(slots=True)
class _Times(Generic[K, V]):
    """The times of one kind of value. `latest` is filled with each value's latest one."""

    subject: Callable[[K], Subject]
    times: Callable[[V], Iterable[datetime]]
    until: Callable[[V, datetime], V]
    now: datetime
    failures: Failures
    latest: dict[K, Latest[V]] = field(default_factory=dict)

    def past(self, values: Mapping[K, V], known: Mapping[K, Latest[V]]) -> Mapping[K, V]:
        """The values without a later time; the very same mapping when none has one."""
        changed: dict[K, V] = {}
        for key, value in values.items():
            before = known.get(key)
            found = before if before is not None and before[0] is value else self._read(key, value)
            if found is not None and found[1] > self.now:
                changed[key] = self.until(value, self.now)
            elif found is not None:
                self.latest[key] = found
        return {**values, **changed} if changed else values

    def _read(self, key: K, value: V) -> Latest[V] | None:
        def read() -> Latest[V]:
            return value, max(self.times(value), default=EPOCH)

        return self.failures.contain(self.subject(key), None, read)


def runs_until(
    runs: Mapping[NamespacedName, RunRecord], now: datetime, failures: Failures
) -> Mapping[NamespacedName, RunRecord]:
    """The runs with `now` in the place of every later time; the very same where there is none. A finished run waits for
    nothing, one that cannot be read stays as it is."""
    past = {key: failures.contain(Subject.of_run(key), run, _run_until, run, now) for key, run in runs.items()}
    return runs if all(past[key] is run for key, run in runs.items()) else past


def rollouts_until(
    rollouts: Mapping[NamespacedName, RolloutRecord], now: datetime, failures: Failures
) -> Mapping[NamespacedName, RolloutRecord]:
    """The same for workload rollouts, cluster by cluster. `created` is a part of the keys of their calls and stays, and
    so does the moment of a measurement, for which it can be made again: after a later one the next is due at once."""
    past = {
        key: failures.contain(Subject("WorkloadRollout", str(key)), record, _rollout_until, record, now)
        for key, record in rollouts.items()
    }
    return rollouts if all(past[key] is record for key, record in rollouts.items()) else past


def _rollout_until(record: RolloutRecord, now: datetime) -> RolloutRecord:
    clusters = tuple(_progress_until(one, now) for one in record.clusters)
    return record if clusters == record.clusters else replace(record, clusters=clusters)


def _progress_until(status: ClusterRolloutStatus, now: datetime) -> ClusterRolloutStatus:
    if status.is_over:
        return status
    return replace(
        status,
        since=_until(status.since, now),
        batch_started=_until(status.batch_started, now),
        webhooks=tuple(_webhook_until(webhook, now) for webhook in status.webhooks),
        conditions=_conditions_until(status.conditions, now),
    )


def _webhook_until(webhook: WebhookStatus, now: datetime) -> WebhookStatus:
    """A pause lies in the future; one that began there is over."""
    if webhook.outcome or webhook.at is None or webhook.at <= now:
        return webhook
    return replace(webhook, at=now, not_before=_until(webhook.not_before, now))


def _hold_until(hold: Hold, now: datetime) -> Hold:
    return replace(hold, since=now) if hold.since > now else hold


def _run_until(run: RunRecord, now: datetime) -> RunRecord:
    if run.finished:
        return run
    status = run.status
    past = replace(
        run,
        created=min(run.created, now),
        status=replace(
            status,
            conditions=_conditions_until(status.conditions, now),
            stages=tuple(_stage_until(stage, now) for stage in status.stages),
            deletion=_stage_until(status.deletion, now) if status.deletion is not None else None,
        ),
    )
    return run if past == run else past


def _stage_until(stage: StageStatus, now: datetime) -> StageStatus:
    clusters = tuple(
        replace(c, conditions=_conditions_until(c.conditions, now), reverted=_until(c.reverted, now))
        for c in stage.clusters
    )
    return replace(
        stage,
        conditions=_conditions_until(stage.conditions, now),
        clusters=clusters,
        start_time=_until(stage.start_time, now),
        end_time=_until(stage.end_time, now),
    )


def _times_of_record(record: PlacementRecord) -> Iterable[datetime]:
    yield from _optional(record.placement.deleting)
    for condition in record.conditions:
        yield condition.last_transition_time
    for binding in record.bindings:
        yield from _optional(binding.deleting)
        for condition in binding.conditions:
            yield condition.last_transition_time
        for diverged in (*binding.drifted, *binding.diffed):
            yield diverged.observed


def _times_of_cluster(cluster: MemberCluster) -> Iterable[datetime]:
    status = cluster.status
    agent = status.agent or AgentStatus()
    yield from _optional(cluster.deleting, agent.last_received_heartbeat, status.resource_usage.observed)
    yield from _optional(*(value.observed for value in status.properties.values()))
    for condition in (*status.conditions, *agent.conditions):
        yield condition.last_transition_time


def _optional(*times: datetime | None) -> Iterable[datetime]:
    return (time for time in times if time is not None)


def _record_until(record: PlacementRecord, now: datetime) -> PlacementRecord:
    placement = record.placement
    if placement.deleting is not None and placement.deleting > now:
        placement = replace(placement, deleting=now)
    bindings = tuple(_binding_until(binding, now) for binding in record.bindings)
    return replace(record, placement=placement, conditions=_conditions_until(record.conditions, now), bindings=bindings)


def _binding_until(binding: Binding, now: datetime) -> Binding:
    past = replace(
        binding,
        deleting=_until(binding.deleting, now),
        conditions=_conditions_until(binding.conditions, now),
        drifted=tuple(_diverged_until(diverged, now) for diverged in binding.drifted),
        diffed=tuple(_diverged_until(diverged, now) for diverged in binding.diffed),
    )
    return binding if past == binding else past


def _diverged_until(diverged: Diverged, now: datetime) -> Diverged:
    return replace(diverged, observed=min(diverged.observed, now), first_observed=min(diverged.first_observed, now))


def _cluster_until(cluster: MemberCluster, now: datetime) -> MemberCluster:
    status = cluster.status
    past = replace(
        status,
        conditions=_conditions_until(status.conditions, now),
        properties={
            name: replace(value, observed=_until(value.observed, now)) for name, value in status.properties.items()
        },
        resource_usage=replace(status.resource_usage, observed=_until(status.resource_usage.observed, now)),
        agent=_agent_until(status, now),
    )
    return replace(cluster, deleting=_until(cluster.deleting, now), status=past)


def _agent_until(status: ClusterStatus, now: datetime) -> AgentStatus | None:
    agent = status.agent
    if agent is None:
        return None
    conditions = _conditions_until(agent.conditions, now)
    return replace(agent, conditions=conditions, last_received_heartbeat=_until(agent.last_received_heartbeat, now))


def _until(time: datetime | None, now: datetime) -> datetime | None:
    return min(time, now) if time is not None else None


def _conditions_until(conditions: Conditions, now: datetime) -> Conditions:
    return tuple(
        replace(condition, last_transition_time=now) if condition.last_transition_time > now else condition
        for condition in conditions
    )
