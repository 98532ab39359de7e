"""YAML text to values, for the files of the state branch: strict, flat in memory and safe for any bytes.

libyaml's own composer recurses in C and dies on deep nesting (libs.md §2), so values are built here from its events,
with a stack and a limit. What gitfleet never writes (aliases, anchors, tags, keys given twice) is refused. Dates and
words such as `yes` stay text: only what YAML 1.2 calls null, a boolean or a number is one.
"""

from __future__ import annotations

import re
from typing import Any, Final

import yaml
from yaml._yaml import CParser
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from gitfleet.formats.json_values import JsonValue

MAX_DEPTH: Final = 200
"""Deepest nesting of a state file."""
MAX_BYTES: Final = 64 * 1024 * 1024
"""Largest state file."""

_NUMBER: Final = re.compile(r"[-+]?(?:\d+)(?P<fraction>\.\d*)?(?P<exponent>[eE][-+]?\d+)?")
_WORDS: Final[dict[str, JsonValue]] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip


class UnreadableText(ValueError):
    """The bytes are not YAML that gitfleet would write; the sentence has the line where it is known."""


def read_documents(content: bytes) -> list[JsonValue]:
    """The values of all documents that are not empty. UnreadableText, and nothing else, for whatever the bytes
    are."""
    if len(content) > MAX_BYTES:
        raise UnreadableText(f"has {len(content)} bytes, more than the {MAX_BYTES} that are read")
    try:
        return _values(CParser(content.decode("utf-8")))
    except UnicodeDecodeError as error:
        raise UnreadableText("is not UTF-8 text") from error
    except yaml.MarkedYAMLError as error:
        line = f" at line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise UnreadableText(f"is not valid YAML{line}: {error.problem}") from error
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        if isinstance(error, UnreadableText):
            raise
        raise UnreadableText("is not valid YAML") from error


def _values(parser: Any) -> list[JsonValue]:
    """Runs once over the parser's events; `open_` is the innermost collection, `key` the mapping key that waits for a
    value."""
    documents: list[JsonValue] = []
    stack: list[tuple[Any, str | None]] = []
    open_: Any = []
    key: str | None = None
    next_event = parser.get_event
    try:
        while (event := next_event()) is not None:
            kind = event.__class__
            if kind is ScalarEvent:
                if open_.__class__ is dict and key is None:
                    key = _key(event, open_)
                    continue
                value = _scalar(event)
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                _refuse_extras(event, stack)
                value = {} if kind is MappingStartEvent else []
                if open_.__class__ is dict and key is None:
                    raise UnreadableText(f"has a key that is not text at line {event.start_mark.line + 1}")
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                open_, key = stack.pop()
                continue
            elif kind is AliasEvent:
                raise UnreadableText(f"has an alias at line {event.start_mark.line + 1}; write its value out")
            else:
                if kind is DocumentStartEvent:
                    open_ = []
                elif kind is DocumentEndEvent:
                    documents += [value for value in open_ if value is not None]
                continue
            if key is None:
                open_.append(value)
            else:
                open_[key] = value
                key = None
            if kind is not ScalarEvent:
                stack.append((open_, None))
                open_ = value
    finally:
        parser.dispose()
    return documents


def _refuse_extras(event: Any, stack: list[tuple[Any, str | None]]) -> None:
    if len(stack) >= MAX_DEPTH:
        raise UnreadableText(f"nests deeper than {MAX_DEPTH} levels at line {event.start_mark.line + 1}")
    if event.anchor is not None or event.tag is not None:
        raise UnreadableText(f"has an anchor or a tag at line {event.start_mark.line + 1}; write the plain value")


def _key(event: Any, mapping: dict[str, Any]) -> str:
    key: str = event.value
    if key in mapping:
        raise UnreadableText(f"gives a key twice at line {event.start_mark.line + 1}")
    return key


def _scalar(event: Any) -> JsonValue:
    if event.anchor is not None or event.tag is not None:
        raise UnreadableText(f"has an anchor or a tag at line {event.start_mark.line + 1}; write the plain value")
    text: str = event.value
    if not event.implicit[0]:
        return text
    if text in _WORDS:
        return _WORDS[text]
    number = _NUMBER.fullmatch(text)
    if number is None:
        return text
    return int(text) if number["fraction"] is None and number["exponent"] is None else float(text)
