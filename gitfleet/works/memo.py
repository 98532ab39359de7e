"""Renders the works of the whole fleet, each one only when something that it is made of has changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gitfleet.api.bindings import Binding, BindingState
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.placements import PlacementKey
from gitfleet.api.snapshots import OverrideSnapshot, ResourceSnapshot
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.model.works import Work
from gitfleet.works.matching import overrides_by_cluster
from gitfleet.works.pinned import as_rolled_out, pinned_labels
from gitfleet.works.render import render_work


class Renderer:
    """Remembers works by (placement, cluster); it can be lost at any time and costs time only."""

    def __init__(self) -> None:
        self._known: dict[tuple[PlacementKey, str], tuple[Any, Work]] = {}

    def works_of(self, state: FleetState) -> dict[str, tuple[Work, ...]]:
        """The works of every cluster, by cluster and placement: of each binding that was rolled out and not given up.

        A binding that is no longer picked keeps its work until the rollout removes it.
        """
        references = {s.reference: s for found in state.overrides.values() for s in found}
        works: dict[str, list[Work]] = {}
        fresh: dict[tuple[PlacementKey, str], tuple[Any, Work]] = {}
        for key, record in state.placements.items():
            named = {snapshot.name: snapshot for snapshot in record.resource_snapshots}
            for binding in record.bindings:
                snapshot = named.get(binding.resource_snapshot or "")
                cluster = state.clusters.get(binding.cluster)
                if snapshot is None or cluster is None or binding.deleting is not None:
                    continue
                remembered = self._work(binding, snapshot, references, cluster)
                fresh[(key, binding.cluster)] = remembered
                works.setdefault(binding.cluster, []).append(remembered[1])
        self._known = fresh
        return {name: tuple(works[name]) for name in sorted(works)}

    def _work(
        self,
        binding: Binding,
        snapshot: ResourceSnapshot,
        references: Mapping[str, OverrideSnapshot],
        cluster: MemberCluster,
    ) -> tuple[Any, Work]:
        made_of = (
            binding.generation,
            snapshot.hash,
            binding.apply_strategy,
            tuple(references.get(r) for r in (*binding.cluster_resource_overrides, *binding.resource_overrides)),
            binding.override_labels or cluster.labels,
        )
        known = self._known.get((binding.placement, binding.cluster))
        if known is not None and known[0] == made_of:
            return known
        return made_of, render_work(binding, snapshot, references, as_rolled_out(cluster, binding))


def works_when_done(state: FleetState, current: tuple[OverrideSnapshot, ...]) -> dict[str, tuple[Work, ...]]:
    """The works when every rollout is through: the newest snapshot and overrides on every picked cluster."""
    records = {key: _done(record, state, current) for key, record in state.placements.items()}
    return Renderer().works_of(replace(state, placements=records))


def _done(record: PlacementRecord, state: FleetState, current: tuple[OverrideSnapshot, ...]) -> PlacementRecord:
    latest = record.latest_resources
    if latest is None:
        return replace(record, bindings=())
    key = record.placement.key
    concerned = overrides_by_cluster(key, latest, current, state.clusters.values())
    labels = pinned_labels(concerned, current, state.clusters)
    bindings = []
    for binding in record.bindings:
        if binding.state is BindingState.UNSCHEDULED or binding.deleting is not None:
            continue
        cluster_wide, namespaced = concerned.get(binding.cluster, ((), ()))
        bindings.append(
            replace(
                binding,
                resource_snapshot=latest.name,
                cluster_resource_overrides=cluster_wide,
                resource_overrides=namespaced,
                override_labels=labels.get(binding.cluster, ()),
            )
        )
    return replace(record, bindings=tuple(bindings))
