"""From a webhook to the change applied on three real clusters, phase by phase, beside bare git and bare API servers.

    python -m benchmarks.webhook_to_applied [--rounds 9]

A `gitfleet run --listen --webhook` is a process of its own, the remote is git over HTTP, the clusters are real
kube-apiservers, watched by the official client. Each round pushes a commit that changes one ConfigMap, sends a signed
webhook, and takes the phases from the traces that the process sends. In between, the least that any program must do is
timed: fetch the commit, push one of its own, apply on three clusters at once. Goal: gitfleet takes at most 3 times as
long. Needs what tests/realparts builds.
"""

from __future__ import annotations

import argparse
import hmac
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from kubernetes import watch
from kubernetes.client import CoreV1Api, V1Namespace, V1ObjectMeta
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from urllib3.exceptions import ProtocolError

from benchmarks.goals import Goals
from tests.e2e.manifests import config_map, member, namespace_file, placement, text
from tests.e2e.members import Members
from tests.e2e.repos import ConfigRepo, git
from tests.realparts.control_plane import ControlPlanes
from tests.realparts.git_http import GitHttpServer
from tests.scenarios.test_tracing import collecting

CLUSTERS: Final = ("c1", "c2", "c3")
NAMESPACE, BARE = "web", "bare"
SECRET: Final = "a secret of a benchmark"
REQUESTS: Final = "requests to git until then"
_LONGEST: Final = 60.0
_FLEET: Final = {
    "apiVersion": "gitfleet.dev/v1alpha1",
    "kind": "FleetConfig",
    "metadata": {"name": "bench"},
    "spec": {"interval": "1h"},
}


@dataclass
class Applied:
    """When each cluster had each value, in seconds since 1970."""

    at: dict[tuple[str, str], float] = field(default_factory=dict)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def follow(self, cluster: str, core: CoreV1Api) -> None:
        """Watch the ConfigMap of a cluster for as long as the process lives."""
        stream = watch.Watch().stream(core.list_config_map_for_all_namespaces, field_selector="metadata.name=settings")
        with suppress(ProtocolError):  # the servers end before the process does
            for event in stream:
                value = (event["object"].data or {}).get("k", "")
                with self.changed:
                    self.at.setdefault((cluster, value), time.time())
                    self.changed.notify_all()

    def everywhere(self, value: str) -> float:
        """Wait until all clusters have a value; when the last one had it."""
        keys = [(cluster, value) for cluster in CLUSTERS]
        with self.changed:
            if not self.changed.wait_for(lambda: all(key in self.at for key in keys), _LONGEST):
                raise SystemExit(f"{value} was not applied on all clusters within {_LONGEST:g} s")
            return max(self.at[key] for key in keys)


def phases_since(got: Sequence[ExportTraceServiceRequest], since: float) -> dict[str, tuple[float, float]]:
    """Begin and end of the phases of the first reconcile after a moment that performed something, by name."""
    spans = [span for one in got for of in one.resource_spans for scope in of.scope_spans for span in scope.spans]
    roots = sorted(
        (span.start_time_unix_nano, span.trace_id)
        for span in spans
        if span.name == "reconcile" and span.end_time_unix_nano / 1e9 > since
    )
    for _, trace in roots:
        mine = [span for span in spans if span.trace_id == trace]
        if any(span.name == "perform" and _of_cluster(span) for span in mine):
            own = [span for span in mine if not _of_cluster(span)]
            return {span.name: (span.start_time_unix_nano / 1e9, span.end_time_unix_nano / 1e9) for span in own}
    return {}


def _of_cluster(span: Any) -> bool:
    return any(one.key == "gitfleet.cluster" for one in span.attributes)


