"""`gitfleet demo`: the main job with embedded defaults, on a config repo of its own and simulated clusters."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import click
import typer

from gitfleet.cli.init import layout_files
from gitfleet.cli.progress import Progress
from gitfleet.cli.talk import say


def demo(
    directory: Annotated[Path, typer.Option("--dir", help="Where the demo's repo is made (replaced).")] = Path(".demo"),
) -> int:
    """Make a config repo with simulated clusters, reconcile it, and show the status that was written back.

    Example: gitfleet demo
    """
    from gitfleet import wiring
    from gitfleet.cli import options

    if directory.exists():
        shutil.rmtree(directory)
    repo = directory / "fleet"
    wiring.make_repository(repo, dict(layout_files()), "A fleet of simulated clusters")
    say(f"The config repo is {repo}: a commit on main with clusters, placements, overrides and resources.\n")
    settings = options.settings_for(
        str(repo), cache_dir=directory / "cache", simulated_dir=directory / "clusters", simulate_unconnected=True
    )
    progress = Progress("text")
    with wiring.open_workspace(settings) as workspace:
        result = workspace.runner(progress.hear).until_settled(120.0)
        readme = workspace.state_file("README.md")
    click.echo("")
    click.echo(readme)
    say(f"Where to look: git -C {repo} log gitfleet/state; gitfleet get crp --repo {repo};")
    say(f"gitfleet explain web --repo {repo}. Edit {repo}, commit, and run `gitfleet run --until-settled {repo}`.")
    return 0 if result.settled else 1
