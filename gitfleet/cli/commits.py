"""What commands commit to the config repo in a person's name: their options, and what is said of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from gitfleet.cli import options
from gitfleet.cli.messages import say
from gitfleet.cli.texts import CliText
from gitfleet.settings import Settings

if TYPE_CHECKING:
    from gitfleet.branches.person_commits import Check, Committed, FilesChange, Tree
    from gitfleet.loop.workspace import Workspace

_ID_DIGITS = 10

target = click.option(
    "--branch",
    "target",
    metavar="NAME",
    help="Commit to this branch instead of the watched one, on top of which it is made.",
)
watch = click.option("--watch", "branch", metavar="NAME", help="The watched branch, where `run --branch` names it.")
settings = options.settings(options.in_repo, watch, options.cache_dir)


def commit_files(
    workspace: Workspace,
    settings: Settings,
    change: Callable[[Tree], FilesChange],
    branch: str | None,
    check: Check | None = None,
) -> Committed:
    """Commit what `change` gives for the files that are there, to the watched branch or to `branch`, and say so. As
    PersonCommits.commit, with the identity that git knows here."""
    from gitfleet.wiring.hub import person_of

    commits = workspace.commits(person_of(settings.repo))
    made = commits.commit(change, branch, check)
    if not made.changed:
        say(CliText.ALREADY_NOTHING_COMMITTED(branch=made.branch))
        return made
    merge = "" if made.branch == commits.watched else CliText.MERGE_INTO(watched=commits.watched)
    say(
        CliText.COMMITTED_AS_BY(
            branch=made.branch, commit=made.commit[:_ID_DIGITS], email=commits.person.email, merge=merge
        )
    )
    return made
