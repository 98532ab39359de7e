"""The remotes that the contract suite runs over."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gitfleet.simulation.memory_repo import MemoryRepo
from tests.adapters.git.hubs import Hub, bare, clone_with_work_tree, git, two_on
from tests.realparts.bad_servers import SmallDisk, small_disk
from tests.realparts.git_http import GitHttpServer

KINDS = [
    "memory",
    "bare",
    pytest.param("file-url", marks=pytest.mark.soak("real")),
    "work-tree",
    pytest.param("http", marks=pytest.mark.real),
]


@pytest.fixture(params=KINDS)
def hub(request: pytest.FixtureRequest, tmp_path: Path) -> Hub:
    """An empty remote of each kind (`work-tree` has the branch `desk` checked out)."""
    if request.param == "memory":
        repo = MemoryRepo()
        return Hub(repo, repo)
    if request.param == "work-tree":
        top = clone_with_work_tree(tmp_path / "desk")
        return two_on(str(top), tmp_path, top / ".git")
    if request.param == "http":
        server: GitHttpServer = request.getfixturevalue("git_http")
        path = server.create("hub")
        return two_on(server.url("hub"), tmp_path, path)
    path = bare(tmp_path / "hub.git")
    return two_on(f"file://{path}" if request.param == "file-url" else str(path), tmp_path, path)


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
