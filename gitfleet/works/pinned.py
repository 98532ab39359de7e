"""Which labels of a cluster an override depends on: with those, the same overrides give the same manifests.

A binding keeps them beside the overrides it names, so that relabelling a cluster changes what runs there only as a
rollout does, within its budget (ARCHITECTURE.md, invariant 4).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from gitfleet.api.bindings import Binding, PinnedLabels
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.overrides import Override
from gitfleet.api.snapshots import OverrideSnapshot
from gitfleet.formats.canonical_json import canonical_json
from gitfleet.works.matching import References

_VARIABLE: Final = re.compile(rb"\$\{MEMBER-CLUSTER-LABEL-KEY-([^}]*)\}")


def pinned_labels(
    references: Mapping[str, References], overrides: Iterable[OverrideSnapshot], clusters: Mapping[str, MemberCluster]
) -> dict[str, PinnedLabels]:
    """For each cluster that `references` names, the labels that its overrides depend on, by key; None where the cluster
    has no such label. Clusters whose overrides depend on no label are left out."""
    if not references:
        return {}
    keys = {snapshot.reference: frozenset(_label_keys(snapshot.override)) for snapshot in overrides}
    pinned: dict[str, PinnedLabels] = {}
    for name, (cluster_wide, namespaced) in references.items():
        wanted = {key for reference in (*cluster_wide, *namespaced) for key in keys.get(reference, ())}
        if wanted and name in clusters:
            labels = clusters[name].scheduling_labels
            pinned[name] = tuple((key, labels.get(key)) for key in sorted(wanted))
    return pinned


def as_rolled_out(cluster: MemberCluster, binding: Binding) -> MemberCluster:
    """The cluster with the labels that the binding's overrides saw when it was rolled out last."""
    if not binding.override_labels:
        return cluster
    return replace(cluster, labels={key: value for key, value in binding.override_labels if value is not None})


def _label_keys(override: Override) -> Iterator[str]:
    for rule in override.rules:
        for term in rule.cluster_terms or ():
            if term.label_selector is not None:
                yield from term.label_selector.match_labels
                yield from (requirement.key for requirement in term.label_selector.match_expressions)
        for patch in rule.patches:
            yield from (key.decode() for key in _VARIABLE.findall(canonical_json(patch.operand)))
