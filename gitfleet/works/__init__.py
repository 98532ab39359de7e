"""works: snapshot + overrides for a cluster = the exact manifests.

    render_work             the work of one binding: its exact manifests
    render_fleet            the works of every cluster, each rendered only when it changed
    state_when_done         the state when the rollouts are through
    works_when_done         the works when the rollouts are through
    overrides_for           the overrides that apply on one cluster, cluster-wide and namespaced
    overrides_by_cluster    the same for many clusters at once
    target_overrides        the same with their labels, as they were where that is held
    deleted_on              what overrides delete of a placement on a cluster
    newly_deleted           the placed objects that overrides newly delete
    names_placement         whether an override is for a placement
    unreadable_overrides    the overrides that cannot be read
    check_readable          holds a placement that one of these is for
    pinned_labels           the labels, annotations and properties of clusters that given overrides depend on
    looked_at_beside_labels what of that is no label, for all overrides

Forbidden here: deciding who gets which snapshot, talking to clusters, repeating a value of a patch or an object in an
error. Manifests that nothing patches are the snapshot's own objects, never copies.

Source: kubefleet.md §5; KubeFleet pkg/controllers/workgenerator, pkg/utils/overrider; RFC 6902; decision D20.
"""

from gitfleet.works.compiled import CompiledOverrides
from gitfleet.works.deletions import HeldObjects, deleted_on, newly_deleted, target_overrides
from gitfleet.works.fleet import WorksMemo, render_fleet, state_when_done, works_when_done
from gitfleet.works.matching import (
    References,
    check_readable,
    names_placement,
    overrides_by_cluster,
    overrides_for,
    unreadable_overrides,
)
from gitfleet.works.pinned import looked_at_beside_labels, pinned_labels
from gitfleet.works.render import render_work
from gitfleet.works.unwritten import Unwritten

__all__ = [
    "CompiledOverrides",
    "HeldObjects",
    "References",
    "Unwritten",
    "WorksMemo",
    "check_readable",
    "deleted_on",
    "looked_at_beside_labels",
    "names_placement",
    "newly_deleted",
    "overrides_by_cluster",
    "overrides_for",
    "pinned_labels",
    "render_fleet",
    "render_work",
    "state_when_done",
    "target_overrides",
    "unreadable_overrides",
    "works_when_done",
]
