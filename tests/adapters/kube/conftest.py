"""A real kube-apiserver, and gitfleet's client of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gitfleet.adapters.kube import KubeClient
from tests.adapters.kube.test_real_cluster import directory, member
from tests.realparts.control_plane import ApiServer, ControlPlanes


@pytest.fixture
def server(one_cluster: ApiServer) -> ApiServer:
    return one_cluster


@pytest.fixture(scope="package")
def mortal(control_planes: ControlPlanes) -> Iterator[ApiServer]:
    """A server to be killed and restarted."""
    server = control_planes.start("mortal")
    yield server
    server.stop()


@pytest.fixture
def cluster(server: ApiServer, tmp_path: Path) -> Iterator[KubeClient]:
    found = directory(server, tmp_path)
    yield found.client(member(server))
    found.close()
