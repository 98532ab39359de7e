"""`gitfleet simulate`: plays a whole rollout in virtual time against simulated clusters."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gitfleet.cli import options
from gitfleet.cli.progress import Progress


def simulate(
    repo: options.Repo = ".",
    scenario: Annotated[Path | None, typer.Option("--scenario", help="A Scenario file (docs/simulate.md).")] = None,
    rev: options.Rev = None,
    branch: options.Branch = None,
    without: Annotated[
        list[str] | None,
        typer.Option("--without", help="Play without this cluster, or those with label=value (repeatable)."),
    ] = None,
    with_file: Annotated[
        list[Path] | None, typer.Option("--with", help="Play with the extra MemberClusters of a file (repeatable).")
    ] = None,
    cordon: Annotated[
        list[str] | None, typer.Option("--cordon", help="Play with this cluster taking nothing new (repeatable).")
    ] = None,
    cache_dir: options.CacheDir = None,
    output: options.Format = None,
) -> None:
    """Play the rollout of a commit in virtual time; the repository and real clusters are never touched.

    Without a scenario every object is available 5 s after it was applied. Formats: -o text|jsonl.
    Example: gitfleet simulate . --scenario bad-image.yaml
    """
    from gitfleet import wiring

    progress = Progress(output)
    settings = options.settings_for(repo, cache_dir=cache_dir, branch=branch)
    what_if = wiring.what_if_from(tuple(without or ()), tuple(with_file or ()), tuple(cordon or ()))
    wiring.simulate(settings, scenario, rev, what_if, progress.hear)
