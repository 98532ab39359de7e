"""status: what a placement or a cluster says of itself: conditions, events and sentences.

    scheduled_condition, with_schedule, with_conditions     the record takes in what scheduling and observing said
    placement_conditions(record, scheduled, now) -> PlacementRecord     a placement's status from its bindings
    emit_events(before, after), events_of_outcomes(outcomes, state)     what happened, for the timeline
    with_failures, with_unsettled, faults_of                what could not be decided or settled says so
    commit_message(events) -> (subject, body)                           the same as sentences

Source: contracts.md §5; kubefleet.md §9; decision D23.
"""

from gitfleet.status.conditions import placement_conditions
from gitfleet.status.events import emit_events, events_of_outcomes, object_reference
from gitfleet.status.failures import faults_of, with_failures, with_unsettled
from gitfleet.status.records import scheduled_condition, with_conditions, with_schedule
from gitfleet.status.story import commit_message, sentence

__all__ = [
    "commit_message",
    "emit_events",
    "events_of_outcomes",
    "faults_of",
    "object_reference",
    "placement_conditions",
    "scheduled_condition",
    "sentence",
    "with_conditions",
    "with_failures",
    "with_schedule",
    "with_unsettled",
]
