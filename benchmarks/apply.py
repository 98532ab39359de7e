"""Applies per second of gitfleet's cluster client against the bare connection pool under it, on one real API server.

    python -m benchmarks.apply [--objects 100] [--parallel 8] [--rounds 20]

Both send the same server-side applies of ConfigMaps through the official `kubernetes` client's pool, equally many at a
time; they alternate, so that the server's own state is the same for both. As a reconcile does, each round makes new
objects and then updates what it made. Goals, for the ratios over all rounds: 0.85 or more, for objects that are made
and for updates. Needs the control plane that tests/realparts builds.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
from kubernetes.client import ApiClient

from benchmarks.goals import Goals
from gitfleet.adapters.kube import KubeClient, KubeDirectory
from gitfleet.api.clusters import Connection, MemberCluster
from gitfleet.api.objects import Manifest, ObjectKey, Origin, key_of
from gitfleet.api.placements import PlacementKey
from gitfleet.formats.canonical_json import digest_of
from gitfleet.model.observations import LiveObject
from gitfleet.model.operations import Create, Update
from gitfleet.settings import ConnectionRules
from tests.realparts.control_plane import ApiServer, ControlPlanes


def manifests(namespace: str, count: int, value: str) -> list[Manifest]:
    """ConfigMaps of about a kilobyte."""
    made = []
    for number in range(count):
        body: dict[str, Any] = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": f"cm-{number:05}", "namespace": namespace, "labels": {"app": "bench"}},
            "data": {"value": value, "filling": "x" * 900},
        }
        made.append(Manifest(key_of(body), body, digest_of(body), Origin("bench.yaml", 1)))
    return made


@dataclass
class Gitfleet:
    """All that a reconcile does to apply manifests: waves, paths, limits, reading the answers."""

    client: KubeClient
    live: dict[ObjectKey, LiveObject] = field(default_factory=dict)

    def apply(self, wanted: Sequence[Manifest]) -> None:
        """Make what is not there yet, and update what is."""
        outcomes = self.client.perform([self._operation(manifest) for manifest in wanted])
        failed = [o for o in outcomes if not o.ok]
        if failed:
            raise SystemExit(f"{len(failed)} applies failed: {failed[0].message}")
        self.live = {o.live.key: o.live for o in outcomes if o.live is not None}

    def _operation(self, manifest: Manifest) -> Create | Update:
        placement, live = PlacementKey("", "bench"), self.live.get(manifest.key)
        if live is None:
            return Create(cluster="bench", placement=placement, manifest=manifest, wave=1, reason="bench")
        return Update(cluster="bench", placement=placement, manifest=manifest, wave=1, reason="bench", live=live)


def with_the_bare_client(client: ApiClient, token: str, parallel: int, wanted: Sequence[Manifest]) -> None:
    """The least that applies them: a request for each, its answer read."""
    pool = client.rest_client.pool_manager
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/apply-patch+yaml"}

    def apply(manifest: Manifest) -> None:
        key = manifest.key
        url = f"{client.configuration.host}/api/v1/namespaces/{key.namespace}/configmaps/{key.name}"
        answer = pool.request(
            "PATCH",
            f"{url}?fieldManager=bare&force=true&fieldValidation=Strict",
            body=orjson.dumps(manifest.body),
            headers=headers,
        )
        if answer.status >= 300:
            raise SystemExit(f"the bare client failed: {answer.status}")
        orjson.loads(answer.data)

    with ThreadPoolExecutor(parallel) as threads:
        list(threads.map(apply, wanted))


def took(act: Callable[[Sequence[Manifest]], None], wanted: Sequence[Manifest]) -> float:
    """Seconds that it took to apply them."""
    start = time.perf_counter()
    act(wanted)
    return time.perf_counter() - start


def measure(server: ApiServer, folder: Path, objects: int, parallel: int, rounds: int) -> tuple[float, float]:
    """The ratios of gitfleet's applies per second to the bare client's: of objects that are made, and of updates."""
    directory = KubeDirectory(
        ConnectionRules(kubeconfig=server.write_kubeconfig(folder / "kubeconfig")), parallel=parallel
    )
    client = directory.client(MemberCluster(name="bench", connection=Connection(context=server.name)))
    bare = server.client()
    bare.rest_client.pool_manager.connection_pool_kw["maxsize"] = parallel
    gitfleet, warm = Gitfleet(client), manifests("default", parallel, "warm")

    def theirs(wanted: Sequence[Manifest]) -> None:
        with_the_bare_client(bare, server.token, parallel, wanted)

    gitfleet.apply(warm)  # opens the connections
    theirs(warm)
    seconds = {what: {"gitfleet": 0.0, "bare client": 0.0} for what in ("create", "update")}
    for number in range(1, rounds + 1):
        spaces = {"gitfleet": server.make_namespace(), "bare client": server.make_namespace()}
        for what, sums in seconds.items():
            # Whoever is first in a new namespace has a disadvantage.
            for who in list(sums)[:: 1 if number % 2 else -1]:
                wanted = manifests(spaces[who], objects, what)
                sums[who] += took(gitfleet.apply if who == "gitfleet" else theirs, wanted)
    for what, sums in seconds.items():
        rates = [f"{who} {objects * rounds / spent:.0f}/s" for who, spent in sums.items()]
        print(f"{what}: {', '.join(rates)}", flush=True)
    directory.close()
    made, updated = (sums["bare client"] / sums["gitfleet"] for sums in seconds.values())
    return made, updated


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--objects", type=int, default=100)
    parser.add_argument("--parallel", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    with ControlPlanes() as planes, tempfile.TemporaryDirectory(prefix="gitfleet-bench-") as folder:
        server = planes.start("bench")
        made, updated = measure(server, Path(folder), options.objects, options.parallel, options.rounds)
    goals = Goals()
    goals.at_least("creates per second, ratio to the bare client", made, 0.85)
    goals.at_least("updates per second, ratio to the bare client", updated, 0.85)
    goals.end()


if __name__ == "__main__":
    main()
