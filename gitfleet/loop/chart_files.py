"""The files of a Helm chart as they are given to helm. Pure.

Archives in `charts/` are unpacked, so that the same rules hold for what is in them. Schemas of values may refer to
nothing but themselves: helm reads files and URLs that they name (helm pkg/chartutil/jsonschema.go).
"""

from __future__ import annotations

import io
import posixpath
import re
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gitfleet import desired
from gitfleet.errors import BadInput
from gitfleet.formats.canonical_json import canonical_json
from gitfleet.loop.texts import LoopText

MOST_BYTES: Final = 64 << 20
"""Largest chart, its subcharts unpacked."""
_MOST_FILES: Final = 10_000
_DEEPEST: Final = 8
_SCHEMA: Final = "values.schema.json"
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_META_SCHEMA: Final = re.compile(r"https?://json-schema\.org/[-a-z0-9/]*schema#?")
_COMMENT: Final = re.compile(rb"-?\s*/\*")
_END_OF_COMMENT: Final = re.compile(rb"\s*-?\}\}")
_WORD: Final = re.compile(
    rb'\}\}|"(?:\\.|[^"\\\n])*+"|\\"(?:\\[^"]|[^"\\\n])*+\\"|`[^`]*+`|\\[\\"]|(?<![\w.$])now(?!\w)', re.DOTALL
)
"""What decides where an action ends: strings, in a text of YAML or JSON with escaped quotes, and of what is in none its
end and `now`. No alternative gives back what it took."""
_ANOTHER_TIME: Final = b"(toDate `2006-01-02` `2001-02-03`)"
"""Without quotes, so that it may stand in a text of a template (`tpl`) or of JSON."""


def chart_files(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """A chart's files with its archives unpacked; BadInput names the file that is not used and says why."""
    found = dict(_unpacked(files, 0, _Budget()))
    if len(found) > _MOST_FILES or sum(map(len, found.values())) > MOST_BYTES:
        raise BadInput(LoopText.MORE_FILES_MIB(most_files=_MOST_FILES, most_bytes=MOST_BYTES >> 20))
    return {path: _checked_schema(path, text) if _is_schema(path) else text for path, text in found.items()}


def at_another_time(content: bytes) -> bytes:
    """A template in which `now` is a moment long ago: what it renders to differs where it depends on the time.

    In time that grows as the content does, whatever it is: any file of a chart may say anything. From the first action
    on that does not end, its strings and comments apart, there are neither.
    """
    if b"now" not in content:
        return content
    made: list[bytes] = []
    place, is_sound = 0, True
    while (start := content.find(b"{{", place)) >= 0:
        end = _end_of_action(content, start + 2) if is_sound else 0
        is_sound = end > 0
        if not is_sound and (end := content.find(b"}}", start + 2) + 2) < start + 2:
            break
        made += (content[place:start], _WORD.sub(_word_at_another_time, content[start:end]))
        place = end
    return b"".join((*made, content[place:]))


def _end_of_action(content: bytes, start: int) -> int:
    """Where an action ends; 0 where it does not."""
    if begun := _COMMENT.match(content, start):
        closing = content.find(b"*/", begun.end())
        ended = _END_OF_COMMENT.match(content, closing + 2) if closing >= 0 else None
        return ended.end() if ended else 0
    return next((word.end() for word in _WORD.finditer(content, start) if word[0] == b"}}"), 0)


def _word_at_another_time(word: re.Match[bytes]) -> bytes:
    text = word[0]
    if text == b"now":
        return _ANOTHER_TIME
    quote = text[: text.find(b'"') + 1] if text.startswith((b'"', b'\\"')) else b""
    inner = len(quote)
    return quote + at_another_time(text[inner:-inner]) + quote if inner and len(text) > inner else text


@dataclass(slots=True)
class _Budget:
    """So many bytes may still come out of archives, all of a chart's together: each may grow a thousandfold."""

    left: int = MOST_BYTES

    def unpack(self, archive: bytes) -> bytes:
        """What is in a gzip file; ValueError when it is more than is left."""
        reader = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        content = reader.decompress(archive, self.left + 1)
        if not reader.eof or len(content) > self.left:
            raise ValueError(LoopText.TOO_LARGE_CUT_OFF())
        self.left -= len(content)
        return content


def _unpacked(files: Mapping[str, bytes], depth: int, budget: _Budget) -> Iterator[tuple[str, bytes]]:
    for path, content in files.items():
        folder, _, name = path.rpartition("/")
        if posixpath.basename(folder) != "charts" or not name.endswith((".tgz", ".tar.gz")):
            yield path, content
            continue
        if depth == _DEEPEST:
            raise BadInput(LoopText.LIES_MORE_CHARTS_DEEP(path=path, deepest=_DEEPEST))
        try:
            inner = _members(budget.unpack(content))
        except (tarfile.TarError, OSError, EOFError, zlib.error, ValueError) as error:
            raise BadInput(LoopText.NO_ARCHIVE_READ(path=path)) from error
        if any(inside in files for inside in (f"{folder}/{one}" for one in inner)):
            raise BadInput(LoopText.FOLDER_TOO_REMOVE_ONE_TWO(path=path))
        yield from _unpacked({f"{folder}/{one}": text for one, text in inner.items()}, depth + 1, budget)


def _members(archive: bytes) -> dict[str, bytes]:
    """The files of a chart's archive, unzipped."""
    found: dict[str, bytes] = {}
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as members:
        for member in members:
            path = posixpath.normpath(member.name)
            if len(found) > _MOST_FILES:
                raise ValueError(LoopText.TOO_MANY_FILES())
            if member.isdir() or member.type in (tarfile.XHDTYPE, tarfile.XGLTYPE):
                continue
            content = members.extractfile(member) if member.isreg() else None
            if content is None or path.startswith(("/", "..")) or "/" not in path:
                raise ValueError(LoopText.NOT_CHART_FILE())
            found[path] = content.read()
    return found


def _is_schema(path: str) -> bool:
    return posixpath.basename(path) == _SCHEMA


def _checked_schema(path: str, content: bytes) -> bytes:
    """The schema as it was read, written out again."""
    parsed = desired.parse_file(path, content)
    if parsed.faults or len(parsed.documents) != 1:
        raise BadInput(LoopText.NO_JSON_READ(path=path))
    schema = parsed.documents[0].value
    for key, value in _texts(schema):
        if key in _REFERENCES and not value.startswith("#"):
            raise BadInput(LoopText.REFERS_NOTHING_FETCHED(path=path, value=value))
        if key == "$schema" and not _META_SCHEMA.fullmatch(value):
            raise BadInput(LoopText.SCHEMA_USE_ONE_JSON_SCHEMA(path=path, value=value))
    return canonical_json(schema)


def _texts(value: Any) -> Iterator[tuple[str, str]]:
    """Every text below a value with the key at which it stands."""
    for item in value if isinstance(value, list) else ():
        yield from _texts(item)
    for key, item in value.items() if isinstance(value, dict) else ():
        if isinstance(item, str):
            yield str(key), item
        else:
            yield from _texts(item)
