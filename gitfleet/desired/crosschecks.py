"""What only shows when all objects of a commit are seen together. Each function gives (object, break) of its refusals.

Sources: kubefleet.md §1 and §5 (one override for a resource, budgets), seed 003 (at most 100 overrides), contracts.md
§1 (a namespaced object without a namespace is a fault), decision D21.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, TypeAlias

import jsonpatch
import jsonpointer

from gitfleet.api import Break
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.definitions import definition_of
from gitfleet.api.fleet import FleetConfig
from gitfleet.api.objects import GroupKind, Identity, JsonObject, JsonValue, Manifest, ObjectKey, Origin
from gitfleet.api.overrides import Override, OverrideKey
from gitfleet.api.pins import Pin
from gitfleet.api.placements import Placement, PlacementKey, SelectionScope
from gitfleet.api.scalers import scalers_of
from gitfleet.api.snapshots import OverrideSnapshot
from gitfleet.api.staged import BEGAN_ELSEWHERE, DECIDED_ELSEWHERE, Approval, DisruptionBudget, Eviction, StagedRun
from gitfleet.api.workload_rollouts import AppRollout, RolloutTrait
from gitfleet.desired.accept import as_written, same_content
from gitfleet.desired.accepted_rollouts import rollout_update_breaks
from gitfleet.desired.contents import enveloped_breaks
from gitfleet.desired.identity import known_scope, scope_break
from gitfleet.desired.paths import FLEET_FILE
from gitfleet.desired.readings import ReadObject
from gitfleet.desired.recovery import Recovery
from gitfleet.desired.texts import DesiredText
from gitfleet.desired.updates import (
    approval_update_breaks,
    eviction_update_breaks,
    placement_update_breaks,
    run_update_breaks,
)
from gitfleet.formats.canonical_json import canonical_json, parse_json
from gitfleet.formats.sops import is_sops_encrypted
from gitfleet.model.state import FleetState

Refusals: TypeAlias = list[tuple[ReadObject, Break]]
MAX_OVERRIDES: Final = 100
"""Most overrides of each of the two kinds (seed 003, Override, Limits)."""


def by_precedence(items: list[ReadObject], recovery: Recovery, changed: Collection[str] | None) -> list[ReadObject]:
    """An approval that says something before one that does not; then what is in force, by its path, by what was not
    refused before, by what it says or by its file that did not change; then the first path. A copy whose name was not
    changed takes nothing over, and every later reading, of whatever process, refuses the same one."""
    known = recovery.known(items[0].identity)
    path = known.origin.path if known is not None else ""
    accepted = known.value if known is not None else None

    def rank(item: ReadObject) -> tuple[bool, bool, bool, bool, bool, Origin]:
        undecided = isinstance(item.value, Approval) and not item.value.conditions
        changed_here = changed is not None and item.origin.path in changed
        return (
            undecided,
            not path or item.origin.path != path,
            recovery.was_refused(item.origin.path, item.label),
            not same_content(item.value, accepted),
            changed_here,
            item.origin,
        )

    return sorted(items, key=rank)


def scopes_of(objects: Iterable[ReadObject]) -> dict[GroupKind, bool]:
    """Whether each kind of the payload is namespaced: built in, declared by a CRD, or as its objects are written."""
    manifests = [item.value for item in objects if isinstance(item.value, Manifest)]
    definitions = (definition_of(manifest.body) for manifest in manifests)
    declared = {one.kind: one.namespaced for one in definitions if one is not None}
    scopes = dict(declared)
    for manifest in manifests:
        kind = manifest.key.group_kind
        known = known_scope(kind, declared)
        scopes[kind] = (scopes.get(kind, False) or bool(manifest.key.namespace)) if known is None else known
    return scopes


def scope_refusals(objects: Iterable[ReadObject], scopes: Mapping[GroupKind, bool]) -> Refusals:
    """Payload whose namespace does not go with its kind, and selectors that their placement cannot have."""
    refused: Refusals = []
    for item in objects:
        value = item.value
        if isinstance(value, Manifest):
            sentence = scope_break(scopes.get(value.key.group_kind), value.key.kind, value.key.namespace)
            if sentence:
                refused.append((item, (("metadata", "namespace"), sentence)))
            refused += [(item, note) for note in enveloped_breaks(value, scopes)]
        elif isinstance(value, Placement):
            refused += [(item, note) for note in _selector_breaks(value, scopes)]
    return refused


def _selector_breaks(placement: Placement, scopes: Mapping[GroupKind, bool]) -> list[Break]:
    within = SelectionScope.NAMESPACE_WITH_RESOURCE_SELECTORS
    mixed = any(selector.selection_scope is within for selector in placement.selectors)
    breaks: list[Break] = []
    for index, selector in enumerate(placement.selectors):
        namespaced = known_scope(GroupKind(selector.group, selector.kind), scopes)
        here = ("spec", "resourceSelectors", index, "kind")
        if placement.key.namespace and namespaced is False:
            sentence = DesiredText.CLUSTER_SCOPED_KIND(selector=selector.kind)
            breaks.append((here, sentence))
        elif not placement.key.namespace and namespaced and not mixed:
            sentence = DesiredText.NAMESPACED_KIND_SELECT_NAMESPACE(selector=selector.kind)
            breaks.append((here, sentence))
    return breaks


def update_refusals(objects: Iterable[ReadObject], accepted: FleetState, recovery: Recovery) -> Refusals:
    """Edits of what may not change. A placement that is leaving, or that no file had and only a hold or an error keeps,
    says nothing about another one of its name."""
    refused: Refusals = []
    items = list(objects)
    unfinished = _unfinished_runs(items, accepted)
    for item in items:
        value = item.value
        if isinstance(value, Placement):
            record = accepted.placements.get(value.key)
            runs = unfinished.get(value.key, [])
            old = record.placement if record is not None else None
            is_other = (
                old is None or old.deleting is not None or recovery.is_used_again(item.identity, item.origin.path)
            )
            notes = placement_update_breaks(old, value, runs) if old is not None and not is_other else []
        elif isinstance(value, Eviction):
            known = accepted.evictions.get(value.name)
            notes = eviction_update_breaks(known, value) if known is not None else []
        elif isinstance(value, RolloutTrait | AppRollout):
            rollout = accepted.rollouts.get(value.key)
            notes = rollout_update_breaks(rollout, value) if rollout is not None else []
        elif isinstance(value, StagedRun | Approval):
            notes = _against_previous(value, recovery.previous(item.identity))
        else:
            continue
        refused += [(item, note) for note in notes]
    return refused


def _unfinished_runs(items: Iterable[ReadObject], accepted: FleetState) -> dict[PlacementKey, list[str]]:
    """The runs that the commit still has and that have begun and are not over, by the placement that they name."""
    wanted = {item.value.key for item in items if isinstance(item.value, StagedRun)}
    found: dict[PlacementKey, list[str]] = {}
    for key, run in accepted.runs.items():
        if key in wanted and not run.finished:
            found.setdefault(run.placement, []).append(str(key))
    return found


def _against_previous(value: StagedRun | Approval, previous: ReadObject | None) -> list[Break]:
    old = previous.value if previous is not None else None
    if isinstance(value, StagedRun) and isinstance(old, StagedRun):
        return run_update_breaks(old, value)
    if isinstance(value, Approval) and isinstance(old, Approval):
        return approval_update_breaks(old, value)
    return []


def override_refusals(
    objects: Iterable[ReadObject], known: Mapping[OverrideKey, Sequence[OverrideSnapshot]]
) -> Refusals:
    """A resource may be in one override of each kind only, and at most 100 of each exist; the earlier ones stay.

    Of those that were there before, an edited one gives way to one that nobody touched.
    """

    def rank(pair: tuple[ReadObject, Override]) -> tuple[bool, bool, Origin]:
        item, override = pair
        accepted = known.get(override.key)
        return not accepted, not accepted or as_written(accepted[-1].override) != as_written(override), item.origin

    found = sorted(((item, item.value) for item in objects if isinstance(item.value, Override)), key=rank)
    taken: dict[Identity, ReadObject] = {}
    counts = {"ClusterResourceOverride": 0, "ResourceOverride": 0}
    refused: Refusals = []
    for item, override in found:
        notes: list[Break] = []
        places = [(override.key.namespace, r.group, r.kind, r.name) for r in override.resources]
        for index, place in enumerate(places):
            if place in taken:
                sentence = DesiredText.SELECTS_RESOURCE_ALREADY_OVERRIDES(taken=taken[place].label)
                notes.append((("spec", override.selectors_field, index), sentence))
        if counts[override.key.kind] >= MAX_OVERRIDES:
            notes.append(((), DesiredText.MOST_KIND_MERGE_REMOVE_SOME(max_overrides=MAX_OVERRIDES)))
        refused += [(item, note) for note in notes]
        if not notes:
            counts[override.key.kind] += 1
            taken.update((place, item) for place in places)
    return refused


def patch_errors(objects: Iterable[ReadObject], kept: Container[Identity]) -> Refusals:
    """Patches of what the object that they are for does not have: often a field that only an API server fills in (D41).
    These overrides are not refused: without them, their objects would go out as they are.

    Of each patch it is enough that any override of the object may have added its place. Objects that lie in envelopes,
    or are meant by their Namespace alone, are not looked at, nor are overrides that are `kept` for another error.
    """
    items = list(objects)
    manifests = {item.value.key: item.value for item in items if isinstance(item.value, Manifest)}
    concerned: dict[ObjectKey, list[tuple[ReadObject, Override]]] = {}
    for item, override in ((item, item.value) for item in items if isinstance(item.value, Override)):
        for resource in override.resources if item.identity not in kept else ():
            key = ObjectKey(resource.group, resource.version, resource.kind, override.key.namespace, resource.name)
            concerned.setdefault(key, []).append((item, override))
    errors: Refusals = []
    for key, overrides in concerned.items():
        if key in manifests and not is_sops_encrypted(manifests[key].body):
            grown = _grown(manifests[key].body, [override for _, override in overrides])
            errors += [(item, note) for item, one in overrides for note in _patch_breaks(one, manifests[key], grown)]
    return errors


def _grown(body: JsonObject, overrides: Iterable[Override]) -> JsonObject:
    """The object with whatever the overrides may put there, on one cluster or another."""
    grown: dict[str, Any] = _copied(body)
    for patch in (patch for override in overrides for rule in override.rules for patch in rule.patches):
        with suppress(jsonpatch.JsonPatchException, jsonpointer.JsonPointerException, TypeError):
            if patch.op != "remove":
                step = {"op": patch.op, "path": patch.path, "value": _copied(patch.operand)}
                jsonpatch.JsonPatch([step]).apply(grown, in_place=True)
    return grown


def _copied(value: JsonValue) -> JsonValue:
    return parse_json(canonical_json(value))


def _patch_breaks(override: Override, manifest: Manifest, grown: JsonObject) -> Iterator[Break]:
    for number, rule in enumerate(override.rules):
        for index, patch in enumerate(rule.patches):
            needed = patch.path.rpartition("/")[0] if patch.op == "add" else patch.path
            if _has(manifest.body, needed) or _has(grown, needed):
                continue
            parent, key, origin = patch.path.rpartition("/")[0], manifest.key, manifest.origin
            if patch.op == "remove":
                sentence = DesiredText.REMOVES_MISSING_FIELD(key=key, origin=origin)
            elif _has(grown, parent):
                sentence = DesiredText.REPLACES_MISSING_FIELD(key=key, origin=origin)
            else:
                sentence = DesiredText.PATCHES_BELOW_MISSING_FIELD(key=key, parent=parent, origin=origin)
            yield ("spec", "policy", "overrideRules", number, "jsonPatchOverrides", index, "path"), sentence


def _has(body: JsonObject, path: str) -> bool:
    try:
        jsonpointer.resolve_pointer(body, path)
    except jsonpointer.JsonPointerException:
        return False
    return True


def budget_warnings(objects: Iterable[ReadObject]) -> Refusals:
    """Disruption budgets that mean nothing for the placement of the same name: they block every eviction of it."""
    items = list(objects)
    types = {
        item.value.key: item.value.effective_policy.placement_type
        for item in items
        if isinstance(item.value, Placement)
    }
    return [
        (item, note)
        for item in items
        if isinstance(item.value, DisruptionBudget) and (kind := types.get(PlacementKey("", item.value.name)))
        for note in item.value.breaks_beside(kind)
    ]


def scaled_warnings(objects: Iterable[ReadObject]) -> Refusals:
    """Workloads whose manifest has a number of replicas that an autoscaler of the repo sets, too, unless the
    FleetConfig leaves that field alone."""
    items = list(objects)
    scalers = scalers_of(item.value for item in items if isinstance(item.value, Manifest))
    if not scalers:
        return []
    rules = next((item.value.ignore_differences for item in items if isinstance(item.value, FleetConfig)), ())
    warned: Refusals = []
    for item in items:
        scaler = scalers.get(item.value.key.identity) if isinstance(item.value, Manifest) else None
        if scaler is None or not isinstance(item.value, Manifest):
            continue
        spec, key = item.value.body.get("spec"), item.value.key
        left_alone = any("/spec/replicas" in rule.json_pointers and rule.matches(key) for rule in rules)
        if isinstance(spec, Mapping) and spec.get("replicas") is not None and not left_alone:
            warned.append((item, (("spec", "replicas"), DesiredText.SET_BY_SCALER_TOO(scaler=scaler.key))))
    return warned


def exported_warnings(objects: Iterable[ReadObject], accepted: FleetState) -> Refusals:
    """Runs and evictions that came with what became of them elsewhere. Of those that the state branch knows as this
    fleet's own it knows better."""
    warned: Refusals = []
    for item in objects:
        if isinstance(item.value, StagedRun) and item.value.began_elsewhere:
            run = accepted.runs.get(item.value.key)
            if run is None or any(BEGAN_ELSEWHERE in known.message for known in run.status.conditions):
                warned.append((item, (("status",), f"says that {item.value.began_elsewhere}")))
        elif isinstance(item.value, Eviction) and item.value.is_over:
            eviction = accepted.evictions.get(item.value.name)
            if eviction is None or any(DECIDED_ELSEWHERE in known.message for known in eviction.conditions):
                warned.append(
                    (item, (("status", "conditions"), DesiredText.SAY_THAT_IT(elsewhere=item.value.elsewhere)))
                )
    return warned


