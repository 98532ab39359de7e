"""The plug-in TopologySpreadConstraints: keeps placements even over the values of a label.

A domain is a value of the topology label, over ALL clusters of the fleet; its count is the number of its clusters that
hold a placement. Skew is the largest count less the smallest.

DoNotSchedule constraints refuse what violates them, ScheduleAnyway ones take 1000 points; a cluster without the label
is never restricted. One cluster is picked a cycle. Source: kubefleet.md §2 "Topology spread"; decision D4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.placements import PlacementKey, PlacementPolicy, TopologySpreadConstraint
from gitfleet.schedule.cluster_set import ClusterSet, Partition, add_points, positions, set_of
from gitfleet.schedule.columns import Column
from gitfleet.schedule.fleet import Fact
from gitfleet.schedule.plugins import Cycle, FleetRefusal, Refusal, SchedulerPlugin, Score
from gitfleet.schedule.texts import ScheduleText

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
        remaining = self.levels[count] ^ members
        if remaining:
            self.levels[count] = remaining
        else:
            del self.levels[count]
        self.levels[count + 1] = self.levels.get(count + 1, 0) | members

    def _special(self) -> SpecialCounts:
        """From the levels, which are few: two of the smallest need two domains in the smallest level."""
        levels = self.levels or {}
        ordered = sorted(levels)
        smallest = ordered[0]
        domain = self.column.values[levels[smallest].bit_length() - 1] or ""
        shared = self.column.members(domain) != levels[smallest]
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
        by_points: Partition[int] = {}
        for count, level in (self.levels or {}).items():
            violated, change = effect_of(count, self.special, self.constraint.max_skew)
            points = VIOLATION_POINTS if violated else -change
            by_points[points] = by_points[points] | level if points in by_points else level
        return by_points


class TopologySpread(SchedulerPlugin):
    """Stages post-batch, pre-filter, filter, pre-score and score."""

    name = "TopologySpreadConstraints"

    def depends_on(self, placement: PlacementKey, policy: PlacementPolicy) -> list[Fact]:
        """The topology labels."""
        return [Fact("label", constraint.topology_key) for constraint in policy.topology_spread_constraints]

    def post_batch(self, cycle: Cycle, size: int) -> int:
        """One at a time, because each placement changes the skew."""
        return min(size, 1) if cycle.policy.topology_spread_constraints else size

    def pre_filter(self, cycle: Cycle) -> bool:
        """Needed when there is a DoNotSchedule constraint."""
        return any(map(is_hard, cycle.policy.topology_spread_constraints))

    def filter(self, cycle: Cycle, cluster: MemberCluster) -> Refusal | None:
        """The first violated DoNotSchedule constraint counts."""
        violated = self._violated(cycle, cluster)
        if violated is None:
            return None
        key, max_skew = violated[0].constraint.topology_key, violated[0].constraint.max_skew
        return Refusal(ScheduleText.VIOLATED_DONOTSCHEDULE_TOPOLOGY_SPREAD_CONSTRAINT(key=key, max_skew=max_skew))

    def filter_fleet(self, cycle: Cycle, candidates: ClusterSet) -> FleetRefusal:
        """As `filter` for each candidate."""
        refused = 0
        for tally in self._tallies(cycle):
            if is_hard(tally.constraint):
                refused |= tally.violating()
        return FleetRefusal(ClusterSet(candidates.names, refused & candidates.bits))

    def remedy(self, cycle: Cycle, cluster: MemberCluster) -> str:
        """The smallest maxSkew that would let the cluster in."""
        violated = self._violated(cycle, cluster)
        if not violated:
            return ""
        (tally, change), special = violated, violated[0].special
        key, enough = tally.constraint.topology_key, special.largest - special.smallest + change
        return ScheduleText.RAISE_MAXSKEW_CONSTRAINT_MAKE_SCHEDULEANYWAY(key=key, enough=enough)

    def pre_score(self, cycle: Cycle) -> bool:
        """Needed when there is a constraint of any kind."""
        return bool(cycle.policy.topology_spread_constraints)

    def score(self, cycle: Cycle, cluster: MemberCluster) -> Score:
        """A point for each skew that shrinks, one less for each that grows."""
        total = 0
        for tally in self._tallies(cycle):
            domain = cluster.scheduling_labels.get(tally.constraint.topology_key)
            if domain is not None:
                violated, change = tally.effect_on(domain)
                total += VIOLATION_POINTS if violated else -change
        return Score(topology_spread=total)

    def score_fleet(self, cycle: Cycle, candidates: ClusterSet) -> Mapping[Score, ClusterSet]:
        """As `score` for each candidate."""
        totals: Partition[int] = {0: candidates.bits}
        for tally in self._tallies(cycle):
            totals = add_points(totals, tally.points())
        names = candidates.names
        return {Score(topology_spread=total): ClusterSet(names, members) for total, members in totals.items()}

    def _violated(self, cycle: Cycle, cluster: MemberCluster) -> tuple[SpreadTally, int] | None:
        """The first DoNotSchedule constraint that the cluster would violate, and the change of the skew."""
        for tally in self._tallies(cycle):
            domain = cluster.scheduling_labels.get(tally.constraint.topology_key)
            if domain is not None and is_hard(tally.constraint):
                violated, change = tally.effect_on(domain)
                if violated:
                    return tally, change
        return None

    def _tallies(self, cycle: Cycle) -> list[SpreadTally]:
        """The counts as of this cycle."""
        tallies: list[SpreadTally] | None = cycle.notes.get(self.name)
        if tallies is None:
            constraints = cycle.policy.topology_spread_constraints
            tallies = [SpreadTally(c, cycle.fleet.column(Fact("label", c.topology_key))) for c in constraints]
            cycle.notes[self.name] = tallies
        for tally in tallies:
            tally.follow(cycle.present.bits)
        return tallies
