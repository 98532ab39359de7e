"""All that the state branch holds, typed: every decision and observation that must outlive a process."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from gitfleet.api.bindings import Binding, ClusterDecision
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.conditions import Condition, Conditions, ConditionType, Status, find_condition, type_of
from gitfleet.api.faults import Fault, LastGood
from gitfleet.api.fleet import ListedPlugin, MassDelete
from gitfleet.api.freeze_files import FreezeRules
from gitfleet.api.holds import Hold
from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import Identity, ObjectKey
from gitfleet.api.overrides import OverrideKey
from gitfleet.api.placements import Placement, PlacementKey
from gitfleet.api.quarantines import Quarantine
from gitfleet.api.runs import ApprovalRequest, RunRecord
from gitfleet.api.snapshots import OverrideSnapshot, PolicySnapshot, ResourceSnapshot
from gitfleet.api.staged import Eviction
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_records import RolloutRecord

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

    @property
    def scheduled(self) -> Condition | None:
        """The placement's Scheduled condition."""
        return find_condition(self.conditions, type_of(self.placement.key.kind, ConditionType.SCHEDULED))

    @property
    def pinned(self) -> Condition | None:
        """The condition by which the placement says that a Pin keeps it at older content (True), or cannot (False)."""
        return find_condition(self.conditions, type_of(self.placement.key.kind, ConditionType.PINNED))

    @property
    def is_pinned(self) -> bool:
        """Whether a Pin keeps it at older content."""
        return self.pinned is not None and self.pinned.status is Status.TRUE

    @property
    def lost_snapshots(self) -> Sequence[str]:
        """The names of the resource snapshots that clusters are to have and that were lost: none of those that bindings
        name is ever dropped (decision D17)."""
        named = {binding.resource_snapshot for binding in self.bindings if binding.resource_snapshot is not None}
        return sorted(named - {snapshot.name for snapshot in self.resource_snapshots})

    def snapshot_named(self, name: str | None) -> ResourceSnapshot | None:
        """The resource snapshot of a name; None for no name or one that is not kept any more."""
        return next((snapshot for snapshot in reversed(self.resource_snapshots) if snapshot.name == name), None)

    def snapshot_index(self, name: str | None) -> str | None:
        """The index of the resource snapshot of a name, as text; None where `snapshot_named` gives None."""
        snapshot = self.snapshot_named(name)
        return None if snapshot is None else str(snapshot.index)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusableHead:
    """A head of the state branch (`commit`) that holds no state, as `why` says, and the commit before it that was read
    in its place; or the files that it lacks (`missing`), as they were in that commit. `readable`: the next commit can
    lie on top of the head; otherwise it takes the head's place."""

    commit: str
    why: str
    instead: str
    readable: bool
    missing: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """What was found on the state branch and could not be used, so that it is not in the state.

    `files` says why, in a sentence, by path; of those in `restored`, the version of an earlier commit (its value) is in
    the state instead. `orphans` are the snapshots and bindings of placements whose own file is lost: only the key of
    their `placement` means anything. `commit` is the head that was read, where all of it is kept. `notices` are what
    is said of it. `rebuilt` are the placements, runs and clusters of which the state says more than the branch. On
    clusters in `unsure` the inventory was rebuilt: nothing is deleted there in this pass. `unfinished`: something waits
    until every file of the config repo can be read. `head` is the branch's head when it is not the commit that was
    read, or not all of it.
    """

    commit: str = ""
    head: UnusableHead | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    restored: Mapping[str, str] = field(default_factory=dict)
    orphans: Mapping[PlacementKey, PlacementRecord] = field(default_factory=dict)
    notices: tuple[Fault, ...] = ()
    unsure: frozenset[str] = frozenset()
    rebuilt: frozenset[PlacementKey | NamespacedName | str] = frozenset()
    unfinished: bool = False

    @property
    def any(self) -> bool:
        """Whether something must be written again, or said."""
        return bool(self.files or self.orphans or self.notices or self.rebuilt or self.head)

    @property
    def lost(self) -> frozenset[str]:
        """The paths for which no version holds."""
        return frozenset(self.files.keys() - self.restored.keys())

    @property
    def lost_holds(self) -> Sequence[str]:
        """Those of them that are holds, or the head of the fleet, which names the holds: what was held may be asked for
        by nobody any more."""
        return sorted(path for path in self.lost if path.startswith(("holds/", "fleet.yaml")))


K = TypeVar("K", bound="SupportsDunderLT[Any]")
V = TypeVar("V")
Inventory = Mapping[ObjectKey, InventoryEntry]
"""What gitfleet owns on one cluster."""


@dataclass(frozen=True, slots=True)
class MisreadObjects:
    """The objects that a placement with an error in the file at `path` may select."""

    path: str
    objects: frozenset[Identity]


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetState:
    """The state branch as values. `observed_commit` is the desired commit that was read last, None before the first;
    `scheduler_plugins`, `mass_delete` and `freezes` are what it says of them."""

    observed_commit: str | None = None
    scheduler_plugins: tuple[ListedPlugin, ...] = ()
    mass_delete: MassDelete = MassDelete()
    freezes: FreezeRules = FreezeRules()
    clusters: Mapping[str, MemberCluster] = field(default_factory=dict)
    placements: Mapping[PlacementKey, PlacementRecord] = field(default_factory=dict)
    overrides: Mapping[OverrideKey, tuple[OverrideSnapshot, ...]] = field(default_factory=dict)
    inventory: Mapping[str, Inventory] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    last_good: Mapping[str, tuple[LastGood, ...]] = field(default_factory=dict)
    holds: Mapping[str, Hold] = field(default_factory=dict)
    """Removals that wait for a person's approval, by name."""
    evictions: Mapping[str, Eviction] = field(default_factory=dict)
    """The evictions that were decided, by name, each as it was then: they are never decided again."""
    runs: Mapping[NamespacedName, RunRecord] = field(default_factory=dict)
    approvals: Mapping[NamespacedName, ApprovalRequest] = field(default_factory=dict)
    """The approval requests of runs."""
    quarantines: Mapping[str, Quarantine] = field(default_factory=dict)
    """Content that must not be rolled out, by the quarantine's name."""
    rollouts: Mapping[NamespacedName, RolloutRecord] = field(default_factory=dict)
    """The workload rollouts, each with how far it is on its clusters."""
    misplaced: frozenset[str] = field(default=frozenset(), compare=False)
    """Folders of the branch whose files were read and are not those that would be written now: an older split, an edit
    by hand. The next change rewrites them."""
    damage: Damage = field(default=Damage(), compare=False)
    """What the branch holds and this state does not, because it cannot be used. The next change sets it aside."""
    unsaid: Mapping[PlacementKey, frozenset[Identity]] = field(default_factory=dict, compare=False)
    """What placements select of which their newest snapshot says nothing, as they are pinned or could not be decided:
    known while deciding, never stored."""
    misread: Mapping[PlacementKey, MisreadObjects] = field(default_factory=dict, compare=False)
    """What the files of placements may still select that have an error: known while deciding, never stored."""
    left_out: Collection[str] = field(default=frozenset(), compare=False)
    """The clusters that have not answered for so long that others go on without them (decision D32): never stored."""
    left_behind: Mapping[str, Mapping[PlacementKey, tuple[ObjectKey, ...]]] = field(default_factory=dict, compare=False)
    """Which objects the last step let go without deleting them, by cluster and placement: reported, never stored."""


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
