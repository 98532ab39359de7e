"""Records of workload rollouts by hand: what the state branch says of rollouts in whatever state a test needs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from gitfleet.api.conditions import Condition, Status
from gitfleet.api.objects import ObjectKey
from gitfleet.api.rollout_plans import RolloutPlan, WebhookType
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_records import (
    ClusterRolloutStatus,
    Measurement,
    MeasurementVerdict,
    MetricOutcome,
    RolloutMode,
    RolloutRecord,
    WebhookStatus,
    WorkloadConditionType,
    WorkloadReason,
)
from gitfleet.api.workload_rollouts import WorkloadReference
from gitfleet.workload.phases import Phase

T0 = datetime(2026, 1, 1, tzinfo=UTC)
WEB = ObjectKey("apps", "v1", "Deployment", "shop", "web")


def rollout_record(*clusters: ClusterRolloutStatus, name: str = "web", **plan: Any) -> RolloutRecord:
    """A RolloutTrait of Deployment shop/web in four batches; `plan` changes its plan."""
    return RolloutRecord(
        key=NamespacedName("shop", name),
        kind="RolloutTrait",
        created=T0,
        target_ref=WorkloadReference(api_version="apps/v1", kind="Deployment", name=name),
        rollout_plan=RolloutPlan(**{"num_batches": 4, **plan}),
        clusters=tuple(sorted(clusters, key=lambda one: one.cluster)),
    )


def on(cluster: str, phase: Phase, *conditions: Condition, batch: int = 0, **more: Any) -> ClusterRolloutStatus:
    """Ten pods in place on a cluster, in the batch `batch` (from 0)."""
    rolling, batch_state = phase.value
    given: dict[str, Any] = {
        "mode": RolloutMode.IN_PLACE,
        "original_size": 10,
        "target_size": 10,
        "new_template": "b" * 8,
        "last_template": "a" * 8,
        "target": WEB,
        "since": T0,
        "conditions": conditions,
        **more,
    }
    return ClusterRolloutStatus(
        cluster=cluster, rolling_state=rolling, batch_rolling_state=batch_state, current_batch=batch, **given
    )


def idle(cluster: str) -> ClusterRolloutStatus:
    """A cluster with nothing to roll."""
    reason = WorkloadReason.NOTHING_TO_ROLL
    nothing = says(WorkloadConditionType.SPEC_VERIFYING, "there is nothing to roll out", "Unknown", reason)
    return on(cluster, Phase.VERIFYING_SPEC, nothing, mode=None)


def says(
    type_: WorkloadConditionType, message: str, status: str = "Unknown", reason: WorkloadReason = WorkloadReason.WAITING
) -> Condition:
    """A condition since T0."""
    return Condition(
        type=type_,
        status=Status(status),
        reason=reason,
        message=message,
        last_transition_time=T0,
        observed_generation=1,
    )


def asked(name: str, outcome: str = "", message: str = "", batch: int | None = 1, attempt: int = 0) -> WebhookStatus:
    """A webhook before a batch, and what came of it."""
    at = T0 + timedelta(seconds=30) if outcome else None
    return WebhookStatus(
        id=f"id-{name}", type=WebhookType.PRE_BATCH, name=name, batch=batch, attempt=attempt, at=at, outcome=outcome,
        message=message,
    )  # fmt: skip


def measured(metric: str, *values: float, verdict: str | None = None, message: str = "") -> Measurement:
    """A measurement after a minute."""
    return Measurement(
        id=f"id-{metric}", metric=metric, provider="prometheus", address="http://prometheus.example",
        query='sum(rate(errors{cluster="eu-1"}[1m]))', at=T0 + timedelta(minutes=1), values=values,
        outcome=MetricOutcome.MEASURED if values else None,
        verdict=MeasurementVerdict(verdict) if verdict else None, message=message,
    )  # fmt: skip
