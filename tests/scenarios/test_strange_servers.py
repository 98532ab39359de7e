"""One cluster of several is answered for by something that is no API server: the others are served in the same pass."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from gitfleet.adapters.kube import KubeDirectory
from gitfleet.adapters.kube.http_transport import HttpTransport
from gitfleet.adapters.kube.logins import Endpoint, FixedLogin, Login
from gitfleet.loop.driver import Driver
from gitfleet.status import health_condition
from tests import builders
from tests.adapters.kube.test_strange_servers import QUICK, STRANGE, answering
from tests.scenarios.world import World

CLUSTERS = ("c1", "c2", "c3", "c4")
STRANGER = "c2"


def world_with(address: str, executor: ThreadPoolExecutor) -> World:
    """Simulated clusters, but one that is reached by HTTP at an address."""
    world = World()

    def route(driver: Driver) -> None:
        strange = HttpTransport(Endpoint(server=address), FixedLogin(Login()), timeouts=QUICK)
        directory = KubeDirectory(
            parallel=2,
            timeouts=QUICK,
            transports=lambda cluster: strange if cluster.name == STRANGER else world.fleet.cluster(cluster.name),
        )
        driver.clusters.fanout = replace(driver.clusters.fanout, directory=directory, executor=executor)

    world.start_with = route
    world.restart()
    return world


def images(world: World) -> list[str | None]:
    """What runs on the clusters that are sound."""
    return [world.image(name) for name in CLUSTERS if name != STRANGER]


@pytest.fixture(scope="module")
def executor() -> Iterator[ThreadPoolExecutor]:
    pool = ThreadPoolExecutor(len(CLUSTERS))
    yield pool
    pool.shutdown(wait=False)


@pytest.mark.parametrize("name", ["HTML", "100 MB", "drips", "drips its headers", "hangs after headers"])
def test_the_others_are_served_in_the_same_pass(name: str, executor: ThreadPoolExecutor) -> None:
    first, body, manner, reason = STRANGE[name]
    with answering(first, body, **manner) as address:
        world = world_with(address, executor)
        strategy = builders.rolling_update(maxUnavailable="100%")
        world.commit(
            *(builders.member_cluster(cluster) for cluster in CLUSTERS),
            builders.namespace("web"),
            builders.deployment("web", "web"),
            builders.placement("web", strategy=strategy),
        )
        world.reconcile()
        assert images(world) == ["web:1"] * 3
        condition = health_condition(world.state().clusters[STRANGER])
        assert condition is not None and reason in condition.message, condition
        world.clock.advance(60)
        world.commit(builders.deployment("web", "web", image="web:2"))
        world.reconcile()
        assert images(world) == ["web:2"] * 3
    assert STRANGER not in world.bindings("web")
