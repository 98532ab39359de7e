"""Staged updates and evictions, as people write them: strategies, runs, approvals, evictions, disruption budgets.

Sources: KubeFleet apis/placement and pkg/utils/validator; decisions D8, D9, D11, D12 for what gitfleet adds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, Final

from annotated_types import Interval, Len

from gitfleet.api.annotations import At, Break, Inline, Only, names_taken
from gitfleet.api.conditions import Condition, Conditions, EvictionConditionType, Status, find_condition
from gitfleet.api.labels import LabelSelector
from gitfleet.api.layout import document
from gitfleet.api.objects import Authored
from gitfleet.api.placements import PLACEMENT_GROUP
from gitfleet.api.stage_tasks import AnalysisScope, OnStageFailure, StageTask, TaskType
from gitfleet.api.texts import ApiText
from gitfleet.api.values import (
    Annotations,
    IntOrPercent,
    Key,
    LabelKey,
    NamespacedName,
    NonEmpty,
    ObjectName,
    Seconds,
    ShortName,
    SnapshotIndex,
    above_zero,
    matching,
)

_API_VERSION: Final = f"{PLACEMENT_GROUP}/v1beta1"
REWRITE_PREFIX: Final = "rewrite-"
"""What the name of every approval of a new head of the watched branch begins with."""
HOLD_PREFIX: Final = "hold-"
"""What the name of every hold, and so of its approval, begins with."""


DIGEST: Final = "gitfleet.dev/digest"
"""The annotation of an approval that says for which request, of those of its name, it was given."""
SNAPSHOT_INDEX: Final = "gitfleet.dev/resource-snapshot-index"
"""The annotation of an approval, and of its request, that says which snapshot the run rolls out."""
Concurrency = Annotated[IntOrPercent, above_zero(ApiText.MUST_LEAST_RAISE_2())]


ShortKey = Annotated[NamespacedName, Inline(("metadata",), types={"name": ShortName})]
"""For kinds whose names KubeFleet limits to 63 characters."""


class Unreachable(StrEnum):
    """What a run does about clusters that do not answer: wait, skip them, or count them as stuck at once."""

    WAIT = "Wait"
    SKIP = "Skip"
    FAIL = "Fail"


class Membership(StrEnum):
    """What a run does when the placement's clusters change: end, or go on with those of its start."""

    ABORT = "Abort"
    FREEZE = "Freeze"


