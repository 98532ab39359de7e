"""Composition root of leader election: a continuous `run` acts only while it holds a Lease."""

from __future__ import annotations

import hashlib
import re
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from gitfleet.adapters.kube.lease import open_lease
from gitfleet.adapters.kube.own_cluster import pod_namespace
from gitfleet.loop.election import Election, FencedWriter
from gitfleet.loop.named_effects import written_branches
from gitfleet.loop.workspace import Workspace
from gitfleet.settings import ElectionSettings, Settings


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
    for branch, _, _ in written_branches(workspace.driver):
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
