"""Overrides: one for each resource, at most 100 of each kind, and patches of fields that exist.

Sources: kubefleet.md §5, seed 003 (Override, Limits), decision D41.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, Final

import jsonpatch
import jsonpointer

from gitfleet.api import Break
from gitfleet.api.objects import Identity, JsonObject, JsonValue, Manifest, ObjectKey
from gitfleet.api.overrides import Override
from gitfleet.desired.checks.commit import Commit, Refusal, noted
from gitfleet.desired.reading.files import ReadObject
from gitfleet.desired.texts import DesiredText
from gitfleet.formats.canonical_json import canonical_json, parse_json
from gitfleet.formats.sops import is_sops_encrypted

MAX_OVERRIDES: Final = 100
"""Most overrides of each of the two kinds."""


def override_refusals(commit: Commit) -> Iterator[Refusal]:
    """Refuse a second override of a resource, and those beyond the limit; the ones in force stay."""
    taken: dict[Identity, ReadObject] = {}
    counts: Counter[str] = Counter()
    for item, override in sorted(commit.of(Override), key=lambda pair: commit.standing(pair[0])):
        places = [(override.key.namespace, r.group, r.kind, r.name) for r in override.resources]
        notes: list[Break] = [
            (
                ("spec", override.selectors_field, index),
                DesiredText.SELECTS_RESOURCE_ALREADY_OVERRIDES(taken=taken[place].label),
            )
            for index, place in enumerate(places)
            if place in taken
        ]
        if counts[override.key.kind] >= MAX_OVERRIDES:
            notes.append(((), DesiredText.MOST_KIND_MERGE_REMOVE_SOME(max_overrides=MAX_OVERRIDES)))
        yield from noted(item, notes)
        if not notes:
            counts[override.key.kind] += 1
            taken.update((place, item) for place in places)


def patch_errors(commit: Commit) -> Iterator[Refusal]:
    """Report patches of fields that their object does not have: often a field that only an API server fills in. These
    overrides are not refused: without them, their objects would go out as they are.

    Of each patch it is enough that any override of the object may have added its place. Objects in envelopes, and
    objects that are meant by their Namespace alone, are not looked at.
    """
    manifests: dict[ObjectKey, list[Manifest]] = {}
    for manifest in commit.manifests:
        manifests.setdefault(manifest.key, []).append(manifest)
    concerned: dict[ObjectKey, list[tuple[ReadObject, Override]]] = {}
    for item, override in commit.of(Override):
        for resource in override.resources if item.identity not in commit.retained else ():
            key = ObjectKey(resource.group, resource.version, resource.kind, override.key.namespace, resource.name)
            concerned.setdefault(key, []).append((item, override))
    for key, overrides in concerned.items():
        for manifest in manifests.get(key, ()):
            if not is_sops_encrypted(manifest.body):
                grown = _grown(manifest.body, [override for _, override in overrides])
                for item, override in overrides:
                    yield from noted(item, _patch_breaks(override, manifest, grown))


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
            sentence = DesiredText.PATCHES_MISSING_FIELD(key=manifest.key, origin=manifest.origin)
            yield ("spec", "policy", "overrideRules", number, "jsonPatchOverrides", index, "path"), sentence


def _has(body: JsonObject, path: str) -> bool:
    try:
        jsonpointer.resolve_pointer(body, path)
    except jsonpointer.JsonPointerException:
        return False
    return True
