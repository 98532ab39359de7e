"""Webhooks of a rollout: which calls are to be under way, and what their answers mean (seed 004, RolloutWebhook)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from gitfleet.api.objects import JsonObject
from gitfleet.api.rollout_plans import OnFailure, RolloutPlan, RolloutWebhook, WebhookType
from gitfleet.api.workload_records import ClusterRolloutStatus, RolloutRecord, WebhookStatus
from gitfleet.formats.canonical_json import digest_of
from gitfleet.formats.times import time_text
from gitfleet.model.calls import Answers, WebhookAnswer, WebhookCall, WebhookOutcome
from gitfleet.workload.texts import WorkloadText

_LONGEST_PAUSE: Final = 60.0
PASSED, REJECTED = WebhookOutcome.PASSED.value, WebhookOutcome.REJECTED.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the webhooks of one phase say: `passed` once all let the rollout go on; `rejected` is why one does not, and
    `reverts` whether that goes back; `waits` is whom it waits for; the calls that are to be under way, and when the
    next one is due."""

    statuses: tuple[WebhookStatus, ...]
    passed: bool = False
    rejected: str = ""
    reverts: bool = False
    waits: str = ""
    calls: tuple[WebhookCall, ...] = ()
    wake_at: datetime | None = None


def hooks_of(plan: RolloutPlan, type_: WebhookType, batch: int | None) -> tuple[RolloutWebhook, ...]:
    """The webhooks of a phase: those of the whole rollout, then those of the batch."""
    own = plan.batches[batch].webhooks if batch is not None and batch < len(plan.batches) else ()
    return tuple(hook for hook in (*plan.webhooks, *own) if hook.type is type_)


def ask(
    record: RolloutRecord, status: ClusterRolloutStatus, type_: WebhookType, answers: Answers, now: datetime
) -> Asked:
    """One look at the webhooks of a phase of the present batch. A call that has no answer is repeated under the same
    idempotency key, after a growing pause; one that rejected and waits is asked again, under another one."""
    batch = status.current_batch if type_ in (WebhookType.PRE_BATCH, WebhookType.POST_BATCH) else None
    hooks = hooks_of(record.rollout_plan, type_, batch)
    known = {(one.type, one.name, one.batch): one for one in status.webhooks}
    found = dict[tuple[WebhookType, str, int | None], WebhookStatus]()
    calls, rejected, reverts, waits = list[WebhookCall](), "", False, ""
    for hook in hooks:
        place = (type_, hook.name, batch)
        one = known.get(place) or _first(record, status, hook, batch)
        one = _answered(record, status, hook, one, answers.get(one.id), now)
        found[place] = one
        if one.outcome == REJECTED:
            rejected = rejected or f"webhook {hook.name} rejected: {one.message}"
            reverts = reverts or hook.on_failure is OnFailure.ROLLBACK
        elif one.outcome != PASSED:
            waits = waits or WorkloadText.WEBHOOK_NOT_ANSWERED_YET(hook=hook.name) + (
                f": {one.message}" if one.message else ""
            )
            if one.not_before is None or one.not_before <= now:
                calls.append(_call(record, status, hook, one))
    statuses = tuple({**known, **found}.values())
    pauses = [one.not_before for one in found.values() if not one.outcome and one.not_before is not None]
    return Asked(
        statuses=statuses,
        passed=not rejected and not waits,
        rejected=rejected,
        reverts=reverts,
        waits=waits,
        calls=tuple(calls),
        wake_at=min((at for at in pauses if at > now), default=None),
    )


def without_batches(statuses: Sequence[WebhookStatus]) -> tuple[WebhookStatus, ...]:
    """Those of the whole rollout: another batch begins."""
    return tuple(one for one in statuses if one.batch is None)


def _first(
    record: RolloutRecord, status: ClusterRolloutStatus, hook: RolloutWebhook, batch: int | None
) -> WebhookStatus:
    one = WebhookStatus(id="", type=hook.type, name=hook.name, batch=batch)
    return replace(one, id=_id(record, status, one))


def _id(record: RolloutRecord, status: ClusterRolloutStatus, one: WebhookStatus) -> str:
    began = time_text(record.created)
    return digest_of(
        [str(record.key), began, status.cluster, status.attempt, one.type.value, one.name, one.batch, one.asked]
    )[:32]


def _answered(
    record: RolloutRecord,
    status: ClusterRolloutStatus,
    hook: RolloutWebhook,
    one: WebhookStatus,
    answer: object,
    now: datetime,
) -> WebhookStatus:
    if not isinstance(answer, WebhookAnswer) or answer.attempt != one.attempt or one.outcome:
        return one
    said = replace(one, at=answer.at, message=answer.message)
    match answer.outcome:
        case WebhookOutcome.PASSED:
            return replace(said, outcome=PASSED, not_before=None)
        case WebhookOutcome.REJECTED:
            if hook.on_failure is not OnFailure.WAIT:
                return replace(said, outcome=REJECTED, not_before=None)
            again = replace(said, asked=one.asked + 1, attempt=0, not_before=now + _pause(one.asked))
            return replace(again, id=_id(record, status, again))
        case WebhookOutcome.FAILED:
            attempt = one.attempt + 1
            if hook.retries is not None and attempt > hook.retries and hook.on_failure is not OnFailure.WAIT:
                return replace(said, outcome=REJECTED, attempt=attempt, not_before=None)
            return replace(said, attempt=attempt, not_before=now + _pause(one.attempt))


def _pause(times: int) -> timedelta:
    return timedelta(seconds=min(_LONGEST_PAUSE, 2.0 ** min(times, 10)))


def _call(record: RolloutRecord, status: ClusterRolloutStatus, hook: RolloutWebhook, one: WebhookStatus) -> WebhookCall:
    return WebhookCall(
        id=one.id,
        url=hook.url,
        body=dict(_body(record, status, hook, one)),
        timeout_seconds=hook.timeout_seconds,
        expected_status=hook.expected_status,
        attempt=one.attempt,
    )


def _body(
    record: RolloutRecord, status: ClusterRolloutStatus, hook: RolloutWebhook, one: WebhookStatus
) -> Iterator[tuple[str, object]]:
    """KubeVela's RolloutWebhookPayload, and what names the cluster and the batch."""
    target = status.target
    resource: JsonObject = {}
    if target is not None:
        resource = {
            "apiVersion": target.api_version,
            "kind": target.kind,
            "namespace": target.namespace,
            "name": target.name,
        }
    yield "phase", status.rolling_state.value
    yield "type", hook.type.value
    yield "name", hook.name
    yield "cluster", status.cluster
    if one.batch is not None:
        yield "batch", one.batch
    yield "resourceRef", resource
    yield "rolloutRef", {"kind": record.kind, "namespace": record.key.namespace, "name": record.key.name}
    yield "metadata", dict(hook.metadata or {})
