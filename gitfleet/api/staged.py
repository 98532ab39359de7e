"""Staged updates and evictions, as people write them: strategies, runs, approvals, evictions, disruption budgets."""

from __future__ import annotations

from dataclasses import dataclass, field

from gitfleet.api.conditions import Conditions
from gitfleet.api.labels import LabelSelector
from gitfleet.api.objects import JsonObject, Origin
from gitfleet.api.placements import IntOrPercent


@dataclass(frozen=True, slots=True, order=True)
class NamespacedName:
    """namespace ("" = cluster-scoped) and name."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class StageTask:
    """type Approval or TimedWait (with `wait_seconds`)."""

    type: str
    wait_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One stage; `label_selector` None selects nothing, an empty one every cluster."""

    name: str
    label_selector: LabelSelector | None = None
    sorting_label_key: str | None = None
    max_concurrency: IntOrPercent = 1
    before_tasks: tuple[StageTask, ...] = ()
    after_tasks: tuple[StageTask, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedStrategy:
    """ClusterStagedUpdateStrategy (namespace "") or StagedUpdateStrategy."""

    key: NamespacedName
    stages: tuple[Stage, ...]
    body: JsonObject = field(default_factory=dict)
    origin: Origin | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedRun:
    """ClusterStagedUpdateRun (namespace "") or StagedUpdateRun; `state` None runs at once (decision D8)."""

    key: NamespacedName
    placement_name: str
    strategy_name: str
    resource_snapshot_index: str | None = None
    state: str | None = None
    body: JsonObject = field(default_factory=dict)
    origin: Origin | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """(Cluster)ApprovalRequest as merged by people: the file's name or metadata.name, and its Approved condition."""

    key: NamespacedName
    conditions: Conditions = ()
    parent_run: str | None = None
    target_stage: str | None = None
    body: JsonObject = field(default_factory=dict)
    origin: Origin | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Eviction:
    """ClusterResourcePlacementEviction."""

    name: str
    placement_name: str
    cluster_name: str
    body: JsonObject = field(default_factory=dict)
    origin: Origin | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DisruptionBudget:
    """ClusterResourcePlacementDisruptionBudget: exactly one of the two; its name is the placement's."""

    name: str
    max_unavailable: IntOrPercent | None = None
    min_available: IntOrPercent | None = None
    body: JsonObject = field(default_factory=dict)
    origin: Origin | None = None
