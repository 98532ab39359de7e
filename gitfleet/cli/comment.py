"""`gitfleet comment`: puts a plan on a pull request of a forge, from a job that runs nothing of the repository."""

from __future__ import annotations

from typing import Any, BinaryIO

import click

from gitfleet.cli import options
from gitfleet.cli.messages import say
from gitfleet.cli.texts import CliText
from gitfleet.errors import BadInput
from gitfleet.settings import ForgeSettings


def _chosen(**values: Any) -> ForgeSettings:
    chosen = options.forge_settings("", values)
    if chosen is None:
        raise click.UsageError(CliText.NAME_FORGE_FORGE())
    return chosen


@options.command(
    "gitfleet comment 12 comment.md --forge github \\", "    --forge-repo acme/fleet --forge-token-env GITHUB_TOKEN"
)
@click.argument("number", type=click.IntRange(min=1), metavar="NUMBER")
@click.argument("file", type=click.File("rb"), default="-", metavar="[FILE]")
@options.collected("forge", _chosen, options.forge)
def comment(number: int, file: BinaryIO, forge: ForgeSettings) -> None:
    """Put the Markdown of FILE (default: standard input) on pull request NUMBER, as one comment.

    The comment that was put there before is replaced. FILE is what `gitfleet plan -o markdown` wrote; of a text that is
    too long for the forge the end is left out.
    """
    from gitfleet.serving.forge import put_comment
    from gitfleet.wiring.publishers import forge_tokens, open_forge

    text = file.read().decode(errors="replace")
    if not text.strip():
        raise BadInput(CliText.NO_TEXT_PUT_PULL_REQUEST(), hint=CliText.GIVE_PLAN_O_MARKDOWN_WROTE())
    done = put_comment(open_forge(forge, forge_tokens(forge)()), number, text)
    say(CliText.COMMENT_PULL_REQUEST(number=number, repository=forge.repository, done=done))
