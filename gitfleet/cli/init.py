"""`gitfleet init`: lays out a config repo that already works."""

from __future__ import annotations

import os
import posixpath
import shlex
from collections.abc import Mapping, Sequence
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

import click

from gitfleet import __version__
from gitfleet.cli import options
from gitfleet.cli.messages import say
from gitfleet.cli.output import write_files
from gitfleet.cli.schema import EVERY_KIND, schema_files
from gitfleet.cli.texts import CliText
from gitfleet.errors import BadInput
from gitfleet.formats.sentences import named_briefly

_ACTIONS: Final = (
    ("action/action.yml", "actions/gitfleet/action.yml"),
    ("{forge}/workflow.yml", "workflows/gitfleet.yml"),
)
_FORGE_FILES: Final[Mapping[str, Sequence[tuple[str, str]]]] = {
    "github": _ACTIONS,
    "gitea": _ACTIONS,
    "gitlab": (("gitlab/gitfleet.yml", "gitfleet.yml"), ("gitlab/gitlab-ci.yml", "../.gitlab-ci.yml")),
}
"""The files of each forge in `ci/`, and where they stand below the forge's own folder."""
_MOST_NAMED: Final = 5
_FLEET_FILE: Final = "gitfleet.yaml"


@options.command("gitfleet init my-fleet", "cd my-fleet", 'git init -b main && git add . && git commit -m "My fleet"')
@click.argument("directory", metavar="[DIR]", default=Path(), type=click.Path(path_type=Path))
@click.option(
    "--ci",
    "forge",
    type=click.Choice(tuple(_FORGE_FILES)),
    help="Add checks of pull requests; to a fleet, add only these.",
)
@click.option("--force", is_flag=True, help="Replace files that exist.")
def init(directory: Path, forge: str | None, force: bool) -> None:
    """Lay out a config repo that already works in DIR (default: this folder). Files that exist stay as they are."""
    is_fleet = forge is not None and (directory / _FLEET_FILE).exists()
    files = {} if is_fleet else dict(layout_files())
    if forge is not None:
        files |= ci_files(forge)
    existing = sorted(path for path in files if os.path.lexists(directory / path))
    if _FLEET_FILE in existing and not force:
        raise BadInput(CliText.ALREADY_HAS(resolve=directory.resolve()), hint=CliText.CHOOSE_ANOTHER_FOLDER())
    if existing:
        names = named_briefly(existing, _MOST_NAMED)
        say(CliText.FILES_REPLACED(files=names) if force else CliText.FILES_UNCHANGED(files=names))
    new = {path: content for path, content in files.items() if force or path not in existing}
    write_files(directory, new)
    say(CliText.FILES_NEXT(count=len(new), resolve=directory.resolve()))
    if directory.resolve() != Path.cwd():
        say(f"  cd {shlex.quote(str(directory))}")
    if forge is not None:
        say(CliText.NAME_TEAMS_CODEOWNERS(forge=forge))
    if not is_fleet:
        say(CliText.GIT_INIT_B_MAIN_GIT())
        say(CliText.GITFLEET_PLAN_CLUSTERS_SIMULATED())


def layout_files() -> list[tuple[str, bytes]]:
    """The files of `repo-layout/`, which travels inside the package, as (path, content)."""
    return sorted(_walk(_packaged("layout", "repo-layout"), ""))


def ci_files(forge: str) -> dict[str, bytes]:
    """What checks the pull requests of a fleet on a forge, by path; who reviews them; what its editors need."""
    files = dict(_walk(_packaged("ci", "ci"), ""))
    pairs = [(source.format(forge=forge), f".{forge}/{path}") for source, path in _FORGE_FILES[forge]]
    pairs += [
        ("CODEOWNERS", f".{forge}/CODEOWNERS"),
        ("pre-commit-config.yaml", ".pre-commit-config.yaml"),
        ("vscode-settings.json", ".vscode/settings.json"),
    ]
    copies = {
        posixpath.normpath(path): files[source].replace(b"@VERSION@", __version__.encode()) for source, path in pairs
    }
    return copies | {f".gitfleet/schemas/{EVERY_KIND}": schema_files()[EVERY_KIND]}


def _packaged(name: str, folder: str) -> Traversable:
    """A folder of the project that travels inside the package."""
    packaged = resources.files("gitfleet") / "cli" / name
    return packaged if packaged.is_dir() else Path(__file__).resolve().parents[2] / folder


def _walk(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    files: list[tuple[str, bytes]] = []
    for entry in folder.iterdir():
        path = f"{prefix}{entry.name}"
        files += _walk(entry, f"{path}/") if entry.is_dir() else [(path, entry.read_bytes())]
    return files
