"""Reading YAML and JSON: bytes become plain JSON values with lines, or faults. Safe for any bytes.

`parse_documents` is for files that people wrote and reports every fault; `read_documents` is for whoever needs all or
nothing. The meaning of profile KUBERNETES is that of sigs.k8s.io/yaml, which kubectl and the API server use (see
`yaml_scalars`), with two differences that only refuse more: a key given twice is always a fault, and limits hold for
size, nesting, aliases and documents. Profile STATE is for what gitfleet wrote (see `yaml_values`).
A parsed file depends on its bytes alone, so callers keep it by blob id: `encode_parsed` and `decode_parsed`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import orjson

from gitfleet.formats.json_reader import read_json, starts_as_json, yaml_lines_of
from gitfleet.formats.json_values import JsonValue
from gitfleet.formats.limits import MAX_STATE_BYTES
from gitfleet.formats.lists import NO_ITEMS, is_list, items_of, lacks_items
from gitfleet.formats.texts import FormatsText
from gitfleet.formats.yaml_streams import MAX_DOCUMENTS, TOO_MANY, read_stream
from gitfleet.formats.yaml_values import MAX_DEPTH, LineFault, Marks, Profile, UnreadableText

__all__ = [
    "MAX_DEPTH",
    "PARSER_VERSION",
    "Document",
    "LineFault",
    "ParsedFile",
    "Profile",
    "UnreadableText",
    "decode_parsed",
    "encode_parsed",
    "line_of",
    "lines_of",
    "parse_documents",
    "read_documents",
]

PARSER_VERSION: Final = 8
"""Grows with every change of what a file means; part of the cache key and of the encoded form."""
MOST_FAULTS: Final = 1000
"""So many faults of one file are kept: nobody reads more, and each costs time in every pass."""


@dataclass(frozen=True, slots=True)
class Document:
    """One non-empty document, or one item of a List: its place in the stream (empty and broken documents count, items
    come behind all documents), its first line, its value."""

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
        return _refused(1, _too_large(content, max_bytes))
    try:
        text = _decode(content)
    except UnreadableText as unreadable:
        return _refused(unreadable.line, unreadable.message)
    if starts_as_json(text):
        read = read_json(text)
        if read is not None:
            values, faults = read
            found = [Document(index, line, value) for index, (line, value) in enumerate(values)]
            return _with_items(ParsedFile(tuple(found), tuple(faults)), content)
    return _with_items(_parse_yaml(text), content)


def read_documents(content: bytes, profile: Profile, *, max_bytes: int = MAX_STATE_BYTES) -> list[JsonValue]:
    """The values of all documents that are not empty. UnreadableText with the first fault, and nothing else, for
    whatever the bytes are."""
    if profile is Profile.KUBERNETES:
        parsed = parse_documents(content, max_bytes=max_bytes)
        if parsed.faults:
            raise UnreadableText(*parsed.faults[0])
        return [document.value for document in parsed.documents]
    if len(content) > max_bytes:
        raise UnreadableText(1, _too_large(content, max_bytes))
    built = read_stream(_decode(content), profile)
    if built.faults:
        raise UnreadableText(*built.faults[0])
    return [value for _, _, value in built.documents]


def line_of(content: bytes, document_index: int, location: Sequence[str | int]) -> int:
    """The 1-based line of a field, or of its nearest ancestor that is there; 1 when even the document is not found.

    It reads the file again, so it is for faults only. A field's line is its key's, an item's is its first.
    """
    return lines_of(content, [(document_index, location)])[0]


def lines_of(content: bytes, places: Sequence[tuple[int, Sequence[str | int]]]) -> list[int]:
    """`line_of` for many (document index, location) of one file, which is read once."""
    try:
        text = _decode(content)
    except UnreadableText:
        return [1] * len(places)
    if starts_as_json(text):
        text = yaml_lines_of(text)
    marks: Marks = {}
    built = read_stream(text, Profile.KUBERNETES, marks)
    found = {index: (line, value) for index, line, value in built.documents}
    for index, of, place, _ in items_of([(index, value) for index, _, value in built.documents]):
        found[index] = (_line_below(*found[of], ("items", place), marks), found[of][1]["items"][place])
    return [_line_below(*found.get(index, (1, None)), location, marks) for index, location in places]


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
    built = read_stream(text, Profile.KUBERNETES)
    documents = tuple(Document(index, line, value) for index, line, value in built.documents)
    faults = sorted(set(built.faults))
    if len(faults) > MOST_FAULTS:
        many = FormatsText.THINGS_CANNOT_READ(count=len(faults), most_faults=MOST_FAULTS)
        faults = [(1, many), *faults[:MOST_FAULTS]]
    return ParsedFile(documents, tuple(faults))


def _with_items(parsed: ParsedFile, content: bytes) -> ParsedFile:
    """The file with the items of its lists in the lists' place."""
    if not any(is_list(document.value) for document in parsed.documents):
        return parsed
    items = list(items_of([(document.index, document.value) for document in parsed.documents]))
    if len(items) > MAX_DOCUMENTS:
        return _refused(1, TOO_MANY)
    lines = lines_of(content, [(index, ()) for index, _, _, _ in items])
    plain = [document for document in parsed.documents if not is_list(document.value)]
    found = [Document(index, line, item) for line, (index, _, _, item) in zip(lines, items, strict=True)]
    bare = [document.index for document in parsed.documents if lacks_items(document.value)]
    faults = [(line, NO_ITEMS) for line in lines_of(content, [(index, ("items",)) for index in bare])] if bare else []
    return ParsedFile((*plain, *found), tuple(sorted({*parsed.faults, *faults})))


def _decode(content: bytes) -> str:
    """Strict UTF-8, less a byte order mark; other encodings would slip past the guards. Unreadable with the line."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UnreadableText(1, FormatsText.UTF_NOT_UTF())
    try:
        return content.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UnreadableText(line, FormatsText.NOT_UTF_TEXT()) from None


def _too_large(content: bytes, limit: int) -> str:
    return FormatsText.BYTES_MORE_READ(count=len(content), limit=limit)


def _refused(line: int, message: str) -> ParsedFile:
    return ParsedFile(faults=((line, message),))


def _line_below(line: int, value: JsonValue, location: Sequence[str | int], marks: Marks) -> int:
    for step in location:
        if isinstance(value, list):
            found = marks[id(value)].get(step) if isinstance(step, int) else None
        elif isinstance(value, dict):
            step = str(step)
            found = marks[id(value)].get(step)
        else:
            return line
        if found is None:
            return line
        line, value = found, value[step]
    return line
