"""Events as they happen: as short lines for people, or as JSON."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Protocol

import click

from gitfleet.api.conditions import ConditionType, Reason
from gitfleet.api.workload_records import BatchState, RollingState
from gitfleet.cli.output import print_json, show_wrapped
from gitfleet.cli.texts import CliText
from gitfleet.formats.canonical_json import json_text
from gitfleet.formats.sentences import counted
from gitfleet.model.events import Event, EventType
from gitfleet.status import sentence

_BATCH_STEPS = (BatchState.VERIFYING, BatchState.FINALIZING)
"""What comes after the pods of a batch have changed, and before its end."""
_NOT_SHOWN = (Reason.RESOURCE_NOT_AVAILABLE_YET,)


class Progress(Protocol):
    """What receives events and shows them."""

    def on_event(self, event: Event, at: float | None = None) -> None:
        """One event; `at` is in seconds since the start, where there is a start."""

    def finish(self) -> None:
        """Show what is still held back."""


@contextmanager
def progress_for(output: str, *, without: Collection[EventType] = ()) -> Iterator[Progress]:
    """What shows events as `text`, `jsonl` or `json`. Text is `without` the types of events that the caller shows
    otherwise."""
    text = output not in ("json", "jsonl")
    shown: Progress = Lines(partial(show_wrapped, indent="  "), without) if text else AsJson(as_lines=output == "jsonl")
    yield shown
    shown.finish()


class AsJson:
    """The timeline of contracts.md §5: an object a line as it happens, or one document at the end."""

    def __init__(self, *, as_lines: bool) -> None:
        self._as_lines = as_lines
        self._events: list[dict[str, Any]] = []

    def on_event(self, event: Event, at: float | None = None) -> None:
        """See Progress."""
        if self._as_lines:
            click.echo(json_text(event.to_json(at)))
        else:
            self._events.append(event.to_json(at))

    def finish(self) -> None:
        """See Progress."""
        if not self._as_lines:
            print_json({"apiVersion": "gitfleet.dev/v1alpha1", "kind": "Timeline", "events": self._events})


class Lines:
    """One line an event, in the words of the state branch's commits; objects that were applied are only counted."""

    def __init__(self, write: Callable[[str], None], without: Collection[EventType] = ()) -> None:
        self._write = write
        self._without = without
        self._applied: dict[tuple[str, str], dict[str, int]] = {}
        self._picked: Event | None = None
        self._when = ""

    def on_event(self, event: Event, at: float | None = None) -> None:
        """See Progress."""
        if event.type in self._without:
            return
        if event.type == EventType.APPLIED:
            self._emit_picked()
            counts = self._applied.setdefault((event.placement or "", event.cluster or ""), {})
            action = str(event.fields["action"])
            counts[action] = counts.get(action, 0) + 1
            self._when = when_of(at)
            return
        picked, line = self._picked, line_of(event, virtual=at is not None)
        if picked is not None and event.type == EventType.BOUND and _same_place(picked, event):
            self._picked = None
            line = CliText.GETS_SNAPSHOT(line_of=line_of(picked), fields=event.fields["snapshot"])
        self.finish()
        self._when = when_of(at)
        if event.type == EventType.SCHEDULED:
            self._picked = event
        elif line:
            self._write(f"{self._when}{line}")

    def finish(self) -> None:
        """Write what was held back: who was picked last, and what was applied since the last line."""
        self._emit_picked()
        for (placement, cluster), counts in self._applied.items():
            first, *further = counts.items()
            actions = [f"{counted(first[1], 'object')} {first[0]}d"]
            actions += [f"{number} {action}d" for action, number in further]
            self._write(f"{self._when}{placement}: {cluster}: {', '.join(actions)}")
        self._applied = {}

    def _emit_picked(self) -> None:
        if self._picked is not None:
            self._write(f"{self._when}{line_of(self._picked)}")
            self._picked = None


def _same_place(first: Event, second: Event) -> bool:
    return (first.placement, first.cluster) == (second.placement, second.cluster)


def line_of(event: Event, *, virtual: bool = False) -> str:
    """One event as people read it, "" for one that says nothing new to them.

    In a `virtual` run commits are copies with unknown ids: they are not shown.
    """
    fields = event.fields
    match event.type:
        case EventType.COMMIT:
            # What is written to the branches of gitfleet's own says the same as the other events.
            branch = str(fields.get("branch", ""))
            return "" if branch.startswith("gitfleet/") else f"commit on {branch}: {fields.get('subject', '')}"
        case EventType.PLACEMENT if not _is_shown(event):
            return ""
        case EventType.WORKLOAD_ROLLOUT if _is_on_its_way(event):
            return ""
        case EventType.CRASH:
            return CliText.GITFLEET_CRASHES_RESTARTS()
        case EventType.COMMIT_READ if virtual:
            return ""
        case EventType.SNAPSHOT if virtual:
            return f"{event.placement}: snapshot {fields['index']} taken"
    return sentence(event)


def _is_on_its_way(event: Event) -> bool:
    """Whether a workload rollout looks at its target, or at the pods that a batch has changed."""
    fields = event.fields
    on_its_way = fields["state"] == RollingState.VERIFYING_SPEC or fields.get("batchState") in _BATCH_STEPS
    return on_its_way and "waits" not in fields


def _is_shown(event: Event) -> bool:
    """Whether a placement's event says more than those of its clusters do."""
    fields = event.fields
    if fields.get("state") == "accepted" or fields.get("status") == "Unknown" or fields.get("reason") in _NOT_SHOWN:
        return False
    return fields.get("status") != "True" or fields.get("condition") in (
        ConditionType.SCHEDULED,
        ConditionType.AVAILABLE,
    )


def when_of(at: float | None) -> str:
    """The moment in front of a line, seconds up to two minutes, then as kubectl writes an age."""
    if at is None:
        return ""
    seconds = int(at)
    if seconds < 120:
        text = f"{seconds}s"
    elif seconds < 7200:
        text = f"{seconds // 60}m{seconds % 60:02d}s"
    else:
        text = f"{seconds // 3600}h{seconds % 3600 // 60:02d}m"
    return f"{text:>7}  "


def ending_of(end: Event) -> str:
    """The last event of a simulation, as a sentence."""
    settled = end.fields["reason"] == "settled"
    return CliText.NOTHING_MOVES_ANY_MORE() if settled else CliText.STOPPED_BEFORE_EVERYTHING_SETTLED()
