"""The options of a continuous `run` alone: its log, whom it tells what happened, and which of several leads."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from gitfleet.cli.logs import log_format
from gitfleet.cli.options import collected, combined, pairs, repeatable
from gitfleet.cli.texts import CliText
from gitfleet.settings import ElectionSettings, LeaseTerms, Settings

if TYPE_CHECKING:
    from gitfleet.loop.driver import Listener
    from gitfleet.loop.workspace import Workspace
    from gitfleet.serving.endpoints import Counting

_OTLP: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_EXECUTOR: Final = "NAME=ADDRESS, such as dask=tls://scheduler:8786"
_NAME: Final = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_PLACE: Final = re.compile(rf"(?P<namespace>{_NAME})/(?P<name>{_NAME}(\.{_NAME})*)")


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


def election_settings(leader_election: str, lease_duration: int | None) -> ElectionSettings | None:
    """How to elect a leader, None for not at all; UsageError for what is no namespace and name,
    and for a duration of no lease."""
    terms = LeaseTerms() if lease_duration is None else LeaseTerms.of(lease_duration)
    if leader_election == "never":
        if lease_duration is not None:
            raise click.UsageError(CliText.LEASE_DURATION_GOES_LEASE())
        return None
    if leader_election == "auto":
        return ElectionSettings(terms=terms)
    place = _PLACE.fullmatch(leader_election)
    if place is None or len(place["name"]) > 253:
        raise click.UsageError(CliText.LEADER_ELECTION_NONE_AUTO(leader_election=leader_election))
    return ElectionSettings(place=(place["namespace"], place["name"]), terms=terms)


def watched_from(
    log_format: str,
    notify: tuple[str, ...],
    kubernetes_events: str,
    leader_election: str,
    lease_duration: int | None,
    executor: str | None,
) -> Watched:
    """The options; UsageError for what is no Lease, or as `pairs` has it."""
    executors = pairs("--executor", _EXECUTOR, [executor] if executor else [], str, str)
    return Watched(
        log_format=log_format,
        notify=pairs("--notify", "NAME=FILE", notify, str, Path),
        events=kubernetes_events == "auto",
        election=election_settings(leader_election, lease_duration),
        executor=next(iter(executors), None),
    )


leader_election = combined(
    click.option(
        "--leader-election",
        default="auto",
        metavar="auto|never|NAMESPACE/NAME",
        help="The Lease by which one of several processes leads (default: auto, in a pod that may use Leases).",
    ),
    click.option(
        "--lease-duration",
        type=click.IntRange(3, 3600),
        metavar="SECONDS",
        help="After how long another one takes the place of a leader that is gone (default: 15).",
    ),
)

watched = collected(
    "watched",
    watched_from,
    repeatable("--notify", metavar="NAME=FILE", text="Where a destination of spec.notifications is, and its secrets"),
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
    workspace: Workspace, settings: Settings, chosen: Watched, secrets: tuple[str, ...], listen: Listener
) -> Iterator[Listener]:
    """While this lasts, the run answers over HTTP, tells destinations and acts only while it leads, as the options say;
    the listener that is to get its events."""
    with ExitStack() as stack:
        from gitfleet.wiring.executor import spread_over

        stack.enter_context(spread_over(workspace, chosen.executor))
        if chosen.election is not None:
            from gitfleet.wiring.serving import elected

            stack.enter_context(elected(workspace, settings, chosen.election))
        from gitfleet.loop.pulse import Phases

        counted: list[Counting] = [phases := Phases(clock=workspace.clock)]
        phases.watch(workspace.driver, workspace.pulse)
        if _traces_are_asked_for():
            from gitfleet.wiring.serving import traced

            stack.enter_context(traced(workspace, phases))
        from gitfleet.wiring.outbound import calling_out

        counted.append(stack.enter_context(calling_out(workspace, settings.outbound)))
        from gitfleet.wiring.publishers import notified

        notifications = notified(workspace, settings, dict(chosen.notify), secrets, events=chosen.events)
        counted.append(stack.enter_context(notifications))
        if settings.http is not None:
            from gitfleet.wiring.serving import served

            listen = stack.enter_context(served(workspace, settings.http, listen, counted))
        yield listen


def _traces_are_asked_for() -> bool:
    """Whether the standard variables of OpenTelemetry say where traces go."""
    disabled = os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    return not disabled and any(os.environ.get(name) for name in _OTLP)
