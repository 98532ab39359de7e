"""Kubernetes label selectors (apimachinery `labels` and `metav1.LabelSelector`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated

from gitfleet.api.annotations import Break, OneOf
from gitfleet.api.texts import ApiText
from gitfleet.api.values import LabelKey, SelectorValue


class InvalidSelector(ValueError):
    """An operator or its values are not what Kubernetes allows; the sentence says which."""


@dataclass(frozen=True, slots=True)
class LabelRequirement:
    """A label's key, and which values it may have.

    key: the label's key
    operator: In, NotIn, Exists or DoesNotExist
    values: the values, for In and NotIn
    """

    key: LabelKey
    operator: Annotated[str, OneOf("In", "NotIn", "Exists", "DoesNotExist")]
    values: tuple[SelectorValue, ...] = ()

    def breaks(self) -> Iterator[Break]:
        """In and NotIn need values, Exists and DoesNotExist take none (apimachinery LabelSelectorAsSelector)."""
        if self.operator in ("In", "NotIn"):
            if not self.values:
                yield ("values",), ApiText.NEEDS_LEAST_ONE_VALUE(operator=self.operator)
        elif self.values:
            yield ("values",), ApiText.TAKES_NO_VALUES(operator=self.operator)

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether labels satisfy it; NotIn holds where the key is absent. InvalidSelector for an unknown operator."""
        match self.operator:
            case "In":
                return self.key in labels and labels[self.key] in self.values
            case "NotIn":
                return self.key not in labels or labels[self.key] not in self.values
            case "Exists":
                return self.key in labels
            case "DoesNotExist":
                return self.key not in labels
            case _:
                raise InvalidSelector(ApiText.NOT_VALID_LABEL_SELECTOR_OPERATOR(operator=self.operator))


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """Labels that must all fit; an empty selector fits everything.

    matchLabels: labels with their values
    matchExpressions: further requirements on labels
    """

    match_labels: Mapping[LabelKey, SelectorValue] = field(default_factory=dict)
    match_expressions: tuple[LabelRequirement, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether labels satisfy every part; InvalidSelector for an unknown operator."""
        for key, value in self.match_labels.items():
            if labels.get(key) != value:
                return False
        return all(requirement.matches(labels) for requirement in self.match_expressions)
