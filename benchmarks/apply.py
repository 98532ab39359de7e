"""Applies per second of gitfleet's cluster client against the bare connection pool under it, on one real API server.

    python -m benchmarks.apply [--objects 400] [--parallel 8] [--rounds 5]

Both send the same server-side applies of ConfigMaps through the official `kubernetes` client's pool, equally many at a
time; rounds alternate, so that the server's own state is the same for both. The last line is the ratio of the medians:
the goal is 0.85 or more. Needs the control plane that tests/realparts builds.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import orjson
from kubernetes.client import ApiClient

from gitfleet.adapters.kube import KubeClient, KubeDirectory
from gitfleet.api.clusters import Connection, MemberCluster
from gitfleet.api.objects import Manifest, Origin, key_of
from gitfleet.api.placements import PlacementKey
from gitfleet.formats.canonical_json import digest_of
from gitfleet.model.operations import Create
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


def with_gitfleet(client: KubeClient, wanted: Sequence[Manifest]) -> None:
    """All that a reconcile does to apply them: waves, paths, limits, reading the answers."""
    placement = PlacementKey("", "bench")
    outcomes = client.perform(
        [Create(cluster="bench", placement=placement, manifest=m, wave=1, reason="bench") for m in wanted]
    )
    failed = [o for o in outcomes if not o.ok]
    if failed:
        raise SystemExit(f"{len(failed)} applies failed: {failed[0].message}")


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


def rate(act: Callable[[Sequence[Manifest]], None], wanted: Sequence[Manifest]) -> float:
    """Applies per second."""
    start = time.perf_counter()
    act(wanted)
    return len(wanted) / (time.perf_counter() - start)


def measure(server: ApiServer, folder: Path, objects: int, parallel: int, rounds: int) -> tuple[float, float]:
    """Medians of applies per second: gitfleet's, and the bare client's."""
    directory = KubeDirectory(
        ConnectionRules(kubeconfig=server.write_kubeconfig(folder / "kubeconfig")), parallel=parallel
    )
    client = directory.client(MemberCluster(name="bench", connection=Connection(context=server.name)))
    bare = server.client()
    bare.rest_client.pool_manager.connection_pool_kw["maxsize"] = parallel
    spaces = (server.make_namespace("ours"), server.make_namespace("bare"))
    ours: list[float] = []
    theirs: list[float] = []
    for number in range(rounds + 1):
        one = rate(lambda wanted: with_gitfleet(client, wanted), manifests(spaces[0], objects, str(number)))
        other = rate(
            lambda wanted: with_the_bare_client(bare, server.token, parallel, wanted),
            manifests(spaces[1], objects, str(number)),
        )
        if number:  # the first round opens the connections and creates the objects
            ours.append(one)
            theirs.append(other)
            print(f"round {number}: gitfleet {one:.0f}/s, bare client {other:.0f}/s", flush=True)
    directory.close()
    return statistics.median(ours), statistics.median(theirs)


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--objects", type=int, default=400)
    parser.add_argument("--parallel", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with ControlPlanes() as planes, tempfile.TemporaryDirectory(prefix="gitfleet-bench-") as folder:
        ours, theirs = measure(planes.start("bench"), Path(folder), options.objects, options.parallel, options.rounds)
    print(f"gitfleet {ours:.0f} applies/s, bare client {theirs:.0f} applies/s, ratio {ours / theirs:.2f}")


if __name__ == "__main__":
    main()
