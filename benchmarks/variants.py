"""What variants cost: one build for each distinct input, and one list of names for each cluster.

    python -m benchmarks.variants [SIZE ...]        default: 500x250 500x1000, variants x clusters

Folders of 100 variants each, every variant an overlay of its own over a common base, built by the real kustomize. The
clusters are light stand-ins, each with one variant of every folder. CPU seconds are those of the process, without
kustomize. Goals: as many builds as variants, one after an edit of one overlay, none in a new process with its cache on
disk, no change on clusters of other variants, and a cost in proportion to the clusters.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.generated import LightFleet, SteppedClock, commit_files
from benchmarks.goals import Goals, exponent
from gitfleet.adapters.kustomize import KustomizeProgram
from gitfleet.fleet.fanout import Fanout
from gitfleet.loop.driver import Driver
from gitfleet.settings import Settings
from gitfleet.wiring import hub
from tests.realparts.assets import ensure_program

PER_FOLDER = 100
BATCH = 250
MOST_PASSES = 400
MOST_EXPONENT = 1.25
"""Linear, with what a busy machine adds."""


def repo_files(variants: int, clusters: int) -> dict[str, str]:
    """A config repo of folders with 100 variants each."""
    files: dict[str, str] = {}
    folders = -(-variants // PER_FOLDER)
    for number in range(folders):
        first = number * PER_FOLDER
        files |= _folder(number, range(first, min(first + PER_FOLDER, variants)))
    for number in range(clusters):
        labels = ", ".join(f"slot-{f}: s{number % min(PER_FOLDER, variants - f * PER_FOLDER)}" for f in range(folders))
        files[f"clusters/c{number:05}.yaml"] = (
            "apiVersion: cluster.kubernetes-fleet.io/v1beta1\nkind: MemberCluster\n"
            f"metadata:\n  name: c{number:05}\n  labels: {{{labels}}}\nspec:\n  connection: {{simulated: true}}\n"
        )
    return files


def _folder(number: int, variants: range) -> dict[str, str]:
    name = f"app-{number}"
    root = f"resources/{name}"
    lines = [
        "apiVersion: gitfleet.dev/v1alpha1\nkind: Folder",
        f"metadata: {{name: {name}}}\nspec:\n  namespace: {name}\n  createNamespace: true\n  variants:",
    ]
    files = {
        f"{root}/base/kustomization.yaml": "resources: [settings.yaml]\n",
        f"{root}/base/settings.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: base}\n",
        f"placements/{name}.yaml": (
            "apiVersion: placement.kubernetes-fleet.io/v1\nkind: ClusterResourcePlacement\n"
            f"metadata: {{name: {name}}}\nspec:\n  resourceSelectors:\n"
            f"  - {{group: gitfleet.dev, version: v1alpha1, kind: Folder, name: {name}}}\n"
            f"  strategy: {{rollingUpdate: {{maxUnavailable: {BATCH}}}}}\n"
        ),
    }
    for variant in variants:
        overlay, slot = f"overlays/o{variant}", variant - variants.start
        selector = f"{{matchLabels: {{slot-{number}: s{slot}}}}}"
        lines.append(f"  - {{name: v{variant}, path: {overlay}, clusterSelector: {selector}}}")
        files[f"{root}/{overlay}/kustomization.yaml"] = overlay_text(f"v{variant}")
    files[f"{root}/gitfleet-folder.yaml"] = "\n".join(lines) + "\n"
    return files


def overlay_text(value: str) -> str:
    """An overlay that sets a value of the base."""
    patch = f'[{{"op": "replace", "path": "/data/a", "value": "{value}"}}]'
    return f"resources: [../../base]\npatches:\n- target: {{kind: ConfigMap}}\n  patch: '{patch}'\n"


@contextmanager
def counted_builds() -> Iterator[list[str]]:
    """The folders that kustomize builds meanwhile."""
    folders: list[str] = []
    build = KustomizeProgram.build

    def counted(program: KustomizeProgram, folder: str, files: Mapping[str, bytes]) -> bytes:
        folders.append(folder)
        return build(program, folder, files)

    KustomizeProgram.build = counted  # type: ignore[method-assign, assignment]
    try:
        yield folders
    finally:
        KustomizeProgram.build = build  # type: ignore[method-assign]


@contextmanager
def opened(folder: Path, fleet: LightFleet) -> Iterator[Driver]:
    """A driver on the light clusters."""
    settings = Settings(repo=str(folder / "fleet.git"), cache_dir=folder / "cache")
    with hub.open_workspace(settings, clusters="none") as workspace:
        workspace.driver.clock = fleet.clock
        workspace.driver.clusters.fanout = Fanout(directory=fleet, executor=None)
        yield workspace.driver


def settled(driver: Driver, fleet: LightFleet) -> float:
    """CPU seconds of this process, clusters and programs apart, until nothing moves."""
    begin, clusters = _cpu(), fleet.cpu
    for _ in range(MOST_PASSES):
        if driver.reconcile().settled:
            return _cpu() - begin - (fleet.cpu - clusters)
        fleet.clock.advance(5)
    raise SystemExit(f"the fleet never settled: {driver.reconcile().waiting[:3]}")


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def values(fleet: LightFleet) -> dict[str, tuple[str, ...]]:
    """What the ConfigMaps of each cluster say, by cluster."""
    return {
        name: tuple(o.body["data"]["a"] for key, o in sorted(cluster.objects.items()) if key.kind == "ConfigMap")
        for name, cluster in fleet.clusters.items()
    }


@dataclass(frozen=True)
class Life:
    """What a fleet cost from its first pass over an edit of one overlay to a new process: CPU seconds and builds."""

    first: float
    edit: float
    restart: float
    builds: tuple[int, int, int]
    before: dict[str, tuple[str, ...]]
    after: dict[str, tuple[str, ...]]

    @classmethod
    def of(cls, variants: int, clusters: int) -> Life:
        """The life of one fleet."""
        with tempfile.TemporaryDirectory(prefix="gitfleet-variants-") as name, counted_builds() as builds:
            folder, fleet = Path(name), LightFleet(SteppedClock())
            repo = folder / "fleet.git"
            subprocess.run(["git", "init", "-q", "--bare", "--initial-branch=main", str(repo)], check=True)
            commit_files(repo, repo_files(variants, clusters))
            with opened(folder, fleet) as driver:
                first = settled(driver, fleet)
                counts = [len(builds)]
                before = values(fleet)
                commit_files(repo, {"resources/app-0/overlays/o0/kustomization.yaml": overlay_text("edited")})
                edit = settled(driver, fleet)
                counts.append(len(builds))
            with opened(folder, fleet) as driver:
                restart = settled(driver, fleet)
            counts.append(len(builds))
            per_step = (counts[0], counts[1] - counts[0], counts[2] - counts[1])
            return cls(first, edit, restart, per_step, before, values(fleet))


def measure(variants: int, clusters: int, goals: Goals) -> float:
    """One size; the CPU seconds of its first rollout."""
    life = Life.of(variants, clusters)
    own = {name for name, before in life.before.items() if "v0" in before}
    changed = {name for name, before in life.before.items() if before != life.after[name]}
    print(f"{variants} variants on {clusters} clusters, CPU seconds:")
    for step in ("first", "edit", "restart"):
        print(f"  {step:<8}{getattr(life, step):>8.2f}", flush=True)
    first, edit, restart = life.builds
    goals.at_most("builds for each variant", first / variants, 1)
    goals.at_most("builds after an edit of one overlay", edit, 1)
    goals.at_most("builds of a new process with its cache", restart, 0)
    goals.at_least("clusters of the edited variant that changed", len(changed & own), len(own))
    goals.at_most("other clusters that changed", len(changed - own), 0)
    return life.first


def main(sizes: Sequence[str]) -> None:
    """The command."""
    goals, smaller = Goals(), (0, 0.0)
    kustomize = ensure_program("kustomize")
    os.environ["PATH"] = f"{kustomize.parent}{os.pathsep}{os.environ['PATH']}"
    for size in sizes or ("500x250", "500x1000"):
        variants, clusters = map(int, size.split("x"))
        seconds = measure(variants, clusters, goals)
        if smaller[0]:
            grown = exponent(smaller[1], seconds, clusters / smaller[0])
            goals.at_most(f"{size}: first rollout, exponent over clusters", grown, MOST_EXPONENT)
        smaller = (clusters, seconds)
    goals.end()


if __name__ == "__main__":
    main(sys.argv[1:])
