"""Who wrote a field of a live object, by what the server records in `metadata.managedFields`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gitfleet.api.objects import JsonObject, JsonValue
from gitfleet.formats.managed_fields import is_own_apply, managed_entries, named_item


@dataclass(frozen=True, slots=True)
class FieldWriter:
    """The field manager as it called itself, and when (RFC 3339) it last changed what it owns; "" where not said."""

    manager: str
    time: str


def writer_of(manifest_body: JsonObject, live_body: JsonObject, path: str) -> FieldWriter | None:
    """Who other than gitfleet last wrote the field at a path of `find_differences`; None when nobody owns it, or the
    server does not say."""
    found: list[FieldWriter] = []
    for entry in managed_entries(live_body):
        fields = entry.get("fieldsV1")
        if not is_own_apply(entry) and isinstance(fields, Mapping) and _owns(fields, manifest_body, _parts(path)):
            found.append(FieldWriter(str(entry.get("manager") or ""), str(entry.get("time") or "")))
    return max(found, key=lambda writer: writer.time, default=None)


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
