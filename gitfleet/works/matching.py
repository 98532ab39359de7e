"""Which overrides concern which objects and clusters (KubeFleet pkg/utils/overrider/overrider.go)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from gitfleet.api.bindings import Binding
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.envelopes import EnvelopeError, carried, is_envelope, unwrap
from gitfleet.api.labels import InvalidSelector
from gitfleet.api.objects import ObjectKey
from gitfleet.api.overrides import OverriddenResource, Override, OverrideKey, OverrideRule
from gitfleet.api.placements import PlacementKey
from gitfleet.api.snapshots import OverrideSnapshot, ResourceSnapshot
from gitfleet.errors import GiveUp
from gitfleet.model.failures import Failures, Subject
from gitfleet.works.texts import WorksText

References = tuple[tuple[str, ...], tuple[str, ...]]
"""References of cluster-wide and of namespaced override snapshots, in the order in which they are applied."""


def overrides_for(
    placement: PlacementKey, snapshot: ResourceSnapshot, overrides: Iterable[OverrideSnapshot], cluster: MemberCluster
) -> References:
    """The overrides that concern this snapshot of this placement on this cluster: what its binding should name."""
    return overrides_by_cluster(placement, snapshot, overrides, (cluster,)).get(cluster.name, ((), ()))


def overrides_by_cluster(
    placement: PlacementKey,
    snapshot: ResourceSnapshot,
    overrides: Iterable[OverrideSnapshot],
    clusters: Iterable[MemberCluster],
) -> dict[str, References]:
    """`overrides_for` of many clusters by name; clusters that no override concerns are left out.

    `overrides` are the latest snapshots. One concerns a placement when it names it (or none) and selects one of the
    snapshot's objects or of the objects in its envelopes, and a cluster when one of its rules does. Where nothing names
    an override's clusters, its change leaves their bindings as they are.
    """
    addressed = [o for o in overrides if names_placement(o.override, placement)]
    if not addressed:
        return {}
    objects = _targets(snapshot)
    concerned = sorted((o for o in addressed if not objects.isdisjoint(targets_of(o.override))), key=application_order)
    out: dict[str, References] = {}
    for cluster in clusters if concerned else ():
        labels = cluster.scheduling_labels
        matching = [o for o in concerned if _is_for(o.override, labels)]
        if matching:
            out[cluster.name] = (
                tuple(o.reference for o in matching if not o.override.key.namespace),
                tuple(o.reference for o in matching if o.override.key.namespace),
            )
    return out


def _read_overrides(found: Iterable[OverrideSnapshot]) -> bool:
    """Read all that placements need to know whether an override concerns them, so that one that cannot be read
    fails by itself and not in every placement's decision."""
    for snapshot in found:
        _is_for(snapshot.override, {})
        frozenset(targets_of(snapshot.override))
        names_placement(snapshot.override, PlacementKey("", ""))
    return True


def unreadable_overrides(
    overrides: Mapping[OverrideKey, tuple[OverrideSnapshot, ...]], failures: Failures
) -> frozenset[str]:
    """The references of all snapshots of overrides that cannot be read."""
    unreadable: set[str] = set()
    for key, found in overrides.items():
        if not failures.contain(Subject(key.kind, str(key)), False, _read_overrides, found):
            unreadable.update(snapshot.reference for snapshot in found)
    return frozenset(unreadable)


def check_readable(bindings: Iterable[Binding], unreadable: frozenset[str]) -> None:
    """GiveUp when a binding names an override that cannot be read: without it, the cluster would lose what it says."""
    for binding in bindings if unreadable else ():
        for reference in (*binding.cluster_resource_overrides, *binding.resource_overrides):
            if reference in unreadable:
                raise GiveUp(WorksText.OVERRIDE_SNAPSHOT_CANNOT_READ(reference=reference))


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


def _is_for(override: Override, labels: Mapping[str, str]) -> bool:
    try:
        return any(rule_matches(rule, labels) for rule in override.rules)
    except InvalidSelector:
        # Rendering says so in the work's error; leaving the override out would hide it.
        return True


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


def _targets(snapshot: ResourceSnapshot) -> set[Target]:
    found = {target for document in snapshot.documents for target in targets_at(document.key)}
    for manifest in snapshot.manifests or ():
        if is_envelope(manifest):
            try:
                found.update(target for inner in unwrap(manifest, {}) for target in targets_at(inner.key))
            except EnvelopeError:
                # An override may be what corrects the envelope; if not, rendering reports it.
                continue
    return found


def names_placement(override: Override, placement: PlacementKey) -> bool:
    """Whether an override is for a placement: it names it, or none."""
    if override.placement is None:
        return True
    name, scope = override.placement.name, override.placement.scope
    if scope == "Namespaced":
        return bool(placement.namespace) and placement == PlacementKey(override.key.namespace, name)
    return not placement.namespace and placement.name == name
