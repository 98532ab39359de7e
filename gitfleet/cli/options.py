"""Arguments and options that several commands share, and the settings that follow from them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar

import click

from gitfleet.settings import GitLogin, Settings

F = TypeVar("F", bound=Callable[..., Any])


class Decorator(Protocol):
    """What puts an option on a command."""

    def __call__(self, command: F, /) -> F:
        """The command with the option."""


_PATH = click.Path(path_type=Path)

repo = click.argument("repo", metavar="[REPO]", default=".")
in_repo = click.option(
    "-C", "--repo", metavar="REPO", default=".", help="Path or URL of the config repo (default: this folder)."
)
rev = click.option("--rev", metavar="REV", help="Commit, branch or tag to read instead of the watched branch.")
branch = click.option("--branch", metavar="NAME", help="Branch to watch instead of the FleetConfig's (main).")
kubeconfig = click.option(
    "--kubeconfig", type=_PATH, metavar="FILE", envvar="KUBECONFIG", help="Where connection.context is looked up."
)
kubeconfig_dir = click.option(
    "--kubeconfig-dir", type=_PATH, metavar="DIR", help="Where connection.kubeconfig.file is looked up."
)
allow_exec = click.option(
    "--allow-exec", multiple=True, metavar="PROGRAM", help="A login plug-in that kubeconfigs may run (repeatable)."
)
cache_dir = click.option(
    "--cache-dir",
    type=_PATH,
    metavar="DIR",
    envvar="GITFLEET_CACHE_DIR",
    help="Mirror and parse cache; losing it costs time only.",
)
simulated_dir = click.option(
    "--simulated-dir", type=_PATH, metavar="DIR", help="Where simulated clusters are kept between runs."
)


def together(*options: Decorator) -> Decorator:
    """Several options as one decorator, shown in this order."""

    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def connections(command: F) -> F:
    """How member clusters are reached."""
    return together(kubeconfig, kubeconfig_dir, allow_exec, simulated_dir)(command)


def what_if(verb: str) -> Decorator:
    """--without, --with and --cordon of `plan` and `simulate`."""
    return together(
        click.option(
            "--without",
            multiple=True,
            metavar="CLUSTER",
            help=f"{verb} without a cluster, or LABEL=VALUE (repeatable).",
        ),
        click.option(
            "--with",
            "with_file",
            multiple=True,
            type=_PATH,
            metavar="FILE",
            help=f"{verb} with a file's MemberClusters as well (repeatable).",
        ),
        click.option(
            "--cordon",
            multiple=True,
            metavar="CLUSTER",
            help=f"{verb} with a cluster that takes nothing new (repeatable).",
        ),
    )


def output(*formats: str) -> Decorator:
    """-o with the formats that a command has; the first is the default."""
    return click.option(
        "-o",
        "--output",
        type=click.Choice(formats),
        default=formats[0],
        metavar="FORMAT",
        help=f"{'|'.join(formats)} (default: {formats[0]}).",
    )


def example(*lines: str) -> str:
    """The end of a command's help: examples, each on its line."""
    title = "Example:" if len(lines) == 1 else "Examples:"
    return "\n".join(("\b", title, *(f"  {line}" for line in lines)))


def cache_dir_for(repo: str, chosen: Path | None) -> Path:
    """A private folder for one remote below the user's cache folder, unless one was chosen."""
    if chosen is not None:
        return chosen
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    where = repo if "://" in repo or ":" in repo.split("/")[0] else str(Path(repo).resolve())
    return base / "gitfleet" / "repos" / hashlib.sha256(where.encode()).hexdigest()[:16]


def git_login() -> GitLogin:
    """How to prove who we are to the git remote, from the environment; never from an argument that others can see."""

    def file(name: str) -> Path | None:
        return Path(os.environ[name]) if os.environ.get(name) else None

    return GitLogin(
        username=os.environ.get("GITFLEET_GIT_USERNAME") or None,
        password=os.environ.get("GITFLEET_GIT_PASSWORD") or None,
        ssh_key_file=file("GITFLEET_SSH_KEY_FILE"),
        known_hosts_file=file("GITFLEET_KNOWN_HOSTS_FILE"),
        ca_file=file("GITFLEET_GIT_CA_FILE"),
    )


def settings_for(
    repo: str,
    *,
    cache_dir: Path | None = None,
    state_dir: Path | None = None,
    kubeconfig: Path | None = None,
    kubeconfig_dir: Path | None = None,
    allow_exec: tuple[str, ...] = (),
    simulated_dir: Path | None = None,
    simulate_unconnected: bool = False,
    branch: str | None = None,
) -> Settings:
    """The settings of one process from its options and environment."""
    chosen_cache = cache_dir_for(repo, cache_dir)
    return Settings(
        repo=repo,
        cache_dir=chosen_cache,
        state_dir=state_dir,
        kubeconfig=kubeconfig,
        kubeconfig_dir=kubeconfig_dir,
        allowed_exec=tuple(allow_exec),
        simulated_dir=simulated_dir or chosen_cache / "simulated",
        simulate_unconnected=simulate_unconnected,
        watch_branch=branch,
        git_login=git_login(),
    )
