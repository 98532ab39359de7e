"""The command line and the environment of one process as frozen values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from gitfleet.api.fleet import Branches
from gitfleet.formats.hosts import HostPattern, Origin
from gitfleet.formats.limits import MAX_FILE_BYTES, MAX_FILES

SecretReader = Callable[[str, str, str], bytes]
"""(namespace, name, key) -> the value of a Secret's key; MissingPart when it is not there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds on what an untrusted repository may make gitfleet read; sizes in bytes."""

    file_bytes: int = MAX_FILE_BYTES
    files: int = MAX_FILES


@dataclass(frozen=True, slots=True, kw_only=True)
class GitHubApp:
    """A GitHub App that is installed on the repository: the ids of the app and of its installation, the file with its
    private key (PEM), and where the API is ("": api.github.com, or /api/v3 of the remote's host)."""

    app_id: str
    installation_id: str
    key_file: Path
    api_url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitCredentials:
    """How to prove who we are to the git remote; what is None is not used, and then the user's own git settings and ssh
    agent count.

    For http and https: `username` and `password` (a token is a password; many hosts ignore the name that goes with
    it); `password_file` is read at each use, and so outranks `password`, as `app` does both. For ssh: `ssh_key_file`
    and `known_hosts_file`, which ssh reads at each use. `ca_file` is the authority that signs an https remote, `proxy`
    the http proxy by which an http or https remote is reached.
    """

    username: str | None = None
    password: str | None = field(default=None, repr=False)
    password_file: Path | None = None
    app: GitHubApp | None = None
    ssh_key_file: Path | None = None
    known_hosts_file: Path | None = None
    ca_file: Path | None = None
    proxy: str | None = field(default=None, repr=False)  # it may contain a password

    @property
    def is_set(self) -> bool:
        """Whether anything is there."""
        return self != GitCredentials()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionRules:
    """What the connections of member clusters may use.

    `kubeconfig` and `kubeconfig_dir` are all the files that they may name; only those may run login plug-ins, and of
    these only `allowed_exec`, with the variables of `exec_environment`. `secret_namespaces` are where kubeconfigs in
    Secrets of the cluster that gitfleet itself runs in may lie; empty stands for the pod's own namespace. `read_secret`
    reads them (None: the pod's service account does). `allow_in_cluster` lets a cluster be the one of the pod.
    """

    kubeconfig: Path | None = None
    kubeconfig_dir: Path | None = None
    allowed_exec: tuple[str, ...] = ()
    exec_environment: tuple[str, ...] = ()
    secret_namespaces: tuple[str, ...] = ()
    allow_in_cluster: bool = True
    allow_insecure: bool = False
    read_secret: SecretReader | None = None
    service_account: Path = Path("/var/run/secrets/kubernetes.io/serviceaccount")


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgeSettings:
    """Which forge shows what was decided: `name` is that of its entry point, `url` where it is ("": its public server),
    `repository` OWNER/NAME. The token is in `token_file`, was in the environment, or is one of `app`; `ca_file` is as
    for git."""

    name: str
    url: str = ""
    repository: str
    token_file: Path | None = None
    token: str = field(default="", repr=False)
    app: GitHubApp | None = None
    ca_file: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSettings:
    """Where a continuous run answers over HTTP; `host` "" is every address of the machine. `webhooks` are the providers
    whose webhooks are received, each with the file that has its secrets."""

    host: str
    port: int
    webhooks: tuple[tuple[str, Path], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundSettings:
    """Where webhooks and metric queries of rollouts may go: only to the hosts that are allowed for each, so nowhere by
    default. Webhooks are signed with the first secret of `secret_file`; each of `metric_tokens` is the file of the
    bearer token that queries to an origin have. `ca_file` has authorities that count beside the machine's own."""

    allowed_webhooks: tuple[HostPattern, ...] = ()
    allowed_metrics: tuple[HostPattern, ...] = ()
    secret_file: Path | None = None
    metric_tokens: tuple[tuple[Origin, Path], ...] = ()
    ca_file: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseTerms:
    """Seconds: a lease that is not renewed runs out after `duration`, its holder stops acting when it could not renew
    for `renew`, and `retry` is between two tries. The defaults are those of Kubernetes' own components."""

    duration: float = 15.0
    renew: float = 10.0
    retry: float = 2.0

    @classmethod
    def of(cls, duration: float) -> LeaseTerms:
        """Those of another duration, in the same proportion."""
        return cls(duration=duration, renew=duration * 2 / 3, retry=duration * 2 / 15)


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectionSettings:
    """Which of several processes reconciles. `place` is the namespace and name of the Lease; None is that of this
    repository in the namespace of the pod, if it runs in one that may use Leases."""

    place: tuple[str, str] | None = None
    terms: LeaseTerms = LeaseTerms()


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One process's settings.

    `cache_dir` has the mirror and the parse cache: losing it costs time only. `simulated_dir` keeps simulated
    clusters between runs; `simulate_unconnected` lets a cluster without connection be simulated (demo, simulate).
    `watch_branch` overrides the FleetConfig's; `approval_policy` is a file with a policy that outranks the one there.
    Without `forge` nothing is shown on one, and without `http` no port is opened. `sops_age_key_file` has the age keys
    that SOPS files are decrypted with. `git_seconds` is how long one fetch or push may take. `outbound` says whom
    rollouts may call. `tracked`: a clone's remote-tracking branches count as well.
    """

    repo: str
    cache_dir: Path
    state_dir: Path | None = None
    connections: ConnectionRules = ConnectionRules()
    simulated_dir: Path | None = None
    simulate_unconnected: bool = False
    watch_branch: str | None = None
    approval_policy: Path | None = None
    limits: Limits = Limits()
    git_credentials: GitCredentials = GitCredentials()
    git_seconds: float = 120.0
    tracked: bool = False
    forge: ForgeSettings | None = None
    sops_age_key_file: Path | None = None
    http: HttpSettings | None = None
    outbound: OutboundSettings = OutboundSettings()


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSettings:
    """What an agent has beside a process's settings: the `cluster` that it is of, reached by a `context` of the
    kubeconfig, or as the pod that it runs in (None). It looks at its branch each `interval` seconds, and signs its
    reports with an SSH key where it has one. The prefixes are those of the FleetConfig, which it need not read."""

    cluster: str
    context: str | None = None
    interval: float = 15.0
    signing_key_file: Path | None = None
    deliveries: str = Branches().deliveries
    members: str = Branches().members


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIfOptions:
    """The options of `plan` and `simulate` that change the fleet for one question.

    `without` has cluster names, or labels as KEY=VALUE; `with_file` files with more MemberClusters; `cordon` clusters
    that take nothing new.
    """

    without: tuple[str, ...] = ()
    with_file: tuple[Path, ...] = ()
    cordon: tuple[str, ...] = ()
