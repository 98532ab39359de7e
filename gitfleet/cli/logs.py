"""What a continuous `run` logs, on stderr: plain sentences, or lines with time, level and fields, as text or JSON.

A line is one line whatever it holds, and no credential stands in it. `commit` is the one that was read last; events
name their placement and cluster. An exception that is logged is named by its class alone: its words may repeat what a
Secret holds.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import click

from gitfleet.api.faults import Severity
from gitfleet.cli.messages import plain
from gitfleet.cli.progress import line_of
from gitfleet.formats.canonical_json import json_text
from gitfleet.formats.masking import without_secrets
from gitfleet.formats.times import time_text
from gitfleet.model.events import Event, EventType
from gitfleet.model.failures import Failure

if TYPE_CHECKING:
    from gitfleet.loop.pulse import Pass

log = logging.getLogger(__name__)
_FIELDS: Final = ("event", "placement", "cluster")
_TROUBLE: Final = (EventType.FAULT, EventType.FAILED, EventType.EVICTION_REFUSED, EventType.HELD)

log_format = click.option(
    "--log-format",
    type=click.Choice(("plain", "text", "json")),
    default="plain",
    metavar="FORMAT",
    help="How a continuous run logs: plain, or text|json with time and level (default: plain).",
)


class LogLines(logging.Formatter):
    """Writes a record as a line of its format. `commit` stands in every line with fields."""

    def __init__(self, form: str, secrets: Iterable[str]) -> None:
        super().__init__()
        self._form, self._secrets = form, tuple(secrets)
        self.commit = ""

    def note_commit(self, over: Pass) -> None:
        """After each reconcile: its commit. A process that starts reads no new one."""
        if not isinstance(over.result, Failure):
            self.commit = over.result.commit

    def format(self, record: logging.LogRecord) -> str:
        """One line, without credentials."""
        message = record.getMessage()
        if record.exc_info and record.exc_info[0] is not None:
            message = f"{message}: {record.exc_info[0].__name__}"
        message = without_secrets(message, self._secrets)
        if self._form == "plain":
            return message
        fields = {"commit": self.commit, **{name: getattr(record, name, "") or "" for name in _FIELDS}}
        fields = {name: value for name, value in fields.items() if value}
        time, message = time_text(datetime.fromtimestamp(record.created, UTC)), plain(message)
        if self._form == "json":
            named = {"time": time, "level": record.levelname.lower(), "logger": record.name, "message": message}
            return json_text(named | fields)
        return " ".join([time, f"{record.levelname:<7}", message, *(f"{name}={fields[name]}" for name in fields)])


class LoggedEvents:
    """Progress that goes to the log; objects that are applied are counted by /metrics alone."""

    def __init__(self, lines: LogLines) -> None:
        self._lines = lines

    def on_event(self, event: Event, at: float | None = None) -> None:
        """See Progress."""
        if event.type is EventType.COMMIT_READ:
            self._lines.commit = str(event.fields.get("commit", ""))
        sentence = "" if event.type is EventType.APPLIED else line_of(event)
        if sentence:
            fields = {"event": event.type.value, "placement": event.placement, "cluster": event.cluster}
            log.log(_level(event), "%s", sentence, extra=fields)

    def finish(self) -> None:
        """See Progress."""


def _level(event: Event) -> int:
    warns = event.fields.get("severity") != Severity.WARNING.value
    return logging.WARNING if event.type in _TROUBLE and warns else logging.INFO


@contextmanager
def logging_as(form: str, secrets: Iterable[str]) -> Iterator[LogLines]:
    """While this lasts, what this process logs is written to stderr in a format; what other packages log, from
    warnings on."""
    lines, ours, everyone = LogLines(form, secrets), logging.getLogger("gitfleet"), logging.getLogger()
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(lines)
    level = ours.level
    everyone.addHandler(handler)
    ours.setLevel(logging.INFO)
    try:
        yield lines
    finally:
        ours.setLevel(level)
        everyone.removeHandler(handler)
