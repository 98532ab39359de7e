"""The arithmetic of topology spread: what one more placement in a domain does to the skew.

A domain is a value of the topology label, over ALL clusters of the fleet; its count is the number of its clusters that
hold a placement. Skew is the largest count less the smallest. Source: kubefleet.md §2 "Topology spread"; decision D4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from gitfleet.api.placements import TopologySpreadConstraint
from gitfleet.schedule.bits import positions, set_of
from gitfleet.schedule.columns import Column
from gitfleet.schedule.partitions import Partition

VIOLATION_POINTS = -1000
"""What a ScheduleAnyway constraint takes from a cluster that violates it (KubeFleet)."""
_FEW = 32


class SpecialCounts(NamedTuple):
    """The smallest count, the next in order (the same when two domains have it) and the largest."""

    smallest: int
    second_smallest: int
    largest: int


class Effect(NamedTuple):
    """Whether a placement would violate the constraint, and by how much it changes the skew (-1, 0 or 1)."""

    violated: bool
    skew_change: int


def effect_of(count: int, special: SpecialCounts, max_skew: int) -> Effect:
    """What one more placement in a domain with `count` does.

    A domain with the smallest count, while others have more, is never a violation: it can only even the spread out
    (decision D4).
    """
    skew = special.largest - special.smallest
    if skew == 0:
        change = 1
    elif count == special.smallest:
        return Effect(False, -1 if special.smallest != special.second_smallest else 0)
    else:
        change = 1 if count == special.largest else 0
    return Effect(skew + change > max_skew, change)


def is_hard(constraint: TopologySpreadConstraint) -> bool:
    """Whether a violation refuses the cluster instead of costing it points."""
    return constraint.when_unsatisfiable != "ScheduleAnyway"


@dataclass(slots=True)
class SpreadTally:
    """One constraint's counts while clusters are being picked, with the clusters as sets by their domain's count.

    Following one more placement costs a handful of set operations, however many clusters and domains there are.
    """

    constraint: TopologySpreadConstraint
    column: Column
    seen: int = 0
    counts: dict[str, int] | None = None
    levels: Partition[int] | None = None
    special: SpecialCounts = SpecialCounts(0, 0, 0)

    def follow(self, present: int) -> None:
        """Bring the counts up to date with the clusters that hold a placement now."""
        if self.counts is not None and present == self.seen:
            return
        gained = present ^ self.seen
        if self.counts is None or gained & self.seen or gained.bit_count() > _FEW:
            self._count(present)
        else:
            for i in positions(gained):
                self._add(self.column.values[i])
        self.seen = present
        if self.counts:
            self.special = self._special()

    def _count(self, present: int) -> None:
        """All counts again: one pass over the clusters, whatever the number of domains."""
        self.counts = dict.fromkeys(self.column.positions, 0)
        for i in positions(present & self.column.present):
            self.counts[self.column.values[i] or ""] += 1
        levels: dict[int, list[int]] = {}
        for text, where in self.column.positions.items():
            levels.setdefault(self.counts[text], []).extend(where)
        self.levels = {count: set_of(where, len(self.column.values)) for count, where in levels.items()}

    def _add(self, domain: str | None) -> None:
        if domain is None or self.counts is None or self.levels is None:
            return
        count = self.counts[domain]
        members = self.column.members(domain)
        self.counts[domain] = count + 1
        left = self.levels[count] ^ members
        if left:
            self.levels[count] = left
        else:
            del self.levels[count]
        self.levels[count + 1] = self.levels.get(count + 1, 0) | members

    def _special(self) -> SpecialCounts:
        """From the levels, which are few: two of the smallest need two domains in the smallest level."""
        levels = self.levels or {}
        ordered = sorted(levels)
        smallest = ordered[0]
        one = self.column.values[levels[smallest].bit_length() - 1] or ""
        shared = self.column.members(one) != levels[smallest]
        second = smallest if shared or len(ordered) == 1 else ordered[1]
        return SpecialCounts(smallest, second, ordered[-1])

    def effect_on(self, domain: str) -> Effect:
        """What one more placement in a domain does now."""
        return effect_of((self.counts or {})[domain], self.special, self.constraint.max_skew)

    def violating(self) -> int:
        """The clusters whose domain would violate the constraint."""
        members = 0
        for count, level in (self.levels or {}).items():
            if effect_of(count, self.special, self.constraint.max_skew).violated:
                members |= level
        return members

    def points(self) -> Partition[int]:
        """The clusters that have the label, as sets by the points they get."""
        given: Partition[int] = {}
        for count, level in (self.levels or {}).items():
            violated, change = effect_of(count, self.special, self.constraint.max_skew)
            points = VIOLATION_POINTS if violated else -change
            given[points] = given[points] | level if points in given else level
        return given
