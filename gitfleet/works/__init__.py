"""works: snapshot + overrides for a cluster = the exact manifests.

    render_work(binding, snapshot, overrides, cluster) -> Work
    render_fleet(state, memo, failures) -> {cluster: works}, memo      the whole fleet, each work only when it changed
    state_when_done(state, overrides, rolling, failures), works_when_done(...)         when the rollouts are through
    overrides_for(placement, snapshot, overrides, cluster) -> (cluster-wide references, namespaced references)
    overrides_by_cluster(placement, snapshot, overrides, clusters) -> the same for many clusters at once
    target_overrides(record, overrides, clusters, held) -> the same with their labels, as they were where that is held
    newly_deleted(before, clusters, overrides, failures) -> the placed objects that overrides newly delete
    unreadable_overrides(overrides, failures), check_readable(bindings, unreadable)    what holds a placement
    pinned_labels(references, overrides, clusters) -> the labels that these overrides depend on, by cluster

Forbidden here: deciding who gets which snapshot, talking to clusters, repeating a value of a patch or an object in an
error. Manifests that nothing patches are the snapshot's own objects, never copies.

Source: kubefleet.md §5; KubeFleet pkg/controllers/workgenerator, pkg/utils/overrider; RFC 6902; decision D20.
"""

from gitfleet.works.compiled import CompiledOverrides
from gitfleet.works.deletions import HeldObjects, newly_deleted, target_overrides
from gitfleet.works.fleet import WorksMemo, render_fleet, state_when_done, works_when_done
from gitfleet.works.matching import (
    References,
    check_readable,
    overrides_by_cluster,
    overrides_for,
    unreadable_overrides,
)
from gitfleet.works.pinned import pinned_labels
from gitfleet.works.render import render_work

__all__ = [
    "CompiledOverrides",
    "HeldObjects",
    "References",
    "WorksMemo",
    "check_readable",
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
