"""Reading files: bytes of a YAML or JSON file become plain JSON values with lines, or faults. Safe for any bytes.

The meaning is that of sigs.k8s.io/yaml, which kubectl and the API server use (see `scalars`), with two differences that
only refuse more: a key given twice is always a fault, and limits hold for size, nesting, aliases and documents.
A parsed file depends on its bytes alone, so callers keep it by blob id: `encode_parsed` and `decode_parsed`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import orjson
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from gitfleet.formats.json_reader import looks_like_json, read_json, yaml_lines_of
from gitfleet.formats.json_values import JsonValue
from gitfleet.formats.yaml_nodes import PLAIN, TEXT, LineFault, Unreadable, line_of_node, value_of
from gitfleet.formats.yaml_scalars import BadScalar, key_text, resolve_plain, resolve_tagged
from gitfleet.formats.yaml_streams import compose_stream

PARSER_VERSION: Final = 1
"""Grows with every change of what a file means; part of the cache key and of the encoded form."""


@dataclass(frozen=True, slots=True)
class Document:
    """One non-empty document: its place in the stream (empty and broken ones count), its first line, its value."""

    index: int
    line: int
    value: JsonValue


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """A file's sound documents, and (line, sentence) for everything that could not be read; sorted by line."""

    documents: tuple[Document, ...] = ()
    faults: tuple[LineFault, ...] = ()


def parse_documents(content: bytes, *, max_bytes: int) -> ParsedFile:
    """Read a YAML or JSON file. Never raises, whatever the bytes; a fault never repeats a value of the file."""
    if len(content) > max_bytes:
        return _refused(1, f"has {len(content)} bytes, more than the {max_bytes} that are read; split the file")
    try:
        text = _decode(content)
    except Unreadable as unreadable:
        return _refused(unreadable.line, unreadable.message)
    if looks_like_json(text):
        read = read_json(text)
        if read is not None:
            values, faults = read
            found = (Document(index, line, value) for index, (line, value) in enumerate(values))
            return ParsedFile(tuple(found), tuple(faults))
    return _parse_yaml(text)


def line_of(content: bytes, document_index: int, location: Sequence[str | int]) -> int:
    """The 1-based line of a field, or of its nearest ancestor that is there; 1 when even the document is not found.

    It composes the file anew, so it is for faults only. A field's line is its key's, an item's is its first.
    """
    return lines_of(content, [(document_index, location)])[0]


def lines_of(content: bytes, places: Sequence[tuple[int, Sequence[str | int]]]) -> list[int]:
    """`line_of` for many (document index, location) of one file, which is composed once."""
    try:
        text = _decode(content)
    except Unreadable:
        return [1] * len(places)
    if looks_like_json(text):
        text = yaml_lines_of(text)
    composed = {document.index: document for document in compose_stream(text).documents}
    lines: list[int] = []
    for index, location in places:
        document = composed.get(index)
        if document is None or document.node is None:
            lines.append(1)
            continue
        lines.append(_line_below(document.node, location, document.line - document.offset) + document.offset)
    return lines


def encode_parsed(parsed: ParsedFile) -> bytes:
    """JSON bytes for a cache; `decode_parsed` reads them back equal."""
    return orjson.dumps(
        {
            "version": PARSER_VERSION,
            "documents": [(document.index, document.line, document.value) for document in parsed.documents],
            "faults": parsed.faults,
        }
    )


def decode_parsed(encoded: bytes) -> ParsedFile | None:
    """What `encode_parsed` wrote; None for another version or damaged bytes, so that the file is read again."""
    try:
        entry = orjson.loads(encoded)
        if entry["version"] != PARSER_VERSION:
            return None
        return ParsedFile(
            tuple(Document(index, line, value) for index, line, value in entry["documents"]),
            tuple((line, message) for line, message in entry["faults"]),
        )
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError):
        return None


def _parse_yaml(text: str) -> ParsedFile:
    stream = compose_stream(text)
    aliased = "*" in text and "&" in text
    documents: list[Document] = []
    faults = list(stream.faults)
    for composed in stream.documents:
        if composed.node is None:
            continue
        value, troubles = value_of(composed.node, size=len(text), aliased=aliased)
        if troubles:
            faults += [(line + composed.offset, message) for line, message in troubles]
        elif value is not None:
            documents.append(Document(composed.index, composed.line, value))
    return ParsedFile(tuple(documents), tuple(sorted(set(faults))))


def _decode(content: bytes) -> str:
    """Strict UTF-8, less a byte order mark; other encodings would slip past the guards. Unreadable with the line."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Unreadable(1, "is UTF-16, not UTF-8; save the file as UTF-8")
    try:
        return content.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise Unreadable(line, "is not UTF-8 text; save the file as UTF-8 or ignore it in .gitfleetignore") from None


def _refused(line: int, message: str) -> ParsedFile:
    return ParsedFile(faults=((line, message),))


def _line_below(node: Node, location: Sequence[str | int], line: int) -> int:
    for step in location:
        if isinstance(node, MappingNode):
            pair = next(((key, value) for key, value in node.value if _key_of(key) == str(step)), None)
            if pair is None:
                return line
            line, node = line_of_node(pair[0]), pair[1]
        elif isinstance(node, SequenceNode) and isinstance(step, int) and 0 <= step < len(node.value):
            node = node.value[step]
            line = line_of_node(node)
        else:
            return line
    return line


def _key_of(node: Node) -> str | None:
    if not isinstance(node, ScalarNode):
        return None
    if node.tag == TEXT:
        return str(node.value)
    try:
        return key_text(resolve_plain(node.value) if node.tag == PLAIN else resolve_tagged(node.tag, node.value))
    except BadScalar:
        return None
