"""Files with many entries: a head in YAML, then one JSON object a line.

That is YAML too: a diff shows entries, and reading and writing take a tenth of what block style takes. The list is the
last thing in the file, at the top or inside a mapping (`indent`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from gitfleet.api import InvalidContent
from gitfleet.api.objects import JsonObject
from gitfleet.formats.canonical_json import NotJson, canonical_json, parse_json
from gitfleet.formats.yaml_reader import Profile, read_documents
from gitfleet.formats.yaml_writer import yaml_text
from gitfleet.state.texts import StateText

_HIDDEN: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
"""What JSON shows as it is and YAML takes for a line break or refuses."""
_LONGEST_HEAD: Final = 64 * 1024
COUNT: Final = "count"


def entry_line(entry: JsonObject) -> bytes:
    """One entry: canonical JSON in which every sign is one that YAML takes for itself."""
    line = canonical_json(entry)
    if line.isascii() and b"\x7f" not in line:
        return line
    return _HIDDEN.sub(lambda sign: f"\\u{ord(sign[0]):04x}", line.decode()).encode()


def counted(head: JsonObject, lines: Iterable[bytes]) -> tuple[JsonObject, list[bytes]]:
    """The head with the number of entries in it, so that a file that was cut short is noticed."""
    every = list(lines)
    return {**head, COUNT: len(every)}, every


def check_count(head: Mapping[str, Any], entries: Any) -> None:
    """InvalidContent where a head says another number of entries; an earlier version's says none."""
    if COUNT in head and isinstance(entries, list) and head[COUNT] != len(entries):
        raise InvalidContent(StateText.MUST_HOLD_ENTRIES_HOLDS(head=head[COUNT], count=len(entries)))


def lines_bytes(head: JsonObject, field: str, lines: Iterable[bytes], *, indent: str = "") -> bytes:
    """The file: `head`, and below it the list `field`, which must sort behind everything in the head. At least one
    line."""
    start = f"{yaml_text(head)}{indent}{field}:\n{indent}- ".encode()
    return start + f"\n{indent}- ".encode().join(lines) + b"\n"


def read_lines(content: bytes, field: str, *, indent: str = "") -> tuple[JsonObject, list[Any]] | None:
    """The head and the entries of a file that `lines_bytes` made, read as JSON; None when it was written otherwise."""
    head, found, rest = content.partition(f"\n{indent}{field}:\n{indent}- ".encode())
    if not found or not rest.endswith(b"\n") or len(head) > _LONGEST_HEAD:
        return None
    try:
        entries = parse_json(b"[" + b",".join(rest[:-1].split(f"\n{indent}- ".encode())) + b"]")
    except NotJson:
        return None
    documents = read_documents(head + b"\n", Profile.STATE)
    return (documents[0], entries) if len(documents) == 1 and isinstance(documents[0], dict) else None
