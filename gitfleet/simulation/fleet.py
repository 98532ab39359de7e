"""All simulated clusters of one simulation or demo: made on demand, found by their MemberCluster files, kept between
runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import quote

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.objects import Manifest, ObjectKey, key_of
from gitfleet.api.scenarios import ClusterRule
from gitfleet.errors import BadInput
from gitfleet.formats.canonical_json import json_text, parse_json
from gitfleet.model.observations import ClusterObservation, DryRun, LiveObject
from gitfleet.model.operations import Create, Delete, Outcome, RolloutOutcome, RolloutWrite, Update
from gitfleet.ports.clock import Clock
from gitfleet.ports.clusters import ClusterClient, ClusterDirectory, ClusterReader, HealthReader
from gitfleet.ports.properties import Collected, PropertyProvider
from gitfleet.simulation.bodies import Stored
from gitfleet.simulation.cluster import CrashPoint, Listener, SimulatedCluster
from gitfleet.simulation.pods.model import loaded, saved

FORMAT: Final = 1
"""Grows with every change of what a saved file means."""


class SimulatedFleet:
    """Simulated clusters by name, all on one clock and under one set of rules."""

    def __init__(self, clock: Clock, *, rules: Sequence[ClusterRule] = (), listener: Listener | None = None) -> None:
        """An empty fleet; `listener` gets everything that happens on any cluster."""
        self._clock = clock
        self._rules = tuple(rules)
        self._listener = listener
        self.crash = CrashPoint()
        self._clusters: dict[str, SimulatedCluster] = {}
        self._lock = Lock()
        self.descriptions = 0
        """Grows whenever a MemberCluster file says something new of its cluster."""

    @property
    def clusters(self) -> Mapping[str, SimulatedCluster]:
        """The clusters that anybody asked for so far."""
        return MappingProxyType(self._clusters)

    def cluster(self, name: str) -> SimulatedCluster:
        """The cluster of that name, made now if it is new; any thread may ask."""
        with self._lock:
            cluster = self._clusters.get(name)
            if cluster is None:
                cluster = SimulatedCluster(
                    name, self._clock, rules=self._rules, listener=self._listener, crash=self.crash
                )
                self._clusters[name] = cluster
            return cluster

    def behave(self, rules: Sequence[ClusterRule]) -> None:
        """Other rules for every cluster from now on; what is under way keeps the time it was given."""
        self._rules = tuple(rules)
        for cluster in self._clusters.values():
            cluster.behave(rules)

    def share(self, name: str, alias: str) -> None:
        """Let another name lead to the cluster of a name from now on."""
        cluster = self.cluster(name)
        with self._lock:
            self._clusters[alias] = cluster

    def next_change(self) -> datetime | None:
        """When something on any cluster changes by itself next; None when nothing will."""
        moments = [moment for cluster in self._clusters.values() if (moment := cluster.next_change()) is not None]
        return min(moments, default=None)

    def save(self, folder: Path) -> None:
        """Write each cluster that changed since it was saved last to a file of its own; never leaves half a file."""
        for name in sorted(self._clusters):
            self.save_cluster(folder, name)

    def save_cluster(self, folder: Path, name: str) -> None:
        """Write one cluster if it changed; for the thread that is using it, the others may be busy meanwhile."""
        cluster = self.cluster(name)
        path = folder / _file_name(name)
        if cluster.memory.changed or not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            partial = path.with_suffix(".partial")
            partial.write_bytes(json_text(_dump(cluster), indent=True).encode())
            partial.replace(path)
            cluster.memory.changed = False

    @classmethod
    def load(cls, folder: Path, clock: Clock) -> SimulatedFleet:
        """The fleet that was saved there, an empty one when nothing was. BadInput for a file of another make."""
        fleet = cls(clock)
        for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
            try:
                content = parse_json(path.read_bytes())
                if content["format"] != FORMAT:
                    raise ValueError("another format")
                objects = [_stored(item) for item in content["objects"]]
                cluster = fleet.cluster(str(content["cluster"]))
                cluster.restore(reachable=bool(content["reachable"]), version=int(content["version"]), objects=objects)
            except (ValueError, KeyError, TypeError) as error:
                hint = "Delete the file: the simulated cluster then starts empty."
                raise BadInput(f"{path} does not hold a simulated cluster of this version", hint=hint) from error
        return fleet


class SimulatedDirectory:
    """ClusterDirectory of a simulated fleet: every MemberCluster has its own, whatever its connection says."""

    def __init__(self, fleet: SimulatedFleet, clients: ClusterDirectory, *, keep_in: Path | None = None) -> None:
        """`clients` makes clients whose requests go to the clusters of `fleet`. With `keep_in` each cluster is saved
        there as soon as it was changed, so that what was done outlives a kill, as on a real cluster."""
        self._fleet = fleet
        self._clients = clients
        self._keep_in = keep_in

    def reader(self, cluster: MemberCluster) -> ClusterReader:
        """ClusterDirectory.reader."""
        return self.client(cluster)

    def client(self, cluster: MemberCluster) -> ClusterClient:
        """ClusterDirectory.client: labels, properties and resources of the cluster are those of the MemberCluster."""
        if self._fleet.cluster(cluster.name).describe(cluster.scheduling_labels, cluster.status):
            self._fleet.descriptions += 1
        client = self._clients.client(cluster)
        return client if self._keep_in is None else _SavingClient(self._fleet, cluster.name, client, self._keep_in)


@dataclass(frozen=True, slots=True)
class _SavingClient:
    """ClusterClient that saves its cluster once operations were carried out, before their outcomes are returned."""

    fleet: SimulatedFleet
    name: str
    client: ClusterClient
    folder: Path

    def observe(self, keys: Collection[ObjectKey], *, probe: bool = True) -> ClusterObservation:
        return self.client.observe(keys, probe=probe)

    def check(self, previous: ClusterObservation) -> ClusterObservation:
        return (
            self.client.check(previous) if isinstance(self.client, HealthReader) else self.client.observe(previous.live)
        )

    def dry_run(self, questions: Sequence[tuple[Manifest, LiveObject]]) -> Sequence[DryRun]:
        return self.client.dry_run(questions)

    def pods(self, workloads: Sequence[LiveObject]) -> Mapping[ObjectKey, tuple[LiveObject, ...]]:
        return self.client.pods(workloads)

    def perform(self, operations: Sequence[Create | Update | Delete]) -> Sequence[Outcome]:
        outcomes = self.client.perform(operations)
        self.fleet.save_cluster(self.folder, self.name)
        return outcomes

    def perform_steps(self, steps: Sequence[RolloutWrite]) -> Sequence[RolloutOutcome]:
        outcomes = self.client.perform_steps(steps)
        self.fleet.save_cluster(self.folder, self.name)
        return outcomes

    def close(self) -> None:
        self.client.close()


class FileProperties(PropertyProvider):
    """PropertyProvider that reports what the MemberCluster file of a simulated cluster says, as it is written there:
    what the file does not name, nobody has counted."""

    def __init__(self, fleet: SimulatedFleet) -> None:
        self._fleet = fleet

    def collect(self) -> Collected:
        """PropertyProvider.collect."""
        return self._fleet.cluster(self.cluster.name).reported


def _dump(cluster: SimulatedCluster) -> dict[str, Any]:
    server = cluster.memory
    return {
        "format": FORMAT,
        "cluster": cluster.name,
        "reachable": cluster.reachable,
        "version": server.version,
        "objects": [
            {
                "done": stored.done,
                "first": stored.first,
                "due": stored.due.isoformat() if stored.due else None,
                "object": stored.live.body,
                **({"held": stored.halted, "pods": saved(stored.workload)} if stored.workload else {}),
            }
            for _, stored in sorted(server.objects.items())
        ],
    }


def _stored(item: Mapping[str, Any]) -> Stored:
    body = item["object"]
    due = datetime.fromisoformat(item["due"]) if item["due"] else None
    stored = Stored(LiveObject(key_of(body), body), done=bool(item["done"]), first=bool(item["first"]), due=due)
    if "pods" in item:
        stored.halted, stored.workload = bool(item["held"]), loaded(item["pods"])
    return stored


def _file_name(cluster: str) -> str:
    """A name of a file in the folder itself, whatever the cluster is called."""
    return f"{quote(cluster, safe='')}.json"
