"""Into which batches the pods of a workload fall, and what one may do (seed 004, RolloutPlan)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate, pairwise

from gitfleet.api.rollout_plans import RolloutBatch, RolloutPlan, RolloutStrategy
from gitfleet.formats.int_or_percent import scaled
from gitfleet.workload.texts import WorkloadText

_EMPTY = RolloutBatch()


class UnusablePlan(Exception):
    """A plan that does not go with a workload; one sentence says why."""


@dataclass(frozen=True, slots=True)
class Batch:
    """One batch: how many pods have the newer content before and after it, and what the plan says of it."""

    number: int
    before: int
    upgraded: int
    plan: RolloutBatch

    def unavailable(self, strategy: RolloutStrategy, size: int) -> int:
        """How many of `size` pods may be not ready meanwhile. A strategy that takes pods away first needs one at least:
        as many as the batch has where the plan does not say."""
        wanted = self.plan.max_unavailable
        if wanted is not None:
            return scaled(wanted, size)
        return self.upgraded - self.before if strategy is RolloutStrategy.DECREASE_FIRST else 0

    def upgraded_at(self, began: datetime | None, now: datetime) -> int:
        """How many pods may have the newer content by now, where they follow each other at an interval: the first at
        once."""
        interval = self.plan.instance_interval
        if not interval or began is None:
            return self.upgraded
        return min(self.upgraded, self.before + 1 + int(max(0.0, (now - began).total_seconds()) // interval))

    def next_at(self, began: datetime | None, now: datetime) -> float | None:
        """After how many seconds the next pod may follow; None where there is none to wait for."""
        interval = self.plan.instance_interval
        if not interval or began is None or self.upgraded_at(began, now) >= self.upgraded:
            return None
        return interval - max(0.0, (now - began).total_seconds()) % interval


def batches_of(plan: RolloutPlan, span: int) -> tuple[Batch, ...]:
    """The batches of a rollout that changes `span` pods. UnusablePlan where the plan's batches do not add up to it."""
    counts = list(_listed(plan, span) if plan.batches else _even(plan.num_batches or 1, span))
    if sum(counts) != span:
        raise UnusablePlan(WorkloadText.BATCHES_PLAN_PODS(sum=sum(counts), span=span))
    plans = plan.batches or (_EMPTY,) * len(counts)
    ends = pairwise(accumulate(counts, initial=0))
    return tuple(Batch(n, before, end, plans[n]) for n, (before, end) in enumerate(ends))


def last_batch(plan: RolloutPlan, batches: tuple[Batch, ...]) -> int:
    """The number of the batch after which the rollout waits, or ends."""
    last = len(batches) - 1
    return last if plan.last_batch is None else min(plan.last_batch, last)


def named_pods(batches: tuple[Batch, ...], number: int) -> tuple[str, ...]:
    """The names of the pods that have the newer content after a batch, where batches name them."""
    return tuple(name for batch in batches[: number + 1] for name in batch.plan.pod_list)


def _even(number: int, span: int) -> Iterator[int]:
    """An even split; the remainder goes to the last ones."""
    least, more = divmod(span, number)
    return (least + (index >= number - more) for index in range(number))


def _listed(plan: RolloutPlan, span: int) -> Iterator[int]:
    """As listed: percents are rounded up, and a percent in the last batch takes what is left."""
    left = span
    for number, batch in enumerate(plan.batches):
        is_last = number == len(plan.batches) - 1
        if batch.pod_list:
            count = len(batch.pod_list)
        elif isinstance(batch.replicas, str):
            count = left if is_last else min(left, scaled(batch.replicas, span))
        else:
            count = batch.replicas or 0
        left -= count
        yield count
