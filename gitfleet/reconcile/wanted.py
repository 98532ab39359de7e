"""What each cluster is to have when all rollouts are finished: the removal gate judges by it, and so does the ownership
of objects."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from gitfleet import works
from gitfleet.api.bindings import Binding, is_active
from gitfleet.api.envelopes import carried
from gitfleet.api.folders import ChosenVariants, choose_variants
from gitfleet.api.objects import Identity
from gitfleet.api.placements import PlacementKey
from gitfleet.api.snapshots import OverrideSnapshot, ResourceSnapshot, SnapshotVariants
from gitfleet.model.failures import Failures, Subject, attempt
from gitfleet.model.removals import ByCluster, WantedObjects
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.model.works import Work

Works = Mapping[PlacementKey, Mapping[str, Work]]
"""The works of each placement, by cluster."""
Deletions = Callable[[str], frozenset[Identity]]


_Contents = tuple[ByCluster, ByCluster, Collection[Identity]]
"""What one placement wants by cluster, its `later`, and its `variants`."""


@dataclass(frozen=True, slots=True)
class WantedMemo:
    """The result of the pass before with all that it follows from: for the fleet, and for each placement."""

    overrides: tuple[OverrideSnapshot, ...] = ()
    contents: Mapping[PlacementKey, tuple[tuple[object, ...], _Contents]] = field(default_factory=dict)
    objects: WantedObjects = WantedObjects()


def wanted_objects(
    state: FleetState, overrides: tuple[OverrideSnapshot, ...], rendered: Works, memo: WantedMemo, failures: Failures
) -> tuple[WantedObjects, WantedMemo]:
    """By placement and cluster the objects of the content that the cluster is heading for, without those that
    `overrides` delete there. `rendered` are the works of the state. A placement that cannot be read, or of which
    deciding failed, wants all that it owns."""
    before = memo.contents if overrides == memo.overrides else {}
    labels = {name: cluster.labels for name, cluster in state.clusters.items()}
    overrides_delete = any(r.override_type == "Delete" for o in overrides for r in o.override.rules)
    runs, quarantined = _run_snapshots(state), _quarantined(state)
    made: dict[PlacementKey, tuple[tuple[object, ...], _Contents]] = {}
    owned: dict[PlacementKey, _Contents] = {}
    for key, record in state.placements.items():
        subject = Subject.of_placement(key)
        by_labels = overrides_delete or attempt(subject, _has_variants, record) is not False
        own_facts = record, runs.get(key, {}), quarantined.get(key, frozenset()), rendered.get(key, {})
        facts = (*own_facts, labels if by_labels else None)
        previous = before.get(key)
        if previous is not None and previous[0] == facts and subject not in failures:
            made[key] = previous
            continue
        headings = _Headings(record, state, overrides, *own_facts[1:])
        all_owned: _Contents = {binding.cluster: None for binding in record.bindings}, {}, ()
        content = failures.contain(subject, all_owned, headings.all)
        if subject in failures:
            owned[key] = all_owned
        else:
            made[key] = facts, content
    if not owned and made.keys() == before.keys() and all(made[key] is before[key] for key in made):
        return memo.objects, memo
    contents = {key: owned[key] if key in owned else made[key][1] for key in state.placements}
    objects = _without_given_away(
        WantedObjects(
            {key: clusters for key, (clusters, _, _) in contents.items()},
            {key: later for key, (_, later, _) in contents.items() if later},
            {key: variants for key, (_, _, variants) in contents.items() if variants},
        )
    ).sharing(memo.objects)
    return objects, WantedMemo(overrides, made, objects)


def _has_variants(record: PlacementRecord) -> bool:
    return any(snapshot.folders for snapshot in record.resource_snapshots)


def _without_given_away(objects: WantedObjects) -> WantedObjects:
    """Without what a placement that keeps older content lacks in its newest one, where another one has it."""
    placements = dict(objects.placements)
    for key, newest in objects.later.items():
        clusters = dict(objects.placements[key])
        for cluster, content in newest.items():
            has = clusters.get(cluster) or ()
            lost = frozenset(has).difference(content or ()) if has is not content else ()
            if taken := {identity for identity in lost if objects.taker(key, cluster, identity) is not None}:
                clusters[cluster] = frozenset(has) - taken
        placements[key] = clusters
    return replace(objects, placements=placements) if objects.later else objects


class _Content(NamedTuple):
    """The objects of a snapshot, and which of them overrides delete on a cluster."""

    objects: frozenset[Identity] | None
    deleted: Deletions
    has_envelopes: bool


@dataclass(frozen=True, slots=True)
class _Headings:
    """Which content each cluster of a placement is heading for."""

    record: PlacementRecord
    state: FleetState
    overrides: tuple[OverrideSnapshot, ...]
    runs: Mapping[str, tuple[str, ChosenVariants]]
    quarantined: Collection[str]
    works: Mapping[str, Work]
    variants: dict[str, SnapshotVariants] = field(default_factory=dict)
    contents: dict[tuple[str, ChosenVariants], _Content] = field(default_factory=dict)

    def all(self) -> _Contents:
        """The objects by cluster, `later`, and `variants`."""
        if self.record.placement.deleting is not None:
            return {}, {}, ()
        active = [binding for binding in self.record.bindings if is_active(binding)]
        newest = self._newest()
        variants = content_of(newest) if newest is not None and newest.folders else None
        return {binding.cluster: self._on(binding, newest) for binding in active}, self._later(active), variants or ()

    def _later(self, active: Iterable[Binding]) -> ByCluster:
        """The newest content by cluster, where the placement does not roll it out by itself."""
        strategy, latest = self.record.placement.strategy, self.record.latest_resources
        if latest is None or not (strategy.external or strategy.apply_strategy.type.only_reports):
            return {}
        newest: dict[str, Collection[Identity] | None] = {}
        for binding in active:
            content = self._of(latest, self._chosen(latest, binding.cluster))
            newest[binding.cluster] = _without(content.objects or frozenset(), content.deleted(binding.cluster))
        return newest

    def _chosen(self, snapshot: ResourceSnapshot, cluster: str) -> ChosenVariants:
        """The variants of a snapshot for a cluster by the labels that it has now."""
        member = self.state.clusters.get(cluster)
        return choose_variants(snapshot.folders, member.scheduling_labels) if member is not None else ()

    def _newest(self) -> ResourceSnapshot | None:
        """The newest content that is not quarantined; the newest one where all are."""
        snapshots = reversed(self.record.resource_snapshots)
        good = (snapshot for snapshot in snapshots if snapshot.hash not in self.quarantined)
        return next(good, self.record.latest_resources)

    def _on(self, binding: Binding, newest: ResourceSnapshot | None) -> Collection[Identity] | None:
        """The objects that a cluster is heading for; None where it wants all that it has. A cluster that has the
        snapshot of an External placement keeps the overrides that it has."""
        strategy = self.record.placement.strategy
        rolled_out = binding.resource_snapshot if strategy.external else newest and newest.name
        name, variants = self.runs.get(binding.cluster) or (rolled_out, binding.variants)
        snapshot = self.record.snapshot_named(name or None)
        if snapshot is None:
            return None if name else frozenset()
        work = self.works.get(binding.cluster)
        if strategy.apply_strategy.type.only_reports or (work is not None and work.error is not None):
            return None
        if not strategy.external:
            variants = self._chosen(snapshot, binding.cluster)
        content = self._of(snapshot, variants)
        objects, has_it = content.objects, work is not None and work.snapshot == snapshot.name
        if work is None or not has_it or binding.variants != variants or objects is None:
            return _without(objects, content.deleted(binding.cluster))
        if content.has_envelopes:  # an override may change what they carry
            objects = frozenset(manifest.key.identity for manifest in work.manifests)
        return _without(objects, frozenset(work.deleted) if strategy.external else content.deleted(binding.cluster))

    def _of(self, snapshot: ResourceSnapshot, variants: ChosenVariants) -> _Content:
        """What a snapshot has for clusters with these variants."""
        place = (snapshot.name, variants)
        if place not in self.contents:
            if snapshot.name not in self.variants:
                self.variants[snapshot.name] = SnapshotVariants(snapshot)
            chosen = self.variants[snapshot.name].of(variants)
            deleted = works.deletions_of(self.record.placement.key, chosen, self.overrides, self.state.clusters)
            objects = content_of(chosen)
            has_envelopes = objects is not None and len(objects) > len(chosen.documents)
            self.contents[place] = _Content(objects, deleted, has_envelopes)
        return self.contents[place]


def _without(content: frozenset[Identity] | None, deleted: frozenset[Identity]) -> frozenset[Identity] | None:
    return content - deleted if content is not None and deleted else content


def content_of(snapshot: ResourceSnapshot) -> frozenset[Identity] | None:
    """The objects of a snapshot with those that its envelopes carry; None where an envelope cannot be read."""
    named = frozenset(document.key.identity for document in snapshot.documents)
    if snapshot.manifests is None:
        return named
    for keys in carried(snapshot.manifests).values():
        if keys is None:
            return None
        named = named.union(key.identity for key in keys)
    return named


def _run_snapshots(state: FleetState) -> dict[PlacementKey, dict[str, tuple[str, ChosenVariants]]]:
    """By placement and cluster, the snapshot that an unfinished run brings, and its variants; the later run counts."""
    snapshots: dict[PlacementKey, dict[str, tuple[str, ChosenVariants]]] = {}
    for run in sorted(state.runs.values(), key=lambda run: (run.created, run.key)):
        if run.goes_forward and run.snapshot:
            brought = {cluster.cluster: (run.snapshot, cluster.variants) for cluster in run.status.clusters}
            snapshots.setdefault(run.placement, {}).update(brought)
    return snapshots


def _quarantined(state: FleetState) -> dict[PlacementKey, frozenset[str]]:
    """The digests of the content of each placement that is quarantined."""
    digests: dict[PlacementKey, frozenset[str]] = {}
    for quarantine in state.quarantines.values():
        if not quarantine.lifted:
            digests[quarantine.placement] = digests.get(quarantine.placement, frozenset()) | {quarantine.digest}
    return digests
