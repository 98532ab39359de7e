"""Clusters' properties as quantities: requirements on them, and weights by where a value stands between the extremes.

Source: kubefleet.md §2 "Cluster affinity filter" and "Affinity score" (KubeFleet's clusteraffinity plug-in).
"""

from __future__ import annotations

import math
from typing import TypeAlias

from gitfleet.api.cluster_selectors import PropertyOperator, PropertyRequirement, SortOrder
from gitfleet.api.clusters import MemberCluster
from gitfleet.formats.quantities import InvalidQuantity, Quantity, parse_quantity
from gitfleet.schedule.cluster_set import positions, set_of
from gitfleet.schedule.columns import Column
from gitfleet.schedule.fleet import Fact, FleetIndex, Unschedulable, property_text
from gitfleet.schedule.texts import ScheduleText

Extremes: TypeAlias = tuple[Quantity, Quantity] | None
"""The smallest and the largest value of a property in the whole fleet; None when no cluster has it."""


def property_of(cluster: MemberCluster, name: str) -> Quantity | None:
    """The quantity of a property, None when the cluster does not have it; Unschedulable when it is not a quantity."""
    text = property_text(cluster, name)
    return None if text is None else _quantity(text, name, cluster.name)


def meets_requirement(requirement: PropertyRequirement, cluster: MemberCluster) -> bool:
    """Whether a cluster meets one requirement; a missing property meets none, not even Ne."""
    value = property_of(cluster, requirement.name)
    return value is not None and _compare(requirement.operator, value, _expected(requirement))


def requirement_members(requirement: PropertyRequirement, fleet: FleetIndex, candidates: int) -> int:
    """The candidates that meet one requirement; Unschedulable as for a single one of them."""
    if not candidates:
        return 0
    column = _column(fleet, requirement.name)
    having = candidates & column.present
    if not having:
        return 0
    _refuse_unparsable(column, fleet, requirement.name, having)
    expected = _expected(requirement)
    operator = requirement.operator

    def meeting() -> int:
        matching: list[int] = []
        for text, where in column.positions.items():
            value = _parsed(text)
            if value is not None and _compare(operator, value, expected):
                matching += where
        return set_of(matching, len(column.values))

    return having & column.once((operator, expected), meeting)


def extremes_of(fleet: FleetIndex, name: str) -> Extremes:
    """The smallest and largest value of a property over ALL clusters; Unschedulable when any of them is not a
    quantity.
    """
    column = _column(fleet, name)
    _refuse_unparsable(column, fleet, name, column.present)

    def work_out() -> Extremes:
        values = [parse_quantity(text) for text in column.positions]
        return (min(values), max(values)) if values else None

    return column.once("extremes", work_out)


def weights_by_value(fleet: FleetIndex, name: str, sort_order: SortOrder, weight: int) -> dict[int, int]:
    """The clusters that have the property, as sets by the weight that they get."""
    column = _column(fleet, name)
    extremes = extremes_of(fleet, name)
    if extremes is None:
        return {}
    low, high = extremes

    def work_out() -> dict[int, int]:
        by_points: dict[int, list[int]] = {}
        for text, where in column.positions.items():
            by_points.setdefault(interpolate(parse_quantity(text), low, high, sort_order, weight), []).extend(where)
        return {points: set_of(where, len(column.values)) for points, where in by_points.items()}

    return column.once(("weights", sort_order, weight), work_out)


def interpolate(value: Quantity | None, low: Quantity, high: Quantity, sort_order: SortOrder, weight: int) -> int:
    """The share of `weight` for a value between `low` and `high`, in KubeFleet's floats, half rounded away from zero.

    Descending gives all of it to the highest value, Ascending to the lowest; equal extremes and a missing value give 0.
    Unschedulable for a value outside the extremes.
    """
    if value is None:
        return 0
    f, least, most = float(value), float(low), float(high)
    if not least <= f <= most:
        raise Unschedulable(ScheduleText.CANNOT_WEIGH_OBSERVED_VALUES_LIE(value=value, low=low, high=high))
    if least == most:
        return 0
    ratio = (f - least) / (most - least)
    return _round((ratio if sort_order is SortOrder.DESCENDING else 1 - ratio) * weight)


def _column(fleet: FleetIndex, name: str) -> Column:
    return fleet.column(Fact("property", name))


def _quantity(text: str, name: str, cluster: str) -> Quantity:
    try:
        return parse_quantity(text)
    except InvalidQuantity as error:
        raise Unschedulable(
            ScheduleText.PROPERTY_CLUSTER_CANNOT_COMPARED(name=name, cluster=cluster, error=error)
        ) from error


def _parsed(text: str) -> Quantity | None:
    try:
        return parse_quantity(text)
    except InvalidQuantity:
        return None


def _refuse_unparsable(column: Column, fleet: FleetIndex, name: str, among: int) -> None:
    def work_out() -> int:
        texts = (where for text, where in column.positions.items() if _parsed(text) is None)
        return set_of([i for where in texts for i in where], len(column.values))

    for i in positions(column.once("unparsable", work_out) & among):
        _quantity(column.values[i] or "", name, fleet.names[i])


def _expected(requirement: PropertyRequirement) -> Quantity:
    if len(requirement.values) != 1:
        raise Unschedulable(ScheduleText.REQUIREMENT_PROPERTY_MUST_EXACTLY_ONE(requirement=requirement.name))
    try:
        return parse_quantity(requirement.values[0])
    except InvalidQuantity as error:
        raise Unschedulable(
            ScheduleText.REQUIREMENT_PROPERTY_CANNOT_MET(requirement=requirement.name, error=error)
        ) from error


def _compare(operator: PropertyOperator, value: Quantity, expected: Quantity) -> bool:
    match operator:
        case PropertyOperator.EQ:
            return value == expected
        case PropertyOperator.NE:
            return value != expected
        case PropertyOperator.GT:
            return value > expected
        case PropertyOperator.GE:
            return value >= expected
        case PropertyOperator.LT:
            return value < expected
        case PropertyOperator.LE:
            return value <= expected


def _round(number: float) -> int:
    whole = math.trunc(number)
    return whole + int(math.copysign(1, number)) if abs(number - whole) >= 0.5 else whole
