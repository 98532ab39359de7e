"""The plan of a workload rollout: batches, webhooks and canary metrics (seed 004, RolloutPlan; KubeVela
apis/standard.oam.dev/v1alpha1/rollout_plan_types.go for what the seed only names).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final

from annotated_types import Interval, Len

from gitfleet.api.annotations import Accept, At
from gitfleet.api.metrics import CanaryMetric
from gitfleet.api.values import IntOrPercent, NonEmpty, ObjectName, Seconds

_MOST_BATCHES: Final = 1000
_MOST_CALLS: Final = 20
Count = Annotated[int, Interval(ge=0, le=2**31 - 1)]


class RolloutStrategy(StrEnum):
    """Which side changes first within a batch: the new pods come, or the old ones go."""

    INCREASE_FIRST = "IncreaseFirst"
    DECREASE_FIRST = "DecreaseFirst"


class WebhookType(StrEnum):
    """When a webhook is called: once before the first batch, before each, after each, once after the last."""

    INITIALIZE = "initialize-rollout"
    PRE_BATCH = "pre-batch-rollout"
    POST_BATCH = "post-batch-rollout"
    FINALIZE = "finalize-rollout"


class OnFailure(StrEnum):
    """What a rejection means: ask again, fail, or fail and go back to the pods of before."""

    WAIT = "wait"
    FAIL = "fail"
    ROLLBACK = "rollback"


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutWebhook:
    """A question to a program of yours, by HTTP POST: a status of 200 to 299 (or of `expectedStatus`) lets the rollout
    go on, another one rejects, and no answer is asked for again.

    type: when it is called
    name: what it is called in messages
    url: where it is called; the process must allow the host
    timeout: how long an answer may take
    retries: how often a call without an answer is made again before it counts as rejected; for ever where it is absent
    metadata: what is sent along
    expectedStatus: the status codes that let the rollout go on
    onFailure: what a rejection means: wait, fail, or rollback
    """

    type: Annotated[
        WebhookType,
        Accept(
            lambda value: WebhookType.INITIALIZE.value if value == "initilize-rollout" else value,
            lambda _: {"const": "initilize-rollout"},
        ),
    ]
    name: ObjectName
    url: NonEmpty
    timeout_seconds: Annotated[Seconds, At("timeout")] = 10.0
    retries: Count | None = None
    metadata: Mapping[str, str] | None = None
    expected_status: tuple[Annotated[int, Interval(ge=100, le=599)], ...] = ()
    on_failure: OnFailure = OnFailure.FAIL


Webhooks = Annotated[tuple[RolloutWebhook, ...], Len(0, _MOST_CALLS)]


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutBatch:
    """One batch: how many pods, or which, and what is asked around it.

    replicas: how many pods, or percent of them (rounded up), the batch upgrades
    podList: the names of the pods that it upgrades, in place of a number
    maxUnavailable: how many of the pods, or percent of them, may not be ready meanwhile
    instanceInterval: seconds between the pods of the batch
    batchRolloutWebhooks: webhooks of this batch alone
    canaryMetric: metrics of this batch alone
    """

    replicas: IntOrPercent | None = None
    pod_list: Annotated[tuple[ObjectName, ...], Len(0, 10_000)] = ()
    max_unavailable: IntOrPercent | None = None
    instance_interval: Count = 0
    webhooks: Annotated[Webhooks, At("batchRolloutWebhooks")] = ()
    canary_metric: Annotated[tuple[CanaryMetric, ...], Len(0, _MOST_CALLS)] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutPlan:
    """How a workload's pods go from one revision to the next.

    `last_batch` None rolls out all batches.

    rolloutStrategy: which side changes first within a batch
    targetSize: how many pods there are at the end; as many as before where it is absent
    numBatches: into how many equal batches the pods are divided
    rolloutBatches: the batches one by one, in place of their number
    lastBatchToRollout: the number of the batch, from 0, after which the rollout waits until it is raised
    revertOnDelete: whether deleting the rollout's file gives the pods of before back, unless it succeeded
    paused: whether nothing moves
    rolloutWebhooks: webhooks of the whole rollout, and of every batch
    canaryMetric: metrics of every batch
    """

    rollout_strategy: RolloutStrategy = RolloutStrategy.INCREASE_FIRST
    target_size: Count | None = None
    num_batches: Annotated[int, Interval(ge=1, le=_MOST_BATCHES)] | None = None
    batches: Annotated[tuple[RolloutBatch, ...], Len(0, _MOST_BATCHES), At("rolloutBatches")] = ()
    last_batch: Annotated[Count | None, At("lastBatchToRollout")] = None
    revert_on_delete: bool = False
    paused: bool = False
    webhooks: Annotated[Webhooks, At("rolloutWebhooks")] = ()
    canary_metric: Annotated[tuple[CanaryMetric, ...], Len(0, _MOST_CALLS)] = ()
