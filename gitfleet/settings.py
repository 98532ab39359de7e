"""The command line and the environment of one process as frozen values."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds on what an untrusted repository may make gitfleet read; sizes in bytes."""

    file_bytes: int = 4 * 1024 * 1024
    files: int = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class GitLogin:
    """The credentials for the git remote; what is None is not used, and then the user's own git settings and ssh agent
    count. A token is a password; many hosts ignore the name that goes with it."""

    username: str | None = None
    password: str | None = field(default=None, repr=False)
    ssh_key_file: Path | None = None
    known_hosts_file: Path | None = None
    ca_file: Path | None = None

    @property
    def given(self) -> bool:
        """Whether anything is there."""
        return self != GitLogin()


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One process's settings.

    `cache_dir` holds the mirror and the parse cache: losing it costs time only. `kubeconfig`, `kubeconfig_dir`,
    `allowed_exec`, `exec_environment`, `in_cluster` and `secret_namespaces` say which credentials connections may name
    (see ConnectionRules of adapters.kube). `simulated_dir` keeps simulated clusters between
    runs; `simulate_unconnected` lets a cluster without connection be simulated (demo, simulate). `watch_branch`
    overrides the FleetConfig's.
    """

    repo: str
    cache_dir: Path
    state_dir: Path | None = None
    kubeconfig: Path | None = None
    kubeconfig_dir: Path | None = None
    allowed_exec: tuple[str, ...] = ()
    exec_environment: tuple[str, ...] = ()
    in_cluster: bool = True
    secret_namespaces: tuple[str, ...] = ()
    simulated_dir: Path | None = None
    simulate_unconnected: bool = False
    watch_branch: str | None = None
    limits: Limits = Limits()
    git_login: GitLogin = GitLogin()


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIfOptions:
    """The options of `plan` and `simulate` that change the fleet for one question.

    `without` has cluster names, or labels as KEY=VALUE; `with_file` files with more MemberClusters; `cordon` clusters
    that take nothing new.
    """

    without: tuple[str, ...] = ()
    with_file: tuple[Path, ...] = ()
    cordon: tuple[str, ...] = ()
