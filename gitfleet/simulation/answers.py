"""What webhooks and metric providers answer in a simulation: at once, and as its scenario says."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import assert_never

from gitfleet.api.scenarios import MetricRule, WebhookRule
from gitfleet.api.workload_records import MetricOutcome
from gitfleet.model.calls import (
    Answer,
    Answers,
    Call,
    MetricAnswer,
    MetricQuery,
    WebhookAnswer,
    WebhookCall,
    WebhookOutcome,
)
from gitfleet.ports.clock import Clock

_PASSES = WebhookRule(url="*", status=200)
_HAS_NO_DATA = MetricRule(query="*", no_data=True)


@dataclass(slots=True, kw_only=True)
class SimulatedAnswers:
    """See ports.rollout_calls.RolloutCalls. The first rule counts that holds, so long after `began`, for the moment of
    the query or of the call; where none does, webhooks pass and metrics have no data."""

    clock: Clock
    began: datetime
    metrics: Sequence[MetricRule] = ()
    webhooks: Sequence[WebhookRule] = ()
    _answers: dict[str, Answer] = field(default_factory=dict)

    def start(self, calls: Collection[Call]) -> None:
        """See RolloutCalls."""
        for call in calls:
            previous = self._answers.get(call.id)
            if previous is None or previous.attempt != call.attempt:
                self._answers.pop(call.id, None)
                answer = self._answer(call)
                self._answers |= {call.id: answer} if answer is not None else {}

    def answers(self) -> Answers:
        """See RolloutCalls."""
        return dict(self._answers)

    def forget(self, ids: Collection[str]) -> None:
        """See RolloutCalls."""
        for id_ in ids:
            self._answers.pop(id_, None)

    def forget_all(self) -> None:
        """The process that asked has died."""
        self._answers.clear()

    def _answer(self, call: Call) -> Answer | None:
        match call:
            case MetricQuery():
                return self._measured(call)
            case WebhookCall():
                return self._called(call)
        assert_never(call)

    def _measured(self, call: MetricQuery) -> MetricAnswer:
        since = call.at - self.began
        rules = (rule for rule in self.metrics if rule.applies_at(since) and _matches(rule.query, call.query))
        rule, now, attempt = next(rules, _HAS_NO_DATA), self.clock.now(), call.attempt
        if rule.fail:
            message = "the scenario says that the provider fails"
            failed = MetricOutcome.FAILED
            return MetricAnswer(id=call.id, at=now, outcome=failed, message=message, attempt=attempt)
        values = rule.values if rule.value is None else (rule.value,)
        outcome = MetricOutcome.MEASURED if values else MetricOutcome.NO_DATA
        return MetricAnswer(id=call.id, at=now, outcome=outcome, values=values, attempt=attempt)

    def _called(self, call: WebhookCall) -> WebhookAnswer | None:
        now = self.clock.now()
        rules = (rule for rule in self.webhooks if rule.applies_at(now - self.began) and _matches(rule.url, call.url))
        chosen = next(rules, _PASSES)
        if chosen.never:
            return None
        if chosen.status is None:
            failed, message = WebhookOutcome.FAILED, "the scenario says that there is no connection"
            return WebhookAnswer(id=call.id, at=now, outcome=failed, message=message, attempt=call.attempt)
        expected = call.expected_status or range(200, 300)
        passed = chosen.status in expected
        return WebhookAnswer(
            id=call.id,
            at=now,
            outcome=WebhookOutcome.PASSED if passed else WebhookOutcome.REJECTED,
            message="" if passed else f"the scenario answers with status {chosen.status}",
            attempt=call.attempt,
        )


def _matches(pattern: str, text: str) -> bool:
    """Whether a pattern with * matches the whole text. Other signs stand for themselves: queries have brackets."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text, re.DOTALL) is not None
