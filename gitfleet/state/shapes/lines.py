"""Files with many entries: a head in YAML, then one JSON object a line.

That is YAML too: a diff shows entries, and reading and writing take a tenth of what block style takes. The list is the
last thing in the file, at the top or inside a mapping (`indent`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from gitfleet.api import InvalidContent
from gitfleet.api.objects import JsonObject
from gitfleet.formats.canonical_json import NotJson, canonical_json, parse_json
from gitfleet.formats.yaml_reader import read_documents
from gitfleet.formats.yaml_writer import yaml_text
from gitfleet.state.texts import StateText

_HIDDEN: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
"""What JSON shows as it is and YAML takes for a line break or refuses."""
_LONGEST_HEAD: Final = 64 * 1024
_COUNT: Final = "count"
_ITEMS: Final = "items"


def entry_line(entry: JsonObject) -> bytes:
    """One entry: canonical JSON in which every sign is one that YAML takes for itself."""
    line = canonical_json(entry)
    if line.isascii() and b"\x7f" not in line:
        return line
    return _HIDDEN.sub(lambda sign: f"\\u{ord(sign[0]):04x}", line.decode()).encode()


def lines_bytes(head: JsonObject, field: str, lines: Iterable[bytes], *, indent: str = "") -> bytes:
    """The file: `head`, and below it the list `field`, which must sort behind everything in the head. At least one
    line."""
    start = f"{yaml_text(head)}{indent}{field}:\n{indent}- ".encode()
    return start + f"\n{indent}- ".encode().join(lines) + b"\n"


def read_lines(content: bytes, field: str, *, indent: str = "") -> tuple[JsonObject, list[Any]] | None:
    """The head and the entries of a file that `lines_bytes` made, read as JSON; None when it was written otherwise."""
    head, separator, body = content.partition(f"\n{indent}{field}:\n{indent}- ".encode())
    if not separator or not body.endswith(b"\n") or len(head) > _LONGEST_HEAD:
        return None
    try:
        entries = parse_json(b"[" + b",".join(body[:-1].split(f"\n{indent}- ".encode())) + b"]")
    except NotJson:
        return None
    documents = read_documents(head + b"\n")
    return (documents[0], entries) if len(documents) == 1 and isinstance(documents[0], dict) else None


def items_bytes(head: JsonObject, lines: Iterable[bytes]) -> bytes:
    """A file of `items` whose head has their number, so that a file that was cut short is noticed."""
    items = list(lines)
    return lines_bytes({**head, _COUNT: len(items)}, _ITEMS, items)


def read_items(content: bytes, owner: str, refusal: StateText) -> tuple[str, list[Any]]:
    """The text of the field `owner` in the head, and the items: of a file that `items_bytes` made. InvalidContent, with
    `refusal` for any other file."""
    parsed = read_lines(content, _ITEMS)
    if parsed is None or not isinstance(parsed[0].get(owner), str):
        raise InvalidContent(refusal())
    head, items = parsed
    if head.get(_COUNT) != len(items):
        raise InvalidContent(StateText.MUST_HOLD_ENTRIES_HOLDS(head=head.get(_COUNT), count=len(items)))
    return head[owner], items
