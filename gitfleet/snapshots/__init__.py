"""snapshots: selected resources, policies and overrides become immutable, hashed, numbered snapshots.

    take_snapshots(placement, payload_index, record, *, commit, now, in_use) -> SnapshotAnswer
    index_payload(desired) -> PayloadIndex          built once a commit, shared by all placements

Source: kubefleet.md §4; decisions D16, D17, D19, D20, D22, D26.
"""
