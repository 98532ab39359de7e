"""`gitfleet pause` and `gitfleet resume`: one field of a workload rollout's file, committed to the config repo."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gitfleet.cli import commits, options
from gitfleet.cli.messages import say
from gitfleet.cli.texts import CliText
from gitfleet.settings import Settings

if TYPE_CHECKING:
    from gitfleet.branches.person_commits import FilesChange, Tree

_kind = click.argument("kind", metavar="KIND")
_name = click.argument("name", metavar="NAME")


@options.command("gitfleet pause rollout web", "gitfleet pause rollout shop/web --branch stop-web -C my-fleet")
@_kind
@_name
@commits.target
@commits.settings
def pause(kind: str, name: str, target: str | None, settings: Settings) -> None:
    """Pause a workload rollout (KIND `rollout`; NAME, or NAMESPACE/NAME): commit `paused: true` to its file, as who git
    says you are.

    Nothing of it moves from then on, in whatever state it is; its pods stay as they are. All else in the file stays as
    it is written. A protected branch takes it by a pull request: commit it to a branch with --branch.
    """
    _commit(kind, name, target, settings, paused=True)


@options.command("gitfleet resume rollout web", "gitfleet resume rollout shop/web -C my-fleet")
@_kind
@_name
@commits.target
@commits.settings
def resume(kind: str, name: str, target: str | None, settings: Settings) -> None:
    """Let a paused workload rollout go on where it was (KIND `rollout`; NAME, or NAMESPACE/NAME): commit
    `paused: false` to its file, as who git says you are."""
    _commit(kind, name, target, settings, paused=False)


def _commit(kind: str, name: str, target: str | None, settings: Settings, *, paused: bool) -> None:
    from gitfleet.branches.person_commits import FilesChange
    from gitfleet.errors import BadInput
    from gitfleet.formats.limits import MAX_FILE_BYTES
    from gitfleet.views.pauses import rollout_to_pause, with_pause
    from gitfleet.wiring.hub import open_workspace

    with open_workspace(settings, clusters="none") as workspace:
        reader = workspace.repository.reader
        rollout = rollout_to_pause(kind, name, workspace.desired_at(workspace.commit_of(None)).rollouts)
        path = rollout.origin.path if rollout.origin is not None else ""

        def change(tree: Tree) -> FilesChange:
            if path not in tree:
                raise BadInput(CliText.NOT_ANY_MORE(path=path), hint=CliText.GITFLEET_GET_ROLLOUTS_LISTS())
            oid = tree[path].oid
            content = with_pause(reader.read_blobs([oid], limit=MAX_FILE_BYTES)[oid], rollout, paused)
            verb = "Pause" if paused else "Resume"
            say(CliText.WORKLOAD_ROLLOUT(path=path, part="pauses" if paused else "resumes", rollout=rollout.key))
            return FilesChange(
                subject=CliText.WORKLOAD_ROLLOUT_2(verb=verb, rollout=rollout.key), write={path: content}
            )

        commits.commit_files(workspace, settings, change, target)