def was_in_force(item: ReadObject, recovery: Recovery, changed: Collection[str] | None) -> bool:
    """Whether a version of an object was in force before this commit, as far as that is known."""
    same = changed is not None and item.origin.path not in changed
    stood = same and not recovery.was_refused(item.origin.path, item.label)
    return stood or recovery.previous(item.identity) is not None


def pin_refusals(objects: Iterable[ReadObject], recovery: Recovery, changed: Collection[str] | None) -> Refusals:
    """A placement has one pin: the one that was in force, else the first by path."""

    def rank(pair: tuple[ReadObject, Pin]) -> tuple[bool, Origin]:
        return not was_in_force(pair[0], recovery, changed), pair[0].origin

    first: dict[PlacementKey, ReadObject] = {}
    refused: Refusals = []
    for item, pin in sorted(((item, item.value) for item in objects if isinstance(item.value, Pin)), key=rank):
        other = first.setdefault(pin.placement, item)
        if other is not item:
            note = DesiredText.PINNED_ALREADY_REMOVE_ONE_TWO(origin=other.origin)
            refused.append((item, (("spec", "placement"), note)))
    return refused


def connection_refusals(objects: Iterable[ReadObject]) -> Refusals:
    """Clusters that nothing says how to reach."""
    sentence = DesiredText.REQUIRED_ADD_CONTEXT()
    found = [item for item in objects if isinstance(item.value, MemberCluster) and item.value.connection is None]
    return [(item, (("spec", "connection"), sentence)) for item in found]


def config_refusals(objects: Iterable[ReadObject], kept: Collection[Identity]) -> Refusals:
    """A fleet has one configuration: one that is kept for an error, else that of gitfleet.yaml, else the first by
    path."""
    configs = [item for item in objects if isinstance(item.value, FleetConfig)]
    configs.sort(key=lambda item: (item.identity not in kept, item.origin.path != FLEET_FILE, item.origin))
    sentence = DesiredText.SECOND_CONFIGURATION_BESIDE(origin=configs[0].origin.path) if configs else ""
    return [(item, ((), sentence)) for item in configs[1:]]
