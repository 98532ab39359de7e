"""Generated fleets for `benchmarks.fleet`: a config repo of a chosen size, and clusters in memory that cost little.

The clusters answer at the port that the loop asks (gitfleet.ports.clusters), as an API server would that accepts
everything: a UID, a resourceVersion and managedFields of its own for every object. What they cost is measured apart.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.objects import Manifest, ObjectKey
from gitfleet.model.observations import ClusterObservation, DryRun, LiveObject
from gitfleet.model.operations import Create, Delete, Outcome, OutcomeCode, RolloutOutcome, RolloutWrite, Update

PICKED = 100
"""How many clusters a PickN placement of a generated fleet picks."""
STAMP = "2026-01-01T00:00:00Z"


@dataclass(frozen=True)
class Size:
    """clusters x placements x manifests; with `pick_all` every placement is on every cluster, else on PICKED of them.

    Each placement selects a namespace of its own with an equal share of the manifests.
    """

    clusters: int
    placements: int
    manifests: int
    pick_all: bool = False

    @classmethod
    def parse(cls, text: str) -> Size:
        """From `100x10x200` or `100x10x20:all`; ValueError for anything else."""
        numbers, _, policy = text.partition(":")
        clusters, placements, manifests = (int(number) for number in numbers.split("x"))
        if policy not in ("", "all") or manifests < placements:
            raise ValueError(f"{text} is no size")
        return cls(clusters, placements, manifests, pick_all=policy == "all")

    def __str__(self) -> str:
        return f"{self.clusters}x{self.placements}x{self.manifests}{':all' if self.pick_all else ''}"

    @property
    def per_placement(self) -> int:
        """The manifests of one placement, its namespace included."""
        return self.manifests // self.placements

    @property
    def bindings(self) -> int:
        """How many bindings the settled fleet has."""
        return self.placements * (self.clusters if self.pick_all else min(PICKED, self.clusters))

    @property
    def objects(self) -> int:
        """How many objects stand on the clusters of the settled fleet."""
        return self.bindings * self.per_placement

    @property
    def things(self) -> int:
        """Everything that the fleet consists of: what exponents are taken over."""
        return self.clusters + self.placements + self.manifests + self.bindings + self.objects

    def files(self) -> dict[str, str]:
        """The config repo, path to text."""
        files = {f"clusters/c{n:05}.yaml": member_cluster(n) for n in range(self.clusters)}
        for place in range(self.placements):
            name = f"app-{place:04}"
            files[f"placements/{name}.yaml"] = self._placement(name)
            files[f"resources/{name}/namespace.yaml"] = namespace(name, name)
            for number in range(self.per_placement - 1):
                files[f"resources/{name}/settings-{number}.yaml"] = config_map(name, number, "first")
        return files

    def edit(self) -> dict[str, str]:
        """Another value in one manifest (or another label where a placement has its namespace alone)."""
        if self.per_placement > 1:
            return {"resources/app-0000/settings-0.yaml": config_map("app-0000", 0, "second")}
        return {"resources/app-0000/namespace.yaml": namespace("app-0000", "second")}

    def _placement(self, name: str) -> str:
        count = min(PICKED, self.clusters)
        pick = "placementType: PickAll" if self.pick_all else f"placementType: PickN\n    numberOfClusters: {count}"
        return placement(name, pick, "type: RollingUpdate\n    rollingUpdate: {maxUnavailable: 25%}")


def placement(name: str, policy: str, strategy: str) -> str:
    """A placement of the namespace of its name."""
    return (
        "apiVersion: placement.kubernetes-fleet.io/v1beta1\nkind: ClusterResourcePlacement\n"
        f"metadata:\n  name: {name}\nspec:\n  resourceSelectors:\n"
        f'    - {{group: "", version: v1, kind: Namespace, name: {name}}}\n'
        f"  policy:\n    {policy}\n  strategy:\n    {strategy}\n"
    )


def namespace(name: str, app: str) -> str:
    """A Namespace with a label."""
    return f"apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {name}\n  labels: {{app: {app}}}\n"


def member_cluster(number: int) -> str:
    """One of the clusters in memory."""
    labels = f"{{region: region-{number % 10}, zone: zone-{number % 30}, tier: {'prod' if number % 5 else 'canary'}}}"
    return (
        "apiVersion: cluster.kubernetes-fleet.io/v1beta1\nkind: MemberCluster\n"
        f"metadata:\n  name: c{number:05}\n  labels: {labels}\nspec:\n  connection: {{simulated: true}}\n"
    )


def config_map(namespace: str, number: int, value: str) -> str:
    """A ConfigMap of about half a kilobyte."""
    data = "\n".join(f"  key-{line}: {value}-{number}-{line}-of-the-settings-of-{namespace}" for line in range(8))
    return (
        f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings-{number}\n  namespace: {namespace}\n"
        f"data:\n{data}\n"
    )


def commit_files(repo: Path, files: dict[str, str], branch: str = "main") -> None:
    """Put files on a branch of a bare repository, without a work tree."""
    ref = f"refs/heads/{branch}"
    lines = [f"commit {ref}".encode(), b"committer b <b@example.com> now", b"data 4\nedit"]
    if (repo / ref).exists():
        lines.append(f"from {ref}^0".encode())
    for path, text in files.items():
        data = text.encode()
        lines.append(b"M 100644 inline %s\ndata %d\n%s" % (path.encode(), len(data), data))
    subprocess.run(
        ["git", "fast-import", "--quiet", "--date-format=now"], cwd=repo, input=b"\n".join(lines) + b"\n", check=True
    )


@dataclass
class SteppedClock:
    """A Clock that advances only when asked to, so that a rollout takes the same passes on every machine."""

    moment: datetime = datetime(2026, 1, 1, tzinfo=UTC)
    seconds: float = 0.0

    def now(self) -> datetime:
        """The present moment, UTC."""
        return self.moment

    def monotonic(self) -> float:
        """Seconds since the start."""
        return self.seconds

    def advance(self, seconds: float) -> None:
        """Go on."""
        self.moment += timedelta(seconds=seconds)
        self.seconds += seconds


@dataclass
class LightCluster:
    """One cluster that accepts whatever is applied; what is applied is available at once."""

    name: str
    clock: SteppedClock
    objects: dict[ObjectKey, LiveObject] = field(default_factory=dict)
    spaces: dict[str, str] = field(default_factory=lambda: {"default": "", "kube-system": ""})
    version: int = 0

    def observe(self, keys: Collection[ObjectKey], *, probe: bool = True) -> ClusterObservation:
        """ClusterReader.observe."""
        live = {key: self.objects.get(key) for key in keys}
        spaces = self.spaces if probe else None
        return ClusterObservation(
            cluster=self.name, reachable=True, observed=self.clock.now(), live=live, namespaces=spaces
        )

    def dry_run(self, questions: Sequence[tuple[Manifest, LiveObject]]) -> Sequence[DryRun]:
        """ClusterReader.dry_run."""
        return [DryRun(live.body, manifest.body) for manifest, live in questions]

    def perform(self, operations: Sequence[Create | Update | Delete]) -> Sequence[Outcome]:
        """ClusterWriter.perform."""
        return [self._delete(o) if isinstance(o, Delete) else self._apply(o) for o in operations]

    def pods(self, workloads: Sequence[LiveObject]) -> Mapping[ObjectKey, tuple[LiveObject, ...]]:
        """ClusterReader.pods: there are none."""
        return {one.key: () for one in workloads}

    def perform_steps(self, steps: Sequence[RolloutWrite]) -> Sequence[RolloutOutcome]:
        """ClusterWriter.perform_steps: there are no rollouts."""
        return [RolloutOutcome(operation=step, ok=False, code=OutcomeCode.NOT_ASKED) for step in steps]

    def close(self) -> None:
        """There is no connection to let go."""

    def _apply(self, operation: Create | Update) -> Outcome:
        key, old = operation.key, self.objects.get(operation.key)
        self.version += 1
        uid = old.uid if old else f"{self.name}-{self.version}"
        self.objects[key] = live = LiveObject(key, _stored(operation.manifest, uid, self.version))
        if key.kind == "Namespace" and key.name not in self.spaces:
            self.spaces = {**self.spaces, key.name: ""}
        return Outcome(operation=operation, ok=True, code=OutcomeCode.APPLIED, live=live)

    def _delete(self, operation: Delete) -> Outcome:
        self.objects.pop(operation.key, None)
        self.spaces = {name: work for name, work in self.spaces.items() if name != operation.key.name}
        return Outcome(operation=operation, ok=True, code=OutcomeCode.DELETED)


def _stored(manifest: Manifest, uid: str, version: int) -> dict[str, Any]:
    metadata = {
        **manifest.body["metadata"],
        "uid": uid,
        "resourceVersion": str(version),
        "creationTimestamp": STAMP,
        "managedFields": [
            {
                "manager": "gitfleet",
                "operation": "Apply",
                "apiVersion": manifest.key.api_version,
                "time": STAMP,
                "fieldsType": "FieldsV1",
                "fieldsV1": _fields({k: v for k, v in manifest.body.items() if k not in ("apiVersion", "kind")}),
            }
        ],
    }
    return {**manifest.body, "metadata": metadata}


def _fields(content: dict[str, Any]) -> dict[str, Any]:
    return {
        f"f:{name}": _fields(value) if isinstance(value, dict) else {}
        for name, value in content.items()
        if name not in ("name", "namespace")
    }


@dataclass
class LightFleet:
    """ClusterDirectory of light clusters; `cpu` is the CPU time, in seconds, that they and not gitfleet took."""

    clock: SteppedClock
    clusters: dict[str, LightCluster] = field(default_factory=dict)
    cpu: float = 0.0

    def reader(self, cluster: MemberCluster) -> Timed:
        """ClusterDirectory.reader."""
        return self.client(cluster)

    def client(self, cluster: MemberCluster) -> Timed:
        """ClusterDirectory.client."""
        found = self.clusters.get(cluster.name)
        if found is None:
            found = self.clusters[cluster.name] = LightCluster(cluster.name, self.clock)
        return Timed(found, self)

    def close(self) -> None:
        """There is no connection to let go."""

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Count what is done meanwhile as the clusters' cost."""
        begin = time.process_time()
        try:
            yield
        finally:
            self.cpu += time.process_time() - begin


@dataclass
class Timed:
    """A light cluster whose CPU time is counted."""

    cluster: LightCluster
    fleet: LightFleet

    def observe(self, keys: Collection[ObjectKey], *, probe: bool = True) -> ClusterObservation:
        """ClusterReader.observe."""
        with self.fleet.timed():
            return self.cluster.observe(keys, probe=probe)

    def dry_run(self, questions: Sequence[tuple[Manifest, LiveObject]]) -> Sequence[DryRun]:
        """ClusterReader.dry_run."""
        return self.cluster.dry_run(questions)

    def perform(self, operations: Sequence[Create | Update | Delete]) -> Sequence[Outcome]:
        """ClusterWriter.perform."""
        with self.fleet.timed():
            return self.cluster.perform(operations)

    def pods(self, workloads: Sequence[LiveObject]) -> Mapping[ObjectKey, tuple[LiveObject, ...]]:
        """ClusterReader.pods."""
        return self.cluster.pods(workloads)

    def perform_steps(self, steps: Sequence[RolloutWrite]) -> Sequence[RolloutOutcome]:
        """ClusterWriter.perform_steps."""
        return self.cluster.perform_steps(steps)

    def close(self) -> None:
        """There is no connection to let go."""
