"""Which placement takes an object over that another one gives up, and whether it has it on a cluster yet.

Asked by whoever lets something go: the plan of a cluster's operations, placements that leave, and the holds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from gitfleet.api.bindings import Binding, is_active
from gitfleet.api.clusters import MemberCluster, silent_from
from gitfleet.api.conditions import ConditionType, Reason, Status, find_condition
from gitfleet.api.envelopes import carried_identities
from gitfleet.api.objects import Identity
from gitfleet.api.placements import PlacementKey
from gitfleet.api.snapshots import ResourceSnapshot
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.model.works import Work


@dataclass(slots=True)
class Successors:
    """The placements that stay, by what they select in their newest content (`unsaid`: and beside it, see FleetState);
    indexed once, when first asked."""

    records: Mapping[PlacementKey, PlacementRecord]
    clusters: Mapping[str, MemberCluster] = field(default_factory=dict)
    unsaid: Mapping[PlacementKey, Collection[Identity]] = field(default_factory=dict)
    _selecting: dict[Identity, list[PlacementKey]] | None = None
    _content: dict[tuple[PlacementKey, str | None], frozenset[Identity]] = field(default_factory=dict)
    _bindings: dict[PlacementKey, dict[str, Binding]] = field(default_factory=dict)
    _coming: dict[tuple[PlacementKey, Identity], bool] = field(default_factory=dict)

    @classmethod
    def of(cls, state: FleetState) -> Successors:
        """Those of a state."""
        return cls(state.placements, state.clusters, state.unsaid)

    def selecting(self, identity: Identity, owner: PlacementKey | None) -> Iterable[PlacementKey]:
        """The placements that select an object, beside its owner."""
        if self._selecting is None:
            self._selecting = {}
            for key, record in self.records.items():
                if record.placement.deleting is None:
                    latest = record.latest_resources
                    for one in {*self.content(key, latest), *self.unsaid.get(key, ())}:
                        self._selecting.setdefault(one, []).append(key)
        return (key for key in self._selecting.get(identity, ()) if key != owner)

    def binding(self, key: PlacementKey, cluster: str) -> Binding | None:
        """The binding by which a placement wants a cluster."""
        return self._active(key).get(cluster)

    def awaited(
        self, owner: PlacementKey, cluster: str, identity: Identity, works: Mapping[PlacementKey, Work] | None = None
    ) -> PlacementKey | None:
        """The placement for which an object of its owner stays on a cluster: it selects the object, and is or may still
        come there, and has not got it there yet. None where there is no such placement.

        By the `works` of the cluster where they are given, else by what the bindings name and say of themselves.
        """
        return next(
            (key for key in self.selecting(identity, owner) if self._lacks(key, cluster, identity, works)), None
        )

    def _lacks(
        self, key: PlacementKey, cluster: str, identity: Identity, works: Mapping[PlacementKey, Work] | None
    ) -> bool:
        binding, record = self.binding(key, cluster), self.records[key]
        if binding is None:
            if (key, identity) not in self._coming:
                self._coming[key, identity] = self._may_come(key, identity)
            return self._coming[key, identity]
        named = identity in self.content(key, record.snapshot_named(binding.resource_snapshot))
        if works is None:
            return not named or any(_said(binding, type_) is not Status.TRUE for type_ in _RENDERED)
        work = works.get(key)
        if work is not None and work.error is None and identity in work.deleted:
            latest = record.latest_resources
            newest = latest is not None and latest.name == binding.resource_snapshot
            return not newest or _said(binding, ConditionType.ROLLOUT_STARTED) is Status.FALSE
        return not named or work is None or work.error is not None

    def _may_come(self, key: PlacementKey, identity: Identity) -> bool:
        """Whether a placement may still come to a cluster that it does not want now: nobody could schedule it, or it
        waits to have the object on others, so that it may not be settled there."""
        record = self.records[key]
        scheduled = record.scheduled
        if scheduled is None or (scheduled.status is not Status.TRUE and scheduled.reason not in _SCHEDULED):
            return True
        for name, binding in self._active(key).items():
            reports = binding.apply_strategy.type.only_reports
            has = record.snapshot_named(binding.resource_snapshot if reports else binding.applied_snapshot)
            if identity not in self.content(key, has) and silent_from(self.clusters.get(name)) is None:
                return True
        return False

    def _active(self, key: PlacementKey) -> dict[str, Binding]:
        if key not in self._bindings:
            self._bindings[key] = {b.cluster: b for b in self.records[key].bindings if is_active(b)}
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


_RENDERED = (ConditionType.OVERRIDDEN, ConditionType.WORK_SYNCHRONIZED)
_SCHEDULED = (Reason.SCHEDULING_POLICY_FULFILLED.value, Reason.SCHEDULING_POLICY_UNFULFILLED.value)


def _said(binding: Binding, type_: ConditionType) -> Status | None:
    found = find_condition(binding.conditions, type_, generation=binding.generation)
    return found.status if found is not None else None
