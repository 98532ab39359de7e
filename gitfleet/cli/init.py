"""`gitfleet init`: lays out a config repo that already works."""

from __future__ import annotations

from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated

import typer

from gitfleet.cli.talk import say
from gitfleet.errors import BadInput


def init(
    directory: Annotated[Path, typer.Argument(metavar="[DIR]", help="The folder to lay out.")] = Path(),
    force: Annotated[bool, typer.Option("--force", help="Write even where files of the same name are.")] = False,
) -> None:
    """Lay out a config repo that already works.

    Example: gitfleet init my-fleet && cd my-fleet && git init && git add . && git commit -m "My fleet"
    """
    files = dict(layout_files())
    existing = sorted(path for path in files if (directory / path).exists())
    if existing and not force:
        raise BadInput(
            f"{directory} already has {existing[0]}" + (f" and {len(existing) - 1} more" if len(existing) > 1 else ""),
            hint="choose an empty folder, or write over these files with --force",
        )
    for path, content in files.items():
        target = directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    say(f"{len(files)} files are in {directory.resolve()}; commit them, then try `gitfleet plan --clusters simulated`")


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
