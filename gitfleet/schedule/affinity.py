"""The plug-in ClusterAffinity: required terms refuse clusters, preferred terms score them.

Source: kubefleet.md §2 "Cluster affinity filter" and "Affinity score".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from operator import or_

from gitfleet.api.cluster_selectors import ClusterSelectorTerm, PreferredTerm
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.labels import LabelOperator, LabelRequirement, LabelSelector
from gitfleet.api.placements import PlacementKey, PlacementPolicy
from gitfleet.schedule.cluster_set import ClusterSet, Partition, add_points
from gitfleet.schedule.columns import Column
from gitfleet.schedule.fleet import Fact, FleetIndex
from gitfleet.schedule.plugins import Cycle, FleetRefusal, Refusal, SchedulerPlugin, Score
from gitfleet.schedule.properties import (
    Extremes,
    extremes_of,
    interpolate,
    meets_requirement,
    property_of,
    requirement_members,
    weights_by_value,
)
from gitfleet.schedule.texts import ScheduleText


def selector_matches(selector: LabelSelector | None, cluster: MemberCluster) -> bool:
    """Whether a cluster's labels match; None matches all."""
    return selector is None or selector.matches(cluster.scheduling_labels)


def selector_members(selector: LabelSelector | None, fleet: FleetIndex, candidates: int) -> int:
    """The candidates whose labels match; as `selector_matches` for each of them."""
    if selector is None or not candidates:
        return candidates
    for key, value in selector.match_labels.items():
        candidates &= fleet.column(Fact("label", key)).members(value)
    for requirement in selector.match_expressions:
        column = fleet.column(Fact("label", requirement.key))
        match requirement.operator:
            case LabelOperator.EXISTS:
                candidates &= column.present
            case LabelOperator.DOES_NOT_EXIST:
                candidates &= ~column.present
            case LabelOperator.IN:
                candidates &= _having(column, requirement.values)
            case LabelOperator.NOT_IN:
                candidates &= ~_having(column, requirement.values)
    return candidates


def _having(column: Column, values: Iterable[str]) -> int:
    return reduce(or_, map(column.members, values), 0)


def term_matches(term: ClusterSelectorTerm, cluster: MemberCluster) -> bool:
    """Whether a cluster meets a required term; labels are checked first, then the properties in their order."""
    if not selector_matches(term.label_selector, cluster):
        return False
    return all(meets_requirement(requirement, cluster) for requirement in term.property_requirements)


def term_members(term: ClusterSelectorTerm, fleet: FleetIndex, candidates: int) -> int:
    """The candidates that meet a required term; as `term_matches` for each of them."""
    candidates = selector_members(term.label_selector, fleet, candidates)
    for requirement in term.property_requirements:
        candidates = requirement_members(requirement, fleet, candidates)
    return candidates


def facts_of_selector(selector: LabelSelector | None) -> list[Fact]:
    """The labels that a selector depends on."""
    if selector is None:
        return []
    keys = [*selector.match_labels, *(requirement.key for requirement in selector.match_expressions)]
    return [Fact("label", key) for key in keys]


def missing_labels(selector: LabelSelector | None, cluster: MemberCluster) -> list[str]:
    """What to do to a cluster's labels so that they match, one imperative for each part that does not."""
    if selector is None:
        return []
    labels = cluster.scheduling_labels
    todo = [f"add label {key}={value}" for key, value in selector.match_labels.items() if labels.get(key) != value]
    return todo + [_remedy(req, labels.get(req.key)) for req in selector.match_expressions if not req.matches(labels)]


def _remedy(requirement: LabelRequirement, present: str | None) -> str:
    key = requirement.key
    match requirement.operator:
        case LabelOperator.IN if len(requirement.values) == 1:
            return f"add label {key}={requirement.values[0]}"
        case LabelOperator.IN:
            return ScheduleText.ADD_LABEL_ONE_VALUES(key=key, values=", ".join(requirement.values))
        case LabelOperator.EXISTS:
            return f"add label {key}"
        case LabelOperator.NOT_IN | LabelOperator.DOES_NOT_EXIST:
            return f"remove label {key}={present}"


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
        return Refusal(ScheduleText.CLUSTER_NOT_MATCH_ANY_REQUIRED())

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
        if not meets_requirement(requirement, cluster):
            value = property_of(cluster, requirement.name)
            now = ScheduleText.IT_HAS_NONE() if value is None else f"it is {value}"
            required = f"{requirement.operator} {requirement.values[0]}"
            todo.append(ScheduleText.BRING_PROPERTY(requirement=requirement.name, wanted=required, now=now))
    return todo
