"""What a failure says of itself: the condition of a placement or a cluster, or a fault where there is no status; and
what an eviction says that waits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import Final, TypeAlias

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.conditions import Condition, Conditions, Reason, Status, find_condition, set_condition, type_of
from gitfleet.api.faults import Fault, Severity, warning_of
from gitfleet.api.objects import Manifest
from gitfleet.api.overrides import Override
from gitfleet.api.placements import Placement, PlacementKey
from gitfleet.api.staged import EVICTION, Eviction, StagedRun
from gitfleet.model.desired import Desired
from gitfleet.model.failures import Failure, Failures, Subject
from gitfleet.model.state import FleetState, PlacementRecord, keep
from gitfleet.status.records import scheduled_condition
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
    return _marked_state(state, before, TakenIn.OBSERVED, _undecided, failures, now)


def with_unsettled(state: FleetState, before: FleetState, failures: Failures, now: datetime) -> FleetState:
    """The settled state in which every placement and cluster that could not be settled says so, and no other."""
    return _marked_state(state, before, TakenIn.SETTLED, _unsettled, failures, now)


def _marked_state(
    state: FleetState,
    before: FleetState,
    type_: TakenIn,
    mark: Callable[[PlacementRecord, PlacementRecord | None, Failure | None, datetime], PlacementRecord],
    failures: Failures,
    now: datetime,
) -> FleetState:
    """Every placement and cluster with its condition; one that cannot have it stays as it is, and that is noted."""
    placements: dict[PlacementKey, PlacementRecord] = {}
    for key, record in state.placements.items():
        subject = Subject.of_placement(key)
        old, failure = before.placements.get(key), failures.of(subject)
        placements[key] = failures.contain(subject, record, mark, record, old, failure, now)
    clusters: dict[str, MemberCluster] = {}
    for name, cluster in state.clusters.items():
        subject = Subject("MemberCluster", name)
        member, failure = before.clusters.get(name), failures.of(subject)
        clusters[name] = failures.contain(subject, cluster, _marked_cluster, cluster, member, type_, failure, now)
    return replace(state, placements=placements, clusters=clusters)


def _undecided(
    record: PlacementRecord, old: PlacementRecord | None, failure: Failure | None, now: datetime
) -> PlacementRecord:
    """The record as it is, with Scheduled False; it is scheduled again as soon as it can be decided again."""
    if failure is None:
        return record
    message = StatusText.PLACEMENT_COULD_NOT_DECIDED_STAYS(sentence=failure.sentence)
    condition = scheduled_condition(record, False, Reason.INTERNAL_ERROR, message, now)
    condition = replace(condition, type=type_of(record.placement.key.kind, SCHEDULED))
    conditions = set_condition(record.conditions, condition)
    return keep(old or record, replace(record, conditions=conditions, schedule_key=""))


def _unsettled(
    record: PlacementRecord, old: PlacementRecord | None, failure: Failure | None, now: datetime
) -> PlacementRecord:
    type_ = type_of(record.placement.key.kind, TakenIn.SETTLED)
    previous = find_condition(old.conditions, type_) if old is not None else None
    conditions = _marked(record.conditions, type_, previous, failure, record.placement.generation, now)
    return record if conditions is record.conditions else keep(old or record, replace(record, conditions=conditions))


def _marked_cluster(
    cluster: MemberCluster, before: MemberCluster | None, type_: TakenIn, failure: Failure | None, now: datetime
) -> MemberCluster:
    previous = find_condition(before.status.conditions, type_) if before is not None else None
    conditions = _marked(cluster.status.conditions, type_.value, previous, failure, cluster.generation, now)
    if conditions is cluster.status.conditions:
        return cluster
    marked = replace(cluster, status=replace(cluster.status, conditions=conditions))
    return before if before is not None and marked == before else marked


def _marked(
    conditions: Conditions,
    type_: str,
    previous: Condition | None,
    failure: Failure | None,
    generation: int,
    now: datetime,
) -> Conditions:
    """The conditions with one of the type that is False, since `previous` stands, or (nothing failed) without any; the
    very same tuple when nothing is to be changed."""
    remaining = tuple(c for c in conditions if c.type != type_)
    if failure is None:
        return conditions if len(remaining) == len(conditions) else remaining
    condition = Condition(
        type=type_,
        status=Status.FALSE,
        reason=Reason.INTERNAL_ERROR.value,
        message=StatusText.SEEN_DONE_COULD_NOT_TAKEN(sentence=failure.sentence),
        last_transition_time=previous.last_transition_time if previous is not None else now,
        observed_generation=generation,
    )
    return (*remaining, condition)


def faults_of(failures: Failures, state: FleetState, desired: Desired) -> tuple[Fault, ...]:
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
        *desired.clusters.values(),
        *desired.placements.values(),
        *desired.overrides.values(),
        *desired.runs.values(),
        *desired.payload,
    )
    faults = [failures.contain(_FAULTS, None, _fault, written, by_subject) for written in objects]
    return tuple(fault for fault in faults if fault is not None)


def _fault(written: _Written, failed: Mapping[Subject, Failure]) -> Fault | None:
    subject = _subject_of(written)
    if subject not in failed:
        return None
    sentence = StatusText.IT_IS_LEFT_AS_IT.coded(sentence=failed[subject].sentence)
    return replace(warning_of(written.origin, f"{subject.kind}/{subject.name}", sentence), severity=Severity.ERROR)


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


def waiting_eviction(eviction: Eviction, why: str) -> Fault:
    """The warning of an eviction that is not decided yet."""
    sentence = StatusText.WAITS_TAKE_OFF.coded(
        placement_name=eviction.placement_name, eviction=eviction.cluster_name, why=why
    )
    return warning_of(eviction.origin, f"{EVICTION}/{eviction.name}", sentence, "evictions")
