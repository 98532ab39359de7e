"""What must hold at every moment of a random history with staged update runs, evictions, freezes and quarantines."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from gitfleet.api.bindings import Binding
from gitfleet.api.placements import PlacementKey
from gitfleet.api.runs import RunRecord
from gitfleet.model.state import FleetState, PlacementRecord
from tests.properties.invariants import Invariants, Up
from tests.properties.run_laws import Facts, broken_by, clusters_of, freshly, is_through
from tests.properties.staged_writing import StagedWritten


@dataclass(slots=True)
class StagedInvariants(Invariants):
    """The invariants of every history, of which the budgets are for rolling updates; and those of runs (`run_laws`):
    a cluster counts as updated only when it is up. An executed eviction leaves as many clusters up as the disruption
    budget asks for, and what became of it does not change. `answers`, `wanted` and `budgets` are what people have
    written so far; `started` counts the clusters that runs started."""

    answers: dict[str, bool] = field(default_factory=dict)
    wanted: dict[str, str] = field(default_factory=dict)
    budgets: dict[str, int] = field(default_factory=dict)
    through: dict[tuple[str, str], datetime] = field(default_factory=dict)
    evicted: set[tuple[PlacementKey, str]] = field(default_factory=set)
    started: int = 0
    written: StagedWritten = field(default_factory=StagedWritten)

    def pushed(self) -> None:
        """A new intent or report may be on the state branch."""
        before, head, up = self.intent, self.head, self._up_now()
        fresh = self.read()[1]
        known = before.evictions.keys()
        self.evicted = {
            (PlacementKey("", e.placement_name), e.cluster_name)
            for name, e in fresh.evictions.items()
            if name not in known and e.was_executed
        }
        Invariants.pushed(self)
        if self.head != head and self.exact:
            self._check_runs(before, up)
            self._check_evictions(before, up)
            self._check_kept_back(before)

    def _check_runs(self, before: FleetState, up: Up) -> None:
        now = self.clock.now()
        for name, run in self.intent.runs.items():
            was = before.runs.get(name)
            was = was if was is not None and was.created == run.created else None
            for stage in run.status.stages:
                if not is_through(stage):
                    self.through.pop((name.name, stage.name), None)
                else:
                    self.through.setdefault((name.name, stage.name), now)
            self.broken += broken_by(was, run, self._facts(before, run))
            self.started += len(freshly("Started", was, run))
            unfit = set(freshly("Succeeded", was, run)) - up.get(run.placement, frozenset())
            if unfit:
                self.broken.append(f"{sorted(unfit)} count as updated by {name} and are not up")

    def _facts(self, before: FleetState, run: RunRecord) -> Facts:
        others = [o for o in self.intent.runs.values() if o.placement == run.placement and o.key != run.key]
        return Facts(
            now=self.clock.now(),
            answers=self.answers,
            through=self.through,
            wanted=self.wanted,
            cut_off=self._is_cut_off(run),
            frozen=lambda stage: self._freezes(run.placement, stage),
            had=_bound(before.placements.get(run.placement)),
            gets=_bound(self.intent.placements.get(run.placement)),
            quarantined=self._quarantined(before, run.placement),
            shared=frozenset(
                name for other in others for name in freshly("Started", before.runs.get(other.key), other)
            ),
        )

    def _freezes(self, key: PlacementKey, stage: str = "") -> bool:
        return any(frost.holds(self.clock.now(), str(key), stage) for frost in self.written.freezes.values())

    def _quarantined(self, before: FleetState, key: PlacementKey) -> frozenset[str]:
        """The names of the snapshots of a placement that must not go out, as far as it is sure: a file that cannot be
        read lifts nothing, and what it said before may count."""
        record = self.intent.placements.get(key)
        if record is None or self.written.broken is not None:
            return frozenset()
        files = [(digest, lifted) for owner, digest, lifted in self.written.quarantines.values() if owner == str(key)]
        lifted = {digest for digest, is_lifted in files if is_lifted}
        of_runs = {one.digest for one in before.quarantines.values() if one.run and one.placement == key}
        digests = (of_runs | {digest for digest, is_lifted in files if not is_lifted}) - lifted
        return frozenset(s.name for s in record.resource_snapshots if s.hash in digests)

    def _check_kept_back(self, before: FleetState) -> None:
        """No cluster gets quarantined content, and in a freeze none gets anything but what it goes back to, none that
        stays is given up or evicted; and a snapshot stays what it is."""
        for key, record in self.intent.placements.items():
            old = before.placements.get(key)
            had, gets, refused = _bound(old), _bound(record), self._quarantined(before, key)
            was = {name: binding.resource_snapshot for name, binding in had.items()}
            moved = {name for name, b in gets.items() if b.resource_snapshot not in (None, was.get(name))}
            runs = [run for run in self.intent.runs.values() if run.placement == key and run.fell_back]
            back = {name for run in runs for name in clusters_of(run)}
            if wrong := sorted(name for name in moved if gets[name].resource_snapshot in refused):
                self.broken.append(f"{key}: {wrong} get what is quarantined")
            if old is not None and self._freezes(key):
                gone = {name for name in had.keys() - gets.keys() if self._stays(name)}
                evicted = {cluster for owner, cluster in self.evicted if owner == key}
                if wrong := sorted((moved - back) | gone | evicted):
                    self.broken.append(f"{key}: {wrong} move in a freeze")
            known = {s.name: s for s in old.resource_snapshots} if old is not None else {}
            for snapshot in record.resource_snapshots:
                same = known.get(snapshot.name, snapshot)
                if (same.hash, same.documents) != (snapshot.hash, snapshot.documents):
                    self.broken.append(f"{snapshot.name} is other content")
            self.checked += bool(refused and moved) + self._freezes(key)

    def _is_cut_off(self, run: RunRecord) -> bool:
        record = self.intent.placements.get(run.placement)
        names = {b.cluster for b in record.bindings} if record is not None else set()
        return sum(self._silent_for(name) is not None for name in names) * 2 > len(names)

    def _check_evictions(self, before: FleetState, up: Up) -> None:
        for name, eviction in self.intent.evictions.items():
            known = before.evictions.get(name)
            if known is not None and known.placement_name == eviction.placement_name and known != eviction:
                self.broken.append(f"eviction {name} is decided again")
        for key in {key for key, _ in self.evicted}:
            record = self.intent.placements[key]
            taken = {cluster for owner, cluster in self.evicted if owner == key} & up.get(key, frozenset())
            staying = {b.cluster for b in record.bindings if b.deleting is None}
            left = up.get(key, frozenset()) - taken & staying
            self.checked += 1
            if taken and len(left) < self.budgets.get(key.name, 0):
                self.broken.append(f"{key}: the eviction from {sorted(taken)} leaves {sorted(left)} up")

    def _check_budget(self, record: PlacementRecord, before: frozenset[str], after: frozenset[str]) -> None:
        if not record.placement.strategy.external:
            evicted = {cluster for key, cluster in self.evicted if key == record.placement.key}
            Invariants._check_budget(self, record, before - evicted, after)

    def _check_surge(self, old: PlacementRecord, new: PlacementRecord, up: frozenset[str]) -> None:
        if not new.placement.strategy.external:
            Invariants._check_surge(self, old, new, up)

    def _moved(self, old: PlacementRecord, new: PlacementRecord) -> list[str]:
        evicted = {cluster for key, cluster in self.evicted if key == new.placement.key}
        moved = [name for name in Invariants._moved(self, old, new) if name not in evicted]
        if not new.placement.strategy.external:
            return moved
        # What the scheduler makes of a binding moves nothing until a run takes it up.
        was = {b.cluster: (b.resource_snapshot, b.deleting) for b in old.bindings}
        now = {b.cluster: (b.resource_snapshot, b.deleting) for b in new.bindings}
        return [name for name in moved if now[name] != was.get(name, (None, None))]


def _bound(record: PlacementRecord | None) -> dict[str, Binding]:
    """The bindings that are in force, by cluster."""
    return {b.cluster: b for b in record.bindings if b.deleting is None} if record is not None else {}
