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

from gitfleet.api.annotations import Accept, At, Break, Check, below
from gitfleet.api.labels import LabelSelector
from gitfleet.api.texts import ApiText
from gitfleet.api.values import PROPERTY_NAME, NonEmpty, QuantityText, matching
from gitfleet.formats.quantities import SCHEMA as QUANTITY_SCHEMA
from gitfleet.formats.quantities import InvalidQuantity, Quantity, parse_quantity

RESOURCE_PROPERTY_PREFIX: Final = "resources.kubernetes-fleet.io/"
_CAPACITIES: Final = ("total", "allocatable", "available")
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"


_NAME: Final = rf"(?!{re.escape(RESOURCE_PROPERTY_PREFIX)}(?!(?:{'|'.join(_CAPACITIES)})-.)){PROPERTY_NAME}"
PropertyName = Annotated[
    NonEmpty, matching(_NAME, ApiText.NOT_VALID_PROPERTY_NAME(prefix=RESOURCE_PROPERTY_PREFIX), 253 + 64)
]


def _quantity_fault(text: str) -> str | None:
    try:
        parse_quantity(text)
    except InvalidQuantity as error:
        return ApiText.WRITE_ONE_MI(reason=error.reason)
    return None


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
    values: Annotated[tuple[Annotated[QuantityText, Check(_quantity_fault, QUANTITY_SCHEMA)], ...], Len(1, 1)]


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
        """Contradictions between requirements on properties."""
        by_name: dict[str, list[tuple[int, PropertyOperator, Quantity]]] = {}
        for index, requirement in enumerate(self.property_requirements):
            row = index, requirement.operator, parse_quantity(requirement.values[0])
            by_name.setdefault(requirement.name, []).append(row)
        for name, requirements in by_name.items():
            yield from below(("propertySelector", "matchExpressions"), list(_contradictions(name, requirements)))


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


def _contradictions(name: str, requirements: Sequence[tuple[int, PropertyOperator, Quantity]]) -> Iterator[Break]:
    """The first requirement, in order, that no value can satisfy together with those before it."""
    for position in range(1, len(requirements)):
        if not _satisfiable([(operator, value) for _, operator, value in requirements[: position + 1]]):
            index = requirements[position][0]
            yield (index,), ApiText.CONTRADICTS_EARLIER_REQUIREMENT(name=name)
            return


def _satisfiable(requirements: Sequence[tuple[PropertyOperator, Quantity]]) -> bool:
    lower = max(((v, op is _OP.GT) for op, v in requirements if op in (_OP.GT, _OP.GE, _OP.EQ)), default=None)
    upper = min(((v, op is not _OP.LT) for op, v in requirements if op in (_OP.LT, _OP.LE, _OP.EQ)), default=None)
    if lower is None or upper is None or lower[0] != upper[0]:
        return lower is None or upper is None or lower[0] < upper[0]
    return upper[1] and not lower[1] and (_OP.NE, lower[0]) not in requirements
