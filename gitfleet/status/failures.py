"""What a failure says of itself: the condition of a placement or a cluster, or a fault where there is no status."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Final

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.conditions import Condition, Conditions, Reason, Status, find_condition, set_condition, type_of
from gitfleet.api.faults import Fault
from gitfleet.api.objects import Origin
from gitfleet.model.desired import Desired
from gitfleet.model.failures import Failure, Failures, Subject
from gitfleet.model.state import FleetState, PlacementRecord, keep
from gitfleet.status.vocabulary import SCHEDULED

OBSERVED: Final = "Observed"
"""A member's condition that is there, and False, only while what was seen of it could not be taken in."""
SETTLED: Final = "Settled"
"""The same of a placement or a member, while what was performed for it could not be taken in. Each step sets and drops
its own condition alone, so that a failure that lasts makes one commit and not one a step."""


def with_failures(state: FleetState, before: FleetState, failures: Failures, now: datetime) -> FleetState:
    """The decided state in which every placement and cluster that failed says so, and no other; `before` is the state
    that was decided on."""
    placements = dict(state.placements)
    for key, record in state.placements.items():
        failure = failures.of(Subject.of_placement(key))
        if failure is not None:
            placements[key] = keep(before.placements.get(key, record), _held(record, failure, now))
    clusters = {
        name: _marked_cluster(cluster, before.clusters.get(name), OBSERVED, failures, now)
        for name, cluster in state.clusters.items()
    }
    return replace(state, placements=placements, clusters=clusters)


def with_unsettled(state: FleetState, before: FleetState, failures: Failures, now: datetime) -> FleetState:
    """The settled state in which every placement and cluster that could not be settled says so, and no other."""
    placements = dict(state.placements)
    for key, record in state.placements.items():
        type_ = type_of(key.kind, SETTLED)
        failure, generation = failures.of(Subject.of_placement(key)), record.placement.generation
        known = find_condition(before.placements[key].conditions, type_) if key in before.placements else None
        conditions = _marked(record.conditions, type_, known, failure, generation, now)
        if conditions is not record.conditions:
            placements[key] = keep(before.placements.get(key, record), replace(record, conditions=conditions))
    clusters = {
        name: _marked_cluster(cluster, before.clusters.get(name), SETTLED, failures, now)
        for name, cluster in state.clusters.items()
    }
    return replace(state, placements=placements, clusters=clusters)


def _held(record: PlacementRecord, failure: Failure, now: datetime) -> PlacementRecord:
    """The record as it is, with Scheduled False; it is scheduled again as soon as it can be decided again."""
    condition = Condition(
        type=type_of(record.placement.key.kind, SCHEDULED),
        status=Status.FALSE,
        reason=Reason.INTERNAL_ERROR.value,
        message=f"the placement could not be decided and stays as it is: {failure.sentence}",
        last_transition_time=now,
        observed_generation=record.placement.generation,
    )
    return replace(record, conditions=set_condition(record.conditions, condition), schedule_key="")


def _marked_cluster(
    cluster: MemberCluster, before: MemberCluster | None, type_: str, failures: Failures, now: datetime
) -> MemberCluster:
    failure = failures.of(Subject("MemberCluster", cluster.name))
    known = find_condition(before.status.conditions, type_) if before is not None else None
    conditions = _marked(cluster.status.conditions, type_, known, failure, cluster.generation, now)
    if conditions is cluster.status.conditions:
        return cluster
    marked = replace(cluster, status=replace(cluster.status, conditions=conditions))
    return before if before is not None and marked == before else marked


def _marked(
    conditions: Conditions,
    type_: str,
    known: Condition | None,
    failure: Failure | None,
    generation: int,
    now: datetime,
) -> Conditions:
    """The conditions with one of the type that is False, since `known` stands, or (nothing failed) without any; the
    very same tuple when nothing is to be changed."""
    others = tuple(c for c in conditions if c.type != type_)
    if failure is None:
        return conditions if len(others) == len(conditions) else others
    condition = Condition(
        type=type_,
        status=Status.FALSE,
        reason=Reason.INTERNAL_ERROR.value,
        message=f"what was seen or done could not be taken in: {failure.sentence}",
        last_transition_time=known.last_transition_time if known is not None else now,
        observed_generation=generation,
    )
    return (*others, condition)


def faults_of(failures: Failures, state: FleetState, wanted: Desired) -> tuple[Fault, ...]:
    """A fault for each failed object, override, placement or cluster of the commit that has no condition to say so.
    What failed on a member cluster is in the binding."""
    reported = {
        *map(Subject.of_placement, state.placements),
        *(Subject("MemberCluster", name) for name in state.clusters),
    }
    by_subject = {f.subject: f for f in failures.found if not f.subject.cluster and f.subject not in reported}
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
