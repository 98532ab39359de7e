"""Everything that people want, read from one commit (and, where that commit is faulty, from the last good version)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.faults import Fault, LastGood
from gitfleet.api.fleet import FleetConfig
from gitfleet.api.objects import GroupKind, JsonObject, Manifest, Origin
from gitfleet.api.overrides import Override, OverrideKey
from gitfleet.api.placements import Placement, PlacementKey
from gitfleet.api.staged import Approval, DisruptionBudget, Eviction, NamespacedName, StagedRun, StagedStrategy


@dataclass(frozen=True, slots=True, kw_only=True)
class Desired:
    """The fleet as written at `commit`.

    `namespaced` tells for every kind of the payload whether it is namespaced. `last_good` tells, by path, which
    documents of which older versions of a file are used instead of faulty ones: the state branch keeps it, so that
    the next commits can hold them too.
    `holds_removals` is set when a file could not be read and had no last good version: then nothing that is missing
    from this commit counts as removed. `rollouts` (core.oam.dev) and other kinds for later packages are kept as
    written.
    """

    commit: str
    config: FleetConfig = FleetConfig()
    clusters: Mapping[str, MemberCluster] = field(default_factory=dict)
    placements: Mapping[PlacementKey, Placement] = field(default_factory=dict)
    overrides: Mapping[OverrideKey, Override] = field(default_factory=dict)
    strategies: Mapping[NamespacedName, StagedStrategy] = field(default_factory=dict)
    runs: Mapping[NamespacedName, StagedRun] = field(default_factory=dict)
    approvals: Mapping[NamespacedName, Approval] = field(default_factory=dict)
    evictions: Mapping[str, Eviction] = field(default_factory=dict)
    budgets: Mapping[str, DisruptionBudget] = field(default_factory=dict)
    rollouts: tuple[tuple[JsonObject, Origin], ...] = ()
    payload: tuple[Manifest, ...] = ()
    namespaced: Mapping[GroupKind, bool] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    last_good: Mapping[str, tuple[LastGood, ...]] = field(default_factory=dict)
    holds_removals: bool = False
