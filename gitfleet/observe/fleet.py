"""What a whole look at the fleet means for the bindings of every placement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from gitfleet.api.bindings import Binding
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.placements import PlacementKey
from gitfleet.model.observations import ClusterObservation
from gitfleet.model.operations import Operation, Outcome
from gitfleet.model.state import PlacementRecord
from gitfleet.model.works import Work
from gitfleet.observe.bindings import observe_binding
from gitfleet.observe.clusters import observe_cluster


def observe_clusters(
    clusters: Mapping[str, MemberCluster], observations: Mapping[str, ClusterObservation], now: datetime
) -> dict[str, MemberCluster]:
    """Every member after one look; one that nobody looked at is as it was."""
    return {
        name: observe_cluster(c, observations[name], now) if name in observations else c for name, c in clusters.items()
    }


def observe_bindings(
    placements: Mapping[PlacementKey, PlacementRecord],
    works: Mapping[str, tuple[Work, ...]],
    operations: Iterable[Operation],
    outcomes: Iterable[Outcome],
    observations: Mapping[str, ClusterObservation],
    now: datetime,
) -> dict[PlacementKey, tuple[Binding, ...]]:
    """Every placement's bindings after one look; the very same tuple where nothing changed.

    A cluster that nobody looked at keeps what was known of it.
    """
    by_pair: dict[tuple[str, PlacementKey], Work] = {
        (work.cluster, work.placement): work for found in works.values() for work in found
    }
    planned: dict[tuple[str, PlacementKey], list[Operation]] = {}
    for operation in operations:
        planned.setdefault((operation.cluster, operation.placement), []).append(operation)
    came: dict[tuple[str, PlacementKey], list[Outcome]] = {}
    for outcome in outcomes:
        came.setdefault((outcome.operation.cluster, outcome.operation.placement), []).append(outcome)
    observed: dict[PlacementKey, tuple[Binding, ...]] = {}
    for key, record in placements.items():
        new: list[Binding] = []
        for binding in record.bindings:
            pair = (binding.cluster, key)
            answer = observations.get(binding.cluster)
            if answer is None or binding.deleting is not None:
                new.append(binding)
                continue
            new.append(
                observe_binding(
                    binding,
                    by_pair.get(pair),
                    planned.get(pair, ()),
                    came.get(pair, ()),
                    now,
                    reachable=answer.reachable,
                    error=answer.error,
                )
            )
        same = all(a is b for a, b in zip(new, record.bindings, strict=True))
        observed[key] = record.bindings if same else tuple(new)
    return observed
