"""gitfleet that kills itself, as `kill -9` would, at a named step of a named reconcile.

    python -m tests.e2e.killable SETTINGS_JSON STEP TIME

SETTINGS_JSON holds the texts of `Settings` (repo, cache_dir, kubeconfig, simulated_dir). STEP is a `Step` of the loop,
at which it dies when it reaches it for that TIME (from 1), or a point in the middle of performing: "performing: half"
after half of the writes of the first cluster, "performing: one cluster" when one cluster is done and no other begun.
Everything but the kill is the program as it is (`hub.open_workspace`).
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.objects import Manifest, ObjectKey
from gitfleet.branches.steps import Step
from gitfleet.loop.driver import Driver
from gitfleet.model.observations import ClusterObservation, DryRun, LiveObject
from gitfleet.model.operations import Create, Delete, Outcome, RolloutOutcome, RolloutWrite, Update
from gitfleet.ports.clusters import ClusterClient, ClusterDirectory, ClusterReader
from gitfleet.settings import ConnectionRules, Settings
from gitfleet.wiring import hub

IN_BETWEEN = ("performing: half", "performing: one cluster")
DELIVERIES = (Step.DELIVERY_PUSH, Step.DELIVERY_PUSHED)
"""Of clusters that agents reach: tests/scenarios/test_pull.py kills there."""
STEPS = (*(step for step in Step if step not in DELIVERIES), *IN_BETWEEN)
"""Of the hub; an agent has labels of its own (tests/scenarios/test_pull.py)."""


def die() -> NoReturn:
    """End as by kill -9: no handler, no finally, no flush."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("still alive")


@dataclass(frozen=True)
class Fatal:
    """A ClusterDirectory whose clients kill the process while they perform."""

    inner: ClusterDirectory
    step: str
    lock: threading.Lock

    def reader(self, cluster: MemberCluster) -> ClusterReader:
        return self.inner.reader(cluster)

    def client(self, cluster: MemberCluster) -> ClusterClient:
        return FatalClient(self.inner.client(cluster), self.step, self.lock)


@dataclass(frozen=True)
class FatalClient:
    inner: ClusterClient
    step: str
    lock: threading.Lock

    def observe(self, keys: Collection[ObjectKey], *, probe: bool = True) -> ClusterObservation:
        return self.inner.observe(keys, probe=probe)

    def dry_run(self, questions: Sequence[tuple[Manifest, LiveObject]]) -> Sequence[DryRun]:
        return self.inner.dry_run(questions)

    def perform(self, operations: Sequence[Create | Update | Delete]) -> Sequence[Outcome]:
        with self.lock:  # nobody gets further than the first one here
            if self.step == "performing: half":
                self.inner.perform(operations[: (len(operations) + 1) // 2])
            elif self.step == "performing: one cluster":
                self.inner.perform(operations)
            die()

    def pods(self, workloads: Sequence[LiveObject]) -> Mapping[ObjectKey, tuple[LiveObject, ...]]:
        return self.inner.pods(workloads)

    def perform_steps(self, steps: Sequence[RolloutWrite]) -> Sequence[RolloutOutcome]:
        return self.inner.perform_steps(steps)

    def close(self) -> None:
        self.inner.close()


def arm(driver: Driver, step: str, time: int) -> None:
    """Let the driver die when it reaches a step for that time."""
    times, lock = 0, threading.Lock()
    if step in IN_BETWEEN:
        driver.clusters.fanout = replace(
            driver.clusters.fanout, directory=Fatal(driver.clusters.fanout.directory, step, threading.Lock())
        )

    def checkpoint(reached: str) -> None:
        nonlocal times
        with lock:  # clusters are written to side by side
            times += reached == step
            if times == time:
                die()

    driver.checkpoint = checkpoint


def main(settings_json: str, step: str, time: int) -> None:
    """Run until settled, or until death."""
    given = json.loads(settings_json)
    paths = {name: Path(value) for name, value in given.items() if name != "repo"}
    settings = Settings(
        repo=given["repo"],
        cache_dir=paths["cache_dir"],
        simulated_dir=paths.get("simulated_dir"),
        connections=ConnectionRules(kubeconfig=paths.get("kubeconfig")),
    )
    with hub.open_workspace(settings) as workspace:
        arm(workspace.driver, step, time)
        workspace.runner(lambda event: None).until_settled(60.0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
