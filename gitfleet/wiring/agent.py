"""Composition root of `gitfleet agent`: a member's own reconciler."""

from __future__ import annotations

import hashlib
import hmac
import logging
import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from gitfleet import __version__
from gitfleet.adapters.clock import SystemClock
from gitfleet.adapters.git import GitRemote
from gitfleet.adapters.git_setup import open_repository
from gitfleet.adapters.http_server import HttpServer
from gitfleet.adapters.kube import CoreProvider, KubeDirectory, Provider
from gitfleet.adapters.kube.observing import IDENTITY
from gitfleet.adapters.ref_watch import watcher_of
from gitfleet.adapters.sops import AgeDecryptor
from gitfleet.agent.agent import Agent, AgentLoop
from gitfleet.api.clusters import Connection, MemberCluster
from gitfleet.api.fleet import Branches
from gitfleet.errors import BadInput
from gitfleet.loop.runner import Wake
from gitfleet.payload.encrypted_secrets import EncryptedSecrets
from gitfleet.ports.clusters import ClusterDirectory
from gitfleet.ports.repos import Person, SignerKeys
from gitfleet.serving.endpoints import probes, routes
from gitfleet.settings import AgentSettings, Settings
from gitfleet.wiring.texts import WiringText

log = logging.getLogger(__name__)


@contextmanager
def open_agent(settings: Settings, chosen: AgentSettings) -> Iterator[AgentLoop]:
    """An agent on its remote and its cluster; while this lasts it answers probes where the settings say so. BadInput
    and MissingPart for what cannot be used."""
    clock, remote, wake = SystemClock(), open_repository(settings), Wake()
    if not isinstance(remote, GitRemote):
        raise BadInput(WiringText.AGENT_REPORTS_GIT_REMOTE())
    connection = Connection(context=chosen.context) if chosen.context else Connection(in_cluster=True)
    cluster = MemberCluster(name=chosen.cluster, connection=connection)
    core = [Provider(name="core", key="core", make=lambda: CoreProvider({}))]
    directory = KubeDirectory(settings.connections, providers=lambda: core)
    read = partial(remote.read_blobs, limit=settings.limits.file_bytes)
    mask_key = _MaskKey(directory, cluster, chosen.signing_key_file)
    agent = Agent(
        cluster=cluster,
        repo=remote,
        writer=remote,
        directory=directory,
        clock=clock,
        encrypted=EncryptedSecrets(read, AgeDecryptor(settings.sops_age_key_file)),
        mask_key=mask_key,
        identity=mask_key.identity,
        version=__version__,
        branches=Branches(deliveries=chosen.deliveries, members=chosen.members),
        person=_person(chosen),
        counts=_signed_by(remote, chosen.signing_key_file),
    )
    loop = AgentLoop(agent=agent, clock=clock, wake=wake, interval=chosen.interval, watch=watcher_of(settings.repo))
    with ExitStack() as stack:
        stack.callback(directory.close)
        if settings.http is not None:
            handler = routes(probes(loop.pulse, wake, clock), {})
            server = HttpServer(settings.http.host, settings.http.port, handler, clock.monotonic)
            server.start()
            stack.callback(server.stop)
            log.info(WiringText.LISTENING(), server.address)
        yield loop


def _person(chosen: AgentSettings) -> Person | None:
    """Who signs the reports; BadInput where the key cannot be read."""
    key = chosen.signing_key_file
    if key is None:
        return None
    try:
        key.read_bytes()
    except OSError as error:
        raise BadInput(WiringText.SIGNING_KEY_CANNOT_READ(key=key, why=error.strerror)) from error
    signing = {"gpg.format": "ssh", "user.signingkey": str(key.resolve())}
    return Person(name=f"gitfleet agent {chosen.cluster}", email="agent@gitfleet.dev", signing=signing)


def _signed_by(remote: GitRemote, key: Path | None) -> Callable[[str], bool] | None:
    """Whether commits are signed with a key; none where its public half is not beside it, None without a key."""
    if key is None:
        return None
    public = key.with_name(f"{key.name}.pub")
    words = public.read_text(encoding="utf-8", errors="replace").split()[:2] if public.is_file() else []
    keys = SignerKeys(ssh=f'agent namespaces="git" {" ".join(words)}\n'.encode())
    return lambda commit: bool(words) and bool(remote.signer(commit, keys, SystemClock().now()).name)


@dataclass(slots=True)
class _MaskKey:
    """The key of digests of what Secrets contain: the same as long as the cluster and the signing key are. Where the
    cluster's identity cannot be read, one of this process alone; then each start applies its Secrets once more."""

    directory: ClusterDirectory
    cluster: MemberCluster
    signing_key_file: Path | None
    _uid: str = ""
    _own: bytes = b""

    def __call__(self) -> bytes:
        """The key."""
        if not self._read_uid():
            return self._of_this_process()
        signing = self.signing_key_file.read_bytes() if self.signing_key_file is not None else b""
        return hmac.new(signing or b"gitfleet", f"{self.cluster.name} {self._uid}".encode(), "sha256").digest()

    def identity(self) -> str:
        """A digest that no other cluster has, "" where its identity cannot be read."""
        return hashlib.sha256(f"cluster {self._read_uid()}".encode()).hexdigest() if self._read_uid() else ""

    def _read_uid(self) -> str:
        if not self._uid:
            live = self.directory.reader(self.cluster).observe([IDENTITY], probe=False).live.get(IDENTITY)
            self._uid = live.uid if live is not None else ""
        return self._uid

    def _of_this_process(self) -> bytes:
        if not self._own:
            log.warning(WiringText.NAMESPACE_KUBE_SYSTEM_CANNOT_READ())
            self._own = secrets.token_bytes(32)
        return self._own
