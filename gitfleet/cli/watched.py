"""The options of a continuous `run` alone: its log, whom it tells what happened, and which of several leads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gitfleet.cli.election import election_settings, leader_election
from gitfleet.cli.logs import log_format
from gitfleet.cli.options import collected
from gitfleet.settings import ElectionSettings, Settings

if TYPE_CHECKING:
    from gitfleet.loop.driver import Listener
    from gitfleet.loop.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """How a continuous run logs, the file of each destination of notifications, and which of several leads."""

    log_format: str = "plain"
    notify: tuple[tuple[str, Path], ...] = ()
    election: ElectionSettings | None = ElectionSettings()

    @property
    def is_default(self) -> bool:
        """Whether none of the options was given."""
        return self == Watched()


def watched_from(log_format: str, notify: tuple[str, ...], leader_election: str, lease_duration: int) -> Watched:
    """The options; UsageError for what is no NAME=FILE, names a destination twice, or is no Lease."""
    files: dict[str, Path] = {}
    for given in notify:
        name, _, file = given.partition("=")
        if not name or not file:
            raise click.UsageError(f"--notify {given} is no NAME=FILE")
        if name in files:
            raise click.UsageError(f"--notify {name} is given twice")
        files[name] = Path(file)
    election = election_settings(leader_election, lease_duration)
    return Watched(log_format=log_format, notify=tuple(files.items()), election=election)


watched = collected(
    "watched",
    watched_from,
    click.option(
        "--notify",
        multiple=True,
        metavar="NAME=FILE",
        help="Where a destination of spec.notifications is, and its secrets (repeatable).",
    ),
    leader_election,
    log_format,
)


@contextmanager
def listened(
    workspace: Workspace, settings: Settings, given: Watched, secrets: tuple[str, ...], listen: Listener
) -> Iterator[Listener]:
    """While this lasts, the run answers over HTTP, tells destinations and acts only while it leads, as the options say;
    the listener that is to get its events."""
    with ExitStack() as stack:
        if given.election is not None:
            from gitfleet.wiring_lease import elected

            stack.enter_context(elected(workspace, settings, given.election))
        notifications = None
        if given.notify:
            from gitfleet.wiring_notify import notified

            notifications = stack.enter_context(notified(workspace, dict(given.notify), secrets))
            listen = notifications.listening(listen)
        if settings.http is not None:
            from gitfleet.wiring_http import served

            listen = stack.enter_context(served(workspace, settings.http, listen, notifications))
        yield listen
