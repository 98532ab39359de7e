"""Races of two reconcilers, made on purpose: in memory, step by step, because luck would seldom show them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.objects import Manifest, ObjectKey
from gitfleet.loop.driver import Driver
from gitfleet.loop.fanout import Fanout
from gitfleet.loop.state_branch import StateBranch
from gitfleet.loop.state_trees import StateTrees
from gitfleet.loop.trees import DesiredTrees
from gitfleet.model.observations import ClusterObservation, DryRun, LiveObject
from gitfleet.ports.caches import BlobCache
from gitfleet.ports.clusters import ClusterClient, ClusterDirectory, ClusterReader
from gitfleet.settings import Limits
from gitfleet.simulation.clock import ManualClock
from gitfleet.simulation.fleet import SimulatedFleet
from gitfleet.simulation.memory_cache import MemoryCache
from gitfleet.simulation.memory_repo import MemoryRepo
from gitfleet.wiring import simulated_clusters
from tests.e2e.manifests import config_map, member, namespace_file, placement

START = datetime(2026, 1, 1, tzinfo=UTC)
SETTINGS = ObjectKey("", "v1", "ConfigMap", "web", "settings")


@dataclass
class Slow:
    """A ClusterDirectory that lets something else happen before each look of its owner."""

    inner: ClusterDirectory
    before_observation: Callable[[], None] = field(default=lambda: None)

    def reader(self, cluster: MemberCluster) -> ClusterReader:
        return SlowReader(self, self.inner.reader(cluster))

    def client(self, cluster: MemberCluster) -> ClusterClient:
        return self.inner.client(cluster)


@dataclass
class SlowReader:
    owner: Slow
    inner: ClusterReader

    def observe(self, keys: Collection[ObjectKey], *, probe: bool = True) -> ClusterObservation:
        self.owner.before_observation()
        return self.inner.observe(keys, probe=probe)

    def pods(self, workloads: Sequence[LiveObject]) -> Mapping[ObjectKey, tuple[LiveObject, ...]]:
        return self.inner.pods(workloads)

    def dry_run(self, questions: Sequence[tuple[Manifest, LiveObject]]) -> Sequence[DryRun]:
        return self.inner.dry_run(questions)


class Duel:
    """Two drivers on one repo and one fleet; the second one is the slow one."""

    def __init__(self, cache: BlobCache | None = None) -> None:
        self.cache = cache or MemoryCache()
        self.clock = ManualClock(START)
        self.repo = MemoryRepo()
        self.fleet = SimulatedFleet(self.clock)
        self.slow = Slow(simulated_clusters(self.fleet, self.clock))
        self.quick_driver = self._driver(Slow(simulated_clusters(self.fleet, self.clock)))
        self.slow_driver = self._driver(self.slow)

    def _driver(self, directory: Slow) -> Driver:
        trees = DesiredTrees(self.repo, self.cache, Limits())
        return Driver(
            reader=self.repo,
            states=StateBranch(self.repo, self.repo, StateTrees(self.repo, trees, Limits())),
            desired_trees=trees,
            fanout=Fanout(directory=directory, executor=None),
            clock=self.clock,
            version="test",
        )

    def commit(self, files: dict[str, str]) -> None:
        self.repo.commit_files("main", {p: t.encode() for p, t in files.items()}, self.clock.now(), "Edit")

    def settle(self, driver: Driver) -> None:
        for _ in range(30):
            if driver.reconcile().settled:
                return
            self.clock.advance(5)
        raise AssertionError("never settled")

    def value(self, cluster: str = "c1") -> str | None:
        live = self.fleet.cluster(cluster).get(SETTINGS)
        return None if live is None else str(live.body["data"]["k"])


def files(value: str) -> dict[str, str]:
    return {
        **{f"clusters/{n}.yaml": member(n, connection={"simulated": True}) for n in ("c1", "c2")},
        "placements/web.yaml": placement("web"),
        "resources/web.yaml": namespace_file("web") + "---\n" + config_map("web", k=value),
    }


def test_a_process_that_lagged_behind_never_takes_clusters_back_to_the_old_commit() -> None:
    duel = Duel()
    duel.commit(files("old"))
    duel.settle(duel.quick_driver)
    duel.settle(duel.slow_driver)
    assert duel.value() == "old"

    def overtake() -> None:
        duel.slow.before_observation = lambda: None
        duel.commit(files("new"))
        duel.settle(duel.quick_driver)

    # The slow one has read the old commit and the old state; what it finds on the clusters is new already.
    duel.slow.before_observation = overtake
    result = duel.slow_driver.reconcile()
    assert result.lost_race
    assert duel.value() == "new"
    duel.settle(duel.slow_driver)
    assert duel.value("c1") == duel.value("c2") == "new"
