"""ClusterDirectory on real clusters: what a connection names is looked up in what the process was given."""

from __future__ import annotations

import base64
import binascii
import os
import re
import threading
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Final

from gitfleet.adapters.clock import SystemClock
from gitfleet.adapters.kube.client import KubeClient
from gitfleet.adapters.kube.discovery import Resource
from gitfleet.adapters.kube.kubeconfigs import parse_kubeconfig, read_kubeconfig
from gitfleet.adapters.kube.logins import Endpoint, LoginSource
from gitfleet.adapters.kube.own_cluster import own_cluster, pod_namespace
from gitfleet.adapters.kube.properties_collecting import Collector, Provider, Rests
from gitfleet.adapters.kube.properties_view import WireView
from gitfleet.adapters.kube.refusals import refusal_of
from gitfleet.adapters.kube.texts import KubeText
from gitfleet.adapters.kube.wire import Timeouts, Wire
from gitfleet.api.clusters import Connection, MemberCluster
from gitfleet.errors import BadInput, Forbidden, MissingPart, NoResponse
from gitfleet.ports.clock import Clock
from gitfleet.ports.transport import OpenStream, Request, Response, Streaming, Transport
from gitfleet.settings import ConnectionRules

_NOTHING_GIVEN: Final = ConnectionRules()
_READS: Final = frozenset({"GET", "HEAD"})
_FILE_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")


