"""What the webhooks of a rollout are asked, and what their answers mean."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gitfleet.api import read
from gitfleet.api.objects import ObjectKey
from gitfleet.api.rollout_plans import RolloutPlan, WebhookType
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_records import BatchState, ClusterRolloutStatus, RollingState, RolloutRecord
from gitfleet.model.calls import WebhookAnswer, WebhookOutcome
from gitfleet.workload.texts import WorkloadText
from gitfleet.workload.webhooks import Asked, ask

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PRE, POST = WebhookType.PRE_BATCH, WebhookType.POST_BATCH
STATUS = ClusterRolloutStatus(
    cluster="c1",
    rolling_state=RollingState.ROLLING_IN_BATCHES,
    batch_rolling_state=BatchState.INITIALIZING,
    current_batch=1,
    attempt=1,
    target=ObjectKey("apps", "v1", "Deployment", "web", "web"),
)


def record(*hooks: dict[str, Any], batches: list[dict[str, Any]] | None = None) -> RolloutRecord:
    body: dict[str, Any] = {"rolloutWebhooks": [{"url": "https://gate.example/x", **hook} for hook in hooks]}
    if batches is not None:
        body["rolloutBatches"] = batches
    plan, breaks = read(RolloutPlan, body)
    assert plan is not None, breaks
    return RolloutRecord(key=NamespacedName("web", "web"), kind="RolloutTrait", created=NOW, rollout_plan=plan)


def hook(**fields: Any) -> dict[str, Any]:
    return {"type": "pre-batch-rollout", "name": "gate", **fields}


def answer(asked: Asked, outcome: WebhookOutcome, message: str = "") -> dict[str, WebhookAnswer]:
    return {
        call.id: WebhookAnswer(id=call.id, at=NOW, outcome=outcome, message=message, attempt=call.attempt)
        for call in asked.calls
    }


def again(given: RolloutRecord, asked: Asked, outcome: WebhookOutcome, message: str = "", seconds: float = 0) -> Asked:
    """The next look, with this answer to all that was asked."""
    status = replace(STATUS, webhooks=asked.statuses)
    return ask(given, status, PRE, answer(asked, outcome, message), NOW + timedelta(seconds=seconds))


def test_only_those_of_the_phase_are_asked_and_with_what() -> None:
    own = {"replicas": 1, "batchRolloutWebhooks": [hook(name="own", url="http://own.example")]}
    mine, after = hook(metadata={"team": "a"}, timeout="3s", expectedStatus=[202]), hook(type=POST.value, name="after")
    given = record(mine, after, batches=[{"replicas": 1}, own])
    first, second = ask(given, STATUS, PRE, {}, NOW).calls
    assert (first.url, second.url) == ("https://gate.example/x", "http://own.example")
    assert (first.timeout_seconds, first.expected_status, second.timeout_seconds) == (3.0, (202,), 10.0)
    assert first.body == {
        "phase": "rollingInBatches",
        "type": "pre-batch-rollout",
        "name": "gate",
        "cluster": "c1",
        "batch": 1,
        "resourceRef": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "web", "name": "web"},
        "rolloutRef": {"kind": "RolloutTrait", "namespace": "web", "name": "web"},
        "metadata": {"team": "a"},
    }


def test_it_goes_on_once_all_have_passed_and_asks_no_more() -> None:
    given = record(hook(), hook(name="other"))
    asked = ask(given, STATUS, PRE, {}, NOW)
    assert (asked.passed, asked.waits) == (False, WorkloadText.WEBHOOK_NOT_ANSWERED_YET(hook="gate"))
    one = {asked.calls[0].id: next(iter(answer(asked, WebhookOutcome.PASSED).values()))}
    half = ask(given, replace(STATUS, webhooks=asked.statuses), PRE, one, NOW)
    assert (half.passed, [call.id for call in half.calls]) == (False, [asked.calls[1].id])
    done = again(given, half, WebhookOutcome.PASSED)
    assert (done.passed, done.calls) == (True, ())
    lost = ask(given, replace(STATUS, webhooks=done.statuses), PRE, {}, NOW)
    assert (lost.passed, lost.calls) == (True, ()), "what is recorded needs no answer any more"


@pytest.mark.parametrize(("on_failure", "reverts"), [("fail", False), ("rollback", True)])
def test_a_rejection(on_failure: str, reverts: bool) -> None:
    given = record(hook(onFailure=on_failure))
    found = again(given, ask(given, STATUS, PRE, {}, NOW), WebhookOutcome.REJECTED, "status 409: not today")
    assert (found.rejected, found.reverts) == ("webhook gate rejected: status 409: not today", reverts)


def test_a_rejection_that_waits_is_asked_again_under_another_key() -> None:
    given = record(hook(onFailure="wait"))
    first = ask(given, STATUS, PRE, {}, NOW)
    found = again(given, first, WebhookOutcome.REJECTED, "not yet")
    assert (found.passed, found.rejected, found.calls) == (False, "", ())
    assert found.waits == (WorkloadText.WEBHOOK_NOT_ANSWERED_YET(hook="gate") + ": not yet")
    assert found.wake_at == NOW + timedelta(seconds=1)
    later = ask(given, replace(STATUS, webhooks=found.statuses), PRE, {}, NOW + timedelta(seconds=1))
    assert [call.id == first.calls[0].id for call in later.calls] == [False]


def test_no_answer_is_asked_for_again_under_the_same_key_after_growing_pauses() -> None:
    given = record(hook())
    asked = ask(given, STATUS, PRE, {}, NOW)
    pauses, keys = [], {asked.calls[0].id}
    for attempt in range(1, 9):
        failed = again(given, asked, WebhookOutcome.FAILED, "no answer within 10 s")
        assert failed.wake_at is not None
        assert failed.rejected == ""
        pauses.append((failed.wake_at - NOW).total_seconds())
        asked = ask(given, replace(STATUS, webhooks=failed.statuses), PRE, {}, failed.wake_at)
        (call,) = asked.calls
        keys.add(call.id)
        assert call.attempt == attempt
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60]
    assert len(keys) == 1


@pytest.mark.parametrize(("on_failure", "rejects"), [("fail", True), ("wait", False)])
def test_so_many_retries(on_failure: str, rejects: bool) -> None:
    given = record(hook(retries=1, onFailure=on_failure))
    asked = again(given, ask(given, STATUS, PRE, {}, NOW), WebhookOutcome.FAILED)
    assert asked.rejected == ""
    asked = ask(given, replace(STATUS, webhooks=asked.statuses), PRE, {}, NOW + timedelta(seconds=1))
    asked = again(given, asked, WebhookOutcome.FAILED, "refused", seconds=1)
    assert bool(asked.rejected) is rejects


def test_a_late_answer_to_an_earlier_attempt_counts_for_nothing() -> None:
    given = record(hook())
    asked = ask(given, STATUS, PRE, {}, NOW)
    late = answer(asked, WebhookOutcome.PASSED)
    failed = again(given, asked, WebhookOutcome.FAILED)
    found = ask(given, replace(STATUS, webhooks=failed.statuses), PRE, late, NOW)
    assert not found.passed


def test_keys_differ_by_batch_attempt_cluster_and_rollout() -> None:
    given = record(hook())
    keys = {
        ask(one, status, PRE, {}, NOW).calls[0].id
        for one, status in (
            (given, STATUS),
            (given, replace(STATUS, current_batch=2)),
            (given, replace(STATUS, attempt=2)),
            (given, replace(STATUS, cluster="c2")),
            (replace(given, created=NOW + timedelta(seconds=1)), STATUS),
            (replace(given, key=NamespacedName("web", "other")), STATUS),
        )
    }
    assert len(keys) == 6
