"""What overrides of type Delete take from clusters, and what stays of the overrides while such a removal is held.

deleted_on         what overrides take of a placement's newest content
newly_deleted      what a commit's overrides or clusters' labels take that those before did not
target_overrides   the overrides and labels that each cluster's binding is to have
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from gitfleet.api.bindings import Binding, PinnedLabels, is_active
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.holds import Removal, RemovalKind
from gitfleet.api.labels import InvalidSelector
from gitfleet.api.objects import Identity, ObjectKey
from gitfleet.api.overrides import OverrideKey, OverrideRule
from gitfleet.api.placements import PlacementKey
from gitfleet.api.snapshots import OverrideSnapshot, ResourceSnapshot
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.state import FleetState, Inventory, PlacementRecord, changed
from gitfleet.works.matching import (
    References,
    Target,
    names_placement,
    overrides_by_cluster,
    rule_matches,
    targets_by_object,
    targets_of,
)
from gitfleet.works.pinned import pinned_labels
from gitfleet.works.unwritten import Unwritten

Clusters = Mapping[str, MemberCluster]
HeldObjects = Mapping[str, frozenset[Identity]]
"""By cluster, the objects that overrides delete there and that stay, because their removal is held."""
_ALL_WRITTEN: Final = Unwritten()


@dataclass(frozen=True, slots=True)
class _Deletions:
    """Each override's Delete rules with the snapshot's objects that they take."""

    found: tuple[tuple[OverrideKey, tuple[OverrideRule, ...], tuple[ObjectKey, ...]], ...]

    @classmethod
    def of(cls, key: PlacementKey, snapshot: ResourceSnapshot, overrides: Iterable[OverrideSnapshot]) -> _Deletions:
        """Of a placement's snapshot; with an envelope goes what it carries."""
        deleting = [(o.override, _delete_rules(o)) for o in overrides if names_placement(o.override, key)]
        deleting = [(override, rules) for override, rules in deleting if rules]
        if not deleting:
            return cls(())
        objects = targets_by_object(snapshot)
        every = ((o.key, rules, frozenset(targets_of(o))) for o, rules in deleting)
        return cls(tuple((name, rules, _taken(objects, targets)) for name, rules, targets in every))

    def on(self, cluster: MemberCluster) -> dict[ObjectKey, list[OverrideKey]]:
        """What goes from a cluster, and by which overrides. One whose selector cannot be used deletes nothing: it is
        the work's error."""
        gone: dict[ObjectKey, list[OverrideKey]] = {}
        labels = cluster.scheduling_labels
        for name, rules, objects in self.found:
            try:
                matching = bool(objects) and any(rule_matches(rule, labels) for rule in rules)
            except InvalidSelector:
                continue
            for key in objects if matching else ():
                gone.setdefault(key, []).append(name)
        return gone


def _delete_rules(snapshot: OverrideSnapshot) -> tuple[OverrideRule, ...]:
    return tuple(rule for rule in snapshot.override.rules if rule.override_type == "Delete")


def _taken(objects: Mapping[ObjectKey, frozenset[Target]], targets: frozenset[Target]) -> tuple[ObjectKey, ...]:
    return tuple(key for key, own in objects.items() if not own.isdisjoint(targets))


def deleted_on(
    state: FleetState, current: Iterable[OverrideSnapshot]
) -> Callable[[PlacementKey, str], frozenset[Identity]]:
    """What the overrides `current`, which can be read, delete of a placement's newest content on a cluster; each
    answer is worked out once."""
    overrides = tuple(current)
    rules: dict[PlacementKey, _Deletions] = {}
    answers: dict[tuple[PlacementKey, str], frozenset[Identity]] = {}

    def deleted(key: PlacementKey, cluster: str) -> frozenset[Identity]:
        if (key, cluster) not in answers:
            latest, member = state.placements[key].latest_resources, state.clusters.get(cluster)
            if key not in rules:
                rules[key] = _Deletions.of(key, latest, overrides) if latest is not None else _Deletions(())
            gone = rules[key].on(member) if member is not None else ()
            answers[key, cluster] = frozenset(one.identity for one in gone)
        return answers[key, cluster]

    return deleted


