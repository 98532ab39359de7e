"""kustomize reaches nobody: neither what a repo makes it fetch, nor a program in its place."""

from __future__ import annotations

import base64
import logging
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from gitfleet.adapters import hermetic
from gitfleet.adapters.kustomize import KustomizeProgram
from gitfleet.branches.desired_trees import DesiredTrees
from gitfleet.errors import BadInput
from gitfleet.settings import Limits
from gitfleet.simulation.memory_cache import MemoryCache
from gitfleet.simulation.memory_repo import MemoryRepo
from tests.adapters.test_kustomize import needs_program
from tests.branches.commits import MOMENT, config_map
from tests.payload.kustomizations import builds_with
from tests.payload.test_kustomize import APP, Fleet


def kernel_has_namespaces() -> bool:
    """Asked of the kernel: what is tested does not say whether its tests run."""
    ways = (["unshare", "--user", "--net", "true"], ["unshare", "--net", "true"])
    return shutil.which("unshare") is not None and any(
        subprocess.run(way, capture_output=True, check=False).returncode == 0 for way in ways
    )


needs_namespaces = pytest.mark.skipif(
    not kernel_has_namespaces(), reason="this kernel allows no network namespace here"
)


@contextmanager
def listening() -> Iterator[tuple[str, list[str]]]:
    """An HTTP server on the loopback address that serves a ConfigMap: its URL, and what it was asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(config_map("fetched").encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()


ATTACKS = {
    "a remote base by a key in another case": {"kustomization.yaml": "Resources: ['URL/a.yaml']\n"},
    "a patch by a key in another case": {"kustomization.yaml": "resources: [c.yaml]\npatches: [{Path: 'URL/a'}]\n"},
    "a path with braces": {"kustomization.yaml": "resources: [c.yaml]\npatchesStrategicMerge: ['URL/{x}']\n"},
    "an inline transformer": {
        "kustomization.yaml": 'resources: [c.yaml]\ntransformers: ["apiVersion: builtin\\nkind: PatchTransformer\\n'
        "metadata: {name: x}\\nPath: 'URL/t.yaml'\\n\"]\n"
    },
    "a transformer in a file": {
        "kustomization.yaml": "resources: [c.yaml]\ntransformers: [t.yaml]\n",
        "t.yaml": "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: x}\nPath: 'URL/t.yaml'\n",
    },
    "a list of transformers": {
        "kustomization.yaml": "resources: [c.yaml]\ntransformers: [t.yaml]\n",
        "t.yaml": "kind: List\napiVersion: v1\nitems:\n"
        "- {apiVersion: builtin, kind: PatchTransformer, metadata: {name: x}, path: 'URL/t.yaml'}\n",
    },
    "a git remote": {
        "kustomization.yaml": "resources: [me@127.0.0.1/o/r]\n",
        "me@127.0.0.1/o/r/kustomization.yaml": "resources: [c.yaml]\n",
        "me@127.0.0.1/o/r/c.yaml": config_map("c"),
    },
    "a tagged text": {"kustomization.yaml": "resources: [!!binary B64]\n", "B64": config_map("c")},
    "a component": {"kustomization.yaml": "Components: ['URL//c?ref=v1']\n"},
}


@needs_program
@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_is_fetched_from_loopback(attack: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # The refusal alone has to be enough: many containers allow no namespaces.
    monkeypatch.setattr(hermetic, "network_cut", lambda: ())
    with listening() as (url, asked):
        encoded = base64.b64encode(f"{url}/b".encode()).decode()
        files = {
            f"{APP}/{path.replace('B64', encoded)}": text.replace("URL", url).replace("B64", encoded)
            for path, text in ATTACKS[attack].items()
        }
        repo = MemoryRepo()
        commit = repo.commit_files("main", {f"{APP}/c.yaml": config_map("c"), **files}, MOMENT)
        trees = DesiredTrees(repo, MemoryCache(), Limits(), builds=builds_with(KustomizeProgram()))
        desired = trees.at(commit, Fleet().state)
    assert asked == []
    assert len(desired.faults) == 1 and "kustomize says" not in str(desired.faults[0])
    assert desired.payload == ()


@needs_program
@needs_namespaces
def test_the_program_itself_has_no_network() -> None:
    with listening() as (url, asked), pytest.raises(BadInput):
        KustomizeProgram().build("k", {"k/kustomization.yaml": f"resources: ['{url}/a.yaml']\n".encode()})
    assert asked == []


@needs_namespaces
def test_whatever_runs_as_kustomize_has_no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "kustomize"
    with listening() as (url, asked):
        lines = (
            f"#!{sys.executable}",
            "from urllib.request import ProxyHandler, build_opener",
            f"build_opener(ProxyHandler({{}})).open('{url}/x', timeout=5)",
        )
        path.write_text("\n".join(lines))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(BadInput, match="unreachable"):
            KustomizeProgram().build("k", {"k/kustomization.yaml": b""})
        assert asked == []
        monkeypatch.setattr(hermetic, "network_cut", lambda: ())
        KustomizeProgram().build("k", {"k/kustomization.yaml": b""})
        assert asked == ["/x"], "the same program does reach it otherwise"


def test_where_no_namespace_can_be_made_it_says_so_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "kustomize"
    path.write_text("#!/bin/sh\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(hermetic, "network_cut", lambda: ())
    program = KustomizeProgram()
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            program.build("k", {"k/kustomization.yaml": b""})
    assert [record.getMessage().partition(",")[0] for record in caplog.records] == [
        "kustomize runs with the network of this process"
    ]
