"""works: snapshot + overrides for a cluster = the exact manifests.

    failing_patches         the patches for which it fails
    render_fleet            the works of every cluster, each rendered only when it changed
    state_when_done         the state when the rollouts are through
    works_when_done         the works when the rollouts are through
    target_contents         the same with the labels that overrides depend on
    deletions_of            what overrides delete of a snapshot on a cluster
    names_placement         whether an override is for a placement
    pinned_labels           the labels, annotations and properties of clusters that given overrides depend on
    looked_at_beside_labels what of that is no label, for all overrides

Forbidden here: deciding who gets which snapshot, talking to clusters, repeating a value of a patch or an object in an
error. Manifests that nothing patches are the snapshot's own objects, never copies.

Source: kubefleet.md §5; KubeFleet pkg/controllers/workgenerator, pkg/utils/overrider; RFC 6902; decision D20.
"""

from gitfleet.works.compiled import CompiledOverrides, FailedPatch
from gitfleet.works.fleet import WorksMemo, render_fleet, state_when_done, works_when_done
from gitfleet.works.matching import (
    deletions_of,
    looked_at_beside_labels,
    names_placement,
    pinned_labels,
    target_contents,
)
from gitfleet.works.render import failing_patches

__all__ = [
    "CompiledOverrides",
    "FailedPatch",
    "WorksMemo",
    "deletions_of",
    "failing_patches",
    "looked_at_beside_labels",
    "names_placement",
    "pinned_labels",
    "render_fleet",
    "state_when_done",
    "target_contents",
    "works_when_done",
]
