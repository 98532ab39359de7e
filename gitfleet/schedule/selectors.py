"""Label selectors over the whole fleet, and cluster selector terms (labels AND properties)."""

from __future__ import annotations

from gitfleet.api.cluster_selectors import ClusterSelectorTerm
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.labels import LabelRequirement, LabelSelector
from gitfleet.api.texts import ApiText
from gitfleet.schedule.fleet import Fact, FleetIndex
from gitfleet.schedule.plugins import Unschedulable
from gitfleet.schedule.properties import requirement_holds, requirement_members
from gitfleet.schedule.texts import ScheduleText


def selector_matches(selector: LabelSelector | None, cluster: MemberCluster) -> bool:
    """Whether a cluster's labels match; None matches all. Unschedulable for a selector that Kubernetes would refuse."""
    if selector is None:
        return True
    _check(selector)
    return selector.matches(cluster.scheduling_labels)


def selector_members(selector: LabelSelector | None, fleet: FleetIndex, candidates: int) -> int:
    """The candidates whose labels match; as `selector_matches` for each of them."""
    if selector is None or not candidates:
        return candidates
    _check(selector)
    for key, value in selector.match_labels.items():
        candidates &= fleet.column(Fact("label", key)).members(value)
    for requirement in selector.match_expressions:
        column = fleet.column(Fact("label", requirement.key))
        match requirement.operator:
            case "Exists":
                candidates &= column.present
            case "DoesNotExist":
                candidates &= ~column.present
            case operator:
                named = 0
                for value in requirement.values:
                    named |= column.members(value)
                candidates &= named if operator == "In" else ~named
    return candidates


def term_matches(term: ClusterSelectorTerm, cluster: MemberCluster) -> bool:
    """Whether a cluster meets a required term; labels are checked first, then the properties in their order."""
    if not selector_matches(term.label_selector, cluster):
        return False
    return all(requirement_holds(requirement, cluster) for requirement in term.property_requirements)


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
        case "In" if len(requirement.values) == 1:
            return f"add label {key}={requirement.values[0]}"
        case "In":
            return ScheduleText.ADD_LABEL_ONE_VALUES(key=key, values=", ".join(requirement.values))
        case "Exists":
            return f"add label {key}"
        case _:
            return f"remove label {key}={present}"


def _check(selector: LabelSelector) -> None:
    """As metav1.LabelSelectorAsSelector: a wrong expression is an error whatever the labels are."""
    for requirement in selector.match_expressions:
        match requirement.operator:
            case "In" | "NotIn":
                if not requirement.values:
                    raise Unschedulable(ScheduleText.LABEL_EXPRESSION_MUST_VALUES(requirement=requirement.key))
            case "Exists" | "DoesNotExist":
                if requirement.values:
                    raise Unschedulable(ScheduleText.LABEL_EXPRESSION_MUST_NOT_VALUES(requirement=requirement.key))
            case operator:
                raise Unschedulable(ApiText.NOT_VALID_LABEL_SELECTOR_OPERATOR(operator=operator))
