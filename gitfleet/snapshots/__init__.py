"""snapshots: selected resources, policies and overrides become immutable, hashed, numbered snapshots.

    index_payload              the payload indexed once a commit, shared by all placements
    index_of                   the same, kept while the commit stays
    take_snapshots             a placement's next snapshots
    select                     what a placement selects, in snapshot order
    restore_snapshot           the manifests of a snapshot that was read back
    take_override_snapshots    the next snapshots of every override
    current_overrides          the newest snapshot of each override that is there
    references_of              the override snapshots that any binding names
    is_propagated, strip, snapshot_order    the rules one by one

Forbidden here: choosing clusters, patching manifests, reading files. Same inputs, same snapshots.

Source: kubefleet.md §4; KubeFleet pkg/utils/controller/resource_selector_resolver.go; decisions D16, D17, D19, D20,
D22, D26.
"""

from gitfleet.api.objects import Identity
from gitfleet.snapshots.index import PayloadIndex, PayloadMemo, index_of, index_payload, is_propagated, snapshot_order
from gitfleet.snapshots.override_snapshots import current_overrides, references_of, take_override_snapshots
from gitfleet.snapshots.selection import Selection, UserError, select
from gitfleet.snapshots.strip import strip
from gitfleet.snapshots.take import (
    Retained,
    SnapshotResult,
    restore_snapshot,
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
    "select",
    "snapshot_order",
    "strip",
    "take_override_snapshots",
    "take_snapshots",
]
