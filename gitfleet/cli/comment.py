"""`gitfleet comment`: puts a plan on a pull request of a forge, from a job that runs nothing of the repository."""

from __future__ import annotations

from typing import BinaryIO, Unpack

import click

from gitfleet.cli import options
from gitfleet.cli.messages import say
from gitfleet.errors import BadInput
from gitfleet.settings import ForgeSettings


def _chosen(**given: Unpack[options.ForgeOptions]) -> ForgeSettings:
    chosen = options.forge_settings("", given)
    if chosen is None:
        raise click.UsageError("name the forge with --forge")
    return chosen


@click.command(
    epilog=options.example(
        "gitfleet comment 12 comment.md --forge github \\",
        "    --forge-repo acme/fleet --forge-token-env GITHUB_TOKEN",
    )
)
@click.argument("number", type=click.IntRange(min=1), metavar="NUMBER")
@click.argument("file", type=click.File("rb"), default="-", metavar="[FILE]")
@options.collected("forge", _chosen, options.forge)
def comment(number: int, file: BinaryIO, forge: ForgeSettings) -> None:
    """Put the Markdown of FILE (default: standard input) on pull request NUMBER, as one comment.

    The comment that was put there before is replaced. FILE is what `gitfleet plan -o markdown` wrote; of a text that is
    too long for the forge the end is left out.
    """
    from gitfleet.loop.comments import put_comment
    from gitfleet.wiring import forge_tokens, open_forge

    text = file.read().decode(errors="replace")
    if not text.strip():
        raise BadInput("there is no text to put on the pull request", hint="give what `plan -o markdown` wrote")
    done = put_comment(open_forge(forge, forge_tokens(forge)()), number, text)
    say(f"comment on pull request {number} of {forge.repository}: {done}")
