"""The selectors that a commit gives to placements: one that is misspelt may be meant for what the same commit takes out
of another placement (decision D31)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from gitfleet.api.holds import FieldPlace
from gitfleet.api.labels import LabelSelector
from gitfleet.api.objects import Identity, Manifest
from gitfleet.api.placements import Placement, PlacementKey, ResourceSelector, SelectionScope
from gitfleet.formats.renames import Renames
from gitfleet.model.near_labels import NearLabels, Pair, pairs_in, pairs_of
from gitfleet.removals.causes import Causes
from gitfleet.removals.placed import Losses
from gitfleet.removals.selected import matches, selectors_in_force

_Place: TypeAlias = tuple[str, str, str]
"""The namespace in which a selector looks ("": any), its group and kind."""


@dataclass(frozen=True, slots=True)
class Gain:
    """A selector of a placement, by its number."""

    placement: Placement
    number: int

    @property
    def selector(self) -> ResourceSelector:
        """The selector itself."""
        return self.placement.selectors[self.number]

    @property
    def field(self) -> FieldPlace | None:
        """Where it is written, None where that is not known."""
        origin = self.placement.origin
        if origin is None or not origin.blob:
            return None
        by = "name" if self.selector.name is not None else "labelSelector"
        return FieldPlace(origin, ("spec", "resourceSelectors", self.number, by))

    @property
    def place(self) -> str:
        """The same in brackets, by the line of its object, until that of the field is known."""
        origin = self.placement.origin
        return f" ({origin})" if origin is not None else ""


@dataclass(frozen=True)
class Gains:
    """The selectors of the placements that a decision leaves, by what they pick of that which is written."""

    causes: Causes
    losses: Losses

    def at(self, placement: Placement, number: int) -> Gain:
        """A selector of a placement, with its place: one that is unchanged was read from the state, without it."""
        found = self.causes.desired.placements.get(placement.key, placement)
        return Gain(found if found.selectors == placement.selectors else placement, number)

    @property
    def empty(self) -> Mapping[PlacementKey, Sequence[Gain]]:
        """The selectors that placements have since this commit and that pick nothing."""
        return self._found[0]

    def nearly_labelled(self, then: Manifest, now: Manifest, of: Collection[ResourceSelector]) -> Gain | None:
        """The first selector by labels that an object nearly has the labels of, of whatever placement, but for those
        `of` its own one that it was placed by, and those that pick nothing since this commit."""
        for home in dict.fromkeys(("", now.key.namespace)):
            if (found := self._labelled.get((home, now.key.group, now.key.kind))) is not None:
                every, near = found
                for gain in (every[number] for number in near.of(then.labels, now.labels)):
                    if not (gain.selector in of and matches(gain.selector, then)):
                        return gain
        return None

    def nearly(self, selector: ResourceSelector, placement: Placement) -> Gain | None:
        """What is written in whatever placement and differs from a selector that is gone as a typing error does, where
        it picks nothing, or since this commit what nobody had."""
        found = self._renames.spelt_nearly(_identity(selector, placement))
        return self._found[1][found] if found is not None else None

    def picks(self, selector: ResourceSelector, placement: Placement) -> Sequence[Manifest]:
        """The objects that a selector names in the namespace in which its placement looks, what a Namespace brings
        along not among them."""
        place, by, home = (selector.group, selector.kind), selector.label_selector, _home(placement)
        found = self._written.get((*place, selector.name or ""), ())
        for pairs in pairs_of(by) if by is not None and selector.name is None else ():
            having = [one for pair in sorted(pairs) for one in self._having.get((*place, pair), ())]
            found = min(found, having, key=len)
        return [one for one in found if matches(selector, one) and (not home or one.key.namespace in ("", home))]

    @cached_property
    def _written(self) -> Mapping[tuple[str, str, str], Sequence[Manifest]]:
        """What is written, by kind and name, and all of a kind, by no name."""
        found: dict[tuple[str, str, str], list[Manifest]] = {}
        for manifest in self.causes.written.values():
            for name in (manifest.key.name, ""):
                found.setdefault((manifest.key.group, manifest.key.kind, name), []).append(manifest)
        return found

    @cached_property
    def _having(self) -> Mapping[tuple[str, str, Pair], Sequence[Manifest]]:
        """What is written, by kind and what it has of labels."""
        found: dict[tuple[str, str, Pair], list[Manifest]] = {}
        for manifest in self.causes.written.values():
            for pair in pairs_in(manifest.labels):
                found.setdefault((manifest.key.group, manifest.key.kind, pair), []).append(manifest)
        return found

    @cached_property
    def _labelled(self) -> Mapping[_Place, tuple[Sequence[Gain], NearLabels]]:
        """The selectors by labels, each once, by the namespace in which they look and their kind; those before this
        commit are known besides."""
        before: dict[_Place, list[LabelSelector]] = {}
        for record in self.losses.before.placements.values():
            for selector in selectors_in_force(record):
                if selector.label_selector is not None:
                    before.setdefault(_place(selector, record.placement), []).append(selector.label_selector)
        found: dict[_Place, dict[str, Gain]] = {}
        for gain in self._found[2]:
            alike = found.setdefault(_place(gain.selector, gain.placement), {})
            alike.setdefault(_identity(gain.selector, gain.placement)[3], gain)
        return {
            place: (
                [*alike.values()],
                NearLabels(
                    [one.selector.label_selector or LabelSelector() for one in alike.values()], before.get(place, ())
                ),
            )
            for place, alike in found.items()
        }

    @cached_property
    def _renames(self) -> Renames:
        return Renames(self._found[1])

    @cached_property
    def _found(self) -> tuple[Mapping[PlacementKey, Sequence[Gain]], Mapping[Identity, Gain], Sequence[Gain]]:
        """Those that are new and pick nothing, by their placement, others that may be misspelt, by their text, and all
        others by labels."""
        losses, had = self.losses, {identity for _, identity in self.causes.places}
        empty: dict[PlacementKey, list[Gain]] = {}
        unsure: dict[Identity, Gain] = {}
        by_labels: list[Gain] = []
        for key, record in losses.after.placements.items():
            placement, known = record.placement, selectors_in_force(losses.before.placements.get(key))
            if placement.deleting is not None or key in losses.kept.placements:
                continue
            for number, selector in enumerate(placement.selectors):
                is_new = selector not in known
                picked = self.picks(selector, placement) if is_new or selector.name is not None else ()
                if selector.label_selector is not None and (picked or not is_new):
                    by_labels.append(self.at(placement, number))
                if not is_new and selector.name is None:
                    continue
                if is_new and not picked:
                    empty.setdefault(key, []).append(self.at(placement, number))
                elif not picked or (is_new and not any(one.key.identity in had for one in picked)):
                    unsure.setdefault(_identity(selector, placement), self.at(placement, number))
        return empty, unsure, by_labels


def described(selector: ResourceSelector) -> str:
    """A selector in a few words."""
    return f'{selector.kind} "{selector.name}"' if selector.name else f"{selector.kind} by labels"


def _is_home(selector: ResourceSelector) -> bool:
    return selector.selection_scope is SelectionScope.NAMESPACE_WITH_RESOURCE_SELECTORS


def _home(placement: Placement) -> str:
    """The namespace in which a placement looks, "" for any."""
    return placement.key.namespace or next((one.name or "" for one in placement.selectors if _is_home(one)), "")


def _place(selector: ResourceSelector, placement: Placement) -> _Place:
    return _home(placement), selector.group, selector.kind


def _identity(selector: ResourceSelector, placement: Placement) -> Identity:
    """What a selector says, so that two can be compared as names are."""
    by = selector.label_selector
    labels = " ".join(f"{key}={value}" for key, value in sorted(by.match_labels.items())) if by is not None else ""
    expressions = " ".join(map(str, by.match_expressions)) if by is not None else ""
    return selector.group, selector.kind, placement.key.namespace, selector.name or f"{labels} {expressions}"
