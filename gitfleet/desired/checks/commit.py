"""A commit as the checks see it: the objects that are in force, indexed once for all rules."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any, Final, TypeAlias, TypeVar

from gitfleet.api import Break, Location
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.definitions import scopes_in
from gitfleet.api.envelopes import carried
from gitfleet.api.fleet import FleetConfig
from gitfleet.api.folders import Folder
from gitfleet.api.kinds import KINDS
from gitfleet.api.labels import LabelSelector
from gitfleet.api.objects import GroupKind, Identity, Manifest, ObjectKey, Origin
from gitfleet.api.placements import Placement, PlacementKey, ResourceSelector
from gitfleet.api.placing_policy import PlacingPolicy
from gitfleet.api.runs import DELETE_STAGE
from gitfleet.api.staged import StagedStrategy
from gitfleet.desired.accept import same_content
from gitfleet.desired.history import History
from gitfleet.desired.known_kinds import KnownKinds, kinds_with
from gitfleet.desired.reading.files import ReadObject
from gitfleet.desired.reading.identity import known_scope
from gitfleet.desired.reading.paths import FLEET_FILE, is_folder_file
from gitfleet.desired.reading.request import DesiredRequest
from gitfleet.formats.near_names import nearest
from gitfleet.formats.texts import FormatsText
from gitfleet.model.renames import renamed_placements
from gitfleet.model.state import FleetState

T = TypeVar("T")
Refusal: TypeAlias = tuple[ReadObject, Break]
"""An object and what is wrong with it."""
Rule: TypeAlias = Callable[["Commit"], Iterable[Refusal]]
_Place: TypeAlias = tuple[str, str, str]
"""A group, a kind and a namespace."""
_Names: TypeAlias = Mapping[str, Mapping[str, str]]
"""The labels of each object by its name."""
_MOST_COMPARED: Final = 50_000
"""So many names are compared at most for the hints of one commit, about a second's work."""
_GLOB: Final = re.compile(r"[*?\[]")


def noted(item: ReadObject, notes: Iterable[Break]) -> Iterator[Refusal]:
    """Everything that is wrong with one object."""
    return ((item, note) for note in notes)