class RunState(StrEnum):
    """What people want of a run."""

    INITIALIZE = "Initialize"
    RUN = "Run"
    STOP = "Stop"

    @property
    def starts(self) -> bool:
        """Whether clusters may be started."""
        return self is RunState.RUN


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One stage: which clusters, in which order, how many at a time, and what stands before and after it.

    `label_selector` None selects nothing, an empty one every cluster. `min_soak` is how long (seconds) a cluster must
    be healthy before it counts as updated, `start_rate` how many clusters at most start within a minute.

    name: what the stage is called
    labelSelector: which clusters belong to the stage; every one where it is empty, none where it is absent
    sortingLabelKey: the label whose number orders the clusters; by name where it is absent
    maxConcurrency: how many clusters, or percent of them, are updated at a time
    beforeStageTasks: what must be over before the stage starts
    afterStageTasks: what must be over before the next stage starts
    stuckAfter: how long an update may take before it counts as stuck
    maxFailures: how many stuck clusters, or percent of them, are given up while the run goes on
    onFailure: what the run does with more of them: wait, stop, or give the clusters back what they had
    unreachable: whether clusters that do not answer are waited for, skipped, or count as stuck at once
    minSoak: how long a cluster must be healthy before it counts as updated
    startRate: how many clusters at most start within any minute
    """

    name: Annotated[str, matching("[a-z0-9]{1,63}", ApiText.MUST_LOWER_CASE_LETTERS_DIGITS())]
    label_selector: LabelSelector | None = None
    sorting_label_key: LabelKey | None = None
    max_concurrency: Concurrency = 1
    before_tasks: Annotated[tuple[StageTask, ...], Len(0, 1), At("beforeStageTasks")] = ()
    after_tasks: Annotated[tuple[StageTask, ...], Len(0, 3), At("afterStageTasks")] = ()
    stuck_after: Seconds | None = None
    max_failures: IntOrPercent | None = None
    on_failure: OnStageFailure | None = None
    unreachable: Unreachable | None = None
    min_soak: Seconds | None = None
    start_rate: Annotated[int, Interval(ge=1)] | None = None

    def breaks(self) -> Iterator[Break]:
        """Before a stage only an approval; after it at most one task of each type."""
        for index, task in enumerate(self.before_tasks):
            if task.type is not TaskType.APPROVAL:
                yield ("beforeStageTasks", index, "type"), ApiText.MUST_APPROVAL_BEFORE_STAGE()
        for index, task in enumerate(self.after_tasks):
            if task.type in [earlier.type for earlier in self.after_tasks[:index]]:
                yield ("afterStageTasks", index, "type"), ApiText.STANDS_TWICE_REMOVE_ONE_2(task=task.type)


def strategy_kind(namespace: str) -> str:
    """The kind of the strategies that runs of a namespace have, "" for cluster-wide ones."""
    return "StagedUpdateStrategy" if namespace else "ClusterStagedUpdateStrategy"


def by_scope(kind: str) -> Any:
    """apiVersion and kind of a value whose kind has a cluster-scoped and a namespaced form."""
    return lambda value: (_API_VERSION, kind if value.key.namespace else f"Cluster{kind}")


@document("spec", identify=by_scope("StagedUpdateStrategy"))
@dataclass(frozen=True, slots=True, kw_only=True)
class StagedStrategy(Authored):
    """ClusterStagedUpdateStrategy (namespace "") or StagedUpdateStrategy: the stages through which a run goes.

    stages: the stages, in their order
    membership: whether a run ends (Abort) or keeps its first set of clusters (Freeze) when its clusters change
    """

    key: ShortKey
    stages: Annotated[tuple[Stage, ...], Len(1, 31)]
    membership: Membership | None = None

    def warnings(self) -> Iterator[Break]:
        """Stages that no cluster can be in (the newest KubeFleet: no selector selects none)."""
        for index, stage in enumerate(self.stages):
            if stage.label_selector is None:
                sentence = ApiText.NO_LABELSELECTOR_SELECTS_NO_CLUSTER()
                yield ("spec", "stages", index), sentence

    def breaks(self) -> Iterator[Break]:
        """Stages have names of their own, and a stage that is compared with later ones has some."""
        yield from names_taken((stage.name for stage in self.stages), ("spec", "stages"), "stage")
        for index, task in enumerate(self.stages[-1].after_tasks):
            if task.scope is AnalysisScope.CANARY:
                where = ("spec", "stages", len(self.stages) - 1, "afterStageTasks", index, "scope")
                yield where, ApiText.COMPARED_LATER_STAGES()


BEGAN_ELSEWHERE: Final = ApiText.BEFORE_CAME_HERE()
"""What the reason says of a run that never begins here."""


@document("spec", identify=by_scope("StagedUpdateRun"))
@dataclass(frozen=True, slots=True, kw_only=True)
class StagedRun(Authored):
    """ClusterStagedUpdateRun (namespace "") or StagedUpdateRun: one rollout through the stages of a strategy.

    `resource_snapshot_index` None means the latest; `state` None runs at once (decision D8). `began_elsewhere` is what
    the status in its file says of it, "" where that says nothing: then it never begins here, where another hub's
    snapshot numbers mean other content.

    placementName: the placement that is rolled out
    stagedRolloutStrategyName: the strategy whose stages it goes through
    resourceSnapshotIndex: the number of the snapshot that goes out; the latest where it is absent
    state: Initialize prepares the run only, Run carries it out, Stop starts no further cluster
    """

    key: ShortKey
    placement_name: NonEmpty
    strategy_name: Annotated[NonEmpty, At("spec", "stagedRolloutStrategyName")]
    resource_snapshot_index: SnapshotIndex = None
    state: RunState | None = None
    began_elsewhere: Annotated[str, Only.MEMORY] = ""

    def breaks(self) -> Iterator[Break]:
        """Its approvals are named after it, and must not look like those of anything else."""
        for prefix, owner in ((HOLD_PREFIX, "held removals"), (REWRITE_PREFIX, "rewritten branches")):
            if f"{self.key.name}-".startswith(prefix):
                yield ("metadata", "name"), ApiText.BEGINS_NAMES_RENAME(other=owner, prefix=prefix)


@document("spec", identify=by_scope("ApprovalRequest"))
@dataclass(frozen=True, slots=True, kw_only=True)
class Approval(Authored):
    """(Cluster)ApprovalRequest as merged by people: a person's approval of a stage.

    The condition Approved, True or False, is the decision.

    parentStageRollout: the run that is answered
    targetStage: the stage of that run
    """

    key: Key
    annotations: Annotated[Annotations, At("metadata", "annotations")] = field(default_factory=dict)
    conditions: Annotated[Conditions, At("status", "conditions")] = ()
    parent_run: Annotated[NonEmpty | None, At("spec", "parentStageRollout")] = None
    target_stage: NonEmpty | None = None

    @property
    def digest(self) -> str | None:
        """The digest that the file names."""
        return self.annotations.get(DIGEST)

    @property
    def snapshot_index(self) -> str | None:
        """The index of the snapshot that the file names."""
        return self.annotations.get(SNAPSHOT_INDEX)

    def breaks(self) -> Iterator[Break]:
        """A spec names both the run and the stage."""
        for name, value, counterpart in (
            ("parentStageRollout", self.parent_run, self.target_stage),
            ("targetStage", self.target_stage, self.parent_run),
        ):
            if value is None and counterpart is not None:
                yield ("spec", name), ApiText.REQUIRED_ADD()


EVICTION: Final = "ClusterResourcePlacementEviction"
DECIDED_ELSEWHERE: Final = ApiText.DECIDED_BEFORE_CAME_HERE()
"""Why nothing is done for an eviction that came with conditions, as the end of a sentence."""


@document("spec", identify=lambda _: (_API_VERSION, EVICTION))
@dataclass(frozen=True, slots=True, kw_only=True)
class Eviction(Authored):
    """ClusterResourcePlacementEviction: takes a placement off a cluster, once.

    `conditions` say what became of it: on the state branch here, in a file of people where it was exported from.

    placementName: the placement that is taken off the cluster
    clusterName: the cluster
    """

    name: Annotated[ObjectName, At("metadata", "name")]
    placement_name: NonEmpty
    cluster_name: NonEmpty
    conditions: Annotated[Conditions, At("status", "conditions")] = ()

    @property
    def valid(self) -> Condition | None:
        """Whether it names something that can be evicted; None while it is undecided."""
        return find_condition(self.conditions, EvictionConditionType.VALID)

    @property
    def executed(self) -> Condition | None:
        """Whether it was executed, and why; None for one that is invalid or undecided."""
        return find_condition(self.conditions, EvictionConditionType.EXECUTED)

    @property
    def is_over(self) -> bool:
        """Whether conditions say anything of it: where they were written it may have been carried out, or will be."""
        return bool(self.conditions)

    @property
    def was_executed(self) -> bool:
        """Whether the cluster was evicted."""
        return self.executed is not None and self.executed.status is Status.TRUE

    @property
    def outcome(self) -> Condition | None:
        """The condition that says how it ended; None while it is undecided."""
        return self.executed or self.valid


@document("spec", identify=lambda _: (_API_VERSION, "ClusterResourcePlacementDisruptionBudget"))
@dataclass(frozen=True, slots=True, kw_only=True)
class DisruptionBudget(Authored):
    """ClusterResourcePlacementDisruptionBudget: limits evictions of the placement of the same name.

    maxUnavailable: how many clusters, or percent of them, may be unavailable at once
    minAvailable: how many clusters, or percent of them, must stay available
    """

    name: Annotated[ShortName, At("metadata", "name")]
    max_unavailable: IntOrPercent | None = None
    min_available: IntOrPercent | None = None

    def breaks(self) -> Iterator[Break]:
        """Exactly one of the two."""
        if (self.max_unavailable is None) == (self.min_available is None):
            yield ("spec",), ApiText.NEEDS_EXACTLY_ONE_MAXUNAVAILABLE_MINAVAILABLE()

    def breaks_beside(self, placement_type: str) -> Iterator[Break]:
        """A PickAll placement has no fixed number, so only a plain minAvailable means something (KubeFleet's check)."""
        if placement_type != "PickAll":
            return
        if self.max_unavailable is not None:
            yield ("spec", "maxUnavailable"), ApiText.NOT_GO_PICKALL_PLACEMENT()
        if isinstance(self.min_available, str):
            yield ("spec", "minAvailable"), ApiText.CANNOT_PERCENTAGE_PICKALL_PLACEMENT()
