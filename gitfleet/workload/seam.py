"""What the rest of gitfleet asks of workload rollouts, and what they answer. All else of them is loaded here, with the
first rollout of a fleet."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.objects import ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_records import RolloutRecord
from gitfleet.model.calls import Call
from gitfleet.model.decisions import Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.failures import Failures
from gitfleet.model.operations import RolloutWrite
from gitfleet.model.rolling import Frozen, Passage, WorkloadMove
from gitfleet.model.rollout_fields import RolloutFieldsByCluster
from gitfleet.model.state import FleetState
from gitfleet.model.works import Work

Works: TypeAlias = Mapping[str, tuple[Work, ...]]
Gate: TypeAlias = Callable[[WorkloadMove], Passage | Frozen]
"""Why pods must not start to move; None where they may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Advance:
    """The records after the pass, the calls that are to be under way, when time alone changes something, and what waits
    by itself, or for a person, in a sentence each."""

    rollouts: Mapping[NamespacedName, RolloutRecord] = field(default_factory=dict)
    calls: tuple[Call, ...] = ()
    wake_at: datetime | None = None
    waiting: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    asking: frozenset[tuple[str, NamespacedName]] = frozenset()
    """The rollouts that wait for a person or a gate, each with its cluster."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Movement:
    """What rollouts set, by cluster and object, and what they do."""

    fields: RolloutFieldsByCluster = field(default_factory=dict)
    steps: tuple[RolloutWrite, ...] = ()


class Rollouts:
    """All that the rest of gitfleet asks of workload rollouts, answered for a fleet that has none."""

    def snapshots_in_use(self, desired: Desired, before: FleetState) -> Mapping[PlacementKey, frozenset[str]]:
        """The names of the resource snapshots that rollouts need, by placement."""
        return {}

    def keys_to_observe(
        self, desired: Desired, before: FleetState, clusters: Mapping[str, MemberCluster]
    ) -> Mapping[str, Collection[ObjectKey]]:
        """The workloads to read beside what placements own, by cluster."""
        return {}

    def pods_to_observe(self, before: FleetState) -> Mapping[str, Collection[ObjectKey]]:
        """The workloads whose pods must be read, by cluster."""
        return {}

    def advance(
        self, state: FleetState, works_before: Works, works: Works, inputs: Inputs, gate: Gate, failures: Failures
    ) -> Advance:
        """How far each rollout is after this pass."""
        return Advance()

    def movement(self, state: FleetState, works: Works, inputs: Inputs, failures: Failures) -> Movement:
        """What the rollouts of a state hold and do, as things are on the clusters."""
        return Movement()
