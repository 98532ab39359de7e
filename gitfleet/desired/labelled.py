"""What there is to select, by its labels: asked by every selector of a commit, so that it is sorted by label once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property

from gitfleet.api.labels import LabelSelector


class Labelled:
    """The labels of each cluster, or of each object of a kind."""

    def __init__(self, labels: Iterable[Mapping[str, str]]) -> None:
        self._labels = list(labels)

    @cached_property
    def _by_value(self) -> dict[str, dict[str, list[Mapping[str, str]]]]:
        found: dict[str, dict[str, list[Mapping[str, str]]]] = {}
        for labels in self._labels:
            for key, value in labels.items():
                found.setdefault(key, {}).setdefault(value, []).append(labels)
        return found

    def keys(self) -> Collection[str]:
        """The keys of all labels."""
        return self._by_value.keys()

    def values(self, key: str) -> Collection[str]:
        """The values of the labels of a key."""
        return self._by_value.get(key, {}).keys()

    def any_matches(self, selector: LabelSelector) -> bool:
        """Whether a selector selects anything. InvalidSelector for an unknown operator."""
        among: Iterable[Mapping[str, str]] = self._labels
        for key, value in selector.match_labels.items():
            among = self._by_value.get(key, {}).get(value, ())
            break
        return any(map(selector.matches, among))