class KubeDirectory:
    """Clients of real clusters, one for each connection and kept until the server refuses its credentials.

    `providers` returns at each observation the property providers to call; None calls none. `transports` carries the
    requests to each cluster's server, whatever its connection says; None connects by HTTP.
    """

    def __init__(
        self,
        allowed: ConnectionRules = _NOTHING_GIVEN,
        *,
        parallel: int = 8,
        providers: Callable[[], Sequence[Provider]] | None = None,
        timeouts: Timeouts | None = None,
        transports: Callable[[MemberCluster], Transport] | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._allowed = allowed
        self._parallel = parallel
        self._providers = providers
        self._timeouts = timeouts
        self._transports = transports or self._connect
        self.may_write: Callable[[], bool] = lambda: True
        """Asked before each request that is no read; nothing is sent once it says no."""
        self._clock: Clock = clock or SystemClock()
        self.rests: Callable[[MemberCluster], Rests] | None = None
        """What knows whether the properties of a cluster may have changed, for clients that are made from now on."""
        self._clients: dict[tuple[str, Connection | None], KubeClient] = {}
        self._lock = threading.Lock()

    def reader(self, cluster: MemberCluster) -> KubeClient:
        """See ClusterDirectory."""
        return self.client(cluster)

    def client(self, cluster: MemberCluster) -> KubeClient:
        """See ClusterDirectory. BadInput and MissingPart say what is wrong with the connection and what to do."""
        identity = (cluster.name, cluster.connection)
        with self._lock:
            previous = self._clients.get(identity)
            if previous is not None and not previous.refused:
                previous.period = timedelta(seconds=cluster.heartbeat_period_seconds)
                return previous
        transport = FencedTransport(self._transports(cluster), lambda: self.may_write())
        wire = Wire(cluster.name, transport, timeouts=self._timeouts)
        collector: Collector | None = None
        if self._providers is not None:
            rests = self.rests(cluster) if self.rests is not None else None
            limit = wire.timeouts.provider_seconds
            collector = Collector(WireView(wire), self._providers, limit=limit, rests=rests)
        client = KubeClient(cluster.name, wire, parallel=self._parallel, collector=collector, clock=self._clock)
        client.period = timedelta(seconds=cluster.heartbeat_period_seconds)
        with self._lock:
            old = self._clients.get(identity)
            self._clients[identity] = client
        if old is not None:
            old.close()
        return client

    def close(self) -> None:
        """Let all connections go."""
        with self._lock:
            clients, self._clients = list(self._clients.values()), {}
        for client in clients:
            client.close()

    def _connect(self, cluster: MemberCluster) -> Transport:
        if cluster.connection is None:
            hint = KubeText.SAY_HOW_REACH_SPEC_CONNECTION()
            raise BadInput(KubeText.CLUSTER_NO_CONNECTION(cluster=cluster.name), hint=hint)
        return self._over_http(self._access(cluster.name, cluster.connection))

    def _over_http(self, access: tuple[Endpoint, LoginSource]) -> Transport:
        from gitfleet.adapters.kube.http_transport import HttpTransport  # slow to import, and simulations need it not

        return HttpTransport(*access, parallel=self._parallel, timeouts=self._timeouts)

    def _access(self, name: str, connection: Connection) -> tuple[Endpoint, LoginSource]:
        now = self._clock.now
        if connection.context is not None:
            return self._in_kubeconfig(name, connection.context)
        if connection.kubeconfig_file is not None:
            path = self._file(name, connection.kubeconfig_file)
            return read_kubeconfig(path, KubeText.KUBECONFIG(path=path.name, name=name)).access(self._allowed, now)
        if connection.kubeconfig_secret is not None:
            place = connection.kubeconfig_secret
            namespace, secret, key = place.namespace, place.name, place.key
            self._check_namespace(name, namespace, secret)
            content = self._secret(namespace, secret, key)
            source = KubeText.KUBECONFIG_SECRET(namespace=namespace, secret=secret, name=name)
            return parse_kubeconfig(content, source).access(self._allowed, now)
        if connection.in_cluster:
            if not self._allowed.allow_in_cluster:
                hint = KubeText.GIVE_ANOTHER_CONNECTION()
                raise BadInput(KubeText.CLUSTER_GITFLEET_RUNS(name=name), hint=hint)
            return self._own(name)
        kind = "pull" if connection.pull else "simulated" if connection.simulated else KubeText.EMPTY_CONNECTION()
        raise BadInput(KubeText.CLUSTER_NOT_REACHED_API_SERVER(name=name, kind=kind))

    def _in_kubeconfig(self, name: str, context: str) -> tuple[Endpoint, LoginSource]:
        if self._allowed.kubeconfig is None:
            hint = KubeText.START_GITFLEET_KUBECONFIG_FILE()
            raise MissingPart(KubeText.CLUSTER_REACHED_CONTEXT_NO_KUBECONFIG(name=name, context=context), hint=hint)
        listed = self._allowed.kubeconfig
        *earlier, last = [Path(part) for part in str(listed).split(os.pathsep) if part] or [listed]
        for path in earlier:
            try:
                kubeconfig = read_kubeconfig(path, f"the kubeconfig {path.name}")
                return kubeconfig.access(self._allowed, self._clock.now, context)
            except MissingPart:
                # As KUBECONFIG does, it lists several files: the first that knows the context counts.
                continue
        return read_kubeconfig(last, f"the kubeconfig {last.name}").access(self._allowed, self._clock.now, context)

    def _file(self, name: str, file: str) -> Path:
        if not _FILE_NAME.fullmatch(file):
            hint = KubeText.NAME_FILE_FOLDER_GIVEN_KUBECONFIG()
            raise BadInput(KubeText.CLUSTER_NAMES_KUBECONFIG(name=name, file=file), hint=hint)
        if self._allowed.kubeconfig_dir is None:
            hint = KubeText.START_GITFLEET_KUBECONFIG_DIR_FOLDER()
            raise MissingPart(KubeText.CLUSTER_REACHED_KUBECONFIG_NO_FOLDER(name=name, file=file), hint=hint)
        return self._allowed.kubeconfig_dir / file

    def _check_namespace(self, name: str, namespace: str, secret: str) -> None:
        """BadInput where Secrets of the namespace are not read: a repo author could name any Secret otherwise."""
        allowed = self._allowed.secret_namespaces
        if not allowed:
            own = pod_namespace(self._allowed.service_account)
            allowed = (own,) if own is not None else ()
        if namespace not in allowed:
            where = f"those of {' and '.join(sorted(allowed))}" if allowed else KubeText.NO_SECRETS_SINCE_RUNS_NO()
            hint = KubeText.START_GITFLEET_SECRET_NAMESPACE_IF(namespace=namespace)
            raise BadInput(
                KubeText.CLUSTER_NAMES_SECRET(name=name, namespace=namespace, secret=secret, where=where), hint=hint
            )

    def _secret(self, namespace: str, secret: str, key: str) -> bytes:
        if self._allowed.read_secret is not None:
            return self._allowed.read_secret(namespace, secret, key)
        transport = self._over_http(self._own(f"the Secret {namespace}/{secret}"))
        wire = Wire(KubeText.GITFLEET_OWN_CLUSTER(), transport, timeouts=self._timeouts)
        try:
            return read_secret_key(wire, namespace, secret, key)
        finally:
            wire.close()

    def _own(self, name: str) -> tuple[Endpoint, LoginSource]:
        """The cluster that this process runs in, by the pod's service account."""
        return own_cluster(self._allowed.service_account, name)


class FencedTransport:
    """See ports.transport.Transport. `may_write` is asked before each request that is no read: a process that was
    suspended in the middle of its work, or lost its lease there, goes on to the next request and no further."""

    def __init__(self, inner: Transport, may_write: Callable[[], bool]) -> None:
        self._inner, self._may_write = inner, may_write

    @property
    def server(self) -> str:
        """See the port."""
        return self._inner.server

    def request(self, request: Request) -> Response:
        """See the port; NoResponse, and nothing sent, where it may not write."""
        if request.method not in _READS and not self._may_write():
            raise NoResponse(KubeText.PROCESS_NOT_LEAD_ANY_MORE(), passing=False)
        return self._inner.request(request)

    def stream(self, request: Request) -> Response | OpenStream:
        """See Streaming: a stream is a read. NoResponse where the transport carries none."""
        if not isinstance(self._inner, Streaming):
            raise NoResponse(KubeText.NOT_REACHED_HTTP(name=self.server), passing=False)
        return self._inner.stream(request)

    def close(self) -> None:
        """See the port."""
        self._inner.close()


def read_secret_key(wire: Wire, namespace: str, name: str, key: str) -> bytes:
    """The decoded value of one key of a Secret. MissingPart when it is not there, Forbidden when it may not be read,
    ClusterUnreachable when the server does not answer."""
    response = wire.send("GET", Resource("/api/v1", "secrets", True).path(namespace, name))
    subject = f"Secret {namespace}/{name}"
    if response.status == 404:
        raise MissingPart(KubeText.IS_NOT_THERE(what=subject), hint=KubeText.CREATE_KUBECONFIG_INSIDE())
    if not response.ok:
        hint = KubeText.ALLOW_GITFLEET_SERVICE_ACCOUNT_GET()
        raise Forbidden(f"{subject}: {refusal_of(response).message}", hint=hint)
    value = (response.json().get("data") or {}).get(key)
    if value is None:
        raise MissingPart(KubeText.NO_KEY(what=subject, key=key))
    try:
        return base64.b64decode(str(value))
    except (binascii.Error, ValueError) as error:
        raise MissingPart(KubeText.KEY_NOT_BASE64(key=key, what=subject)) from error
