"""The corridor: the one place that leads through every room, and the newcomer's table of contents.

    accept -> observe -> snapshots -> schedule -> rollout -> works -> apply

Everything here is pure: the same inputs give the same decision. `Corridor` only remembers answers by their inputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from gitfleet import apply, desired, observe, report, rollout, schedule, snapshots, works
from gitfleet.model.bindings import Binding
from gitfleet.model.clusters import MemberCluster
from gitfleet.model.desired import Desired
from gitfleet.model.objects import ObjectKey
from gitfleet.model.observations import ClusterAnswer
from gitfleet.model.operations import Operation, Outcome
from gitfleet.model.placements import Placement, PlacementKey
from gitfleet.model.rolling import RolloutPlan
from gitfleet.model.scheduling import SchedulingRequest
from gitfleet.model.snapshots import OverrideSnapshot
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.model.works import Work


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """All that a decision depends on."""

    desired: Desired
    before: FleetState
    answers: Mapping[str, ClusterAnswer]
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The state to be published as intent, the works behind it, and the rollout plans that explain it."""

    inputs: Inputs
    after: FleetState
    works: Mapping[str, tuple[Work, ...]]
    plans: Mapping[PlacementKey, RolloutPlan] = field(default_factory=dict)
    wake_at: datetime | None = None
