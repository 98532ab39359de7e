"""Two real `gitfleet run` and one Lease on a real API server: one reconciles, the other takes its place when it is
killed, ended or suspended; and who lost its lease in the middle of its work writes nothing any more."""

from __future__ import annotations

import re
import signal
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from kubernetes.client import CoreV1Api

from tests.e2e.manifests import config_map, member, namespace_file, placement
from tests.e2e.members import Member, Members
from tests.e2e.programs import Program, Running, eventually
from tests.e2e.repos import ConfigRepo

pytestmark = pytest.mark.real
SECONDS = 3
"""Of a lease; one of 15 would only make the tests wait longer."""


@dataclass(frozen=True)
class Hub:
    """A process that runs, and what it answers over HTTP."""

    running: Running

    def ask(self, path: str) -> tuple[int, str]:
        found = re.search(r"listening on (\S+)", self.running.talk)
        if found is None:
            return 0, "it does not listen yet"
        try:
            with urllib.request.urlopen(f"http://{found[1]}{path}", timeout=10) as response:
                return response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError as error:
            return 0, str(error)

    @property
    def leads(self) -> bool:
        return "gitfleet_leader 1.0" in self.ask("/metrics")[1]

    @property
    def stands_by(self) -> bool:
        return "gitfleet_leader 0.0" in self.ask("/metrics")[1]

    def send(self, number: signal.Signals) -> None:
        self.running.process.send_signal(number)


@dataclass(frozen=True)
class Stage:
    """A repo, the clusters of it, and how to start a hub."""

    config: ConfigRepo
    program: Program
    clusters: tuple[Member, ...]
    namespace: str
    kubeconfig: Path

    def commit(self, value: str, objects: int = 1) -> None:
        maps = "---\n".join(config_map(self.namespace, f"settings-{n}", k=value) for n in range(objects))
        self.config.commit({"resources/settings.yaml": maps})

    def has(self, value: str, objects: int = 1) -> bool:
        return all(self.values(one) == {value: objects} for one in self.clusters)

    def values(self, one: Member) -> dict[str, int]:
        """How many of the objects have which value."""
        found: dict[str, int] = {}
        for name, content in one.objects(self.namespace).items():
            if name.startswith("ConfigMap/settings"):
                found[content["k"]] = found.get(content["k"], 0) + 1
        return found

    @contextmanager
    def hub(self, name: str) -> Iterator[Hub]:
        program = replace(self.program, home=self.program.home / name, kubeconfig=self.kubeconfig)
        lease = f"{self.namespace}/gitfleet"
        options = ("--leader-election", lease, "--lease-duration", str(SECONDS), "--listen", "127.0.0.1:0")
        with program.running(*options) as running:
            yield Hub(running)


@pytest.fixture
def stage(config: ConfigRepo, program: Program, members: Members, tmp_path: Path) -> Stage:
    clusters = members.all[:2]
    namespace = members.namespace("election")
    # The lease lies in the first cluster of the kubeconfig, and the namespace with it is made by hand.
    with members.all[3].server.client() as client:
        CoreV1Api(client).create_namespace({"metadata": {"name": namespace}})  # type: ignore[arg-type] # the client takes both
    kubeconfig = members.kubeconfig(tmp_path / "with-current")
    text = kubeconfig.read_text()
    kubeconfig.write_text(
        text.replace('"kind": "Config"', f'"kind": "Config", "current-context": "{members.all[3].name}"')
    )
    config.commit(
        {f"clusters/{one.name}.yaml": member(one.name) for one in clusters}
        | {
            "placements/web.yaml": placement(namespace),
            "resources/n.yaml": namespace_file(namespace),
            "gitfleet.yaml": "apiVersion: gitfleet.dev/v1alpha1\nkind: FleetConfig\nmetadata: {name: fleet}\n"
            "spec: {interval: 1s}\n",
        }
    )
    return Stage(config, program, clusters, namespace, kubeconfig)


def test_killed_ended_and_suspended_leaders(stage: Stage) -> None:
    with ExitStack() as stack:
        a = stack.enter_context(stage.hub("a"))
        eventually(lambda: a.leads, lambda: a.running.talk)
        b = stack.enter_context(stage.hub("b"))
        eventually(lambda: b.stands_by, lambda: b.running.talk)
        stage.commit("one")
        eventually(lambda: stage.has("one"))
        assert (a.ask("/readyz")[0], b.ask("/readyz"), b.ask("/healthz")) == (200, (200, "ok\n"), (200, "ok\n"))
        assert "standing by" in b.running.talk and a.leads and b.stands_by
        assert "gitfleet_clusters" not in b.ask("/metrics")[1] and "reconciles_total{" not in b.ask("/metrics")[1]

        a.send(signal.SIGKILL)
        stage.commit("two")
        eventually(lambda: stage.has("two"), lambda: b.running.talk)
        assert b.leads

        c = stack.enter_context(stage.hub("c"))
        eventually(lambda: c.stands_by, lambda: c.running.talk)
        b.send(signal.SIGSTOP)
        stage.commit("three")
        eventually(lambda: stage.has("three"), lambda: c.running.talk)
        b.send(signal.SIGCONT)
        eventually(lambda: b.stands_by, lambda: b.running.talk)
        assert c.leads

        ended = time.monotonic()
        assert c.running.terminate() == 0
        assert "is released" in c.running.talk
        eventually(lambda: b.leads, lambda: b.running.talk)
        assert time.monotonic() - ended < 100, "it is only to be seen that it takes over"
        stage.commit("four")
        eventually(lambda: stage.has("four"), lambda: b.running.talk)
    parents = stage.config.parents()
    assert parents == [0] + [1] * (len(parents) - 1)


@pytest.mark.soak("crashes")
def test_suspended_in_the_middle_of_performing(stage: Stage) -> None:
    """With many objects under way, the leader is suspended until another one has brought a newer commit everywhere;
    then it goes on, and not one object is written again."""
    many = 200
    with stage.hub("a") as a, stage.hub("b") as b:
        eventually(lambda: a.leads or b.leads)
        first, other = (a, b) if a.leads else (b, a)
        stage.commit("old", many)
        eventually(lambda: any(stage.values(one).get("old", 0) >= 20 for one in stage.clusters))
        first.send(signal.SIGSTOP)
        begun = [stage.values(one).get("old", 0) for one in stage.clusters]
        assert 20 <= sum(begun) < len(begun) * many, f"it was not in the middle: {begun}"
        stage.commit("new", many)
        eventually(lambda: stage.has("new", many), lambda: other.running.talk)
        head = settled_head(stage.config)
        versions = [versions_of(one, stage.namespace) for one in stage.clusters]
        first.send(signal.SIGCONT)
        eventually(lambda: first.stands_by and "standing by" in first.running.talk, lambda: first.running.talk)
        time.sleep(1.0)  # whatever it still had in hand
        assert [versions_of(one, stage.namespace) for one in stage.clusters] == versions
        assert stage.config.head() == head
        assert other.leads and "Traceback" not in first.running.talk


def versions_of(one: Member, namespace: str) -> dict[str, str]:
    with one.server.client() as client:
        found = CoreV1Api(client).list_namespaced_config_map(namespace)
    bodies: list[Any] = found.items
    return {item.metadata.name: item.metadata.resource_version for item in bodies}


def settled_head(config: ConfigRepo) -> str | None:
    """The head of the state branch once it no longer moves."""
    head, since = config.head(), time.monotonic()
    while time.monotonic() - since < 3.0:
        if config.head() != head:
            head, since = config.head(), time.monotonic()
        time.sleep(0.1)
    return head
