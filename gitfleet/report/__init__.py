"""report: decisions and observations = files of the state branch, byte-stable; and back.

    compose_state(before, after, *, now) -> StateChange     the files to write, link and remove, empty when all is said
    parse_state_file(path, content) -> ParsedStateFile      one file, to be kept by (path, blob id)
    assemble_state(listing, parsed) -> FleetState           all files put together, cheap
    read_state(files) -> FleetState                         both at once
    with_schedule, with_conditions, scheduled_condition     a record takes in what scheduling said
    placement_conditions(record, scheduled, now) -> PlacementRecord     a placement's status from its bindings
    scheduled_condition, with_schedule, with_conditions     the record takes in what scheduling and observing said
    emit_events(before, after), events_of_outcomes(outcomes, state)     what happened, for the timeline

`views` holds what `get` and `describe` show. Nothing here decides anything or reads a clock.

Source: contracts.md §2, §5; kubefleet.md §9; decision D23.
"""

from gitfleet.report.assemble import StateFile, assemble_state, read_state
from gitfleet.report.compose import StateChange, compose_state
from gitfleet.report.events import emit_events, events_of_outcomes, is_available, object_reference
from gitfleet.report.paths import FLEET as FLEET_FILE
from gitfleet.report.paths import document_paths
from gitfleet.report.read import ParsedStateFile, is_state_file, parse_state_file, wanted_files
from gitfleet.report.records import scheduled_condition, with_conditions, with_schedule
from gitfleet.report.status import placement_conditions
from gitfleet.report.story import sentence

__all__ = [
    "FLEET_FILE",
    "ParsedStateFile",
    "StateChange",
    "StateFile",
    "assemble_state",
    "compose_state",
    "document_paths",
    "emit_events",
    "events_of_outcomes",
    "is_available",
    "is_state_file",
    "object_reference",
    "parse_state_file",
    "placement_conditions",
    "read_state",
    "scheduled_condition",
    "sentence",
    "wanted_files",
    "with_conditions",
    "with_schedule",
]
