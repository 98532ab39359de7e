"""`delivery.concurrency`: as many clusters are asked at a time as the configuration says, from the next pass on."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from threading import Condition, Event

import pytest

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.fleet import FleetConfig
from gitfleet.fleet.fanout import Fanout, Workers
from gitfleet.settings import Settings
from gitfleet.wiring.hub import open_workspace
from tests.fleet.test_fanout import Client, Directory

CLUSTERS = {f"c{number:02}": MemberCluster(name=f"c{number:02}") for number in range(12)}


class Counting(Directory):
    """Counts the clusters that are asked at one moment; each waits until so many are (or a moment has gone)."""

    def __init__(self, meet: int) -> None:
        super().__init__()
        self.meet, self.now, self.most, self._changed = meet, 0, 0, Condition()

    def client(self, cluster: MemberCluster) -> Client:
        with self._changed:
            self.now += 1
            self.most = max(self.most, self.now)
            self._changed.notify_all()
            self._changed.wait_for(lambda: self.most >= self.meet, timeout=60.0)
            self.now -= 1
        return Client(cluster.name)


@pytest.fixture
def workers() -> Iterator[Workers]:
    made = Workers(32)
    yield made
    made.shutdown()


@pytest.mark.parametrize("number", (1, 3, 8))
def test_so_many_clusters_are_asked_at_a_time(workers: Workers, number: int) -> None:
    workers.resize(number)
    directory = Counting(meet=number)
    observed = Fanout(directory=directory, executor=workers).observe(CLUSTERS, dict.fromkeys(CLUSTERS, ()))
    assert all(observation.reachable for observation in observed.values())
    assert directory.most == number


def test_a_call_that_hangs_goes_on_when_the_number_changes_and_ends_with_its_own_result(workers: Workers) -> None:
    gate = Event()
    hanging = workers.submit(gate.wait, 20)
    workers.resize(1)
    assert workers.submit(lambda: "done").result(timeout=60) == "done"
    assert not hanging.done()
    gate.set()
    assert hanging.result(timeout=60) is True


def test_the_configuration_sets_the_number(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", "--bare", tmp_path / "repo"], check=True)
    with open_workspace(Settings(repo=str(tmp_path / "repo"), cache_dir=tmp_path / "cache")) as workspace:
        workers = workspace.driver.clusters.fanout.executor
        assert isinstance(workers, Workers) and workers.number == FleetConfig().concurrency
        workspace.driver.configure(FleetConfig(concurrency=5))
        assert workers.number == 5
