"""`gitfleet approve` and `gitfleet reject`: the file by which a person answers a hold, to be committed and merged."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gitfleet.cli import options
from gitfleet.cli.messages import left_out, say
from gitfleet.errors import BadInput
from gitfleet.settings import Settings

if TYPE_CHECKING:
    from gitfleet.api.holds import Hold

_INTO = options.combined(
    click.argument("name", metavar="HOLD"),
    click.option(
        "--dir",
        "directory",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="The work tree to write it into (default: REPO; without a work tree it is printed).",
    ),
    options.settings(options.in_repo, options.branch, options.cache_dir),
)


@click.command(
    epilog=options.example(
        "gitfleet approve hold-web-40ee3deb44",
        "gitfleet approve hold-web-40ee3deb44 -C ssh://git.example.com/fleet --dir .",
    )
)
@_INTO
def approve(name: str, directory: Path | None, settings: Settings) -> None:
    """Write the file that approves a held removal into a work tree of the config repo.

    Nothing is committed or pushed: commit approvals/HOLD.yaml and merge it. `gitfleet get holds` lists what is held.
    """
    _answer(name, directory, settings, approved=True)


@click.command(epilog=options.example("gitfleet reject hold-web-40ee3deb44"))
@_INTO
def reject(name: str, directory: Path | None, settings: Settings) -> None:
    """Write the file that rejects a held removal: it stays held until the file says otherwise.

    As `gitfleet approve` does it.
    """
    _answer(name, directory, settings, approved=False)


def _answer(name: str, directory: Path | None, settings: Settings, *, approved: bool) -> None:
    from gitfleet.api.conditions import Status
    from gitfleet.views import approval_path, approval_text, hold_document, hold_sentence

    hold = _hold(name.removeprefix("hold/"), settings)
    status, path = Status.TRUE if approved else Status.FALSE, approval_path(hold.name)
    verb = "approves" if approved else "rejects"
    if hold.answer is status:
        say(f"a file of the watched branch {verb} {hold.name} already")
        return
    sentence, text = hold_sentence(hold_document(hold)), approval_text(hold.name, status)
    folder = _work_tree(directory, settings.repo)
    if folder is None:
        say(f"{path} with this content {verb}: {sentence}")
        click.echo(text, nl=False)
        return
    if hold.answer is not None and not (folder / path).exists():
        raise BadInput(
            f"a file that is not in this work tree as {path} has answered {hold.name}",
            hint=f'pull, or set the status in the ClusterApprovalRequest/{hold.name} to "{status.value}" where it is',
        )
    _write(folder, path, text)
    say(f"{folder / path} {verb}: {sentence}")
    say("commit it, and merge it into the watched branch")


def _hold(name: str, settings: Settings) -> Hold:
    from gitfleet.wiring_state import open_state

    for hold in open_state(settings, None, left_out).reader.holds(name):
        return hold
    raise BadInput(f'there is no hold "{name}"', hint="`gitfleet get holds` lists what there is")


def _work_tree(directory: Path | None, repo: str) -> Path | None:
    """Where to write; None to print it. BadInput for a folder that is no work tree."""
    folder = directory or Path(repo)
    if (folder / ".git").exists():
        return folder
    if directory is not None:
        raise BadInput(f"{directory} is not the top of a git work tree", hint="name one of the config repo with --dir")
    return None


def _write(folder: Path, path: str, text: str) -> None:
    target = folder / path
    if target.is_symlink() or target.parent.is_symlink():
        raise BadInput(f"{path} is a link, and gitfleet follows none", hint="write the file yourself")
    try:
        target.parent.mkdir(exist_ok=True)
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{target} cannot be written: {error.strerror}") from error
