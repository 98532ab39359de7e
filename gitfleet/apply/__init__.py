"""apply: works against live objects = create, update, delete, keep or refuse, each with its reason.

    plan_apply(request) -> tuple[Operation, ...]     one cluster: its works, its inventory, its live objects
    record_intended(inventory, operations) -> Inventory       what is about to be done, written before it is done
    settle_inventory(inventory, outcomes, operations) -> Inventory     what was done, as the servers reported
    plan_fleet, merge_observations, record_all_intended, settle_all            the same for every cluster at once
    next_late(operations)        when a step that runs is late
    disturbed_by(operations) -> {placement: clusters}          where something is to be written
    as_recorded(cluster, inventory, works) -> observation, inventory     a cluster that nobody observed
    protected_by(body)           which annotation says that an object is not to be deleted
    is_taken_over(entry)         whether others made what takes along all that is in it
    Comparisons(ignored, dry runs)    each object with its manifest, less what its server filled in; and what to ask it
    find_differences(manifest body, live body) -> details      which fields differ, secrets masked
    Ignored(rules)               what of live objects is left alone, and how that is compared and applied
    writer_of(manifest body, live body, path) -> FieldWriter   who else wrote one of them
    names_of(writers)            such writers in a sentence

Nothing here talks to a cluster, and nothing is ever deleted that the inventory does not name with the very uid it has.
Source: kubefleet.md §6; decisions D7, D15.
"""

from gitfleet.apply.claims import ApplyRequest
from gitfleet.apply.comparisons import Comparisons, Pair, Question
from gitfleet.apply.differences import find_differences, names_of, writer_of
from gitfleet.apply.fleet import (
    Going,
    PlansMemo,
    Wanted,
    Works,
    as_recorded,
    disturbed_by,
    left_behind,
    merge_observations,
    next_late,
    plan_fleet,
    record_all_intended,
    settle_all,
)
from gitfleet.apply.ignored import NOTHING_IGNORED, Ignored
from gitfleet.apply.ledgers import is_taken_over, protected_by, record_intended, settle_inventory
from gitfleet.apply.plan import plan_apply

__all__ = [
    "NOTHING_IGNORED",
    "ApplyRequest",
    "Comparisons",
    "Going",
    "Ignored",
    "Pair",
    "PlansMemo",
    "Question",
    "Wanted",
    "Works",
    "as_recorded",
    "disturbed_by",
    "find_differences",
    "is_taken_over",
    "left_behind",
    "merge_observations",
    "names_of",
    "next_late",
    "plan_apply",
    "plan_fleet",
    "protected_by",
    "record_all_intended",
    "record_intended",
    "settle_all",
    "settle_inventory",
    "writer_of",
]
