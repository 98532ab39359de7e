"""Staged update runs and their approval requests as gitfleet keeps them on the state branch (KubeFleet
apis/placement/v1beta1/stageupdate_types.go; the seeds' statuses).

The spec of a record is the one that the run was started with. Reasons are a closed set of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final

from gitfleet.api.annotations import At
from gitfleet.api.bindings import References
from gitfleet.api.conditions import Condition, Conditions, Status, answer_of, find_condition
from gitfleet.api.folders import ChosenVariants
from gitfleet.api.layout import document
from gitfleet.api.placements import PlacementKey
from gitfleet.api.snapshots import snapshot_name
from gitfleet.api.stage_tasks import TaskType
from gitfleet.api.staged import SNAPSHOT_INDEX, Approval, Membership, Stage, StagedRun, by_scope
from gitfleet.api.strategies import ApplyStrategy
from gitfleet.api.values import NamespacedName, Time
from gitfleet.api.workload_records import Measurement

DELETE_STAGE: Final = "kubernetes-fleet.io/deleteStage"
"""The name of the last stage of every run, which takes the placement off the clusters that it no longer picks."""
APPROVAL_ACCEPTED: Final = "ApprovalAccepted"
ASKED_AT: Final = "gitfleet.dev/commit"
"""The annotation of an approval request that says at which commit of the watched branch it was asked for."""
_LABEL: Final = "kubernetes-fleet.io/"


class RunConditionType(StrEnum):
    """The conditions of a run, of a stage, of a cluster in a stage and of a task, each in the order in which it comes
    about."""

    INITIALIZED = "Initialized"
    PROGRESSING = "Progressing"
    SUCCEEDED = "Succeeded"
    STARTED = "Started"
    SOAKING = "Soaking"
    ROLLED_BACK = "RolledBack"
    WAIT_TIME_ELAPSED = "WaitTimeElapsed"
    APPROVAL_REQUEST_CREATED = "ApprovalRequestCreated"
    APPROVAL_REQUEST_APPROVED = "ApprovalRequestApproved"
    ANALYSIS_RUNNING = "AnalysisRunning"
    ANALYSIS_SUCCEEDED = "AnalysisSucceeded"


class RunReason(StrEnum):
    """Every reason in the status of a run: the seeds', KubeFleet's where the seeds show none (`STOPPING` and so on, and
    all of a before-stage task), and those of rolling back, soaking and analyses, `CLUSTER_SKIPPED` and
    `STAGE_TASK_REJECTED`, which KubeFleet does not have."""

    RUN_INITIALIZED = "UpdateRunInitializedSuccessfully"
    RUN_NOT_INITIALIZED = "UpdateRunInitializedFailed"
    RUN_STARTED = "UpdateRunStarted"
    RUN_WAITING = "UpdateRunWaiting"
    RUN_STUCK = "UpdateRunStuck"
    RUN_STOPPING = "UpdateRunStopping"
    RUN_STOPPED = "UpdateRunStopped"
    RUN_FAILED = "UpdateRunFailed"
    RUN_ROLLING_BACK = "UpdateRunRollingBack"
    RUN_ROLLED_BACK = "UpdateRunRolledBack"
    RUN_SUCCEEDED = "UpdateRunSucceeded"
    STAGE_STARTED = "StageUpdatingStarted"
    STAGE_WAITING = "StageUpdatingWaiting"
    STAGE_STOPPING = "StageUpdatingStopping"
    STAGE_STOPPED = "StageUpdatingStopped"
    STAGE_FAILED = "StageUpdatingFailed"
    STAGE_SUCCEEDED = "StageUpdatingSucceeded"
    STAGE_SKIPPED = "StageUpdatingSkippedNoClusters"
    CLUSTER_STARTED = "ClusterUpdatingStarted"
    CLUSTER_FAILED = "ClusterUpdatingFailed"
    CLUSTER_SUCCEEDED = "ClusterUpdatingSucceeded"
    CLUSTER_SKIPPED = "ClusterUpdatingSkipped"
    CLUSTER_ROLLING_BACK = "ClusterRollingBack"
    CLUSTER_ROLLED_BACK = "ClusterRolledBack"
    CLUSTER_HEALTHY = "ClusterHealthy"
    CLUSTER_NOT_HEALTHY = "ClusterNotHealthy"
    WAIT_TIME_ELAPSED = "AfterStageTaskWaitTimeElapsed"
    AFTER_STAGE_REQUEST_CREATED = "AfterStageTaskApprovalRequestCreated"
    AFTER_STAGE_REQUEST_APPROVED = "AfterStageTaskApprovalRequestApproved"
    ANALYSIS_RUNNING = "AfterStageTaskAnalysisRunning"
    ANALYSIS_SUCCEEDED = "AfterStageTaskAnalysisSucceeded"
    ANALYSIS_FAILED = "AfterStageTaskAnalysisFailed"
    BEFORE_STAGE_REQUEST_CREATED = "StageTaskApprovalRequestCreated"
    BEFORE_STAGE_REQUEST_APPROVED = "StageTaskApprovalRequestApproved"
    STAGE_TASK_REJECTED = "StageTaskApprovalRequestRejected"
    APPROVAL_ACCEPTED = "ApprovalRequestApprovalAccepted"


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategySnapshot:
    """The strategy as it was when the run began: later edits change nothing for it."""

    stages: tuple[Stage, ...]
    membership: Membership | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Former:
    """What a cluster had when the run began to update it: where a run rolls back, it gets that again."""

    resource_snapshot: str
    resource_overrides: Annotated[References, At("resourceOverrideSnapshots")] = ()
    cluster_resource_overrides: Annotated[tuple[str, ...], At("clusterResourceOverrideSnapshots")] = ()
    variants: ChosenVariants = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterUpdate:
    """One cluster of a stage, and the override snapshots and variants that it gets: pinned when the run begins.
    `former` is None where the run has changed nothing, or the cluster had nothing before; `reverted` is when it began
    to get it back."""

    cluster: Annotated[str, At("clusterName")]
    resource_overrides: Annotated[References, At("resourceOverrideSnapshots")] = ()
    cluster_resource_overrides: Annotated[tuple[str, ...], At("clusterResourceOverrideSnapshots")] = ()
    variants: ChosenVariants = ()
    former: Former | None = None
    reverted: Annotated[Time | None, At("rollbackStartTime")] = None
    conditions: Conditions = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStatus:
    """A task before or after a stage; an approval has the name of its request from the beginning, an analysis its
    newest measurements."""

    type: TaskType
    approval_request_name: str = ""
    measurements: tuple[Measurement, ...] = ()
    conditions: Conditions = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StageStatus:
    """One stage: its clusters in the order in which they are updated. `start_time` is when its first cluster started,
    `end_time` when it succeeded or failed."""

    name: Annotated[str, At("stageName")]
    clusters: tuple[ClusterUpdate, ...]
    before_tasks: Annotated[tuple[TaskStatus, ...], At("beforeStageTaskStatus")] = ()
    after_tasks: Annotated[tuple[TaskStatus, ...], At("afterStageTaskStatus")] = ()
    conditions: Conditions = ()
    start_time: Time | None = None
    end_time: Time | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStatus:
    """KubeFleet's UpdateRunStatus. Everything but the conditions of run, stages, clusters and tasks is fixed when the
    run is initialized."""

    conditions: Conditions = ()
    policy_snapshot_index_used: str = ""
    policy_observed_cluster_count: int = 0
    resource_snapshot_index_used: str = ""
    apply_strategy: Annotated[ApplyStrategy, At("appliedStrategy")] = ApplyStrategy()
    strategy: Annotated[StrategySnapshot | None, At("stagedUpdateStrategySnapshot")] = None
    stages: Annotated[tuple[StageStatus, ...], At("stagesStatus")] = ()
    deletion: Annotated[StageStatus | None, At("deletionStageStatus")] = None

    @property
    def clusters(self) -> tuple[ClusterUpdate, ...]:
        """The clusters of the stages, in their order."""
        return tuple(cluster for stage in self.stages for cluster in stage.clusters)

    @property
    def all_stages(self) -> tuple[StageStatus, ...]:
        """The stages, and after them the deletion stage."""
        return self.stages if self.deletion is None else (*self.stages, self.deletion)


@document("spec", identify=by_scope("StagedUpdateRun"))
@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord(StagedRun):
    """A run as gitfleet carries it out: its spec, and how far it is. `created` is when gitfleet saw it first."""

    created: Annotated[Time, At("metadata", "creationTimestamp")]
    status: Annotated[RunStatus, At("status")] = RunStatus()

    @property
    def placement(self) -> PlacementKey:
        """The placement that it rolls out."""
        return placement_of(self)

    @property
    def refused(self) -> bool:
        """Whether it could not be initialized, which ends it."""
        initialized = find_condition(self.status.conditions, RunConditionType.INITIALIZED)
        return initialized is not None and initialized.status is Status.FALSE

    @property
    def finished(self) -> bool:
        """Whether it is over: it succeeded, failed, or was refused."""
        return self.refused or find_condition(self.status.conditions, RunConditionType.SUCCEEDED) is not None

    @property
    def fell_back(self) -> bool:
        """Whether it rolls back by itself, or has done so."""
        progressing = find_condition(self.status.conditions, RunConditionType.PROGRESSING)
        rolls_back = progressing is not None and progressing.reason == RunReason.RUN_ROLLING_BACK
        return rolls_back or find_condition(self.status.conditions, RunConditionType.ROLLED_BACK) is not None

    @property
    def formers(self) -> Iterator[tuple[str, Former]]:
        """What each cluster that it updated had before."""
        clusters = self.status.clusters
        return ((cluster.cluster, cluster.former) for cluster in clusters if cluster.former is not None)

    @property
    def goes_forward(self) -> bool:
        """Whether it brings its snapshot to clusters, or will."""
        return not (self.finished or self.fell_back)

    @property
    def snapshot(self) -> str:
        """The name of the resource snapshot that it rolls out; "" before it is initialized."""
        index = self.status.resource_snapshot_index_used
        return snapshot_name(self.placement_name, index) if index else ""


def placement_of(run: StagedRun) -> PlacementKey:
    """The placement that a run names: of its own scope and namespace."""
    return PlacementKey(run.key.namespace, run.placement_name)


@document(
    "spec",
    identify=by_scope("ApprovalRequest"),
    derived={
        ("metadata", "labels", f"{_LABEL}targetupdaterun"): lambda request: request.parent_run,
        ("metadata", "labels", f"{_LABEL}targetUpdatingStage"): lambda request: request.target_stage,
        ("metadata", "labels", f"{_LABEL}isLatestUpdateRunApproval"): lambda _: "true",
    },
)
@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequest(Approval):
    """A request for a person's approval, made when a run reaches a stage's gate.

    `digest` covers the run, the stage and the content of the snapshot: an approval that names another one is not for
    this request. The conditions are Approved as a person wrote it, and ApprovalAccepted once it counts: then nothing
    takes it back; while the answers that are there do not count, Approved is Unknown and says why.
    """

    created: Annotated[Time, At("metadata", "creationTimestamp")]
    task: Annotated[str, At("metadata", "labels", f"{_LABEL}taskType")] = "afterStage"

    @property
    def run(self) -> NamespacedName:
        """The run that asks."""
        return NamespacedName(self.key.namespace, self.parent_run or "")

    @property
    def snapshot_index(self) -> str:
        """Of the snapshot that the run rolls out."""
        return self.annotations.get(SNAPSHOT_INDEX, "")

    @property
    def answer(self) -> Status | None:
        """Approved (true) or rejected (false); None while nobody has answered whose answer counts."""
        return answer_of(self.conditions)

    @property
    def accepted(self) -> Condition | None:
        """The condition that says that its approval counts."""
        return find_condition(self.conditions, APPROVAL_ACCEPTED)
