"""snapshots: selected resources, policies and overrides become immutable, hashed, numbered snapshots.

    index_of                   the payload indexed once a commit, shared by all placements
    take_snapshots             a placement's next snapshots
    select                     what a placement selects, in snapshot order
    restore_snapshot           the manifests of a snapshot that was read back
    take_override_snapshots    the next snapshots of every override
    current_overrides          the newest snapshot of each override that is there
    references_of              the override snapshots that any binding names
    strip                      a manifest as it goes into a snapshot

Forbidden here: choosing clusters, patching manifests, reading files. Same inputs, same snapshots.

Source: kubefleet.md §4; KubeFleet pkg/utils/controller/resource_selector_resolver.go; decisions D16, D17, D19, D20,
D22, D26.
"""

from gitfleet.snapshots.index import PayloadIndex, PayloadMemo, index_of
from gitfleet.snapshots.override_snapshots import current_overrides, references_of, take_override_snapshots
from gitfleet.snapshots.selection import select
from gitfleet.snapshots.strip import strip
from gitfleet.snapshots.take import Retained, restore_snapshot, take_snapshots

__all__ = [
    "PayloadIndex",
    "PayloadMemo",
    "Retained",
    "current_overrides",
    "index_of",
    "references_of",
    "restore_snapshot",
    "select",
    "strip",
    "take_override_snapshots",
    "take_snapshots",
]
