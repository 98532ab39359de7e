"""Removals that are held, by what must be kept for them: whoever selects, schedules or accepts asks here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from gitfleet.api.envelopes import carried
from gitfleet.api.holds import Removal, RemovalKind
from gitfleet.api.objects import Identity, Manifest
from gitfleet.api.placements import PlacementKey
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """`placements` and `clusters` that go on although no commit has them; by placement the identities of `objects` and
    the names of clusters (`bindings`) that it keeps although it selects or picks them no more, and by cluster the
    identities of objects that it keeps although an override deletes them there (`overridden`). Some of the `objects`
    are `unwritten`: they stand in no file, and stay as they were last, overrides included. Placements in `strategies`
    keep the strategy that they have."""

    placements: frozenset[PlacementKey] = frozenset()
    clusters: frozenset[str] = frozenset()
    objects: Mapping[PlacementKey, frozenset[Identity]] = field(default_factory=dict)
    bindings: Mapping[PlacementKey, frozenset[str]] = field(default_factory=dict)
    overridden: Mapping[PlacementKey, Mapping[str, frozenset[Identity]]] = field(default_factory=dict)
    unwritten: Mapping[PlacementKey, frozenset[Identity]] = field(default_factory=dict)
    strategies: frozenset[PlacementKey] = frozenset()

    @classmethod
    def of(cls, removals: Iterable[Removal], written: Iterable[Manifest] = ()) -> Kept:
        """What must be kept so that none of these happens, while these objects are `written`."""
        placements, clusters, strategies = set(), set(), set()
        objects: dict[PlacementKey, set[Identity]] = {}
        bindings: dict[PlacementKey, set[str]] = {}
        overridden: dict[PlacementKey, dict[str, set[Identity]]] = {}
        for removal in removals:
            key = removal.placement
            match removal.kind:
                case RemovalKind.CLUSTER:
                    clusters.add(removal.cluster)
                case RemovalKind.PLACEMENT if key is not None:
                    placements.add(key)
                case RemovalKind.STRATEGY if key is not None:
                    strategies.add(key)
                case RemovalKind.OBJECT if key is not None and removal.object is not None:
                    objects.setdefault(key, set()).add(removal.object.identity)
                case RemovalKind.BINDING if key is not None:
                    bindings.setdefault(key, set()).add(removal.cluster)
                case RemovalKind.OVERRIDDEN if key is not None and removal.object is not None:
                    overridden.setdefault(key, {}).setdefault(removal.cluster, set()).add(removal.object.identity)
        there = _identities(written) if objects else frozenset()
        return cls(
            placements=frozenset(placements),
            clusters=frozenset(clusters),
            objects={key: frozenset(found) for key, found in objects.items()},
            unwritten={key: gone for key, found in objects.items() if (gone := frozenset(found - there))},
            bindings={key: frozenset(found) for key, found in bindings.items()},
            overridden={key: {name: frozenset(ids) for name, ids in by.items()} for key, by in overridden.items()},
            strategies=frozenset(strategies),
        )

    def asks_for(self, removal: Removal) -> bool:
        """Whether something is kept because of this removal."""
        key, identity = removal.placement, removal.object.identity if removal.object is not None else None
        match removal.kind:
            case RemovalKind.CLUSTER:
                return removal.cluster in self.clusters
            case RemovalKind.PLACEMENT:
                return key in self.placements
            case RemovalKind.STRATEGY:
                return key in self.strategies
            case RemovalKind.BINDING:
                return key is not None and removal.cluster in self.bindings.get(key, ())
            case RemovalKind.OBJECT:
                return key is not None and identity in self.objects.get(key, ())
            case RemovalKind.OVERRIDDEN:
                return key is not None and identity in self.overridden.get(key, {}).get(removal.cluster, ())


def _identities(manifests: Iterable[Manifest]) -> frozenset[Identity]:
    """Of the objects, and of those in envelopes."""
    every = tuple(manifests)
    within = (inner.identity for found in carried(every).values() for inner in found or ())
    return frozenset((*(manifest.key.identity for manifest in every), *within))


def still_wanted(wanted: Desired, before: FleetState, kept: Kept) -> tuple[Desired, Kept]:
    """What people want, with the placements, clusters and strategies that must be kept as they are; and which had to
    be added: the others are wanted again."""
    placements = {
        key: replace(before.placements[key].placement, deleting=None)
        for key in kept.placements
        if key not in wanted.placements and key in before.placements
    }
    external = {
        key: replace(wanted.placements[key], strategy=before.placements[key].placement.strategy)
        for key in kept.strategies
        if key in wanted.placements and key in before.placements and not wanted.placements[key].strategy.external
    }
    clusters = {
        name: before.clusters[name] for name in kept.clusters if name not in wanted.clusters and name in before.clusters
    }
    added = replace(
        kept, placements=frozenset(placements), clusters=frozenset(clusters), strategies=frozenset(external)
    )
    if not (placements or clusters or external):
        return wanted, added
    objects = {
        **wanted.objects,
        "placements": {**wanted.placements, **placements, **external},
        "clusters": {**wanted.clusters, **clusters},
    }
    return replace(wanted, objects=objects), added
