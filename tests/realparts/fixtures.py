"""The real parts as pytest fixtures: skipped aloud where one is missing, or failed on demand.

To be loaded once, from the top ``conftest.py``: ``pytest_plugins = ["tests.realparts.fixtures"]``.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest

from .assets import MissingRealPart, ensure_assets, ensure_debian_program, ensure_program
from .git_http import GitHttpServer
from .prometheus import PrometheusServer

if TYPE_CHECKING:
    from .api_server import ApiServer
    from .control_plane import ControlPlanes

NODES = 3
"""As many as the workload cluster has."""
REQUIRE = "GITFLEET_REQUIRE_REAL_PARTS"


def give_up(missing: MissingRealPart) -> NoReturn:
    """Skip the test with the reason, or fail it when real parts are required."""
    if os.environ.get(REQUIRE) == "1":
        pytest.fail(f"{REQUIRE}=1 and a real part is missing: {missing}", pytrace=False)
    pytest.skip(f"a real part is missing: {missing}")


NOT_REQUIRED = ("this git has no reftable", "no real forge")
"""Reasons to skip that are no missing part, for which Debian's git is too old, or that need somebody's account."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where real parts are required, a test that was skipped has failed, whatever skipped it."""
    report = yield
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
    is_required = os.environ.get(REQUIRE) == "1" and not any(known in reason for known in NOT_REQUIRED)
    if report.skipped and is_required and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"{REQUIRE}=1 and this was skipped: {reason}"
    return report


_PLANES: list[ControlPlanes] = []
"""The control planes of this process."""


def _asks_for_servers(item: pytest.Item | None) -> bool:
    return "control_planes" in getattr(item, "fixturenames", ())


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let servers run for a test that asks for them."""
    if _asks_for_servers(item):
        for planes in _PLANES:
            planes.freeze(False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None]:
    """Let servers hang once the next test asks for none; after the last one run on, as what watches them ends first."""
    if nextitem is None:
        for planes in _PLANES:
            planes.freeze(False)
    yield
    if _asks_for_servers(item) and not _asks_for_servers(nextitem):
        for planes in _PLANES:
            planes.freeze(True)


def _program(name: str) -> Path:
    try:
        return ensure_program(name)
    except MissingRealPart as missing:
        give_up(missing)


@pytest.fixture(scope="session")
def kustomize() -> Path:
    """The real kustomize, in the version that the image has."""
    return _program("kustomize")


@pytest.fixture(scope="session")
def helm() -> Path:
    """The real helm."""
    return _program("helm")


@pytest.fixture(scope="session")
def sops() -> Path:
    """The real sops."""
    return _program("sops")


@pytest.fixture(scope="session")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrometheusServer]:
    """A real Prometheus for the whole run, which has `prometheus.HISTORY` and scrapes its `target`."""
    try:
        program = ensure_debian_program("prometheus")
    except MissingRealPart as missing:
        give_up(missing)
    with PrometheusServer(program, tmp_path_factory.mktemp("prometheus")) as server:
        yield server


@pytest.fixture(scope="session")
def control_planes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlanes]:
    """Control planes for the whole run; a name that a test starts stays up for later tests."""
    from .control_plane import ControlPlanes  # here, because its imports cost more than collecting most tests

    try:
        assets = ensure_assets()
    except MissingRealPart as missing:
        give_up(missing)
    with ControlPlanes(assets, parent=tmp_path_factory.getbasetemp()) as planes:
        _PLANES.append(planes)
        yield planes
        _PLANES.remove(planes)
        planes.freeze(False)


@pytest.fixture(scope="session")
def one_cluster(control_planes: ControlPlanes) -> ApiServer:
    """A ready API server, ``east``; take a namespace of your own."""
    return control_planes.start("east")


@pytest.fixture(scope="session")
def two_clusters(control_planes: ControlPlanes, one_cluster: ApiServer) -> tuple[ApiServer, ApiServer]:
    """The same with another one, ``west``."""
    return one_cluster, control_planes.start("west")


@pytest.fixture(scope="session")
def rbac_cluster(control_planes: ControlPlanes) -> ApiServer:
    """A ready API server with RBAC. A user of it has no rights but those that a test gives."""
    return control_planes.start("rbac", authorization="RBAC", users=("hub", "jo", "nobody", "reader"))


@pytest.fixture(scope="session")
def workload_cluster(control_planes: ControlPlanes) -> Iterator[ApiServer]:
    """A ready API server with three nodes, whose controllers run and whose pods become ready, save those of `*:bad`."""
    from .control_plane import CONTROLLERS, make_pods_ready

    server = control_planes.start("workloads")
    for number in range(NODES):
        server.make_node(f"node-{number}")
    server.start_controller_manager((*CONTROLLERS, "statefulset-controller", "daemonset-controller"))
    with make_pods_ready(server, bad_image="*:bad"):
        yield server


@contextmanager
def served(folder: Path) -> Iterator[GitHttpServer]:
    """A git server without repositories and without passwords."""
    try:
        server = GitHttpServer(folder)
    except MissingRealPart as missing:
        give_up(missing)
    with server:
        yield server


@pytest.fixture
def git_http(tmp_path: Path) -> Iterator[GitHttpServer]:
    """A git server of this test's own, without repositories and without passwords."""
    with served(tmp_path / "git-http") as server:
        yield server
