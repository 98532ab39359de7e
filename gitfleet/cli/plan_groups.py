"""A plan's rows put together where they say the same of several clusters: a fleet has many, and people read few."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from gitfleet.formats.sentences import and_more, counted
from gitfleet.model.operations import KeepCode

MOST_NAMED: Final = 4
_MOST_REMOVED: Final = 10
_LONGEST_REMOVED: Final = 30
_AS_IT_SHOULD_BE: Final = (KeepCode.IN_PLACE, KeepCode.NO_DIFF_FOUND)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """One thing that is said of these clusters: a move or action, about an object ("" where there is none), and a line
    for each of the fields that go with it."""

    word: str
    object: str = ""
    reason: str
    diff: str = ""
    clusters: tuple[str, ...]
    removed: tuple[str, ...] = ()


def placement_name(placement: Mapping[str, Any]) -> str:
    """NAME, or NAMESPACE/NAME."""
    return f"{placement['namespace']}/{placement['name']}" if placement["namespace"] else str(placement["name"])


def moves_of(placement: Mapping[str, Any]) -> list[Group]:
    """What happens to bindings, those that stay as they are left out."""
    return _grouped(_of_cluster(row["move"], row) for row in placement["rollout"] if row["move"] != "none")


def unpicked_of(placement: Mapping[str, Any]) -> list[Group]:
    """The clusters that were not picked, by reason."""
    rows = (row for row in placement["clusters"] if not row["selected"] and row["state"] is None)
    return _grouped(_of_cluster("not", row) for row in rows)


def operations_of(placement: Mapping[str, Any], *, part: str = "operations") -> list[Group]:
    """What is done to objects, deletions first, those that simply stay left out; only updates keep their diffs. `part`
    is operations or later."""
    rows = []
    for operation in sorted(placement[part], key=lambda row: row["action"] != "delete"):
        if operation.get("code") in _AS_IT_SHOULD_BE:
            continue
        key = operation["object"]
        subject = (
            f"{key['kind']}/{key['namespace']}/{key['name']}" if key["namespace"] else f"{key['kind']}/{key['name']}"
        )
        diff = operation.get("diff", "") if operation["action"] == "update" else ""
        rows.append(
            Group(
                word=operation["action"],
                object=subject,
                reason=operation["reason"],
                diff=diff,
                clusters=(operation["clusterName"],),
                removed=_removed(operation),
            )
        )
    return _grouped(rows)


def _removed(operation: Mapping[str, Any]) -> tuple[str, ...]:
    """The fields that go, with what they hold now."""
    shown = [(field["path"], field["value"]) for field in operation.get("removedFields", ())][:_MOST_REMOVED]
    lines = [f"removes {path}" + (f" (now {shortened(value)})" if value else "") for path, value in shown]
    more = operation.get("removedFieldCount", 0) - len(shown)
    return (*lines, f"and {counted(more, 'more field')}") if more > 0 else tuple(lines)


def shortened(value: str) -> str:
    """A value in one short line."""
    text = " ".join(value.split())
    return text if len(text) <= _LONGEST_REMOVED else f"{text[: _LONGEST_REMOVED - 1]}…"


def names(clusters: tuple[str, ...]) -> str:
    """The first few names, and how many there are besides."""
    if len(clusters) <= MOST_NAMED + 1:
        return ", ".join(clusters)
    return f"{', '.join(clusters[:MOST_NAMED])}{and_more(len(clusters) - MOST_NAMED)}"


def _of_cluster(word: str, row: Mapping[str, Any]) -> Group:
    return Group(word=word, reason=row["reason"], clusters=(row["clusterName"],))


def _grouped(rows: Iterable[Group]) -> list[Group]:
    groups: dict[Group, list[str]] = {}
    for row in rows:
        groups.setdefault(replace(row, clusters=()), []).extend(row.clusters)
    return [replace(group, clusters=tuple(clusters)) for group, clusters in groups.items()]
