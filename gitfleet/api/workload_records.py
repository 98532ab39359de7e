"""Workload rollouts as gitfleet keeps them on the state branch: the object with the status of each cluster (seed 004,
State Transition; KubeVela's RolloutStatus for the names of the fields).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass
from enum import StrEnum
from typing import Annotated, Final

from gitfleet.api.annotations import At, Default, Inline
from gitfleet.api.conditions import Conditions, find_condition, message_of
from gitfleet.api.labels import LabelSelector
from gitfleet.api.layout import document
from gitfleet.api.metrics import MetricTemplate
from gitfleet.api.objects import JsonObject, ObjectKey
from gitfleet.api.rollout_plans import RolloutOrder, RolloutPlan, WebhookType
from gitfleet.api.snapshots import snapshot_name
from gitfleet.api.values import Key, SnapshotIndex, Time
from gitfleet.api.workload_rollouts import APP_GROUP, TRAIT_GROUP, PlacementReference, WorkloadReference


class RollingState(StrEnum):
    """The top-level states of a rollout."""

    VERIFYING_SPEC = "verifyingSpec"
    INITIALIZING = "initializing"
    ROLLING_IN_BATCHES = "rollingInBatches"
    FINALISING = "finalising"
    FAILING = "rolloutFailing"
    ABANDONING = "rolloutAbandoning"
    SUCCEEDED = "rolloutSucceed"
    FAILED = "rolloutFailed"
    ABANDONED = "rolloutAbandoned"


class BatchState(StrEnum):
    """The states of a batch."""

    INITIALIZING = "batchInitializing"
    IN_ROLLING = "batchInRolling"
    VERIFYING = "batchVerifying"
    VERIFY_FAILED = "batchVerifyFailed"
    FINALIZING = "batchFinalizing"
    READY = "batchReady"


class RolloutMode(StrEnum):
    """What a rollout does to its workload: from source to target, in place to a new template, or another size."""

    SOURCE_TO_TARGET = "SourceToTarget"
    IN_PLACE = "InPlace"
    SCALE = "Scale"


class WorkloadConditionType(StrEnum):
    """KubeVela's conditions of a rollout, in the order in which they come about."""

    SPEC_VERIFYING = "RolloutSpecVerifying"
    INITIALIZING = "RolloutInitializing"
    IN_PROGRESS = "RolloutInProgress"
    BATCH_INITIALIZING = "BatchInitializing"
    BATCH_VERIFYING = "BatchVerifying"
    BATCH_FINALIZING = "BatchFinalizing"
    BATCH_READY = "BatchReady"
    BATCH_PAUSED = "BatchPaused"
    FINALIZING = "RolloutFinalizing"
    SUCCEEDED = "RolloutSucceed"
    FAILING = "RolloutFailing"
    FAILED = "RolloutFailed"
    ABANDONING = "RolloutAbandoning"
    ABANDONED = "RolloutAbandoned"


class WorkloadReason(StrEnum):
    """Every reason in the status of a rollout."""

    WAITING = "Waiting"
    NOTHING_TO_ROLL = "NothingToRoll"
    DONE = "Done"
    PAUSED = "Paused"
    BATCH_PARTITION = "LastBatchToRolloutReached"
    REJECTED = "Rejected"
    UNUSABLE_SPEC = "UnusableSpec"
    TARGET_CHANGED = "TargetChanged"
    REMOVED = "RolloutRemoved"


