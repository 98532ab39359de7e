"""state: all that the state branch holds = files, byte-stable; and back (contracts.md §2).

    compose_state(before, after, *, now) -> StateChange     what to write, link and remove; README.md is the caller's
    parse_state_file(path, content) -> ParsedStateFile      one file, to be kept by (path, blob id)
    assemble_state(listing, parsed) -> FleetState           all files put together, cheap
    read_state(files) -> FleetState                         both at once

Nothing here decides anything or reads a clock. Conditions and sentences are made in `status`, pages in `views`.
"""

from gitfleet.state.assemble import StateFile, assemble_state, read_state
from gitfleet.state.compose import StateChange, compose_state
from gitfleet.state.paths import FLEET as FLEET_FILE
from gitfleet.state.paths import README as README_FILE
from gitfleet.state.paths import document_paths
from gitfleet.state.read import ParsedStateFile, is_state_file, parse_state_file, wanted_files

__all__ = [
    "FLEET_FILE",
    "README_FILE",
    "ParsedStateFile",
    "StateChange",
    "StateFile",
    "assemble_state",
    "compose_state",
    "document_paths",
    "is_state_file",
    "parse_state_file",
    "read_state",
    "wanted_files",
]
