"""Events as they happen, for a terminal or as JSON lines."""

from __future__ import annotations

from collections.abc import Iterable

import click

from gitfleet.cli.output import chosen_format, print_json_line
from gitfleet.model.events import Event

_WORDS = {
    "scheduled": "picked for {placement}",
    "bound": "{placement} is rolled out to it",
    "unscheduled": "no longer picked for {placement}",
    "removed": "{placement} is gone from it",
}


class Progress:
    """Prints each event on one line: `text` (short, for people) or `jsonl` (contracts.md §5)."""

    def __init__(self, output: str | None) -> None:
        self._format = chosen_format(output, ("text", "jsonl"))

    def hear(self, event: Event, at: float | None = None) -> None:
        """Print one event; `at` is in seconds since the start, where there is a start."""
        if self._format == "jsonl":
            print_json_line(event.to_json(at))
        else:
            click.echo(line_of(event, at))


def line_of(event: Event, at: float | None = None) -> str:
    """One event as people read it."""
    when = "" if at is None else f"{at:>7.0f}s  "
    where = f"{event.cluster}: " if event.cluster else ""
    if event.type in _WORDS:
        return f"{when}{where}{_WORDS[event.type].format(placement=event.placement)}"
    what = f"{event.placement} " if event.placement else ""
    return f"{when}{where}{what}{event.type} {_fields(event.fields.items())}".rstrip()


def _fields(items: Iterable[tuple[str, object]]) -> str:
    return " ".join(f"{name}={_short(value)}" for name, value in items)


def _short(value: object) -> str:
    if isinstance(value, dict) and "kind" in value and "name" in value:
        namespace = f"{value['namespace']}/" if value.get("namespace") else ""
        return f"{value['kind']}/{namespace}{value['name']}"
    return str(value).replace("\n", " ")
