"""All that the state branch holds, typed: every decision and observation that must outlive a process."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from gitfleet.api.bindings import Binding, ClusterDecision
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.conditions import Condition, Conditions, ConditionType, Status, find_condition, type_of
from gitfleet.api.faults import Fault, LastGood
from gitfleet.api.fleet import ListedPlugin, RemovalSettings
from gitfleet.api.freeze_files import FreezeRules
from gitfleet.api.holds import Hold
from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import ObjectKey
from gitfleet.api.overrides import OverrideKey
from gitfleet.api.placements import Placement, PlacementKey
from gitfleet.api.quarantines import Quarantine
from gitfleet.api.runs import ApprovalRequest, RunRecord
from gitfleet.api.snapshots import OverrideSnapshot, PolicySnapshot, ResourceSnapshot
from gitfleet.api.staged import Eviction
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_records import RolloutRecord
from gitfleet.model.removals import WantedObjects

if TYPE_CHECKING:
    from _typeshed import SupportsDunderLT


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementRecord:
    """A placement as accepted last, with its snapshots (oldest first), bindings (by cluster name), decisions and
    conditions.

    `schedule_key` is a digest of what the last scheduling depended on: while it stays the same, scheduling again gives
    the same.
    """

    placement: Placement
    resource_snapshots: tuple[ResourceSnapshot, ...] = ()
    policy_snapshots: tuple[PolicySnapshot, ...] = ()
    bindings: tuple[Binding, ...] = ()
    decisions: tuple[ClusterDecision, ...] = ()
    conditions: Conditions = ()
    schedule_key: str = ""

    @property
    def latest_resources(self) -> ResourceSnapshot | None:
        """The newest resource snapshot."""
        return self.resource_snapshots[-1] if self.resource_snapshots else None

    @property
    def latest_policy(self) -> PolicySnapshot | None:
        """The newest policy snapshot."""
        return self.policy_snapshots[-1] if self.policy_snapshots else None

    def condition(self, type_: ConditionType) -> Condition | None:
        """The placement's own condition of a type, such as ClusterResourcePlacementScheduled of Scheduled."""
        return find_condition(self.conditions, type_of(self.placement.key.kind, type_))

    @property
    def scheduled(self) -> Condition | None:
        """The placement's Scheduled condition."""
        return self.condition(ConditionType.SCHEDULED)

    @property
    def pinned(self) -> Condition | None:
        """The condition by which the placement says that a Pin keeps it at older content (True), or cannot (False)."""
        return self.condition(ConditionType.PINNED)

    @property
    def is_pinned(self) -> bool:
        """Whether a Pin keeps it at older content."""
        return self.pinned is not None and self.pinned.status is Status.TRUE

    def snapshot_named(self, name: str | None) -> ResourceSnapshot | None:
        """The resource snapshot of a name; None for no name or one that is not kept any more."""
        return next((snapshot for snapshot in reversed(self.resource_snapshots) if snapshot.name == name), None)

    def snapshot_index(self, name: str | None) -> str | None:
        """The index of the resource snapshot of a name, as text; None where `snapshot_named` gives None."""
        snapshot = self.snapshot_named(name)
        return None if snapshot is None else str(snapshot.index)


K = TypeVar("K", bound="SupportsDunderLT[Any]")
V = TypeVar("V")
Inventory = Mapping[ObjectKey, InventoryEntry]
"""What gitfleet owns on one cluster."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetState:
    """The state branch as values. `observed_commit` is the desired commit that was read last, None before the first;
    `scheduler_plugins`, `removal_settings` and `freezes` are what it says of them."""

    observed_commit: str | None = None
    scheduler_plugins: tuple[ListedPlugin, ...] = ()
    removal_settings: RemovalSettings = RemovalSettings()
    freezes: FreezeRules = FreezeRules()
    restored: str = ""
    """The older commit of the state branch whose tree this state was restored from, until that is settled."""
    clusters: Mapping[str, MemberCluster] = field(default_factory=dict)
    placements: Mapping[PlacementKey, PlacementRecord] = field(default_factory=dict)
    overrides: Mapping[OverrideKey, tuple[OverrideSnapshot, ...]] = field(default_factory=dict)
    inventory: Mapping[str, Inventory] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    last_good: Mapping[str, tuple[LastGood, ...]] = field(default_factory=dict)
    holds: Mapping[str, Hold] = field(default_factory=dict)
    """The lists of removals that are not carried out yet, by name: those that are held, and those that may go."""
    evictions: Mapping[str, Eviction] = field(default_factory=dict)
    """The evictions that were decided, by name, each as it was then: they are never decided again."""
    runs: Mapping[NamespacedName, RunRecord] = field(default_factory=dict)
    approvals: Mapping[NamespacedName, ApprovalRequest] = field(default_factory=dict)
    """The approval requests of runs."""
    quarantines: Mapping[str, Quarantine] = field(default_factory=dict)
    """Content that must not be rolled out, by the quarantine's name."""
    rollouts: Mapping[NamespacedName, RolloutRecord] = field(default_factory=dict)
    """The workload rollouts, each with how far it is on its clusters."""
    wanted: WantedObjects = field(default=WantedObjects(), compare=False)
    """What clusters are to have when all rollouts are finished: known while deciding, never stored."""
    left_out: Collection[str] = field(default=frozenset(), compare=False)
    """The clusters that have not answered for so long that others go on without them (decision D32): never stored."""
    left_behind: Mapping[str, Mapping[PlacementKey, tuple[ObjectKey, ...]]] = field(default_factory=dict, compare=False)
    """Which objects the last step let go without deleting them, by cluster and placement: reported, never stored."""

    @property
    def held(self) -> Mapping[str, Hold]:
        """The lists of which something waits for a person, or for a correction of the repo, by name."""
        return {name: hold for name, hold in self.holds.items() if hold.waits}


def keep(old: PlacementRecord, new: PlacementRecord) -> PlacementRecord:
    """`old` when `new` says the same: whoever compares by identity (invariant 7) then sees that nothing changed."""
    return old if new == old else new


def changed(before: Mapping[K, V], after: Mapping[K, V]) -> Iterator[tuple[K, V | None, V | None]]:
    """The keys whose values are not the same object, in key order, with the value before and after (None: not
    there)."""
    if before is after:
        return
    keys = {key for key, value in after.items() if before.get(key) is not value}
    keys.update(key for key in before if key not in after)
    for key in sorted(keys):
        yield key, before.get(key), after.get(key)
