"""`gitfleet demo`: the main job with embedded defaults, on a config repo of its own and simulated clusters."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import click

from gitfleet.cli import options
from gitfleet.cli.init import layout_files
from gitfleet.cli.messages import say
from gitfleet.cli.progress import progress_for
from gitfleet.cli.texts import CliText
from gitfleet.errors import BadInput

_MARK = ".gitfleet-demo"


@options.command("gitfleet demo", "gitfleet demo --dir /tmp/demo")
@options.path(
    "--dir",
    "directory",
    metavar="DIR",
    text="Where the demo is made; an earlier demo there is replaced (default: .demo).",
    default=Path(".demo"),
)
def demo(directory: Path) -> int:
    """Make a config repo with simulated clusters, reconcile it, and show the status that was written back."""
    from gitfleet.wiring import hub

    _clear(directory)
    repo = directory / "fleet"
    hub.make_repository(repo, dict(layout_files()), CliText.FLEET_SIMULATED_CLUSTERS())
    say(CliText.CONFIG_REPO_ONE_COMMIT_MAIN(repo=repo))
    cache = directory / "cache"
    settings = options.settings_for(str(repo), cache_dir=cache, simulate_unconnected=True)
    with hub.open_workspace(settings) as workspace:
        with progress_for("text") as progress:
            result = workspace.runner(progress.on_event).until_settled(120.0)
        readme = workspace.state_file("README.md")
    click.echo("")
    click.echo(readme)
    where = shlex.quote(str(repo))
    say(CliText.GITFLEET_WROTE_BRANCH_GITFLEET_STATE())
    say(f"  gitfleet get crp -C {where}")
    say(f"  gitfleet explain web -C {where}")
    say(f"  git -C {where} log gitfleet/state")
    say(CliText.EDIT_COMMIT_FILE(where=where))
    say(f"  gitfleet run --until-settled {where} --cache-dir {shlex.quote(str(cache))}")
    return 0 if result.settled else 1


def _clear(directory: Path) -> None:
    """Empty the folder for the demo; one that is not an earlier demo's is never deleted."""
    try:
        if directory.exists():
            if any(directory.iterdir()) and not (directory / _MARK).exists():
                raise BadInput(
                    CliText.NOT_EMPTY_NOT_EARLIER_DEMO(directory=directory), hint=CliText.NAME_ANOTHER_FOLDER_DIR()
                )
            shutil.rmtree(directory)
        directory.mkdir(parents=True)
        (directory / _MARK).write_text("`gitfleet demo` made this folder and replaces it when it runs again.\n")
    except OSError as error:
        raise BadInput(
            CliText.CANNOT_USED(directory=directory, strerror=error.strerror), hint=CliText.NAME_ANOTHER_FOLDER_DIR()
        ) from error
