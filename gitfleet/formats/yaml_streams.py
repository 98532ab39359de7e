"""Text to YAML nodes, document by document, without ever letting libyaml near a text that would kill the process.

libyaml's composer recurses in C: some 20,000 nested brackets end the whole process without an exception, so nesting is
bounded first. A document that does not parse does not take down the others of its stream: the text is then
split where YAML lets no construct pass, at `---` in the first column, and each piece is composed alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import yaml
from yaml._yaml import CParser
from yaml.events import MappingEndEvent, MappingStartEvent, SequenceEndEvent, SequenceStartEvent
from yaml.nodes import Node, ScalarNode

from gitfleet.formats.yaml_nodes import MAX_DEPTH, PLAIN, TEXT, LineFault, Unreadable, line_of_node

MAX_DOCUMENTS: Final = 10_000
"""Most documents in one file."""

_OTHER_BREAKS: Final = re.compile("\r\n?|[\x85\u2028\u2029]")
_DEEP_INDENT: Final = "\n" + " " * 60
_INDICATOR_RUN: Final = re.compile(r"^ *(?:[-?:][ \t]+){20}", re.MULTILINE)
_CHEAP_OPENERS: Final = 40
_MARKER: Final = re.compile(r"^---(?=\s|\Z)", re.MULTILINE)
_DIRECTIVE: Final = re.compile(r"^%", re.MULTILINE)
_ONLY_COMMENTS: Final = re.compile(r"(?:\s*(?:#[^\n]*)?(?:\n|\Z))*")

_HINTS: Final = {
    "mapping values are not allowed in this context": "check the indentation, or quote the value that has a colon",
    "found character that cannot start any token": "indent with spaces, not tabs, and quote what begins with @, ` or %",
    "did not find expected key": "check the indentation and the quotes",
    "did not find expected '-' indicator": "check the indentation of the list",
    "could not find expected ':'": "give the key a colon and check the indentation",
    "found unexpected end of stream": "close the quote",
    "found undefined alias": "define the anchor before its alias, in the same document",
}
_GENERAL_HINT: Final = "check the indentation, quotes and brackets"


@dataclass(frozen=True, slots=True)
class Composed:
    """One document's nodes: `index` counts every document of the stream (empty and broken ones too), `line` is 1-based.

    `offset` is what must be added to the lines of `node`'s own marks.
    """

    index: int
    line: int
    node: Node | None
    offset: int = 0


@dataclass(slots=True)
class Stream:
    """All that could be composed of a text, and what could not."""

    documents: list[Composed] = field(default_factory=list)
    faults: list[LineFault] = field(default_factory=list)


def compose_stream(text: str) -> Stream:
    """Every document of a text that composes, and a fault for each that does not. Never raises on any text."""
    if _DIRECTIVE.search(text) is None:
        stream = Stream()
        if _compose_piece(text, offset=0, into=stream):
            return stream if len(stream.documents) <= MAX_DOCUMENTS else _too_many()
    pieces = _pieces(text)
    if len(pieces) > MAX_DOCUMENTS:
        return _too_many()
    stream = Stream()
    index = 0
    for offset, piece in pieces:
        if piece.startswith("%") or (not index and _starts_with_directive(piece)):
            stream.faults += _directive_faults(piece, offset)
            continue
        whole = _compose_piece(piece, offset=offset, into=stream, first_index=index)
        index = max([index, *(document.index + 1 for document in stream.documents)]) + (not whole)
    return stream


def _too_many() -> Stream:
    return Stream(faults=[(1, f"holds more than {MAX_DOCUMENTS} documents; split the file")])


class _Composer(CParser):
    """libyaml's parser, told to name a scalar's style instead of guessing its type."""

    def descend_resolver(self, _parent: Any, _index: Any) -> None:
        """PyYAML's path resolvers are not used."""

    def ascend_resolver(self) -> None:
        """PyYAML's path resolvers are not used."""

    def resolve(self, kind: type[Node], _value: Any, implicit: Any) -> str:
        """Called by the C composer for a node without a tag; `implicit` is (plain, quoted) for scalars."""
        return PLAIN if kind is ScalarNode and implicit[0] else TEXT


