"""Which removals of a commit must wait for a person's word."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gitfleet.api.bindings import is_active
from gitfleet.api.holds import ALLOW_EMPTY, ClusterCount, HoldReason, HoldRule, Removal, RemovalKind
from gitfleet.api.placements import Placement, PlacementKey
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState
from gitfleet.removals.placed import Cell, Losses
from gitfleet.removals.shares import Asked, Finding, placements_of, shares_exceeded


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
    config = request.desired.config
    found = [*shares_exceeded(asked, request.before, losses.placed, config), *_emptied(request, asked)]
    return tuple(_held_back(reasons, removals, asked) for reasons, removals in _joined(found))


def _emptied(request: JudgeRequest, asked: Asked) -> Iterator[Finding]:
    """Selections and choices of clusters that had something and now have nothing (decision D31), whatever their size;
    not where the placement itself is removed, or its annotation allows it."""
    mine = {key: [r for r in request.new if r.placement == key and asked.new[r]] for key in placements_of(request.new)}
    for key, removals in sorted(mine.items()):
        record = request.after.placements.get(key)
        if record is None or record.placement.deleting is not None or allows_empty(record.placement):
            continue
        objects = tuple(r for r in removals if r.kind is RemovalKind.OBJECT)
        if objects and record.latest_resources is not None and not record.latest_resources.documents:
            yield Finding(_reason(HoldRule.EMPTY_SELECTION, key, "selects nothing any more", record.placement), objects)
        bindings = tuple(r for r in removals if r.kind is RemovalKind.BINDING)
        if bindings and not any(is_active(binding) for binding in record.bindings):
            yield Finding(_reason(HoldRule.LAST_CLUSTER, key, "picks no cluster any more", record.placement), bindings)


def allows_empty(placement: Placement) -> bool:
    """Whether a placement may have no objects and no clusters."""
    return placement.annotations.get(ALLOW_EMPTY) == "true"


def _reason(rule: HoldRule, key: PlacementKey, what: str, placement: Placement) -> HoldReason:
    origin = placement.origin
    return HoldReason(
        rule=rule,
        message=f"{key.kind} {key} {what}",
        path=origin.path if origin else "",
        line=origin.line if origin else 0,
    )


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
    ordered = [(tuple(reasons), tuple(found[id_] for id_ in sorted(found))) for reasons, found in groups]
    return sorted(ordered, key=lambda group: group[1][0].id)


def _held_back(reasons: tuple[HoldReason, ...], removals: tuple[Removal, ...], asked: Asked) -> HeldBack:
    cells: set[Cell] = set().union(*(asked.new.get(removal, frozenset()) for removal in removals))
    names = sorted({cluster for cluster, _ in cells})
    counts = (ClusterCount(cluster=name, objects=sum(1 for cell in cells if cell[0] == name)) for name in names)
    return HeldBack(reasons=reasons, removals=removals, clusters=tuple(counts))
