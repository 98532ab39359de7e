"""Calls to the world outside of git and clusters, as data: webhooks and metric queries; and what came of them.

A decision lists the calls that it needs; the loop makes them and gives the answers to the next decision.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from gitfleet.api.objects import JsonObject
from gitfleet.api.workload_records import MetricOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookCall:
    """A POST of `body` as JSON. `id` is its idempotency key: the same call after a crash has the same one, and so has a
    repetition; a status of the answer that is not in `expected_status` (empty: 200 to 299) rejects."""

    id: str
    url: str
    body: JsonObject
    timeout_seconds: float = 10.0
    expected_status: tuple[int, ...] = ()
    attempt: int = 0
    """Counts the attempts from 0: another one is another call of the same id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricQuery:
    """One measurement: `query` as a provider of the name `provider` at `address` evaluates it at the moment `at`."""

    id: str
    provider: str
    address: str
    query: str
    at: datetime
    timeout_seconds: float = 30.0
    attempt: int = 0
    """As of a WebhookCall."""


Call: TypeAlias = WebhookCall | MetricQuery


class WebhookOutcome(StrEnum):
    """What a webhook says: go on; no, for good; or nothing (no connection, no answer in time, a host that is not
    allowed), which may pass."""

    PASSED = "Passed"
    REJECTED = "Rejected"
    FAILED = "Failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """What came of a call; `message` is one sentence without any secret."""

    id: str
    at: datetime
    message: str = ""
    attempt: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookAnswer(_Answer):
    """What came of a WebhookCall."""

    outcome: WebhookOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricAnswer(_Answer):
    """What came of a MetricQuery: its `values`, in the order of the provider."""

    outcome: MetricOutcome
    values: tuple[float, ...] = ()


Answer: TypeAlias = WebhookAnswer | MetricAnswer
Answers: TypeAlias = Mapping[str, Answer]
"""By the call's id."""
