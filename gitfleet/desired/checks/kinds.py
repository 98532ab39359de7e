"""Kinds that nobody knows, and namespaces that no manifest of the repo makes (decisions D28, D29 and D30)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gitfleet.api import Break, Location
from gitfleet.api.fleet import HealthCheck
from gitfleet.api.folders import FOLDER_FILE
from gitfleet.api.labels import LabelSelector
from gitfleet.api.objects import GroupKind, Identity, Manifest
from gitfleet.api.overrides import OverriddenResource, Override
from gitfleet.api.placements import ResourceSelector
from gitfleet.api.placing_policy import KindPattern
from gitfleet.api.values import is_reserved_namespace
from gitfleet.desired.checks.commit import Commit, Refusal, noted
from gitfleet.desired.known_kinds import BUILT_IN, is_kubernetes_group
from gitfleet.desired.reading.files import ReadObject
from gitfleet.desired.texts import DesiredText
from gitfleet.formats.kinds import is_selectable
from gitfleet.formats.near_names import is_near, nearest
from gitfleet.formats.sentences import counted
from gitfleet.formats.texts import FormatsText

_NAMESPACE: Final = GroupKind("", "Namespace")


def unknown_selected_kinds(commit: Commit) -> Iterator[Refusal]:
    """Refuse placements that select a kind or version that nobody knows. `selector_warnings` warns of a selector that
    the accepted placement has already: its kind went since."""
    for item, placement, at, selector in commit.selectors:
        notes = _unknown(selector, at, commit)
        record = commit.accepted.placements.get(placement.key) if notes else None
        if record is None or _named(selector) not in map(_named, record.placement.selectors):
            yield from noted(item, notes)


def unknown_overridden_kinds(commit: Commit) -> Iterator[Refusal]:
    """Refuse overrides for a kind or version that nobody knows."""
    for item, override in commit.of(Override):
        for index, resource in enumerate(override.resources):
            yield from noted(item, _unknown(resource, ("spec", override.selectors_field, index), commit))


def selector_warnings(commit: Commit) -> Iterator[Refusal]:
    """Warn of selectors without effect: of kinds that are gone or are never placed."""
    for item, _, at, selector in commit.selectors:
        yield from noted(item, _unknown(selector, at, commit))
        if not is_selectable(selector.group, selector.kind):
            yield item, ((*at, "kind"), DesiredText.KIND_NEVER_PLACED())


def variant_warnings(commit: Commit) -> Iterator[Refusal]:
    """Warn of selectors that read a label which differs by variant: they select all variants or none."""
    variants: dict[GroupKind, dict[Identity, list[Manifest]]] = {}
    for manifest in (manifest for manifest in commit.manifests if manifest.variants):
        variants.setdefault(manifest.key.group_kind, {}).setdefault(manifest.key.identity, []).append(manifest)
    for item, _, at, selector in commit.selectors:
        keys = (selector.label_selector or LabelSelector()).keys
        for manifests in variants.get(GroupKind(selector.group, selector.kind), {}).values() if keys else ():
            if len({tuple(map(manifest.labels.get, keys)) for manifest in manifests}) > 1:
                sentence = DesiredText.LABEL_DIFFERS_BY_VARIANT(key=manifests[0].key)
                yield item, ((*at, "labelSelector"), sentence)
                break


def version_warnings(commit: Commit) -> Iterator[Refusal]:
    """Warn of overrides for another version than their object has: a patch means the fields of one version."""
    keys = {manifest.key.identity: manifest.key for manifest in commit.manifests}
    for item, override in commit.of(Override):
        for index, resource in enumerate(override.resources):
            key = keys.get((resource.group, resource.kind, override.key.namespace, resource.name))
            if key is not None and key.version != resource.version:
                sentence = DesiredText.OVERRIDES_NOTHING_SINCE_WRITTEN(key=key, version=key.version)
                yield item, (("spec", override.selectors_field, index, "version"), sentence)


def undeclared_warnings(commit: Commit) -> Iterator[Refusal]:
    """Warn of the first object of each kind whose CustomResourceDefinition is not in the repo."""
    first: dict[GroupKind, ReadObject] = {}
    declared = commit.kinds.declared.union(commit.config.scopes)
    for item, manifest in sorted(commit.of(Manifest), key=lambda pair: pair[0].origin):
        if manifest.key.group_kind not in declared:
            first.setdefault(manifest.key.group_kind, item)
    for kind, item in sorted(first.items()):
        meant = BUILT_IN.meant(kind.group, kind.kind)
        is_likely = meant is not None and (is_kubernetes_group(meant.group) or is_near(meant.group, kind.group))
        hint = FormatsText.YOU_MEAN(near=meant) if is_likely else DesiredText.CLUSTERS_NOT_REFUSE_OBJECTS()
        yield item, (("kind",), DesiredText.NO_CUSTOMRESOURCEDEFINITION_REPO(hint=hint))


def config_kind_warnings(commit: Commit) -> Iterator[Refusal]:
    """Warn of rules and health checks of kinds that are probably misspelt, and so have no effect."""
    for item, config in commit.configs:
        patterns: list[tuple[tuple[str | int, ...], KindPattern | HealthCheck]] = [
            (("policy", name, number, "kinds", index), pattern)
            for name, rules in (("allow", config.policy.allow), ("deny", config.policy.deny))
            for number, rule in enumerate(rules)
            for index, pattern in enumerate(rule.kinds)
        ]
        patterns += [(("healthChecks", index), check) for index, check in enumerate(config.health_checks)]
        for place, pattern in patterns:
            misspelt = commit.kinds.misspelt(pattern.group, pattern.kind)
            if misspelt is not None and "*" not in (pattern.group, pattern.kind):
                yield item, (("spec", *place, misspelt.field), misspelt.sentence)


def lost_namespaces(commit: Commit) -> Iterator[Refusal]:
    """Refuse to lose the manifest of a Namespace while payload lies in it: it goes on, with all that lies in it."""
    for name, items, hint in _without_manifest(commit):
        identity = ("", "Namespace", "", name)
        if commit.history.version(identity) is not None:
            further = len(items) - 1
            more = DesiredText.OTHER_OBJECT(count=counted(further, "other object")) if further else ""
            sentence = DesiredText.LOST_MANIFEST_STILL_LIE(first=items[0].label, more=more, near=hint)
            namespace = ReadObject(identity, f"Namespace/{name}", items[0].origin, None)
            yield namespace, (("metadata", "namespace"), sentence)


def missing_namespaces(commit: Commit) -> Iterator[Refusal]:
    """Refuse payload in a namespace that no manifest ever made."""
    for name, items, hint in _without_manifest(commit):
        if commit.history.version(("", "Namespace", "", name)) is None:
            sentence = DesiredText.NO_NAMESPACE_MANIFEST_REPO(name=name, folder_file=FOLDER_FILE, near=hint)
            yield from ((item, (("metadata", "namespace"), sentence)) for item in items)


def _without_manifest(commit: Commit) -> Iterator[tuple[str, list[ReadObject], str]]:
    """Each namespace that no manifest makes, sound or faulty, with the payload in it, in the order in which it is
    written, and the end of a sentence about it. Namespaces that every cluster has by itself need no manifest."""
    made = {m.key.name: item.origin for item, m in commit.of(Manifest) if m.key.group_kind == _NAMESPACE}
    wrapped = commit.wrapped.get((*_NAMESPACE, ""), ())
    inside: dict[str, list[ReadObject]] = {}
    for item, manifest in commit.of(Manifest):
        if manifest.key.namespace:
            inside.setdefault(manifest.key.namespace, []).append(item)
    for name, items in sorted(inside.items()):
        exists = name in made or name in wrapped or is_reserved_namespace(name) or commit.config.has_namespace(name)
        if not exists and not commit.is_refused("Namespace", name):
            near = nearest(name, made)
            hint = DesiredText.YOU_MEAN_2(near=near, made=made[near].path, line=made[near].line) if near else ""
            yield name, sorted(items, key=lambda item: item.origin), hint


def _unknown(resource: ResourceSelector | OverriddenResource, at: Location, commit: Commit) -> list[Break]:
    misnamed = commit.kinds.misnamed(resource.group, resource.version, resource.kind)
    return [] if misnamed is None else [((*at, misnamed.field), misnamed.sentence)]


def _named(selector: ResourceSelector) -> tuple[str, str, str]:
    return selector.group, selector.version, selector.kind
