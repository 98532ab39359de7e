"""`gitfleet simulate`: runs a whole rollout in virtual time against simulated clusters."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from gitfleet.cli import options
from gitfleet.cli.messages import say, warn_some
from gitfleet.cli.output import print_table, show, write_files
from gitfleet.cli.progress import ending_of, progress_for, when_of
from gitfleet.cli.texts import CliText
from gitfleet.model.events import Event, EventType
from gitfleet.settings import Settings, WhatIfOptions

EXIT_STUCK = 1
"""Something still waits when nothing moves any more, or when the time is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulateOptions:
    """What is simulated, and from where."""

    scenario: Path | None
    rev: str | None
    start: str


@options.command(
    "gitfleet simulate",
    "gitfleet simulate . --scenario bad-image.yaml --save timeline.html",
    "gitfleet simulate . --rev my-change --without region=eu -o jsonl",
)
@options.collected(
    "request",
    SimulateOptions,
    options.path("--scenario", metavar="FILE", text="What happens, and how clusters behave."),
    options.rev,
    click.option(
        "--from",
        "start",
        type=click.Choice(("state", "empty")),
        default="state",
        metavar="state|empty",
        help="Start from what the state branch has recorded, or from an empty fleet (default: state).",
    ),
)
@options.what_if("Simulate")
@options.path("--save", metavar="FILE.html", text="Write the timeline as an HTML page as well.")
@options.reading(options.repo, options.branch, options.cache_dir)
@options.output("text", "jsonl", "json")
def simulate(
    request: SimulateOptions, what_if: WhatIfOptions, save: Path | None, settings: Settings, output: str
) -> int:
    """Simulate the rollout of a commit in virtual time; the repository and real clusters are never touched.

    It starts from the state branch, or from a clone's remote-tracking branch: what is recorded there is on the clusters
    and available. Without one the fleet is empty.

    Without a scenario every object is available 5 s after it was applied. Exits with 1 when it ends stuck: something
    still waits at the end, or the last staged run of a placement failed.
    """
    from gitfleet.wiring import hub

    events: list[tuple[float, Event]] = []
    with progress_for(output) as progress:

        def on_event(event: Event, at: float) -> None:
            events.append((at, event))
            if event.type != EventType.END or output != "text":
                progress.on_event(event, at)

        changes, recorded = hub.what_if_from(what_if), request.start == "state"
        waiting = hub.simulate(settings, request.scenario, request.rev, changes, on_event, from_state=recorded)
    at, end = events[-1]
    if output == "text":
        show("")
        print_table(("PLACEMENT", "CLUSTER", "SNAPSHOT", "AVAILABLE"), _ending(end.fields["placements"]))
    warn_some("waiting", list(waiting), CliText.O_JSON_WHOLE_TIMELINE())
    say(f"{ending_of(end)}, at {when_of(at).strip()}")
    if save is not None:
        _save(save, events)
    return EXIT_STUCK if waiting or end.fields["reason"] != "settled" else 0


def _save(file: Path, events: list[tuple[float, Event]]) -> None:
    from gitfleet.cli.timeline_page import page_of

    write_files(file.parent, {file.name: page_of(events).encode()})
    say(CliText.TIMELINE_IS_IN(file=file))


def _ending(placements: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    return [
        (name, cluster, str(has["snapshot"]), "yes" if has["available"] else "no")
        for name, placement in placements.items()
        for cluster, has in placement["clusters"].items()
    ]
