"""The remotes that the contract suite runs over."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gitfleet.simulation.memory_repo import MemoryRepo
from tests.adapters.git.hubs import FILES, Hub, bare, clone_with_work_tree, git, two_on
from tests.realparts.bad_servers import SmallDisk, small_disk
from tests.realparts.fixtures import served

KINDS = [
    "memory",
    pytest.param("bare", marks=pytest.mark.soak("real")),  # as the others but for a work tree, or HTTP in front of it
    pytest.param("file-url", marks=pytest.mark.soak("real")),
    "work-tree",
    pytest.param("http", marks=pytest.mark.real),
]


@contextmanager
def empty(kind: str, folder: Path) -> Iterator[Hub]:
    """An empty remote of a kind (`work-tree` has the branch `desk` checked out)."""
    if kind == "memory":
        repo = MemoryRepo()
        yield Hub(repo, repo)
    elif kind == "work-tree":
        top = clone_with_work_tree(folder / "desk")
        yield two_on(str(top), folder, top / ".git")
    elif kind == "http":
        with served(folder / "git-http") as server:
            path = server.create("hub")
            yield two_on(server.url("hub"), folder, path)
    else:
        path = bare(folder / "hub.git")
        yield two_on(f"file://{path}" if kind == "file-url" else str(path), folder, path)


@pytest.fixture(params=KINDS)
def hub(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Hub]:
    """An empty remote of each kind, of this test's own."""
    with empty(request.param, tmp_path) as found:
        yield found


@pytest.fixture(params=KINDS, scope="module")
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    """A remote of each kind with `FILES` on main, fetched, for tests that change nothing."""
    with empty(request.param, tmp_path_factory.mktemp("filled")) as found:
        found.seed(FILES)
        found.repo.fetch()
        yield found


@pytest.fixture
def file_hub(tmp_path: Path) -> Hub:
    """An empty bare repository on this machine."""
    path = bare(tmp_path / "hub.git")
    hub = two_on(str(path), tmp_path, path)
    assert git(path, "for-each-ref") == ""
    return hub


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """A disk of its own that is soon full."""
    with small_disk(tmp_path / "disk") as found:
        if found is None:
            pytest.skip("no disk can be mounted here")
        yield found
