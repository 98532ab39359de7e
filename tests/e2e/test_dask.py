"""Clusters that workers of a Dask scheduler ask: a worker that is killed mid-way costs nothing, a scheduler that is
gone costs the passes until it is back."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from tests.e2e.manifests import config_map, member, namespace_file, placement
from tests.e2e.members import Member, Members
from tests.e2e.programs import Program, eventually
from tests.e2e.repos import ConfigRepo

pytestmark = pytest.mark.real
MANY = 60


@dataclass
class Cluster:
    """A scheduler and its workers, each a process."""

    folder: Path
    kubeconfig: Path
    port: int
    scheduler: subprocess.Popen[bytes] | None = None
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"tcp://127.0.0.1:{self.port}"

    def start_scheduler(self) -> None:
        words = ["scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard", "--no-show"]
        self.scheduler = self._start("scheduler", *words)
        eventually(self._answers, lambda: (self.folder / "scheduler.log").read_text())

    def start_worker(self, name: str) -> None:
        options = ["--no-nanny", "--no-dashboard", "--nthreads", "2", "--host", "127.0.0.1", "--death-timeout", "60"]
        options += ["--preload", "gitfleet.wiring.executor"]
        self.workers.append(self._start(name, "worker", self.address, *options, "--name", name))
        eventually(lambda: "Registered to" in self.log(name), lambda: self.log(name))

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text()

    def end(self) -> None:
        for process in (*self.workers, self.scheduler):
            if process is not None:
                process.kill()
                process.wait()

    def _answers(self) -> bool:
        with socket.socket() as tried:
            return tried.connect_ex(("127.0.0.1", self.port)) == 0

    def _start(self, name: str, *words: str) -> subprocess.Popen[bytes]:
        kept = {key: os.environ[key] for key in ("PATH", "LANG", "TMPDIR") if key in os.environ}
        home = self.folder / f"home-{name}"
        home.mkdir(parents=True, exist_ok=True)
        with (self.folder / f"{name}.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "dask", *words],
                env=kept | {"HOME": str(home), "KUBECONFIG": str(self.kubeconfig)},
                cwd=home, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip


@pytest.fixture
def dask(members: Members, tmp_path: Path) -> Iterator[Cluster]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (tmp_path / "dask").mkdir()
    found = Cluster(tmp_path / "dask", members.kubeconfig(tmp_path / "of-workers"), port)
    try:
        found.start_scheduler()
        for name in ("one", "other"):
            found.start_worker(name)
        yield found
    finally:
        found.end()


def values(one: Member, namespace: str) -> list[str]:
    objects = one.objects(namespace)
    return [content["k"] for name, content in objects.items() if name.startswith("ConfigMap/settings")]


def is_available(config: ConfigRepo) -> bool:
    conditions = config.state("placements/web.yaml")["status"]["conditions"]
    return any(one["type"].endswith("Available") and one["status"] == "True" for one in conditions)


def test_a_worker_and_the_scheduler_are_killed(
    config: ConfigRepo, program: Program, members: Members, dask: Cluster
) -> None:
    namespace = members.namespace("dask")

    def commit(value: str) -> None:
        maps = "---\n".join(config_map(namespace, f"settings-{n}", k=value) for n in range(MANY))
        config.commit({"resources/settings.yaml": maps})

    def everywhere(value: str) -> bool:
        return all(values(one, namespace) == [value] * MANY for one in members.all)

    config.commit(
        {f"clusters/{one.name}.yaml": member(one.name) for one in members.all}
        | {
            "placements/web.yaml": placement(namespace, maxUnavailable="100%"),
            "resources/n.yaml": namespace_file(namespace),
            "gitfleet.yaml": "apiVersion: gitfleet.dev/v1alpha1\nkind: FleetConfig\nmetadata: {name: fleet}\n"
            "spec: {interval: 1s, delivery: {executor: dask}}\n",
        }
    )
    # The hub itself reaches no cluster: it was given no kubeconfig.
    hub = replace(program, kubeconfig=None)
    with hub.running("--executor", f"dask={dask.address}", "-o", "jsonl") as running:
        commit("one")
        eventually(lambda: everywhere("one"), lambda: running.talk)
        commit("two")
        eventually(lambda: any("two" in values(one, namespace) for one in members.all))
        dask.workers[0].send_signal(signal.SIGKILL)
        eventually(lambda: everywhere("two"), lambda: running.talk)
        eventually(lambda: is_available(config), lambda: running.talk)
        assert "executor dask failed" not in running.talk and '"type":"failed"' not in running.talk, running.talk

        assert dask.scheduler is not None
        dask.scheduler.kill()
        commit("three")
        eventually(lambda: re.search("executor dask (failed|takes)", running.talk) is not None, lambda: running.talk)
        assert running.process.poll() is None and not any("three" in values(one, namespace) for one in members.all)
        for process in dask.workers:
            process.kill()
        dask.start_scheduler()
        dask.start_worker("third")
        eventually(lambda: everywhere("three"), lambda: running.talk)
        assert running.terminate() == 0
    assert "Traceback" not in running.talk
    parents = config.parents()
    assert parents == [0] + [1] * (len(parents) - 1)
