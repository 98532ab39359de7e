"""A table of `get`, and the texts that stand in its cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from gitfleet.api.conditions import Condition

NONE: Final = "<none>"
UNKNOWN: Final = "<unknown>"


@dataclass(frozen=True, slots=True)
class Table:
    """Column titles and rows of texts, as kubectl prints them."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def namespaced(columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Table:
    """A table whose first column has the namespaces: it is there only where an object has one."""
    start = 0 if any(row[0] for row in rows) else 1
    return Table(columns[start:], tuple(row[start:] for row in rows))


def status_text(condition: Condition | None) -> str:
    """The status of a condition, "" for none."""
    return condition.status.value if condition is not None else ""


def age(since: datetime | None, now: datetime) -> str:
    """A duration as kubectl prints it (apimachinery duration.HumanDuration): 44s, 2m2s, 3h5m, 4d2h, 2y10d."""
    if since is None:
        return UNKNOWN
    seconds = max(0, int((now - since) / timedelta(seconds=1)))
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if seconds < 120:
        return f"{seconds}s"
    if minutes < 10:
        return f"{minutes}m{seconds % 60}s" if seconds % 60 else f"{minutes}m"
    if hours < 3:
        return f"{minutes}m"
    if hours < 8:
        return f"{hours}h{minutes % 60}m" if minutes % 60 else f"{hours}h"
    if hours < 48:
        return f"{hours}h"
    if days < 8:
        return f"{days}d{hours % 24}h" if hours % 24 else f"{days}d"
    if days < 730:
        return f"{days}d"
    years, remaining_days = divmod(days, 365)
    return f"{years}y{remaining_days}d" if years < 8 and remaining_days else f"{years}y"
