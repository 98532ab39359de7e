"""Which overrides concern which objects and clusters (KubeFleet pkg/utils/overrider/overrider.go)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from gitfleet.api.bindings import Binding, ClusterContent, PinnedLabels
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.envelopes import carried
from gitfleet.api.folders import choose_variants
from gitfleet.api.objects import Identity, ObjectKey
from gitfleet.api.overrides import OverriddenResource, Override, OverrideRule
from gitfleet.api.placements import PlacementKey
from gitfleet.api.snapshots import OverrideSnapshot, ResourceSnapshot
from gitfleet.formats.canonical_json import canonical_json
from gitfleet.model.state import PlacementRecord
from gitfleet.works.variables import is_label, keys_of, pinned, with_pinned


def contents_by_cluster(
    placement: PlacementKey,
    snapshot: ResourceSnapshot,
    overrides: Iterable[OverrideSnapshot],
    clusters: Collection[MemberCluster],
) -> dict[str, ClusterContent]:
    """What clusters get of a snapshot of a placement, by name: what their bindings should name; clusters without
    overrides and variants are left out.

    The snapshot's own selectors choose the variants, by the labels that a cluster has now. `overrides` are the latest
    snapshots. One concerns a placement when it names it (or none) and selects one of the
    snapshot's objects or of the objects in its envelopes, and a cluster when one of its rules does. Where nothing names
    an override's clusters, its change leaves their bindings as they are.
    """
    addressed = [o for o in overrides if names_placement(o.override, placement)]
    if not addressed and not snapshot.folders:
        return {}
    objects = frozenset[Target]().union(*targets_by_object(snapshot).values())
    concerned = sorted((o for o in addressed if not objects.isdisjoint(targets_of(o.override))), key=application_order)
    out: dict[str, ClusterContent] = {}
    for cluster in clusters if concerned or snapshot.folders else ():
        labels = cluster.scheduling_labels
        matching = [o for o in concerned if _any_matches(o.override.rules, labels)]
        content = ClusterContent(
            tuple(o.reference for o in matching if not o.override.key.namespace),
            tuple(o.reference for o in matching if o.override.key.namespace),
            choose_variants(snapshot.folders, labels),
        )
        if content != ClusterContent():
            out[cluster.name] = content
    return out


def application_order(snapshot: OverrideSnapshot) -> tuple[str, str]:
    """Cluster-wide overrides (no namespace) by name, then those of namespaces, by name too: the last writer wins."""
    key = snapshot.override.key
    return (key.namespace, key.name)


def rule_matches(rule: OverrideRule, labels: Mapping[str, str]) -> bool:
    """Whether a rule is for a cluster: no selector selects none, no terms select all, terms are ORed (and a term
    without a label selector selects none, as in KubeFleet)."""
    if rule.cluster_terms is None:
        return False
    if not rule.cluster_terms:
        return True
    return any(t.label_selector is not None and t.label_selector.matches(labels) for t in rule.cluster_terms)


def _any_matches(rules: Iterable[OverrideRule], labels: Mapping[str, str]) -> bool:
    return any(rule_matches(rule, labels) for rule in rules)


Target = tuple[str, OverriddenResource]
"""(namespace of a namespaced override, or "" for a cluster-wide one; what it selects)."""


def targets_of(override: Override) -> Iterator[Target]:
    """What an override selects."""
    for resource in override.resources:
        yield (override.key.namespace, resource)


def targets_at(key: ObjectKey) -> tuple[Target, ...]:
    """What an override must select to concern an object: the object itself, or the Namespace it lies in."""
    own = OverriddenResource(key.group, key.version, key.kind, key.name)
    if not key.namespace:
        return (("", own),)
    return (("", OverriddenResource("", "v1", "Namespace", key.namespace)), (key.namespace, own))


def targets_by_object(snapshot: ResourceSnapshot) -> dict[ObjectKey, frozenset[Target]]:
    """What an override must select to concern each object of a snapshot; those of an envelope with what it carries."""
    objects = {document.key: frozenset(targets_at(document.key)) for document in snapshot.documents}
    for envelope, inside in carried(snapshot.manifests or ()).items():
        objects |= {inner: objects[envelope] | frozenset(targets_at(inner)) for inner in inside or ()}
    return objects


def names_placement(override: Override, placement: PlacementKey) -> bool:
    """Whether an override is for a placement: it names it, or none."""
    named = override.placement
    in_scope = named is not None and (named.scope == "Namespaced") == bool(placement.namespace)
    return named is None or (in_scope and override.placement_key == placement)


Clusters = Mapping[str, MemberCluster]


def deletions_of(
    key: PlacementKey, snapshot: ResourceSnapshot, overrides: Iterable[OverrideSnapshot], clusters: Clusters
) -> Callable[[str], frozenset[Identity]]:
    """What these overrides, which can be read, delete of a placement's snapshot on a cluster, by the cluster's name;
    with an envelope goes what it carries."""
    deleting = [
        (override, rules)
        for override in (snapshot.override for snapshot in overrides)
        if names_placement(override, key) and (rules := [r for r in override.rules if r.override_type == "Delete"])
    ]
    objects = targets_by_object(snapshot) if deleting else {}
    taken = list[tuple[list[OverrideRule], frozenset[Identity]]]()
    for override, rules in deleting:
        targets = frozenset(targets_of(override))
        taken.append((rules, frozenset(o.identity for o, own in objects.items() if not own.isdisjoint(targets))))

    def deleted(cluster: str) -> frozenset[Identity]:
        member = clusters.get(cluster)
        labels = member.scheduling_labels if member is not None else {}
        matching = (identities for rules, identities in taken if member is not None and _any_matches(rules, labels))
        return frozenset[Identity]().union(*matching)

    return deleted


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetContents:
    """What bindings are to have, by cluster: the overrides and variants, and the labels that overrides depend on."""

    contents: Mapping[str, ClusterContent] = field(default_factory=dict)
    labels: Mapping[str, PinnedLabels] = field(default_factory=dict)


def target_contents(
    record: PlacementRecord, current: tuple[OverrideSnapshot, ...], clusters: Clusters
) -> TargetContents:
    """What each cluster is to get of the record's newest snapshot."""
    latest = record.latest_resources
    if latest is None:
        return TargetContents()
    contents = contents_by_cluster(record.placement.key, latest, current, clusters.values())
    return TargetContents(contents=contents, labels=pinned_labels(contents, current, clusters))


