"""The files of the state branch read one at a time, and put together to one fleet state (contracts.md §2).

`parse_state_file` depends on path and content alone, so a caller keeps its results by (path, blob id) and parses only
what changed; `assemble_state` is a cheap pass over all parsed files.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from gitfleet.api import InvalidContent
from gitfleet.errors import BadInput
from gitfleet.formats.canonical_json import NotJson, canonical_json, parse_json
from gitfleet.formats.yaml_reader import UnreadableText
from gitfleet.model.state import FleetState
from gitfleet.state import paths
from gitfleet.state.file_kinds import ParsedStateFile, Parts, unusable
from gitfleet.state.shapes.fields import mapping
from gitfleet.state.shapes.ledgers import FaultList, FleetHead
from gitfleet.state.table import kind_of, state_fields
from gitfleet.state.texts import StateText

CACHED_FORM: Final = "state-2"
"""Names the cached form in the keys of a cache: another form, another name."""
_CACHED: Final = b"\x00"
"""What a cached form begins with, and no YAML does."""


def state_file_kind(path: str) -> str | None:
    """What a path of the state branch holds: a word such as `placements` or `bindings`, None for a file that is not
    read (README.md, linked manifests, last good files, and whatever else lies there)."""
    kind = kind_of(path)
    return kind.name if kind else None


def too_large(path: str, limit: int) -> BadInput:
    """The error for a file that is too large to be read."""
    return unusable(path, StateText.IT_IS_LARGER(limit=limit // 2**20))


def parse_state_file(path: str, content: bytes) -> ParsedStateFile:
    """What one file, or its cached form, says. Fields that this version does not know are ignored.

    Raises BadInput, naming the path and what to do, when the file is broken or is not what its path says.
    """
    return parse_to_cache(path, content)[0]


def parse_to_cache(path: str, content: bytes) -> tuple[ParsedStateFile, bytes | None]:
    """What `parse_state_file` gives, and the same file in a form that it reads several times faster, to be kept by blob
    id: None where the file is read fast as it is, or has no such form. Raises as it does."""
    kind = kind_of(path)
    if kind is None:
        raise ValueError(StateText.NO_FILE_STATE_READ_FROM(path=path))
    try:
        cached = content.startswith(_CACHED)
        opened = mapping(parse_json(content[1:])) if cached else kind.open(content)
        parsed: ParsedStateFile = kind.read(opened)
        place = path if kind.place is None else kind.place(parsed)
    except (UnreadableText, InvalidContent, NotJson, BadInput) as error:
        raise unusable(path, error) from error
    expected = f"{place}/{path.rpartition('/')[2]}" if kind.sharded else place
    if expected != path:
        raise unusable(path, StateText.IT_BELONGS_IN(expected=expected))
    return parsed, None if cached or kind.sharded else _cached_form(opened)


def _cached_form(opened: object) -> bytes | None:
    try:
        return _CACHED + canonical_json(opened)
    except TypeError:  # a number that YAML has and JSON has not
        return None


def assemble_state(listing: Mapping[str, str], parsed: Mapping[str, ParsedStateFile]) -> FleetState:
    """The state of a tree: `listing` is all of its paths with their blob ids, `parsed` what its state files say, by
    path.

    Manifests of snapshots are not loaded. Files that are not gitfleet's are left alone. BadInput where files contradict
    each other: a part without its placement, an entry given twice.
    """
    parts = Parts(listing)
    for path in sorted(parsed):
        parts.files.setdefault(type(parsed[path]), []).append((path, parsed[path]))
    head = next((file for _, file in parts.of(FleetHead)), FleetHead())
    faults = next((file for _, file in parts.of(FaultList)), FaultList())
    fields: dict[str, Any] = {name: stored.gather(parts) for name, stored in state_fields()}
    return FleetState(
        observed_commit=head.observed_commit,
        scheduler_plugins=head.scheduler_plugins,
        removal_settings=head.removal_settings,
        freezes=head.freezes,
        restored=head.restored,
        faults=faults.faults,
        last_good=faults.last_good,
        **fields,
    )


def last_changed(parsed: Mapping[str, ParsedStateFile]) -> datetime | None:
    """When gitfleet wrote a state, of its parsed files."""
    head = parsed.get(paths.FLEET)
    return head.last_changed if isinstance(head, FleetHead) else None
