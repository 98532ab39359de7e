"""Terms over clusters: the labels and properties that a placement or an override requires or prefers.

Rules: KubeFleet pkg/utils/validator/placement.go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Final

from annotated_types import Interval, Len

from gitfleet.api.annotations import Accept, At, Break, Shown, below
from gitfleet.api.labels import LabelSelector
from gitfleet.api.texts import ApiText
from gitfleet.api.values import PROPERTY_NAME, NonEmpty, QuantityText, is_property_name, whole
from gitfleet.formats.quantities import SCHEMA as QUANTITY_SCHEMA
from gitfleet.formats.quantities import InvalidQuantity, Quantity, parse_quantity

RESOURCE_PROPERTY_PREFIX: Final = "resources.kubernetes-fleet.io/"
_CAPACITIES: Final = ("total", "allocatable", "available")
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"


_NAME_PATTERN: Final = whole(
    rf"(?!{re.escape(RESOURCE_PROPERTY_PREFIX)}(?!(?:{'|'.join(_CAPACITIES)})-.)){PROPERTY_NAME}"
)
PropertyName = Annotated[NonEmpty, Shown({"pattern": _NAME_PATTERN, "maxLength": 253 + 64})]


class PropertyOperator(StrEnum):
    """How a property is compared with a quantity."""

    GT = "Gt"
    GE = "Ge"
    EQ = "Eq"
    NE = "Ne"
    LT = "Lt"
    LE = "Le"


class SortOrder(StrEnum):
    """Which values of a property come first."""

    ASCENDING = "Ascending"
    DESCENDING = "Descending"


_OP: Final = PropertyOperator


@dataclass(frozen=True, slots=True)
class PropertyRequirement:
    """A property of a cluster, compared with exactly one quantity.

    name: the property's name
    operator: how it is compared
    values: the one quantity that it is compared with
    """

    name: PropertyName
    operator: PropertyOperator
    values: Annotated[
        tuple[Annotated[QuantityText, Shown(QUANTITY_SCHEMA)], ...], Shown({"minItems": 1, "maxItems": 1})
    ]


@dataclass(frozen=True, slots=True)
class PropertySorter:
    """Sorts clusters by a property.

    name: the property's name
    sortOrder: Ascending prefers small values, Descending large ones
    """

    name: PropertyName
    sort_order: SortOrder


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSelectorTerm:
    """Clusters for which all parts hold; a part that is absent or empty holds for every cluster.

    labelSelector: labels of the clusters
    propertySelector.matchExpressions: properties of the clusters; in required terms alone
    propertySorter: by which property clusters are sorted; in preferred terms alone
    """

    label_selector: LabelSelector | None = None
    property_requirements: Annotated[tuple[PropertyRequirement, ...], At("propertySelector", "matchExpressions")] = ()
    property_sorter: PropertySorter | None = None

    def breaks(self) -> Iterator[Break]:
        """Names, quantities and contradictions between requirements on properties."""
        if self.property_sorter is not None and (sentence := _property_name_break(self.property_sorter.name)):
            yield ("propertySorter", "name"), sentence
        breaks = list(_requirement_breaks(self.property_requirements))
        yield from below(("propertySelector", "matchExpressions"), breaks)


def _lone_item(value: Any) -> Any:
    # The seed (PickN placement type) writes a list of one where KubeFleet's own type has the mapping itself.
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _list_of_one(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"type": "array", "items": schema, "minItems": 1, "maxItems": 1}


@dataclass(frozen=True, slots=True)
class PreferredTerm:
    """Clusters that are preferred, and how much.

    weight: how much: -100 to 100, below zero for clusters to avoid
    preference: which clusters
    """

    weight: Annotated[int, Interval(ge=-100, le=100)]
    preference: Annotated[ClusterSelectorTerm, Accept(_lone_item, _list_of_one)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterAffinity:
    """Which clusters fit, and which of them are preferred.

    requiredDuringSchedulingIgnoredDuringExecution.clusterSelectorTerms: a cluster fits where one of the terms holds, or
        there is none
    preferredDuringSchedulingIgnoredDuringExecution: a cluster's weights are added up over the terms that hold
    """

    required: Annotated[
        tuple[ClusterSelectorTerm, ...],
        Len(0, 10),
        At(_REQUIRED, "clusterSelectorTerms"),
    ] = ()
    preferred: Annotated[tuple[PreferredTerm, ...], At(_PREFERRED)] = ()

    def breaks(self) -> Iterator[Break]:
        """Sorters only sort what is preferred, property selectors only filter what is required."""
        for index, term in enumerate(self.required):
            if term.property_sorter is not None:
                location = (_REQUIRED, "clusterSelectorTerms", index, "propertySorter")
                yield location, ApiText.ONLY_SORTS_PREFERRED_CLUSTERS()
        for index, preferred in enumerate(self.preferred):
            if preferred.preference.property_requirements:
                sentence = ApiText.ONLY_REQUIRED_TERMS()
                yield (_PREFERRED, index, "preference", "propertySelector"), sentence


def _requirement_breaks(requirements: Sequence[PropertyRequirement]) -> Iterator[Break]:
    sound: dict[str, list[tuple[int, PropertyOperator, Quantity]]] = {}
    for index, requirement in enumerate(requirements):
        if sentence := _property_name_break(requirement.name):
            yield (index, "name"), sentence
        if len(requirement.values) != 1:
            yield (index, "values"), ApiText.TAKES_EXACTLY_ONE_VALUE(operator=requirement.operator)
            continue
        try:
            quantity = parse_quantity(requirement.values[0])
        except InvalidQuantity as error:
            yield (index, "values", 0), ApiText.WRITE_ONE_MI(reason=error.reason)
            continue
        sound.setdefault(requirement.name, []).append((index, requirement.operator, quantity))
    for name, named in sound.items():
        yield from _contradictions(name, named)


def _contradictions(name: str, requirements: Sequence[tuple[int, PropertyOperator, Quantity]]) -> Iterator[Break]:
    """The first requirement, in order, that no value can satisfy together with those before it."""
    for position in range(1, len(requirements)):
        if not _satisfiable([(operator, value) for _, operator, value in requirements[: position + 1]]):
            index = requirements[position][0]
            yield (index,), ApiText.CONTRADICTS_EARLIER_REQUIREMENT(name=name)
            return


def _satisfiable(requirements: Sequence[tuple[PropertyOperator, Quantity]]) -> bool:
    equal = {value for operator, value in requirements if operator is _OP.EQ}
    if len(equal) > 1:
        return False
    lower = max(((v, op is _OP.GT) for op, v in requirements if op in (_OP.GT, _OP.GE)), default=None)
    upper = min(((v, op is not _OP.LT) for op, v in requirements if op in (_OP.LT, _OP.LE)), default=None)
    if lower and upper and (lower[0] > upper[0] or (lower[0] == upper[0] and (lower[1] or not upper[1]))):
        return False
    for value in equal:
        if any(operator is _OP.NE and excluded == value for operator, excluded in requirements):
            return False
        if lower and (value < lower[0] or (value == lower[0] and lower[1])):
            return False
        if upper and (value > upper[0] or (value == upper[0] and not upper[1])):
            return False
    return True


def _property_name_break(name: str) -> str | None:
    if not is_property_name(name):
        return ApiText.NOT_VALID_PROPERTY_NAME()
    if name.startswith(RESOURCE_PROPERTY_PREFIX):
        capacity, dash, resource = name.removeprefix(RESOURCE_PROPERTY_PREFIX).partition("-")
        if not dash or not resource or capacity not in _CAPACITIES:
            return ApiText.MUST_TOTAL_ALLOCATABLE_AVAILABLE_RESOURCE(resource_property_prefix=RESOURCE_PROPERTY_PREFIX)
    return None
