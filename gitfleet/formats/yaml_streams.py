"""Streams of YAML documents: one that does not parse does not take down the others.

The text is then split where YAML lets no construct pass, at `---` in the first column, and each piece is read alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import yaml

from gitfleet.formats.texts import FormatsText
from gitfleet.formats.yaml_values import TOO_DEEP, Built, LineFault, Marks, Profile, UnreadableText, build

MAX_DOCUMENTS: Final = 10_000
"""Most documents in one file."""
TOO_MANY: Final = FormatsText.HOLDS_MORE_DOCUMENTS(max_documents=MAX_DOCUMENTS)

_MARKER: Final = re.compile(r"^---(?=\s|\Z)", re.MULTILINE)
_DIRECTIVE: Final = re.compile(r"^%", re.MULTILINE)
_HEAD: Final = re.compile(r"(?:[ \t\r]*(?:#[^\n]*)?\n|%[^\n]*\n)*")
"""Directives and comments before the first document, in linear time: each turn takes one line."""

_HINTS: Final = {
    "mapping values are not allowed in this context": FormatsText.CHECK_INDENTATION_QUOTE_VALUE_COLON(),
    "found character that cannot start any token": FormatsText.INDENT_SPACES_NOT_TABS(),
    "did not find expected key": FormatsText.CHECK_INDENTATION_QUOTES(),
    "did not find expected '-' indicator": FormatsText.CHECK_INDENTATION_LIST(),
    "could not find expected ':'": FormatsText.GIVE_KEY_COLON_CHECK_INDENTATION(),
    "found unexpected end of stream": FormatsText.CLOSE_QUOTE(),
}
_NESTING: Final = "exceeded maximum nesting depth"
"""libyaml's own limit, in the packages of PyYAML from 6.0.4 on: it may be reached before ours is."""
_GENERAL_HINT: Final = FormatsText.CHECK_INDENTATION_QUOTES_BRACKETS()


def read_stream(text: str, profile: Profile, marks: Marks | None = None) -> Built:
    """Every document of a text that is sound, and a fault for each that is not. Never raises on any text.

    With `marks`, every line is noted there (see `build`). Of profile STATE, which refuses at once, nothing is read past
    the first fault.
    """
    if profile is Profile.STATE or _DIRECTIVE.search(text) is None:
        whole = Built()
        if _read_piece(text, profile, 0, whole, marks) or profile is Profile.STATE:
            return whole if whole.count <= MAX_DOCUMENTS else _too_many()
    pieces = _pieces(text)
    if len(pieces) > MAX_DOCUMENTS:
        return _too_many()
    found = Built()
    found.faults += _directive_faults(text)
    for offset, piece in pieces:
        refused = found.faults and not offset
        if refused or not _read_piece(piece, profile, offset, found, marks):
            found.count += 1
    return found


def _too_many() -> Built:
    return Built(faults=[(1, TOO_MANY)])


def _read_piece(text: str, profile: Profile, offset: int, into: Built, marks: Marks | None) -> bool:
    """Read a text's documents one after another; False, with a fault noted, where one breaks off the rest."""
    try:
        build(text, profile, into, offset=offset, marks=marks)
    except (yaml.YAMLError, UnreadableText, RecursionError, ValueError, OverflowError) as error:
        into.faults.append(_explain(error, text, offset))
        return False
    return True


def _pieces(text: str) -> list[tuple[int, str]]:
    """(lines before it, text) of each part of a stream; a part after the first begins with its `---`."""
    starts = [match.start() for match in _MARKER.finditer(text)]
    if len(starts) > MAX_DOCUMENTS:
        return [(0, "")] * (len(starts) + 1)
    head = _head(text)
    return list(_with_offsets(text, [0, *(start for start in starts if start > head)]))


def _with_offsets(text: str, starts: list[int]) -> Iterator[tuple[int, str]]:
    line = 0
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        yield line, text[start:end]
        line += text.count("\n", start, end)


def _directive_faults(text: str) -> list[LineFault]:
    """Kubernetes reads YAML 1.1; any other directive is refused, and the document that it belongs to."""
    return [
        (number, FormatsText.YAML_DIRECTIVES_OTHER_YAML_NOT())
        for number, line in enumerate(text[: _head(text)].split("\n"), start=1)
        if line.startswith("%") and line.split("#")[0].split() != ["%YAML", "1.1"]
    ]


def _head(text: str) -> int:
    """Where the first document begins."""
    found = _HEAD.match(text)
    return found.end() if found else 0


def _explain(error: Exception, text: str, offset: int) -> LineFault:
    """1-based line of the file and a sentence; libyaml's own texts are constant and repeat nothing of the content."""
    last = text.count("\n") + (not text.endswith("\n"))
    if isinstance(error, UnreadableText):
        return error.line + offset, error.message
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        line = min(mark.line + 1, max(last, 1)) if mark else 1
        problem = str(error.problem or FormatsText.BREAKS_OFF())
        where = ""
        if error.context and error.context_mark and error.context_mark.line + 1 < line:
            where = FormatsText.BEGINS_LINE(context=error.context, line=error.context_mark.line + 1 + offset)
        if problem == _NESTING:
            return line + offset, TOO_DEEP
        return line + offset, FormatsText.YAML_CANNOT_READ(
            problem=problem, where=where, get=_HINTS.get(problem, _GENERAL_HINT)
        )
    if isinstance(error, yaml.reader.ReaderError):
        line = text.encode("utf-8")[: int(error.position)].count(b"\n") + 1
        return line + offset, FormatsText.CONTROL_CHARACTER_STANDS_TEXT()
    return 1 + offset, FormatsText.YAML_CANNOT_READ_CHECK_INDENTATION()
