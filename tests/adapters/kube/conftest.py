"""A real kube-apiserver, and gitfleet's client of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gitfleet.adapters.kube import KubeClient
from tests.adapters.kube.test_real_cluster import directory, member
from tests.realparts.control_plane import ApiServer, ControlPlanes


@pytest.fixture
def server(control_planes: ControlPlanes) -> ApiServer:
    return control_planes.start("east")


@pytest.fixture
def cluster(server: ApiServer, tmp_path: Path) -> Iterator[KubeClient]:
    found = directory(server, tmp_path)
    yield found.client(member(server))
    found.close()
