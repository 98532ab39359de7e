"""Watches of real clusters in a continuous run: what builds them and takes them down."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from gitfleet.adapters.kube import KubeDirectory
from gitfleet.adapters.kube.watching import KubeWatching
from gitfleet.loop.directories import ByConnection
from gitfleet.loop.pull_watching import PullWatching
from gitfleet.loop.workspace import Workspace

_OTHER_FILES: Final = 512
"""Open files and connections that are for everything else."""
_MOST_FILES: Final = 65536


@contextmanager
def watching_clusters(workspace: Workspace) -> Iterator[None]:
    """While this lasts, the clusters of the workspace are watched, and what changes there wakes its loop."""
    directory = workspace.driver.fanout.directory
    if not isinstance(directory, ByConnection) or not isinstance(real := directory.real, KubeDirectory):
        yield
        return
    watching = KubeWatching(real.client, workspace.clock, workspace.wake.trigger, most=_most_watches())
    real.rests = watching.rests
    every = PullWatching(directory.pull, watching) if directory.pull is not None else watching
    workspace.driver = replace(workspace.driver, watching=every)
    try:
        yield
    finally:
        watching.close()


def _most_watches() -> int:
    """As many as files may be open, once the process has taken all that it may have: each watch is a connection."""
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST_FILES if most == resource.RLIM_INFINITY else min(most, _MOST_FILES)
    if now != resource.RLIM_INFINITY and now < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
        now = wanted
    return max(0, (wanted if now == resource.RLIM_INFINITY else now) - _OTHER_FILES)
