"""`gitfleet render`: each cluster's final manifests as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gitfleet.cli import options
from gitfleet.cli.talk import say
from gitfleet.errors import BadInput


def render(
    repo: options.Repo = ".",
    out: Annotated[Path, typer.Option("--out", help="The folder to write to; must be empty or absent.")] = Path(
        "rendered"
    ),
    rev: options.Rev = None,
    branch: options.Branch = None,
    cache_dir: options.CacheDir = None,
) -> None:
    """Write the manifests that each cluster is to have, overrides applied, as OUT/CLUSTER/PLACEMENT/*.yaml.

    Every picked cluster is rendered with the newest snapshot, as if the rollout were done.
    Example: gitfleet render . --out rendered
    """
    from gitfleet import wiring

    if out.exists() and any(out.iterdir()):
        raise BadInput(f"{out} is not empty", hint="name an empty or absent folder with --out")
    settings = options.settings_for(repo, cache_dir=cache_dir, branch=branch)
    with wiring.open_workspace(settings, clusters="recorded") as workspace:
        files = workspace.rendered_files(rev)
    for path, content in files.items():
        target = out / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    clusters = {path.split("/")[0] for path in files}
    say(f"{len(files)} files for {len(clusters)} clusters are in {out}")
