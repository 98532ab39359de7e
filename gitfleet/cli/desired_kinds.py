"""Kinds that people write and that nothing reports on yet: listed from the watched branch, as they were written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gitfleet.api.objects import JsonObject
from gitfleet.model.desired import Desired
from gitfleet.views import Table


def objects_of(listed_as: str, desired: Desired, name: str | None = None) -> list[JsonObject]:
    """The objects that are listed together, or those of a name (`name` or `namespace/name`), by their names."""
    found = sorted((value.body for value in desired.objects.get(listed_as, {}).values()), key=_identity)
    return [body for body in found if name is None or name in (_identity(body)[1], "/".join(_identity(body)))]


def table_of(objects: Iterable[JsonObject]) -> Table:
    """Name and kind of each, the namespace where one has any."""
    rows = [(*_identity(body), str(body.get("kind", ""))) for body in objects]
    if any(space for space, _, _ in rows):
        return Table(("NAMESPACE", "NAME", "KIND"), tuple(rows))
    return Table(("NAME", "KIND"), tuple(row[1:] for row in rows))


def _identity(body: JsonObject) -> tuple[str, str]:
    metadata: Mapping[str, Any] = body.get("metadata") or {}
    return str(metadata.get("namespace") or ""), str(metadata.get("name") or "")
