"""Workload rollouts for people: how far each is, on each cluster, and what it waits for.

In sentences and tables batches count from 1 (`batch 2 of 4`); files and documents count them from 0, as
`lastBatchToRollout` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, Final

from gitfleet.api import write
from gitfleet.api.objects import JsonObject
from gitfleet.api.workload_records import (
    ClusterRolloutStatus,
    Measurement,
    RollingState,
    RolloutRecord,
    WebhookStatus,
)
from gitfleet.api.workload_rollouts import ROLLOUTS
from gitfleet.formats.sentences import and_more, counted
from gitfleet.formats.times import time_text
from gitfleet.state import StateReader
from gitfleet.status import object_reference
from gitfleet.views.tables import NONE
from gitfleet.views.texts import ViewsText
from gitfleet.workload import batch_sizes

IDLE: Final = "idle"
"""The state of a cluster that has nothing to roll yet: it waits for nothing but another target."""
PAUSED: Final = "paused"
NOWHERE: Final = ViewsText.ABOUT_NO_CLUSTER_FAR()
"""What is said of a rollout without any cluster."""
_MOST_SIZES: Final = 20
_URGENT_FIRST: Final = (
    RollingState.FAILING,
    RollingState.FAILED,
    RollingState.ABANDONING,
    PAUSED,
    RollingState.INITIALIZING,
    RollingState.ROLLING_IN_BATCHES,
    RollingState.FINALISING,
    RollingState.VERIFYING_SPEC,
    RollingState.ABANDONED,
    RollingState.SUCCEEDED,
    IDLE,
)
"""Of clusters in several states, the one that stands for the rollout."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutProgress:
    """How far a rollout is on one cluster."""

    record: RolloutRecord
    status: ClusterRolloutStatus

    @property
    def batches(self) -> int:
        """How many batches the plan has."""
        return self.record.rollout_plan.number_of_batches

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to roll: the target has no other content than what was rolled last."""
        return self.status.is_idle

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to do."""
        return self.is_idle or self.status.rolling_state is RollingState.SUCCEEDED

    @property
    def state(self) -> str:
        """The state in one word: the rolling state, or that it is paused or has nothing to roll."""
        if self.is_idle:
            return IDLE
        return PAUSED if self.record.rollout_plan.paused and not self.status.is_over else self.status.rolling_state

    @property
    def batch(self) -> int:
        """The present batch, from 1; 0 before the first, and the last one once it has succeeded."""
        match self.status.rolling_state:
            case RollingState.VERIFYING_SPEC | RollingState.INITIALIZING:
                return 0
            case RollingState.SUCCEEDED | RollingState.FINALISING:
                return self.batches
            case (
                RollingState.ROLLING_IN_BATCHES
                | RollingState.FAILING
                | RollingState.ABANDONING
                | RollingState.FAILED
                | RollingState.ABANDONED
            ):
                return min(self.status.current_batch + 1, self.batches)

    @property
    def message(self) -> str:
        """What it waits for, or why it ended, as its condition says; "" where none does."""
        return self.status.message

    def lines(self) -> Iterator[str]:
        """All of it in lines, the first one the cluster, those below two to the right."""
        status = self.status
        yield f"{status.cluster}: {progress_sentence(progress_document(self))}"
        if self.message and not self.is_idle:
            yield f"  {self.message}"
        if len(sizes := batch_sizes(self.record.rollout_plan, status)) > 1:
            yield ViewsText.BATCHES_PODS(
                map=", ".join(map(str, sizes[:_MOST_SIZES])), and_more=and_more(len(sizes) - _MOST_SIZES)
            )
        yield from (f"  {webhook_sentence(webhook)}" for webhook in status.webhooks)
        yield from (f"  {measurement_sentence(measurement)}" for measurement in status.measurements)


