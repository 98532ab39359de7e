"""Staged strategies, runs, approvals, evictions and disruption budgets: what people may write, its rules, its values.

Sources: KubeFleet apis/placement and pkg/utils/validator; decisions D8, D9, D11, D12 for what gitfleet adds.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, model_validator

from gitfleet.api.objects import JsonObject, Origin
from gitfleet.api.staged import (
    Approval,
    DisruptionBudget,
    Eviction,
    NamespacedName,
    Stage,
    StagedRun,
    StagedStrategy,
    StageTask,
)
from gitfleet.desired.breaks import Break, Broken
from gitfleet.desired.shapes import (
    ConditionShape,
    Duration,
    IntOrPercent,
    LabelKey,
    LabelSelectorShape,
    NonEmpty,
    ObjectShape,
    Shape,
    ShortMetadataShape,
    conditions_of,
    int_or_percent,
    seconds_of,
    selector_breaks,
)


def _stage_name(text: str) -> str:
    if not (text.isascii() and text.isalnum() and text == text.lower() and len(text) <= 63):
        raise ValueError("must be lower-case letters and digits only, 1 to 63; rename it")
    return text


def _concurrency(value: Any) -> int | str:
    if int_or_percent(value) in (0, "0%", "00%"):
        raise ValueError("must be at least 1, or 1% to 100%; raise it")
    return int_or_percent(value)


def _index(value: Any) -> Any:
    # KubeFleet has a string here; a plain whole number cannot be misunderstood.
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str) or (text and not (text.isascii() and text.isdigit())):
        raise ValueError('must be the number of a snapshot, such as "0"; correct it')
    return text


_CONCURRENCY_SCHEMA: Final = {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "string"}]}
Concurrency = Annotated[Any, AfterValidator(_concurrency), WithJsonSchema(_CONCURRENCY_SCHEMA)]
SnapshotIndex = Annotated[str, BeforeValidator(_index)]


class StageTaskShape(Shape):
    """Something that must be over before the run goes on."""

    type: Literal["Approval", "TimedWait"]
    wait_time: Duration | None = None


class StageShape(Shape):
    """One stage: which clusters, in which order, how many at a time, and what stands before and after it."""

    name: Annotated[str, AfterValidator(_stage_name)]
    label_selector: LabelSelectorShape | None = None
    sorting_label_key: LabelKey | None = None
    max_concurrency: Concurrency | None = None
    before_stage_tasks: Annotated[list[StageTaskShape], Field(max_length=1)] = Field(default_factory=list)
    after_stage_tasks: Annotated[list[StageTaskShape], Field(max_length=2)] = Field(default_factory=list)
    stuck_after: Duration | None = None
    max_failures: IntOrPercent | None = None
    on_failure: Literal["Wait", "Stop", "Rollback"] | None = None
    unreachable: Literal["Wait", "Skip", "Fail"] | None = None

    @model_validator(mode="after")
    def _rules(self) -> StageShape:
        if breaks := stage_breaks(self):
            raise Broken(breaks)
        return self


class StagedStrategySpecShape(Shape):
    """Stages in the order in which they are updated."""

    stages: Annotated[list[StageShape], Field(min_length=1, max_length=31)]
    membership: Literal["Abort", "Freeze"] | None = None

    @model_validator(mode="after")
    def _rules(self) -> StagedStrategySpecShape:
        names = [stage.name for stage in self.stages]
        twice = [index for index, name in enumerate(names) if name in names[:index]]
        if twice:
            raise Broken([(("stages", index, "name"), "is taken by an earlier stage; rename it") for index in twice])
        return self


class StagedStrategyShape(ObjectShape):
    """(Cluster)StagedUpdateStrategy: the stages through which a run goes."""

    metadata: ShortMetadataShape
    spec: StagedStrategySpecShape


class StagedRunSpecShape(Shape):
    """Which placement goes to which snapshot by which strategy."""

    placement_name: NonEmpty
    resource_snapshot_index: SnapshotIndex | None = None
    staged_rollout_strategy_name: NonEmpty
    state: Literal["Initialize", "Run", "Stop"] | None = None


class StagedRunShape(ObjectShape):
    """(Cluster)StagedUpdateRun: one rollout through the stages of a strategy."""

    metadata: ShortMetadataShape
    spec: StagedRunSpecShape


class ApprovalSpecShape(Shape):
    """The run and the stage that are approved."""

    parent_stage_rollout: NonEmpty
    target_stage: NonEmpty


class ApprovalStatusShape(Shape):
    """The condition Approved, True or False, is the decision."""

    conditions: list[ConditionShape] = Field(default_factory=list)


class ApprovalShape(ObjectShape):
    """(Cluster)ApprovalRequest: a person's word on a stage."""

    spec: ApprovalSpecShape | None = None
    status: ApprovalStatusShape | None = None  # type: ignore[assignment]  # narrower than any mapping, on purpose


class ApprovalPayloadShape(Shape):
    """The payload of the seeds: a status alone, in a file named after the request."""

    status: ApprovalStatusShape


class EvictionSpecShape(Shape):
    """Which placement leaves which cluster."""

    placement_name: NonEmpty
    cluster_name: NonEmpty


class EvictionShape(ObjectShape):
    """ClusterResourcePlacementEviction: takes a placement off a cluster, once."""

    spec: EvictionSpecShape


