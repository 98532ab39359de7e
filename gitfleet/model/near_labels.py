"""Which label selectors an object nearly has the labels of: misspelt by one letter or its case, or one label short
(decision D31). What thousands of objects have is compared with thousands of selectors in linear time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from gitfleet.api.labels import InvalidSelector, LabelRequirement, LabelSelector
from gitfleet.api.objects import NAME_LABEL
from gitfleet.formats.renames import Renames

Pair: TypeAlias = tuple[str, str]
"""A label's key, and a value or `ANY`."""
ANY: Final = "*"
"""No label has this value."""
_ASKING: Final = ("In", "Exists")
_FEW: Final = 32
"""What more selectors ask for than these (`env: prod`) does not say which of them is meant."""


def pairs_of(selector: LabelSelector) -> list[frozenset[Pair]]:
    """What labels must have for a selector: one of each of these, and whatever else it says."""
    return [_pairs(one) for one in _wanted(selector)]


def pairs_in(labels: Mapping[str, str]) -> Iterator[Pair]:
    """What labels have of that which a selector may ask for."""
    for key, value in labels.items():
        yield key, value
        yield key, ANY


class NearLabels:
    """The selectors by labels of one kind, by what they ask for. Two labels that some of them ask for side by side, or
    did `before`, are two: none is a slip for the other."""

    def __init__(self, selectors: Sequence[LabelSelector], before: Iterable[LabelSelector] = ()) -> None:
        self._selectors = selectors
        self._asking: dict[Pair, list[int]] = {}
        asked = [pairs_of(one) for one in selectors]
        uses = Counter(pair for every in asked for pairs in every for pair in pairs)
        for number, every in enumerate(asked):
            rarest = min(every, key=lambda pairs: sum(uses[pair] for pair in pairs), default=frozenset[Pair]())
            for pairs in every:
                for pair in pairs if pairs is rarest or sum(uses[pair] for pair in pairs) <= _FEW else ():
                    self._asking.setdefault(pair, []).append(number)
        known = {pair for one in before for pairs in pairs_of(one) for pair in pairs}
        self._asked = [(every, {key for key, _ in every}) for every in (uses.keys(), known)]
        self._lower: dict[Pair, list[Pair]] = {}
        for pair in uses:
            self._lower.setdefault(_lower(pair), []).append(pair)
        self._spellings = Renames(("", "", *pair) for pair in self._lower)

    def of(self, then: Mapping[str, str], now: Mapping[str, str]) -> Iterator[int]:
        """The numbers of the selectors that an object does not have the labels of, and nearly has them now; with one of
        them missing, where it has others since `then`."""
        # The label that a server gives a Namespace is its name, which is no slip for another one.
        near = frozenset(meant for pair in pairs_in(now) if pair[0] != NAME_LABEL for meant in self._meant(pair))
        asking = {number for pair in (*near, *pairs_in(now)) for number in self._asking.get(pair, ())}
        for number in sorted(asking):
            try:
                if _is_near(self._selectors[number], then, now, near):
                    yield number
            except InvalidSelector:
                continue

    def _meant(self, pair: Pair) -> Iterator[Pair]:
        """What selectors ask for and a label may be misspelt for."""
        lower = _lower(pair)
        for one in (lower, *((key, value) for _, _, key, value in self._spellings.misspellings(("", "", *lower)))):
            yield from (meant for meant in self._lower.get(one, ()) if not self._are_two(pair, meant))

    def _are_two(self, one: Pair, other: Pair) -> bool:
        """Whether two labels are asked for side by side, or their keys are."""
        return any(
            {one, other} <= pairs or (one[0] != other[0] and {one[0], other[0]} <= keys) for pairs, keys in self._asked
        )


def _is_near(selector: LabelSelector, then: Mapping[str, str], now: Mapping[str, str], near: frozenset[Pair]) -> bool:
    wanted = _wanted(selector)
    unmet = [one for one in wanted if not one.matches(now)]
    if not unmet or not all(one.matches(now) for one in selector.match_expressions if one.operator not in _ASKING):
        return False
    if all(not near.isdisjoint(_pairs(one)) for one in unmet):
        return True
    is_missing = len(unmet) == 1 and unmet[0].key not in now
    return is_missing and any(one.matches(now) and not one.matches(then) for one in wanted)


def _wanted(selector: LabelSelector) -> list[LabelRequirement]:
    labels = [LabelRequirement(key, "In", (value,)) for key, value in selector.match_labels.items()]
    return [*labels, *(one for one in selector.match_expressions if one.operator in _ASKING)]


def _pairs(requirement: LabelRequirement) -> frozenset[Pair]:
    return frozenset((requirement.key, value) for value in requirement.values or (ANY,))


def _lower(pair: Pair) -> Pair:
    return pair[0].lower(), pair[1].lower()
