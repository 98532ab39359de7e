"""schedule: each placement's clusters, with score and reason for every cluster, chosen or refused.

    request_for(record, now) -> SchedulingRequest          the request, from what is known of a placement
    index_fleet(clusters, now, previous) -> FleetIndex     built once a reconcile (incrementally), shared by all
    placements
    profile_from(plugins, available) -> Profile, faults    which plug-ins take part (plugins.py lists the stages)
    schedule(request, fleet, profile) -> SchedulingResult  one placement, to the end of its chain of cycles
    schedule_key(request, fleet) -> str                    while it stays the same, scheduling again changes nothing
    explain(request, fleet, profile) -> ClusterVerdict...  every cluster: chosen or by whom refused, and the remedy
    common_reason(decision) -> str                         why a cluster is not picked, without its name
    without_namespace(request, fleet, profile) -> names    the clusters that are refused as they lack the namespace

Source: kubefleet.md §2; decisions D4, D5, D27.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import assert_never

from gitfleet.api.placements import PlacementType
from gitfleet.errors import GiveUp
from gitfleet.model.failures import Failure, Subject, attempt
from gitfleet.model.scheduling import ClusterVerdict, SchedulingRequest, SchedulingResult
from gitfleet.model.state import PlacementRecord
from gitfleet.schedule.admission import NamespaceAffinity
from gitfleet.schedule.builtin import BUILT_IN
from gitfleet.schedule.cluster_set import ClusterSet
from gitfleet.schedule.decisions import common_reason
from gitfleet.schedule.explain import explain_clusters
from gitfleet.schedule.fleet import EVERYTHING, Fact, FleetIndex, Unschedulable, index_fleet
from gitfleet.schedule.keys import BindingDigests, schedule_key
from gitfleet.schedule.pick import Run, pick_all, pick_fixed, pick_n
from gitfleet.schedule.plugins import (
    Cycle,
    FleetRefusal,
    PluginFactory,
    Refusal,
    SchedulerPlugin,
    Score,
    stages_of,
    usable,
)
from gitfleet.schedule.profile import DEFAULT_PROFILE, Profile, profile_for, profile_from
from gitfleet.schedule.stages import Stages, failure_of

__all__ = [
    "BUILT_IN",
    "DEFAULT_PROFILE",
    "EVERYTHING",
    "BindingDigests",
    "ClusterSet",
    "Cycle",
    "Fact",
    "FleetIndex",
    "FleetRefusal",
    "PluginFactory",
    "Profile",
    "Refusal",
    "SchedulerPlugin",
    "Score",
    "Unschedulable",
    "common_reason",
    "explain",
    "index_fleet",
    "profile_for",
    "profile_from",
    "request_for",
    "schedule",
    "schedule_key",
    "stages_of",
    "usable",
    "without_namespace",
]


def request_for(record: PlacementRecord, now: datetime) -> SchedulingRequest:
    """The request for a record whose policy snapshots are up to date; the policy is the latest snapshot's, with the
    number of clusters that scaling wrote on it."""
    latest = record.latest_policy
    policy = record.placement.effective_policy if latest is None else latest.policy
    if latest is not None:
        policy = replace(policy, number_of_clusters=latest.number_of_clusters)
    return SchedulingRequest(
        placement=record.placement.key,
        policy=policy,
        policy_snapshot=latest.name if latest else "",
        bindings=record.bindings,
        now=now,
    )


def schedule(request: SchedulingRequest, fleet: FleetIndex, profile: Profile = DEFAULT_PROFILE) -> SchedulingResult:
    """The placement's bindings as they are to be, with decisions and the Scheduled condition.

    Nothing that is held is ever taken away because a cluster changed; only a new policy, fewer clusters wanted or a
    cluster that left do that. Bindings that do not change are the same objects, and the same tuple when none does.
    Whatever a plug-in raises, or an unparsable property, makes a result with `error` and the bindings as they were; a
    plug-in that does not return cannot be interrupted from here.
    """
    if profile.fault is not None:
        return SchedulingResult(bindings=request.bindings, error=profile.fault, wake_at=fleet.wake_at)
    stages = Stages(profile)
    result = attempt(Subject.of_placement(request.placement), _pick, Run(request, fleet, stages, {}))
    if isinstance(result, Failure):
        sentence = failure_of(stages, result)
        if sentence is None:
            raise result.cause or GiveUp(result.sentence)
        return SchedulingResult(bindings=request.bindings, error=sentence, wake_at=fleet.wake_at)
    return replace(result, wake_at=fleet.wake_at)


def _pick(run: Run) -> SchedulingResult:
    match run.request.policy.placement_type:
        case PlacementType.PICK_ALL:
            return pick_all(run)
        case PlacementType.PICK_N:
            return pick_n(run)
        case PlacementType.PICK_FIXED:
            return pick_fixed(run)
        case other:
            assert_never(other)


def explain(
    request: SchedulingRequest, fleet: FleetIndex, profile: Profile = DEFAULT_PROFILE
) -> tuple[ClusterVerdict, ...]:
    """A verdict on every cluster: chosen, outscored, or refused and by which plug-in; with scores and a remedy."""
    return explain_clusters(request, schedule(request, fleet, profile), fleet, profile)


def without_namespace(request: SchedulingRequest, fleet: FleetIndex, profile: Profile) -> frozenset[str]:
    """The clusters that are refused as they lack the namespace of a ResourcePlacement."""
    verdicts = explain(request, fleet, profile)
    return frozenset(verdict.cluster for verdict in verdicts if verdict.refused_by == NamespaceAffinity.name)