def newly_deleted(
    before: FleetState, clusters: Clusters, current: tuple[OverrideSnapshot, ...], failures: Failures
) -> tuple[Removal, ...]:
    """The placed objects that the overrides `current` take from `clusters` (as they are labelled now), and that the
    overrides and labels of the state before did not take: when an override was changed or a cluster relabelled.

    A placement for which this cannot be decided is marked failed, so that nothing of it moves.
    """
    past = tuple(found[-1] for found in before.overrides.values() if found)
    known = {snapshot.reference for snapshot in past}
    relabelled = any(
        old is not None and new is not None and old.scheduling_labels != new.scheduling_labels
        for _, old, new in changed(before.clusters, clusters)
    )
    fresh = any(snapshot.reference not in known for snapshot in current)
    if not (fresh or relabelled) or not any(map(_delete_rules, current)):
        return ()
    return tuple(
        removal
        for key, record in before.placements.items()
        for removal in failures.contain(Subject.of_placement(key), (), _new, record, before, clusters, (past, current))
    )


def _new(
    record: PlacementRecord,
    before: FleetState,
    clusters: Clusters,
    overrides: tuple[tuple[OverrideSnapshot, ...], tuple[OverrideSnapshot, ...]],
) -> tuple[Removal, ...]:
    key, latest = record.placement.key, record.latest_resources
    if latest is None or record.placement.deleting is not None or record.placement.strategy.external:
        return ()
    then, now = (_Deletions.of(key, latest, found) for found in overrides)
    found: list[Removal] = []
    for binding in record.bindings if now.found else ():
        cluster, was = clusters.get(binding.cluster), before.clusters.get(binding.cluster)
        if cluster is None or was is None or not is_active(binding) or not (gone := now.on(cluster)):
            continue
        already, placed = then.on(was), _placed(key, before.inventory.get(binding.cluster, {}))
        found += [
            Removal(
                kind=RemovalKind.OVERRIDDEN, placement=key, cluster=cluster.name, object=one, override=str(names[0])
            )
            for one, names in gone.items()
            if one not in already and one.identity in placed
        ]
    return tuple(found)


def _placed(key: PlacementKey, owned: Inventory) -> frozenset[Identity]:
    return frozenset(one.identity for one, entry in owned.items() if entry.placement == key and entry.uid is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetOverrides:
    """What bindings are to have, by cluster: the references of overrides, the labels that these depend on, and the
    objects that stay only because their removal is held."""

    references: Mapping[str, References] = field(default_factory=dict)
    labels: Mapping[str, PinnedLabels] = field(default_factory=dict)
    held: HeldObjects = field(default_factory=dict)


def target_overrides(
    record: PlacementRecord,
    current: Iterable[OverrideSnapshot],
    clusters: Clusters,
    held: HeldObjects,
    unwritten: Unwritten = _ALL_WRITTEN,
) -> TargetOverrides:
    """The overrides that concern the record's newest snapshot on each cluster.

    Where one of them deletes an object whose removal is held, or concerns one that is held and `unwritten`, it stays as
    that cluster's binding has it, with the labels that it saw; the others go on.
    """
    latest = record.latest_resources
    if latest is None:
        return TargetOverrides()
    lasting, current = unwritten.staying(record, latest, tuple(current))
    references = overrides_by_cluster(record.placement.key, latest, current, clusters.values())
    labels, kept = pinned_labels(references, current, clusters), {}
    deletions = _Deletions.of(record.placement.key, latest, current if held else ())
    for binding in record.bindings if deletions.found or lasting else ():
        cluster, name = clusters.get(binding.cluster), binding.cluster
        if cluster is None or not is_active(binding) or binding.resource_snapshot is None:
            continue
        here = held.get(name, frozenset())
        stay = {k: by for k, by in deletions.on(cluster).items() if k.identity in here} if here else {}
        if stay:
            kept[name] = frozenset(key.identity for key in stay)
        if stay or lasting:
            names = lasting.union(*(map(str, by) for by in stay.values()))
            references[name] = _as_bound(references.get(name, ((), ())), binding, names)
            if not stay and lasting.isdisjoint(_name(r) for scope in references[name] for r in scope):
                continue
            labels[name] = tuple(sorted({**dict(labels.get(name, ())), **dict(binding.override_labels)}.items()))
    return TargetOverrides(references=references, labels=labels, held=kept)


def _as_bound(now: References, binding: Binding, names: Iterable[str]) -> References:
    """The references with those of some overrides as the binding has them."""
    bound = (binding.cluster_resource_overrides, binding.resource_overrides)
    chosen = frozenset(names)
    cluster_wide, namespaced = (
        tuple(
            sorted((*(r for r in new if _name(r) not in chosen), *(r for r in old if _name(r) in chosen)), key=_order)
        )
        for new, old in zip(now, bound, strict=True)
    )
    return cluster_wide, namespaced


def _name(reference: str) -> str:
    return reference.rpartition("-")[0]


def _order(reference: str) -> tuple[str, ...]:
    return tuple(_name(reference).split("/"))
