"""The gates of a pass, at one place: what keeps a movement from starting (decision D40).

    of_placement, frozen, quarantined, followed    for bindings, evictions and runs
    passage                                        for the steps of workload rollouts

What has started finishes; drift is corrected; what goes back by itself goes back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain

from gitfleet import apply, rollout
from gitfleet.api.bindings import is_active, is_available
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.pins import Pin
from gitfleet.api.placements import PlacementKey
from gitfleet.formats.int_or_percent import scaled
from gitfleet.model.decisions import Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.rolling import Frozen, Passage, PlacementGate, WorkloadMove
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.model.works import Work
from gitfleet.reconcile.pins import Followed, followed, pins_of
from gitfleet.reconcile.quarantines import Quarantines, in_force
from gitfleet.reconcile.texts import ReconcileText

_NO_PLACEMENT = PlacementKey("", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Gates:
    """The gates in force at one moment."""

    wanted: Desired
    clusters: Mapping[str, MemberCluster]
    freezes: rollout.Freezes = rollout.Freezes()
    quarantines: Quarantines = field(default_factory=dict)
    pins: Mapping[PlacementKey, Pin] = field(default_factory=dict)
    unavailable: dict[PlacementKey, set[str]] = field(default_factory=dict)
    """The clusters of placements that are not available, as they were counted last in this pass."""

    @classmethod
    def of(cls, inputs: Inputs, clusters: Mapping[str, MemberCluster]) -> Gates:
        """Those of a commit, for clusters as they are known."""
        wanted = inputs.desired
        return cls(
            wanted=wanted,
            clusters=clusters,
            freezes=rollout.freezes_at(wanted.freezes, inputs.now),
            quarantines=in_force(wanted, inputs.before.quarantines),
            pins=pins_of(wanted),
        )

    def frozen(self, key: PlacementKey, names: Iterable[str], stage: str = "") -> dict[str, Frozen]:
        """The clusters on which nothing of a placement (of a stage of its runs) starts to move."""
        return self.freezes.of(key, names, self.clusters, stage)

    def of_placement(self, record: PlacementRecord) -> PlacementGate:
        """What its rolling update, its evictions and its removal have to pass."""
        key = record.placement.key
        frozen = self.frozen(key, [binding.cluster for binding in record.bindings])
        return PlacementGate(frozen=frozen, refused=rollout.refusal_of(record, self.quarantines.get(key, {})))

    def quarantined(self, key: PlacementKey) -> dict[str, str]:
        """Why content of a placement goes nowhere, by its digest."""
        return {digest: one.sentence for digest, one in self.quarantines.get(key, {}).items()}

    def followed(self, record: PlacementRecord) -> Followed | None:
        """What a pin keeps of a placement; None without a pin."""
        return followed(record, self.pins.get(record.placement.key), self.wanted)

    def passage(self, move: WorkloadMove, state: FleetState, works: apply.Works) -> Passage | Frozen:
        """Leave to move the pods of workloads on a cluster, or why they must not start to. `works` are what clusters
        are to have by the `state` that was decided."""
        identities = {key.identity for key in move.workloads}
        mine = [w for w in works.get(move.cluster, ()) if any(m.key.identity in identities for m in w.manifests)]
        owned = state.inventory.get(move.cluster, {}).items()
        keys = {work.placement for work in mine} | {e.placement for key, e in owned if key.identity in identities}
        closed = [self._closed_by_freeze(key, move.cluster, state) for key in sorted(keys) or (_NO_PLACEMENT,)]
        for work in mine:
            if (record := state.placements.get(work.placement)) is not None:
                closed.append(self._closed_to(record, work, move, state))
        last = max((frozen for frozen in closed if frozen is not None), key=lambda frozen: frozen.end, default=None)
        return last or Passage(move.cluster)

    def _closed_by_freeze(self, key: PlacementKey, cluster: str, state: FleetState) -> Frozen | None:
        return self.frozen(key, [cluster], _stage_of(key, cluster, state)).get(cluster)

    def _closed_to(self, record: PlacementRecord, work: Work, move: WorkloadMove, state: FleetState) -> Frozen | None:
        """By what a placement may have on a cluster, and what it has there."""
        key, snapshot = record.placement.key, record.snapshot_named(work.snapshot)
        for one in state.quarantines.values():
            if snapshot is not None and (one.placement, one.digest, one.lifted) == (key, snapshot.hash, False):
                return _asks(f"snapshot {snapshot.index} {one.sentence}")
        pin = self.followed(record)
        if pin is not None:
            if pin.snapshot is None:
                return _asks(pin.why)
            if snapshot is not None and snapshot.hash != pin.snapshot.hash:
                return Frozen(ReconcileText.CLUSTER_LACKS_PINNED_CONTENT(placement=key), None)
        if move.resizes and (pin is not None or record.placement.strategy.external):
            what = ReconcileText.PINNED() if pin is not None else ReconcileText.MOVED_BY_RUNS()
            return _asks(ReconcileText.WRITE_REPLICAS_MANIFEST(placement=key, what=what))
        return self._over_budget(record, work, move) if move.shrinks else None

    def _over_budget(self, record: PlacementRecord, work: Work, move: WorkloadMove) -> Frozen | None:
        """A workload that gets fewer pods than its manifest says counts as a cluster that is not available: while its
        pods go for maxUnavailable, and for as long as they are away for a disruption budget."""
        key, here = record.placement.key, {move.cluster}
        bindings = [binding for binding in record.bindings if is_active(binding)]
        if key not in self.unavailable:
            self.unavailable[key] = {binding.cluster for binding in bindings if not is_available(binding)}
        names = [manifest.key.identity for manifest in work.manifests]
        shrinking = set[str]().union(*(move.shrinking[one] for one in names if one in move.shrinking))
        limit = scaled(record.placement.strategy.rolling_update.max_unavailable, len(bindings))
        if len((self.unavailable[key] | shrinking) - here) >= max(1, limit):
            return Frozen(ReconcileText.MAX_UNAVAILABLE_USED_UP(placement=key), None)
        budget = self.wanted.budgets.get(key.name) if not key.namespace else None
        if budget is not None:
            away = shrinking.union(*(move.shrunk[one] for one in names if one in move.shrunk)) - here
            counted = [replace(b, conditions=()) if b.cluster in away else b for b in bindings]
            if not rollout.disruptions(record.placement.effective_policy, budget, counted).allowed:
                return _asks(ReconcileText.DISRUPTION_BUDGET_ALLOWS_NO_CLUSTER(placement=key))
        return None


def _asks(reason: str) -> Frozen:
    return Frozen(reason, None, asks=True)


def _stage_of(key: PlacementKey, cluster: str, state: FleetState) -> str:
    """The stage of an unfinished run in which a cluster is."""
    runs = (run for run in state.runs.values() if run.placement == key and not run.finished)
    stages = chain.from_iterable(run.status.stages for run in runs)
    return next((stage.name for stage in stages if any(one.cluster == cluster for one in stage.clusters)), "")
