"""`gitfleet init`: lays out a config repo that already works."""

from __future__ import annotations

import shlex
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

import click

from gitfleet.cli import options
from gitfleet.cli.messages import say
from gitfleet.cli.texts import CliText
from gitfleet.errors import BadInput
from gitfleet.formats.sentences import and_more


@click.command(
    epilog=options.example(
        "gitfleet init my-fleet", "cd my-fleet", 'git init -b main && git add . && git commit -m "My fleet"'
    )
)
@click.argument("directory", metavar="[DIR]", default=Path(), type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Write even where files of the same name are.")
def init(directory: Path, force: bool) -> None:
    """Lay out a config repo that already works in DIR (default: this folder)."""
    files = dict(layout_files())
    try:
        existing = sorted(path for path in files if (directory / path).exists())
        if existing and not force:
            raise BadInput(
                CliText.ALREADY_HAS(
                    resolve=directory.resolve(), existing=existing[0], and_more=and_more(len(existing) - 1)
                ),
                hint=CliText.CHOOSE_EMPTY_FOLDER(),
            )
        for path, content in files.items():
            target = directory / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    except OSError as error:
        raise BadInput(CliText.CANNOT_WRITTEN(file=error.filename, strerror=error.strerror)) from error
    say(CliText.FILES_NEXT(count=len(files), resolve=directory.resolve()))
    if directory.resolve() != Path.cwd():
        say(f"  cd {shlex.quote(str(directory))}")
    say(CliText.GIT_INIT_B_MAIN_GIT())
    say(CliText.GITFLEET_PLAN_CLUSTERS_SIMULATED())


def layout_files() -> list[tuple[str, bytes]]:
    """The files of `repo-layout/`, which travels inside the package, as (path, content)."""
    packaged = resources.files("gitfleet") / "cli" / "layout"
    root: Traversable = packaged if packaged.is_dir() else Path(__file__).resolve().parents[2] / "repo-layout"
    return sorted(_walk(root, ""))


def _walk(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for entry in folder.iterdir():
        path = f"{prefix}{entry.name}"
        found += _walk(entry, f"{path}/") if entry.is_dir() else [(path, entry.read_bytes())]
    return found
