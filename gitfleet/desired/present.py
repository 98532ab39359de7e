"""What the repo has, indexed once for all that names or selects it; and near names, as many as are worth comparing."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any, Final, TypeAlias, TypeVar

from gitfleet.api import Break
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.envelopes import carried
from gitfleet.api.objects import Identity, Manifest
from gitfleet.api.placements import Placement
from gitfleet.api.runs import DELETE_STAGE
from gitfleet.api.staged import StagedStrategy
from gitfleet.desired.crosschecks import Refusals
from gitfleet.desired.hidden import Hidden
from gitfleet.desired.labelled import Labelled
from gitfleet.desired.readings import ReadObject
from gitfleet.desired.texts import DesiredText
from gitfleet.formats.near_names import nearest
from gitfleet.formats.texts import FormatsText
from gitfleet.model.state import FleetState

T = TypeVar("T")
_Place: TypeAlias = tuple[str, str, str]
"""A group, a kind and a namespace."""
_Names: TypeAlias = Mapping[str, Mapping[str, str]]
"""The labels of each object by its name."""
_MOST_COMPARED: Final = 50_000
"""So many names are compared at most for the hints of one commit, about a second's work."""
_GLOB: Final = re.compile(r"[*?\[]")


class Present:
    """What there is, what may be `hidden` by errors, what was in force `before` and may differ now, and the `accepted`
    state."""

    def __init__(
        self,
        items: Iterable[ReadObject],
        accepted: FleetState,
        hidden: Hidden | None = None,
        before: Mapping[Identity, ReadObject] | None = None,
    ) -> None:
        self.items = list(items)
        self.accepted, self.hidden, self.before = accepted, hidden or Hidden(), before or {}
        self._left, self.not_compared = _MOST_COMPARED, 0
        self._labelled: dict[_Place, Labelled] = {}
        self._manifests: list[Manifest] = []
        self._objects: dict[_Place, dict[str, Mapping[str, str]]] = {}
        self._named: dict[type, dict[str, dict[str, Any]]] = {}
        for item in self.items:
            if isinstance(item.value, Manifest):
                key = item.value.key
                self._manifests.append(item.value)
                self._objects.setdefault((key.group, key.kind, key.namespace), {})[key.name] = item.value.labels
            else:
                _, _, namespace, name = item.identity
                self._named.setdefault(type(item.value), {}).setdefault(namespace, {})[name] = item.value

    def warnings(self, *rules: Callable[[object, Present], Iterable[Break]]) -> Refusals:
        """What the rules say of each object; and from which one on names were not compared any more."""
        warned: Refusals = []
        first: ReadObject | None = None
        for item in self.items:
            warned += [(item, note) for rule in rules for note in rule(item.value, self)]
            first = item if first is None and self.not_compared else first
        if first is not None:
            sentence = DesiredText.FROM_FILE_NAMES_LABELS_NOTHING(not_compared=self.not_compared)
            sentence += DesiredText.THOSE_COMPARISONS_MOST(most_compared=_MOST_COMPARED)
            warned.append((first, (("spec",), sentence)))
        return warned

    def nearest(self, name: str, known: Collection[str]) -> str | None:
        """The known name that was probably meant; None too when enough was compared."""
        self._left -= len(known)
        if self._left >= 0:
            return nearest(name, known)
        self.not_compared += 1
        return None

    def meant(self, name: str, known: Collection[str], otherwise: str) -> str:
        """The end of a sentence about a name that does not exist: the nearest known one, or what else to do."""
        near = self.nearest(name, known)
        return otherwise if near is None else FormatsText.YOU_MEAN(near=near)

    def named(self, kind: type[T], namespace: str = "") -> Mapping[str, T]:
        """The objects of a kind that gitfleet acts on, by name."""
        return self._named.get(kind, {}).get(namespace, {})

    def _every(self, kind: type[T]) -> Iterator[T]:
        return (one for found in self._named.get(kind, {}).values() for one in found.values())

    @cached_property
    def clusters(self) -> Labelled:
        """The labels by which clusters are selected."""
        return Labelled(cluster.scheduling_labels for cluster in self.named(MemberCluster).values())

    @cached_property
    def placements(self) -> frozenset[str]:
        """Every placement, as it is written in one word."""
        return frozenset(str(placement.key) for placement in self._every(Placement))

    @cached_property
    def stages(self) -> frozenset[str]:
        """The names of all stages."""
        return frozenset({DELETE_STAGE, *(stage.name for one in self._every(StagedStrategy) for stage in one.stages)})

    def objects(self, group: str, kind: str, namespace: str) -> _Names:
        """The objects of a kind in one namespace and outside of any: a kind has them only in one of the two."""
        return ChainMap(self._objects.get((group, kind, namespace), {}), self._objects.get((group, kind, ""), {}))

    def labelled(self, *place: *_Place) -> Labelled:
        """The labels of the same objects."""
        if place not in self._labelled:
            self._labelled[place] = Labelled(self.objects(*place).values())
        return self._labelled[place]

    @cached_property
    def wrapped(self) -> Mapping[_Place, _Names]:
        """The objects that lie in envelopes; these are opened only when that is asked."""
        found: dict[_Place, dict[str, Mapping[str, str]]] = {}
        for keys in carried(self._manifests).values():
            for key in keys or ():
                found.setdefault((key.group, key.kind, key.namespace), {})[key.name] = {}
        return found

    @cached_property
    def namespaces(self) -> Mapping[tuple[str, str, str], str]:
        """The first namespace that has an object of a group, kind and name, in an envelope or not."""
        places = (*self._objects.items(), *self.wrapped.items())
        names = sorted(((g, k, name, ns) for (g, k, ns), found in places for name in found), reverse=True)
        return {(group, kind, name): namespace for group, kind, name, namespace in names}


def any_matches(pattern: str, names: Collection[str]) -> bool:
    """Whether a name, or a pattern of names, is of any of them."""
    if _GLOB.search(pattern) is None:
        return pattern in names
    return any(fnmatchcase(name, pattern) for name in names)
