"""What a whole fleet costs, end to end: the real driver, real git on disk, clusters in memory.

    python -m benchmarks.fleet [SIZE ...] [--json FILE] [--profile STEP] [--large]

A SIZE is clusters x placements x manifests, such as 1000x100x2000; each placement picks 100 clusters, with `:all`
behind the size every one. Every size runs in child processes of its own. CPU seconds are user and system time of the
process and of the git processes that it started, less what the simulated clusters took; they hardly depend on what else
the machine does. Steps:

    first    the first reconcile
    settle   all reconciles until nothing moves, the first included
    quiet    a reconcile without news
    edit     one manifest changed, until nothing moves
    restart  the first reconcile of a new process with its cache on disk
    cold     the same without any cache
    get      `gitfleet get crp` as a process

Goals: from one size to the next no step costs more than in proportion to the fleet (exponents).
"""

from __future__ import annotations

import argparse
import cProfile
import json
import os
import pickle
import pstats
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.generated import LightFleet, Size, SteppedClock, commit_files
from benchmarks.goals import Goals, exponent
from gitfleet.cli.collector import collect_rarely
from gitfleet.fleet.fanout import Fanout
from gitfleet.loop.driver import Driver
from gitfleet.settings import Settings
from gitfleet.wiring import hub

SMALL = ("20x3x20", "100x10x200", "100x10x20:all", "1000x10x20:all")
LARGE = ("100x10x200", "1000x100x2000", "10000x100x200", "1000x1000x2000", "1000x10x20:all", "10000x10x20:all")
STEPS = ("first", "settle", "quiet", "edit", "restart", "cold", "get")
STATE = "gitfleet/state"
PASS_SECONDS = 5
"""How far the clock goes from one reconcile to the next while a fleet settles."""
MOST_PASSES = 200
QUIET_PASSES = 5
MOST_EXPONENT = 1.25
"""Linear, with what a busy machine adds."""
Figures = dict[str, Any]


def cpu_seconds() -> float:
    """What this process and its finished children have used so far."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def peak_mib() -> float:
    """The most memory that this process held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def pickle_seconds(state: object) -> float:
    """CPU seconds that Python alone needs to write a state and to read it back: how fast this machine is today."""
    begin = cpu_seconds()
    pickle.loads(pickle.dumps(state, pickle.HIGHEST_PROTOCOL))
    return cpu_seconds() - begin


