"""Bindings: a placement on a cluster, with what it should run there and what is known of it (kubefleet.md, object
model)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from hashlib import sha256

from gitfleet.api.conditions import Conditions, Status, find_condition
from gitfleet.api.objects import ObjectKey
from gitfleet.api.placements import ApplyStrategy, PlacementKey

PinnedLabels = tuple[tuple[str, str | None], ...]
"""Labels of a cluster by key; None: the cluster had no such label."""


class BindingState(StrEnum):
    """Scheduled: picked, not rolled out yet. Bound: rolled out. Unscheduled: no longer picked, to be removed."""

    SCHEDULED = "Scheduled"
    BOUND = "Bound"
    UNSCHEDULED = "Unscheduled"


@dataclass(frozen=True, slots=True, order=True)
class ClusterScore:
    """KubeFleet's clusterScore, compared in this order."""

    topology_spread: int = 0
    affinity: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterDecision:
    """Why a cluster was chosen or not. `refused_by` names the plug-in that refused it, None when it was chosen or
    outscored."""

    cluster: str
    selected: bool
    score: ClusterScore | None = None
    reason: str = ""
    refused_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedObject:
    """An object that could not be applied or is not available: `condition` is Applied or Available."""

    key: ObjectKey
    condition: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DivergedObject:
    """A drifted or diffed object: `details` are (path, value in member, value in hub), secrets masked."""

    key: ObjectKey
    details: tuple[tuple[str, str | None, str | None], ...]
    observed: datetime
    first_observed: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """One (placement, cluster).

    The spec is `state`, `resource_snapshot` (name, None before the first rollout), the override snapshots and
    `apply_strategy`; every change of the spec adds 1 to `generation`, so that conditions observed before it no longer
    count. `deleting` is when the binding was given up: its resources are being removed, then it vanishes.
    `applied_snapshot` is the snapshot that the cluster really has (decision D23). `override_labels` are the labels that
    the overrides saw on the cluster at the last rollout: other labels change nothing there before the next one.
    """

    placement: PlacementKey
    cluster: str
    state: BindingState
    policy_snapshot: str
    previous_state: BindingState | None = None
    resource_snapshot: str | None = None
    cluster_resource_overrides: tuple[str, ...] = ()
    resource_overrides: tuple[str, ...] = ()
    apply_strategy: ApplyStrategy = ApplyStrategy()
    decision: ClusterDecision | None = None
    generation: int = 1
    conditions: Conditions = ()
    failed: tuple[FailedObject, ...] = ()
    drifted: tuple[DivergedObject, ...] = ()
    diffed: tuple[DivergedObject, ...] = ()
    applied_snapshot: str | None = None
    deleting: datetime | None = None
    override_labels: PinnedLabels = ()

    @property
    def name(self) -> str:
        """`<placement[:26]>-<cluster[:27]>-<8 hex>`: KubeFleet's shape; the tail is a hash, so the same pair has the
        same name."""
        tail = sha256(f"{self.placement}\0{self.cluster}".encode()).hexdigest()[:8]
        return f"{self.placement.name[:26]}-{self.cluster[:27]}-{tail}"


def is_active(binding: Binding) -> bool:
    """Whether the placement wants this cluster: the binding is neither given up nor unscheduled."""
    return binding.deleting is None and binding.state is not BindingState.UNSCHEDULED


def is_available(binding: Binding) -> bool:
    """Whether the cluster counts as available now: for the generation of the binding that holds (decision
    D24)."""
    found = find_condition(binding.conditions, "Available", generation=binding.generation)
    return found is not None and found.status is Status.TRUE


def raised(binding: Binding) -> Binding:
    """The binding one generation later with what is known of it: for a change of state alone, which changes nothing on
    the cluster, so that what was observed there still counts."""
    generation = binding.generation + 1
    known = tuple(
        replace(c, observed_generation=generation) if c.observed_generation == binding.generation else c
        for c in binding.conditions
    )
    return replace(binding, generation=generation, conditions=known)
