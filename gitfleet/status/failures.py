"""What a failure says of itself: the condition of a placement or a cluster, or a fault where there is no status."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Final

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.conditions import Condition, Status, find_condition, set_condition
from gitfleet.api.faults import Fault
from gitfleet.api.objects import Origin
from gitfleet.model.desired import Desired
from gitfleet.model.failures import INTERNAL_ERROR, Failure, Failures, Subject
from gitfleet.model.state import FleetState, PlacementRecord, keep
from gitfleet.status.vocabulary import SCHEDULED, type_of

OBSERVED: Final = "Observed"
"""A member's condition that is there, and False, only while what was seen of it could not be taken in."""


def hold_placement(record: PlacementRecord, failure: Failure, now: datetime) -> PlacementRecord:
    """The record as it is, with Scheduled False; it is scheduled anew as soon as it can be decided again."""
    condition = Condition(
        type=type_of(record.placement.key, SCHEDULED),
        status=Status.FALSE,
        reason=INTERNAL_ERROR,
        message=f"the placement could not be decided and stays as it is: {failure.sentence}",
        last_transition_time=now,
        observed_generation=record.placement.generation,
    )
    return replace(record, conditions=set_condition(record.conditions, condition), schedule_key="")


def mark_cluster(
    cluster: MemberCluster, before: MemberCluster | None, failure: Failure | None, now: datetime
) -> MemberCluster:
    """The member with its condition Observed, or without it when nothing failed; `before` tells since when it stands.

    The very same value when nothing is to be said.
    """
    others = tuple(c for c in cluster.status.conditions if c.type != OBSERVED)
    if failure is None:
        if len(others) == len(cluster.status.conditions):
            return cluster
        return replace(cluster, status=replace(cluster.status, conditions=others))
    known = find_condition(before.status.conditions, OBSERVED) if before is not None else None
    condition = Condition(
        type=OBSERVED,
        status=Status.FALSE,
        reason=INTERNAL_ERROR,
        message=f"what was seen of the cluster could not be taken in: {failure.sentence}",
        last_transition_time=known.last_transition_time if known is not None else now,
        observed_generation=cluster.generation,
    )
    marked = replace(cluster, status=replace(cluster.status, conditions=(*others, condition)))
    return before if before is not None and marked == before else marked


def with_failures(state: FleetState, before: FleetState, failures: Failures, now: datetime) -> FleetState:
    """The state in which every placement and cluster that failed says so, and none that did not."""
    placements = dict(state.placements)
    for key, record in state.placements.items():
        failure = failures.of(Subject.of_placement(key))
        if failure is not None:
            placements[key] = keep(before.placements.get(key, record), hold_placement(record, failure, now))
    clusters: dict[str, MemberCluster] = {}
    for name, cluster in state.clusters.items():
        failure = failures.of(Subject("MemberCluster", name))
        clusters[name] = mark_cluster(cluster, before.clusters.get(name), failure, now)
    return replace(state, placements=placements, clusters=clusters)


def faults_of(failures: Failures, state: FleetState, wanted: Desired) -> tuple[Fault, ...]:
    """A fault for each failed object, override, placement or cluster of the commit that has no condition to say so.
    What failed on a member cluster is told by the binding."""
    told = {*map(Subject.of_placement, state.placements), *(Subject("MemberCluster", name) for name in state.clusters)}
    by_subject = {f.subject: f for f in failures.found if not f.subject.cluster and f.subject not in told}
    found = ((subject, origin) for subject, origin in _origins(wanted) if subject in by_subject) if by_subject else ()
    return tuple(
        Fault(
            origin.path if origin else "",
            origin.line if origin else 1,
            f"{subject.kind}/{subject.name}",
            "",
            f"it is left as it was: {by_subject[subject].sentence}",
        )
        for subject, origin in found
    )


def _origins(wanted: Desired) -> Iterator[tuple[Subject, Origin | None]]:
    for name, cluster in wanted.clusters.items():
        yield Subject("MemberCluster", name), cluster.origin
    for key, placement in wanted.placements.items():
        yield Subject.of_placement(key), placement.origin
    for override_key, override in wanted.overrides.items():
        yield Subject(override_key.kind, str(override_key)), override.origin
    for manifest in wanted.payload:
        yield Subject.of_object(manifest.key), manifest.origin
