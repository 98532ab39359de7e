"""The plug-in ClusterAffinity: required terms refuse clusters, preferred terms score them.

Source: kubefleet.md §2 "Cluster affinity filter" and "Affinity score".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gitfleet.api.cluster_selectors import ClusterSelectorTerm, PreferredTerm
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.placements import PlacementKey, PlacementPolicy
from gitfleet.schedule.cluster_set import ClusterSet
from gitfleet.schedule.fleet import Fact
from gitfleet.schedule.partitions import Partition, add_points
from gitfleet.schedule.plugins import Cycle, FleetRefusal, Refusal, SchedulerPlugin, Score
from gitfleet.schedule.properties import (
    Extremes,
    extremes_of,
    interpolate,
    property_of,
    requirement_holds,
    weights_by_value,
)
from gitfleet.schedule.selectors import (
    facts_of_selector,
    missing_labels,
    selector_matches,
    selector_members,
    term_matches,
    term_members,
)
from gitfleet.schedule.texts import ScheduleText

NO_TERM_MATCHES = ScheduleText.CLUSTER_NOT_MATCH_ANY_REQUIRED()


class ClusterAffinity(SchedulerPlugin):
    """Stages pre-filter, filter, pre-score and score."""

    name = "ClusterAffinity"
    depends_on_bindings = False

    def depends_on(self, placement: PlacementKey, policy: PlacementPolicy) -> list[Fact]:
        """The labels and properties that the terms name."""
        affinity = policy.affinity
        terms = [*affinity.required, *(term.preference for term in affinity.preferred)]
        facts: list[Fact] = []
        for term in terms:
            facts += facts_of_selector(term.label_selector)
            facts += [Fact("property", requirement.name) for requirement in term.property_requirements]
            if term.property_sorter is not None:
                facts.append(Fact("property", term.property_sorter.name))
        return facts

    def pre_filter(self, cycle: Cycle) -> bool:
        """Needed when there is a required term."""
        return bool(cycle.policy.affinity.required)

    def filter(self, cycle: Cycle, cluster: MemberCluster) -> Refusal | None:
        """Terms are ORed and evaluated in order, so an invalid one behind the first match is never evaluated."""
        if any(term_matches(term, cluster) for term in cycle.policy.affinity.required):
            return None
        return Refusal(NO_TERM_MATCHES)

    def filter_fleet(self, cycle: Cycle, candidates: ClusterSet) -> FleetRefusal:
        """As `filter` for each candidate."""
        refused = candidates.bits
        for term in cycle.policy.affinity.required:
            refused &= ~term_members(term, cycle.fleet, refused)
        return FleetRefusal(ClusterSet(candidates.names, refused))

    def remedy(self, cycle: Cycle, cluster: MemberCluster) -> str:
        """What the term needs that is nearest to being met."""
        nearest = min((_missing(term, cluster) for term in cycle.policy.affinity.required), key=len)
        return " and ".join(nearest)

    def pre_score(self, cycle: Cycle) -> bool:
        """Needed when a preferred term has a weight; the extremes of the sorted properties are read here."""
        terms = _weighted(cycle.policy)
        cycle.notes[self.name] = {
            term.preference.property_sorter.name: extremes_of(cycle.fleet, term.preference.property_sorter.name)
            for term in terms
            if term.preference.property_sorter is not None
        }
        return bool(terms)

    def score(self, cycle: Cycle, cluster: MemberCluster) -> Score:
        """The sum over the preferred terms."""
        extremes: Mapping[str, Extremes] = cycle.notes[self.name]
        return Score(affinity=affinity_score(_weighted(cycle.policy), cluster, extremes.__getitem__))

    def score_fleet(self, cycle: Cycle, candidates: ClusterSet) -> Mapping[Score, ClusterSet]:
        """As `score` for each candidate."""
        totals: Partition[int] = {0: candidates.bits}
        for term in _weighted(cycle.policy):
            preference = term.preference
            matched = selector_members(preference.label_selector, cycle.fleet, candidates.bits)
            sorter = preference.property_sorter
            if sorter is None:
                points: Partition[int] = {term.weight: matched}
            elif matched:
                points = weights_by_value(cycle.fleet, sorter.name, sorter.sort_order, term.weight)
                points = {weight: members & matched for weight, members in points.items()}
            else:
                points = {}
            totals = add_points(totals, points)
        return {Score(affinity=total): ClusterSet(candidates.names, members) for total, members in totals.items()}


def affinity_score(
    terms: tuple[PreferredTerm, ...], cluster: MemberCluster, extremes: Callable[[str], Extremes]
) -> int:
    """What preferred terms give to one cluster; `extremes` gives the fleet's smallest and largest value of a
    property.
    """
    total = 0
    for term in terms:
        preference = term.preference
        if not selector_matches(preference.label_selector, cluster):
            continue
        sorter = preference.property_sorter
        if sorter is None:
            total += term.weight
            continue
        bounds = extremes(sorter.name)
        if bounds is not None:
            total += interpolate(property_of(cluster, sorter.name), *bounds, sorter.sort_order, term.weight)
    return total


def _weighted(policy: PlacementPolicy) -> tuple[PreferredTerm, ...]:
    return tuple(term for term in policy.affinity.preferred if term.weight)


def _missing(term: ClusterSelectorTerm, cluster: MemberCluster) -> list[str]:
    todo = missing_labels(term.label_selector, cluster)
    for requirement in term.property_requirements:
        if not requirement_holds(requirement, cluster):
            value = property_of(cluster, requirement.name)
            now = ScheduleText.IT_HAS_NONE() if value is None else f"it is {value}"
            wanted = f"{requirement.operator} {requirement.values[0]}"
            todo.append(ScheduleText.BRING_PROPERTY(requirement=requirement.name, wanted=wanted, now=now))
    return todo
