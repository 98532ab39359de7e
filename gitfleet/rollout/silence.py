"""Clusters that do not answer, and what a rolling update makes of them (decision D32).

For the first five minutes a silent cluster counts as unavailable. After that it is left out: it leaves the target and
all counts, it is not moved, and the others go on; when it answers again it is brought up to date. When more than
half of a placement's clusters are silent at once the cause is probably gitfleet's own network, and nothing moves.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from gitfleet.api.clusters import MemberCluster, silent_from
from gitfleet.model.rolling import RolloutRequest
from gitfleet.model.state import PlacementRecord

LEFT_OUT_AFTER: Final = timedelta(minutes=5)
"""The scheduler's own timeout for a cluster without a heartbeat (kubefleet.md §2)."""


def silent_since(record: PlacementRecord, clusters: Mapping[str, MemberCluster]) -> dict[str, datetime]:
    """The clusters of a placement's bindings, and those that it names, that do not answer, and since when: those whose
    agent's Healthy condition is Unknown."""
    silent: dict[str, datetime] = {}
    named = record.placement.effective_policy.cluster_names
    for name in dict.fromkeys((*(binding.cluster for binding in record.bindings), *named)):
        since = silent_from(clusters.get(name))
        if since is not None:
            silent[name] = since
    return silent


def long_silent(clusters: Mapping[str, MemberCluster], now: datetime, unreachable: str) -> frozenset[str]:
    """The clusters of a fleet that have been silent for so long that rollouts go on without them; none by `unreachable`
    Wait."""
    silent = {name: silent_from(cluster) for name, cluster in clusters.items() if unreachable == "Skip"}
    return frozenset(name for name, since in silent.items() if since is not None and now - since >= LEFT_OUT_AFTER)


def left_out(request: RolloutRequest) -> frozenset[str]:
    """The clusters that have been silent for so long that the rollout goes on without them."""
    if not request.skip_silent:
        return frozenset()
    return frozenset(n for n, since in request.silent.items() if request.now - since >= LEFT_OUT_AFTER)


def unbound_left_out(request: RolloutRequest) -> int:
    """How many clusters are named and left out without ever having been bound: a new member without a connection."""
    return len(left_out(request).intersection(request.cluster_names).difference(_bound(request)))


def _bound(request: RolloutRequest) -> set[str]:
    return {binding.cluster for binding in request.bindings}


def until_left_out(request: RolloutRequest) -> list[timedelta]:
    """For each of the placement's silent clusters that still counts: how long until it is left out."""
    if not request.skip_silent:
        return []
    names = _bound(request).union(request.cluster_names)
    waits = (LEFT_OUT_AFTER - (request.now - since) for name, since in request.silent.items() if name in names)
    return [min(wait, LEFT_OUT_AFTER) for wait in waits if wait > timedelta(0)]


def cut_off(request: RolloutRequest) -> tuple[str, ...]:
    """The placement's silent clusters when they are more than half of all that it has; else none."""
    names = _bound(request)
    silent = tuple(sorted(names & request.silent.keys()))
    return silent if len(silent) * 2 > len(names) else ()
