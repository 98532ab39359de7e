"""What was observed of a member's properties and resources, written no more often than is worth a commit.

What providers measured is written when it changed, each value at most once in a heartbeat period; new values, and what
does not change by itself (capacity, allocatable), at once. What a file says counts at once
(docs/decisions/0004-property-freshness.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from gitfleet.api.clusters import ClusterStatus, PropertyValue, ResourceUsage
from gitfleet.api.conditions import Status
from gitfleet.model.observations import ClusterObservation


def measured(
    status: ClusterStatus, observation: ClusterObservation, now: datetime, period_seconds: int
) -> ClusterStatus:
    """The status with the properties, resources, namespaces and server of one observation of a reachable cluster; equal
    to `status` when nothing is to be written. Where a provider failed, what is known and was not reported again
    stays."""
    period = timedelta(seconds=period_seconds) if observation.reported else timedelta(0)
    failed = any(reported.status is Status.FALSE for reported in observation.reported)
    if observation.properties or (observation.reported and not failed):
        reported = {n: _fresh(status.properties.get(n), v, now, period) for n, v in observation.properties.items()}
        kept = {**status.properties, **reported} if failed else reported
        status = replace(status, properties=dict(sorted(kept.items())))
    if observation.resource_usage is not None:
        usage = _completed(status.resource_usage, observation.resource_usage) if failed else observation.resource_usage
        status = replace(status, resource_usage=_fresh_usage(status.resource_usage, usage, now, period))
    if observation.namespaces is not None:
        status = replace(status, namespaces=dict(sorted(observation.namespaces.items())))
    if observation.server:
        status = replace(status, server=observation.server)
    return status


def _fresh(old: PropertyValue | None, new: PropertyValue, now: datetime, period: timedelta) -> PropertyValue:
    seen = new.observed or now
    if old is not None and (old.value == new.value or _is_fresh(old.observed, seen, period)):
        return old
    return PropertyValue(new.value, seen)


def _fresh_usage(old: ResourceUsage, new: ResourceUsage, now: datetime, period: timedelta) -> ResourceUsage:
    seen = new.observed or now
    steady = _amounts(old.capacity, old.allocatable) == _amounts(new.capacity, new.allocatable)
    if steady and (dict(old.available) == dict(new.available) or _is_fresh(old.observed, seen, period)):
        return old
    return replace(new, observed=seen)


def _completed(old: ResourceUsage, new: ResourceUsage) -> ResourceUsage:
    return replace(
        new,
        capacity={**old.capacity, **new.capacity},
        allocatable={**old.allocatable, **new.allocatable},
        available={**old.available, **new.available},
    )


def _is_fresh(observed: datetime | None, seen: datetime, period: timedelta) -> bool:
    return observed is not None and seen - observed < period


def _amounts(*quantities: Mapping[str, str]) -> list[dict[str, str]]:
    return [dict(one) for one in quantities]
