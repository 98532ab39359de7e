"""views: what people are shown of the state and of plans, and the texts it is shown in.

table_of, objects_of, in_scope, kinds           what `get` shows: typed views (`models`) read through a StateReader
describe_lines(object)                          what `describe` prints
fenced(lines, language)         a block of code in a page of Markdown
readme_text(state)                              README.md of the state branch
diff_document(...), snapshots_document(...)     `diff -o json`; object_lines(row) says one object of it in lines
plan_document(...), has_changes                 `plan -o json`; moves_sentence(...) sums up what moves
eviction_text(...), eviction_sentence, ...      the file that asks for an eviction, and what a plan decides about it
hold_document(hold), hold_sentence, ...         what is held back, why, and the file that approves it
approval_requests(state)                        what waits for a person's approval, as requests
forge_view(state), pull_calls, status_calls, closed_by_a_person   what a forge is to show, and how it comes there
fleet_gauges(state)                             what `/metrics` shows of a state
notification_message(Occasion, occurrences)     what is sent to the destinations of notifications
explained(record, Recorded, ...), no_placement   what `explain` prints
last_run_failures(runs, records)                why the last runs of placements failed
rollout_failures(records)                       which workload rollouts failed, and why
rollout_to_pause(kind, name, rollouts), with_pause(content, rollout, paused)    what `pause` and `resume` commit
rollout_lines(kind, state, name)                what `describe` says of how far a workload rollout is
"""

from gitfleet.views.description import describe_lines
from gitfleet.views.diff_document import (
    ClusterSides,
    diff_document,
    differing,
    object_lines,
    questions_of,
    snapshots_document,
)
from gitfleet.views.evictions import eviction_sentence, eviction_text, free_name
from gitfleet.views.explanation import (
    Recorded,
    explained,
    no_placement,
)
from gitfleet.views.forge import closed_by_a_person, forge_view, pull_calls, status_calls
from gitfleet.views.holds import (
    held_line,
    held_placements_line,
    hold_document,
    hold_sentence,
    how_to_approve,
    kept_placements_lines,
    reason_sentence,
)
from gitfleet.views.kinds import in_scope, kinds, objects_of, table_of
from gitfleet.views.markdown import fenced, shortened
from gitfleet.views.metrics import FleetGauge, fleet_gauges
from gitfleet.views.notifications import Occasion, notification_message
from gitfleet.views.pauses import rollout_to_pause, with_pause
from gitfleet.views.plan_document import PlannedReconcile, has_changes, plan_document
from gitfleet.views.plan_moves import moves_sentence
from gitfleet.views.plan_runs import run_sentences
from gitfleet.views.readme import readme_text
from gitfleet.views.requests import approval_requests
from gitfleet.views.rollbacks import rollback_of
from gitfleet.views.rollout_documents import placements_of_rollout, rollout_sentences
from gitfleet.views.runs import last_run_failures, pending_request, run_waits
from gitfleet.views.shown import shown_object
from gitfleet.views.tables import Table, age
from gitfleet.views.workload_rollouts import rollout_failures, rollout_lines

__all__ = [
    "ClusterSides",
    "FleetGauge",
    "Occasion",
    "PlannedReconcile",
    "Recorded",
    "Table",
    "age",
    "approval_requests",
    "closed_by_a_person",
    "describe_lines",
    "diff_document",
    "differing",
    "eviction_sentence",
    "eviction_text",
    "explained",
    "fenced",
    "fleet_gauges",
    "forge_view",
    "free_name",
    "has_changes",
    "held_line",
    "held_placements_line",
    "hold_document",
    "hold_sentence",
    "how_to_approve",
    "in_scope",
    "kept_placements_lines",
    "kinds",
    "last_run_failures",
    "moves_sentence",
    "no_placement",
    "notification_message",
    "object_lines",
    "objects_of",
    "pending_request",
    "placements_of_rollout",
    "plan_document",
    "pull_calls",
    "questions_of",
    "readme_text",
    "reason_sentence",
    "rollback_of",
    "rollout_failures",
    "rollout_lines",
    "rollout_sentences",
    "rollout_to_pause",
    "run_sentences",
    "run_waits",
    "shortened",
    "shown_object",
    "snapshots_document",
    "status_calls",
    "table_of",
    "with_pause",
]
