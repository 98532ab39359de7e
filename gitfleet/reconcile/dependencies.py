"""What the folders of a placement wait for on each cluster, by `dependsOn` of their Folders.

    Dependencies.of     which folders of which placements wait for which, by a commit
    cycles              the placements that wait for themselves
    ordered             the placements, each after those that it waits for
    waits               the clusters on which a placement starts nothing for now, each with the reason

A dependency counts only for what starts to move: one that fails later changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise

from gitfleet import observe, rollout
from gitfleet.api.bindings import Binding, is_active
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.conditions import ConditionType, Reason, Status, find_condition, is_true
from gitfleet.api.folders import Dependency, Folder, choose_variants, variants_of
from gitfleet.api.objects import Identity
from gitfleet.api.placements import PlacementKey
from gitfleet.api.runs import RunRecord
from gitfleet.model.desired import Desired
from gitfleet.model.failures import Failures
from gitfleet.model.folder_order import cycle_of
from gitfleet.model.rolling import Frozen
from gitfleet.model.state import PlacementRecord
from gitfleet.reconcile.texts import ReconcileText
from gitfleet.snapshots import PayloadIndex, index_of, select


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A placement as it is decided in this pass, with its unfinished runs and the clusters on which its objects are
    being changed; `refused`: its newest content goes nowhere."""

    record: PlacementRecord
    runs: tuple[RunRecord, ...] = ()
    disturbed: Collection[str] = ()
    refused: bool = False

    def on(self, cluster: str) -> Binding | None:
        """The binding by which the placement wants a cluster."""
        return next((b for b in self.record.bindings if b.cluster == cluster and is_active(b)), None)

    def readiness(self, binding: Binding, objects: Collection[Identity] | None, now: datetime) -> rollout.Readiness:
        """Whether these objects (None: all) are available with the content that the cluster is heading for."""
        if not self._has_arrived(binding) or binding.cluster in self.disturbed:
            return rollout.Readiness(False)
        if objects is not None and _are_others(binding, objects):
            return rollout.Readiness(True)
        period = rollout.unavailable_period(self.record.placement.strategy.rolling_update)
        return rollout.is_ready(binding, period, now)

    def _has_arrived(self, binding: Binding) -> bool:
        """Of a rolling update RolloutStarted says whether the binding has the newest content."""
        if binding.resource_snapshot is None:
            return False
        if self.record.placement.strategy.external:
            brought = [
                (run.snapshot, cluster.variants)
                for run in self.runs
                for cluster in run.status.clusters
                if run.goes_forward and run.snapshot and cluster.cluster == binding.cluster
            ]
            return not brought or brought[-1] == (binding.resource_snapshot, binding.variants)
        return self.refused or is_true(binding.conditions, ConditionType.ROLLOUT_STARTED, generation=binding.generation)


