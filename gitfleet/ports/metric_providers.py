"""Metric providers as third parties write them (entry point `gitfleet.metric_providers`).

The operations are those of Argo Rollouts' providers (Run, Resume, Terminate): a measurement may be over at once, or go
on elsewhere while nobody waits for it. An entry point names a factory that takes a `MetricProviderAccess`. Providers
run inside gitfleet, on threads beside the reconciles; `examples/metric-provider/` is a whole package to start from.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from gitfleet.api.workload_records import MetricOutcome
from gitfleet.errors import BadInput, NoResponse, RetryLater
from gitfleet.model.calls import MetricQuery

__all__ = [
    "BadInput",
    "MeasurementState",
    "MetricOutcome",
    "MetricProvider",
    "MetricProviderAccess",
    "MetricProviderFactory",
    "MetricQuery",
    "NoResponse",
    "OutboundHttp",
    "OutboundReply",
    "OutboundRequest",
    "RetryLater",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundRequest:
    """One HTTP request. `content` goes with its `content_type`; the response has so many `seconds`, and no more than
    `most_bytes` of its body are read."""

    url: str
    method: str = "GET"
    content: bytes = field(default=b"", repr=False)
    content_type: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    seconds: float = 30.0
    most_bytes: int = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundReply:
    """One HTTP response; `host` is who gave it, for messages; `cut` says that its body has more than was to be
    read."""

    host: str
    status: int
    content: bytes = field(default=b"", repr=False)
    cut: bool = False


class OutboundHttp(Protocol):
    """HTTP to the hosts that the operator allowed (`run --allow-metrics`), and to no link-local or metadata address."""

    def request(self, request: OutboundRequest) -> OutboundReply:
        """The response, whatever its status; nothing is followed or tried again, and a token that the operator gave for
        the host is added. BadInput for a host that is not allowed, NoResponse where none came."""

    def without_secrets(self, text: str) -> str:
        """A text from a server as part of a message: one line, without tokens and what looks like a credential."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricProviderAccess:
    """What a provider is made with: its name as entry point, and the way out of the process."""

    name: str
    http: OutboundHttp


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurementState:
    """Where a measurement is: over, with an `outcome`, its `values` and one sentence without secrets; or under way
    (None), to be looked at again `after` so many seconds. `progress` is the provider's own, to know it by then."""

    outcome: MetricOutcome | None = None
    values: tuple[float, ...] = ()
    message: str = ""
    after: float = 5.0
    progress: Mapping[str, str] = field(default_factory=dict)


class MetricProvider(ABC):
    """The base class of metric providers; one instance serves all queries, from many threads at once.

    Each operation is to return within the query's `timeout_seconds`; one that takes longer is not waited for, and the
    measurement has failed, as it has when an operation raises. Other public methods are refused when the provider is
    loaded, so that a misspelt operation is noticed. What is under way when the process ends is started again by the
    next one, with the same `id`.
    """

    @abstractmethod
    def start(self, query: MetricQuery) -> MeasurementState:
        """Begin to measure; a measurement that takes no time is over at once."""

    def resume(self, query: MetricQuery, state: MeasurementState) -> MeasurementState:
        """Look at a measurement that is under way. Unless overridden, none is ever under way."""
        raise BadInput(f"the provider has no resume, and its start left the measurement {query.id} under way")

    def stop(self, query: MetricQuery, state: MeasurementState) -> None:
        """End a measurement that is under way and that nobody needs any more, or that took too long."""
        return  # nothing is elsewhere, unless overridden


MetricProviderFactory: TypeAlias = Callable[[MetricProviderAccess], MetricProvider]
"""Makes a provider; raises where it cannot be used."""
