"""snapshots: selected resources, policies and overrides become immutable, hashed, numbered snapshots.

    index_payload(payload, namespaced) -> PayloadIndex        built once a commit, shared by all placements
    index_of(desired, memo, failures) -> PayloadIndex, memo   the same, kept while the commit stays
    take_snapshots(placement, index, record, *, commit, now, retain) -> SnapshotResult
    select(placement, index) -> Selection                     what a placement selects, in snapshot order
    restore_snapshot(snapshot, documents) -> ResourceSnapshot the manifests of one that was read back
    restored_policy(placement, index) -> PolicySnapshot       the present policy in the place of a lost snapshot
    take_override_snapshots(overrides, known, *, in_use) -> {key: snapshots}
    current_overrides(overrides, snapshots) -> tuple[OverrideSnapshot, ...]
    references_of(state, failures) -> the override snapshots that any binding names
    is_propagated, strip, snapshot_order, split_by_size: the rules one by one

Forbidden here: choosing clusters, patching manifests, reading files. Same inputs, same snapshots.

Source: kubefleet.md §4; KubeFleet pkg/utils/controller/resource_selector_resolver.go; decisions D16, D17, D19, D20,
D22, D26.
"""

from gitfleet.snapshots.index import PayloadIndex, PayloadMemo, index_of, index_payload
from gitfleet.snapshots.order import snapshot_order
from gitfleet.snapshots.override_snapshots import current_overrides, references_of, take_override_snapshots
from gitfleet.snapshots.propagation import is_propagated
from gitfleet.snapshots.selection import Selection, UserError, select
from gitfleet.snapshots.strip import strip
from gitfleet.snapshots.take import (
    Identity,
    Retained,
    SnapshotResult,
    restore_snapshot,
    restored_policy,
    split_by_size,
    take_snapshots,
)

__all__ = [
    "Identity",
    "PayloadIndex",
    "PayloadMemo",
    "Retained",
    "Selection",
    "SnapshotResult",
    "UserError",
    "current_overrides",
    "index_of",
    "index_payload",
    "is_propagated",
    "references_of",
    "restore_snapshot",
    "restored_policy",
    "select",
    "snapshot_order",
    "split_by_size",
    "strip",
    "take_override_snapshots",
    "take_snapshots",
]
