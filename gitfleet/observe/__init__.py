"""observe: live objects = availability, drift, cluster health; one verdict vocabulary.

    availability_of(body) -> Verdict                     one live object
    observe_binding(binding, ClusterSeen(...), now)      what the operations and outcomes of one observation mean for it
    observe_bindings(record, Seen.of(...), now)          the same for all bindings of a placement
    observe_cluster(cluster, observation, now) -> MemberCluster     what one observation means for the member itself
    usable(clusters, observations)                       the observations, less those of one server under two names

Nothing here talks to a cluster or reads a clock. What did not change keeps its times, so that nothing is committed.
Source: kubefleet.md §6, §9; decisions D2, D3, D6, D23, D24.
"""

from gitfleet.observe.availability import availability_of
from gitfleet.observe.bindings import MOST_OBJECTS, ClusterSeen, observe_binding
from gitfleet.observe.clusters import observe_cluster, server_faults, usable
from gitfleet.observe.fleet import Seen, observe_bindings, observe_clusters

__all__ = [
    "MOST_OBJECTS",
    "ClusterSeen",
    "Seen",
    "availability_of",
    "observe_binding",
    "observe_bindings",
    "observe_cluster",
    "observe_clusters",
    "server_faults",
    "usable",
]
