"""The options by which people watch a continuous `run`: its log, and whom it tells what happened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gitfleet.cli.logs import log_format
from gitfleet.cli.options import collected
from gitfleet.settings import Settings

if TYPE_CHECKING:
    from gitfleet.loop.driver import Listener
    from gitfleet.loop.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """How a continuous run logs, and the file of each destination of notifications."""

    log_format: str = "plain"
    notify: tuple[tuple[str, Path], ...] = ()

    @property
    def is_default(self) -> bool:
        """Whether none of the options was given."""
        return self == Watched()


def watched_from(log_format: str, notify: tuple[str, ...]) -> Watched:
    """The options; UsageError for what is no NAME=FILE, or names a destination twice."""
    files: dict[str, Path] = {}
    for given in notify:
        name, _, file = given.partition("=")
        if not name or not file:
            raise click.UsageError(f"--notify {given} is no NAME=FILE")
        if name in files:
            raise click.UsageError(f"--notify {name} is given twice")
        files[name] = Path(file)
    return Watched(log_format=log_format, notify=tuple(files.items()))


watched = collected(
    "watched",
    watched_from,
    click.option(
        "--notify",
        multiple=True,
        metavar="NAME=FILE",
        help="Where a destination of spec.notifications is, and its secrets (repeatable).",
    ),
    log_format,
)


@contextmanager
def listened(
    workspace: Workspace, settings: Settings, given: Watched, secrets: tuple[str, ...], listen: Listener
) -> Iterator[Listener]:
    """While this lasts, the run answers over HTTP and tells destinations, as the options say; the listener that is to
    get its events."""
    with ExitStack() as stack:
        notifications = None
        if given.notify:
            from gitfleet.wiring_notify import notified

            notifications = stack.enter_context(notified(workspace, dict(given.notify), secrets))
            listen = notifications.listening(listen)
        if settings.http is not None:
            from gitfleet.wiring_http import served

            listen = stack.enter_context(served(workspace, settings.http, listen, notifications))
        yield listen
