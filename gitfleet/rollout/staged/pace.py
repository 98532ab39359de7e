"""How fast a stage goes on: how long a cluster must stay healthy before it counts, and how many start within a minute.

Both count from what the run's status records, so that a restart makes no wait longer or shorter (decisions D12, D24).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from gitfleet.api.bindings import Binding
from gitfleet.api.conditions import ConditionType, Status, find_condition
from gitfleet.api.runs import ClusterUpdate, RunConditionType, RunReason, StageStatus
from gitfleet.api.staged import Stage
from gitfleet.rollout.staged.phases import Mark, with_condition

_MINUTE: Final = timedelta(minutes=1)
_HEALTHY: Final = Mark(RunConditionType.SOAKING, Status.TRUE, RunReason.CLUSTER_HEALTHY)
_NOT_HEALTHY: Final = Mark(RunConditionType.SOAKING, Status.FALSE, RunReason.CLUSTER_NOT_HEALTHY)


def observed_healthy(cluster: ClusterUpdate, binding: Binding, now: datetime) -> ClusterUpdate:
    """The cluster with the moment recorded from which it has been healthy with what the run gives it: `now` at the
    first observation, or earlier where the binding says when it became available after its rollout had started."""
    started = find_condition(binding.conditions, ConditionType.ROLLOUT_STARTED, generation=binding.generation)
    available = find_condition(binding.conditions, ConditionType.AVAILABLE, generation=binding.generation)
    since = now
    # A status that was the same before the rollout keeps its time: when it was first observed after it is not known.
    if started is not None and available is not None and available.last_transition_time > started.last_transition_time:
        since = available.last_transition_time
    return replace(cluster, conditions=with_condition(cluster.conditions, _HEALTHY, since))


def observed_unhealthy(cluster: ClusterUpdate, now: datetime) -> ClusterUpdate:
    """The cluster whose soak, if it had begun, begins again once it is healthy."""
    if soaking_since(cluster) is None:
        return cluster
    return replace(cluster, conditions=with_condition(cluster.conditions, _NOT_HEALTHY, now))


def soaking_since(cluster: ClusterUpdate) -> datetime | None:
    """Since when the cluster has been healthy; None while it is not."""
    condition = find_condition(cluster.conditions, RunConditionType.SOAKING)
    return condition.last_transition_time if condition is not None and condition.status is Status.TRUE else None


def soaks_until(spec: Stage, cluster: ClusterUpdate) -> datetime | None:
    """When a cluster that is healthy has been so for `minSoak`; None where nothing soaks."""
    since = soaking_since(cluster)
    return since + timedelta(seconds=spec.min_soak) if since is not None and spec.min_soak is not None else None


def started_at(cluster: ClusterUpdate) -> datetime | None:
    """When a cluster started to be updated; None while it has not."""
    condition = find_condition(cluster.conditions, RunConditionType.STARTED)
    return condition.last_transition_time if condition is not None else None


def timed_end(stage: StageStatus, seconds: float, now: datetime) -> datetime:
    """When a timed wait is over that counts from the recorded moment at which the stage began to wait."""
    return waiting_since(stage, now) + timedelta(seconds=seconds)


def waiting_since(stage: StageStatus, now: datetime) -> datetime:
    """The recorded moment at which the stage began to wait."""
    waiting = find_condition(stage.conditions, RunConditionType.PROGRESSING)
    return waiting.last_transition_time if waiting is not None else now


def next_start(spec: Stage, starts: Iterable[datetime | None], now: datetime) -> datetime | None:
    """When the next cluster may start by `startRate`, after those that started at these moments; None for at once."""
    if spec.start_rate is None:
        return None
    recent = sorted(start for start in starts if start is not None and start > now - _MINUTE)
    return recent[-spec.start_rate] + _MINUTE if len(recent) >= spec.start_rate else None
