"""Kinds that nobody knows, and namespaces that no manifest of the repo makes (decisions D28, D29 and D30).

Each would mean that something is not selected or not found any more, and so is removed: none of them may.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from gitfleet.api import Break
from gitfleet.api.envelopes import carried
from gitfleet.api.faults import Fault
from gitfleet.api.objects import GroupKind, Identity, Manifest, ObjectKey, Origin, key_of
from gitfleet.api.overrides import Override
from gitfleet.api.placements import Placement, ResourceSelector
from gitfleet.api.values import is_reserved_namespace
from gitfleet.desired.crosschecks import Refusals
from gitfleet.desired.known_kinds import API_FIELDS, BUILT_IN, KnownKinds, kinds_with
from gitfleet.desired.readings import Contents, ReadObject, faults_at
from gitfleet.desired.texts import DesiredText
from gitfleet.formats.kinds import is_envelope_kind, is_selectable
from gitfleet.formats.near_names import is_near, nearest
from gitfleet.formats.texts import FormatsText
from gitfleet.model.state import FleetState

NAMESPACE: Final = GroupKind("", "Namespace")


def selector_refusals(objects: Iterable[ReadObject], known: KnownKinds, accepted: FleetState) -> Refusals:
    """Placements and overrides that select what nobody knows.

    What a placement selected already when it was accepted last is no misspelling of this commit: it is warned of. So is
    a kind that resembles none, which clusters may have: it selects nothing, and no selector went for it.
    """
    refused: Refusals = []
    items = list(objects)
    for item in items:
        if isinstance(item.value, Placement):
            record = accepted.placements.get(item.value.key)
            before = record.placement.selectors if record is not None else ()
            same, is_edited = set(map(_named, before)), any(one not in item.value.selectors for one in before)
            for index, note in _unknown(item.value, known):
                selector = item.value.selectors[index]
                is_misspelt = known.is_misspelt(selector.group, selector.kind)
                if _named(selector) not in same and (is_misspelt or is_edited):
                    refused.append((item, note))
    overrides = [(item, item.value) for item in items if isinstance(item.value, Override)]
    if any(note for _, override in overrides for note in _unknown_overridden(override, known)):
        # What lies in envelopes may be overridden too; they are opened only for kinds that are not known otherwise.
        manifests = [item.value for item in items if isinstance(item.value, Manifest)]
        known = kinds_with(manifests, (key for keys in carried(manifests).values() for key in keys or ()), known.hidden)
    return refused + [(item, note) for item, override in overrides for note in _unknown_overridden(override, known)]


def selector_warnings(objects: Iterable[ReadObject], known: KnownKinds) -> Refusals:
    """Selectors that select nothing, though nothing is wrong with them."""
    warned: Refusals = []
    items = list(objects)
    written = {item.value.key.identity: item.value.key for item in items if isinstance(item.value, Manifest)}
    for item in items:
        if isinstance(item.value, Override):
            warned += [(item, note) for note in _overridden_in_other_version(item.value, written)]
        elif isinstance(item.value, Placement):
            warned += [(item, note) for _, note in _unknown(item.value, known)]
            for index, selector in enumerate(item.value.selectors):
                if not is_selectable(selector.group, selector.kind):
                    here = ("spec", "resourceSelectors", index, "kind")
                    warned.append((item, (here, DesiredText.KIND_NEVER_PLACED())))
    return warned


def _unknown(placement: Placement, known: KnownKinds) -> Iterator[tuple[int, Break]]:
    for index, selector in enumerate(placement.selectors):
        misnamed = known.misnamed(selector.group, selector.version, selector.kind)
        if misnamed is not None:
            yield index, (("spec", "resourceSelectors", index, misnamed.field), misnamed.sentence)


def _unknown_overridden(override: Override, known: KnownKinds) -> Iterator[Break]:
    for index, resource in enumerate(override.resources):
        misnamed = known.misnamed(resource.group, resource.version, resource.kind)
        if misnamed is not None:
            yield ("spec", override.selectors_field, index, misnamed.field), misnamed.sentence


def _overridden_in_other_version(override: Override, written: Mapping[Identity, ObjectKey]) -> Iterator[Break]:
    """An override is for objects of its version only (KubeFleet), since a patch means the fields of one version."""
    for index, resource in enumerate(override.resources):
        key = written.get((resource.group, resource.kind, override.key.namespace, resource.name))
        if key is not None and key.version != resource.version:
            sentence = DesiredText.OVERRIDES_NOTHING_SINCE_WRITTEN(key=key, version=key.version)
            yield ("spec", override.selectors_field, index, "version"), sentence


def _named(selector: ResourceSelector) -> tuple[str, str, str]:
    return selector.group, selector.version, selector.kind


def renamed_kind_refusals(
    objects: Iterable[ReadObject], known: KnownKinds, vanished: Mapping[Identity, ReadObject]
) -> Refusals:
    """Objects of a kind that is not declared here, in the place of one whose kind is spelled much like it: what was
    there would be removed for a misspelling."""
    refused: Refusals = []
    if not vanished:
        return refused
    gone: dict[tuple[str, str], list[GroupKind]] = {}
    for item in vanished.values():
        if isinstance(item.value, Manifest):
            key = item.value.key
            gone.setdefault((key.namespace, key.name), []).append(key.group_kind)
    for item, key in _undeclared(objects, known):
        for old in gone.get((key.namespace, key.name), ()):
            if (field := _misspelling(key.group_kind, old)) is not None:
                sentence = DesiredText.NOT_DECLARED_HERE(old=old)
                refused.append((item, (API_FIELDS[field], DesiredText.ONE_EARLIER_COMMIT(sentence=sentence))))
                break
    return refused


def undeclared_warnings(objects: Iterable[ReadObject], known: KnownKinds) -> Refusals:
    """The first object of each kind whose CustomResourceDefinition is not in the repo."""
    first: dict[GroupKind, ReadObject] = {}
    for item, key in _undeclared(objects, known):
        known_first = first.setdefault(key.group_kind, item)
        if item.origin < known_first.origin:
            first[key.group_kind] = item
    return [(item, _undeclared_note(kind)) for kind, item in sorted(first.items())]


def _undeclared_note(kind: GroupKind) -> Break:
    meant = BUILT_IN.meant(kind.group, kind.kind)
    hint = FormatsText.YOU_MEAN(near=meant) if meant is not None else DesiredText.CLUSTERS_NOT_REFUSE_OBJECTS()
    return ("kind",), DesiredText.NO_CUSTOMRESOURCEDEFINITION_REPO(hint=hint)


def _undeclared(objects: Iterable[ReadObject], known: KnownKinds) -> Iterator[tuple[ReadObject, ObjectKey]]:
    for item in objects:
        if isinstance(item.value, Manifest):
            key = item.value.key
            if key.group_kind not in known.declared and not known.hidden.has_definition(key.group_kind):
                yield item, key


def _misspelling(new: GroupKind, old: GroupKind) -> str | None:
    """Which of the two parts is misspelt, if one kind is a misspelling of another."""
    if new.kind == old.kind:
        return "group"
    return "kind" if is_near(new.kind, old.kind) and is_near(new.group, old.group) else None


def missing_namespaces(objects: Iterable[ReadObject], faulty: Collection[Identity]) -> dict[str, list[ReadObject]]:
    """The payload in each namespace that no manifest makes, sound or faulty, in the order in which it is written.

    Those that every cluster has by itself need none.
    """
    made = {identity[3] for identity in faulty if identity[:2] == ("", "Namespace")}
    inside: dict[str, list[ReadObject]] = {}
    for item in objects:
        if not isinstance(item.value, Manifest):
            continue
        key = item.value.key
        if key.namespace:
            inside.setdefault(key.namespace, []).append(item)
        elif key.group_kind == NAMESPACE:
            made.add(key.name)
        elif is_envelope_kind(key.group, key.kind):
            inner = map(key_of, (item.value.body.get("data") or {}).values())
            made |= {found.name for found in inner if found.group_kind == NAMESPACE}
    return {
        name: sorted(items, key=lambda item: item.origin)
        for name, items in sorted(inside.items())
        if name not in made and not is_reserved_namespace(name)
    }


def namespaces_made(objects: Iterable[ReadObject]) -> dict[str, Origin]:
    """Where the manifest of each namespace stands."""
    return {item.identity[3]: item.origin for item in objects if item.identity[:2] == ("", "Namespace")}


def near_namespace(name: str, made: Mapping[str, Origin]) -> str:
    """The end of a sentence about a namespace that no manifest makes: the manifest of the nearest name, "" for none."""
    near = nearest(name, made)
    return DesiredText.YOU_MEAN_2(near=near, made=made[near].path, line=made[near].line) if near is not None else ""


def missing_namespace_break(name: str, near: str = "") -> Break:
    """What is wrong with an object in a namespace that no manifest makes; `near` ends the sentence."""
    sentence = DesiredText.NO_NAMESPACE_MANIFEST_REPO(name=name)
    return ("metadata", "namespace"), DesiredText.CORRECT_NAME(sentence=sentence, near=near)


def kept_namespace_fault(name: str, near: str, items: Sequence[ReadObject], contents: Contents) -> Fault:
    """The same of a Namespace whose manifest is gone while payload lies in it: it stays as it was."""
    first, others = items[0], len(items) - 1
    more = DesiredText.OTHER_OBJECT(others=others, part="s"[: others > 1]) if others else ""
    place, _ = missing_namespace_break(name)
    (fault,) = faults_at([(first, (place, ""))], contents)
    sentence = DesiredText.LOST_MANIFEST_STILL_LIE(first=first.label, more=more, near=near)
    return replace(fault, object=f"Namespace/{name}", message=sentence)
