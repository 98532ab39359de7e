"""Reading YAML and JSON: bytes become plain JSON values with lines, or faults. Safe for any bytes.

`parse_documents` is for files that people wrote and reports every fault; `read_documents` is for whoever needs all or
nothing. The meaning is that of sigs.k8s.io/yaml, which kubectl and the API server use (see `yaml_scalars`), with two
differences that only refuse more: a key given twice is always a fault, and limits hold for size, nesting, aliases and
documents.
A parsed file depends on its bytes alone, so callers keep it by blob id: `encode_parsed` and `decode_parsed`.

A document that does not parse does not take down the others: the text is then split where YAML lets no construct pass,
at `---` in the first column, and each piece is read alone. Each item of a `kind: List`, and of the lists of built-in
kinds (`ConfigMapList`), is read as if it were a document of its own (D35, D45).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import orjson
import yaml

from gitfleet.formats.json_reader import read_json, starts_as_json, yaml_lines_of
from gitfleet.formats.json_values import JsonObject, JsonValue
from gitfleet.formats.kinds import BUILT_IN_KINDS
from gitfleet.formats.limits import MAX_STATE_BYTES
from gitfleet.formats.sops import is_sops_encrypted
from gitfleet.formats.texts import FormatsText
from gitfleet.formats.yaml_values import MAX_DEPTH, TOO_DEEP, Built, LineFault, Marks, UnreadableText, build

__all__ = [
    "MAX_DEPTH",
    "PARSER_VERSION",
    "Document",
    "LineFault",
    "ParsedFile",
    "UnreadableText",
    "decode_parsed",
    "encode_parsed",
    "line_of",
    "lines_of",
    "parse_documents",
    "read_documents",
]

NO_ITEMS: Final = FormatsText.LIST_NO_ITEMS()


def is_list(value: JsonValue) -> bool:
    """Whether a document is a list with its items; one that SOPS encrypted stays whole: its items do not say so."""
    return (
        isinstance(value, dict)
        and not is_sops_encrypted(value)
        and is_list_kind(value.get("apiVersion"), value.get("kind"))
        and isinstance(value.get("items"), list | None)
    )


def is_list_kind(api_version: JsonValue, kind: JsonValue) -> bool:
    """Whether it is the v1 List, or the list of a built-in kind."""
    if not isinstance(api_version, str) or not isinstance(kind, str) or not kind.endswith("List"):
        return False
    row = BUILT_IN_KINDS.get((api_version.rpartition("/")[0], kind.removesuffix("List")))
    return (api_version, kind) == ("v1", "List") or row is not None


def lacks_items(value: JsonValue) -> bool:
    """Whether a document is a List that does not say what is in it: an export that failed looks like that."""
    return isinstance(value, dict) and is_list(value) and value.get("items") is None


def items_of(documents: Iterable[tuple[int, JsonValue]]) -> Iterator[tuple[int, int, int, JsonValue]]:
    """(index of the item, index of its list, place in it, item) of all lists among (index, value) of one file.

    Items are numbered behind all documents, so that whatever else stands in the file keeps its index.
    """
    listed = list(documents)
    number = max((index for index, _ in listed), default=-1) + 1
    for index, value in listed:
        if isinstance(value, dict) and is_list(value):
            for place, item in enumerate(value.get("items") or ()):
                yield number, index, place, _typed(item, value)
                number += 1


def _typed(item: JsonValue, of: JsonObject) -> JsonValue:
    """The item with the type that its list names: an API server's own lists leave it out of their items."""
    kind = str(of["kind"]).removesuffix("List")
    if not kind or not isinstance(item, dict) or "apiVersion" in item or "kind" in item:
        return item
    return {"apiVersion": of["apiVersion"], "kind": kind, **item}


MAX_DOCUMENTS: Final = 10_000
"""Most documents in one file."""
TOO_MANY: Final = FormatsText.HOLDS_MORE_DOCUMENTS(max_documents=MAX_DOCUMENTS)

_MARKER: Final = re.compile(r"^---(?=\s|\Z)", re.MULTILINE)
_DIRECTIVE: Final = re.compile(r"^%", re.MULTILINE)
_HEAD: Final = re.compile(r"(?:[ \t\r]*(?:#[^\n]*)?\n|%[^\n]*\n)*")
"""Directives and comments before the first document, in linear time: each turn takes one line."""

