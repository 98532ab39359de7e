"""Mass deletion (decision D25): a commit that removes more than a share of what is placed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from gitfleet.api.fleet import MassDelete
from gitfleet.api.holds import HoldReason, HoldRule, Removal, RemovalKind
from gitfleet.api.placements import PlacementKey
from gitfleet.formats.sentences import counted
from gitfleet.model.state import FleetState
from gitfleet.removals.placed import Cell, Placed


@dataclass(frozen=True, slots=True)
class Finding:
    """A reason to hold removals, and which."""

    reason: HoldReason
    removals: tuple[Removal, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a commit removes: the placed objects that each removal takes away, new ones and those that are held
    already."""

    new: Mapping[Removal, frozenset[Cell]]
    held: Mapping[Removal, frozenset[Cell]]


def shares_exceeded(asked: Asked, before: FleetState, placed: Placed, wanted: MassDelete) -> Iterator[Finding]:
    """The scopes of which too much would go: the fleet's objects, its clusters, then each cluster's and each
    placement's objects.

    A scope counts from `massDelete.minClusters` clusters or `massDelete.minObjects` placed objects on. Of a placement
    what is held already counts too, so that a second commit cannot remove the rest piece by piece. The limits that the
    commit wants count together with those before it, so that no commit lifts its own.
    """
    limits = _Limits(before.mass_delete.strictest(wanted), wanted)
    everything = tuple(asked.new)
    fleet = _Share(limits, "the fleet", set().union(*asked.new.values()), placed.total, len(placed.by_cluster))
    taken_out = [removal for removal in everything if removal.kind is RemovalKind.CLUSTER]
    clusters = [name for name, cluster in before.clusters.items() if cluster.deleting is None]
    if fleet.exceeded:
        yield Finding(fleet.reason, everything)
    if len(clusters) >= limits.used.min_clusters and limits.exceeded(len(taken_out), len(clusters)):
        text = f"the commit takes {len(taken_out)} of {len(clusters)} clusters out of the fleet ({limits})"
        yield Finding(HoldReason(rule=HoldRule.MASS_DELETION, message=text), tuple(taken_out))
    if fleet.exceeded:
        return
    for cluster, taken in _by_cluster(asked.new).items():
        gone = set().union(*taken.values())
        share = _Share(limits, f"cluster {cluster}", gone, len(placed.by_cluster.get(cluster, ())), 1)
        if share.exceeded:
            yield Finding(share.reason, tuple(taken))
    waiting = _by_placement(asked.held)
    for key, removals in _by_placement(asked.new).items():
        gone, held = set().union(*removals.values()), set().union(*waiting.get(key, {}).values())
        total = len(gone.union(held, placed.by_placement.get(key, ())))  # with what others keep until it has that
        share = _Share(limits, f"placement {key}", gone, total, len(placed.clusters_of(key)), held)
        if share.exceeded:
            yield Finding(share.reason, tuple(removals))


@dataclass(frozen=True, slots=True)
class _Limits:
    """The limits that are used, and those that the commit wants."""

    used: MassDelete
    wanted: MassDelete

    def exceeded(self, part: int, whole: int) -> bool:
        return part * 100 > whole * self.used.max_percent

    def __str__(self) -> str:
        text = f"more than {self.used.max_percent}%"
        same = self.used == self.wanted
        return text if same else f"{text}; massDelete as it was before this commit counts for it too"


@dataclass(frozen=True, slots=True)
class _Share:
    """What goes of a scope, and what of it is `held` already, which counts with it."""

    limits: _Limits
    scope: str
    gone: set[Cell]
    total: int
    clusters: int
    held: set[Cell] = field(default_factory=set)

    @property
    def exceeded(self) -> bool:
        counts = self.clusters >= self.limits.used.min_clusters
        counts = counts or self.total >= self.limits.used.min_objects
        return counts and self.limits.exceeded(len(self.gone | self.held), self.total)

    @property
    def reason(self) -> HoldReason:
        names = len({cluster for cluster, _ in self.gone})
        where = "" if self.scope.startswith("cluster ") else f", from {counted(names, 'cluster')}"
        every = self.gone | self.held
        beside = f", and {len(every)} with what is held already" if every != self.gone else ""
        text = f"the commit removes {len(self.gone)} of the {self.total} objects that {self.scope} has{where}{beside}"
        text += f" ({self.limits})"
        return HoldReason(rule=HoldRule.MASS_DELETION, message=text)


def _by_cluster(asked: Mapping[Removal, frozenset[Cell]]) -> dict[str, dict[Removal, set[Cell]]]:
    """For each cluster what each removal takes from it."""
    found: dict[str, dict[Removal, set[Cell]]] = {}
    for removal, cells in asked.items():
        here: dict[str, set[Cell]] = {}
        for cell in cells:
            here.setdefault(cell[0], set()).add(cell)
        for cluster, mine in here.items():
            found.setdefault(cluster, {})[removal] = mine
    return dict(sorted(found.items()))


def _by_placement(asked: Mapping[Removal, frozenset[Cell]]) -> dict[PlacementKey, dict[Removal, frozenset[Cell]]]:
    found: dict[PlacementKey, dict[Removal, frozenset[Cell]]] = {}
    for removal, cells in asked.items():
        if removal.placement is not None:
            found.setdefault(removal.placement, {})[removal] = cells
    return dict(sorted(found.items()))


def placements_of(removals: Iterable[Removal]) -> frozenset[PlacementKey]:
    """The placements that removals are about."""
    return frozenset(removal.placement for removal in removals if removal.placement is not None)