class BudgetSpecShape(Shape):
    """Exactly one of the two."""

    max_unavailable: IntOrPercent | None = None
    min_available: IntOrPercent | None = None

    @model_validator(mode="after")
    def _rules(self) -> BudgetSpecShape:
        if (self.max_unavailable is None) == (self.min_available is None):
            raise Broken([((), "needs exactly one of maxUnavailable and minAvailable; write one")])
        return self


class BudgetShape(ObjectShape):
    """ClusterResourcePlacementDisruptionBudget: limits evictions of the placement of the same name."""

    metadata: ShortMetadataShape
    spec: BudgetSpecShape


def stage_breaks(stage: StageShape) -> list[Break]:
    """Before a stage only an approval; after it at most one task of each type; TimedWait alone has a time."""
    breaks: list[Break] = [(("labelSelector", *below), why) for below, why in selector_breaks(stage.label_selector)]
    for index, task in enumerate(stage.before_stage_tasks):
        if task.type != "Approval":
            breaks.append((("beforeStageTasks", index, "type"), "must be Approval before a stage; correct it"))
    for field, tasks in (("beforeStageTasks", stage.before_stage_tasks), ("afterStageTasks", stage.after_stage_tasks)):
        for index, task in enumerate(tasks):
            here = (field, index)
            if task.type in [earlier.type for earlier in tasks[:index]]:
                breaks.append(((*here, "type"), f"{task.type} stands twice; remove one"))
            if task.type == "TimedWait" and task.wait_time is None:
                breaks.append(((*here, "waitTime"), "is required with type TimedWait; add a duration such as 1h"))
            if task.type == "Approval" and task.wait_time is not None:
                breaks.append(((*here, "waitTime"), "does not go with type Approval; remove it"))
    return breaks


def budget_breaks(placement_type: str, budget: DisruptionBudget | BudgetSpecShape) -> list[Break]:
    """A PickAll placement has no fixed number, so only a plain minAvailable means something (KubeFleet's own check)."""
    if placement_type != "PickAll":
        return []
    breaks: list[Break] = []
    if budget.max_unavailable is not None:
        breaks.append((("maxUnavailable",), "does not go with a PickAll placement; use minAvailable with a number"))
    if isinstance(budget.min_available, str):
        breaks.append((("minAvailable",), "cannot be a percentage with a PickAll placement; write a number"))
    return breaks


def strategy_of(shape: StagedStrategyShape, body: JsonObject, origin: Origin) -> StagedStrategy:
    """The staged strategy."""
    return StagedStrategy(key=_key(shape), stages=tuple(map(_stage, shape.spec.stages)), body=body, origin=origin)


def run_of(shape: StagedRunShape, body: JsonObject, origin: Origin) -> StagedRun:
    """The staged run; an empty snapshot index means the latest, as an absent one does."""
    return StagedRun(
        key=_key(shape),
        placement_name=shape.spec.placement_name,
        strategy_name=shape.spec.staged_rollout_strategy_name,
        resource_snapshot_index=shape.spec.resource_snapshot_index or None,
        state=shape.spec.state,
        body=body,
        origin=origin,
    )


def approval_of(shape: ApprovalShape, body: JsonObject, origin: Origin) -> Approval:
    """The approval request with what was decided about it."""
    return Approval(
        key=_key(shape),
        conditions=conditions_of(shape.status.conditions) if shape.status else (),
        parent_run=shape.spec.parent_stage_rollout if shape.spec else None,
        target_stage=shape.spec.target_stage if shape.spec else None,
        body=body,
        origin=origin,
    )


def approval_of_payload(shape: ApprovalPayloadShape, key: NamespacedName, body: JsonObject, origin: Origin) -> Approval:
    """The approval that a bare status stands for; its name is the file's."""
    return Approval(key=key, conditions=conditions_of(shape.status.conditions), body=body, origin=origin)


def eviction_of(shape: EvictionShape, body: JsonObject, origin: Origin) -> Eviction:
    """The eviction."""
    spec = shape.spec
    return Eviction(
        name=shape.metadata.name,
        placement_name=spec.placement_name,
        cluster_name=spec.cluster_name,
        body=body,
        origin=origin,
    )


def budget_of(shape: BudgetShape, body: JsonObject, origin: Origin) -> DisruptionBudget:
    """The disruption budget."""
    return DisruptionBudget(
        name=shape.metadata.name,
        max_unavailable=shape.spec.max_unavailable,
        min_available=shape.spec.min_available,
        body=body,
        origin=origin,
    )


def _key(shape: ObjectShape) -> NamespacedName:
    return NamespacedName(shape.metadata.namespace or "", shape.metadata.name)


def _stage(shape: StageShape) -> Stage:
    return Stage(
        name=shape.name,
        label_selector=shape.label_selector.to_model() if shape.label_selector else None,
        sorting_label_key=shape.sorting_label_key,
        max_concurrency=1 if shape.max_concurrency is None else shape.max_concurrency,
        before_tasks=tuple(map(_task, shape.before_stage_tasks)),
        after_tasks=tuple(map(_task, shape.after_stage_tasks)),
    )


def _task(shape: StageTaskShape) -> StageTask:
    return StageTask(type=shape.type, wait_seconds=seconds_of(shape.wait_time) if shape.wait_time else None)
