"""The selectors that a commit gives to placements: one that is misspelt may be meant for what the same commit takes out
of another placement (decision D31)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from gitfleet.api.holds import FieldPlace
from gitfleet.api.objects import Identity, Manifest
from gitfleet.api.placements import Placement, PlacementKey, ResourceSelector, SelectionScope
from gitfleet.formats.renames import Renames
from gitfleet.removals.causes import Causes
from gitfleet.removals.placed import Losses
from gitfleet.removals.selected import matches, selectors_in_force


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

    @property
    def by_labels(self) -> Sequence[Gain]:
        """The selectors by labels that placements have since this commit and that pick something."""
        return self._found[2]

    def nearly(self, selector: ResourceSelector, placement: Placement) -> Gain | None:
        """What is written in whatever placement and differs from a selector that is gone as a typing error does, where
        it picks nothing, or since this commit what nobody had."""
        found = self._renames.spelt_nearly(_identity(selector, placement))
        return self._found[1][found] if found is not None else None

    def picks(self, selector: ResourceSelector, placement: Placement) -> Sequence[Manifest]:
        """The objects that a selector names in the namespace in which its placement looks, what a Namespace brings
        along not among them."""
        place = (selector.group, selector.kind)
        found = self._written.get((*place, selector.name), ()) if selector.name is not None else ()
        if selector.name is None:
            found = [one for name, every in self._written.items() if name[:2] == place for one in every]
        home = placement.key.namespace or next((s.name for s in placement.selectors if _is_home(s)), "")
        return [one for one in found if matches(selector, one) and (not home or one.key.namespace in ("", home))]

    @cached_property
    def _written(self) -> Mapping[tuple[str, str, str], Sequence[Manifest]]:
        found: dict[tuple[str, str, str], list[Manifest]] = {}
        for manifest in self.causes.written.values():
            found.setdefault((manifest.key.group, manifest.key.kind, manifest.key.name), []).append(manifest)
        return found

    @cached_property
    def _renames(self) -> Renames:
        return Renames(self._found[1])

    @cached_property
    def _found(self) -> tuple[Mapping[PlacementKey, Sequence[Gain]], Mapping[Identity, Gain], Sequence[Gain]]:
        """Those that are new and pick nothing, by their placement, others that may be misspelt, by their text, and new
        ones that pick something by labels."""
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
                if not is_new and selector.name is None:
                    continue
                picked = self.picks(selector, placement)
                if is_new and picked and selector.label_selector is not None:
                    by_labels.append(self.at(placement, number))
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


def _identity(selector: ResourceSelector, placement: Placement) -> Identity:
    """What a selector says, so that two can be compared as names are."""
    by = selector.label_selector
    labels = " ".join(f"{key}={value}" for key, value in sorted(by.match_labels.items())) if by is not None else ""
    expressions = " ".join(map(str, by.match_expressions)) if by is not None else ""
    return selector.group, selector.kind, placement.key.namespace, selector.name or f"{labels} {expressions}"
