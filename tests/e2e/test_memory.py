"""What a process keeps in memory to save work is bounded: a year of commits does not fill it up."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

import gitfleet
from gitfleet.branches.desired_trees import DesiredTrees
from gitfleet.settings import Limits
from gitfleet.simulation.clock import ManualClock
from gitfleet.simulation.fleet import SimulatedFleet
from gitfleet.simulation.memory_repo import MemoryRepo
from gitfleet.wiring.hub import simulated_clusters
from tests.e2e.manifests import config_map, member, namespace_file, placement
from tests.scenarios.world import driver_on

FILES = 100
OURS = str(Path(gitfleet.__file__).parent / "*")
KEPT_BY_THE_REPO = tuple(str(Path(gitfleet.__file__).parent / package / "*") for package in ("simulation", "state"))


class NoCache:
    """A BlobCache that keeps nothing: the one on disk has its own bound (tests/adapters/git/test_blob_cache.py)."""

    def get_many(self, keys: Iterable[str]) -> Mapping[str, bytes]:
        return {}

    def put_many(self, entries: Mapping[str, bytes]) -> None:
        pass


def remembered_bytes() -> int:
    """What gitfleet's own modules hold, less what the repo and the clusters in memory do."""
    gc.collect()
    filters = [tracemalloc.Filter(True, OURS), *(tracemalloc.Filter(False, path) for path in KEPT_BY_THE_REPO)]
    return sum(trace.size for trace in tracemalloc.take_snapshot().filter_traces(filters).traces)


@pytest.mark.soak("scale")
def test_many_commits_do_not_fill_the_memory() -> None:
    clock, repo = ManualClock(), MemoryRepo()
    directory = simulated_clusters(SimulatedFleet(clock), clock)
    driver = driver_on(repo, DesiredTrees(repo, NoCache(), Limits()), directory, clock)
    big = {f"key-{n}": "x" * 300 for n in range(8)}

    def commit(files: Mapping[str, str]) -> None:
        repo.commit_files("main", files, clock.now(), "Edit")

    commit(
        {"clusters/c1.yaml": member("c1", connection={"simulated": True}), "placements/web.yaml": placement("web")}
        | {"resources/namespace.yaml": namespace_file("web")}
    )

    def most_remembered(commits: range) -> int:
        """The parser's memory of old blobs grows to its bound and is emptied then, again and again: take the most."""
        most = 0
        for number in commits:
            maps = {f"resources/{n}.yaml": config_map("web", f"m-{n}", mark=str(number), **big) for n in range(FILES)}
            commit(maps)
            while driver.reconcile().changed:
                pass
            if number % 3 == 0:
                most = max(most, remembered_bytes())
        return most

    tracemalloc.start()
    try:
        early = most_remembered(range(13))
        late = most_remembered(range(13, 32))
    finally:
        tracemalloc.stop()
    assert late < 1.8 * early, (early, late)