class Run:
    """One process of a size: its fleet, and the figures that it hands to the parent."""

    def __init__(self, size: Size, folder: Path, profile: str | None) -> None:
        self.size, self.folder, self.profile = size, folder, profile
        self.repo = folder / "fleet.git"
        self.kept = folder / "clusters.pickle"
        self.fleet = LightFleet(SteppedClock())
        self.figures: Figures = {}

    def measured(self, step: str, what: Callable[[], Any]) -> Any:
        """Do a step and note what it cost gitfleet and what it cost the clusters."""
        profile = cProfile.Profile() if step == self.profile else None
        begin, clusters = cpu_seconds(), self.fleet.cpu
        answer = profile.runcall(what) if profile else what()
        clusters = self.fleet.cpu - clusters
        self.figures[step] = cpu_seconds() - begin - clusters
        self.figures[f"{step} clusters"] = clusters
        if profile:
            stats = pstats.Stats(profile, stream=sys.stderr)
            stats.sort_stats("cumulative").print_stats(60)
            stats.sort_stats("tottime").print_stats(45)
        return answer

    @contextmanager
    def driver(self, cache: str) -> Iterator[Driver]:
        """The driver as `run` has it, on the clusters in memory and their clock."""
        settings = Settings(repo=str(self.repo), cache_dir=self.folder / cache)
        with hub.open_workspace(settings, clusters="none") as workspace:
            workspace.driver.clock = self.fleet.clock
            workspace.driver.clusters.fanout = Fanout(directory=self.fleet, executor=None)
            yield workspace.driver

    def settle(self, driver: Driver) -> int:
        """Reconcile until nothing moves; how many passes that took."""
        for number in range(1, MOST_PASSES + 1):
            if driver.reconcile().settled:
                return number
            self.fleet.clock.advance(PASS_SECONDS)
        raise SystemExit(f"{self.size}: the fleet never settled: {driver.reconcile().waiting[:3]}")

    def live(self) -> None:
        """The life of a fleet: first pass, settling, a quiet pass and an edit. Keeps the clusters for the restart."""
        subprocess.run(["git", "init", "-q", "--bare", "--initial-branch=main", str(self.repo)], check=True)
        commit_files(self.repo, self.size.files())
        with self.driver("cache") as driver:
            self.measured("first", driver.reconcile)
            self.fleet.clock.advance(PASS_SECONDS)
            self.figures["settle passes"] = 1 + self.measured("settle", lambda: self.settle(driver))
            for part in ("settle", "settle clusters"):
                self.figures[part] += self.figures[part.replace("settle", "first")]
            self.figures["settle peak MiB"] = peak_mib()
            self.figures["state commits"] = int(self.git("rev-list", "--count", STATE))
            result = driver.reconcile()
            self.measured("quiet", lambda: [driver.reconcile() for _ in range(QUIET_PASSES)])
            bare = cpu_seconds()
            for _ in range(QUIET_PASSES):
                self.git("ls-remote", "--quiet", "--heads", str(self.repo))
            self.figures["quiet baseline"] = (cpu_seconds() - bare) / QUIET_PASSES
            self.figures["quiet"] /= QUIET_PASSES
            commit_files(self.repo, self.size.edit())
            self.figures["edit passes"] = self.measured("edit", lambda: self.settle(driver))
            self.figures["edit commits"] = int(self.git("rev-list", "--count", STATE)) - self.figures["state commits"]
            self.figures["bindings"] = sum(len(record.bindings) for record in result.state.placements.values())
            self.figures["settle baseline"] = pickle_seconds(result.state)
        self.figures["settled"] = result.settled
        self.figures["objects"] = sum(len(cluster.objects) for cluster in self.fleet.clusters.values())
        self.figures["state files"] = self.git("ls-tree", "-r", "--name-only", STATE).count("\n")
        self.figures["state bytes"] = int(self.git("rev-list", "--objects", "--disk-usage", STATE, "--not", "main"))
        self.kept.write_bytes(pickle.dumps(self.fleet))

    def restart(self, cache: str) -> None:
        """The first reconcile of a new process, with the cache of the last one or with an empty one."""
        self.fleet = pickle.loads(self.kept.read_bytes())
        step = "restart" if cache == "cache" else "cold"
        self.figures["before MiB"] = peak_mib()
        with self.driver(cache) as driver:
            result = self.measured(step, driver.reconcile)
        self.figures[f"{step} peak MiB"] = peak_mib()
        self.figures["settled again"] = result.settled
        self.figures[f"{step} baseline"] = pickle_seconds(result.state)

    def get(self) -> None:
        """`gitfleet get crp` as a process of its own."""
        command = [sys.executable, "-m", "gitfleet", "get", "crp", "-C", str(self.repo)]
        command += ["--cache-dir", str(self.folder / "cache")]
        with (self.folder / "get.txt").open("w") as out:
            child = subprocess.Popen(command, stdout=out)
            _, status, used = os.wait4(child.pid, 0)
        if status != 0:
            raise SystemExit(f"gitfleet get crp ended with status {status}")
        self.figures["get"] = used.ru_utime + used.ru_stime
        self.figures["get peak MiB"] = used.ru_maxrss / 1024

    def git(self, *arguments: str) -> str:
        """What git says of the remote."""
        command = ["git", "--git-dir", str(self.repo), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def measure(size: Size, profile: str | None = None) -> Figures:
    """All figures of one size, each part in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="gitfleet-fleet-") as folder:
        figures: Figures = {"size": str(size), "things": size.things}
        for part in ("live", "restart", "cold", "get"):
            command = [sys.executable, "-m", "benchmarks.fleet", str(size), "--part", part, "--folder", folder]
            command += ["--profile", profile] if profile else []
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            figures |= json.loads(done.stdout.splitlines()[-1])
        return figures


def child(size: Size, part: str, folder: Path, profile: str | None) -> None:
    """One part of a size, in its own process: the last line on stdout is its figures."""
    collect_rarely()  # as the command does
    run = Run(size, folder, profile)
    if part in ("restart", "cold"):
        run.restart("cache" if part == "restart" else "none")
    else:
        {"live": run.live, "get": run.get}[part]()
    print(json.dumps(run.figures))


def show(figures: Figures, before: Figures | None, goals: Goals) -> None:
    """One size in words and numbers; `before` is the size that exponents are taken from."""
    print(f"{figures['size']}: {figures['bindings']} bindings, {figures['objects']} objects on clusters", flush=True)
    if not (figures["settled"] and figures["settled again"]):
        raise SystemExit("the fleet is not settled")
    for step in STEPS:
        extra = []
        for name, unit in (("passes", " passes"), ("commits", " commits"), ("peak MiB", " MiB peak")):
            if f"{step} {name}" in figures:
                extra.append(f"{figures[f'{step} {name}']:.0f}{unit}")
        if figures.get(f"{step} clusters", 0) > 0.01:
            extra.append(f"clusters {figures[f'{step} clusters']:.2f} s apart")
        extra += _ratio(figures, step)
        grown = _exponent(figures, before, step)
        shown = "" if grown is None else f"exponent {grown:.2f}"
        print(f"  {step:<8}{figures[step]:>9.2f} s CPU  {shown:<16}{', '.join(extra)}")
        if grown is not None:
            goals.at_most(f"{figures['size']}: {step}, exponent", grown, MOST_EXPONENT)
    print(
        f"  state branch after settling: {figures['state commits']} commits; "
        f"now {figures['state files']} files, {figures['state bytes'] / 2**20:.1f} MiB packed",
        flush=True,
    )


def _ratio(figures: Figures, step: str) -> list[str]:
    round_trip = dict.fromkeys(("settle", "restart", "cold"), "a pickle round trip of the state")
    beside = {"quiet": "git ls-remote"} | round_trip
    if step not in beside:
        return []
    return [f"{figures[step] / max(figures[f'{step} baseline'], 0.001):.1f} times {beside[step]}"]


def _exponent(figures: Figures, before: Figures | None, step: str) -> float | None:
    if before is None or min(figures[step], before[step]) < 0.05 or figures["things"] == before["things"]:
        return None
    return exponent(before[step], figures[step], figures["things"] / before["things"])


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", type=Size.parse, metavar="SIZE")
    parser.add_argument("--large", action="store_true", help=f"the large sizes: {', '.join(LARGE)}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there, too")
    parser.add_argument("--profile", choices=STEPS[:-1], help="print where the time of a step went, on stderr")
    parser.add_argument("--part", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.part:
        child(chosen.sizes[0], chosen.part, chosen.folder, chosen.profile)
        return
    sizes = chosen.sizes or [Size.parse(text) for text in (LARGE if chosen.large else SMALL)]
    found, goals = list[Figures](), Goals()
    for size in sizes:
        found.append(measure(size, chosen.profile))
        like = [figures for figures in found[:-1] if Size.parse(figures["size"]).pick_all == size.pick_all]
        show(found[-1], like[-1] if like else None, goals)
    if chosen.json:
        chosen.json.write_text(json.dumps(found, indent=1) + "\n")
    goals.end()


if __name__ == "__main__":
    main()
