"""The options of a continuous `run` alone: its log, whom it tells what happened, and which of several leads."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from gitfleet.cli.election import election_settings, leader_election
from gitfleet.cli.logs import log_format
from gitfleet.cli.options import collected
from gitfleet.cli.texts import CliText
from gitfleet.settings import ElectionSettings, Settings

if TYPE_CHECKING:
    from gitfleet.loop.counting import Counting
    from gitfleet.loop.driver import Listener
    from gitfleet.loop.workspace import Workspace

_OTLP: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """How a continuous run logs, the file of each destination of notifications, whether there are Events about its pod,
    and which of several leads."""

    log_format: str = "plain"
    notify: tuple[tuple[str, Path], ...] = ()
    events: bool = True
    election: ElectionSettings | None = ElectionSettings()
    executor: tuple[str, str] | None = None

    @property
    def is_default(self) -> bool:
        """Whether none of the options was given."""
        return self == Watched()


def watched_from(
    log_format: str,
    notify: tuple[str, ...],
    kubernetes_events: str,
    leader_election: str,
    lease_duration: int | None,
    executor: str | None,
) -> Watched:
    """The options; UsageError for what is no NAME=FILE, names a destination twice, or is no Lease."""
    files: dict[str, Path] = {}
    for given in notify:
        name, _, file = given.partition("=")
        if not name or not file:
            raise click.UsageError(CliText.NOTIFY_NO_NAME_FILE(given=given))
        if name in files:
            raise click.UsageError(CliText.NOTIFY_GIVEN_TWICE(name=name))
        files[name] = Path(file)
    election = election_settings(leader_election, lease_duration)
    events = kubernetes_events == "auto"
    name, _, address = (executor or "").partition("=")
    if executor and not (name and address):
        raise click.UsageError(f"--executor {executor} is no NAME=ADDRESS, such as dask=tls://scheduler:8786")
    return Watched(
        log_format=log_format,
        notify=tuple(files.items()),
        events=events,
        election=election,
        executor=(name, address) if executor else None,
    )


watched = collected(
    "watched",
    watched_from,
    click.option(
        "--notify",
        multiple=True,
        metavar="NAME=FILE",
        help="Where a destination of spec.notifications is, and its secrets (repeatable).",
    ),
    click.option(
        "--kubernetes-events",
        type=click.Choice(("auto", "never")),
        default="auto",
        metavar="auto|never",
        help="Whether the pod that this runs in gets Events of what happened (default: auto, in a pod).",
    ),
    leader_election,
    click.option(
        "--executor",
        metavar="NAME=ADDRESS",
        help="What asks clusters where delivery.executor is NAME, such as dask=tls://scheduler:8786.",
    ),
    log_format,
)


@contextmanager
def listened(
    workspace: Workspace, settings: Settings, given: Watched, secrets: tuple[str, ...], listen: Listener
) -> Iterator[Listener]:
    """While this lasts, the run answers over HTTP, tells destinations and acts only while it leads, as the options say;
    the listener that is to get its events."""
    with ExitStack() as stack:
        from gitfleet.wiring_executor import spread_over

        stack.enter_context(spread_over(workspace, given.executor))
        if given.election is not None:
            from gitfleet.wiring_lease import elected

            stack.enter_context(elected(workspace, settings, given.election))
        from gitfleet.loop.phases import Phases

        counted: list[Counting] = [phases := Phases(clock=workspace.clock)]
        phases.watch(workspace.driver, workspace.pulse)
        if _traces_are_asked_for():
            from gitfleet.wiring_tracing import traced

            stack.enter_context(traced(workspace, phases))
        from gitfleet.wiring_outbound import calling_out

        counted.append(stack.enter_context(calling_out(workspace, settings.outbound)))
        from gitfleet.wiring_notify import notified

        told = notified(workspace, settings, dict(given.notify), secrets, events=given.events)
        notifications = stack.enter_context(told)
        counted.append(notifications)
        listen = notifications.listening(listen)
        if settings.http is not None:
            from gitfleet.wiring_http import served

            listen = stack.enter_context(served(workspace, settings.http, listen, counted))
        yield listen


def _traces_are_asked_for() -> bool:
    """Whether the standard variables of OpenTelemetry say where traces go."""
    disabled = os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    return not disabled and any(os.environ.get(name) for name in _OTLP)
