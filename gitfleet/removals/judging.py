"""Which removals of a commit must wait for a person's approval."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from gitfleet.api.holds import ClusterCount, HoldReason, Removal, RemovalKind
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState
from gitfleet.removals.causes import Causes
from gitfleet.removals.placed import Cell, Losses, Placed
from gitfleet.removals.shares import Asked, Finding, shares_exceeded
from gitfleet.removals.suspicions import Suspicions

MOST_REASONS: Final = 20
"""So many reasons of one hold are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRequest:
    """A decision on `desired`, from `before` to `after`; the removals that it would begin, and those that are held
    already."""

    desired: Desired
    before: FleetState
    after: FleetState
    new: tuple[Removal, ...]
    held: tuple[Removal, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldBack:
    """Removals that wait together: why, and how many placed objects would go from which clusters."""

    reasons: tuple[HoldReason, ...]
    removals: tuple[Removal, ...]
    clusters: tuple[ClusterCount, ...]

    @property
    def objects(self) -> int:
        """How many placed objects would go."""
        return sum(count.objects for count in self.clusters)


def judge(request: JudgeRequest) -> tuple[HeldBack, ...]:
    """The removals that are held, each once: findings that share a removal wait together. What takes nothing from any
    cluster is let through, unless it is one of too many clusters."""
    losses = Losses.between(request.before, request.after)
    asked = Asked(
        new={removal: losses.of(removal) for removal in request.new},
        held={removal: losses.of(removal) for removal in request.held},
    )
    causes = Causes.between(request.before, request.desired)
    shares = [
        Finding(causes.explained(one.reason.rule, one.reason.message, one.removals), one.removals)
        for one in shares_exceeded(asked, request.before, losses.placed, request.desired.config.mass_delete)
    ]
    suspicions = Suspicions(request.desired, request.before, request.after, asked.new, causes, losses.placed)
    found = [*shares, *suspicions.found()]
    return tuple(_held_back(reasons, removals, asked, losses.placed) for reasons, removals in _joined(found))


def _joined(findings: Iterable[Finding]) -> list[tuple[tuple[HoldReason, ...], tuple[Removal, ...]]]:
    """The findings, those with a removal in common put together, in the order of their first removals."""
    groups: list[tuple[list[HoldReason], dict[str, Removal]]] = []
    for finding in findings:
        reasons, removals = [finding.reason], {removal.id: removal for removal in finding.removals}
        apart = []
        for group in groups:
            if group[1].keys() & removals.keys():
                reasons, removals = [*group[0], *reasons], {**group[1], **removals}
            else:
                apart.append(group)
        groups = [*apart, (reasons, removals)]
    ordered = [(tuple(reasons[:MOST_REASONS]), tuple(found[id_] for id_ in sorted(found))) for reasons, found in groups]
    return sorted(ordered, key=lambda group: group[1][0].id)


def _held_back(
    reasons: tuple[HoldReason, ...], removals: tuple[Removal, ...], asked: Asked, placed: Placed
) -> HeldBack:
    cells: set[Cell] = set().union(*(asked.new.get(removal, frozenset()) for removal in removals))
    leaving = {removal.cluster for removal in removals if removal.kind is RemovalKind.CLUSTER}
    counts = []
    for name in sorted(leaving | {cluster for cluster, _ in cells}):
        gone = sum(1 for cell in cells if cell[0] == name)
        stay = len(placed.by_cluster.get(name, ())) - gone if name in leaving else 0
        counts.append(ClusterCount(cluster=name, objects=gone, unmanaged=stay))
    return HeldBack(reasons=reasons, removals=removals, clusters=tuple(counts))