def progress_document(progress: RolloutProgress) -> dict[str, Any]:
    """How far a rollout is on one cluster. `currentBatch` counts from 0; `waits` is null where nothing is to be
    said."""
    record, status = progress.record, progress.status
    return {
        "name": record.key.name,
        "namespace": record.key.namespace,
        "kind": record.kind,
        "clusterName": status.cluster,
        "state": status.rolling_state.value,
        "batchState": status.batch_rolling_state.value if status.batch_rolling_state is not None else None,
        "currentBatch": status.current_batch,
        "batches": progress.batches,
        "batchSizes": list(batch_sizes(record.rollout_plan, status)),
        "idle": progress.is_idle,
        "paused": record.rollout_plan.paused,
        "target": object_reference(status.target) if status.target is not None else None,
        "sources": [object_reference(key) for key in status.sources],
        "originalSize": status.original_size,
        "targetSize": status.target_size,
        "upgraded": status.upgraded_replicas,
        "ready": status.upgraded_ready_replicas,
        "measurements": [_measurement(measurement) for measurement in _newest(status.measurements)],
        "waits": progress.message or None,
    }


def progress_sentence(document: Mapping[str, Any]) -> str:
    """How far a rollout is on a cluster, from its document: `rollingInBatches, batchVerifying, batch 2 of 4: 4 of 10
    pods upgraded, 3 ready`."""
    if document["idle"]:
        return ViewsText.NOTHING_ROLL_YET()
    paused = " (paused)" if document["paused"] else ""
    number = document["currentBatch"] + 1
    batch = f", {document['batchState']}, batch {number} of {document['batches']}" if document["batchState"] else ""
    size = counted(document["targetSize"], "pod")
    pods = f"{document['upgraded']} of {size} upgraded, {document['ready']} ready"
    return f"{document['state']}{paused}{batch}: {pods}"


def _newest(measurements: Iterable[Measurement]) -> Iterable[Measurement]:
    """The newest measurement of each metric."""
    return {measurement.metric: measurement for measurement in measurements}.values()


