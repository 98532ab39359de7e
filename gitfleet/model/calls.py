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


class MetricOutcome(StrEnum):
    """What came of a measurement: a value; no data, so that there is none; or an error of the provider."""

    MEASURED = "Measured"
    NO_DATA = "NoData"
    FAILED = "Failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookAnswer:
    """What came of a WebhookCall; `message` is one sentence without any secret."""

    id: str
    at: datetime
    outcome: WebhookOutcome
    message: str = ""
    attempt: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricAnswer:
    """What came of a MetricQuery: its `values`, in the order of the provider; `message` is one sentence."""

    id: str
    at: datetime
    outcome: MetricOutcome
    values: tuple[float, ...] = ()
    message: str = ""
    attempt: int = 0


Answer: TypeAlias = WebhookAnswer | MetricAnswer
Answers: TypeAlias = Mapping[str, Answer]
"""By the call's id."""