def _are_others(binding: Binding, objects: Collection[Identity]) -> bool:
    """Whether all is applied, and what is not available are other objects."""
    available = find_condition(binding.conditions, ConditionType.AVAILABLE, generation=binding.generation)
    failed = {object_.key.identity for object_ in binding.failed}
    is_whole = available is not None and available.status is Status.FALSE and len(binding.failed) < observe.MOST_OBJECTS
    return is_whole and bool(failed) and failed.isdisjoint(objects)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependencies:
    """The Folders of a commit, the objects of those that wait or are waited for, and which of them each placement
    selects."""

    folders: Mapping[str, Folder] = field(default_factory=dict)
    objects: Mapping[str, frozenset[Identity]] = field(default_factory=dict)
    selected: Mapping[PlacementKey, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        payload: PayloadIndex,
        placements: Iterable[PlacementKey],
        selected: Callable[[PlacementKey], frozenset[Identity]],
    ) -> Dependencies:
        """Those of a payload; nothing is looked at where no Folder waits."""
        waiting = {name for name, folder in payload.folders.items() if folder.depends_on}
        if not waiting:
            return cls()
        named = waiting.union(d.folder for name in waiting for d in payload.folders[name].depends_on if d.folder)
        objects: dict[str, set[Identity]] = {name: set() for name in named}
        for identity, variants in payload.objects.items():
            for manifest in variants:
                if manifest.folder in named:
                    objects[manifest.folder].add(identity)
        frozen = {name: frozenset(identities) for name, identities in sorted(objects.items())}
        chosen = {
            key: tuple(name for name, own in frozen.items() if not own.isdisjoint(selected(key))) for key in placements
        }
        return cls(folders=payload.folders, objects=frozen, selected=chosen)

    @classmethod
    def of_commit(cls, desired: Desired) -> Dependencies:
        """Those of a commit, by what its placements select."""
        payload, _ = index_of(desired, None, Failures())

        def selected(key: PlacementKey) -> frozenset[Identity]:
            return frozenset(manifest.key.identity for manifest in select(desired.placements[key], payload).manifests)

        return cls.of(payload, desired.placements, selected)

    def cycles(self) -> Iterator[tuple[str, list[PlacementKey]]]:
        """The placements that wait for themselves, over others, each with a folder that has to wait for less."""
        awaited = {key: self._awaited(key) for key in sorted(self.selected)}
        reported: set[PlacementKey] = set()
        for key in awaited:
            if key not in reported and (cycle := cycle_of(key, awaited.__getitem__)):
                reported.update(cycle)
                yield min(self._waiting_for(*pair) for pair in pairwise(cycle)), cycle

    def _waiting_for(self, key: PlacementKey, awaited: PlacementKey) -> str:
        return next(name for name, needed in self._needs(key) if awaited in self._holders(needed))

    def ordered(self, placements: Iterable[PlacementKey]) -> list[PlacementKey]:
        """The placements, each after those that it waits for; in a cycle one has to be the first."""
        ordered: dict[PlacementKey, None] = {}
        for first in placements:
            way = [(first, iter(self._awaited(first)))]
            visited = {first}
            while way:
                key, awaited = way[-1]
                following = next((k for k in awaited if k not in ordered and k not in visited), None)
                if following is None:
                    ordered[key] = None
                    way.pop()
                else:
                    visited.add(following)
                    way.append((following, iter(self._awaited(following))))
        return [*ordered]

    def waits(
        self,
        key: PlacementKey,
        clusters: Iterable[MemberCluster],
        heading: Callable[[PlacementKey], Heading | None],
        now: datetime,
    ) -> dict[str, Frozen]:
        """Why nothing of a placement starts to move on these clusters; those that wait for nothing are left out."""
        frozen: dict[str, Frozen] = {}
        for cluster in clusters if any(True for _ in self._needs(key)) else ():
            for name, dependency in self._needs(key):
                if self._is_on(name, cluster) and (wait := self._wait(key, name, dependency, cluster, heading, now)):
                    frozen[cluster.name] = wait
                    break
        return frozen

    def _needs(self, key: PlacementKey) -> Iterator[tuple[str, Dependency]]:
        return ((name, needed) for name in self.selected.get(key, ()) for needed in self.folders[name].depends_on)

    def _holders(self, dependency: Dependency) -> list[PlacementKey]:
        if dependency.folder is None:
            return [PlacementKey("", dependency.placement or "")]
        return [key for key, names in self.selected.items() if dependency.folder in names]

    def _awaited(self, key: PlacementKey) -> list[PlacementKey]:
        """The placements that it waits for. Of a folder that is its own the applies wait."""
        own = self.selected.get(key, ())
        needs = (needed for _, needed in self._needs(key) if needed.folder not in own)
        return [holder for needed in needs for holder in self._holders(needed) if holder in self.selected]

    def _is_on(self, name: str, cluster: MemberCluster) -> bool:
        """Whether a cluster gets anything of a Folder that is placed there."""
        folder = self.folders[name]
        return not folder.variants or bool(choose_variants([variants_of(folder)], cluster.scheduling_labels))

    def _wait(
        self,
        key: PlacementKey,
        name: str,
        dependency: Dependency,
        cluster: MemberCluster,
        heading: Callable[[PlacementKey], Heading | None],
        now: datetime,
    ) -> Frozen | None:
        folder, objects = dependency.folder, None
        needed = f"folder {folder}" if folder is not None else f"placement {dependency.placement}"
        if folder is not None:
            if folder not in self.folders:
                return _until_changed(ReconcileText.DEPENDENCY_UNKNOWN(folder=name, needed=needed))
            if not self._is_on(folder, cluster):
                return None
            if folder in self.selected.get(key, ()):
                return None  # within the placement the applies wait
            objects = self.objects[folder]
        headings = [h for holder in self._holders(dependency) if (h := heading(holder)) is not None]
        placed = [(h, binding) for h in headings if (binding := h.on(cluster.name)) is not None]
        if not placed:
            return _until_changed(ReconcileText.DEPENDENCY_NOT_PLACED(folder=name, needed=needed, cluster=cluster.name))
        for source, binding in placed:
            readiness = source.readiness(binding, objects, now)
            if not readiness.ready:
                why = ReconcileText.DEPENDENCY_NOT_AVAILABLE(folder=name, needed=needed, cluster=cluster.name)
                until = now + readiness.wait if readiness.wait is not None else None
                return Frozen(why, until, code=Reason.DEPENDENCY_NOT_AVAILABLE)
        return None


def _until_changed(why: str) -> Frozen:
    """A wait that only a change of the repo ends."""
    return Frozen(why, None, asks=True, code=Reason.DEPENDENCY_NOT_AVAILABLE)
