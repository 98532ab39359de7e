"""What must be true of a history that came to rest with everything corrected."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar

from gitfleet.api.bindings import BindingState, is_available
from gitfleet.api.snapshots import OverrideSnapshot
from gitfleet.model.failures import Failures
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.works import WorksMemo, render_fleet
from tests.properties.histories import History
from tests.properties.invariants import floor_of
from tests.scenarios.world import STATE

H = TypeVar("H", bound=History)


def check_histories(make: Callable[[int], H], seeds: Iterable[int], ends: Callable[[H], None]) -> int:
    """Play a history of each seed to its end, which `ends` checks as well as `Unchanged`; how often an invariant was
    checked. AssertionError with the story of the first history that breaks one."""
    checked = 0
    for seed in seeds:
        history = make(seed)
        try:
            history.play()
            ends(history)
            Unchanged(history).check()
        except Exception as error:
            story = "\n  ".join(history.log)
            raise AssertionError(f"history {seed}: {error or type(error).__name__}\n  {story}") from error
        checked += history.invariants.checked
    return checked


def _may_move(record: PlacementRecord) -> bool:
    """Whether the budget of a placement lets another cluster become unavailable."""
    return floor_of(record) < sum(map(is_available, record.bindings))


class Unchanged:
    """What must be true of a history that came to rest with everything corrected."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.world = history.world
        self.state = history.world.state()

    def check(self) -> None:
        """All of it, once everything that is held is approved; AssertionError."""
        if self.state.held:
            self._is_told_by_the_state_branch()
            self._stays_unchanged()
            self.history.approve_holds()
            self.state = self.world.state()
        self._has_what_is_written()
        self._is_told_by_the_state_branch()
        self._has_no_fault()
        self._serves_everywhere()
        self._owns_exactly_what_is_wanted()
        self._stays_unchanged()

    def _is_told_by_the_state_branch(self) -> None:
        """What a process keeps in memory is what a fresh one reads."""
        remembered = self.world.driver.repository.load_state(self.world.repo.fetch().get(STATE))
        for key, record in remembered.placements.items():
            read = self.state.placements[key]
            for mine, stored in zip(record.resource_snapshots, read.resource_snapshots, strict=True):
                if stored.manifests is not None and mine.manifests is not None:
                    assert [m.body for m in stored.manifests] == [m.body for m in mine.manifests]
        assert _bare(self.state) == _bare(remembered)

    def _has_no_fault(self) -> None:
        faults = [fault for fault in self.state.faults if fault.severity == "error"]
        assert not faults, faults

    def _has_what_is_written(self) -> None:
        """The placements and clusters are those that people wrote, and those of which an External placement takes over
        the objects with its next run, no others."""
        written = self.history.written
        placements = {key.name for key, record in self.state.placements.items() if not self._awaits_a_run(record)}
        assert placements == set(written.placements)
        assert set(self.state.clusters) == set(written.clusters)

    def _awaits_a_run(self, record: PlacementRecord) -> bool:
        """Whether all that a removed placement still owns belongs to the content of placements that take it over with
        their next run, or once their budget allows it."""
        if record.placement.deleting is None:
            return False
        takers = [r for r in self.state.placements.values() if r.placement.strategy.external or not _may_move(r)]
        contents = [taker.latest_resources.documents for taker in takers if taker.latest_resources is not None]
        awaited = {document.key.identity for documents in contents for document in documents}
        every = (entry for owned in self.state.inventory.values() for entry in owned.values())
        return all(e.key.identity in awaited for e in every if e.placement == record.placement.key)

    def _serves_everywhere(self) -> None:
        for key, record in self.state.placements.items():
            latest = record.latest_resources
            assert latest is not None
            # Where the policy asks for more clusters than can be available, no budget is left, not even to remove what
            # is down (kubefleet.md §3: "a not-ready candidate costs the same as a ready one").
            # One that only runs roll out stays as it is.
            if self._awaits_a_run(record):
                continue
            may_move = not record.placement.strategy.external and _may_move(record)
            for binding in record.bindings:
                where = f"{key} on {binding.cluster}: {binding}"
                assert binding.deleting is None, where
                assert binding.state is BindingState.BOUND or not may_move, where
                # A run may have rolled out what works nowhere, with the overrides of its time.
                if is_available(binding) or not record.placement.strategy.external:
                    assert binding.resource_snapshot == binding.applied_snapshot or not may_move, where
                assert binding.resource_snapshot == latest.name or not may_move, where
                assert is_available(binding) or not may_move, where
                assert self.history.invariants.is_up(binding.cluster, key) == is_available(binding), where

    def _owns_exactly_what_is_wanted(self) -> None:
        works = render_fleet(self.state, WorksMemo(), Failures())[0]
        for name, cluster in self.world.fleet.clusters.items():
            if name not in self.state.clusters:
                continue  # it left, and what was placed there stays (KubeFleet)
            if any(work.error is not None for work in works.get(name, ())):
                continue  # an override of a run's time, which cannot be applied: what was there before it stays
            wanted = {manifest.key for work in works.get(name, ()) for manifest in work.manifests}
            owned = set(self.state.inventory.get(name, {}))
            # Where no budget is left, a cluster waits for the newest content, and keeps what that has.
            assert owned == wanted or (wanted < owned and self._is_behind(name)), name
            missing = [str(key) for key in wanted if cluster.get(key) is None]
            assert not missing, (name, missing)

    def _is_behind(self, cluster: str) -> bool:
        return any(
            binding.cluster == cluster and record.snapshot_named(binding.resource_snapshot) != record.latest_resources
            for record in self.state.placements.values()
            for binding in record.bindings
        )

    def _stays_unchanged(self) -> None:
        head = self.world.repo.fetch()[STATE]
        self.world.advance(hours=7)
        self.history.reconcile()
        self.world.restart()
        self.history.reconcile()
        assert self.world.repo.fetch()[STATE] == head


def _bare(state: FleetState) -> FleetState:
    """A state without what is not kept: manifests, which are loaded as they are needed, and where files stood."""

    def record(full: PlacementRecord) -> PlacementRecord:
        snapshots = tuple(replace(snapshot, manifests=None) for snapshot in full.resource_snapshots)
        return replace(full, placement=replace(full.placement, origin=None), resource_snapshots=snapshots)

    def override(full: OverrideSnapshot) -> OverrideSnapshot:
        return replace(full, override=replace(full.override, origin=None))

    return replace(
        state,
        clusters={name: replace(cluster, origin=None) for name, cluster in state.clusters.items()},
        placements={key: record(full) for key, full in state.placements.items()},
        overrides={key: tuple(map(override, snapshots)) for key, snapshots in state.overrides.items()},
        evictions={name: replace(eviction, body={}, origin=None) for name, eviction in state.evictions.items()},
    )
