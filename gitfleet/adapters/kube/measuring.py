"""What a cluster has and uses: KubeFleet's core properties (seeds/003, "Core properties")."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

import orjson
from kubernetes.utils.quantity import parse_quantity

from gitfleet.adapters.kube.wire import MIB, Wire
from gitfleet.model.clusters import PropertyValue, ResourceUsage

NODE_COUNT: Final = "kubernetes-fleet.io/node-count"
_RESOURCES: Final = ("cpu", "memory")
_PAGE: Final = 500
_MOST_PAGES: Final = 200
_LARGEST_PAGE: Final = 64 * MIB


def measure(wire: Wire, now: datetime) -> tuple[Mapping[str, PropertyValue], ResourceUsage | None]:
    """Node count, and capacity, allocatable and free cpu and memory; nothing where listing is not allowed.

    Free is what nodes can give less what pods that run on them have asked for. ClusterUnreachable as usual.
    """
    nodes = _items(wire, "/api/v1/nodes", {})
    if nodes is None:
        return {}, None
    properties = {NODE_COUNT: PropertyValue(str(len(nodes)), now)}
    running = {"fieldSelector": "status.phase!=Succeeded,status.phase!=Failed"}
    pods = _items(wire, "/api/v1/pods", running)
    if pods is None:
        return properties, None
    capacity = _sums(node["status"].get("capacity") for node in nodes)
    allocatable = _sums(node["status"].get("allocatable") for node in nodes)
    bound = (pod for pod in pods if pod["spec"].get("nodeName"))
    asked = _sums((c.get("resources") or {}).get("requests") for pod in bound for c in pod["spec"]["containers"])
    free = {name: max(amount - asked[name], Decimal(0)) for name, amount in allocatable.items()}
    usage = ResourceUsage(
        capacity=_written(capacity), allocatable=_written(allocatable), available=_written(free), observed=now
    )
    return properties, usage


def _items(wire: Wire, path: str, query: Mapping[str, str]) -> list[dict[str, Any]] | None:
    found: list[dict[str, Any]] = []
    asked = {**query, "limit": str(_PAGE)}
    for _ in range(_MOST_PAGES):
        answer = wire.send("GET", path, asked, limit=_LARGEST_PAGE)
        if not answer.ok:
            return None
        page = orjson.loads(answer.body)
        found += page.get("items") or ()
        token = (page.get("metadata") or {}).get("continue")
        if not token:
            return found
        asked["continue"] = str(token)
    return None


def _sums(parts: Iterable[Mapping[str, str] | None]) -> dict[str, Decimal]:
    sums = dict.fromkeys(_RESOURCES, Decimal(0))
    for part in parts:
        for name in _RESOURCES:
            if part and name in part:
                sums[name] += _amount(part[name])
    return sums


def _amount(quantity: str) -> Decimal:
    parse: Callable[[str], Decimal] = parse_quantity
    return parse(quantity)


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
