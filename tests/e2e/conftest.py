"""The fleet that the tests of this folder share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.e2e.members import Members
from tests.e2e.programs import Program
from tests.e2e.repos import ConfigRepo
from tests.realparts.assets import MissingRealPart
from tests.realparts.control_plane import ControlPlanes, PodReadier
from tests.realparts.fixtures import give_up
from tests.realparts.git_http import GitHttpServer

NAMES = ("cluster-1", "cluster-2", "cluster-3", "cluster-4")


@pytest.fixture(scope="session")
def members(control_planes: ControlPlanes) -> Iterator[Members]:
    """Four real clusters with controllers, where every pod becomes ready unless its image ends in `:bad`."""
    servers = control_planes.start_many(NAMES)
    with ExitStack() as stack:
        for server in servers:
            try:
                server.start_controller_manager()
            except MissingRealPart as missing:
                give_up(missing)
            stack.enter_context(PodReadier(server, bad_image="*:bad"))
        found = Members(servers)
        yield found
        for member in found.all:
            member.close()


@pytest.fixture
def config(git_http: GitHttpServer, tmp_path: Path) -> ConfigRepo:
    """An empty config repo that is served over HTTP as `fleet`."""
    return ConfigRepo(git_http.create("fleet"), tmp_path / "work")


@pytest.fixture
def program(git_http: GitHttpServer, config: ConfigRepo, members: Members, tmp_path: Path) -> Program:
    """gitfleet on the config repo over HTTP, with access to every cluster."""
    kubeconfig = members.kubeconfig(tmp_path / "kubeconfig")
    return Program(repo=git_http.url("fleet"), home=tmp_path / "home", kubeconfig=kubeconfig)
