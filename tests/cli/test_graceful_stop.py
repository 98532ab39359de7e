"""SIGTERM soon ends a continuous run, whatever it waits for, and leaves no process behind: real processes,
and servers that accept and never answer."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from kubernetes.client import CoreV1Api

from tests.cli.conftest import Shell, commit, git, make_repo, tiered, with_usual_signals
from tests.realparts.control_plane import ControlPlanes

GITFLEET = [sys.executable, "-m", "gitfleet"]
END_SECONDS = 30
"""Three times what is promised, as other work on the machine must fail no test: what hangs here hangs for minutes."""
WAIT_SECONDS = 120
HANGING = "#!/bin/sh\n: >{reached}\nsleep 600 &\nwait\n"
"""A program that hangs, with a child of its own."""


class Silent:
    """A server that accepts every connection and never answers; `asked` is set once one came."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self.asked = threading.Event()
        self._kept: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                self._kept.append(self._socket.accept()[0])
                self.asked.set()

    def close(self) -> None:
        """Refuse from now on."""
        for one in (self._socket, *self._kept):
            one.close()


@pytest.fixture
def silent() -> Iterator[Silent]:
    server = Silent()
    yield server
    server.close()


def descendants(pid: int) -> set[int]:
    """The processes that a process started, and those that they started."""
    found: set[int] = set()
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in map(int, task.read_text().split()):
                found |= {child} | descendants(child)
    return found


def alive(pids: set[int]) -> set[int]:
    """Those that are there and no zombies."""
    states = {}
    for pid in pids:
        with suppress(OSError):
            states[pid] = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return {pid for pid, state in states.items() if state != "Z"}


def ended_by_sigterm(words: Sequence[str | Path], reached: Callable[[], object], before: Sequence[str] = ()) -> str:
    """Begin a run, end it once it got there, and what it said; it ended in time, with 0, and left no process."""
    process = subprocess.Popen(
        [*before, *GITFLEET, *([] if words[0] == "agent" else ["run"]), *map(str, words)],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=with_usual_signals,
    )  # fmt: skip
    try:
        deadline = time.monotonic() + WAIT_SECONDS
        while not reached():
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline, "it never came to that"
            time.sleep(0.02)
        started, began = descendants(process.pid), time.monotonic()
        process.send_signal(signal.SIGTERM)
        _, talk = process.communicate(timeout=WAIT_SECONDS)
        seconds = time.monotonic() - began
    finally:
        process.kill()
    assert process.returncode == 0, talk
    assert "Traceback" not in talk and "unexpected" not in talk, talk
    assert seconds < END_SECONDS, f"{seconds:.1f} s\n{talk}"
    deadline = time.monotonic() + END_SECONDS
    while left := alive(started):
        assert time.monotonic() < deadline, [Path(f"/proc/{pid}/cmdline").read_text() for pid in left]
        time.sleep(0.02)
    return str(talk)


def member(name: str, connection: Mapping[str, object]) -> str:
    return json.dumps(
        {
            "apiVersion": "cluster.kubernetes-fleet.io/v1",
            "kind": "MemberCluster",
            "metadata": {"name": name, "labels": {"env": "prod", "region": "eu"}},
            "spec": {"connection": connection},
        }
    )


def kubeconfig(path: Path, server: str, user: Mapping[str, object]) -> Path:
    """A kubeconfig whose context is `far`."""
    path.write_text(
        json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": "far", "cluster": {"server": server}}],
                "users": [{"name": "far", "user": user}],
                "current-context": "far",
                "contexts": [{"name": "far", "context": {"cluster": "far", "user": "far"}}],
            }
        )
    )
    return path


@pytest.fixture
def far(fleet: Path) -> Path:
    """The usual fleet with a cluster behind a kubeconfig's context `far`."""
    commit(fleet, {"clusters/far.yaml": member("far", {"context": "far"})})
    return fleet


def test_clusters_that_do_not_answer(far: Path, silent: Silent, tmp_path: Path) -> None:
    """Below tini, as in the image, where this machine has it."""
    before = ["tini", "-s", "--"] if shutil.which("tini") else []
    config = kubeconfig(tmp_path / "kubeconfig", f"https://{silent.address}", {"token": "t"})
    ended_by_sigterm([far, "--kubeconfig", config], silent.asked.is_set, before)


def hanging(path: Path) -> Path:
    """A program that hangs; the file that it makes when it is run."""
    path.parent.mkdir(exist_ok=True)
    reached = path.parent / f"{path.name}-reached"
    path.write_text(HANGING.format(reached=reached))
    path.chmod(0o755)
    return reached


