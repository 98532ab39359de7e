"""What stands in a file as a comment: a gate that is commented out is not ended by that (decision record 0018)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from gitfleet.api import Break
from gitfleet.api.fleet import FleetConfig
from gitfleet.desired.readings import Contents, ReadObject
from gitfleet.formats.limits import MAX_FILE_BYTES
from gitfleet.formats.yaml_reader import parse_documents

_SAID: Final = re.compile(r"""\b(name|kind)["']?:\s*["']?([\w.-]+)""")
_FIELD: Final = ("spec", "freezeWindows")
STAYS: Final = "so the version before stays in force"


@dataclass(frozen=True, slots=True)
class Comments:
    """The names in the comments of a file, each with the runs of comment lines that have it: the run's first line, the
    name's own, and the kinds in the run."""

    runs: Mapping[str, Sequence[tuple[int, int, Set[str]]]]

    @classmethod
    def of(cls, content: bytes) -> Comments:
        """Read once, however much is looked for."""
        found: dict[str, list[tuple[int, int, Set[str]]]] = {}
        lines = enumerate(content.decode("utf-8", "replace").splitlines(), start=1)
        for is_comment, group in groupby(lines, lambda line: line[1].lstrip().startswith("#")):
            run = list(group) if is_comment else []
            kinds = {kind for _, line in run for field, kind in _SAID.findall(line) if field == "kind"}
            for number, line in run:
                for name in (value for field, value in _SAID.findall(line) if field == "name"):
                    found.setdefault(name, []).append((run[0][0], number, kinds))
        return cls(found)

    def line_of(self, name: str, kind: str = "") -> int:
        """The line of a name, or the first of the object of a kind and a name; 0 for none."""
        return next((n if not kind else at for at, n, kinds in self.runs.get(name, ()) if not kind or kind in kinds), 0)


def lost_windows(new: ReadObject, old: ReadObject, contents: Contents) -> Iterator[Break]:
    """An edit that takes windows from a configuration and does not delete them: they are commented out, or all are gone
    with their key. An empty list says that they end."""
    if not (isinstance(new.value, FleetConfig) and isinstance(old.value, FleetConfig)):
        return
    left = {window.name for window in new.value.freeze_windows}
    gone = [window.name for window in old.value.freeze_windows if window.name not in left]
    content = contents(new.origin.blob) if gone else b""
    if not gone or (not left and _has_list(content, new.origin.document)):
        return
    comments = Comments.of(content)
    named = next(((line, name) for name in gone if (line := comments.line_of(name))), None)
    if named is not None:
        says = f'line {named[0]} comments out the window "{named[1]}", {STAYS}'
        yield _FIELD, f"{says}; write it back, or delete that line to end it"
    elif not left and new.origin.path == old.origin.path:
        yield _FIELD, f"is not there any more, {STAYS}; write `freezeWindows: []` to end all windows"


def _has_list(content: bytes, document: int) -> bool:
    for found in parse_documents(content, max_bytes=MAX_FILE_BYTES).documents:
        if found.index == document and isinstance(found.value, dict):
            spec = found.value.get("spec")
            return isinstance(spec, dict) and isinstance(spec.get("freezeWindows"), list)
    return False
