"""Kubernetes label selectors (apimachinery `labels` and `metav1.LabelSelector`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from gitfleet.api.annotations import Break
from gitfleet.api.texts import ApiText
from gitfleet.api.values import LabelKey, SelectorValue


class LabelOperator(StrEnum):
    """What a requirement asks of a label."""

    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"


@dataclass(frozen=True, slots=True)
class LabelRequirement:
    """A label's key, and which values it may have.

    key: the label's key
    operator: In, NotIn, Exists or DoesNotExist
    values: the values, for In and NotIn
    """

    key: LabelKey
    operator: LabelOperator
    values: tuple[SelectorValue, ...] = ()

    def breaks(self) -> Iterator[Break]:
        """In and NotIn need values, Exists and DoesNotExist take none (apimachinery LabelSelectorAsSelector)."""
        if self.operator in (LabelOperator.IN, LabelOperator.NOT_IN):
            if not self.values:
                yield ("values",), ApiText.NEEDS_LEAST_ONE_VALUE(operator=self.operator)
        elif self.values:
            yield ("values",), ApiText.TAKES_NO_VALUES(operator=self.operator)

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether labels satisfy it; NotIn holds where the key is absent."""
        match self.operator:
            case LabelOperator.IN:
                return self.key in labels and labels[self.key] in self.values
            case LabelOperator.NOT_IN:
                return self.key not in labels or labels[self.key] not in self.values
            case LabelOperator.EXISTS:
                return self.key in labels
            case LabelOperator.DOES_NOT_EXIST:
                return self.key not in labels


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """Labels that must all fit; an empty selector fits everything.

    matchLabels: labels with their values
    matchExpressions: further requirements on labels
    """

    match_labels: Mapping[LabelKey, SelectorValue] = field(default_factory=dict)
    match_expressions: tuple[LabelRequirement, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the labels that it reads."""
        return tuple(sorted({*self.match_labels, *(requirement.key for requirement in self.match_expressions)}))

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether labels satisfy every part."""
        for key, value in self.match_labels.items():
            if labels.get(key) != value:
                return False
        return all(requirement.matches(labels) for requirement in self.match_expressions)