def _measurement(measurement: Measurement) -> dict[str, Any]:
    return {
        "metric": measurement.metric,
        "time": time_text(measurement.at),
        "values": list(measurement.values),
        "verdict": measurement.verdict.value if measurement.verdict is not None else None,
        "message": measurement.message,
        "query": measurement.query,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutView:
    """A workload rollout as a whole."""

    record: RolloutRecord

    @property
    def namespace(self) -> str:
        """Its namespace."""
        return self.record.key.namespace

    @property
    def name(self) -> str:
        """Its name."""
        return self.record.key.name

    @property
    def clusters(self) -> tuple[RolloutProgress, ...]:
        """Its clusters, by name."""
        return tuple(RolloutProgress(record=self.record, status=status) for status in self.record.clusters)

    @property
    def target(self) -> str:
        """What it rolls: a workload, or a snapshot of a placement."""
        return target_of(self.record)

    @property
    def state(self) -> str:
        """The state of its clusters; of several, the one that people must see first."""
        states = {progress.state for progress in self.clusters}
        return next((str(state) for state in _URGENT_FIRST if state in states), NONE)

    @property
    def sub_state(self) -> str:
        """The state of the batch on the cluster that is behind."""
        behind = self._behind
        return behind.status.batch_rolling_state or NONE if behind is not None else NONE

    @property
    def done(self) -> str:
        """On how many clusters nothing is left to do, of all."""
        return f"{sum(progress.is_done for progress in self.clusters)}/{len(self.clusters)}"

    @property
    def batch(self) -> str:
        """The batch of the cluster that is behind, of all batches; a dash where nothing is to roll."""
        behind = self._behind
        return f"{behind.batch}/{behind.batches}" if behind is not None else "-"

    @property
    def ready(self) -> str:
        """How many pods have the new content and are ready, of those that there are to be, on all clusters."""
        rolling = [progress.status for progress in self.clusters if not progress.is_idle]
        ready = sum(status.upgraded_ready_replicas for status in rolling)
        return f"{ready}/{sum(status.target_size for status in rolling)}"

    @property
    def since(self) -> datetime:
        """When gitfleet saw it first."""
        return self.record.created

    @property
    def message(self) -> str:
        """What the cluster that people must see first waits for, or why it ended."""
        for progress in self.clusters:
            if progress.state == self.state and progress.message:
                return f"{progress.status.cluster}: {progress.message}"
        return "" if self.clusters else NOWHERE

    def body(self) -> JsonObject:
        """The whole object."""
        return write(self.record)

    def lines(self) -> Iterator[str]:
        """How far it is on each cluster, in lines."""
        if not self.clusters:
            yield NOWHERE
        for progress in self.clusters:
            yield from progress.lines()

    @property
    def _behind(self) -> RolloutProgress | None:
        return min((p for p in self.clusters if not p.is_idle), key=lambda p: p.batch, default=None)


def target_of(record: RolloutRecord) -> str:
    """What a rollout rolls: `Deployment/web`, or a snapshot of a placement, `shop snapshot 5`."""
    if record.target_ref is not None:
        return f"{record.target_ref.kind}/{record.target_ref.name}"
    if record.placement_ref is None or record.target_revision is None:
        return NONE
    return f"{record.placement_ref.name} snapshot {record.target_revision}"


def webhook_sentence(webhook: WebhookStatus) -> str:
    """What came of a webhook: `webhook pre-batch-rollout check (batch 2): Passed at 10:00: 200`."""
    batch = f" (batch {webhook.batch + 1})" if webhook.batch is not None else ""
    when = f" at {time_text(webhook.at)}" if webhook.at is not None else ""
    times = webhook.attempt + webhook.asked
    attempt = f", attempt {times + 1}" if times else ""
    message = f": {webhook.message}" if webhook.message else ""
    outcome = webhook.outcome or ViewsText.NO_ANSWER_YET()
    return f"webhook {webhook.type} {webhook.name}{batch}: {outcome}{when}{attempt}{message}"


def measurement_sentence(measurement: Measurement) -> str:
    """One measurement with its query, so that anybody can make it again."""
    values = ", ".join(f"{value:g}" for value in measurement.values) or measurement.outcome or ViewsText.NO_ANSWER_YET()
    verdict = f" {measurement.verdict}" if measurement.verdict is not None else ""
    message = f" ({measurement.message})" if measurement.message else ""
    against = f" against {measurement.baseline}" if measurement.baseline else ""
    head = f"metric {measurement.metric}: {values} at {time_text(measurement.at)}{verdict}{message}"
    return f"{head}: {measurement.provider} {measurement.query}{against}"


def rollout_views(state: StateReader, name: str | None = None) -> Iterator[RolloutView]:
    """Every workload rollout, or those of a name."""
    return (RolloutView(record=record) for record in by_key(state.each(RolloutRecord, name)))


def rollout_failures(records: Iterable[RolloutRecord]) -> list[str]:
    """Which rollouts failed, on the first of their clusters where they did and why, in a sentence each."""
    sentences = []
    for record in by_key(records):
        failed = (p for p in RolloutView(record=record).clusters if p.status.rolling_state is RollingState.FAILED)
        for first in islice(failed, 1):
            text = ViewsText.ROLLOUT_FAILED(record=record.key, cluster=first.status.cluster, one=first.message)
            sentences.append(text)
    return sentences


def by_key(records: Iterable[RolloutRecord]) -> list[RolloutRecord]:
    """Rollouts by their keys."""
    return sorted(records, key=lambda record: record.key)


def rollout_lines(kind: str, state: StateReader, body: JsonObject) -> list[str]:
    """What `describe` says below the object `body` of how far it is, where its `kind` is listed as rollouts."""
    if kind != ROLLOUTS:
        return []
    metadata = body["metadata"]
    views = rollout_views(state, f"{metadata['namespace']}/{metadata['name']}")
    return [line for view in views for line in view.lines()]
