"""The built-in property provider, `core`: KubeFleet's core properties (seeds/003, kubefleet.md §1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Final

from gitfleet.adapters.kube.texts import KubeText
from gitfleet.api.clusters import K8S_VERSION, NODE_COUNT, ResourceUsage
from gitfleet.api.objects import JsonObject
from gitfleet.errors import BadInput, Forbidden
from gitfleet.formats.quantities import parse_quantity
from gitfleet.ports.properties import Collected, PropertyProvider

ENTRYPOINT: Final = "k8s.io/cluster-entrypoint"
_RESOURCES: Final = ("cpu", "memory")
_RUNNING: Final = {"fieldSelector": "status.phase!=Succeeded,status.phase!=Failed"}


class CoreProvider(PropertyProvider):
    """Node count, version, entry point, and total, allocatable and available cpu and memory.

    Available is what nodes can give less what the containers of pods that run on them, or will, have asked for. With
    `{available: false}` in its args pods are not listed, and available is left out.
    """

    def __init__(self, args: JsonObject) -> None:
        unknown = sorted(set(args) - {"available"})
        available = args.get("available", True)
        if unknown or not isinstance(available, bool):
            raise BadInput(KubeText.PROVIDER_CORE_TAKES_ONE_ARGUMENT())
        self._counts_pods = available

    def collect(self) -> Collected:
        """What may not be listed is left out and reported as a problem."""
        cluster = self.cluster
        version = (cluster.get("/version") or {}).get("gitVersion")
        properties = {ENTRYPOINT: cluster.server, **({K8S_VERSION: str(version)} if version else {})}
        try:
            nodes = list(cluster.items("/api/v1/nodes"))
        except Forbidden as error:
            return Collected(properties=properties, problem=str(error))
        properties[NODE_COUNT] = str(len(nodes))
        capacity = _sums((node.get("status") or {}).get("capacity") for node in nodes)
        allocatable = _sums((node.get("status") or {}).get("allocatable") for node in nodes)
        usage = ResourceUsage(capacity=_written(capacity), allocatable=_written(allocatable))
        if not self._counts_pods:
            return Collected(properties=properties, usage=usage)
        try:
            requested = _requests(cluster.items("/api/v1/pods", _RUNNING))
        except Forbidden as error:
            return Collected(properties=properties, usage=usage, problem=str(error))
        free = {name: max(amount - requested[name], Decimal(0)) for name, amount in allocatable.items()}
        usage = ResourceUsage(capacity=usage.capacity, allocatable=usage.allocatable, available=_written(free))
        return Collected(properties=properties, usage=usage)


def _requests(pods: Iterable[JsonObject]) -> dict[str, Decimal]:
    """What the containers of pods that have a node ask for; init containers and overhead do not count (KubeFleet)."""
    bound = (pod["spec"] for pod in pods if pod["spec"].get("nodeName"))
    return _sums((c.get("resources") or {}).get("requests") for spec in bound for c in spec.get("containers") or ())


def _sums(parts: Iterable[Mapping[str, str] | None]) -> dict[str, Decimal]:
    sums = dict.fromkeys(_RESOURCES, Decimal(0))
    for part in parts:
        for name in _RESOURCES:
            if part and name in part:
                sums[name] += Decimal(str(parse_quantity(part[name])))
    return sums


def _written(amounts: Mapping[str, Decimal]) -> dict[str, str]:
    """cpu in thousandths, memory in whole bytes, as Kubernetes would write them."""
    cpu, memory = amounts["cpu"], amounts["memory"]
    whole = cpu == cpu.to_integral_value()
    return {"cpu": str(int(cpu)) if whole else f"{int(cpu * 1000)}m", "memory": _binary(int(memory))}


def _binary(amount: int) -> str:
    for suffix, factor in (("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10)):
        if amount and amount % factor == 0:
            return f"{amount // factor}{suffix}"
    return str(amount)
