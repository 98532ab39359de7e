"""Property providers as third parties write them (entry point `gitfleet.property_providers`).

The two operations are the seed's (seeds/003, "Property provider"): start, and collect again and again. An entry point
names a factory that takes the provider's `args` from `spec.propertyProviders` of gitfleet.yaml. Providers run inside
gitfleet with read-only access to one cluster each; `examples/property-provider/` is a whole package to start from.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from gitfleet.api.clusters import ResourceUsage
from gitfleet.api.conditions import Status
from gitfleet.api.objects import JsonObject
from gitfleet.errors import BadInput, ClusterUnreachable, Forbidden, RetryLater
from gitfleet.model.observations import ReportedCondition

__all__ = [
    "BadInput",
    "ClusterUnreachable",
    "ClusterView",
    "Collected",
    "Forbidden",
    "JsonObject",
    "PropertyProvider",
    "PropertyProviderFactory",
    "ReportedCondition",
    "ResourceUsage",
    "RetryLater",
    "Status",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """What a provider found.

    `properties` maps label keys to texts, quantities if they are to be compared by placements. `usage` has quantities
    by resource name. `conditions` are the provider's own, shown with the cluster's. `problem` is one sentence on what
    could not be collected; what was collected counts all the same. Times are set by gitfleet.
    """

    properties: Mapping[str, str] = field(default_factory=dict)
    usage: ResourceUsage | None = None
    conditions: tuple[ReportedCondition, ...] = ()
    problem: str = ""


class ClusterView(Protocol):
    """Reading access to one member cluster. Each request has a time limit of its own."""

    @property
    def name(self) -> str:
        """The member cluster's name."""

    @property
    def server(self) -> str:
        """The URL of its API server."""

    def get(self, path: str) -> JsonObject | None:
        """The JSON object at a path such as /api/v1/namespaces/default/configmaps/prices; None when it is not there.

        ClusterUnreachable without a response, Forbidden when reading is not allowed, RetryLater for other refusals.
        """

    def items(self, path: str, query: Mapping[str, str] | None = None) -> Iterator[JsonObject]:
        """The objects of a collection, asked for page by page; errors as for `get`, Forbidden also when it is not
        there."""


class PropertyProvider(ABC):
    """The base class of property providers; each instance serves one cluster.

    Both operations have ten seconds; one that takes longer is not waited for and not called again before it returns.
    What they raise stands in the cluster's conditions, and the last values stay. Other public methods are refused at
    start, so that a misspelt operation is noticed.
    """

    cluster: ClusterView

    def start(self, cluster: ClusterView) -> None:
        """Called before the first `collect`, and again later if it failed. Unless overridden, it keeps the cluster."""
        self.cluster = cluster

    @abstractmethod
    def collect(self) -> Collected:
        """The cluster's properties now; called at most once per heartbeatPeriodSeconds of the cluster."""


PropertyProviderFactory: TypeAlias = Callable[[JsonObject], PropertyProvider]
"""Makes a provider for one cluster from its args; raises when the args cannot be used."""
