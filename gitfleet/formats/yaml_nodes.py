"""YAML nodes become plain JSON values, under limits: this is where aliases, merges and keys get their meaning.

`value_of` collects every fault of one document. Aliases are expanded by copying, so that no two places of a value share
a mutable part; a budget proportional to the file's own length stops alias bombs (libs.md §2: "excessive aliasing").
"""

from __future__ import annotations

from typing import Any, Final

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from gitfleet.formats.json_values import JsonValue
from gitfleet.formats.yaml_scalars import BadScalar, Scalar, key_text, resolve_plain, resolve_tagged, shown

PLAIN: Final = "gitfleet:plain"
"""The tag that our composer gives to an unquoted scalar without a tag of its own."""
TEXT: Final = "gitfleet:text"
"""The tag of a quoted scalar and of a collection."""
MAX_DEPTH: Final = 200
"""Deepest nesting read. CRD schemas reach some 60 levels; orjson writes 254; the C composer dies at some 20,000."""

_FREE_COST: Final = 100_000

LineFault = tuple[int, str]
"""1-based line, sentence."""


class Unreadable(Exception):
    """A document that cannot be given a meaning at all; `line` is 1-based."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.message = message


def line_of_node(node: Node) -> int:
    """The 1-based line on which a node starts."""
    return int(node.start_mark.line) + 1


def value_of(node: Node, *, size: int, aliased: bool) -> tuple[JsonValue, list[LineFault]]:
    """The JSON value of a document's root node and its faults; with any fault the value is not to be used.

    `size` is the length of the text the node came from: the expansion of its aliases may cost that twice over and a
    fixed sum besides. `aliased` False promises that the text has no aliases, which spares the accounting.
    """
    reader = _Reader(budget=2 * size + _FREE_COST) if aliased else _FastReader()
    try:
        value = reader.read(node)
    except Unreadable as unreadable:
        return None, [*reader.faults, (unreadable.line, unreadable.message)]
    except RecursionError:
        return None, [*reader.faults, (line_of_node(node), "the document is nested too deeply; flatten it")]
    return value, reader.faults


class _FastReader:
    """Builds values of nodes that stand in one place each."""

    def __init__(self) -> None:
        self.faults: list[LineFault] = []

    def read(self, node: Node) -> JsonValue:
        """The value of any node."""
        kind = node.__class__
        if kind is ScalarNode:
            return self.scalar(node)
        if kind is MappingNode:
            return self.mapping(node)
        return [self.read(item) for item in node.value]

    def scalar(self, node: Node) -> Scalar:
        """The value of a scalar, None after noting a fault."""
        tag = node.tag
        if tag == TEXT:
            text: str = node.value
            return text
        try:
            return resolve_plain(node.value) if tag == PLAIN else resolve_tagged(tag, node.value)
        except BadScalar as bad:
            self.faults.append((line_of_node(node), str(bad)))
            return None

    def mapping(self, node: Node) -> dict[str, Any]:
        """The value of a mapping, less the keys that are noted as faults."""
        out: dict[str, Any] = {}
        merged: list[Node] = []
        for key_node, value_node in node.value:
            if key_node.__class__ is ScalarNode and key_node.tag == PLAIN and key_node.value == "<<":
                merged.append(value_node)
                continue
            key = self.key(key_node)
            if key is None:
                continue
            if key in out:
                sentence = f'the key "{shown(key)}" is given twice in one mapping; keep one'
                self.faults.append((line_of_node(key_node), sentence))
                continue
            out[key] = self.read(value_node)
        for source in merged:
            self.merge(out, source)
        return out

    def key(self, node: Node) -> str | None:
        """The key's text, or None after noting why it cannot be one."""
        if node.__class__ is not ScalarNode:
            self.faults.append((line_of_node(node), "a list or mapping stands as a key; keys must be plain words"))
            return None
        if node.tag == TEXT:
            text: str = node.value
            return text
        text_or_none = key_text(self.scalar(node))
        if text_or_none is None:
            self.faults.append((line_of_node(node), "a key is empty or null; name it, or quote it if null is meant"))
        return text_or_none

    def merge(self, into: dict[str, Any], source: Node) -> None:
        """`<<: *base` and `<<: [*a, *b]`: own keys win, then earlier sources (yaml.org's merge type)."""
        for part in source.value if isinstance(source, SequenceNode) else [source]:
            if not isinstance(part, MappingNode):
                self.faults.append((line_of_node(part), "`<<` merges only mappings; give it an alias of one"))
                return
            for key, value in self.read(part).items():
                into.setdefault(key, value)


class _Reader(_FastReader):
    """The same where aliases may make one node stand in many places: watches the cost, the depth and cycles."""

    def __init__(self, budget: int) -> None:
        super().__init__()
        self.budget = budget
        self.open: set[int] = set()

    def read(self, node: Node) -> JsonValue:
        """The value of any node, paid for and on a path without cycles."""
        if node.__class__ is ScalarNode:
            self.budget -= len(node.value) + 1
            self.afford(node)
            return self.scalar(node)
        self.budget -= 1
        self.afford(node)
        if id(node) in self.open:
            raise Unreadable(line_of_node(node), "an anchor contains an alias of itself; remove the alias")
        if len(self.open) >= MAX_DEPTH:
            raise Unreadable(line_of_node(node), f"nested more than {MAX_DEPTH} levels deep; flatten it")
        self.open.add(id(node))
        value = super().read(node)
        self.open.discard(id(node))
        return value

    def key(self, node: Node) -> str | None:
        """The key's text, paid for."""
        if node.__class__ is ScalarNode:
            self.budget -= len(node.value) + 1
            self.afford(node)
        return super().key(node)

    def afford(self, node: Node) -> None:
        """Unreadable when the expansion of aliases has cost more than the budget."""
        if self.budget < 0:
            raise Unreadable(line_of_node(node), "its aliases expand to far more than the file holds; write it out")
