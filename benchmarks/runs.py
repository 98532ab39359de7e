"""What staged update runs cost, at growing sizes: the real driver, real git on disk, clusters in memory.

    python -m benchmarks.runs [CASE ...] [--sizes N,N,...]

    started     one run on N clusters, all of which start in one reconcile
    waiting     N runs on ten clusters, each of which waits for an approval
    finished    N runs on ten clusters, each of which is over

CPU seconds as in benchmarks.fleet, of these steps:

    begin       the reconcile that finds the runs
    settle      all reconciles from there on until nothing moves
    quiet       a reconcile without news
    edit        the reconcile of a commit that has nothing to do with the runs

Goals: from one size to the next no step costs more than in proportion (exponents), where it costs enough to tell.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from benchmarks.fleet import cpu_seconds
from benchmarks.generated import LightFleet, SteppedClock, commit_files, member_cluster, namespace, placement
from benchmarks.goals import Goals, exponent
from gitfleet.cli.collector import collect_rarely
from gitfleet.fleet.fanout import Fanout
from gitfleet.loop.driver import Driver
from gitfleet.settings import Settings
from gitfleet.wiring import hub

SIZES: Final = (10, 100, 400)
STEPS: Final = ("begin", "settle", "quiet", "edit")
FEW: Final = 10
MOST_PASSES: Final = 60
SMALLEST: Final = 0.05
"""CPU seconds below which an exponent says nothing."""
Files = dict[str, str]
GROUP: Final = "apiVersion: placement.kubernetes-fleet.io/v1beta1\n"


def started(size: int) -> tuple[Files, Files]:
    """A fleet, and the runs that are added to it."""
    return _external(clusters=size, placements=1, gate=False)


def waiting(size: int) -> tuple[Files, Files]:
    """The same with a gate behind the only stage."""
    return _external(clusters=FEW, placements=size, gate=True)


def finished(size: int) -> tuple[Files, Files]:
    """The same without a gate."""
    return _external(clusters=FEW, placements=size, gate=False)


CASES: Final = {case.__name__: case for case in (started, waiting, finished)}


def _external(*, clusters: int, placements: int, gate: bool) -> tuple[Files, Files]:
    files = {f"clusters/c{n:05}.yaml": member_cluster(n) for n in range(clusters)}
    runs: Files = {}
    tasks = "[{type: Approval}]" if gate else "[]"
    stage = f"{{name: all, labelSelector: {{}}, maxConcurrency: 100%, afterStageTasks: {tasks}}}"
    files["strategies/all.yaml"] = (
        f"{GROUP}kind: ClusterStagedUpdateStrategy\nmetadata: {{name: all}}\nspec: {{stages: [{stage}]}}\n"
    )
    for number in range(placements):
        name = f"app-{number:05}"
        files[f"resources/{name}.yaml"] = namespace(name, name)
        files[f"placements/{name}.yaml"] = placement(name, "placementType: PickAll", "type: External")
        runs[f"runs/{name}.yaml"] = (
            f"{GROUP}kind: ClusterStagedUpdateRun\nmetadata: {{name: {name}}}\n"
            f"spec: {{placementName: {name}, stagedRolloutStrategyName: all}}\n"
        )
    return files, runs


@contextmanager
def _driver(folder: Path, fleet: LightFleet) -> Iterator[Driver]:
    settings = Settings(repo=str(folder / "fleet.git"), cache_dir=folder / "cache")
    with hub.open_workspace(settings, clusters="none") as space:
        space.driver.clock = fleet.clock
        space.driver.clusters.fanout = Fanout(directory=fleet, executor=None)
        yield space.driver


def measure(case: Callable[[int], tuple[Files, Files]], size: int) -> dict[str, float]:
    """CPU seconds of each step, less what the clusters took."""
    fleet, figures = LightFleet(SteppedClock()), {}
    files, runs = case(size)

    def measured(step: str, what: Callable[[], Any]) -> None:
        begin, clusters = cpu_seconds(), fleet.cpu
        what()
        figures[step] = cpu_seconds() - begin - (fleet.cpu - clusters)

    with tempfile.TemporaryDirectory(prefix="gitfleet-runs-") as name:
        folder = Path(name)
        repo = folder / "fleet.git"
        subprocess.run(["git", "init", "-q", "--bare", "--initial-branch=main", str(repo)], check=True)
        commit_files(repo, files)
        with _driver(folder, fleet) as driver:
            _settle(driver, fleet)
            commit_files(repo, runs)
            measured("begin", driver.reconcile)
            measured("settle", lambda: _settle(driver, fleet))
            measured("quiet", driver.reconcile)
            commit_files(repo, {"resources/else.yaml": namespace("else", "else")})
            measured("edit", driver.reconcile)
    return figures


def _settle(driver: Driver, fleet: LightFleet) -> None:
    for _ in range(MOST_PASSES):
        fleet.clock.advance(5)
        if driver.reconcile().settled:
            return
    raise SystemExit("the fleet did not settle")


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), metavar="N,N,...")
    chosen = parser.parse_args(arguments)
    if unknown := set(chosen.cases) - set(CASES):
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    collect_rarely()  # as the command does
    sizes, goals = [int(text) for text in chosen.sizes.split(",")], Goals()
    for name in chosen.cases or CASES:
        before: dict[str, float] = {}
        for at, size in enumerate(sizes):
            figures = measure(CASES[name], size)
            cells = [f"{step} {figures[step]:.2f} s" for step in STEPS]
            print(f"{name:<9}{size:>7}  {'  '.join(cells)}", flush=True)
            for step in STEPS:
                if before and min(figures[step], before[step]) >= SMALLEST:
                    grown = exponent(before[step], figures[step], size / sizes[at - 1])
                    goals.at_most(f"{name} {size}: {step}, exponent", grown, 1.25)
            before = figures
    goals.end()


if __name__ == "__main__":
    main()
