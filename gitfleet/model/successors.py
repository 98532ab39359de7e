"""Which placement takes an object over that another one gives up, and whether it has it on a cluster yet.

Asked by whoever lets something go: the plan of a cluster's operations, placements that leave, and the holds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from gitfleet.api.bindings import Binding, is_active
from gitfleet.api.clusters import MemberCluster, silent_from
from gitfleet.api.conditions import ConditionType, Reason, Status, find_condition
from gitfleet.api.envelopes import carried_identities
from gitfleet.api.holds import OF_GATES, Hold, HoldRule, Removal, RemovalKind
from gitfleet.api.objects import Identity
from gitfleet.api.placements import PlacementKey, PlacementType
from gitfleet.api.snapshots import ResourceSnapshot
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.rolling import BUDGET_EXHAUSTED
from gitfleet.model.state import FleetState, Inventory, MisreadObjects, PlacementRecord
from gitfleet.model.works import Work


@dataclass(slots=True)
class Successors:
    """The placements that stay, by what they select in their newest content (`unsaid`: and beside it; `misread`: and by
    files with errors; `left_out`: see FleetState), and the `holds` that wait; indexed once, when first asked."""

    records: Mapping[PlacementKey, PlacementRecord]
    clusters: Mapping[str, MemberCluster] = field(default_factory=dict)
    unsaid: Mapping[PlacementKey, Collection[Identity]] = field(default_factory=dict)
    misread: Mapping[PlacementKey, MisreadObjects] = field(default_factory=dict)
    left_out: Collection[str] = frozenset()
    holds: Mapping[str, Hold] = field(default_factory=dict)
    _selecting: dict[Identity, list[PlacementKey]] | None = None
    _content: dict[tuple[PlacementKey, str | None], frozenset[Identity]] = field(default_factory=dict)
    _bindings: dict[PlacementKey, dict[str, Binding]] = field(default_factory=dict)
    _by_cluster: dict[PlacementKey, dict[str, list[Binding]]] = field(default_factory=dict)
    _held: dict[PlacementKey, list[tuple[Hold, Removal]]] | None = None
    _elsewhere: dict[tuple[PlacementKey, Identity], bool] = field(default_factory=dict)

    @classmethod
    def of(cls, state: FleetState) -> Successors:
        """Those of a state."""
        holds = {name: hold for name, hold in state.holds.items() if hold.answer is not Status.TRUE}
        return cls(state.placements, state.clusters, state.unsaid, state.misread, state.left_out, holds)

    def selecting(self, identity: Identity, owner: PlacementKey | None) -> Iterable[PlacementKey]:
        """The placements that select an object, beside its owner."""
        if self._selecting is None:
            self._selecting = {}
            for key, record in self.records.items():
                if record.placement.deleting is None:
                    latest = record.latest_resources
                    for one in {*self.content(key, latest), *self.unsaid.get(key, ())}:
                        self._selecting.setdefault(one, []).append(key)
            for key, misread in self.misread.items():
                for one in misread.objects:
                    if key not in (known := self._selecting.setdefault(one, [])):
                        known.append(key)
        return (key for key in self._selecting.get(identity, ()) if key != owner)

    def given_up(self, failures: Failures) -> dict[PlacementKey, frozenset[Identity]]:
        """What placements that stay have on clusters by an older snapshot and their newest content has no more; nothing
        of one that cannot be read."""
        found = {
            key: failures.contain(Subject.of_placement(key), frozenset[Identity](), self._given_up_by, key)
            for key in self.records
        }
        return {key: left for key, left in found.items() if left}

    def _given_up_by(self, key: PlacementKey) -> frozenset[Identity]:
        record = self.records[key]
        latest = record.latest_resources
        if record.placement.deleting is not None or record.pinned is not None or latest is None:
            return frozenset()
        older = {binding.resource_snapshot for binding in record.bindings} - {latest.name, None}
        had = frozenset[Identity]().union(*(self.content(key, record.snapshot_named(name)) for name in older))
        return had - self.content(key, latest) - frozenset(self.unsaid.get(key, ())) - self._unsure(key)

    def held_on(self, cluster: str) -> dict[PlacementKey, frozenset[Identity]]:
        """What placements have on a cluster only because its removal is held: nothing that another one has instead is
        lost, so that one gets it at once. Not where the hold is about who rolls it out (OF_GATES)."""
        found: dict[PlacementKey, frozenset[Identity]] = {}
        for key, removals in self._removals.items():
            for hold, removal in removals:
                here = (
                    removal.cluster in ("", cluster)
                    and self.records[key].pinned is None
                    and not is_held_for(hold, removal, *OF_GATES)
                )
                if here and (removed := self._removed(key, removal)):
                    found[key] = found.get(key, frozenset()) | removed
        return found

    def hold_of(self, key: PlacementKey) -> str:
        """The hold by which a placement keeps what it has though it is removed, and another one may not have it; ""
        where there is none."""
        removals = self._removals.get(key, ())
        return next((hold.name for hold, removal in removals if is_held_for(hold, removal, *OF_GATES)), "")

    def keeper_of(self, key: PlacementKey) -> str:
        """What makes a placement keep what it has until a person ends that, and what to do, where `{taker}` wants it;
        "" where nothing does."""
        if hold := self.hold_of(key):
            return f"whose removal {hold} holds: approve it, or write {key} back"
        record = self.records.get(key)
        return _PINNED if record is not None and record.is_pinned else ""

    @property
    def _removals(self) -> Mapping[PlacementKey, Sequence[tuple[Hold, Removal]]]:
        """What is held of placements that stay."""
        if self._held is None:
            self._held = {}
            for hold in self.holds.values():
                for removal in hold.removals:
                    if removal.placement is not None and removal.placement in self.records:
                        self._held.setdefault(removal.placement, []).append((hold, removal))
        return self._held

    def _removed(self, key: PlacementKey, removal: Removal) -> frozenset[Identity]:
        record = self.records[key]
        if removal.kind is RemovalKind.OBJECT and removal.object is not None:
            return frozenset((removal.object.identity,))
        if removal.kind not in (RemovalKind.PLACEMENT, RemovalKind.BINDING):
            return frozenset()
        return frozenset().union(*(self.content(key, one) for one in record.resource_snapshots))

    def outdated(self, works: Iterable[Work], owned: Inventory) -> dict[PlacementKey, frozenset[PlacementKey]]:
        """The placements whose work on a cluster is not their newest content, with those that own something there by
        content that is not newer than the work's: two that wait for each other's newest content would never end."""
        return {work.placement: self._no_newer(work, owned) for work in works if self._is_late(work)}

    def yielding(
        self, works: Iterable[Work], owned: Inventory, given_up: Collection[PlacementKey]
    ) -> dict[PlacementKey, frozenset[PlacementKey]]:
        """By placement that has its newest content on a cluster, those of `given_up` that hand over to it at once what
        they are to lose: they wait there for their budget alone, by content that is not newer (decision record 0028).
        Each would wait for the other's rollout without end, or three in a circle."""
        works = tuple(works)
        waiting = {one.placement for one in works if one.placement in given_up and self._waits_for_budget(one)}
        updated = (one for one in works if waiting and self._is_updated(one))
        return {one.placement: frozenset(found) for one in updated if (found := waiting & self._no_newer(one, owned))}

    def _waits_for_budget(self, work: Work) -> bool:
        """No freeze, quarantine or run holds it back there, nor that too few clusters answer."""
        record, binding = self.records[work.placement], self.binding(work.placement, work.cluster)
        if binding is None or record.placement.strategy.external:
            return False
        type_, generation = ConditionType.ROLLOUT_STARTED, binding.generation
        started = find_condition(binding.conditions, type_, generation=generation)
        return started is not None and (started.status, started.message) == (Status.FALSE, BUDGET_EXHAUSTED)

    def _is_updated(self, work: Work) -> bool:
        """Whether a rolling update of its own brought its newest content to a cluster that it had before: its budget
        counts the cluster."""
        record, binding = self.records.get(work.placement), self.binding(work.placement, work.cluster)
        if record is None or binding is None or record.pinned is not None or record.placement.strategy.external:
            return False
        return binding.applied_snapshot is not None and not self._is_late(work)

    def _is_late(self, work: Work) -> bool:
        """Never that of a placement that is pinned to another snapshot."""
        record = self.records.get(work.placement)
        latest = record.latest_resources if record is not None and record.pinned is None else None
        return latest is not None and latest.name != work.snapshot

    def _no_newer(self, work: Work, owned: Inventory) -> frozenset[PlacementKey]:
        mine = self._taken_at(work.placement, work.snapshot)
        if mine is None:
            return frozenset()
        found = set[PlacementKey]()
        for key in {entry.placement for entry in owned.values()} & self.records.keys():
            bindings = self._bindings_by_cluster(key).get(work.cluster, ())
            names = [name for one in bindings for name in (one.resource_snapshot, one.applied_snapshot) if name]
            times = [self._taken_at(key, name) for name in names]
            if times and all(time is not None and time <= mine for time in times):
                found.add(key)
        return frozenset(found)

    def _bindings_by_cluster(self, key: PlacementKey) -> dict[str, list[Binding]]:
        if key not in self._by_cluster:
            bindings = self._by_cluster[key] = {}
            for binding in self.records[key].bindings:
                bindings.setdefault(binding.cluster, []).append(binding)
        return self._by_cluster[key]

    def _taken_at(self, key: PlacementKey, name: str) -> datetime | None:
        snapshot = self.records[key].snapshot_named(name)
        return snapshot.created if snapshot is not None else None

    def binding(self, key: PlacementKey, cluster: str) -> Binding | None:
        """The binding by which a placement wants a cluster."""
        return self._active(key).get(cluster)

    def awaited(
        self, owner: PlacementKey, cluster: str, identity: Identity, works: Mapping[PlacementKey, Work] | None = None
    ) -> PlacementKey | None:
        """The placement for which an object of its owner stays on a cluster: it selects the object, and has it neither
        there nor, where it is not to come there, wherever else it is to be. The owner itself, where it kept the object
        for another one and selects it again. None where there is no such placement.

        By the `works` of the cluster where they are given, else by what the bindings name and say of themselves.
        """
        if self._selects_again(owner, cluster, identity):
            return owner
        others = self.selecting(identity, owner)
        return next((key for key in others if not self._may_go(key, cluster, identity, works)), None)

    def _may_go(
        self, key: PlacementKey, cluster: str, identity: Identity, works: Mapping[PlacementKey, Work] | None
    ) -> bool:
        """Whether an object that another placement gives up on a cluster need not stay there for this one."""
        if self._lacks(key, cluster, identity, works):
            return False
        return self.binding(key, cluster) is not None or (not self.holding(cluster) and self._has_it(key, identity))

    def holding(self, cluster: str) -> str:
        """The hold by which a cluster stays in the fleet, "" where there is none."""
        leaves = Removal(kind=RemovalKind.CLUSTER, cluster=cluster).id
        return next((name for name, hold in self.holds.items() if leaves in (r.id for r in hold.removals)), "")

    def _has_it(self, key: PlacementKey, identity: Identity) -> bool:
        """Whether a placement has an object on a cluster that answers, and wherever else it is picked: those that have
        been silent for long are left out, but for more than half of them (decision D32)."""
        if (key, identity) not in self._elsewhere:
            active = self._active(key)
            has = {name for name, binding in active.items() if self._wrote(key, binding, identity)}
            silent = {name for name in active if silent_from(self.clusters.get(name)) is not None}
            everywhere = active.keys() <= has.union(self.left_out) and 2 * len(silent) <= len(active)
            self._elsewhere[key, identity] = everywhere and bool(has - silent)
        return self._elsewhere[key, identity]

    def _wrote(self, key: PlacementKey, binding: Binding, identity: Identity) -> bool:
        applied = self.records[key].snapshot_named(binding.applied_snapshot)
        return not binding.apply_strategy.type.only_reports and identity in self.content(key, applied)

    def awaited_there(self, owner: PlacementKey, cluster: str, identity: Identity) -> PlacementKey | None:
        """As `awaited`, by the placements alone that are to come to the very cluster, or may be for all that is known:
        two placements that wait to have things elsewhere would wait for each other."""
        if identity in self._unsure(owner):
            return owner
        lacking: PlacementKey | None = None
        for key in self.selecting(identity, owner):
            if not self._lacks(key, cluster, identity, None):
                if self.binding(key, cluster) is not None:
                    return None  # one takes it over, so that it stays whatever the others wait for
            elif lacking is None:
                lacking = key
        return lacking

    def is_taken(self, owner: PlacementKey, cluster: str, identity: Identity) -> bool:
        """Whether another placement is to have an object on a cluster now, by what its binding names."""
        others = (key for key in self.selecting(identity, owner) if self.binding(key, cluster) is not None)
        return any(not self._lacks(key, cluster, identity, None) for key in others)

    def _selects_again(self, key: PlacementKey, cluster: str, identity: Identity) -> bool:
        """Whether an older snapshot had the object, the one that is to be there has not, and the newest has it again:
        what was given up was taken back. A snapshot before the object is a rollback, which takes it away."""
        record, binding = self.records.get(key), self.binding(key, cluster)
        if identity in self._unsure(key):
            return True
        if record is not None and record.pinned is not None:
            return False
        if record is None or binding is None or record.placement.deleting is not None:
            return False
        if identity in self.unsaid.get(key, ()):
            return True
        there = record.snapshot_named(binding.resource_snapshot)
        if there is None or identity in self.content(key, there):
            return False
        had = bool(binding.kept) or any(
            identity in self.content(key, one) for one in record.resource_snapshots if one.index < there.index
        )
        return had and identity in self.content(key, record.latest_resources)

    def _lacks(
        self, key: PlacementKey, cluster: str, identity: Identity, works: Mapping[PlacementKey, Work] | None
    ) -> bool:
        if key not in self.records:
            return True  # a new one, with an error
        binding, record = self.binding(key, cluster), self.records[key]
        if binding is None:
            return self._is_undecided(key)
        if binding.apply_strategy.type.only_reports:
            return True
        named = identity in self.content(key, record.snapshot_named(binding.resource_snapshot))
        if works is None:
            return not named or any(_said(binding, type_) is not Status.TRUE for type_ in _RENDERED)
        work = works.get(key)
        if work is not None and work.error is None and identity in work.deleted:
            latest = record.latest_resources
            newest = latest is not None and latest.name == binding.resource_snapshot
            return not newest or _said(binding, ConditionType.ROLLOUT_STARTED) is Status.FALSE
        return not named or work is None or work.error is not None

    def _is_undecided(self, key: PlacementKey) -> bool:
        """Whether nobody can say on which clusters a placement is to be: it could not be scheduled, has no cluster at
        all, or names one that there is not."""
        record = self.records[key]
        scheduled = record.scheduled
        if scheduled is None or not self._active(key):
            return True
        if scheduled.status is Status.TRUE:
            return False
        policy = record.placement.effective_policy
        if policy.placement_type is PlacementType.PICK_FIXED:
            return not set(policy.cluster_names) <= self._active(key).keys() | set(self.left_out)
        return scheduled.reason not in _SCHEDULED

    def stays_for(self, key: PlacementKey, cluster: str, identity: Identity) -> str:
        """How long an object stays on a cluster for a placement, after "stays"."""
        if error := self.error_of(key, identity):
            return f", as {key.kind} {key} may select it, but {error}"
        if self.binding(key, cluster) is not None:
            return f" until {key.kind} {key}, which selects it, has it here"
        if hold := self.holding(cluster):
            return f" for {key.kind} {key}, which selects it, while {hold} holds the removal of {cluster}"
        return f" until {key.kind} {key}, which selects it, has it where it is picked"

    def error_of(self, key: PlacementKey, identity: Identity | None = None) -> str:
        """What to correct before it is known what a placement selects (whether an object); "" where that is known."""
        unsure = self._unsure(key)
        is_unsure = bool(unsure) if identity is None else identity in unsure
        return f"{self.misread[key].path or 'its file'} has an error: correct it" if is_unsure else ""

    def _unsure(self, key: PlacementKey) -> frozenset[Identity]:
        """What a placement may select by a file with an error, beside its newest content."""
        misread, record = self.misread.get(key), self.records.get(key)
        if misread is None:
            return frozenset()
        latest = record.latest_resources if record is not None and record.placement.deleting is None else None
        return misread.objects - self.content(key, latest)

    def asks_for(self, key: PlacementKey) -> str:
        """What a person is to do before a placement takes anything over, which it never does as it is; "" where it
        may."""
        if error := self.error_of(key):
            return error
        active = self._active(key).values()
        if active and all(binding.apply_strategy.type.only_reports for binding in active):
            return "it only reports differences: change its applyStrategy, or what it selects"
        if self.records[key].scheduled is not None and self._is_undecided(key):
            return f"its policy does not pick the clusters that it names: correct it (`gitfleet explain {key}`)"
        return ""

    def _active(self, key: PlacementKey) -> dict[str, Binding]:
        if key not in self._bindings:
            bindings = self.records[key].bindings if key in self.records else ()
            self._bindings[key] = {b.cluster: b for b in bindings if is_active(b)}
        return self._bindings[key]

    def content(self, key: PlacementKey, snapshot: ResourceSnapshot | None) -> frozenset[Identity]:
        """What a snapshot has, in envelopes too."""
        if snapshot is None:
            return frozenset()
        known = self._content.get((key, snapshot.name))
        if known is None:
            known = frozenset(one.key.identity for one in snapshot.documents)
            known = known.union(*carried_identities(snapshot.manifests or ()).values())
            self._content[key, snapshot.name] = known
        return known


def is_held_for(hold: Hold, removal: Removal, *rules: HoldRule) -> bool:
    """Whether one of these rules is among the reasons for which a removal is held."""
    numbers = removal.reasons or range(len(hold.reasons))
    return any(hold.reasons[number].rule in rules for number in numbers)


_PINNED = "which a pin keeps at older content; remove the pin to hand it over, or take it out of {taker}"
_RENDERED = (ConditionType.OVERRIDDEN, ConditionType.WORK_SYNCHRONIZED)
_SCHEDULED = (Reason.SCHEDULING_POLICY_FULFILLED.value, Reason.SCHEDULING_POLICY_UNFULFILLED.value)


def _said(binding: Binding, type_: ConditionType) -> Status | None:
    found = find_condition(binding.conditions, type_, generation=binding.generation)
    return found.status if found is not None else None
