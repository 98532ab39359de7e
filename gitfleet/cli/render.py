"""`gitfleet render`: each cluster's final manifests as files."""

from __future__ import annotations

from pathlib import Path

from gitfleet.cli import options
from gitfleet.cli.messages import say
from gitfleet.cli.output import write_files
from gitfleet.cli.texts import CliText
from gitfleet.errors import BadInput
from gitfleet.settings import Settings


@options.command("gitfleet render . --out rendered", "gitfleet render . --rev my-change --out after")
@options.path(
    "--out",
    metavar="DIR",
    text="The folder to write to, empty or absent (default: rendered).",
    default=Path("rendered"),
)
@options.rev
@options.settings(options.repo, options.branch, options.cache_dir, of_state=False)
def render(out: Path, rev: str | None, settings: Settings) -> int:
    """Write the manifests that each cluster is to have, overrides applied, as OUT/CLUSTER/PLACEMENT/*.yaml.

    Every picked cluster is rendered with the newest snapshot, as if the rollout were done. Secrets are written as they
    stand in the repo. What cannot be rendered is reported, and all else is written; the exit code is then 1.
    """
    from gitfleet.wiring import hub

    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BadInput(CliText.NOT_EMPTY_FOLDER(out=out), hint=CliText.NAME_EMPTY_ABSENT_FOLDER_OUT())
    with hub.open_workspace(settings, clusters="recorded") as workspace:
        if rev is None and (rewrite := workspace.rewrite()) is not None:
            say(f"error: {rewrite.fault()}")
        files, errors = workspace.rendered_files(rev)
    write_files(out, files)
    clusters = {path.split("/")[0] for path in files}
    say(CliText.FILES_CLUSTERS(count=len(files), count_2=len(clusters), out=out))
    for sentence in errors:
        say(f"error: {sentence}")
    return 1 if errors else 0