_R, _B, _C = RollingState, BatchState, WorkloadConditionType
TELLING: Final[Mapping[RollingState | BatchState, WorkloadConditionType]] = {
    _R.VERIFYING_SPEC: _C.SPEC_VERIFYING,
    _R.INITIALIZING: _C.INITIALIZING,
    _B.INITIALIZING: _C.BATCH_INITIALIZING,
    _B.IN_ROLLING: _C.IN_PROGRESS,
    _B.VERIFYING: _C.BATCH_VERIFYING,
    _B.FINALIZING: _C.BATCH_FINALIZING,
    _B.READY: _C.BATCH_READY,
    _R.FINALISING: _C.FINALIZING,
    _B.VERIFY_FAILED: _C.FAILING,
    _R.FAILING: _C.FAILING,
    _R.ABANDONING: _C.ABANDONING,
    _R.SUCCEEDED: _C.SUCCEEDED,
    _R.FAILED: _C.FAILED,
    _R.ABANDONED: _C.ABANDONED,
}
"""The condition that tells of each state, or of each state of a batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookStatus:
    """What came of one webhook of one phase: `id` is its idempotency key, `attempt` how often the call had no answer,
    `asked` how often it was asked again since it rejected and `onFailure` is wait, `at` when it last answered,
    `outcome` what it said ("" so far nothing). The next call is not made before `not_before`."""

    id: str
    type: WebhookType
    name: str
    batch: int | None = None
    attempt: int = 0
    asked: int = 0
    at: Time | None = None
    outcome: str = ""
    message: str = ""
    not_before: Time | None = None


class MeasurementVerdict(StrEnum):
    """What one measurement means."""

    PASSED = "Passed"
    FAILED = "Failed"
    INCONCLUSIVE = "Inconclusive"


class MetricOutcome(StrEnum):
    """What came of a measurement: a value; no data, so that there is none; or an error of the provider."""

    MEASURED = "Measured"
    NO_DATA = "NoData"
    FAILED = "Failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One measurement: the resolved `query` and its moment `at` are enough to make it again; `verdict` None: it has no
    answer yet. `id` is the call's, `number` counts from 0, `cluster` is whose it is where each cluster has its own.

    With a `baseline`, a second query, the `values` are the first one of each. `passed` counts those that passed up to
    this one, `failed` and `inconclusive` those since the last that passed: earlier measurements can be forgotten.
    """

    id: str
    metric: str
    number: int = 0
    cluster: str = ""
    provider: str
    address: str
    query: str
    baseline: str = ""
    at: Time
    values: tuple[float, ...] = ()
    outcome: MetricOutcome | None = None
    verdict: MeasurementVerdict | None = None
    message: str = ""
    passed: int = 0
    failed: Annotated[int, At("failedRunning")] = 0
    inconclusive: Annotated[int, At("inconclusiveRunning")] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class EmptiedWorkload:
    """A workload whose pods an earlier rollout took away: it gets none back until its manifest is another one than the
    one with this `digest`."""

    key: Annotated[ObjectKey, Inline()]
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterRolloutStatus:
    """How far a rollout is on one cluster.

    `attempt` counts how often the rollout began again here; it is a part of every idempotency key. `target` and
    `sources` are the workloads, as they were found, `revision` is the snapshot that was named, `source_sizes` are how
    many pods each source had, and `started_with` how many the target had when it was claimed. `half` says that the
    second half of the batch is under way; `batch_started` is when the batch began to roll. `revert` says that what is
    let go goes back to the pods of before; `let_go` is RELEASED since the rollout's file is gone, or, with
    `revertOnDelete`, a digest of the target's manifest at that moment: they stay until it changes. `originals` are
    the values that the fields had which the rollout holds, by the workload's kind/name and JSON pointer: they come
    back where no placement has the workload. `named` are the workloads that the rollout names now, where these are
    others; `emptied` are those whose pods earlier rollouts of this record took away; `template_before` is the pod
    template that the placement had when it was rolled out last.
    """

    cluster: Annotated[str, At("clusterName")]
    rolling_state: Annotated[RollingState, Default(MISSING)] = RollingState.VERIFYING_SPEC
    batch_rolling_state: BatchState | None = None
    current_batch: int = 0
    mode: RolloutMode | None = None
    original_size: Annotated[int, At("rolloutOriginalSize")] = 0
    target_size: Annotated[int, At("rolloutTargetSize")] = 0
    upgraded_replicas: int = 0
    upgraded_ready_replicas: int = 0
    new_template: Annotated[str, At("newPodTemplateIdentifier")] = ""
    last_template: Annotated[str, At("lastAppliedPodTemplateIdentifier")] = ""
    revision: str = ""
    attempt: int = 0
    target: ObjectKey | None = None
    sources: tuple[ObjectKey, ...] = ()
    source_sizes: tuple[int, ...] = ()
    started_with: int = 0
    let_go: str = ""
    half: bool = False
    revert: bool = False
    batch_started: Time | None = None
    since: Time | None = None
    """When the present state began."""
    originals: JsonObject | None = None
    named: tuple[ObjectKey, ...] = ()
    emptied: tuple[EmptiedWorkload, ...] = ()
    template_before: JsonObject | None = None
    webhooks: tuple[WebhookStatus, ...] = ()
    measurements: tuple[Measurement, ...] = ()
    conditions: Conditions = ()

    @property
    def is_over(self) -> bool:
        """Whether it is in a terminal state."""
        return self.rolling_state in _TERMINAL

    @property
    def is_running(self) -> bool:
        """Whether it has claimed its workload and not let go of it."""
        return self.rolling_state in _RUNNING

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to roll: the target has no other content than what was rolled last."""
        condition = find_condition(self.conditions, self.telling)
        return condition is not None and condition.reason == WorkloadReason.NOTHING_TO_ROLL

    @property
    def telling(self) -> WorkloadConditionType:
        """The condition that says what its state waits for, or why it ended."""
        return TELLING[self.batch_rolling_state or self.rolling_state]

    @property
    def message(self) -> str:
        """What that condition says."""
        return message_of(self.conditions, self.telling)


MIXED = "mixed"
"""Stands as the template that was rolled out last where not all pods have one."""
RELEASED = "released"
"""Stands as `let_go` for a rollout that gives its fields back, as its file is gone."""
_TERMINAL = frozenset({RollingState.SUCCEEDED, RollingState.FAILED, RollingState.ABANDONED})
_RUNNING = frozenset(
    {
        RollingState.INITIALIZING,
        RollingState.ROLLING_IN_BATCHES,
        RollingState.FINALISING,
        RollingState.FAILING,
        RollingState.ABANDONING,
    }
)


def _api_version(record: RolloutRecord) -> tuple[str, str]:
    is_app = record.placement_ref is not None
    return (f"{APP_GROUP}/v1beta1" if is_app else f"{TRAIT_GROUP}/v1alpha1", record.kind)


@document("spec", identify=_api_version)
@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutRecord:
    """A workload rollout as gitfleet carries it out: its spec as accepted last, with the metric templates that it
    names, and how far it is on each cluster, by name. One whose file is gone is `removing` until it has let go."""

    key: Key
    kind: Annotated[str, At("kind")]
    created: Annotated[Time, At("metadata", "creationTimestamp")]
    target_ref: WorkloadReference | None = None
    source_ref: tuple[WorkloadReference, ...] = ()
    placement_ref: PlacementReference | None = None
    target_revision: SnapshotIndex = None
    source_revision: SnapshotIndex = None
    component_list: tuple[str, ...] = ()
    rollout_plan: RolloutPlan
    clusters_selector: Annotated[LabelSelector | None, At("spec", "clusters")] = None
    order: RolloutOrder = RolloutOrder.PARALLEL
    templates: Annotated[tuple[MetricTemplate, ...], At("status", "metricTemplates")] = ()
    removing: Annotated[bool, At("status", "removing")] = False
    clusters: Annotated[tuple[ClusterRolloutStatus, ...], At("status", "clusters")] = ()

    @property
    def revision(self) -> str:
        """The name of the snapshot that it rolls out, "" where it names a workload."""
        if self.placement_ref is None or self.target_revision is None:
            return ""
        return snapshot_name(self.placement_ref.name, self.target_revision)

    def is_taken_up(self, status: ClusterRolloutStatus) -> bool:
        """Whether what a cluster is about is the revision that is named now; "" is any."""
        return status.revision in ("", self.revision)