MORE = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more, namespace: web}\n"


NOTIFIED = """\
apiVersion: gitfleet.dev/v1alpha1
kind: FleetConfig
metadata: {name: fleet}
spec:
  notifications:
    - {name: one, type: webhook}
    - {name: two, type: webhook}
"""
WRONG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: wrong, namespace: web}\ndata: [no mapping]\n"


def test_nobody_around_it_answers(fleet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the forge, nor the receiver of its notifications, nor the collector of its traces."""
    forge, receiver, collector = servers = [Silent(), Silent(), Silent()]
    monkeypatch.setenv("FORGE_TOKEN", "t")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://{collector.address}")
    commit(fleet, {"gitfleet.yaml": NOTIFIED, "resources/web/wrong.yaml": WRONG})
    file = tmp_path / "receiver.yaml"
    file.write_text(f"{{url: 'http://{receiver.address}/', secret: '{'s' * 20}', allowHttp: true}}")
    words = ["--forge", "gitea", "--forge-url", f"http://{forge.address}", "--forge-repo", "o/n"]
    words += ["--forge-token-env", "FORGE_TOKEN", "--notify", f"one={file}", "--notify", f"two={file}"]
    ended_by_sigterm([fleet, *words], lambda: forge.asked.is_set() and receiver.asked.is_set())
    for server in servers:
        server.close()


@pytest.mark.parametrize("silent_part", tiered({part: part for part in ("remote", "cluster")}, "cluster"))
def test_an_agent_of_which_a_part_does_not_answer(
    fleet: Path, silent: Silent, tmp_path: Path, silent_part: str
) -> None:
    config = kubeconfig(tmp_path / "kubeconfig", f"https://{silent.address}", {"token": "t"})
    repo = fleet if silent_part == "cluster" else f"http://{silent.address}/fleet.git"
    if silent_part == "cluster":
        git(fleet, "branch", "gitfleet/deliver/far")
    words = ["agent", repo, "--cluster", "far", "--context", "far", "--kubeconfig", config]
    ended_by_sigterm(words, silent.asked.is_set)


def test_git_that_hangs_with_children_of_its_own(fleet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, program = shutil.which("git"), tmp_path / "bin" / "git"
    reached = hanging(program)
    passing = f'for word in "$@"; do [ "$word" = push ] && at=1; done\n[ "$at" ] || exec {real} "$@"\n'
    program.write_text(program.read_text().replace("#!/bin/sh\n", f"#!/bin/sh\n{passing}"))
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    ended_by_sigterm([fleet], reached.exists)


OBJECTS = 150
PLACEMENT = """\
apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterResourcePlacement
metadata: {name: many}
spec:
  resourceSelectors: [{group: "", version: v1, kind: Namespace, name: many}]
  policy: {placementType: PickFixed, clusterNames: [east]}
"""


@pytest.mark.soak("crashes")
def test_an_api_server_that_stops_answering_in_the_middle_of_applying(
    gitfleet: Shell, control_planes: ControlPlanes, tmp_path: Path
) -> None:
    """What is applied already stays, and the next run goes on from there."""
    server = control_planes.start("graceful-stop")
    files = {f"resources/many/{n}.yaml": MORE.replace("more", f"m{n}").replace("web", "many") for n in range(OBJECTS)}
    files["resources/many/ns.yaml"] = "apiVersion: v1\nkind: Namespace\nmetadata: {name: many}\n"
    files |= {"placements/many.yaml": PLACEMENT, "clusters/east.yaml": member("east", {"context": "graceful-stop"})}
    repo = make_repo(tmp_path / "many", files)
    config = server.write_kubeconfig(tmp_path / "kubeconfig")
    with server.client() as client:

        def applying() -> bool:
            if len(CoreV1Api(client).list_namespaced_config_map("many", limit=20, _request_timeout=5).items) < 5:
                return False
            server.freeze()
            return True

        try:
            ended_by_sigterm([repo, "--kubeconfig", config], applying)
        finally:
            server.thaw()
        there = len(CoreV1Api(client).list_namespaced_config_map("many").items)
        assert 5 <= there < OBJECTS, "it was in the middle"
        assert gitfleet("run", "--until-settled", repo, "--kubeconfig", config).code == 0
        assert len(CoreV1Api(client).list_namespaced_config_map("many").items) == OBJECTS
    assert git(repo, "fsck", "--strict", "--no-dangling") == ""
