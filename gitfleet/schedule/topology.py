"""The plug-in TopologySpreadConstraints: keeps placements even over the values of a label.

DoNotSchedule constraints refuse what violates them, ScheduleAnyway ones take 1000 points; a cluster without the label
is never restricted. One cluster is picked a cycle. Source: kubefleet.md §2 "Topology spread"; decision D4.
"""

from __future__ import annotations

from collections.abc import Mapping

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.placements import PlacementKey, PlacementPolicy, TopologySpreadConstraint
from gitfleet.schedule.cluster_set import ClusterSet
from gitfleet.schedule.fleet import Fact
from gitfleet.schedule.partitions import Partition, add_points
from gitfleet.schedule.plugins import Cycle, FleetRefusal, Refusal, SchedulerPlugin, Score
from gitfleet.schedule.spread import VIOLATION_POINTS, SpreadTally, is_hard
from gitfleet.schedule.texts import ScheduleText


def violation_reason(constraint: TopologySpreadConstraint) -> str:
    """KubeFleet's own sentence."""
    key, max_skew = constraint.topology_key, constraint.max_skew
    return ScheduleText.VIOLATED_DONOTSCHEDULE_TOPOLOGY_SPREAD_CONSTRAINT(key=key, max_skew=max_skew)


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
        return Refusal(violation_reason(violated[0].constraint)) if violated else None

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
