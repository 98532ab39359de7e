"""Webhooks of a rollout: which calls are to be under way, and what their answers mean (seed 004, RolloutWebhook)."""

from __future__ import annotations

from collections.abc import Sequence
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
    asking = _Asking(record, status, now)
    previous = {(hook.type, hook.name, hook.batch): hook for hook in status.webhooks}
    updated = dict[tuple[WebhookType, str, int | None], WebhookStatus]()
    calls, rejected, reverts, waits = list[WebhookCall](), "", False, ""
    for hook in hooks_of(record.rollout_plan, type_, batch):
        place = (type_, hook.name, batch)
        before = previous.get(place) or asking.first(hook, batch)
        after = updated[place] = asking.answered(hook, before, answers.get(before.id))
        if after.outcome == REJECTED:
            rejected = rejected or f"webhook {hook.name} rejected: {after.message}"
            reverts = reverts or hook.on_failure is OnFailure.ROLLBACK
        elif after.outcome != PASSED:
            why = f": {after.message}" if after.message else ""
            waits = waits or f"{WorkloadText.WEBHOOK_NOT_ANSWERED_YET(hook=hook.name)}{why}"
            if after.not_before is None or after.not_before <= now:
                calls.append(asking.call(hook, after))
    pauses = (hook.not_before for hook in updated.values() if not hook.outcome)
    return Asked(
        statuses=tuple({**previous, **updated}.values()),
        passed=not rejected and not waits,
        rejected=rejected,
        reverts=reverts,
        waits=waits,
        calls=tuple(calls),
        wake_at=min((at for at in pauses if at is not None and at > now), default=None),
    )


def without_batches(statuses: Sequence[WebhookStatus]) -> tuple[WebhookStatus, ...]:
    """Those of the whole rollout: another batch begins."""
    return tuple(hook_status for hook_status in statuses if hook_status.batch is None)


@dataclass(frozen=True, slots=True)
class _Asking:
    """The webhooks of a rollout on one cluster, asked now."""

    record: RolloutRecord
    status: ClusterRolloutStatus
    now: datetime

    def first(self, hook: RolloutWebhook, batch: int | None) -> WebhookStatus:
        return self._with_id(WebhookStatus(id="", type=hook.type, name=hook.name, batch=batch))

    def _with_id(self, hook: WebhookStatus) -> WebhookStatus:
        rollout = [str(self.record.key), time_text(self.record.created), self.status.cluster, self.status.attempt]
        return replace(hook, id=digest_of([*rollout, hook.type.value, hook.name, hook.batch, hook.asked])[:32])

    def answered(self, hook: RolloutWebhook, before: WebhookStatus, answer: object) -> WebhookStatus:
        if not isinstance(answer, WebhookAnswer) or answer.attempt != before.attempt or before.outcome:
            return before
        after = replace(before, at=answer.at, message=answer.message)
        match answer.outcome:
            case WebhookOutcome.PASSED:
                return replace(after, outcome=PASSED, not_before=None)
            case WebhookOutcome.REJECTED:
                if hook.on_failure is not OnFailure.WAIT:
                    return replace(after, outcome=REJECTED, not_before=None)
                pause = self.now + _pause(before.asked)
                return self._with_id(replace(after, asked=before.asked + 1, attempt=0, not_before=pause))
            case WebhookOutcome.FAILED:
                attempt = before.attempt + 1
                if hook.retries is not None and attempt > hook.retries and hook.on_failure is not OnFailure.WAIT:
                    return replace(after, outcome=REJECTED, attempt=attempt, not_before=None)
                return replace(after, attempt=attempt, not_before=self.now + _pause(before.attempt))

    def call(self, hook: RolloutWebhook, status: WebhookStatus) -> WebhookCall:
        return WebhookCall(
            id=status.id,
            url=hook.url,
            body=self._body(hook, status.batch),
            timeout_seconds=hook.timeout_seconds,
            expected_status=hook.expected_status,
            attempt=status.attempt,
        )

    def _body(self, hook: RolloutWebhook, batch: int | None) -> JsonObject:
        """KubeVela's RolloutWebhookPayload, and what names the cluster and the batch."""
        target, record = self.status.target, self.record
        resource: JsonObject = {}
        if target is not None:
            resource = {
                "apiVersion": target.api_version,
                "kind": target.kind,
                "namespace": target.namespace,
                "name": target.name,
            }
        return {
            "phase": self.status.rolling_state.value,
            "type": hook.type.value,
            "name": hook.name,
            "cluster": self.status.cluster,
            **({"batch": batch} if batch is not None else {}),
            "resourceRef": resource,
            "rolloutRef": {"kind": record.kind, "namespace": record.key.namespace, "name": record.key.name},
            "metadata": dict(hook.metadata or {}),
        }


def _pause(times: int) -> timedelta:
    return timedelta(seconds=min(_LONGEST_PAUSE, 2.0 ** min(times, 10)))
