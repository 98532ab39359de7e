"""Overrides: patches and deletions of selected resources on selected clusters (kubefleet.md §5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gitfleet.api.objects import JsonObject, JsonValue, Origin
from gitfleet.api.placements import ClusterSelectorTerm


@dataclass(frozen=True, slots=True, order=True)
class OverrideKey:
    """An override's identity: `namespace` is "" for a ClusterResourceOverride."""

    namespace: str
    name: str

    @property
    def kind(self) -> str:
        """ClusterResourceOverride or ResourceOverride."""
        return "ResourceOverride" if self.namespace else "ClusterResourceOverride"

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


@dataclass(frozen=True, slots=True)
class OverriddenResource:
    """The resource an override selects, by name; in a ResourceOverride it lies in the override's own namespace."""

    group: str
    version: str
    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class JsonPatch:
    """One RFC 6902 operation: op add, remove or replace; `value` counts for the first and the last (`has_value`)."""

    op: str
    path: str
    value: JsonValue = None
    has_value: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class OverrideRule:
    """cluster_terms None: no cluster; empty: every cluster; otherwise any term. override_type JSONPatch or Delete."""

    cluster_terms: tuple[ClusterSelectorTerm, ...] | None = None
    override_type: str = "JSONPatch"
    patches: tuple[JsonPatch, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Override:
    """A ClusterResourceOverride or ResourceOverride. `placement` is (name, scope Cluster|Namespaced), None = any
    placement."""

    key: OverrideKey
    resources: tuple[OverriddenResource, ...]
    rules: tuple[OverrideRule, ...]
    placement: tuple[str, str] | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    body: JsonObject = field(default_factory=dict)
    origin: Origin | None = None
