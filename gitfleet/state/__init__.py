"""state: all that the state branch holds = files, byte-stable; and back (contracts.md §2).

    compose_state(before, after, ...) -> StateChange        what to write, link and remove; README.md is the caller's
    parse_state_file(path, content) -> ParsedStateFile      one file, to be kept by (path, blob id)
    assemble_state(listing, parsed) -> FleetState           all files put together, cheap
    StateReader(source, commit)                             what one commit says, read as far as it is asked for
    *_object                                                one value as the JSON object that Kubernetes would show
    present(**fields), OURS                                 those with a value; the part of `status` that is gitfleet's

Nothing here decides anything or reads a clock. Conditions and sentences are made in `status`, pages in `views`.
"""

from gitfleet.state.compose import StateChange, compose_state
from gitfleet.state.file_kinds import ParsedStateFile, unusable
from gitfleet.state.override_files import override_object
from gitfleet.state.paths import FLEET as FLEET_FILE
from gitfleet.state.paths import README as README_FILE
from gitfleet.state.paths import document_paths, snapshot_path
from gitfleet.state.read import (
    CACHED_FORM,
    assemble_state,
    last_changed,
    parse_state_file,
    parse_to_cache,
    state_file_kind,
    too_large,
)
from gitfleet.state.reader import StateReader
from gitfleet.state.shapes.fields import OURS, present
from gitfleet.state.shapes.placements import PlacementFile, PlacementSummary, placement_object, summary_of
from gitfleet.state.shapes.snapshots import policy_snapshot_object, resource_snapshot_object

__all__ = [
    "CACHED_FORM",
    "FLEET_FILE",
    "OURS",
    "README_FILE",
    "ParsedStateFile",
    "PlacementFile",
    "PlacementSummary",
    "StateChange",
    "StateReader",
    "assemble_state",
    "compose_state",
    "document_paths",
    "last_changed",
    "override_object",
    "parse_state_file",
    "parse_to_cache",
    "placement_object",
    "policy_snapshot_object",
    "present",
    "resource_snapshot_object",
    "snapshot_path",
    "state_file_kind",
    "summary_of",
    "too_large",
    "unusable",
]
