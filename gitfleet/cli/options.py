"""Options that several commands share, and the settings that follow from them."""

from __future__ import annotations

import hashlib
import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from gitfleet.settings import Settings

Repo = Annotated[str, typer.Argument(metavar="[REPO]", help="Path or URL of the config repo.", show_default=True)]
Rev = Annotated[str | None, typer.Option("--rev", help="Commit, branch or tag to read instead of the watched branch.")]
Kubeconfig = Annotated[
    Path | None, typer.Option("--kubeconfig", envvar="KUBECONFIG", help="Where `connection.context` is looked up.")
]
KubeconfigDir = Annotated[
    Path | None, typer.Option("--kubeconfig-dir", help="Folder where `connection.kubeconfig.file` is looked up.")
]
AllowExec = Annotated[
    list[str] | None, typer.Option("--allow-exec", help="An exec plug-in that kubeconfigs may run (repeatable).")
]
CacheDir = Annotated[
    Path | None,
    typer.Option("--cache-dir", envvar="GITFLEET_CACHE_DIR", help="Mirror and parse cache; losing it costs time only."),
]
SimulatedDir = Annotated[
    Path | None, typer.Option("--simulated-dir", help="Where simulated clusters keep their state between runs.")
]
Branch = Annotated[str | None, typer.Option("--branch", help="Branch to watch instead of the FleetConfig's.")]
Format = Annotated["str | None", typer.Option("--output", "-o", help="table, json, yaml or wide where it applies.")]


class Clusters(StrEnum):
    """Whose answers `plan` counts with."""

    LIVE = "live"
    SIMULATED = "simulated"
    NONE = "none"


def cache_dir_for(repo: str, chosen: Path | None) -> Path:
    """A private folder for one remote below the user's cache folder, unless one was chosen."""
    if chosen is not None:
        return chosen
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    where = repo if "://" in repo or ":" in repo.split("/")[0] else str(Path(repo).resolve())
    return base / "gitfleet" / "repos" / hashlib.sha256(where.encode()).hexdigest()[:16]


def settings_for(
    repo: str,
    *,
    cache_dir: Path | None = None,
    state_dir: Path | None = None,
    kubeconfig: Path | None = None,
    kubeconfig_dir: Path | None = None,
    allow_exec: list[str] | None = None,
    simulated_dir: Path | None = None,
    simulate_unconnected: bool = False,
    branch: str | None = None,
) -> Settings:
    """The settings of one process from its options."""
    chosen_cache = cache_dir_for(repo, cache_dir)
    return Settings(
        repo=repo,
        cache_dir=chosen_cache,
        state_dir=state_dir,
        kubeconfig=kubeconfig,
        kubeconfig_dir=kubeconfig_dir,
        allowed_exec=tuple(allow_exec or ()),
        simulated_dir=simulated_dir or chosen_cache / "simulated",
        simulate_unconnected=simulate_unconnected,
        watch_branch=branch,
    )
