"""works: snapshot + overrides for a cluster = the exact manifests.

    render_work(binding, snapshot, overrides, cluster) -> Work
    overrides_for(snapshot, placement, override_snapshots) -> the override snapshots that concern a snapshot's objects

Source: kubefleet.md §5.
"""