_NESTING: Final = "exceeded maximum nesting depth"
"""libyaml's own limit, in the packages of PyYAML from 6.0.4 on: it may be reached before ours is."""


def read_stream(text: str, marks: Marks | None = None) -> Built:
    """Every document of a text that is sound, and a fault for each that is not. Never raises on any text.

    With `marks`, every line is noted there (see `build`).
    """
    if _DIRECTIVE.search(text) is None:
        whole = Built()
        if _read_piece(text, 0, whole, marks):
            return whole if whole.count <= MAX_DOCUMENTS else _too_many()
    pieces = _pieces(text)
    if len(pieces) > MAX_DOCUMENTS:
        return _too_many()
    built = Built()
    built.faults += _directive_faults(text)
    for offset, piece in pieces:
        refused = built.faults and not offset
        if refused or not _read_piece(piece, offset, built, marks):
            built.count += 1
    return built


def _too_many() -> Built:
    return Built(faults=[(1, TOO_MANY)])


def _read_piece(text: str, offset: int, into: Built, marks: Marks | None) -> bool:
    """Read a text's documents one after another; False, with a fault noted, where one breaks off the rest."""
    try:
        build(text, into, offset=offset, marks=marks)
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
    match = _HEAD.match(text)
    return match.end() if match else 0


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
        return line + offset, FormatsText.YAML_CANNOT_READ(problem=problem, where=where)
    if isinstance(error, yaml.reader.ReaderError):
        line = text.encode("utf-8")[: int(error.position)].count(b"\n") + 1
        return line + offset, FormatsText.CONTROL_CHARACTER_STANDS_TEXT()
    return 1 + offset, FormatsText.YAML_CANNOT_READ(problem=FormatsText.BREAKS_OFF(), where="")


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
        return _refused(1, FormatsText.BYTES_MORE_READ(count=len(content), limit=max_bytes))
    try:
        text = _decode(content)
    except UnreadableText as unreadable:
        return _refused(unreadable.line, unreadable.message)
    if starts_as_json(text):
        read = read_json(text)
        if read is not None:
            values, faults = read
            documents = [Document(index, line, value) for index, (line, value) in enumerate(values)]
            return _with_items(ParsedFile(tuple(documents), tuple(faults)), content)
    return _with_items(_parse_yaml(text), content)


def read_documents(content: bytes, *, max_bytes: int = MAX_STATE_BYTES) -> list[JsonValue]:
    """The values of all documents that are not empty. UnreadableText with the first fault, and nothing else, for
    whatever the bytes are."""
    parsed = parse_documents(content, max_bytes=max_bytes)
    if parsed.faults:
        raise UnreadableText(*parsed.faults[0])
    return [document.value for document in parsed.documents]


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
    built = read_stream(text, marks)
    by_index = {index: (line, value) for index, line, value in built.documents}
    for index, of, place, _ in items_of([(index, value) for index, _, value in built.documents]):
        by_index[index] = (_line_below(*by_index[of], ("items", place), marks), by_index[of][1]["items"][place])
    return [_line_below(*by_index.get(index, (1, None)), location, marks) for index, location in places]


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
    built = read_stream(text)
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
    items_read = [Document(index, line, item) for line, (index, _, _, item) in zip(lines, items, strict=True)]
    bare = [document.index for document in parsed.documents if lacks_items(document.value)]
    faults = [(line, NO_ITEMS) for line in lines_of(content, [(index, ("items",)) for index in bare])] if bare else []
    return ParsedFile((*plain, *items_read), tuple(sorted({*parsed.faults, *faults})))


def _decode(content: bytes) -> str:
    """Strict UTF-8, less a byte order mark; other encodings would slip past the guards. Unreadable with the line."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UnreadableText(1, FormatsText.UTF_NOT_UTF())
    try:
        return content.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UnreadableText(line, FormatsText.NOT_UTF_TEXT()) from None


def _refused(line: int, message: str) -> ParsedFile:
    return ParsedFile(faults=((line, message),))


def _line_below(line: int, value: JsonValue, location: Sequence[str | int], marks: Marks) -> int:
    for step in location:
        if isinstance(value, list):
            inner_line = marks[id(value)].get(step) if isinstance(step, int) else None
        elif isinstance(value, dict):
            step = str(step)
            inner_line = marks[id(value)].get(step)
        else:
            return line
        if inner_line is None:
            return line
        line, value = inner_line, value[step]
    return line
