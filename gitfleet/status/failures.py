"""What a failure says of itself: the condition of a placement or a cluster, or a fault where there is no status."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import Final, TypeAlias

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.conditions import Condition, Conditions, Reason, Status, find_condition, set_condition, type_of
from gitfleet.api.faults import Fault
from gitfleet.api.objects import Manifest
from gitfleet.api.overrides import Override
from gitfleet.api.placements import Placement
from gitfleet.api.staged import StagedRun
from gitfleet.model.desired import Desired
from gitfleet.model.failures import Failure, Failures, Subject
from gitfleet.model.state import FleetState, PlacementRecord, keep
from gitfleet.status.texts import StatusText
from gitfleet.status.vocabulary import SCHEDULED


class TakenIn(StrEnum):
    """A condition of a member or a placement that is there, and False, only while what was seen of it (`OBSERVED`) or
    done for it (`SETTLED`) could not be taken in. Each step sets and drops its own condition alone, so that a failure
    that lasts makes one commit and not one a step."""

    OBSERVED = "Observed"
    SETTLED = "Settled"


_FAULTS: Final = Subject("Faults", "")
"""Stands for an object of which not even its name can be said."""
_Written: TypeAlias = MemberCluster | Placement | Override | StagedRun | Manifest


def with_failures(state: FleetState, before: FleetState, failures: Failures, now: datetime) -> FleetState:
    """The decided state in which every placement and cluster that failed says so, and no other; `before` is the state
    that was decided on."""
    placements = dict(state.placements)
    for key, record in state.placements.items():
        subject = Subject.of_placement(key)
        failure = failures.of(subject)
        if failure is not None:
            old = before.placements.get(key, record)
            placements[key] = failures.contain(subject, record, _failed, old, record, failure, now)
    return replace(
        state, placements=placements, clusters=_marked_clusters(state, before, TakenIn.OBSERVED, failures, now)
    )


def _failed(old: PlacementRecord, record: PlacementRecord, failure: Failure, now: datetime) -> PlacementRecord:
    return keep(old, _held(record, failure, now))


def _marked_clusters(
    state: FleetState, before: FleetState, type_: TakenIn, failures: Failures, now: datetime
) -> dict[str, MemberCluster]:
    """Every cluster with its condition; one of which it cannot be said stays as it is, and that is noted."""
    marked: dict[str, MemberCluster] = {}
    for name, cluster in state.clusters.items():
        subject = Subject("MemberCluster", name)
        old, failure = before.clusters.get(name), failures.of(subject)
        marked[name] = failures.contain(subject, cluster, _marked_cluster, cluster, old, type_, failure, now)
    return marked


def with_unsettled(state: FleetState, before: FleetState, failures: Failures, now: datetime) -> FleetState:
    """The settled state in which every placement and cluster that could not be settled says so, and no other."""
    placements = dict(state.placements)
    for key, record in state.placements.items():
        subject = Subject.of_placement(key)
        old, failure = before.placements.get(key), failures.of(subject)
        placements[key] = failures.contain(subject, record, _unsettled, record, old, failure, now)
    return replace(
        state, placements=placements, clusters=_marked_clusters(state, before, TakenIn.SETTLED, failures, now)
    )


def _unsettled(
    record: PlacementRecord, old: PlacementRecord | None, failure: Failure | None, now: datetime
) -> PlacementRecord:
    type_ = type_of(record.placement.key.kind, TakenIn.SETTLED)
    known = find_condition(old.conditions, type_) if old is not None else None
    conditions = _marked(record.conditions, type_, known, failure, record.placement.generation, now)
    return record if conditions is record.conditions else keep(old or record, replace(record, conditions=conditions))


def _held(record: PlacementRecord, failure: Failure, now: datetime) -> PlacementRecord:
    """The record as it is, with Scheduled False; it is scheduled again as soon as it can be decided again."""
    condition = Condition(
        type=type_of(record.placement.key.kind, SCHEDULED),
        status=Status.FALSE,
        reason=Reason.INTERNAL_ERROR.value,
        message=StatusText.PLACEMENT_COULD_NOT_DECIDED_STAYS(sentence=failure.sentence),
        last_transition_time=now,
        observed_generation=record.placement.generation,
    )
    return replace(record, conditions=set_condition(record.conditions, condition), schedule_key="")


def _marked_cluster(
    cluster: MemberCluster, before: MemberCluster | None, type_: TakenIn, failure: Failure | None, now: datetime
) -> MemberCluster:
    known = find_condition(before.status.conditions, type_) if before is not None else None
    conditions = _marked(cluster.status.conditions, type_.value, known, failure, cluster.generation, now)
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
        message=StatusText.SEEN_DONE_COULD_NOT_TAKEN(sentence=failure.sentence),
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
    if not by_subject:
        return ()
    objects: tuple[_Written, ...] = (
        *wanted.clusters.values(),
        *wanted.placements.values(),
        *wanted.overrides.values(),
        *wanted.runs.values(),
        *wanted.payload,
    )
    found = [failures.contain(_FAULTS, None, _fault, written, by_subject) for written in objects]
    return tuple(fault for fault in found if fault is not None)


def _fault(written: _Written, failed: Mapping[Subject, Failure]) -> Fault | None:
    subject, origin = _subject_of(written), written.origin
    if subject not in failed:
        return None
    return Fault(
        origin.path if origin else "",
        origin.line if origin else 1,
        f"{subject.kind}/{subject.name}",
        "",
        StatusText.IT_IS_LEFT_AS_IT(sentence=failed[subject].sentence),
    )


def _subject_of(written: _Written) -> Subject:
    match written:
        case MemberCluster():
            return Subject("MemberCluster", written.name)
        case Placement():
            return Subject.of_placement(written.key)
        case Override():
            return Subject(written.key.kind, str(written.key))
        case StagedRun():
            return Subject.of_run(written.key)
        case Manifest():
            return Subject.of_object(written.key)
