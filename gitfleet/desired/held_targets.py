"""The workloads of rollouts that have an error and no last good version: a rollout was asked for, so that nothing is
written to them until it can be read. Otherwise a slip would let all of their pods change at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from gitfleet.api.faults import Fault, is_error
from gitfleet.api.objects import GroupKind, Identity, JsonValue, Manifest
from gitfleet.api.placements import PlacementKey
from gitfleet.api.placing_policy import PlacingPolicy
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_rollouts import (
    APP_GROUP,
    APP_KINDS,
    ROLLOUT_KINDS,
    ROLLOUTS,
    TRAIT_GROUP,
    TRAIT_KINDS,
    WORKLOAD_KINDS,
    AppRollout,
    RolloutTrait,
)
from gitfleet.desired.known_kinds import KnownKinds
from gitfleet.desired.paths import is_payload_path
from gitfleet.desired.readings import ReadObject
from gitfleet.formats.near_names import nearest
from gitfleet.model.held_fields import HeldFields, HeldPlacement


def held_targets(
    refused: Iterable[ReadObject],
    chosen: Mapping[Identity, ReadObject],
    faults: Sequence[Fault],
    known: KnownKinds,
    policy: PlacingPolicy,
) -> dict[Identity, HeldFields]:
    """What such rollouts name of what they may move, as far as that can be read, but for what a sound rollout moves. A
    kind that is misspelt stands for the near one, and a namespace that is missing for every one that has a workload of
    that name."""
    traits = (item.value for item in chosen.values() if isinstance(item.value, RolloutTrait))
    moved = {workload.identity for trait in traits for workload, _ in trait.workloads}
    found: dict[Identity, HeldFields] = {}
    for item in sorted(refused, key=lambda one: one.origin):
        if item.identity in chosen or not _is_meant_as(item, RolloutTrait, TRAIT_KINDS):
            continue
        held = _held(item, faults)
        for identity in _named(item, chosen, known):
            if identity not in moved and policy.reaches(item.identity[2], identity[2]):
                found.setdefault(identity, held)
    return found


def held_placements(
    refused: Iterable[ReadObject], chosen: Mapping[Identity, ReadObject], faults: Sequence[Fault]
) -> dict[PlacementKey, HeldPlacement]:
    """The placements that such rollouts name, as far as that can be read, but for those of which a sound one moves the
    workload."""
    sound = (item.value for item in chosen.values() if isinstance(item.value, AppRollout))
    moved = {rollout.placement for rollout in sound}
    found: dict[PlacementKey, HeldPlacement] = {}
    for item in sorted(refused, key=lambda one: one.origin):
        if item.identity in chosen or not _is_meant_as(item, AppRollout, APP_KINDS):
            continue
        placement, component = _placement(item.value, item.identity[2])
        if placement is not None and placement not in moved:
            found.setdefault(placement, HeldPlacement(fields=_held(item, faults), component=component))
    return found


def _held(item: ReadObject, faults: Sequence[Fault]) -> HeldFields:
    lines = (one.line for one in faults if is_error(one) and (one.path, one.object) == (item.origin.path, item.label))
    line = min(lines, default=item.origin.line)
    name = NamespacedName(item.identity[2], item.identity[3])
    return HeldFields(rollout=name, stays=True, untouched=f"it has an error at {item.origin.path}:{line}; correct it")


def _is_meant_as(item: ReadObject, type_: type, kinds: tuple[str, ...]) -> bool:
    """Whether an object may be meant as a rollout of these kinds."""
    if isinstance(item.value, type_):
        return True
    if is_payload_path(item.origin.path) or not isinstance(item.value, Mapping):
        return False
    group, kind = item.identity[:2]
    is_near = group in (TRAIT_GROUP, APP_GROUP) or item.origin.path.startswith(f"{ROLLOUTS}/")
    return kind in kinds or (is_near and nearest(kind, ROLLOUT_KINDS) in (None, *kinds))


def _placement(value: object, namespace: str) -> tuple[PlacementKey | None, str]:
    """The placement that a document names, and its component, as far as they can be read."""
    if isinstance(value, AppRollout):
        return value.placement, next(iter(value.component_list), "")
    spec: JsonValue = value.get("spec") if isinstance(value, Mapping) else None
    reference: JsonValue = spec.get("placementRef") if isinstance(spec, Mapping) else None
    if not isinstance(spec, Mapping) or not isinstance(reference, Mapping):
        return None, ""
    name, components = reference.get("name"), spec.get("componentList")
    if not isinstance(name, str):
        return None, ""
    component = components[0] if isinstance(components, list) and len(components) == 1 else None
    is_namespaced = reference.get("kind") == "ResourcePlacement"
    return PlacementKey(namespace if is_namespaced else "", name), component if isinstance(component, str) else ""


def _named(item: ReadObject, chosen: Mapping[Identity, ReadObject], known: KnownKinds) -> Iterator[Identity]:
    if isinstance(item.value, RolloutTrait):
        references = [workload.identity for workload, _ in item.value.workloads]
    else:
        references = list(_references(item.value, item.identity[2]))
    for group, kind, namespace, name in references:
        kinds = {GroupKind(group, kind), known.meant(group, kind), *(one for one in WORKLOAD_KINDS if one.kind == kind)}
        for one in filter(None, kinds):
            if namespace:
                yield one.group, one.kind, namespace, name
            else:
                yield from _everywhere(one, name, chosen)


def _references(value: object, namespace: str) -> Iterator[Identity]:
    """The workloads that a document names, as far as they can be read."""
    spec: JsonValue = value.get("spec") if isinstance(value, Mapping) else None
    if not isinstance(spec, Mapping):
        return
    sources = spec.get("sourceRef")
    for reference in (spec.get("targetRef"), *(sources if isinstance(sources, list) else [sources])):
        if isinstance(reference, Mapping) and isinstance(name := reference.get("name"), str):
            group = str(reference.get("apiVersion") or "").rpartition("/")[0]
            yield group, str(reference.get("kind") or ""), str(reference.get("namespace") or namespace), name


def _everywhere(kind: GroupKind, name: str, chosen: Mapping[Identity, ReadObject]) -> Iterator[Identity]:
    for item in chosen.values():
        if isinstance(item.value, Manifest) and item.value.key.group_kind == kind and item.value.key.name == name:
            yield item.value.key.identity
