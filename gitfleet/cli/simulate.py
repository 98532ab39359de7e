"""`gitfleet simulate`: runs a whole rollout in virtual time against simulated clusters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gitfleet.cli import options
from gitfleet.cli.messages import say, warn_some
from gitfleet.cli.output import print_table, show
from gitfleet.cli.progress import ending_of, progress_for, when_of
from gitfleet.cli.texts import CliText
from gitfleet.errors import BadInput
from gitfleet.model.events import Event, EventType
from gitfleet.settings import Settings, WhatIfOptions

EXIT_STUCK = 1
"""Something still waits when nothing moves any more, or when the time is over."""


@click.command(
    epilog=options.example(
        "gitfleet simulate",
        "gitfleet simulate . --scenario bad-image.yaml --save timeline.html",
        "gitfleet simulate . --rev my-change --without region=eu -o jsonl",
    )
)
@click.option(
    "--scenario", type=click.Path(path_type=Path), metavar="FILE", help="What happens, and how clusters behave."
)
@options.rev
@options.what_if("Simulate")
@click.option(
    "--save", type=click.Path(path_type=Path), metavar="FILE.html", help="Write the timeline as an HTML page as well."
)
@options.settings(options.repo, options.branch, options.cache_dir, of_state=False)
@options.output("text", "jsonl", "json")
def simulate(
    scenario: Path | None,
    rev: str | None,
    what_if: WhatIfOptions,
    save: Path | None,
    settings: Settings,
    output: str,
) -> int:
    """Simulate the rollout of a commit in virtual time; the repository and real clusters are never touched.

    Without a scenario every object is available 5 s after it was applied. Exits with 1 when it ends stuck: something
    still waits at the end, or the last staged run of a placement failed.
    """
    from gitfleet import wiring

    events: list[tuple[float, Event]] = []
    with progress_for(output) as progress:

        def on_event(event: Event, at: float) -> None:
            events.append((at, event))
            if event.type != EventType.END or output != "text":
                progress.on_event(event, at)

        waiting = wiring.simulate(settings, scenario, rev, wiring.what_if_from(what_if), on_event)
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

    try:
        file.write_text(page_of(events), encoding="utf-8")
    except OSError as error:
        raise BadInput(CliText.CANNOT_WRITTEN(file=file, strerror=error.strerror)) from error
    say(CliText.TIMELINE_IS_IN(file=file))


def _ending(placements: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    return [
        (name, cluster, str(has["snapshot"]), "yes" if has["available"] else "no")
        for name, placement in placements.items()
        for cluster, has in placement["clusters"].items()
    ]
