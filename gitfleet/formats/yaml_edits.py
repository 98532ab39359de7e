"""One field of a file that people wrote is set; every other byte stays as it is, comments, order and line ends too.

ruamel.yaml says where the field stands, and the text is changed there. Its round trip would keep comments as well, and
write indentation, long lines and line ends in its own way.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from ruamel.yaml import YAML, MappingNode, Node
from ruamel.yaml.error import YAMLError

from gitfleet.errors import BadInput
from gitfleet.formats.json_values import JsonValue
from gitfleet.formats.limits import MAX_FILE_BYTES
from gitfleet.formats.texts import FormatsText
from gitfleet.formats.yaml_reader import parse_documents

_LINE_END: Final = re.compile(r"\r\n|\n|\r")
_JSON: Final = {True: "true", False: "false"}


def with_flag(content: bytes, document: int, path: Sequence[str], value: bool) -> bytes:
    """The file with a boolean field of one of its documents set. All mappings on the way to the field must be there.

    `document` is its place in the stream, `path` the field's names from the top. BadInput where the text cannot be
    changed so that this field alone is another one: an alias stands in the way, say.
    """
    before = parse_documents(content, max_bytes=MAX_FILE_BYTES)
    try:
        text = content.decode()
        changed = _changed(text, document, path, _JSON[value]).encode()
    except (YAMLError, ValueError, LookupError, TypeError) as error:
        raise _unfit(path, value) from error
    after = parse_documents(changed, max_bytes=MAX_FILE_BYTES)
    expected = [
        _with(document_read.value, path, value) if document_read.index == document else document_read.value
        for document_read in before.documents
    ]
    if before.faults or after.faults or [document_read.value for document_read in after.documents] != expected:
        raise _unfit(path, value)
    return changed


def _changed(text: str, document: int, path: Sequence[str], value: str) -> str:
    nodes = list(YAML(typ="rt", pure=True).compose_all(text))
    key, mapping = None, nodes[document]
    for name in path[:-1]:
        key, mapping = _entry(mapping, name)
    field_entry = next((entry for entry in _entries(mapping) if entry[0].value == path[-1]), None)
    if field_entry is not None:
        start, end = field_entry[1].start_mark.index, field_entry[1].end_mark.index
        if end > start:
            return f"{text[:start]}{value}{text[end:]}"
        colon = text.index(":", field_entry[0].end_mark.index) + 1
        return f"{text[:colon]} {value}{text[colon:]}"
    at = mapping.start_mark.index
    if mapping.flow_style:
        is_json = key is not None and text[key.start_mark.index] == '"'
        name = f'"{path[-1]}"' if is_json else path[-1]
        more = ", " if mapping.value else ""
        return f"{text[: at + 1]}{name}: {value}{more}{text[at + 1 :]}"
    first = mapping.value[0][0].start_mark
    line_end = _LINE_END.search(text, key.end_mark.index if key is not None else at)
    if line_end is None or line_end.end() > first.index:
        raise LookupError(path[-1])
    indent = " " * first.column
    return f"{text[: line_end.end()]}{indent}{path[-1]}: {value}{line_end[0]}{text[line_end.end() :]}"


def _entries(node: Node) -> Sequence[tuple[Node, Node]]:
    """The entries of a mapping; TypeError for another node."""
    if not isinstance(node, MappingNode):
        raise TypeError("no mapping")
    entries: Sequence[tuple[Node, Node]] = node.value
    return entries


def _entry(node: Node, name: str) -> tuple[Any, Any]:
    """The entry of a name; LookupError where there is none."""
    field_entry = next((entry for entry in _entries(node) if entry[0].value == name), None)
    if field_entry is None:
        raise LookupError(name)
    return field_entry


def _with(value: JsonValue, path: Sequence[str], new: JsonValue) -> JsonValue:
    """A value with one field set."""
    if not path:
        return new
    if not isinstance(value, dict):
        return None
    return {**value, path[0]: _with(value.get(path[0]), path[1:], new)}


def _unfit(path: Sequence[str], value: bool) -> BadInput:
    field = ".".join(path)
    return BadInput(
        FormatsText.CANNOT_SET_WITHOUT_CHANGING_MORE(field=field),
        hint=FormatsText.WRITE_HAND(path=path[-1], json=_JSON[value]),
    )
