"""Races of two hubs on one remote: `python -m tests.e2e.races 1000` runs as many and prints what they came to.

Each hub is a Driver with a clone of its own; the remote is a bare repository that both push to with the real git, and
the clusters are simulated API servers that both reach. In each race a person pushes a commit, both hubs read the same
heads, and neither publishes before the other one has decided: then both push their intent at once.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from gitfleet.adapters.clock import SystemClock
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.objects import Manifest, ObjectKey
from gitfleet.loop.driver import Driver
from gitfleet.loop.results import ReconcileResult
from gitfleet.model.observations import ClusterObservation, DryRun, LiveObject
from gitfleet.model.operations import Create, Delete, Outcome, RolloutOutcome, RolloutWrite, Update
from gitfleet.ports.clusters import ClusterClient, ClusterDirectory, ClusterReader
from gitfleet.settings import Settings
from gitfleet.simulation.fleet import SimulatedFleet
from gitfleet.wiring import hub
from tests.e2e.manifests import config_map, member, namespace_file, placement
from tests.e2e.repos import STATE, ConfigRepo, git

NAMES = ("c1", "c2", "c3")
SETTINGS = ObjectKey("", "v1", "ConfigMap", "web", "settings")
_PATIENCE = 120.0


@dataclass
class Counted:
    """A ClusterDirectory that counts what its hub carries out, one call of both hubs at a time."""

    inner: ClusterDirectory
    lock: threading.Lock
    performed: int = 0

    def reader(self, cluster: MemberCluster) -> ClusterReader:
        return CountedClient(self, self.inner.client(cluster))

    def client(self, cluster: MemberCluster) -> ClusterClient:
        return CountedClient(self, self.inner.client(cluster))


@dataclass(frozen=True)
class CountedClient:
    owner: Counted
    inner: ClusterClient

    def observe(self, keys: Collection[ObjectKey], *, probe: bool = True) -> ClusterObservation:
        with self.owner.lock:
            return self.inner.observe(keys, probe=probe)

    def dry_run(self, questions: Sequence[tuple[Manifest, LiveObject]]) -> Sequence[DryRun]:
        with self.owner.lock:
            return self.inner.dry_run(questions)

    def perform(self, operations: Sequence[Create | Update | Delete]) -> Sequence[Outcome]:
        with self.owner.lock:
            self.owner.performed += len(operations)
            return self.inner.perform(operations)

    def pods(self, workloads: Sequence[LiveObject]) -> Mapping[ObjectKey, tuple[LiveObject, ...]]:
        with self.owner.lock:
            return self.inner.pods(workloads)

    def perform_steps(self, steps: Sequence[RolloutWrite]) -> Sequence[RolloutOutcome]:
        with self.owner.lock:
            self.owner.performed += len(steps)
            return self.inner.perform_steps(steps)

    def close(self) -> None:
        self.inner.close()


@dataclass
class Hub:
    """One driver; `meet` is where it waits for the other one once it has decided."""

    name: str
    driver: Driver
    directory: Counted
    result: ReconcileResult | Exception | None = None
    before: int = 0

    def race(self, meet: threading.Barrier) -> None:
        def checkpoint(step: str) -> None:
            if step == "decided":
                meet.wait(_PATIENCE)

        self.driver.checkpoint = checkpoint
        self.before, self.result = self.directory.performed, None
        try:
            self.result = self.driver.reconcile()
        except Exception as error:  # noqa: BLE001 - what a race came to, which is judged below
            self.result = error
        finally:
            self.driver.checkpoint = lambda step: None

    @property
    def lost(self) -> bool:
        assert isinstance(self.result, ReconcileResult), self.result
        return self.result.lost_race


@dataclass
class Races:
    """Two hubs on one remote, and what their races came to."""

    repo: ConfigRepo
    fleet: SimulatedFleet
    hubs: tuple[Hub, Hub]
    won: Counter[str] = field(default_factory=Counter)

    def run(self, number: int) -> None:
        """So many races; AssertionError for one that has no winner, two, or a loser that did something."""
        head = self.repo.head()
        for race in range(number):
            commit = self.repo.commit({"resources/settings.yaml": config_map("web", k=f"race-{race}")})
            meet = threading.Barrier(2)
            threads = [threading.Thread(target=hub.race, args=(meet,)) for hub in self.hubs]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            losers = [hub for hub in self.hubs if hub.lost]
            assert len(losers) == 1, (race, [hub.result for hub in self.hubs])
            loser, winner = losers[0], next(hub for hub in self.hubs if hub is not losers[0])
            assert loser.directory.performed == loser.before, f"race {race}: {loser.name} lost, and wrote to a cluster"
            assert winner.directory.performed == winner.before + len(NAMES), (
                f"race {race}: {winner.name} did not do all"
            )
            assert self.values() == {f"race-{race}"}, race
            head = self.check_history(head, commit)
            self.won[winner.name] += 1

    def alone(self, number: int) -> None:
        """The same commits, and one hub that nobody races with."""
        for race in range(number):
            self.repo.commit({"resources/settings.yaml": config_map("web", k=f"race-{race}")})
            self.hubs[0].driver.reconcile()

    def check_history(self, since: str | None, commit: str) -> str | None:
        """What the race put on the state branch: one intent for that commit, and its report on top, in one line."""
        head = self.repo.head()
        between = head if since is None else f"{since}..{head}"
        trailers = [f"%(trailers:key=Gitfleet-{key},valueonly,separator=%x2C)" for key in ("Phase", "Commit")]
        form = f"--format={'|'.join(('%P', *trailers))}"
        made = [line.split("|") for line in git(self.repo.hub, "log", "--reverse", form, str(between)).splitlines()]
        assert [phase for _, phase, _ in made] == ["intent", "report"], made
        assert {read for _, _, read in made} == {commit}, made
        assert all(
            len(parents.split()) == (0 if since is None and n == 0 else 1) for n, (parents, _, _) in enumerate(made)
        )
        return head

    def values(self) -> set[str]:
        found = [self.fleet.cluster(name).get(SETTINGS) for name in NAMES]
        return {str(live.body["data"]["k"]) if live is not None else "" for live in found}

    def settle(self) -> None:
        """Let one hub bring everything to rest."""
        for _ in range(30):
            if self.hubs[0].driver.reconcile().settled:
                return
        raise AssertionError("never settled")


@contextmanager
def races(folder: Path) -> Iterator[Races]:
    """A new remote, a fleet of simulated clusters, and two hubs with a clone each."""
    repo, clock, lock = ConfigRepo.bare(folder), SystemClock(), threading.Lock()
    repo.commit(
        {f"clusters/{n}.yaml": member(n, connection={"simulated": True}) for n in NAMES}
        | {
            "placements/web.yaml": placement("web", maxUnavailable="100%"),
            "resources/n.yaml": namespace_file("web"),
            "resources/settings.yaml": config_map("web", k="first"),
        }
    )
    fleet = SimulatedFleet(clock)
    hubs = []
    with ExitStack() as stack:
        for name in ("one", "other"):
            settings = Settings(repo=str(repo.hub), cache_dir=folder / name)
            driver = stack.enter_context(hub.open_workspace(settings)).driver
            directory = Counted(hub.simulated_clusters(fleet, clock), lock)
            driver.clusters.fanout = replace(driver.clusters.fanout, directory=directory, executor=None)
            hubs.append(Hub(name, driver, directory))
        found = Races(repo, fleet, (hubs[0], hubs[1]))
        found.settle()
        yield found


def main(number: int) -> None:
    """Run the races, and say what they came to."""
    with tempfile.TemporaryDirectory() as folder, races(Path(folder)) as found:
        began = time.monotonic()
        found.run(number)
        seconds = time.monotonic() - began
        found.settle()
        parents = found.repo.parents()
        assert parents == [0] + [1] * (len(parents) - 1)
        won = dict(sorted(found.won.items()))
        print(f"{number} races in {seconds:.0f} s; won: {won}; {STATE} has {len(parents)} commits")


if __name__ == "__main__":
    main(int(sys.argv[1]))