@dataclass
class Commit:
    """The `objects` that are in force; `retained` are those of them that go on as their last good version. `refused`
    are the objects that the commit has with an error, `unreadable` the paths of files that may have others, and
    `failed` the Folders, by name, and the variants that such errors concern. `history` is what was in force before."""

    request: DesiredRequest
    history: History
    objects: Mapping[Identity, ReadObject]
    retained: Collection[Identity] = ()
    refused: Collection[Identity] = ()
    unreadable: Collection[str] = ()
    failed: Collection[tuple[str, str]] = ()
    _comparisons: list[int] = field(default_factory=lambda: [_MOST_COMPARED])

    @property
    def accepted(self) -> FleetState:
        """What was accepted last."""
        return self.request.accepted

    def of(self, kind: type[T]) -> list[tuple[ReadObject, T]]:
        """Return the objects of a kind, each with its value, in the order of the files."""
        return self._by_type.get(kind, [])

    @cached_property
    def _by_type(self) -> Mapping[type, list[tuple[ReadObject, Any]]]:
        by_type: dict[type, list[tuple[ReadObject, Any]]] = {}
        for item in self.objects.values():
            for kind in type(item.value).__mro__[:-1]:
                by_type.setdefault(kind, []).append((item, item.value))
        return by_type

    def named(self, kind: type[T], namespace: str = "") -> Mapping[str, T]:
        """Return the objects of a kind in a namespace by name."""
        return self._by_name.get(kind, {}).get(namespace, {})

    @cached_property
    def _by_name(self) -> Mapping[type, dict[str, dict[str, Any]]]:
        by_name: dict[type, dict[str, dict[str, Any]]] = {}
        for (_, _, namespace, name), item in self.objects.items():
            by_name.setdefault(type(item.value), {}).setdefault(namespace, {})[name] = item.value
        return by_name

    def is_refused(self, kind: str, name: str, namespace: str = "") -> bool:
        """Whether the payload has an object of this name with an error: then it is not missing."""
        return (kind, namespace, name) in self._refused_payload

    @cached_property
    def _refused_payload(self) -> Collection[tuple[str, str, str]]:
        return {identity[1:] for identity in self.refused}

    def missing(self, kind: type, name: str, otherwise: str, namespace: str = "") -> str:
        """Return the hint about an object of one of our kinds that no file has, not even with an error; "" where one
        has it, or may have it."""
        names: Mapping[str, Any] = self.named(kind, namespace)
        has_it = name in names or (kind, namespace, name) in self._refused_names
        may_have_it = kind is Folder and any(map(is_folder_file, self.unreadable))
        return "" if has_it or may_have_it else self.hint(name, names, otherwise)

    @cached_property
    def _refused_names(self) -> Collection[tuple[type, str, str]]:
        return {(KINDS[identity[:2]].declaration, *identity[2:]) for identity in self.refused if identity[:2] in KINDS}

    def hint(self, name: str, names: Collection[str], otherwise: str) -> str:
        """End a sentence about a name that does not exist with the nearest one, or with what else to do. A commit with
        very many such names gets fewer hints."""
        self._comparisons[0] -= len(names)
        near = nearest(name, names) if self._comparisons[0] >= 0 else None
        return otherwise if near is None else FormatsText.YOU_MEAN(near=near)

    def standing(self, item: ReadObject) -> tuple[int, bool, Origin]:
        """Sort, of objects that exclude each other, the one that stays to the front: one that was in force, then one
        that was so in its file, then one that is not edited, then the first by path. Every later reading chooses the
        same one."""
        if self.history.was_in_force(item):
            return 0, False, item.origin
        version = self.history.version(item.identity)
        if version is None:
            return 3, True, item.origin
        is_moved = item.origin.path != version.origin.path
        return 1 + is_moved, not same_content(item.value, version.value), item.origin

    @cached_property
    def configs(self) -> list[tuple[ReadObject, FleetConfig]]:
        """The configurations, the one in force first: one that is retained for an error, else that of gitfleet.yaml,
        else the first by path."""

        def rank(pair: tuple[ReadObject, FleetConfig]) -> tuple[bool, bool, Origin]:
            item, _ = pair
            return item.identity not in self.retained, item.origin.path != FLEET_FILE, item.origin

        return sorted(self.of(FleetConfig), key=rank)

    @property
    def config(self) -> FleetConfig:
        """The configuration of the fleet."""
        return self.configs[0][1] if self.configs else FleetConfig()

    @property
    def policy(self) -> PlacingPolicy:
        """What may be placed."""
        return self.config.policy

    @cached_property
    def manifests(self) -> list[Manifest]:
        """The payload."""
        return [manifest for _, manifest in self.of(Manifest)]

    @cached_property
    def selectors(self) -> list[tuple[ReadObject, Placement, Location, ResourceSelector]]:
        """The selectors of all placements, each with the field that holds it."""
        return [
            (item, placement, ("spec", "resourceSelectors", index), selector)
            for item, placement in self.of(Placement)
            for index, selector in enumerate(placement.selectors)
        ]

    @cached_property
    def variants(self) -> Set[tuple[str, str]]:
        """The Folders, by name, and the variants that have objects."""
        return {(manifest.folder, variant) for manifest in self.manifests for variant in manifest.variants}

    @cached_property
    def kinds(self) -> KnownKinds:
        """The kinds that are built in, declared by a CRD of the payload, or those of its objects, in envelopes too."""
        return kinds_with(self.manifests, self._carried)

    @cached_property
    def scopes(self) -> dict[GroupKind, bool]:
        """Whether each kind of the payload is namespaced: built in, declared by a CRD, or as objects are written."""
        declared = {**self.config.scopes, **scopes_in(manifest.body for manifest in self.manifests)}
        scopes = dict(declared)
        for manifest in self.manifests:
            kind = manifest.key.group_kind
            scope = known_scope(kind, declared)
            scopes[kind] = scopes.get(kind, False) or bool(manifest.key.namespace) if scope is None else scope
        return scopes

    @cached_property
    def cluster_labels(self) -> Labels:
        """The labels by which clusters are selected."""
        return Labels([cluster.scheduling_labels for cluster in self.named(MemberCluster).values()])

    @cached_property
    def renamed(self) -> Mapping[PlacementKey, PlacementKey]:
        """The old names of renamed placements by the new ones."""
        return renamed_placements(self.accepted.placements, [placement for _, placement in self.of(Placement)])

    @cached_property
    def placement_names(self) -> Collection[str]:
        """Every placement, as it is written in one word."""
        return frozenset(str(placement.key) for _, placement in self.of(Placement))

    @cached_property
    def stage_names(self) -> Collection[str]:
        """The names of all stages."""
        strategies = (strategy for _, strategy in self.of(StagedStrategy))
        return frozenset({DELETE_STAGE, *(stage.name for strategy in strategies for stage in strategy.stages)})

    @cached_property
    def _payload(self) -> Mapping[_Place, dict[str, Mapping[str, str]]]:
        names: dict[_Place, dict[str, Mapping[str, str]]] = {}
        for manifest in self.manifests:
            key = manifest.key
            names.setdefault((key.group, key.kind, key.namespace), {})[key.name] = manifest.labels
        return names

    def payload(self, group: str, kind: str, namespace: str) -> _Names:
        """Return the objects of a kind in one namespace and outside of any: a kind has them only in one of the two."""
        return ChainMap(self._payload.get((group, kind, namespace), {}), self._payload.get((group, kind, ""), {}))

    def lacks_kind(self, group: str, kind: str, namespace: str, *, version: str) -> bool:
        """Whether no file has an object of a known kind in one namespace or outside of any, not even with an error."""
        is_known = self.kinds.misnamed(group, version, kind) is None
        is_refused = any((name[1], name[2] or namespace) == (kind, namespace) for name in self.refused)
        return is_known and not is_refused and not self.payload(group, kind, namespace)

    def payload_labels(self, *place: str) -> Labels:
        """Return the labels of the same objects."""
        if place not in self._labels:
            self._labels[place] = Labels([*self.payload(*place).values()])
        return self._labels[place]

    @cached_property
    def _labels(self) -> dict[tuple[str, ...], Labels]:
        return {}

    @cached_property
    def _carried(self) -> list[ObjectKey]:
        return [key for keys in carried(self.manifests).values() for key in keys or ()]

    @cached_property
    def wrapped(self) -> Mapping[_Place, Collection[str]]:
        """The names of objects in envelopes."""
        names: dict[_Place, set[str]] = {}
        for key in self._carried:
            names.setdefault((key.group, key.kind, key.namespace), set()).add(key.name)
        return names

    def has_payload(self, group: str, kind: str, namespace: str, name: str) -> bool:
        """Whether the payload has an object, in an envelope or not, or with an error."""
        place = (group, kind, namespace)
        is_here = name in self.payload(*place) or self.is_refused(kind, name, namespace)
        return is_here or name in self.wrapped.get(place, ())

    def payload_hint(self, group: str, kind: str, namespace: str, name: str, otherwise: str) -> str:
        """End a sentence about an object that the payload lacks."""
        place = (group, kind, namespace)
        return self.hint(name, {*self.payload(*place), *self.wrapped.get(place, ())}, otherwise)


class Labels:
    """The labels of each cluster, or of each object of a kind, sorted once for all selectors."""

    def __init__(self, labels: list[Mapping[str, str]]) -> None:
        self._labels = labels

    @cached_property
    def _by_pair(self) -> Mapping[tuple[str, str], list[Mapping[str, str]]]:
        by_pair: dict[tuple[str, str], list[Mapping[str, str]]] = {}
        for labels in self._labels:
            for pair in labels.items():
                by_pair.setdefault(pair, []).append(labels)
        return by_pair

    def any_matches(self, selector: LabelSelector) -> bool:
        """Whether a selector selects anything."""
        pair = next(iter(selector.match_labels.items()), None)
        return any(map(selector.matches, self._labels if pair is None else self._by_pair.get(pair, ())))


def any_matches(pattern: str, names: Collection[str]) -> bool:
    """Whether a name, or a pattern of names, is of any of them."""
    if _GLOB.search(pattern) is None:
        return pattern in names
    return any(fnmatchcase(name, pattern) for name in names)