def pinned_labels(
    contents: Mapping[str, ClusterContent], overrides: Iterable[OverrideSnapshot], clusters: Mapping[str, MemberCluster]
) -> dict[str, PinnedLabels]:
    """For each cluster that `contents` names, the labels, annotations and properties that its overrides depend on, by
    key; None where the cluster has no such thing. Clusters whose overrides depend on nothing are left out."""
    if not contents:
        return {}
    keys = {snapshot.reference: frozenset(_pinned_keys(snapshot.override)) for snapshot in overrides}
    pinned_by_cluster: dict[str, PinnedLabels] = {}
    for name, content in contents.items():
        cluster_keys = {key for reference in content.overrides for key in keys.get(reference, ())}
        if cluster_keys and name in clusters:
            pinned_by_cluster[name] = tuple((key, pinned(clusters[name], key)) for key in sorted(cluster_keys))
    return pinned_by_cluster


def looked_at_beside_labels(
    overrides: Iterable[OverrideSnapshot], clusters: Mapping[str, MemberCluster]
) -> dict[str, PinnedLabels]:
    """The annotations and properties of each cluster that any of the overrides depends on."""
    keys = sorted({key for snapshot in overrides for key in _pinned_keys(snapshot.override) if not is_label(key)})
    return {name: tuple((key, pinned(cluster, key)) for key in keys) for name, cluster in clusters.items() if keys}


def as_rolled_out(cluster: MemberCluster, binding: Binding) -> MemberCluster:
    """The cluster as the binding's overrides saw it when it was rolled out last."""
    return with_pinned(cluster, binding.override_labels) if binding.override_labels else cluster


def _pinned_keys(override: Override) -> Iterator[str]:
    for rule in override.rules:
        for term in rule.cluster_terms or ():
            if term.label_selector is not None:
                yield from term.label_selector.match_labels
                yield from (requirement.key for requirement in term.label_selector.match_expressions)
        for patch in rule.patches:
            yield from keys_of(canonical_json(patch.operand).decode())
