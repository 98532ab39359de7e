"""One step of a call, on a thread of its own: a webhook is sent, a measurement is begun or looked at again.

What a plug-in or a server does wrong is an answer, as what it does right is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, assert_never
from urllib.parse import urlsplit

from gitfleet.api.workload_records import MetricOutcome
from gitfleet.fleet.texts import FleetText
from gitfleet.formats.hosts import plain_host
from gitfleet.formats.masking import masked
from gitfleet.model.calls import (
    Answer,
    Call,
    MetricAnswer,
    MetricQuery,
    WebhookAnswer,
    WebhookCall,
    WebhookOutcome,
)
from gitfleet.model.failures import Failure, Subject, attempt
from gitfleet.ports.clock import Clock
from gitfleet.ports.metric_providers import MeasurementState, MetricProvider
from gitfleet.ports.rollout_calls import WebhookReply, WebhookSender

SHORTEST_PAUSE: Final = 1.0
"""Seconds between two looks at a measurement, whatever its provider says."""
_MOST_VALUES: Final = 1000
_SUBJECT: Final = Subject("call", "")
Stepped: TypeAlias = Answer | MeasurementState
"""What came of a step: the answer, or a measurement that is still under way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSteps:
    """Makes calls; from many threads at once, and no step raises. `provider` gives the metric provider
    of a name, and raises where there is none that can be used."""

    webhooks: WebhookSender
    provider: Callable[[str], MetricProvider]
    clock: Clock

    def begin(self, call: Call) -> Stepped:
        """Send a webhook, or start a measurement."""
        match call:
            case WebhookCall():
                reply = attempt(_SUBJECT, self.webhooks.send, call)
                if isinstance(reply, Failure):
                    return self.failed(call, reply.error)
                if reply.status in call.expected_status or (not call.expected_status and 200 <= reply.status < 300):
                    return self._webhook_answer(call, WebhookOutcome.PASSED, "")
                return self._webhook_answer(call, WebhookOutcome.REJECTED, _rejection(call, reply))
            case MetricQuery():
                return self._looked_at(call, lambda: self.provider(call.provider).start(call))
            case _:
                assert_never(call)

    def resume(self, call: MetricQuery, state: MeasurementState) -> Stepped:
        """Look at a measurement that is under way."""
        return self._looked_at(call, lambda: self.provider(call.provider).resume(call, state))

    def stop(self, call: MetricQuery, state: MeasurementState) -> None:
        """End a measurement that nobody waits for any more; whether that works changes nothing here."""
        attempt(_SUBJECT, lambda: self.provider(call.provider).stop(call, state))

    def failed(self, call: Call, message: str) -> Answer:
        """The answer of a call that gave none."""
        match call:
            case WebhookCall():
                return self._webhook_answer(call, WebhookOutcome.FAILED, message)
            case MetricQuery():
                return self._metric_answer(call, MetricOutcome.FAILED, message)
            case _:
                assert_never(call)

    def _webhook_answer(self, call: WebhookCall, outcome: WebhookOutcome, message: str) -> WebhookAnswer:
        at, text = self.clock.now(), masked(message)
        return WebhookAnswer(id=call.id, at=at, outcome=outcome, message=text, attempt=call.attempt)

    def _metric_answer(
        self, call: MetricQuery, outcome: MetricOutcome, message: str, values: tuple[float, ...] = ()
    ) -> MetricAnswer:
        at, text = self.clock.now(), masked(message)
        return MetricAnswer(id=call.id, at=at, outcome=outcome, values=values, message=text, attempt=call.attempt)

    def _looked_at(self, call: MetricQuery, look: Callable[[], MeasurementState]) -> Stepped:
        state = attempt(_SUBJECT, look)
        if isinstance(state, Failure):
            return self.failed(call, state.error)
        if not _is_sound(state):
            sentence = FleetText.GAVE_NO_MEASUREMENT(provider=call.provider, most_values=_MOST_VALUES)
            return self.failed(call, sentence)
        if state.outcome is None:
            return state
        values = state.values if state.outcome is MetricOutcome.MEASURED else ()
        return self._metric_answer(call, state.outcome, state.message, values)


def host_of(call: Call) -> str:
    """Whom a call goes to, so that calls to one host wait for each other: its name or address alone, whatever the
    scheme, the port and the spelling are. A provider without address is one host."""
    address = call.url if isinstance(call, WebhookCall) else call.address
    try:
        name = urlsplit(address).hostname or ""
        host = plain_host(f"[{name}]" if ":" in name else name)
    except ValueError:
        host = ""
    return host or (call.provider if isinstance(call, MetricQuery) else "an unreadable URL")


def _rejection(call: WebhookCall, reply: WebhookReply) -> str:
    if 300 <= reply.status < 400:
        return FleetText.REDIRECTS_ANOTHER_ADDRESS(host=reply.host, status=reply.status)
    expected = " or ".join(map(str, call.expected_status)) or "200 to 299"
    status_line = f": {reply.line}" if reply.line else ""
    return FleetText.ANSWERS_NOT(host=reply.host, status=reply.status, expected=expected, why=status_line)


def _is_sound(state: Any) -> bool:
    """Whether a provider gave what its port asks for. It is anybody's code."""
    if not isinstance(state, MeasurementState):
        return False
    measured: Any = state
    if measured.outcome is None:
        return _is_number(measured.after)
    if not isinstance(measured.outcome, MetricOutcome) or not isinstance(measured.message, str):
        return False
    return measured.outcome is not MetricOutcome.MEASURED or (
        isinstance(measured.values, tuple)
        and 0 < len(measured.values) <= _MOST_VALUES
        and all(map(_is_number, measured.values))
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)
