"""What a failure says of itself: the condition of a placement, or a fault where there is none; and what an eviction
says that waits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import TypeAlias

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.conditions import Reason, set_condition, type_of
from gitfleet.api.faults import Fault, Severity, warning_of
from gitfleet.api.objects import Manifest
from gitfleet.api.overrides import Override
from gitfleet.api.placements import Placement
from gitfleet.api.staged import EVICTION, Eviction, StagedRun
from gitfleet.model.desired import Desired
from gitfleet.model.failures import Failure, Failures, Subject
from gitfleet.model.state import FleetState, PlacementRecord, keep
from gitfleet.status.records import scheduled_condition
from gitfleet.status.texts import StatusText
from gitfleet.status.vocabulary import SCHEDULED

_Written: TypeAlias = MemberCluster | Placement | Override | StagedRun | Manifest


def with_failures(state: FleetState, before: FleetState, failures: Failures, now: datetime) -> FleetState:
    """The decided state in which every placement that failed says so; `before` is the state that was decided on."""
    placements = dict(state.placements)
    for key, record in state.placements.items():
        if (failure := failures.of(Subject.of_placement(key))) is not None:
            placements[key] = _undecided(record, before.placements.get(key), failure, now)
    return replace(state, placements=placements)


def _undecided(
    record: PlacementRecord, old: PlacementRecord | None, failure: Failure, now: datetime
) -> PlacementRecord:
    """The record as it is, with Scheduled False; it is scheduled again as soon as it can be decided again."""
    message = StatusText.PLACEMENT_COULD_NOT_DECIDED_STAYS(sentence=failure.sentence)
    condition = scheduled_condition(record, False, Reason.INTERNAL_ERROR, message, now)
    condition = replace(condition, type=type_of(record.placement.key.kind, SCHEDULED))
    conditions = set_condition(record.conditions, condition)
    return keep(old or record, replace(record, conditions=conditions, schedule_key=""))


def faults_of(failures: Failures, state: FleetState, desired: Desired) -> tuple[Fault, ...]:
    """A fault for each failed object, override, placement or cluster of the commit that has no condition to say so.
    What failed on a member cluster is in the binding."""
    reported = set(map(Subject.of_placement, state.placements))
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
    faults = (_fault(written, by_subject) for written in objects)
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
