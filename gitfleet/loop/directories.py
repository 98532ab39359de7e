"""Which client serves which cluster, by the connection in its MemberCluster file."""

from __future__ import annotations

from dataclasses import dataclass

from gitfleet.api.clusters import Connection, MemberCluster
from gitfleet.errors import BadInput
from gitfleet.loop.pull_clusters import PullClusters
from gitfleet.loop.texts import LoopText
from gitfleet.ports.clusters import ClusterClient, ClusterDirectory, ClusterReader


@dataclass(frozen=True, slots=True, kw_only=True)
class ByConnection:
    """ClusterDirectory that leads to real or simulated clusters. A cluster without connection is an error unless
    `simulate_unconnected` (demo); with `all_simulated` no real cluster is ever asked (`plan --clusters simulated`)."""

    real: ClusterDirectory
    simulated: ClusterDirectory
    pull: PullClusters | None = None
    all_simulated: bool = False
    simulate_unconnected: bool = False

    def reader(self, cluster: MemberCluster) -> ClusterReader:
        """ClusterDirectory.reader; BadInput for a cluster that nobody can reach."""
        return self._chosen(cluster).reader(cluster)

    def client(self, cluster: MemberCluster) -> ClusterClient:
        """ClusterDirectory.client; BadInput for a cluster that nobody can reach."""
        return self._chosen(cluster).client(cluster)

    def close(self) -> None:
        """Let all connections go."""
        for directory in (self.real, self.simulated):
            close = getattr(directory, "close", None)
            if close is not None:
                close()

    def _chosen(self, cluster: MemberCluster) -> ClusterDirectory:
        connection = cluster.connection
        if self.all_simulated or (connection is not None and connection.simulated):
            return self.simulated
        if connection is None or connection == Connection():
            if self.simulate_unconnected:
                return self.simulated
            where = f"{cluster.origin}: " if cluster.origin else ""
            raise BadInput(
                LoopText.MEMBERCLUSTER_NO_CONNECTION(where=where, cluster=cluster.name),
                hint=LoopText.GIVE_SPEC_CONNECTION_CONTEXT(),
            )
        if cluster.is_pulled:
            if self.pull is None:
                raise BadInput(LoopText.REACHED_OWN_AGENT(cluster=cluster.name))
            return self.pull
        return self.real
