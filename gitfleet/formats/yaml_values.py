"""libyaml's events become plain JSON values: flat in memory, with every limit in it.

libyaml's own composer recurses in C, so that some 20,000 nested brackets end the process without an exception
(docs/decisions/0007-text-formats.md). Its parser does not, and neither does this builder, which keeps a stack of its
own and stops at MAX_DEPTH.

Words and numbers have the meaning of sigs.k8s.io/yaml; every fault of a document is collected.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

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
from gitfleet.formats.texts import FormatsText
from gitfleet.formats.yaml_scalars import (
    BadScalar,
    Scalar,
    key_text,
    resolve_plain,
    resolve_tagged,
    shown,
)

MAX_DEPTH: Final = 200
"""Deepest nesting read. CRD schemas reach some 60 levels; orjson writes 254."""
TOO_DEEP: Final = FormatsText.NESTED_MORE_LEVELS_DEEP(max_depth=MAX_DEPTH)

_FREE_COST: Final = 100_000
_OPEN: Final = object()
_DISCARD: Final = object()
_MERGE: Final = object()

LineFault = tuple[int, str]
"""1-based line, sentence."""
Marks = dict[int, dict[str | int, int]]
"""By id of a mapping or list: the 1-based line of each key or item."""


class UnreadableText(ValueError):
    """A text that is refused; `line` is 1-based, `message` never repeats a value of the text."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line
        self.message = message


@dataclass(slots=True)
class Built:
    """Documents in the order of the text: `count` of all that ended (empty and faulty ones too), the sound ones that
    are not empty as (index, line, value), and the faults of the others. Lines are 1-based."""

    count: int = 0
    documents: list[tuple[int, int, JsonValue]] = field(default_factory=list)
    faults: list[LineFault] = field(default_factory=list)


def build(text: str, into: Built, *, offset: int = 0, marks: Marks | None = None) -> None:
    """Add a text's documents to `into`, whose lines are `offset` more than the text's; with `marks`, note all lines.

    Raises yaml.YAMLError and UnreadableText where the text breaks off; what was complete by then is in `into`. Their
    lines are the text's own.
    """
    parser = CParser(text)
    builder = _Builder(into, len(text), offset, marks)
    take = builder.receivers()
    try:
        while (event := parser.get_event()) is not None:
            taker = take.get(event.__class__)
            if taker is not None:
                taker(event)
    finally:
        parser.dispose()


