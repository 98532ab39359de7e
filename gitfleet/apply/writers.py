"""Who wrote a field of a live object, by what the server records in `metadata.managedFields`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from gitfleet.api.bindings import FieldWriter
from gitfleet.api.objects import JsonObject, JsonValue
from gitfleet.formats.managed_fields import is_own_apply, managed_entries, named_item
from gitfleet.formats.sentences import named_briefly
from gitfleet.model.operations import DifferenceDetails

_MOST_NAMED: Final = 3
_LONGEST_NAME: Final = 128
"""Characters of a field manager, as API servers accept them."""


def writer_of(manifest_body: JsonObject, live_body: JsonObject, path: str) -> FieldWriter | None:
    """Who other than gitfleet last wrote the field at a path of `find_differences`; None when nobody owns it, or the
    server does not say."""
    return max(_writers(manifest_body, live_body, path), key=lambda writer: writer.time, default=None)


def writers_of(manifest_body: JsonObject, live_body: JsonObject, details: DifferenceDetails) -> tuple[FieldWriter, ...]:
    """Who other than gitfleet owns the differing fields, by path and manager, each once: which of several wrote last
    is no matter of the field alone, and may change without it."""
    found = {}
    for path, _, _ in details:
        for writer in sorted(
            _writers(manifest_body, live_body, path), key=lambda writer: (writer.manager, writer.time)
        ):
            found[path, writer.manager] = writer
    return tuple(found.values())


def names_of(writers: Iterable[FieldWriter]) -> str:
    """The field managers in a sentence; "" where none is named."""
    return named_briefly(sorted({writer.manager for writer in writers if writer.manager}), _MOST_NAMED)


def _writers(manifest_body: JsonObject, live_body: JsonObject, path: str) -> Iterator[FieldWriter]:
    for entry in managed_entries(live_body):
        fields = entry.get("fieldsV1")
        if not is_own_apply(entry) and isinstance(fields, Mapping) and _owns(fields, manifest_body, _parts(path)):
            yield FieldWriter(path, str(entry.get("manager") or "")[:_LONGEST_NAME], str(entry.get("time") or ""))


def _parts(path: str) -> Iterator[str]:
    return (part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:])


def _owns(node: Mapping[str, Any], wanted: JsonValue, parts: Iterator[str]) -> bool:
    """Whether a FieldsV1 tree has the field. Positions of lists are those of the manifest."""
    part = next(parts, None)
    if part is None:
        return True
    if not isinstance(wanted, list):
        below = wanted.get(part) if isinstance(wanted, Mapping) else None
        child = node.get(f"f:{part}")
        return isinstance(child, Mapping) and _owns(child, below, parts)
    if not any(name.startswith("k:") for name in node):
        return True  # a list that is one value, or a set
    item = wanted[int(part)]
    child = named_item(node, item) if isinstance(item, Mapping) else None
    return child is not None and _owns(child, item, parts)
