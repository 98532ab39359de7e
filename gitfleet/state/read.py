"""The files of the state branch read one at a time (contracts.md §2); `assemble` puts them together.

`parse_state_file` depends on path and content alone, so a caller keeps its results by (path, blob id) and parses only
what changed; `assemble_state` is a cheap pass over all parsed files.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gitfleet.api import InvalidContent
from gitfleet.errors import BadInput
from gitfleet.formats.canonical_json import NotJson, canonical_json, parse_json
from gitfleet.formats.yaml_reader import UnreadableText
from gitfleet.state import paths
from gitfleet.state.file_kinds import ParsedStateFile
from gitfleet.state.shapes.fields import mapping
from gitfleet.state.table import kind_of
from gitfleet.state.texts import StateText

HINT: Final = StateText.GITFLEET_ALONE_WRITES_BRANCH()
CACHED_FORM: Final = "state-2"
"""Names the cached form in the keys of a cache: another form, another name."""
_CACHED: Final = b"\x00"
"""What a cached form begins with, and no YAML does."""


def state_file_kind(path: str) -> str | None:
    """What a path of the state branch holds: a word such as `placements` or `bindings`, None for a file that is not
    read (README.md, linked manifests, last good files, and whatever else lies there)."""
    kind = kind_of(path)
    return kind.name if kind else None


def is_state_file(path: str) -> bool:
    """Whether `parse_state_file` has to be asked about a path."""
    return kind_of(path) is not None


def is_linked_file(path: str) -> bool:
    """Whether a path is one of the manifests that snapshots hold, or a last good file: what lies there never
    changes."""
    return path.startswith((paths.LAST_GOOD, paths.RESOURCES)) and not is_state_file(path)


def holds_state(listing: Iterable[str]) -> bool:
    """Whether a tree is one of a state branch; what is `watched` alone is a config repo's."""
    return any(kind is not None and not kind.watched for kind in map(kind_of, listing))


def wanted_files(listing: Iterable[str]) -> tuple[str, ...]:
    """The paths of a listing whose content is needed."""
    return tuple(path for path in listing if is_state_file(path))


def too_large(path: str, limit: int) -> BadInput:
    """What is said of a file that is too large to be read."""
    return BadInput(StateText.STATE_BRANCH_FILE_LARGER_MIB(path=path, limit=limit // 2**20), hint=HINT)


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
        raise BadInput(StateText.STATE_BRANCH_FILE_CANNOT_USED(path=path, reason=error), hint=HINT) from error
    expected = f"{place}/{path.rpartition('/')[2]}" if kind.sharded else place
    if expected != path:
        raise BadInput(StateText.STATE_BRANCH_FILE_HOLDS_BELONGS(path=path, expected=expected), hint=HINT)
    return parsed, None if cached or kind.sharded else _cached_form(opened)


def _cached_form(opened: object) -> bytes | None:
    try:
        return _CACHED + canonical_json(opened)
    except TypeError:  # a number that YAML has and JSON has not
        return None
