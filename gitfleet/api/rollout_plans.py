"""The plan of a workload rollout: batches, webhooks and canary metrics (seed 004, RolloutPlan; KubeVela
apis/standard.oam.dev/v1alpha1/rollout_plan_types.go for what the seed only names).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Final

from annotated_types import Interval, Len

from gitfleet.api.annotations import Accept, At, Break, Check, OneOf, names_taken
from gitfleet.api.metrics import CanaryMetric
from gitfleet.api.texts import ApiText
from gitfleet.api.values import HttpUrl, IntOrPercent, ObjectName, Seconds
from gitfleet.formats.int_or_percent import is_zero

_MOST_BATCHES: Final = 1000
_MOST_CALLS: Final = 20
_LONGEST_CALL: Final = 600.0
_LAST: Final = "lastBatchToRollout"
_BATCHES: Final = "rolloutBatches"
_TAKES_AWAY: Final = ApiText.MUST_MORE_ROLLOUTSTRATEGY_DECREASEFIRST()
_WITHIN_BATCH: Final = ApiText.MUST_PRE_BATCH_ROLLOUT_POST()
Count = Annotated[int, Interval(ge=0, le=2**31 - 1)]


class RolloutStrategy(StrEnum):
    """Which side changes first within a batch: the new pods come, or the old ones go."""

    INCREASE_FIRST = "IncreaseFirst"
    DECREASE_FIRST = "DecreaseFirst"


class RolloutOrder(StrEnum):
    """Whether all clusters of a rollout move at once, or each after the one before it."""

    PARALLEL = "parallel"
    SEQUENTIAL = "sequential"


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


def _as_spelt(value: Any) -> Any:
    # KubeVela's rollout_plan_types.go has the constant with this typing error.
    return WebhookType.INITIALIZE.value if value == "initilize-rollout" else value


def _call_length(seconds: float) -> str | None:
    return ApiText.MUST_MOST_M() if seconds > _LONGEST_CALL else None


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
    method: the method of the request, which is always POST
    """

    type: Annotated[
        WebhookType,
        Accept(_as_spelt, lambda _: {"const": "initilize-rollout"}),
    ]
    name: ObjectName
    url: HttpUrl
    timeout_seconds: Annotated[Seconds, At("timeout"), Check(_call_length)] = 10.0
    retries: Count | None = None
    metadata: Mapping[str, str] | None = None
    expected_status: tuple[Annotated[int, Interval(ge=100, le=599)], ...] = ()
    on_failure: OnFailure = OnFailure.FAIL
    method: Annotated[str, OneOf("POST")] = "POST"


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

    @property
    def count(self) -> int | None:
        """How many pods it has; None where that depends on how many there are in all."""
        if self.pod_list:
            return len(self.pod_list)
        return self.replicas if isinstance(self.replicas, int) else None

    @property
    def percent(self) -> int | None:
        """How many percent of the pods it has; None where it is a number, or a list."""
        is_percent = isinstance(self.replicas, str) and not self.pod_list
        return int(str(self.replicas).removesuffix("%")) if is_percent else None

    def breaks(self) -> Iterator[Break]:
        """It has a number or a list of pods, and webhooks that are called around a batch."""
        if self.replicas is None and not self.pod_list:
            yield ("replicas",), ApiText.NEEDS_REPLICAS_PODLIST()
        elif self.replicas is not None and self.pod_list:
            yield ("podList",), ApiText.NOT_GO_REPLICAS()
        for index, hook in enumerate(self.webhooks):
            if hook.type not in (WebhookType.PRE_BATCH, WebhookType.POST_BATCH):
                yield ("batchRolloutWebhooks", index, "type"), _WITHIN_BATCH


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutPlan:
    """How a workload's pods go from one revision to the next.

    `last_batch` None rolls out all batches.

    rolloutStrategy: which side changes first within a batch
    targetSize: how many pods there are at the end; as many as before where it is absent
    numBatches: into how many equal batches the pods are divided
    rolloutBatches: the batches one by one, in place of their number
    lastBatchToRollout: the number of the batch, from 0, after which the rollout waits until it is raised; KubeVela
        calls it batchPartition, too
    revertOnDelete: whether deleting the rollout's file gives the pods of before back, unless it succeeded
    paused: whether nothing moves
    rolloutWebhooks: webhooks of the whole rollout, and of every batch
    canaryMetric: metrics of every batch
    """

    rollout_strategy: RolloutStrategy = RolloutStrategy.INCREASE_FIRST
    target_size: Count | None = None
    num_batches: Annotated[int, Interval(ge=1, le=_MOST_BATCHES)] | None = None
    batches: Annotated[tuple[RolloutBatch, ...], Len(0, _MOST_BATCHES), At(_BATCHES)] = ()
    last_batch: Annotated[Count | None, At(_LAST, also="batchPartition")] = None
    revert_on_delete: bool = False
    paused: bool = False
    webhooks: Annotated[Webhooks, At("rolloutWebhooks")] = ()
    canary_metric: Annotated[tuple[CanaryMetric, ...], Len(0, _MOST_CALLS)] = ()

    @property
    def number_of_batches(self) -> int:
        """How many batches it has."""
        return len(self.batches) or self.num_batches or 1

    def breaks(self) -> Iterator[Break]:
        """Batches are written in one way, do not contradict each other, and no two calls have one name."""
        if self.num_batches is not None and self.batches:
            yield ("numBatches",), ApiText.NOT_GO_ROLLOUTBATCHES()
        if sum(batch.percent or 0 for batch in self.batches) > 100:
            yield (_BATCHES,), ApiText.MORE_PODS_LOWER_PERCENTAGES_ALL()
        yield from _pods_twice(self.batches)
        for index, batch in enumerate(self.batches):
            if self.rollout_strategy is RolloutStrategy.DECREASE_FIRST and is_zero(batch.max_unavailable):
                yield (_BATCHES, index, "maxUnavailable"), _TAKES_AWAY
        yield from self._calls_twice()

    def breaks_as_written(self, body: Mapping[str, Any]) -> Iterator[Break]:
        """There is a batch of the number after which it waits."""
        last = self.number_of_batches - 1
        if self.last_batch is not None and self.last_batch > last:
            name = next(name for name in (_LAST, "batchPartition") if name in body)
            yield (name,), ApiText.MUST_MOST_LAST_BATCH_COUNTED(last=last)

    def size_breaks(self) -> Iterator[Break]:
        """Batches of a rollout from one workload to another add up to its targetSize, as far as that can be known: a
        percentage in the last batch takes what is left."""
        if self.target_size is None or not self.batches:
            return
        counts = [batch.count for batch in self.batches]
        total = sum(count for count in counts if count is not None)
        if all(count is not None for count in counts):
            if total != self.target_size:
                sentence = ApiText.PODS_TARGETSIZE_CORRECT_ONE(known=total, target_size=self.target_size)
                yield (_BATCHES,), sentence
        elif total > self.target_size:
            yield (_BATCHES,), ApiText.MORE_PODS_TARGETSIZE(target_size=self.target_size)

    def _calls_twice(self) -> Iterator[Break]:
        """Names that another webhook or metric of the same batch has: what came of them is known by their names."""
        hooks, metrics = [hook.name for hook in self.webhooks], [metric.name for metric in self.canary_metric]
        yield from names_taken(hooks, ("rolloutWebhooks",), "webhook")
        yield from names_taken(metrics, ("canaryMetric",), "metric")
        for index, batch in enumerate(self.batches):
            own = (hook.name for hook in batch.webhooks)
            yield from names_taken(own, (_BATCHES, index, "batchRolloutWebhooks"), "webhook", hooks)
            own = (metric.name for metric in batch.canary_metric)
            yield from names_taken(own, (_BATCHES, index, "canaryMetric"), "metric", metrics)


def _pods_twice(batches: Sequence[RolloutBatch]) -> Iterator[Break]:
    taken = set[str]()
    for index, batch in enumerate(batches):
        for number, name in enumerate(batch.pod_list):
            if name in taken:
                yield (_BATCHES, index, "podList", number), ApiText.STANDS_TWICE_BATCHES()
            taken.add(name)
