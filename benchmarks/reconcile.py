"""What a reconcile costs, measured beside what git itself costs, in one run on one machine.

    python -m benchmarks.reconcile [--small 2000] [--large 20000] [--runs 7] [--profile changed|nothing|cold]

Prints one table: the time of a reconcile when nothing changed beside a bare `git ls-remote` (file and HTTP remote), the
time of the reconcile after one manifest changed in a large and in a small repository, and cold starts. Everything is
the program as it is, except that clusters are simulated in memory: their cost is not what is measured here. Goals: a
reconcile without news takes at most 4 times `git ls-remote` over HTTP, and one after a changed manifest no longer than
in proportion to the files.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import resource
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.goals import Goals
from gitfleet.fleet.fanout import Fanout
from gitfleet.loop.driver import Driver
from gitfleet.settings import Settings
from gitfleet.simulation.fleet import SimulatedFleet
from gitfleet.wiring import hub
from tests.realparts.git_http import GitHttpServer

PER_NAMESPACE = 100
CLUSTERS = ("c1", "c2", "c3")
PLACED = 10
"""Namespaces that are placed when not all of them are."""


@dataclass(frozen=True)
class Repo:
    """A config repo of `files` manifests, of which `placed` namespaces of a hundred are placed on every cluster."""

    path: Path
    files: int
    placed: int

    @classmethod
    def make(cls, path: Path, files: int, placed: int) -> Repo:
        repo = cls(path, files, placed)
        subprocess.run(["git", "init", "--quiet", "--bare", "--initial-branch=main", str(path)], check=True)
        contents = {
            f"clusters/{name}.yaml": _yaml(
                "cluster.kubernetes-fleet.io/v1", "MemberCluster", name, spec={"connection": {"simulated": True}}
            )
            for name in CLUSTERS
        }
        for space in range(files // PER_NAMESPACE):
            contents[f"resources/ns-{space}/namespace.yaml"] = _yaml("v1", "Namespace", f"ns-{space}")
            for number in range(PER_NAMESPACE - 1):
                contents[f"resources/ns-{space}/cm-{number}.yaml"] = _config_map(space, number, "first")
            if space < placed:
                contents[f"placements/ns-{space}.yaml"] = _placement(space)
        repo.commit(contents)
        return repo

    def commit(self, contents: dict[str, str]) -> None:
        """Put files on main, without a work tree."""
        lines = [b"commit refs/heads/main", b"committer b <b@example.com> now", b"data 4\nedit"]
        if (self.path / "refs/heads/main").exists():
            lines.append(b"from refs/heads/main^0")
        for path, text in contents.items():
            data = text.encode()
            lines.append(b"M 100644 inline %s\ndata %d\n%s" % (path.encode(), len(data), data))
        subprocess.run(
            ["git", "fast-import", "--quiet", "--date-format=now"],
            cwd=self.path,
            input=b"\n".join(lines) + b"\n",
            check=True,
        )

    def change_one(self, mark: str) -> None:
        """Another value in one ConfigMap."""
        self.commit({"resources/ns-0/cm-7.yaml": _config_map(0, 7, mark)})


def _yaml(api_version: str, kind: str, name: str, **parts: object) -> str:
    return json.dumps({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **parts}, indent=1)


def _config_map(space: int, number: int, value: str) -> str:
    data = "\n".join(f"  key-{line}: {value}-{number}-{line}" for line in range(8))
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cm-{number}\n  namespace: ns-{space}\ndata:\n{data}\n"


def _placement(space: int) -> str:
    selector = {"group": "", "version": "v1", "kind": "Namespace", "name": f"ns-{space}"}
    spec = {"resourceSelectors": [selector], "policy": {"placementType": "PickAll"}}
    return _yaml("placement.kubernetes-fleet.io/v1", "ClusterResourcePlacement", f"ns-{space}", spec=spec)


@contextmanager
def opened(address: str, cache: Path, fleet: SimulatedFleet | None = None) -> Iterator[tuple[Driver, SimulatedFleet]]:
    """A driver as `run` has it, on clusters in memory."""
    with hub.open_workspace(Settings(repo=address, cache_dir=cache), clusters="none") as workspace:
        driver = workspace.driver
        clusters = fleet or SimulatedFleet(workspace.clock)
        driver.clusters.fanout = Fanout(directory=hub.simulated_clusters(clusters, workspace.clock), executor=None)
        yield driver, clusters


def settle(driver: Driver) -> None:
    """Reconcile until nothing moves."""
    for _ in range(100):
        if driver.reconcile().settled:
            return
        time.sleep(0.1)
    raise SystemExit("the fleet never settled")


def timed(what: Callable[[], object]) -> float:
    """Seconds that a call took."""
    begin = time.perf_counter()
    what()
    return time.perf_counter() - begin


def median(what: Callable[[], object], runs: int) -> float:
    """The median of some runs, in seconds."""
    return statistics.median(timed(what) for _ in range(runs))


def ls_remote(address: str) -> None:
    """What git alone takes to say that nothing changed."""
    subprocess.run(["git", "ls-remote", "--quiet", "--heads", address], check=True, capture_output=True)


def changed_reconcile(repo: Repo, driver: Driver, runs: int) -> float:
    """Median seconds of the reconcile after one manifest changed."""
    times = []
    for run in range(runs):
        repo.change_one(f"run-{run}")
        times.append(timed(driver.reconcile))
        settle(driver)
    return statistics.median(times)


def profiled(what: Callable[[], object]) -> None:
    """Print where the time of a call went."""
    profile = cProfile.Profile()
    profile.runcall(what)
    pstats.Stats(profile).sort_stats("cumulative").print_stats(60)


class Table:
    """Rows as they come."""

    def row(self, what: str, seconds: float, beside: str = "") -> None:
        print(f"{what:<66}{seconds * 1000:>10.1f} ms   {beside}", flush=True)


def measure(folder: Path, small: int, large: int, runs: int, profile: str | None) -> None:
    """The whole table."""
    table, goals = Table(), Goals()
    changed: dict[tuple[int, str], float] = {}
    for files in (small, large):
        for label, placed in ((f"{PLACED} namespaces placed", PLACED), ("all placed", files // PER_NAMESPACE)):
            repo = Repo.make(folder / f"git-{files}-{placed}" / "fleet.git", files, placed)
            cache = folder / f"cache-{files}-{placed}"
            with opened(str(repo.path), cache) as (driver, fleet):
                if profile == "cold" and files == large:
                    profiled(driver.reconcile)
                cold = timed(driver.reconcile)
                table.row(f"{files} files, {label}: cold start, first reconcile", cold)
                settle(driver)
                if files == large and label != "all placed":
                    nothing(table, goals, repo, driver, runs, profile)
                if profile == "changed" and files == large:
                    repo.change_one("profiled")
                    profiled(driver.reconcile)
                    settle(driver)
                seconds = changed[(files, label)] = changed_reconcile(repo, driver, runs)
                beside = f"{seconds / changed[(small, label)]:.2f} times {small} files" if files == large else ""
                table.row(f"{files} files, {label}: reconcile after one changed manifest", seconds, beside)
                table.row(f"{files} files, {label}: reconcile, nothing changed", median(driver.reconcile, runs))
            with opened(str(repo.path), cache, fleet) as (driver, _):
                table.row(f"{files} files, {label}: new process, caches on disk", timed(driver.reconcile))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:.0f} MiB (the simulated clusters included)")
    for label in {label: None for _, label in changed}:
        ratio = changed[(large, label)] / changed[(small, label)]
        goals.at_most(f"one changed manifest, {label}: times {small} files", ratio, large / small)
    goals.end()


def nothing(table: Table, goals: Goals, repo: Repo, driver: Driver, runs: int, profile: str | None) -> None:
    """A reconcile without news beside `git ls-remote`, on a file and an HTTP remote."""
    if profile == "nothing":
        profiled(driver.reconcile)
    bare = median(lambda: ls_remote(str(repo.path)), runs * 3)
    reconcile = median(driver.reconcile, runs * 3)
    table.row("file remote: git ls-remote", bare)
    table.row(
        f"file remote: reconcile, nothing changed ({repo.files} files)",
        reconcile,
        f"{reconcile / bare:.2f} times ls-remote",
    )
    with GitHttpServer(repo.path.parent) as server:
        for key in ("http.receivepack", "uploadpack.allowFilter"):
            subprocess.run(["git", "--git-dir", str(repo.path), "config", key, "true"], check=True)
        address = server.url("fleet")
        with opened(address, repo.path.parent / "http-cache") as (over_http, _):
            settle(over_http)
            bare = median(lambda: ls_remote(address), runs * 3)
            reconcile = median(over_http.reconcile, runs * 3)
    goals.at_most("HTTP remote: a reconcile without news, times ls-remote", reconcile / bare, 4)
    table.row("HTTP remote: git ls-remote", bare)
    table.row(
        f"HTTP remote: reconcile, nothing changed ({repo.files} files)",
        reconcile,
        f"{reconcile / bare:.2f} times ls-remote",
    )


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", type=int, default=2_000)
    parser.add_argument("--large", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--profile", choices=("changed", "nothing", "cold"))
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gitfleet-benchmark-") as folder:
        measure(Path(folder), chosen.small, chosen.large, chosen.runs, chosen.profile)


if __name__ == "__main__":
    main()
