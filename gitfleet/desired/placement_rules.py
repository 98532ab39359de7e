"""KubeFleet's rules on affinity, properties and tolerations (pkg/utils/validator/placement.go).

Each function takes a shape whose own fields are sound and gives every break, located below that shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gitfleet.desired.breaks import Break, Location, below
from gitfleet.desired.placement_shapes import (
    ClusterAffinityShape,
    ClusterSelectorTermShape,
    PropertyRequirementShape,
    TolerationShape,
)
from gitfleet.desired.shapes import is_qualified_name, selector_breaks
from gitfleet.formats.quantities import InvalidQuantity, Quantity, parse_quantity

RESOURCE_PROPERTY_PREFIX: Final = "resources.kubernetes-fleet.io/"
_CAPACITIES: Final = ("total", "allocatable", "available")
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"


def affinity_breaks(affinity: ClusterAffinityShape) -> list[Break]:
    """Sorters only sort what is preferred, property selectors only filter what is required."""
    breaks: list[Break] = []
    here: Location
    required = affinity.required_during_scheduling_ignored_during_execution
    for index, term in enumerate(required.cluster_selector_terms if required else []):
        here = (_REQUIRED, "clusterSelectorTerms", index)
        breaks += below(here, _term_breaks(term))
        if term.property_sorter is not None:
            breaks.append(((*here, "propertySorter"), "only sorts preferred clusters; move it to a preferred term"))
    for index, preferred in enumerate(affinity.preferred_during_scheduling_ignored_during_execution):
        here = (_PREFERRED, index, "preference")
        breaks += below(here, _term_breaks(preferred.preference))
        if preferred.preference.property_selector is not None:
            sentence = "is only for required terms; use propertySorter, or move it to a required term"
            breaks.append(((*here, "propertySelector"), sentence))
    return breaks


def _term_breaks(term: ClusterSelectorTermShape) -> list[Break]:
    breaks = below(("labelSelector",), selector_breaks(term.label_selector))
    if term.property_selector is not None:
        expressions = term.property_selector.match_expressions
        breaks += below(("propertySelector", "matchExpressions"), property_breaks(expressions))
    if term.property_sorter is not None and (sentence := _property_name_break(term.property_sorter.name)):
        breaks.append((("propertySorter", "name"), sentence))
    return breaks


def property_breaks(expressions: Sequence[PropertyRequirementShape]) -> list[Break]:
    """Names, quantities, and contradictions between the requirements on one property."""
    breaks: list[Break] = []
    sound: dict[str, list[tuple[int, str, Quantity]]] = {}
    for index, expression in enumerate(expressions):
        if sentence := _property_name_break(expression.name):
            breaks.append(((index, "name"), sentence))
        if len(expression.values) != 1:
            sentence = f"{expression.operator} takes exactly one value; give one quantity"
            breaks.append(((index, "values"), sentence))
            continue
        try:
            quantity = parse_quantity(expression.values[0])
        except InvalidQuantity as error:
            breaks.append(((index, "values", 0), f"{error.reason}; write one such as 2, 1.5 or 800Mi"))
            continue
        sound.setdefault(expression.name, []).append((index, expression.operator, quantity))
    for name, requirements in sound.items():
        breaks += _contradictions(name, requirements)
    return breaks


def _contradictions(name: str, requirements: Sequence[tuple[int, str, Quantity]]) -> list[Break]:
    """The first requirement, in order, that no value can satisfy together with those before it."""
    for position in range(1, len(requirements)):
        if not _satisfiable([(operator, value) for _, operator, value in requirements[: position + 1]]):
            index = requirements[position][0]
            return [((index,), f'contradicts an earlier requirement on "{name}", so no cluster can match; remove one')]
    return []


def _satisfiable(requirements: Sequence[tuple[str, Quantity]]) -> bool:
    equal = {value for operator, value in requirements if operator == "Eq"}
    if len(equal) > 1:
        return False
    lower = max(((v, op == "Gt") for op, v in requirements if op in ("Gt", "Ge")), default=None)
    upper = min(((v, op != "Lt") for op, v in requirements if op in ("Lt", "Le")), default=None)
    if lower and upper and (lower[0] > upper[0] or (lower[0] == upper[0] and (lower[1] or not upper[1]))):
        return False
    for value in equal:
        if any(operator == "Ne" and other == value for operator, other in requirements):
            return False
        if lower and (value < lower[0] or (value == lower[0] and lower[1])):
            return False
        if upper and (value > upper[0] or (value == upper[0] and not upper[1])):
            return False
    return True


def _property_name_break(name: str) -> str | None:
    if not is_qualified_name(name):
        return "is not a valid property name; use letters, digits and -_. with an optional dns.prefix/"
    if name.startswith(RESOURCE_PROPERTY_PREFIX):
        capacity, dash, resource = name.removeprefix(RESOURCE_PROPERTY_PREFIX).partition("-")
        if not dash or not resource or capacity not in _CAPACITIES:
            return f"must be {RESOURCE_PROPERTY_PREFIX}<total, allocatable or available>-<resource>; correct it"
    return None


def toleration_breaks(tolerations: Sequence[TolerationShape]) -> list[Break]:
    """Exists takes no value, an empty key needs Exists, and no toleration stands twice."""
    breaks: list[Break] = []
    for index, toleration in enumerate(tolerations):
        here = ("tolerations", index)
        if toleration.key and not is_qualified_name(toleration.key):
            breaks.append(((*here, "key"), "is not a valid taint key; use letters, digits and -_."))
        if toleration.operator == "Exists" and toleration.value:
            breaks.append(((*here, "value"), "must be empty with operator Exists; remove it"))
        if toleration.operator != "Exists" and not toleration.key:
            breaks.append(((*here, "key"), "must not be empty with operator Equal; fill it in or use Exists"))
        if any(_same(toleration, earlier) for earlier in tolerations[:index]):
            breaks.append((here, "stands twice; remove one"))
    return breaks


def _same(one: TolerationShape, other: TolerationShape) -> bool:
    def parts(shape: TolerationShape) -> tuple[str, str, str, str]:
        return shape.key, shape.operator or "Equal", shape.value or "", shape.effect

    return parts(one) == parts(other)
