"""status: what a placement or a cluster says of itself: conditions, events and sentences.

    scheduled_condition, with_schedule, with_conditions     the record takes in what scheduling and observing said
    placement_conditions(record, scheduled, now) -> PlacementRecord     a placement's status from its bindings
    emit_events(before, after), events_of_outcomes(outcomes, state)     what happened, for the timeline
    with_failures, faults_of                what could not be decided says so
    with_holds, with_kept                                   a placement with held removals, or that is kept, says so
    with_condition                                          one condition beside those of the rollout
    occurrence_of(event) -> Occurrence | None                           what people are told of it by notifications
    commit_message(events) -> (subject, body)                 the same as sentences
    cluster_progress, observed_snapshot, unmet_count, has_overrides      what a placement's conditions are made of
    restored_state, waiting_eviction                        warnings among the faults of a commit
    ClusterState, cluster_state, joined_condition, health_condition     what is said of a cluster
    SCHEDULED, steps_of(type), one_line(text, limit)                    the words in which it is said

Source: contracts.md §5; kubefleet.md §9; decision D23.
"""

from gitfleet.status.cluster_states import ClusterState, cluster_state, health_condition, joined_condition
from gitfleet.status.commit_messages import commit_message, one_line, sentence
from gitfleet.status.conditions import (
    ClusterProgress,
    cluster_progress,
    has_overrides,
    observed_snapshot,
    placement_conditions,
    unmet_count,
)
from gitfleet.status.events import emit_events, events_of_outcomes, object_reference
from gitfleet.status.failures import faults_of, waiting_eviction, with_failures
from gitfleet.status.holds import restored_state, with_holds
from gitfleet.status.occurrences import occurrence_of
from gitfleet.status.records import scheduled_condition, with_condition, with_conditions, with_kept, with_schedule
from gitfleet.status.vocabulary import SCHEDULED, steps_of

__all__ = [
    "SCHEDULED",
    "ClusterProgress",
    "ClusterState",
    "cluster_progress",
    "cluster_state",
    "commit_message",
    "emit_events",
    "events_of_outcomes",
    "faults_of",
    "has_overrides",
    "health_condition",
    "joined_condition",
    "object_reference",
    "observed_snapshot",
    "occurrence_of",
    "one_line",
    "placement_conditions",
    "restored_state",
    "scheduled_condition",
    "sentence",
    "steps_of",
    "unmet_count",
    "waiting_eviction",
    "with_condition",
    "with_conditions",
    "with_failures",
    "with_holds",
    "with_kept",
    "with_schedule",
]
