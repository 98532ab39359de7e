"""managedFields: who owns which field, and what a server-side apply or an edit by hand makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from gitfleet.api.objects import JsonObject
from gitfleet.formats.field_trees import FieldTree, minus, union
from gitfleet.simulation.fields import differing, fields_of, merge, paths_of, remove
from gitfleet.simulation.refusals import owned_by_others
from gitfleet.simulation.statuses import time_text

APPLY: Final = "Apply"
UPDATE: Final = "Update"


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """Who writes, by which operation, in which version, and when."""

    manager: str
    operation: str
    api_version: str
    now: datetime

    def wrote(self, entry: JsonObject) -> bool:
        """Whether an entry of managedFields is this author's."""
        return (entry["manager"], entry["operation"]) == (self.manager, self.operation)

    def entry(self, tree: FieldTree) -> dict[str, Any]:
        """An entry of managedFields."""
        return {
            "manager": self.manager,
            "operation": self.operation,
            "apiVersion": self.api_version,
            "time": time_text(self.now),
            "fieldsType": "FieldsV1",
            "fieldsV1": tree,
        }


def owners_of(body: JsonObject) -> Sequence[JsonObject]:
    """An object's managedFields; a real server leaves them out when nobody owns anything."""
    return (body.get("metadata") or {}).get("managedFields") or ()


def applied(
    live: JsonObject, managed: Sequence[JsonObject], content: JsonObject, author: Author, *, granular: bool, force: bool
) -> tuple[JsonObject, Sequence[JsonObject]]:
    """The content and the owners after a server-side apply of `content`; the very same ones when nothing changes.

    Fields that the author applied before and does not any more go, unless somebody else owns them too.
    Refused when others own fields that would change and `force` is not given; with it, they lose them.
    """
    ours = fields_of(content, granular=granular)
    old: FieldTree = next((entry["fieldsV1"] for entry in managed if author.wrote(entry)), {})
    foreign = [entry for entry in managed if not author.wrote(entry)]
    lost = [differing(ours, entry["fieldsV1"], content, live) for entry in foreign]
    if any(lost) and not force:
        clashes = zip(foreign, lost, strict=True)
        raise owned_by_others([(_shown(entry), path) for entry, tree in clashes for path in paths_of(tree)])
    merged = merge(live, content, granular=granular)
    dropped = minus(old, ours) if old != ours else {}
    for entry in foreign:
        dropped = minus(dropped, entry["fieldsV1"], whole_items=True)
    if dropped:
        merged = remove(merged, dropped)
    if merged is live and old == ours and not any(lost):
        return live, managed
    remaining = _without(foreign, lost)
    return merged, [*remaining, author.entry(ours)] if ours else remaining


def edited(
    old: JsonObject, new: JsonObject, managed: Sequence[JsonObject], author: Author, *, granular: bool
) -> Sequence[JsonObject]:
    """The owners after an update from content `old` to `new`: the author owns what is new or differs."""
    before, after = fields_of(old, granular=granular), fields_of(new, granular=granular)
    changed = union(minus(after, before), differing(after, before, new, old))
    dropped = minus(before, after)
    if not changed and not dropped:
        return managed
    owned = union(next((entry["fieldsV1"] for entry in managed if author.wrote(entry)), {}), changed)
    foreign = [entry for entry in managed if not author.wrote(entry)]
    lost = union(changed, dropped)
    remaining = _without(foreign, [lost] * len(foreign))
    owned = minus(owned, dropped)
    return [*remaining, author.entry(owned)] if owned else remaining


def _shown(entry: JsonObject) -> str:
    """A manager as a conflict names it."""
    name = f'"{entry["manager"]}"'
    return name if entry["operation"] == APPLY else f"{name} using {entry['apiVersion']}"


def _without(entries: Sequence[JsonObject], lost: Sequence[FieldTree]) -> list[JsonObject]:
    """The entries less the fields that each lost; one without fields vanishes."""
    out: list[JsonObject] = []
    for entry, tree in zip(entries, lost, strict=True):
        remaining = minus(entry["fieldsV1"], tree) if tree else entry["fieldsV1"]
        if remaining:
            out.append({**entry, "fieldsV1": remaining} if tree else entry)
    return out
