"""One API server under two names: a cluster's identity is that of its server, the UID of its Namespace kube-system.

Two members with the same server would undo each other's changes, and what leaves one would be deleted under the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gitfleet.api.clusters import SERVER, MemberCluster
from gitfleet.api.faults import Fault
from gitfleet.api.strategies import DeletePropagation
from gitfleet.model.observations import ClusterObservation
from gitfleet.observe.texts import ObserveText


def usable(
    accepted: Mapping[str, MemberCluster], observations: Mapping[str, ClusterObservation]
) -> dict[str, ClusterObservation]:
    """The observations, where a member whose server another one has, or whose server is not the one that it had, counts
    as not reachable. The member that had the server first keeps it; of two new ones, one that gitfleet reaches itself
    (an agent may say what it likes), then the first by name."""
    holders: dict[str, str] = {}
    for name, cluster in sorted(accepted.items()):
        if cluster.deleting is None and cluster.status.server:
            holders.setdefault(cluster.status.server, name)
    found = dict(observations)
    for name, cluster in sorted(accepted.items(), key=lambda item: (item[1].is_pulled, item[0])):
        observation, before = observations.get(name), cluster.status.server
        if observation is None or not observation.server:
            continue
        server = observation.server
        if before not in ("", server) and cluster.annotations.get(SERVER) != server:
            why = ObserveText.API_SERVER_CHANGED(cluster=name, before=before, server=server, annotation=SERVER)
            found[name] = _refused(observation, name, why)
        elif cluster.deleting is None and (holder := holders.setdefault(server, name)) != name:
            why = ObserveText.SAME_API_SERVER(cluster=name, holder=holder, server=server)
            found[name] = _refused(observation, holder, why)
    return found


def _refused(observation: ClusterObservation, holder: str, why: str) -> ClusterObservation:
    return ClusterObservation(
        cluster=observation.cluster, reachable=False, error=why, observed=observation.observed, refused=holder
    )


def server_faults(
    written: Mapping[str, MemberCluster], observations: Mapping[str, ClusterObservation]
) -> tuple[Fault, ...]:
    """An error for each member that is not used, unless it only waits until another one has left the fleet."""
    found: list[Fault] = []
    for name, cluster in written.items():
        observation = observations.get(name)
        if observation is not None and observation.refused in written and cluster.origin is not None:
            place = cluster.origin.path, cluster.origin.line
            found.append(Fault(*place, f"MemberCluster/{name}", "spec.connection", observation.error))
    return tuple(found)


def with_kept_objects(clusters: dict[str, MemberCluster]) -> dict[str, MemberCluster]:
    """The members, of which one that leaves deletes nothing where another one stays that has the same server: it was
    renamed, and the other one takes over what is there. What an agent says of its server counts for itself alone."""
    if all(cluster.deleting is None for cluster in clusters.values()):
        return clusters
    stay = (cluster for cluster in clusters.values() if cluster.deleting is None and not cluster.is_pulled)
    staying = {cluster.status.server for cluster in stay} - {""}
    return {
        name: replace(cluster, delete_propagation_policy=DeletePropagation.ABANDON)
        if cluster.deleting is not None and cluster.status.server in staying
        else cluster
        for name, cluster in clusters.items()
    }
