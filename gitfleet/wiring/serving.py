"""What a continuous `run` has around it: HTTP (probes, metrics, webhooks), a Lease, traces, and watches of clusters."""

from __future__ import annotations

import hashlib
import logging
import re
import resource
import secrets
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Final

from gitfleet import __version__, extra
from gitfleet.adapters.http_server import HttpServer
from gitfleet.adapters.kube import KubeDirectory
from gitfleet.adapters.kube.lease import open_lease
from gitfleet.adapters.kube.own_cluster import pod_namespace
from gitfleet.adapters.kube.watching import KubeWatching
from gitfleet.adapters.metrics import PrometheusMetrics
from gitfleet.fleet.clusters import ByConnection
from gitfleet.fleet.pull_client import PullWatching
from gitfleet.loop.driver import Listener
from gitfleet.loop.election import Election, FencedWriter
from gitfleet.loop.pulse import Phases
from gitfleet.loop.workspace import Workspace
from gitfleet.ports.http import HttpHandler
from gitfleet.serving.endpoints import Counting, count_events, count_reconciles, gauges_of, metrics_page, probes, routes
from gitfleet.serving.webhooks import Receiver
from gitfleet.settings import ElectionSettings, HttpSettings, Settings
from gitfleet.wiring.publishers import webhook_secrets
from gitfleet.wiring.texts import WiringText

log = logging.getLogger(__name__)


@contextmanager
def served(
    workspace: Workspace, http: HttpSettings, then: Listener, counted: Sequence[Counting] = ()
) -> Iterator[Listener]:
    """While this lasts, the loop of the workspace answers at an address, and those of `counted` count; the listener
    that is to get its events. BadInput where the address cannot be had."""
    pulse, clock = workspace.pulse, workspace.clock
    metrics = PrometheusMetrics(__version__, partial(gauges_of, pulse, lambda: workspace.wake.leads()))
    for counter in counted:
        counter.metrics = metrics
    pulse.listeners.append(count_reconciles(metrics, clock))
    reads = {**probes(pulse, workspace.wake, clock), "/metrics": metrics_page(metrics.page)}
    posts: dict[str, HttpHandler] = {}
    for provider, file in http.webhooks:
        secrets = partial(webhook_secrets, file)
        secrets()  # what cannot be used ends the process at its start
        receiver = Receiver(
            provider=provider, secrets=secrets, hint=workspace.wake.trigger, clock=clock, metrics=metrics
        )
        posts[f"/webhook/{provider}"] = receiver.receive
    server = HttpServer(http.host, http.port, routes(reads, posts), clock.monotonic)
    server.start()
    log.info(WiringText.LISTENING(), server.address)
    try:
        yield count_events(metrics, then)
    finally:
        server.stop()


@contextmanager
def elected(workspace: Workspace, settings: Settings, chosen: ElectionSettings) -> Iterator[None]:
    """While this lasts, the workspace reconciles, writes to clusters and moves branches only while it leads; the lease
    is released at the end. In no pod, and with no place given, there is no election. MissingPart and BadInput where a
    place is given and there is no cluster to have it in."""
    place = chosen.place or _own_place(settings)
    if place is None:
        yield
        return
    lease = open_lease(settings.connections, place, workspace.clock)
    election = Election(
        lease,
        identity=f"{socket.gethostname()}_{secrets.token_hex(4)}",
        terms=chosen.terms,
        clock=workspace.clock,
        optional=chosen.place is None,
        changed=workspace.wake.trigger,
    )
    _fence(workspace, election)
    election.start()
    try:
        yield
    finally:
        election.stop()


def _fence(workspace: Workspace, election: Election) -> None:
    workspace.wake.leads = election.leads
    for branch, _, _ in workspace.driver.pushers():
        branch.writer = FencedWriter(branch.writer, election.leads)


def _own_place(settings: Settings) -> tuple[str, str] | None:
    """The lease of this repository in the namespace of the pod. Its name is the same in each replica, and another one
    for another repository, or another branch of it, that a second Deployment of the namespace serves."""
    namespace = pod_namespace(settings.connections.service_account)
    if namespace is None:
        return None
    address = re.sub(r"//[^/@]*@", "//", settings.repo)
    served = hashlib.sha256(f"{address}\n{settings.watch_branch or ''}".encode()).hexdigest()
    return namespace, f"gitfleet-{served[:10]}"


@contextmanager
def traced(workspace: Workspace, phases: Phases) -> Iterator[None]:
    """While this lasts, each reconcile is a trace. Without the extra a warning says what is missing."""
    try:
        from gitfleet.adapters.tracing import by_environment
    except ImportError:
        hint = WiringText.INSTALL_WITH(extra=extra("otel"))
        log.warning(WiringText.NO_OPENTELEMETRY(), hint)
        yield
        return
    tracing = by_environment(__version__)
    driver = workspace.driver
    phases.tracing, driver.clusters.fanout = tracing, replace(driver.clusters.fanout, tracing=tracing)
    try:
        yield
    finally:
        tracing.close()


_OTHER_FILES: Final = 512
"""Open files and connections that are for everything else."""
_MOST_FILES: Final = 65536


@contextmanager
def watching_clusters(workspace: Workspace) -> Iterator[None]:
    """While this lasts, the clusters of the workspace are watched, and what changes there wakes its loop."""
    directory = workspace.driver.clusters.fanout.directory
    if not isinstance(directory, ByConnection) or not isinstance(real := directory.real, KubeDirectory):
        yield
        return
    watching = KubeWatching(real.client, workspace.clock, workspace.wake.trigger, most=_most_watches())
    real.rests = watching.rests
    combined = PullWatching(directory.pull.report_of, watching) if directory.pull is not None else watching
    workspace.driver.clusters.observations.watching = combined
    try:
        yield
    finally:
        watching.close()


def _most_watches() -> int:
    """As many as files may be open, once the process has taken all that it may have: each watch is a connection."""
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = _MOST_FILES if most == resource.RLIM_INFINITY else min(most, _MOST_FILES)
    if now != resource.RLIM_INFINITY and now < limit:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, most))
        now = limit
    return max(0, (limit if now == resource.RLIM_INFINITY else now) - _OTHER_FILES)
