"""A fleet at rest, watched: what a tick costs, and that nothing grows.

    python -m benchmarks.idle [--sizes 1000x1x200:all ...] [--ticks 10000] [--profile]

The real driver and real git on disk; clusters and their watches are in memory. A tick is a reconcile 30 seconds after
the last one: it asks git for the branches, and clusters when the time for that has come. CPU seconds are those of the
process and of git, less what the clusters in memory took. Afterwards an object is changed by hand on one cluster, and
one in the repo. Goals: no commit, no more memory, and from one size to the next a tick and a change in the repo that
cost in proportion to the clusters. A size of 10000x2x4:all shows what is quadratic.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import subprocess
import sys
import tempfile
from collections.abc import Collection, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.fleet import Run, cpu_seconds
from benchmarks.generated import LightFleet, Size, commit_files
from benchmarks.goals import Goals, exponent
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.objects import ObjectKey
from gitfleet.cli.collector import collect_rarely
from gitfleet.loop.driver import Driver

TICK_SECONDS = 30.0


@dataclass
class LightWatching:
    """Watching of light clusters."""

    fleet: LightFleet

    def mark(self, cluster: MemberCluster, keys: Collection[ObjectKey]) -> Hashable | None:
        """Watching.mark."""
        found = self.fleet.clusters.get(cluster.name)
        return (cluster.name, found.version) if found is not None else None

    def unchanged(self, cluster: MemberCluster, mark: Hashable) -> bool:
        """Watching.unchanged."""
        return mark == (cluster.name, self.fleet.clusters[cluster.name].version)

    def keep(self, names: Collection[str]) -> None:
        """Watching.keep."""


def resident_mib() -> float:
    """The memory that this process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20


@dataclass
class Idle:
    """A settled fleet whose clusters are watched."""

    run: Run
    driver: Driver

    @property
    def commits(self) -> int:
        """How many commits the state branch has."""
        return int(self.run.git("rev-list", "--count", "gitfleet/state"))

    def cost(self, ticks: int, seconds: float = TICK_SECONDS) -> float:
        """CPU seconds of so many ticks."""
        begin, clusters = cpu_seconds(), self.run.fleet.cpu
        for _ in range(ticks):
            self.run.fleet.clock.advance(seconds)
            self.driver.reconcile()
        return cpu_seconds() - begin - (self.run.fleet.cpu - clusters)

    def change_by_hand(self) -> None:
        """Another value in an object of the first cluster."""
        cluster = self.run.fleet.clusters[min(self.run.fleet.clusters)]
        key = next(key for key in cluster.objects if key.kind == "ConfigMap")
        live = cluster.objects[key]
        cluster.version += 1
        cluster.objects[key] = replace(live, body={**live.body, "data": {"by": "hand"}})


@contextmanager
def settled(size: Size, folder: Path) -> Iterator[Idle]:
    """A fleet of a size, at rest."""
    run = Run(size, folder, None)
    subprocess.run(["git", "init", "-q", "--bare", "--initial-branch=main", str(run.repo)], check=True)
    commit_files(run.repo, size.files())
    with run.driver("cache") as opened:
        driver = opened
        driver.clusters.observations.watching = LightWatching(run.fleet)
        run.settle(driver)
        found = Idle(run, driver)
        found.cost(10)
        yield found


def show(size: Size, ticks: int, goals: Goals, *, profiled: bool) -> tuple[float, float]:
    """Measure and print; CPU seconds of a quiet tick and of a change in the repo."""
    with tempfile.TemporaryDirectory(prefix="gitfleet-idle-") as folder, settled(size, Path(folder)) as idle:
        commits, before = idle.commits, resident_mib()
        print(f"{size}: {size.objects} objects, {before:.0f} MiB", flush=True)
        profile = cProfile.Profile() if profiled else None
        quiet = profile.runcall(idle.cost, 20, 0.0) if profile else idle.cost(20, 0.0)
        print(f"a tick that asks no cluster: {quiet / 20 * 1000:.1f} ms of CPU", flush=True)
        if profile:
            pstats.Stats(profile, stream=sys.stderr).sort_stats("tottime").print_stats(30)
        done, parts, total = 0, 10, 0.0
        for part in range(1, parts + 1):
            number = ticks * part // parts - done
            spent, done = idle.cost(number), done + number
            total += spent
            print(f"{done:6} ticks: {spent / number * 1000:6.1f} ms each, {resident_mib():.0f} MiB", flush=True)
        print(f"all ticks: {total / ticks * 1000:.1f} ms each")
        goals.at_most(f"{size}: memory after {ticks} ticks, ratio to before", resident_mib() / before, 1.05)
        goals.at_most(f"{size}: commits in {ticks} ticks", idle.commits - commits, 0)
        idle.change_by_hand()
        print(f"one object changed by hand, put right: {idle.cost(2, 1.0):.2f} s of CPU")
        commit_files(idle.run.repo, size.edit())
        begin, clusters = cpu_seconds(), idle.run.fleet.cpu
        passes = idle.run.settle(idle.driver)
        spent = cpu_seconds() - begin - (idle.run.fleet.cpu - clusters)
        print(f"one object changed in git, on all its clusters in {passes} passes: {spent:.1f} s of CPU")
        return quiet / 20, spent


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", type=Size.parse, nargs="+", default=[Size.parse("1000x1x200:all")])
    parser.add_argument("--ticks", type=int, default=10_000)
    parser.add_argument("--profile", action="store_true")
    given = parser.parse_args(arguments)
    collect_rarely()  # as the command does
    goals, before = Goals(), dict[str, float]()
    for at, size in enumerate(given.sizes):
        costs = dict(zip(("quiet tick", "edit"), show(size, given.ticks, goals, profiled=given.profile), strict=True))
        for name in before:
            grown = size.clusters / given.sizes[at - 1].clusters
            goals.at_most(f"{size}: {name}, exponent over clusters", exponent(before[name], costs[name], grown), 1.25)
        before = costs
    goals.end()


if __name__ == "__main__":
    main()
