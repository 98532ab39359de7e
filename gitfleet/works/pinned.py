"""Which labels, annotations and properties of a cluster an override depends on: with those, the same overrides give
the same manifests.

A binding keeps them beside the overrides it names, so that relabelling a cluster changes what runs there only as a
rollout does, within its budget (ARCHITECTURE.md, invariant 4).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from gitfleet.api.bindings import Binding, PinnedLabels
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.overrides import Override
from gitfleet.api.snapshots import OverrideSnapshot
from gitfleet.formats.canonical_json import canonical_json
from gitfleet.works.matching import References
from gitfleet.works.variables import is_label, keys_of, pinned, with_pinned


def pinned_labels(
    references: Mapping[str, References], overrides: Iterable[OverrideSnapshot], clusters: Mapping[str, MemberCluster]
) -> dict[str, PinnedLabels]:
    """For each cluster that `references` names, the labels, annotations and properties that its overrides depend on, by
    key; None where the cluster has no such thing. Clusters whose overrides depend on nothing are left out."""
    if not references:
        return {}
    keys = {snapshot.reference: frozenset(_pinned_keys(snapshot.override)) for snapshot in overrides}
    found: dict[str, PinnedLabels] = {}
    for name, (cluster_wide, namespaced) in references.items():
        wanted = {key for reference in (*cluster_wide, *namespaced) for key in keys.get(reference, ())}
        if wanted and name in clusters:
            found[name] = tuple((key, pinned(clusters[name], key)) for key in sorted(wanted))
    return found


def looked_at_beside_labels(
    overrides: Iterable[OverrideSnapshot], clusters: Mapping[str, MemberCluster]
) -> dict[str, PinnedLabels]:
    """The annotations and properties of each cluster that any of the overrides depends on."""
    keys = sorted({key for one in overrides for key in _pinned_keys(one.override) if not is_label(key)})
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
