"""state: all that the state branch holds = files, byte-stable; and back (contracts.md §2).

    compose_state(before, after, ...) -> StateChange        what to write, link and remove; README.md is the caller's
    parse_state_file(path, content) -> ParsedStateFile      one file, to be kept by (path, blob id)
    assemble_state(listing, parsed) -> FleetState           all files put together, cheap
    read_state(files) -> FleetState                         both at once
    StateReader(source, commit)                             what one commit says, read as far as it is asked for
    *_object                                                one value as the JSON object that Kubernetes would show
    present(**fields), OURS                                 those with a value; the part of `status` that is gitfleet's

Nothing here decides anything or reads a clock. Conditions and sentences are made in `status`, pages in `views`.
"""

from gitfleet.state.assemble import StateFile, Unusable, assemble_state, lost_faults, read_state
from gitfleet.state.compose import StateChange, compose_state
from gitfleet.state.file_kinds import ParsedStateFile
from gitfleet.state.paths import FAULTS as FAULTS_FILE
from gitfleet.state.paths import FLEET as FLEET_FILE
from gitfleet.state.paths import README as README_FILE
from gitfleet.state.paths import document_paths, path_of_snapshot, snapshot_path
from gitfleet.state.placement_records import PlacementFile, PolicyFile
from gitfleet.state.read import (
    CACHED_FORM,
    holds_state,
    is_linked_file,
    is_state_file,
    parse_state_file,
    parse_to_cache,
    state_file_kind,
    too_large,
    wanted_files,
)
from gitfleet.state.reader import StateReader, StateSource
from gitfleet.state.shapes.fields import OURS, present
from gitfleet.state.shapes.overrides import override_object
from gitfleet.state.shapes.placements import placement_object
from gitfleet.state.shapes.snapshots import policy_snapshot_object, resource_snapshot_object
from gitfleet.state.shapes.summaries import PlacementSummary, summary_of
from gitfleet.state.table import owner_of

__all__ = [
    "CACHED_FORM",
    "FAULTS_FILE",
    "FLEET_FILE",
    "OURS",
    "README_FILE",
    "ParsedStateFile",
    "PlacementFile",
    "PlacementSummary",
    "PolicyFile",
    "StateChange",
    "StateFile",
    "StateReader",
    "StateSource",
    "Unusable",
    "assemble_state",
    "compose_state",
    "document_paths",
    "holds_state",
    "is_linked_file",
    "is_state_file",
    "lost_faults",
    "override_object",
    "owner_of",
    "parse_state_file",
    "parse_to_cache",
    "path_of_snapshot",
    "placement_object",
    "policy_snapshot_object",
    "present",
    "read_state",
    "resource_snapshot_object",
    "snapshot_path",
    "state_file_kind",
    "summary_of",
    "too_large",
    "wanted_files",
]
