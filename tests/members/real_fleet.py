"""A world in memory whose clusters are real API servers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType

from gitfleet.adapters.kube import KubeClient, KubeDirectory, chosen_providers
from gitfleet.adapters.kube.wire import Timeouts
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.fleet import FleetConfig, ListedProvider
from gitfleet.fleet.fanout import Fanout
from gitfleet.settings import ConnectionRules
from gitfleet.wiring.hub import property_providers
from tests.realparts.api_server import ApiServer
from tests.scenarios.world import World

QUICK = Timeouts(connect_seconds=1, read_seconds=1, tries=1, first_pause_seconds=0.05)


class RealFleet(AbstractContextManager["RealFleet"]):
    """ClusterDirectory on API servers, each with its own kubeconfig, with the property providers that are installed."""

    def __init__(self, world: World, servers: Iterable[ApiServer], folder: Path) -> None:
        self.listed: Sequence[ListedProvider] = ()
        installed = property_providers()
        self._directories = {
            server.name: KubeDirectory(
                ConnectionRules(kubeconfig=server.write_kubeconfig(folder / f"{server.name}.kubeconfig")),
                timeouts=QUICK,
                providers=lambda: chosen_providers(self.listed, installed),
                clock=world.clock,
            )
            for server in servers
        }
        world.driver.clusters.fanout = Fanout(directory=self, executor=None)
        world.driver.configure = self.configure

    def configure(self, config: FleetConfig) -> None:
        """Driver.configure."""
        self.listed = config.property_providers

    def client(self, cluster: MemberCluster) -> KubeClient:
        """ClusterDirectory.client."""
        return self._directories[cluster.name].client(cluster)

    def reader(self, cluster: MemberCluster) -> KubeClient:
        """ClusterDirectory.reader."""
        return self.client(cluster)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for directory in self._directories.values():
            directory.close()