class _Builder:
    """`open` is the innermost collection and `key` the mapping key that waits for a value; `stack` holds the outer
    ones, each with the key it goes on with."""

    def __init__(self, into: Built, size: int, offset: int, marks: Marks | None) -> None:
        self.into, self.offset, self.marks = into, offset, marks
        self.budget = size + _FREE_COST
        self.open: Any = []
        self.key: Any = None
        self.stack: list[tuple[Any, Any]] = []
        self.anchors: dict[str, Any] = {}
        self.named: list[tuple[Any, str]] = []
        self.merges: list[tuple[dict[str, Any], JsonValue, int]] = []
        self.first = 0
        self.sound = 0

    def receivers(self) -> dict[type, Callable[[Any], None]]:
        """What to do with each class of event."""
        return {
            ScalarEvent: self.scalar,
            MappingStartEvent: self.start,
            SequenceStartEvent: self.start,
            MappingEndEvent: self.end,
            SequenceEndEvent: self.end,
            AliasEvent: self.alias,
            DocumentStartEvent: self.start_document,
            DocumentEndEvent: self.end_document,
        }

    def fault(self, event: Any, sentence: str) -> None:
        """Note what is wrong with the document that is being read."""
        self.into.faults.append((event.start_mark.line + 1 + self.offset, sentence))

    def start_document(self, _event: Any) -> None:
        """A document of a stream."""
        self.open, self.key, self.first = [], None, 0
        self.sound = len(self.into.faults)
        self.anchors.clear()

    def end_document(self, _event: Any) -> None:
        """Keep the document when it is sound and not empty."""
        value = self.open[0]
        if len(self.into.faults) == self.sound and value is not None:
            self.into.documents.append((self.into.count, self.first + self.offset, value))
        self.into.count += 1

    def scalar(self, event: Any) -> None:
        """A key, or a value that is no collection. Nearly every event is one: what is common goes without calls."""
        inside, key = self.open, self.key
        value: Any
        if event.tag is None and event.anchor is None and not event.implicit[0]:
            value = event.value
        else:
            value = self.value(event)
        if inside.__class__ is dict and key is None:
            if value == "<<" and event.implicit[0] and event.tag is None:
                self.key = _MERGE
            elif value.__class__ is str and value not in inside and self.marks is None:
                self.key = value
            else:
                self.name(event, value)
        elif key.__class__ is str:
            inside[key] = value
            self.key = None
        else:
            self.put(event, value)

    def value(self, event: Any) -> JsonValue:
        """What a scalar means; None after noting that it means nothing."""
        try:
            value = self.resolve(event)
        except BadScalar as bad:
            self.fault(event, str(bad))
            value = None
        if event.anchor is not None:
            self.anchors[event.anchor] = value
        return value

    def resolve(self, event: Any) -> Scalar:
        """What a scalar means. BadScalar."""
        if event.tag is None or event.tag == "!":
            return resolve_plain(event.value) if event.implicit[0] else event.value
        return resolve_tagged(event.tag, event.value)

    def name(self, event: Any, value: JsonValue) -> None:
        """A scalar stands as a mapping's key."""
        key = key_text(value)
        if key is None:
            self.fault(event, FormatsText.KEY_EMPTY_NULL())
            self.key = _DISCARD
        elif key in self.open:
            self.fault(event, FormatsText.KEY_GIVEN_TWICE_ONE_MAPPING(key=shown(key)))
            self.key = _DISCARD
        else:
            self.key = key
            if self.marks is not None:
                self.marks[id(self.open)][key] = event.start_mark.line + 1 + self.offset

    def put(self, event: Any, value: JsonValue) -> None:
        """A value goes to its place in the innermost collection."""
        if self.open.__class__ is list:
            if self.marks is not None and self.stack:
                self.marks[id(self.open)][len(self.open)] = event.start_mark.line + 1 + self.offset
            self.open.append(value)
            if not self.first:
                self.first = event.start_mark.line + 1
            return
        key, self.key = self.key, None
        if key is _MERGE:
            self.merges.append((self.open, value, event.start_mark.line + 1))
        elif key is not _DISCARD:
            self.open[key] = value

    def start(self, event: Any) -> None:
        """A mapping or a list begins."""
        if len(self.stack) >= MAX_DEPTH:
            raise UnreadableText(event.start_mark.line + 1, TOO_DEEP)
        value: Any = {} if event.__class__ is MappingStartEvent else []
        after = None
        if self.key is None and self.open.__class__ is dict:
            self.fault(event, FormatsText.LIST_MAPPING_STANDS_KEY())
            after = _DISCARD
        else:
            self.put(event, value)
        if event.anchor is not None:
            self.anchors[event.anchor] = _OPEN
            self.named.append((value, event.anchor))
        if self.marks is not None:
            self.marks[id(value)] = {}
        self.stack.append((self.open, after))
        self.open, self.key = value, None

    def end(self, _event: Any) -> None:
        """The innermost collection is complete: own keys win over merged ones, and earlier sources over later ones."""
        done = self.open
        if self.merges and self.merges[-1][0] is done:
            self.merge()
        if self.named and self.named[-1][0] is done:
            self.anchors[self.named.pop()[1]] = done
        self.open, self.key = self.stack.pop()

    def merge(self) -> None:
        """`<<: *base` and `<<: [*a, *b]` of the innermost mapping (yaml.org's merge type)."""
        own_merges = [merge for merge in self.merges if merge[0] is self.open]
        del self.merges[-len(own_merges) :]
        for into, source, line in own_merges:
            for part in source if isinstance(source, list) else [source]:
                if not isinstance(part, dict):
                    self.into.faults.append((line + self.offset, FormatsText.MERGES_ONLY_MAPPINGS()))
                    return
                for key, value in part.items():
                    into.setdefault(key, value)

    def alias(self, event: Any) -> None:
        """The anchor's value once more, as a copy: no two places of a document share a mutable part."""
        value = self.anchors.get(event.anchor, self)
        if value is self:
            self.fault(
                event,
                FormatsText.YAML_CANNOT_READ_FOUND_UNDEFINED(),
            )
            value = None
        elif value is _OPEN:
            raise UnreadableText(event.start_mark.line + 1, FormatsText.ANCHOR_CONTAINS_ALIAS_ITSELF())
        if self.open.__class__ is not dict or self.key is not None:
            self.put(event, self.copy(event, value, len(self.stack)))
        elif isinstance(value, dict | list):
            self.fault(event, FormatsText.LIST_MAPPING_STANDS_KEY())
            self.key = _DISCARD
        else:
            self.name(event, value)

    def copy(self, event: Any, value: JsonValue, depth: int) -> JsonValue:
        """A copy that is paid for; UnreadableText when it is too deep where it stands, or costs too much."""
        self.budget -= 1 + (len(value) if isinstance(value, str) else 0)
        if self.budget < 0:
            sentence = FormatsText.ALIASES_EXPAND_FAR_MORE_FILE()
            raise UnreadableText(event.start_mark.line + 1, sentence)
        if not isinstance(value, dict | list):
            return value
        if depth >= MAX_DEPTH:
            raise UnreadableText(event.start_mark.line + 1, TOO_DEEP)
        copied: Any
        if isinstance(value, dict):
            self.budget -= sum(map(len, value))
            copied = {key: self.copy(event, part, depth + 1) for key, part in value.items()}
        else:
            copied = [self.copy(event, part, depth + 1) for part in value]
        if self.marks is not None:
            self.marks[id(copied)] = self.marks.get(id(value), {})
        return copied
