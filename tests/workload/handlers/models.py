"""Small models of controllers that run pods: what they do with a spec, pod by pod, as Kubernetes' own do it.

Each `sync` is one pass of the controller over what is there at that moment; `run_pods` lets pods become ready.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from gitfleet.api.objects import ObjectKey, key_of
from gitfleet.model.observations import LiveObject
from gitfleet.model.rollout_fields import ABSENT, Fields, parts_of

FOREVER = 2**31 - 2
MIN_READY = "/spec/minReadySeconds"


@dataclass
class Pod:
    """A pod; one that cannot become ready never does."""

    name: str
    revision: str
    ready: bool = False
    can: bool = True
    node: str = ""

    def live(self, labels: dict[str, str]) -> LiveObject:
        body = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"namespace": "web", "name": self.name, "uid": self.name, "labels": labels},
            "spec": {"nodeName": self.node},
            "status": {"conditions": [{"type": "Ready", "status": str(self.ready)}]},
        }
        return LiveObject(key_of(body), body)


@dataclass
class Model(ABC):
    """An object with its pods."""

    name: str
    spec: dict[str, Any]
    kind: str = "Deployment"
    api_version: str = "apps/v1"
    generation: int = 1
    status: dict[str, Any] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    made: int = 0
    bad: tuple[str, ...] = ()
    """Revisions whose pods never become ready."""

    @property
    def live(self) -> LiveObject:
        metadata = {"namespace": "web", "name": self.name, "uid": self.name, "generation": self.generation}
        body = deepcopy(
            {
                "apiVersion": self.api_version,
                "kind": self.kind,
                "metadata": {**metadata, "annotations": self.annotations},
                "spec": self.spec,
                "status": self.status,
            }
        )
        return LiveObject(key_of(body), body)

    @property
    def revision(self) -> str:
        return str(self.spec["template"]["spec"]["image"])

    def give(self, fields: Fields) -> bool:
        """What a patch does; whether it changed anything."""
        before = deepcopy(self.spec)
        for pointer, value in fields.items():
            *parents, last = parts_of(pointer)[1:]
            here = self.spec
            for parent in parents:
                here = here.setdefault(parent, {})
            if value is ABSENT:
                here.pop(last, None)
            else:
                here[last] = value
        self.generation += self.spec != before
        return self.spec != before

    @property
    @abstractmethod
    def pods(self) -> list[Pod]:
        """Those that are there."""

    def live_pods(self) -> tuple[LiveObject, ...]:
        """What is read as its pods."""
        return ()

    def give_pods(self, fields: Mapping[ObjectKey, Fields]) -> bool:
        """What patches of what is read as its pods do; whether they changed anything."""
        return False

    def delete(self, name: str) -> None:
        raise AssertionError(f"nothing is to delete {name}: a {self.kind}'s pods are replaced by its controller")

    @abstractmethod
    def sync(self) -> None:
        """One pass of its controller."""

    def run_pods(self) -> None:
        for pod in self.pods:
            pod.ready = pod.ready or pod.can

    def give_template(self, revision: str) -> None:
        self.give({"/spec/template": {"spec": {"image": revision}}})

    def new_pod(self, revision: str, node: str = "") -> Pod:
        self.made += 1
        return Pod(f"{self.name}-{self.made}", revision, can=revision not in self.bad, node=node)


def number(value: Any, total: int, *, up: bool) -> int:
    if isinstance(value, str):
        return -(-int(value[:-1]) * total // 100) if up else int(value[:-1]) * total // 100
    return int(value)


@dataclass
class ReplicaSet:
    """Of one revision, which `number` counts; `desired` is for how many replicas it was sized last."""

    revision: str
    replicas: int
    pods: list[Pod] = field(default_factory=list)
    min_ready: int = 0
    desired: int = 0
    number: int = 0

    @property
    def live(self) -> LiveObject:
        body = {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {
                "namespace": "web",
                "name": f"set-{self.revision}",
                "annotations": {"deployment.kubernetes.io/revision": str(self.number)},
            },
            "spec": {"minReadySeconds": self.min_ready},
            "status": {"replicas": len(self.pods), "readyReplicas": self.ready, "availableReplicas": self.available},
        }
        return LiveObject(key_of(body), body)

    @property
    def ready(self) -> int:
        return sum(pod.ready for pod in self.pods)

    @property
    def available(self) -> int:
        return 0 if self.min_ready >= FOREVER else self.ready


@dataclass
class Deployment(Model):
    """pkg/controller/deployment: rolling.go and sync.go."""

    sets: list[ReplicaSet] = field(default_factory=list)

    @classmethod
    def running(cls, name: str, replicas: int, revision: str = "old", *, broken: int = 0) -> Deployment:
        """One that is as its spec says, but for pods that will never be ready."""
        spec = {
            "replicas": replicas,
            "template": {"spec": {"image": revision}},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
            "progressDeadlineSeconds": 600,
        }
        one = cls(name=name, spec=spec)
        pods = [Pod(f"{name}-0{i}", revision, ready=i >= broken, can=i >= broken) for i in range(replicas)]
        one.sets = [ReplicaSet(revision, replicas, pods, desired=replicas)]
        one.sync()
        return one

    @property
    def pods(self) -> list[Pod]:
        return [pod for each in self.sets for pod in each.pods]

    def live_pods(self) -> tuple[LiveObject, ...]:
        """Its ReplicaSets."""
        return tuple(one.live for one in self.sets)

    def give_pods(self, fields: Mapping[ObjectKey, Fields]) -> bool:
        outdated = [one for one in self.sets if fields.get(one.live.key, {}).get(MIN_READY) is ABSENT]
        changed = [one for one in outdated if one.min_ready]
        for one in changed:
            one.min_ready = 0
        return bool(changed)

    @property
    def replicas(self) -> int:
        return int(self.spec["replicas"])

    @property
    def surge(self) -> int:
        return number(self._rolling["maxSurge"], self.replicas, up=True) if self.replicas else 0

    @property
    def unavailable(self) -> int:
        wanted = number(self._rolling["maxUnavailable"], self.replicas, up=False)
        return min(self.replicas, wanted if wanted or self.surge else 1)

    @property
    def _rolling(self) -> dict[str, Any]:
        found = self.spec["strategy"]["rollingUpdate"]
        assert self.spec["strategy"]["type"] == "RollingUpdate"
        assert found["maxSurge"] not in (0, "0%") or found["maxUnavailable"] not in (0, "0%"), "the server refuses it"
        return dict(found)

    def sync(self) -> None:
        """One pass."""
        paused = bool(self.spec.get("paused"))
        newest = next((one for one in self.sets if one.revision == self.revision), None)
        last = max((one.number for one in self.sets), default=0)
        if newest is None and not paused:
            newest = ReplicaSet(self.revision, 0, desired=self.replicas)
            self.sets.append(newest)
        if newest is not None:
            newest.min_ready = self.spec.get("minReadySeconds", 0)
            newest.number = newest.number if newest.number == last > 0 else last + 1
            self.annotations = {"deployment.kubernetes.io/revision": str(newest.number)}
        old = [one for one in self.sets if one is not newest]
        resized = any(one.desired != self.replicas for one in self.sets if one.replicas)
        if paused or resized:
            self._resize(newest, old)
        elif newest is not None:
            self._roll(newest, old)
        for one in self.sets:
            one.desired = self.replicas
            self._run(one)
        pods = self.pods
        self.status = {
            "observedGeneration": self.generation,
            "replicas": len(pods),
            "updatedReplicas": len(newest.pods) if newest is not None else 0,
            "readyReplicas": sum(pod.ready for pod in pods),
            "availableReplicas": sum(one.available for one in self.sets),
        }

    def _run(self, one: ReplicaSet) -> None:
        one.pods.sort(key=lambda pod: not pod.ready)
        del one.pods[one.replicas :]
        while len(one.pods) < one.replicas:
            one.pods.append(self.new_pod(one.revision))

    def _resize(self, newest: ReplicaSet | None, old: list[ReplicaSet]) -> None:
        active = [one for one in self.sets if one.replicas]
        if len(active) <= 1:
            only = active[0] if active else newest or (old[-1] if old else None)
            if only is not None:
                only.replicas = self.replicas
            return
        if newest is not None and newest.replicas == newest.available == self.replicas:
            for one in old:
                one.replicas = 0
            return
        more = (self.replicas + self.surge if self.replicas else 0) - sum(one.replicas for one in active)
        for one in sorted(active, key=lambda one: -one.replicas):  # the largest takes what the proportions leave
            change = max(more, -one.replicas)
            one.replicas += change
            more -= change

    def _roll(self, newest: ReplicaSet, old: list[ReplicaSet]) -> None:
        total = sum(one.replicas for one in self.sets)
        if newest.replicas > self.replicas:
            newest.replicas = self.replicas
            return
        room = min(self.replicas + self.surge - total, self.replicas - newest.replicas)
        if room > 0:
            newest.replicas += room
            return
        least = self.replicas - self.unavailable
        going = total - least - (newest.replicas - newest.available)
        for one in old:  # those that are not ready first
            broken = max(0, min(going, one.replicas - one.available))
            one.replicas -= broken
            going -= broken
            self._run(one)
        spare = sum(one.available for one in self.sets) - least
        for one in old:
            gone = max(0, min(spare, one.replicas)) if going > 0 else 0
            one.replicas -= gone
            spare -= gone


@dataclass
class StatefulSet(Model):
    """pkg/controller/statefulset: from the highest ordinal down, each once all others are ready."""

    kind: str = "StatefulSet"
    current: str = "old"
    by_ordinal: dict[int, Pod] = field(default_factory=dict)

    @classmethod
    def running(
        cls, name: str, replicas: int, *, start: int = 0, strategy: dict[str, Any] | None = None
    ) -> StatefulSet:
        rolling = {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}
        spec = {
            "replicas": replicas,
            "template": {"spec": {"image": "old"}},
            "updateStrategy": strategy or rolling,
            "ordinals": {"start": start},
        }
        one = cls(name=name, spec=spec)
        one.sync()
        for _ in range(replicas):
            one.run_pods()
            one.sync()
        return one

    @property
    def pods(self) -> list[Pod]:
        return list(self.by_ordinal.values())

    def live_pods(self) -> tuple[LiveObject, ...]:
        return tuple(pod.live({"controller-revision-hash": pod.revision}) for pod in self.pods)

    def delete(self, name: str) -> None:
        self.by_ordinal = {n: pod for n, pod in self.by_ordinal.items() if pod.name != name}

    @property
    def partition(self) -> int:
        return int(self.spec["updateStrategy"].get("rollingUpdate", {}).get("partition", 0))

    def sync(self) -> None:
        start, replicas = int(self.spec["ordinals"]["start"]), int(self.spec["replicas"])
        rolling = self.spec["updateStrategy"]["type"] == "RollingUpdate"
        assert rolling or "rollingUpdate" not in self.spec["updateStrategy"], "the server refuses it"
        wanted = range(start, start + replicas)
        for ordinal in sorted(self.by_ordinal, reverse=True):
            if ordinal not in wanted:
                del self.by_ordinal[ordinal]
        for ordinal in wanted:
            if ordinal not in self.by_ordinal:
                revision = self.current if ordinal < start + self.partition else self.revision
                self.by_ordinal[ordinal] = Pod(f"{self.name}-{ordinal}", revision)
                break
        else:
            old = [n for n in sorted(wanted, reverse=True) if self.by_ordinal[n].revision != self.revision]
            old = [n for n in old if n >= start + self.partition] if rolling else []
            if old and all(pod.ready for pod in self.pods):
                del self.by_ordinal[old[0]]
        pods = self.pods
        updated = sum(pod.revision == self.revision for pod in pods)
        if rolling and len(pods) == updated == replicas and all(pod.ready for pod in pods):
            self.current = self.revision
        self.status = {
            "observedGeneration": self.generation,
            "replicas": len(pods),
            "readyReplicas": sum(pod.ready for pod in pods),
            "updatedReplicas": updated,
            "currentRevision": self.current,
            "updateRevision": self.revision,
        }


@dataclass
class CloneSet(Model):
    """OpenKruise pkg/controller/cloneset: as many of the older content as `partition` says, in both directions."""

    kind: str = "CloneSet"
    api_version: str = "apps.kruise.io/v1alpha1"
    current: str = "old"
    found: list[Pod] = field(default_factory=list)

    @classmethod
    def running(cls, name: str, replicas: int, **strategy: Any) -> CloneSet:
        spec = {"replicas": replicas, "template": {"spec": {"image": "old"}}, "updateStrategy": strategy}
        one = cls(name=name, spec=spec)
        one.found = [Pod(f"{name}-0{i}", "old", ready=True) for i in range(replicas)]
        one.sync()
        return one

    @property
    def pods(self) -> list[Pod]:
        return self.found

    def sync(self) -> None:
        replicas, strategy = int(self.spec["replicas"]), self.spec["updateStrategy"]
        partition = min(replicas, number(strategy.get("partition", 0), replicas, up=True))
        most = number(strategy.get("maxUnavailable", "20%"), replicas, up=True)
        while len(self.found) < replicas:
            old = sum(pod.revision != self.revision for pod in self.found)
            self.found.append(self.new_pod(self.current if old < partition else self.revision))
        if not strategy.get("paused"):
            old_pods = [pod for pod in self.found if pod.revision != self.revision]
            new_pods = [pod for pod in self.found if pod.revision == self.revision]
            surplus = len(old_pods) - partition
            pods, revision = (old_pods, self.revision) if surplus > 0 else (new_pods, self.current)
            for pod in sorted(pods, key=lambda pod: pod.ready)[: abs(surplus)]:
                if not pod.ready or sum(not one.ready for one in self.found) < most:
                    self.found[self.found.index(pod)] = self.new_pod(revision)
        updated = [pod for pod in self.found if pod.revision == self.revision]
        if len(updated) == replicas:
            self.current = self.revision
        self.status = {
            "observedGeneration": self.generation,
            "replicas": len(self.found),
            "readyReplicas": sum(pod.ready for pod in self.found),
            "updatedReplicas": len(updated),
            "updatedReadyReplicas": sum(pod.ready for pod in updated),
            "currentRevision": self.current,
            "updateRevision": self.revision,
        }


@dataclass
class DaemonSet(Model):
    """pkg/controller/daemon by OnDelete: one pod on each node, a missing one of the newest template."""

    kind: str = "DaemonSet"
    nodes: list[str] = field(default_factory=list)
    by_node: dict[str, Pod] = field(default_factory=dict)
    generations: dict[str, int] = field(default_factory=dict)
    template_generation: int = 1

    @classmethod
    def running(cls, name: str, nodes: int, *, broken: int = 0) -> DaemonSet:
        spec = {"template": {"spec": {"image": "old"}}, "updateStrategy": {"type": "RollingUpdate"}}
        one = cls(name=name, spec=spec, nodes=[f"node-{n}" for n in range(nodes)])
        one.annotations = {"deprecated.daemonset.template.generation": "1"}
        one.sync()
        for n, pod in enumerate(one.pods):
            pod.ready = n >= broken
            pod.can = False
        one.sync()
        return one

    @property
    def pods(self) -> list[Pod]:
        return list(self.by_node.values())

    def give(self, fields: Fields) -> bool:
        before = self.revision
        changed = super().give(fields)
        self.template_generation += self.revision != before
        self.annotations = {"deprecated.daemonset.template.generation": str(self.template_generation)}
        return changed

    def live_pods(self) -> tuple[LiveObject, ...]:
        return tuple(
            pod.live(
                {
                    "controller-revision-hash": f"hash-of-{pod.revision}",
                    "pod-template-generation": str(self.generations[pod.name]),
                }
            )
            for pod in self.pods
        )

    def delete(self, name: str) -> None:
        self.by_node = {node: pod for node, pod in self.by_node.items() if pod.name != name}

    def sync(self) -> None:
        self.by_node = {node: pod for node, pod in self.by_node.items() if node in self.nodes}
        for node in self.nodes:
            if node not in self.by_node:
                pod = self.by_node[node] = self.new_pod(self.revision, node)
                self.generations[pod.name] = self.template_generation
        self.status = {
            "observedGeneration": self.generation,
            "desiredNumberScheduled": len(self.nodes),
            "numberReady": sum(pod.ready for pod in self.pods),
            "updatedNumberScheduled": sum(pod.revision == self.revision for pod in self.pods),
        }
