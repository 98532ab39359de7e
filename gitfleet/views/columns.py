"""The columns of every kind, KubeFleet's printer columns among them: a title, whether only `-o wide` shows it, and the
cell that a view has there."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final, TypeAlias

from gitfleet.api.clusters import NODE_COUNT, silent_from
from gitfleet.api.conditions import APPROVED, Condition, ConditionType, Status, find_condition, type_of
from gitfleet.api.runs import APPROVAL_ACCEPTED, RunConditionType
from gitfleet.api.snapshots import OverrideSnapshot, snapshot_index
from gitfleet.api.strategies import ApplyStrategyType
from gitfleet.formats.sentences import counted
from gitfleet.status import steps_of
from gitfleet.views.holds import hold_state, not_counted
from gitfleet.views.models import ClusterView, OwnView, PlacementView, SnapshotView, first_time
from gitfleet.views.runs import RunView
from gitfleet.views.tables import NONE, age, status_text
from gitfleet.views.texts import ViewsText

Column: TypeAlias = tuple[str, bool, Callable[[Any, datetime], str]]


def _status(type_: ConditionType) -> Callable[[PlacementView, datetime], str]:
    return lambda view, _: _reached(type_, lambda step: _of_placement(view, step))


def _reached(type_: ConditionType, condition_of: Callable[[ConditionType], Condition | None]) -> str:
    """The status of a condition; without one, that of the step before it that is not done, "" where there is none."""
    condition = condition_of(type_)
    if condition is None:
        before = filter(None, (condition_of(step.type) for step in steps_of(ApplyStrategyType.SERVER_SIDE_APPLY)))
        condition = next((step for step in before if step.status is not Status.TRUE), None)
    return status_text(condition)


def _generation(type_: ConditionType) -> Callable[[PlacementView, datetime], str]:
    def cell(view: PlacementView, _now: datetime) -> str:
        condition = _of_placement(view, type_)
        return str(condition.observed_generation) if condition else ""

    return cell


def _of_placement(view: PlacementView, type_: ConditionType) -> Condition | None:
    return find_condition(view.file.conditions, type_of(view.file.placement.key.kind, type_))


def _bound(type_: ConditionType) -> Callable[[OwnView, datetime], str]:
    def cell(view: OwnView, _now: datetime) -> str:
        conditions, generation = view.value.conditions, view.value.generation
        return _reached(type_, lambda step: find_condition(conditions, step, generation=generation))

    return cell


def _asked(type_: str) -> Callable[[OwnView, datetime], str]:
    return lambda view, _: status_text(find_condition(view.value.conditions, type_))


def _run(type_: RunConditionType) -> Callable[[RunView, datetime], str]:
    return lambda view, _: status_text(find_condition(view.run.status.conditions, type_))


def _amount(side: str, resource: str) -> Callable[[ClusterView, datetime], str]:
    def cell(view: ClusterView, _now: datetime) -> str:
        usage = view.cluster.status.resource_usage
        return (usage.available if side == "available" else usage.allocatable).get(resource, "")

    return cell


def _node_count(view: ClusterView, _now: datetime) -> str:
    nodes = view.cluster.status.properties.get(NODE_COUNT)
    return nodes.value if nodes else ""


def _last_seen(view: ClusterView, now: datetime) -> str:
    agent = view.cluster.status.agent
    if agent is not None and agent.conditions and silent_from(view.cluster) is None:
        # A heartbeat is written with a change only: its age would be that of a cluster that is silent.
        return ViewsText.LAST_PASS()
    return age(agent.last_received_heartbeat if agent else None, now)


def _targets(view: SnapshotView[OverrideSnapshot], _now: datetime) -> str:
    return ",".join(f"{item.kind}/{item.name}" for item in view.snapshot.override.resources) or NONE


def _hold_names(view: PlacementView | RunView, _now: datetime) -> str:
    return ",".join(hold.name for hold in view.holds) or NONE


PLACEMENTS: Final[tuple[Column, ...]] = (
    ("GEN", False, lambda view, _: str(view.file.placement.generation)),
    ("TYPE", True, lambda view, _: view.file.placement.effective_policy.placement_type.value),
    ("SCHEDULED", False, _status(ConditionType.SCHEDULED)),
    ("SCHEDULED-GEN", True, _generation(ConditionType.SCHEDULED)),
    ("WORK-SYNCHRONIZED", True, _status(ConditionType.WORK_SYNCHRONIZED)),
    ("WORK-SYNCHRONIZED-GEN", True, _generation(ConditionType.WORK_SYNCHRONIZED)),
    ("AVAILABLE", False, _status(ConditionType.AVAILABLE)),
    ("AVAILABLE-GEN", True, _generation(ConditionType.AVAILABLE)),
    ("CLUSTERS", False, lambda view, _: f"{view.file.summary.available}/{view.file.summary.picked}"),
    ("SNAPSHOT", False, lambda view, _: view.file.summary.latest_index or NONE),
    ("AGE", False, lambda view, now: age(view.since, now)),
    ("WAITING", False, lambda view, _: counted(len(view.holds), "hold") if view.holds else NONE),
    ("HOLDS", True, _hold_names),
)
CLUSTERS: Final[tuple[Column, ...]] = (
    ("JOINED", False, lambda view, _: view.joined),
    ("STATE", False, lambda view, _: view.state_text),
    ("AGE", False, lambda view, now: age(view.since, now)),
    ("MEMBER-AGENT-LAST-SEEN", True, _last_seen),
    ("NODE-COUNT", False, _node_count),
    ("AVAILABLE-CPU", False, _amount("available", "cpu")),
    ("AVAILABLE-MEMORY", True, _amount("available", "memory")),
    ("ALLOCATABLE-CPU", True, _amount("allocatable", "cpu")),
    ("ALLOCATABLE-MEMORY", True, _amount("allocatable", "memory")),
    ("MESSAGE", True, lambda view, _: "; ".join(filter(None, (view.message, view.held)))),
)
BINDINGS: Final[tuple[Column, ...]] = (
    ("CLUSTER", True, lambda view, _: view.value.cluster),
    ("STATE", False, lambda view, _: view.value.state.value),
    ("SNAPSHOT", False, lambda view, _: snapshot_index(view.value.resource_snapshot) or NONE),
    ("HAS", True, lambda view, _: snapshot_index(view.value.applied_snapshot) or NONE),
    ("VARIANTS", True, lambda view, _: ",".join(f"{f}={v}" for f, v in view.value.variants) or NONE),
    ("WORKSYNCHRONIZED", True, _bound(ConditionType.WORK_SYNCHRONIZED)),
    ("RESOURCESAPPLIED", True, _bound(ConditionType.APPLIED)),
    ("AVAILABLE", False, _bound(ConditionType.AVAILABLE)),
    ("AGE", False, lambda view, now: age(first_time(view.value.conditions), now)),
)
SNAPSHOTS: Final[tuple[Column, ...]] = (
    ("PLACEMENT", True, lambda view, _: view.snapshot.placement.name),
    ("INDEX", False, lambda view, _: str(view.snapshot.index)),
    ("LATEST", False, lambda view, _: str(view.latest).lower()),
    ("RESOURCES", False, lambda view, _: str(len(view.snapshot.keys))),
    ("COMMIT", False, lambda view, _: view.snapshot.commit[:12]),
    ("HASH", True, lambda view, _: view.snapshot.hash[:12]),
    ("AGE", False, lambda view, now: age(view.snapshot.created, now)),
)
POLICIES: Final[tuple[Column, ...]] = (
    ("PLACEMENT", False, lambda view, _: view.snapshot.placement.name),
    ("INDEX", False, lambda view, _: str(view.snapshot.index)),
    ("LATEST", False, lambda view, _: str(view.latest).lower()),
    ("TYPE", False, lambda view, _: view.snapshot.policy.placement_type.value),
)
HOLDS: Final[tuple[Column, ...]] = (
    ("STATE", False, lambda view, _: hold_state(view.value)),
    ("OBJECTS", False, lambda view, _: str(view.value.objects)),
    ("CLUSTERS", False, lambda view, _: str(len(view.value.clusters))),
    ("REMOVALS", False, lambda view, _: str(view.value.total)),
    ("COMMIT", True, lambda view, _: view.value.commit[:12]),
    ("AGE", False, lambda view, now: age(view.value.since, now)),
    ("REASON", True, lambda view, _: str(view.value.reasons[0]) if view.value.reasons else ""),
    ("APPROVALS", True, lambda view, _: not_counted(view.value.conditions)),
)
EVICTIONS: Final[tuple[Column, ...]] = (
    ("VALID", False, lambda view, _: view.valid),
    ("EXECUTED", False, lambda view, _: view.executed),
    ("PLACEMENT", False, lambda view, _: view.eviction.placement_name),
    ("CLUSTER", False, lambda view, _: view.eviction.cluster_name),
    ("AGE", False, lambda view, now: age(view.since, now)),
    ("MESSAGE", True, lambda view, _: view.message),
)
FREEZES: Final[tuple[Column, ...]] = (
    ("KIND", False, lambda view, _: view.kind),
    ("STATE", False, lambda view, now: view.state(now)),
    ("UNTIL", False, lambda view, now: view.next(now)),
    ("SCOPE", False, lambda view, _: view.scope),
    ("OWNER", True, lambda view, _: view.owner),
    ("WHEN", True, lambda view, _: view.when),
    ("REASON", True, lambda view, _: view.reason),
)
QUARANTINES: Final[tuple[Column, ...]] = (
    ("PLACEMENT", False, lambda view, _: str(view.value.placement)),
    ("DIGEST", False, lambda view, _: view.value.digest[:12]),
    ("LIFTED", False, lambda view, _: str(view.value.lifted).lower()),
    ("RUN", False, lambda view, _: view.value.run or NONE),
    ("AGE", False, lambda view, now: age(view.value.since, now)),
    ("REASON", True, lambda view, _: view.value.reason),
)
RUNS: Final[tuple[Column, ...]] = (
    ("PLACEMENT", False, lambda view, _: view.run.placement_name),
    ("RESOURCE-SNAPSHOT", False, lambda view, _: view.run.status.resource_snapshot_index_used),
    ("POLICY-SNAPSHOT", False, lambda view, _: view.run.status.policy_snapshot_index_used),
    ("INITIALIZED", False, _run(RunConditionType.INITIALIZED)),
    ("PROGRESSING", True, _run(RunConditionType.PROGRESSING)),
    ("SUCCEEDED", False, _run(RunConditionType.SUCCEEDED)),
    ("STAGE", True, lambda view, _: view.stage),
    ("UPDATED", True, lambda view, _: view.updated),
    ("STRATEGY", True, lambda view, _: view.run.strategy_name),
    ("AGE", False, lambda view, now: age(view.run.created, now)),
    ("MESSAGE", True, lambda view, now: "; ".join(view.waits(now)) or view.message),
    ("HOLDS", True, _hold_names),
)
ROLLOUTS: Final[tuple[Column, ...]] = (
    ("TARGET", True, lambda view, _: view.target),
    ("STRATEGY", True, lambda view, _: view.record.rollout_plan.rollout_strategy.value),
    ("CLUSTERS", False, lambda view, _: view.done),
    ("STATE", False, lambda view, _: view.state),
    ("SUB-STATE", True, lambda view, _: view.sub_state),
    ("BATCH", False, lambda view, _: view.batch),
    ("READY", False, lambda view, _: view.ready),
    ("AGE", False, lambda view, now: age(view.since, now)),
    ("MESSAGE", True, lambda view, _: view.message),
)
APPROVALS: Final[tuple[Column, ...]] = (
    ("UPDATE-RUN", False, lambda view, _: view.value.parent_run),
    ("STAGE", False, lambda view, _: view.value.target_stage),
    ("APPROVED", False, _asked(APPROVED)),
    ("APPROVALACCEPTED", False, _asked(APPROVAL_ACCEPTED)),
    ("TASK", True, lambda view, _: view.value.task),
    ("SNAPSHOT", True, lambda view, _: view.value.snapshot_index),
    ("AGE", False, lambda view, now: age(view.value.created, now)),
    ("APPROVALS", True, lambda view, _: not_counted(view.value.conditions)),
)
OVERRIDES: Final[tuple[Column, ...]] = (
    ("INDEX", False, lambda view, _: str(view.snapshot.index)),
    ("LATEST", False, lambda view, _: str(view.latest).lower()),
    ("RULES", False, lambda view, _: str(len(view.snapshot.override.rules))),
    ("RESOURCES", False, _targets),
)