@contextmanager
def running(repo: str, home: Path, kubeconfig: Path, endpoint: str) -> Iterator[str]:
    """gitfleet as a pod has it; where it listens."""
    secret, log = home / "secret", home / "log"
    secret.write_text(SECRET)
    words = ["run", repo, "--cache-dir", str(home / "cache"), "--kubeconfig", str(kubeconfig), "--log-format", "json"]
    words += ["--listen", "127.0.0.1:0", "--webhook", f"generic={secret}"]
    environment = {**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_BSP_SCHEDULE_DELAY": "100"}
    with log.open("w") as sink:
        process = subprocess.Popen(
            [sys.executable, "-m", "gitfleet", *words], env=environment, stdout=subprocess.DEVNULL, stderr=sink
        )
    try:
        until(lambda: "listening on" in log.read_text() and log.read_text().endswith("\n"), log.read_text)
        lines = [json.loads(line)["message"] for line in log.read_text().splitlines()]
        yield "http://" + next(line for line in lines if "listening on" in line).removeprefix("listening on ")
    finally:
        process.terminate()
        process.wait(30)


def until(what: Callable[[], bool], why: Callable[[], str] = str) -> None:
    """Wait until something is so."""
    end = time.monotonic() + _LONGEST
    while not what():
        if time.monotonic() > end:
            raise SystemExit(f"not within {_LONGEST:g} s: {why()}")
        time.sleep(0.05)


def notify(url: str) -> float:
    """Send the signed webhook; when it was sent."""
    body = b"{}"
    headers = {"X-Signature": f"sha256={hmac.new(SECRET.encode(), body, 'sha256').hexdigest()}"}
    sent = time.time()
    with urllib.request.urlopen(urllib.request.Request(f"{url}/webhook/generic", body, headers), timeout=30) as answer:
        assert answer.status == 202
    return sent


def quiet(url: str) -> bool:
    """Whether nothing moves any more."""
    with urllib.request.urlopen(f"{url}/metrics", timeout=30) as page:
        return 'gitfleet_reconciles_total{outcome="unchanged"}' in page.read().decode()


class Bare:
    """The least that must be done: git by its program, and one server-side apply for each cluster, all at once."""

    def __init__(self, url: str, folder: Path, members: Members) -> None:
        self.mirror, self.url, self._threads = folder / "mirror.git", url, ThreadPoolExecutor(len(CLUSTERS))
        git(folder, "clone", "--quiet", "--bare", url, str(self.mirror))
        self._clients = [CoreV1Api(one.server.client()) for one in members.all]
        for core in self._clients:
            core.create_namespace(V1Namespace(metadata=V1ObjectMeta(name=BARE)))

    def round(self, value: str) -> dict[str, float]:
        """Seconds of each part; the commit to fetch is there already."""
        began = time.perf_counter()
        git(self.mirror, "fetch", "--quiet", self.url, "main")
        fetched = time.perf_counter()
        git(self.mirror, "push", "--quiet", self.url, f"FETCH_HEAD:refs/heads/bare/{value}")
        pushed = time.perf_counter()
        list(self._threads.map(lambda core: self._apply(core, value), self._clients))
        return {
            "git fetch": fetched - began,
            "git push": pushed - fetched,
            "apply on 3 clusters": time.perf_counter() - pushed,
        }

    @staticmethod
    def _apply(core: CoreV1Api, value: str) -> None:
        name = "settings-bare"
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"k": value}}
        core.patch_namespaced_config_map(
            name, BARE, body, field_manager="bare", force=True, _content_type="application/apply-patch+yaml"
        )


def measured(rounds: int, folder: Path, stack: ExitStack) -> tuple[list[dict[str, float]], list[dict[str, float]]]:
    """Seconds of each part of each round: ours, and bare."""
    planes = stack.enter_context(ControlPlanes())
    members = Members(planes.start_many(CLUSTERS))
    server = stack.enter_context(GitHttpServer(folder / "hub"))
    repo = ConfigRepo(server.create("fleet"), folder / "work")
    files = {f"clusters/{name}.yaml": member(name) for name in CLUSTERS}
    files |= {"gitfleet.yaml": text(_FLEET), "placements/web.yaml": placement(NAMESPACE, maxUnavailable="100%")}
    repo.commit({**files, "resources/web.yaml": change("start")})
    applied = Applied()
    for one in members.all:
        core = CoreV1Api(one.server.client())
        threading.Thread(target=applied.follow, args=(one.name, core), daemon=True).start()
    endpoint, got, _ = stack.enter_context(collecting())
    kubeconfig = members.kubeconfig(folder / "kubeconfig")
    url = stack.enter_context(running(server.url("fleet"), folder, kubeconfig, endpoint))
    applied.everywhere("start")
    until(lambda: quiet(url))
    bare, ours, least = Bare(server.url("fleet"), folder, members), list[dict[str, float]](), list[dict[str, float]]()
    for number in range(rounds + 1):
        value = f"round-{number}"
        repo.commit({"resources/web.yaml": change(value)})
        before = len(server.requests)
        sent = notify(url)
        everywhere = applied.everywhere(value)
        asked = len(server.requests) - before
        until(lambda sent=sent: "publish_report" in phases_since(got, sent))  # type: ignore[misc]  # bound at once
        phases = phases_since(got, sent)
        time.sleep(3)  # what follows a rollout must not be at work beside the bare round
        before = len(server.requests)
        least.append(bare.round(value) | {REQUESTS: len(server.requests) - before})
        began = phases["fetch"][0]
        found = {"webhook until the loop wakes": max(0.0, began - sent)}
        found |= {name: end - start for name, (start, end) in phases.items() if name not in ("reconcile", "finish")}
        ours.append({**found, "webhook to applied": everywhere - sent, REQUESTS: asked})
    return ours[1:], least[1:]  # the first round fills caches


def change(value: str) -> str:
    """The payload with a value."""
    return namespace_file(NAMESPACE) + "---\n" + config_map(NAMESPACE, k=value)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=9)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        ours, bare = measured(given.rounds, Path(folder), stack)
    print(f"milliseconds, median of {given.rounds} rounds (least, most)")
    for title, rows in (("gitfleet", ours), ("bare", bare)):
        print(title)
        for name in rows[0]:
            values = [row[name] * (1 if name == REQUESTS else 1000) for row in rows]
            print(f"  {name:32} {statistics.median(values):8.0f} ({min(values):.0f}, {max(values):.0f})")
    whole = statistics.median(row["webhook to applied"] for row in ours)
    least = statistics.median(sum(row.values()) - row[REQUESTS] for row in bare)
    print(f"webhook to applied {1000 * whole:.0f}, bare git and API servers {1000 * least:.0f}")
    print(f"overhead {1000 * (whole - least):.0f} ms")
    goals = Goals()
    goals.at_most("webhook to applied, times bare git and API servers", whole / least, 3)
    goals.end()


if __name__ == "__main__":
    main()
