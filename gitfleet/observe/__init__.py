"""observe: live objects = availability, drift, cluster health; one verdict vocabulary.

    availability_of(body) -> Verdict
    observe_binding(binding, work, operations/outcomes, live, now) -> Binding with conditions
    observe_cluster(cluster, answer, now) -> MemberCluster with status

Source: kubefleet.md §6, §9; decisions D2, D3, D24.
"""
