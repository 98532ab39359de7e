"""Which kinds and versions are known, and what a name that is none of them was probably meant to be (D28, D29).

Known are the built-in kinds, what the repo's CustomResourceDefinitions declare, and the kinds of the repo's own
objects. Clusters are not asked what they serve beyond that: no object of such a kind is in the repo to be placed, so
that its selector selects nothing, whatever they answer and whether they do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from gitfleet.api import Location
from gitfleet.api.definitions import definition_of
from gitfleet.api.kinds import KINDS
from gitfleet.api.objects import GroupKind, Manifest, ObjectKey
from gitfleet.desired.texts import DesiredText
from gitfleet.formats.kinds import BUILT_IN_KINDS, KUBERNETES_GROUPS
from gitfleet.formats.near_names import is_near, nearest

API_FIELDS: Final[Mapping[str, Location]] = {
    "group": ("apiVersion",),
    "version": ("apiVersion",),
    "kind": ("kind",),
}
"""Where an object says its group, version and kind."""


@dataclass(frozen=True, slots=True)
class Misnamed:
    """What is wrong with a group, version and kind: which of the three it is (`field`), and the sentence about it."""

    field: str
    sentence: str


@dataclass(frozen=True, slots=True)
class KnownKinds:
    """Every known kind with its versions, the one to use first; `declared` are those that are built in or have a
    CustomResourceDefinition, the others are known by their objects alone."""

    versions: Mapping[GroupKind, tuple[str, ...]]
    declared: frozenset[GroupKind]

    def misnamed(self, group: str, version: str, kind: str) -> Misnamed | None:
        """What is wrong with the name of a kind; None for one that is known in this version."""
        versions = self.versions.get(GroupKind(group, kind))
        if versions is None:
            return self._unknown(group, kind)
        if version in versions:
            return None
        return Misnamed(
            "version", DesiredText.NOT_VERSION_YOU_MEAN(groupkind=GroupKind(group, kind), versions=versions[0])
        )

    def misspelt(self, group: str, kind: str) -> Misnamed | None:
        """What is wrong with a kind that is not known and resembles a known one, or is of a group of Kubernetes; for
        warnings alone."""
        is_known = GroupKind(group, kind) in self.versions
        is_misspelt = not is_known and (is_kubernetes_group(group) or self.meant(group, kind) is not None)
        return self._unknown(group, kind) if is_misspelt else None

    def meant(self, group: str, kind: str) -> GroupKind | None:
        """The known kind that is meant: of the same group and nearly the same name, or of this name in another group;
        None when there is none."""
        near = _nearest_kind(kind, (known.kind for known in self.versions if known.group == group))
        if near is not None:
            return GroupKind(group, near)
        namesakes = (known for known in self.versions if known.kind.lower() == kind.lower())
        return max(namesakes, key=lambda known: (is_near(known.group, group), _is_served(known), known), default=None)

    def _unknown(self, group: str, kind: str) -> Misnamed:
        meant = self.meant(group, kind)
        if meant is None:
            return Misnamed("kind", DesiredText.NO_KNOWN_KIND())
        version = self.versions[meant][0]
        api_version = f"{meant.group}/{version}" if meant.group else version
        sentence = DesiredText.KIND_YOU_MEAN(kind=meant.kind, api_version=api_version)
        return Misnamed("group" if meant.kind == kind else "kind", sentence)


def kinds_with(manifests: Iterable[Manifest], further: Iterable[ObjectKey] = ()) -> KnownKinds:
    """The built-in kinds, and those that the payload declares or has objects of; `further` are objects in it."""
    objects: dict[GroupKind, set[str]] = {}
    declared: dict[GroupKind, list[str]] = {}
    for manifest in manifests:
        if (definition := definition_of(manifest.body)) is not None:
            declared.setdefault(definition.kind, []).extend(definition.versions)
        elif manifest.key.group_kind not in BUILT_IN.versions:
            objects.setdefault(manifest.key.group_kind, set()).add(manifest.key.version)
    for key in further:
        objects.setdefault(key.group_kind, set()).add(key.version)
    kinds = {kind: tuple(sorted(versions)) for kind, versions in objects.items()}
    kinds |= {kind: tuple(dict.fromkeys(versions)) for kind, versions in declared.items() if versions}
    return KnownKinds({**kinds, **BUILT_IN.versions}, BUILT_IN.declared | frozenset(declared))


def is_kubernetes_group(group: str) -> bool:
    """Whether Kubernetes itself defines all kinds of a group, so that another one of it cannot exist."""
    return group in KUBERNETES_GROUPS


def _built_in() -> KnownKinds:
    versions = {GroupKind(row.group, row.kind): row.all_versions for row in BUILT_IN_KINDS.values()}
    fleet = {GroupKind(kind.group, kind.name): kind.versions for kind in KINDS.values()}
    return KnownKinds({**fleet, **versions}, frozenset({**fleet, **versions}))


BUILT_IN: Final = _built_in()
"""The kinds of Kubernetes and of the fleet itself."""


def _nearest_kind(kind: str, names: Iterable[str]) -> str | None:
    """The kind that a word means, in whatever case and number (`deployments`)."""
    by_word = {word: name for name in sorted(names) for word in (f"{name.lower()}s", name.lower())}
    near = nearest(kind.lower(), by_word)
    return by_word[near] if near is not None else None


def _is_served(kind: GroupKind) -> bool:
    row = BUILT_IN_KINDS.get((kind.group, kind.kind))
    return row is None or bool(row.versions)
