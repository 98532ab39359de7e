"""`gitfleet rollback`: the pin, or the run of an External placement, that takes it back to an older snapshot, committed
to the config repo."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import click

from gitfleet.cli import commits, options
from gitfleet.cli.messages import say
from gitfleet.cli.texts import CliText
from gitfleet.settings import Settings

if TYPE_CHECKING:
    from gitfleet.branches.person_commits import FilesChange


@options.command("gitfleet rollback shop --to 3 --dry-run", "gitfleet rollback shop --to 3 --strategy fast")
@click.argument("placement", metavar="PLACEMENT")
@click.option("--to", "index", type=click.IntRange(min=0), required=True, help="The snapshot to go back to.")
@click.option("--strategy", metavar="NAME", help="The strategy of a run; that of the placement's last run otherwise.")
@click.option("--dry-run", is_flag=True, help="Print the file and commit nothing.")
@commits.target
@commits.settings
def rollback(
    placement: str, index: int, strategy: str | None, dry_run: bool, target: str | None, settings: Settings
) -> None:
    """Take a PLACEMENT (NAME, or NAMESPACE/NAME) back to an older snapshot, by a commit as who git says you are.

    With strategy RollingUpdate it is a Pin: the old content is rolled out, and newer content waits until you remove the
    file. With strategy External it is a run; runs under way end with the same commit, in whatever state they are.
    `gitfleet get snapshots` lists what there is to go back to.
    """
    from gitfleet.branches.person_commits import FilesChange
    from gitfleet.views.rollbacks import rollback_of
    from gitfleet.wiring.hub import open_workspace

    with open_workspace(settings, clusters="none") as workspace:
        state = workspace.repository.load_state(workspace.state_head())
        desired = workspace.desired_at(workspace.commit_of(None))

        def change(paths: Collection[str]) -> FilesChange:
            made = rollback_of(state, desired, placement, index, strategy, paths.__contains__)
            say(CliText.TAKES_BACK_SNAPSHOT(made=made.path, placement=placement, index=index, how=made.how))
            if made.warning:
                say(f"warning: {made.warning}")
            for path in made.remove:
                say(CliText.GOES_ENDS_RUN(path=path))
            return FilesChange(
                subject=CliText.ROLL_BACK_SNAPSHOT(placement=placement, index=index),
                write={made.path: made.text.encode()},
                remove=made.remove,
            )

        if dry_run:
            tree = workspace.repository.reader.list_tree(workspace.commit_of(None))
            files = change(tree)
            for content in files.write.values():
                click.echo(content.decode(), nl=False)
            return
        commits.commit_files(workspace, settings, change, target)