def _compose_piece(text: str, *, offset: int, into: Stream, first_index: int = 0) -> bool:
    """Compose a text's documents one after another; False, with a fault noted, where one breaks off the rest."""
    count = 0
    try:
        refuse_deep_nesting(text)
        composer = _Composer(text)
        try:
            while composer.check_node():
                node = composer.get_node()
                line = line_of_node(node) + offset if node is not None else offset + 1
                into.documents.append(Composed(first_index + count, line, node, offset))
                count += 1
        finally:
            composer.dispose()
    except (yaml.YAMLError, Unreadable, RecursionError, ValueError, OverflowError) as error:
        into.faults.append(_explain(error, text, offset))
        return False
    return True


def refuse_deep_nesting(text: str) -> None:
    """Unreadable when a text nests deeper than MAX_DEPTH; otherwise the C composer's recursion is safe.

    Cheap first: flow nesting cannot exceed the number of opening brackets, and block nesting cannot exceed about twice
    the deepest indentation plus the indicators on one line. Only a text that exceeds these small numbers is counted
    event by event, which libyaml does without recursion.
    """
    lines = _OTHER_BREAKS.sub("\n", text) if _OTHER_BREAKS.search(text) else text
    openers = lines.count("[") + lines.count("{")
    if openers <= _CHEAP_OPENERS and _DEEP_INDENT not in "\n" + lines and not _INDICATOR_RUN.search(lines):
        return
    parser = CParser(text)
    depth = 0
    try:
        while parser.check_event():
            event: Any = parser.get_event()
            kind = event.__class__
            if kind is MappingStartEvent or kind is SequenceStartEvent:
                depth += 1
                if depth > MAX_DEPTH:
                    message = f"nested more than {MAX_DEPTH} levels deep; flatten it"
                    raise Unreadable(event.start_mark.line + 1, message)
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                depth -= 1
    finally:
        parser.dispose()


def _pieces(text: str) -> list[tuple[int, str]]:
    """(lines before it, text) of each part of a stream; a part after the first begins with its `---`."""
    starts = [match.start() for match in _MARKER.finditer(text)]
    if len(starts) > MAX_DOCUMENTS:
        return [(0, "")] * (len(starts) + 1)
    if not starts or _ONLY_COMMENTS.fullmatch(text, 0, starts[0]) is None:
        starts.insert(0, 0)
    return list(_with_offsets(text, starts))


def _with_offsets(text: str, starts: list[int]) -> Iterator[tuple[int, str]]:
    line = text.count("\n", 0, starts[0])
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        yield line, text[start:end]
        line += text.count("\n", start, end)


def _starts_with_directive(piece: str) -> bool:
    return any(line.startswith("%") for line in piece.splitlines()) and not any(
        line and line[0] not in "%# \t" for line in piece.splitlines()
    )


def _directive_faults(piece: str, offset: int) -> list[LineFault]:
    """Kubernetes reads YAML 1.1; any other directive is refused, and the document after it is read on its own."""
    return [
        (offset + number, "YAML directives other than `%YAML 1.1` are not read by Kubernetes; remove the line")
        for number, line in enumerate(piece.splitlines(), start=1)
        if line.startswith("%") and line.split("#")[0].split() != ["%YAML", "1.1"]
    ]


def _explain(error: Exception, text: str, offset: int) -> LineFault:
    """1-based line of the file and a sentence; libyaml's own texts are constant and repeat nothing of the content."""
    last = text.count("\n") + (not text.endswith("\n"))
    if isinstance(error, Unreadable):
        return error.line + offset, error.message
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        line = min(mark.line + 1, max(last, 1)) if mark else 1
        problem = str(error.problem or "it breaks off")
        where = ""
        if error.context and error.context_mark and error.context_mark.line + 1 < line:
            where = f" {error.context} that begins on line {error.context_mark.line + 1 + offset}"
        return line + offset, f"the YAML cannot be read: {problem}{where}; {_HINTS.get(problem, _GENERAL_HINT)}"
    if isinstance(error, yaml.reader.ReaderError):
        line = text.encode("utf-8")[: int(error.position)].count(b"\n") + 1
        return line + offset, "a control character stands in the text; remove it or write it as an escape"
    return 1 + offset, "the YAML cannot be read; check the indentation, quotes and brackets"
