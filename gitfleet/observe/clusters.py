"""What one observation of a cluster means for the member: joined, healthy, heartbeat, properties.

gitfleet stands in for KubeFleet's member agent. An answering API server is a heartbeat; so that an unchanged fleet
makes no commit, the heartbeat is written only when a condition becomes another status. What providers measured is
written when it changed, each value at most once in a heartbeat period; new values, and what does not change by itself
(capacity, allocatable), at once. What a file says counts at once (docs/decisions/0004-property-freshness.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from gitfleet.api.clusters import SERVER, AgentStatus, ClusterStatus, MemberCluster, PropertyValue, ResourceUsage
from gitfleet.api.conditions import (
    Condition,
    Conditions,
    MemberConditionType,
    Reason,
    Status,
    find_condition,
    set_condition,
)
from gitfleet.api.faults import Fault
from gitfleet.api.strategies import DeletePropagation
from gitfleet.model.observations import ClusterObservation, ReportedCondition
from gitfleet.observe.texts import ObserveText


def _condition(type_: MemberConditionType, status: Status, reason: Reason, message: str) -> ReportedCondition:
    return ReportedCondition(type_.value, status, reason.value, message)


_READY: Final = _condition(
    MemberConditionType.READY_TO_JOIN,
    Status.TRUE,
    Reason.MEMBER_CLUSTER_READY_TO_JOIN,
    ObserveText.MEMBER_CLUSTER_READY_JOIN(),
)
_REACHABLE: Final = ObserveText.API_SERVER_ANSWERS()
_DIGITS: Final = re.compile("[0-9]+")
_JOINED: Final = _condition(MemberConditionType.JOINED, Status.TRUE, Reason.MEMBER_CLUSTER_JOINED, _REACHABLE)
_AGENT_JOINED: Final = _condition(MemberConditionType.JOINED, Status.TRUE, Reason.AGENT_JOINED, _REACHABLE)
_AGENT_HEALTHY: Final = _condition(
    MemberConditionType.HEALTHY, Status.TRUE, Reason.AGENT_HEALTHY, ObserveText.API_SERVER_READY()
)


def observe_cluster(cluster: MemberCluster, observation: ClusterObservation, now: datetime) -> MemberCluster:
    """The member with its status after one observation; the very same value when nothing changed."""
    before = cluster.status
    agent = _agent(cluster, observation, now)
    reported: tuple[ReportedCondition, ...] = ()
    if observation.reachable:
        reported = (_READY, _JOINED, *observation.reported)
    elif _is_news(
        before.conditions,
        MemberConditionType.JOINED,
        message := _why(observation, ObserveText.CLUSTER_NOT_ANSWERED_YET),
    ):
        reported = (_condition(MemberConditionType.JOINED, Status.UNKNOWN, Reason.CLUSTER_UNREACHABLE, message),)
    conditions = _with(before.conditions, cluster, now, reported)
    status = replace(before, conditions=conditions, agent=agent)
    if observation.reachable:
        status = measured(status, observation, now, cluster.heartbeat_period_seconds)
    return cluster if status == before else replace(cluster, status=status)


def _agent(cluster: MemberCluster, observation: ClusterObservation, now: datetime) -> AgentStatus:
    before = cluster.status.agent or AgentStatus()
    heartbeat: datetime | None = observation.observed or now
    if observation.reachable:
        why = observation.error or ObserveText.API_SERVER_ANSWERS_SAYS_NOT()
        unhealthy = _condition(MemberConditionType.HEALTHY, Status.FALSE, Reason.AGENT_UNHEALTHY, why)
        reported = [_AGENT_JOINED, _AGENT_HEALTHY if observation.healthy else unhealthy]
    else:
        reported = []
        why = _why(observation, ObserveText.CLUSTER_NOT_ANSWER_2)
        healthy = find_condition(before.conditions, MemberConditionType.HEALTHY)
        if _is_news(before.conditions, MemberConditionType.JOINED, why):
            reported.append(_condition(MemberConditionType.JOINED, Status.UNKNOWN, Reason.CLUSTER_UNREACHABLE, why))
        if _is_news(before.conditions, MemberConditionType.HEALTHY, why, always=True):
            reported.append(_condition(MemberConditionType.HEALTHY, Status.UNKNOWN, Reason.CLUSTER_UNREACHABLE, why))
        if healthy is None:
            heartbeat = None  # one that answered did so until now; this one never did
    conditions = _with(before.conditions, cluster, now, reported)
    if conditions == before.conditions:
        return before
    if before.conditions and _transitions(conditions) == _transitions(before.conditions):
        # Only the generation or a sentence is new: a later heartbeat would look like that of an agent that sends them
        # all the time, and the cluster like one that has stopped to.
        heartbeat = before.last_received_heartbeat
    return replace(before, conditions=conditions, last_received_heartbeat=heartbeat)


def _why(observation: ClusterObservation, silent: ObserveText) -> str:
    """Why nothing is known of a cluster: it is not used, or is silent."""
    if observation.refused is not None:
        return observation.error
    return silent(cluster=observation.cluster, error=observation.error)


def _is_news(conditions: Conditions, type_: MemberConditionType, message: str, *, always: bool = False) -> bool:
    """Whether a condition of an unreachable cluster is to be set: there is none, it says another cause, or (`always`)
    it says that the cluster answers. Numbers in a sentence (seconds, ports, bytes) are no other cause: they would make
    a commit of every pass in which a cluster stays away."""
    old = find_condition(conditions, type_)
    if old is None or old.reason != Reason.CLUSTER_UNREACHABLE:
        return old is None or always
    return is_other_cause(old.message, message)


def is_other_cause(previous: str, message: str) -> bool:
    """Whether a sentence on a silent cluster says another cause than the one that is known."""
    return _DIGITS.sub("", previous) != _DIGITS.sub("", message)


def _transitions(conditions: Conditions) -> set[datetime]:
    return {condition.last_transition_time for condition in conditions}


def _with(
    conditions: Conditions, cluster: MemberCluster, now: datetime, reported: Iterable[ReportedCondition]
) -> Conditions:
    for condition in reported:
        new = Condition(
            type=condition.type,
            status=condition.status,
            reason=condition.reason,
            message=condition.message,
            last_transition_time=now,
            observed_generation=cluster.generation,
        )
        conditions = set_condition(conditions, new)
    return conditions


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
        properties = {**status.properties, **reported} if failed else reported
        status = replace(status, properties=dict(sorted(properties.items())))
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
    steady = (old.capacity, old.allocatable) == (new.capacity, new.allocatable)
    if steady and (old.available == new.available or _is_fresh(old.observed, seen, period)):
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


def usable(
    accepted: Mapping[str, MemberCluster], observations: Mapping[str, ClusterObservation]
) -> dict[str, ClusterObservation]:
    """The observations, where a member whose server another one has, or whose server is not the one that it had, counts
    as not reachable. The member that had the server first keeps it; of two new ones, one that gitfleet reaches itself
    (an agent may say what it likes), then the first by name."""
    holders: dict[str, str] = {}
    for name, cluster in sorted(accepted.items()):
        if cluster.deleting is None and cluster.status.server:
            holders.setdefault(cluster.status.server, name)
    used = dict(observations)
    for name, cluster in sorted(accepted.items(), key=lambda item: (item[1].is_pulled, item[0])):
        observation, before = observations.get(name), cluster.status.server
        if observation is None or not observation.server:
            continue
        server = observation.server
        if before not in ("", server) and cluster.annotations.get(SERVER) != server:
            why = ObserveText.API_SERVER_CHANGED(cluster=name, before=before, server=server, annotation=SERVER)
            used[name] = _refused(observation, name, why)
        elif cluster.deleting is None and (holder := holders.setdefault(server, name)) != name:
            why = ObserveText.SAME_API_SERVER(cluster=name, holder=holder, server=server)
            used[name] = _refused(observation, holder, why)
    return used


def _refused(observation: ClusterObservation, holder: str, why: str) -> ClusterObservation:
    return ClusterObservation(
        cluster=observation.cluster, reachable=False, error=why, observed=observation.observed, refused=holder
    )


def server_faults(
    written: Mapping[str, MemberCluster], observations: Mapping[str, ClusterObservation]
) -> tuple[Fault, ...]:
    """An error for each member that is not used, unless it only waits until another one has left the fleet."""
    faults: list[Fault] = []
    for name, cluster in written.items():
        observation = observations.get(name)
        if observation is not None and observation.refused in written and cluster.origin is not None:
            place = cluster.origin.path, cluster.origin.line
            faults.append(Fault(*place, f"MemberCluster/{name}", "spec.connection", observation.error))
    return tuple(faults)


def with_kept_objects(clusters: dict[str, MemberCluster]) -> dict[str, MemberCluster]:
    """The members, of which one that leaves deletes nothing where another one stays that has the same server: it was
    renamed, and the other one takes over what is there. What an agent says of its server counts for itself alone."""
    if all(cluster.deleting is None for cluster in clusters.values()):
        return clusters
    stay = (cluster for cluster in clusters.values() if cluster.deleting is None and not cluster.is_pulled)
    staying = {cluster.status.server for cluster in stay} - {""}
    return {
        name: replace(cluster, delete_propagation_policy=DeletePropagation.ABANDON)
        if cluster.deleting is not None and cluster.status.server in staying
        else cluster
        for name, cluster in clusters.items()
    }
