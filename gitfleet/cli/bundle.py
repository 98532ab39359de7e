"""`gitfleet bundle`: carries what is delivered to a cluster, and what its agent reports, in files."""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gitfleet.cli import options
from gitfleet.cli.agent_branches import deliveries, members
from gitfleet.cli.messages import say
from gitfleet.cli.texts import CliText
from gitfleet.errors import BadInput
from gitfleet.settings import Settings

if TYPE_CHECKING:
    from gitfleet.agent.bundles import Way

_ID_DIGITS = 10
_DEFAULT_MIB, _MOST_MIB = 64, 1024

_repo = click.argument("repo", metavar="REPO")
_file = click.argument("file", metavar="FILE")
_cluster = click.option("--cluster", metavar="NAME", required=True, help="The cluster whose agent it is for, or from.")
_to = click.option(
    "--to",
    "to",
    type=click.Choice(("member", "hub")),
    required=True,
    help="member: what the hub delivers; hub: what the agent reports.",
)
_from = click.option(
    "--from",
    "sender",
    type=click.Choice(("hub", "member")),
    required=True,
    help="hub: FILE is a delivery, for the site's REPO; member: a report, for the hub's.",
)


def _way(*, cluster: str, to: str, deliveries: str, members: str) -> Way:
    from gitfleet.agent.bundles import End, Way

    return Way(cluster=cluster, to=End(to), deliveries=deliveries, members=members)


def _way_from(*, cluster: str, sender: str, deliveries: str, members: str) -> Way:
    return _way(cluster=cluster, to="member" if sender == "hub" else "hub", deliveries=deliveries, members=members)


_export_way = options.collected("way", _way, _cluster, _to, deliveries, members)
_import_way = options.collected("way", _way_from, _cluster, _from, deliveries, members)
_max_size = click.option(
    "--max-size",
    metavar="MIB",
    type=click.IntRange(1, _MOST_MIB),
    default=_DEFAULT_MIB,
    help=f"The largest FILE, in MiB (default: {_DEFAULT_MIB}).",
)
_settings = options.settings(_repo, options.cache_dir, of_state=False)


@click.group(
    epilog=options.example(
        "gitfleet bundle export https://git.example.com/fleet /media/usb/to-eu-1 \\",
        "    --cluster eu-1 --to member",
        "gitfleet bundle import /srv/fleet.git /media/usb/to-eu-1 \\",
        "    --cluster eu-1 --from hub --create",
    )
)
def bundle() -> None:
    """Carry a cluster's branches in files, to a site without a way to the hub's repository and back."""


@bundle.command(epilog=options.example("gitfleet bundle export /srv/fleet.git from-eu-1 --cluster eu-1 --to hub"))
@_settings
@_file
@_export_way
@_max_size
def export(settings: Settings, file: str, way: Way, max_size: int) -> None:
    """Write the branch of REPO that goes to one end into FILE (-: stdout), as a whole git bundle.

    FILE is readable to you alone, and there is all of it or what was there before.
    """
    from gitfleet.agent.bundles import export_bundle
    from gitfleet.wiring.bundles import open_bundles

    commit, content = export_bundle(open_bundles(settings), way, limit=max_size << 20)
    if file == "-":
        sys.stdout.buffer.write(content)
        sys.stdout.flush()
    else:
        _write(Path(file), content)
    say(f"{_named(file, 'stdout')} holds {way.branch} at {commit[:_ID_DIGITS]} ({len(content)} bytes)")


@bundle.command("import", epilog=options.example("gitfleet bundle import . from-eu-1 --cluster eu-1 --from hub"))
@_settings
@_file
@_import_way
@click.option("--create", is_flag=True, help="Make a bare repository where the path REPO does not exist.")
@_max_size
def import_(settings: Settings, file: str, way: Way, create: bool, max_size: int) -> None:
    """Set the branch of REPO to what FILE (-: stdin) holds, where that goes on from what is there.

    A delivery must have the last one in its history, and a report must be newer. FILE is not trusted: it moves this one
    branch or is refused.
    """
    from gitfleet.agent.bundles import import_bundle
    from gitfleet.wiring.bundles import make_site_repository, open_bundles, site_folder

    way.check()  # before anything is made
    shown = _named(file, "stdin")
    content = _read(file, shown, max_size)
    if create:
        folder = site_folder(settings.repo)
        if folder is None:
            raise click.UsageError(CliText.CREATE_MAKES_REPOSITORY_PATH())
        if make_site_repository(folder, content, shown=shown):
            say(CliText.MADE_BARE_REPOSITORY(folder=folder))
    repo = open_bundles(settings)
    done = import_bundle(repo, content, way, shown=shown)
    state = CliText.IS_NOW_AT() if done.moved else CliText.WAS_ALREADY_AT()
    say(f"{done.branch} of {repo.shown} {state} {done.commit[:_ID_DIGITS]}")


def _named(file: str, stream: str) -> str:
    return stream if file == "-" else file


def _read(file: str, shown: str, max_size: int) -> bytes:
    """All of a file; BadInput for one that is too large."""
    limit = max_size << 20
    try:
        if file == "-":
            content = sys.stdin.buffer.read(limit + 1)
        else:
            with Path(file).open("rb") as opened:
                content = opened.read(limit + 1)
    except OSError as error:
        raise BadInput(CliText.CANNOT_READ(shown=shown, strerror=error.strerror)) from error
    if len(content) > limit:
        raise BadInput(CliText.LARGER_MIB(shown=shown, max_size=max_size), hint=CliText.IF_YOU_KNOW_WHY())
    return content


def _write(file: Path, content: bytes) -> None:
    """Put a file in its place at once and as a whole, for its owner alone."""
    temporary = ""
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=f".{file.name}-", dir=file.parent)  # mode 0600
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(content)
            opened.flush()
            os.fsync(opened.fileno())
        Path(temporary).replace(file)
    except OSError as error:
        raise BadInput(CliText.CANNOT_WRITTEN(file=file, strerror=error.strerror)) from error
    finally:
        if temporary:
            with suppress(OSError):
                Path(temporary).unlink()
