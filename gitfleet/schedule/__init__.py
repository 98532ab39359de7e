"""schedule: each placement's clusters, with score and reason for every cluster, chosen or refused.

    index_fleet(clusters, now) -> FleetIndex        built once a tick (incrementally), shared by all placements
    schedule(request, fleet, *, profile) -> SchedulingAnswer
    explain(request, fleet, *, profile) -> tuple[ClusterVerdict, ...]

Source: kubefleet.md §2; decisions D4, D5, D27.
"""
