"""More clusters hang than can be asked in one pass: the others are served, and nobody is called silent unasked."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from threading import Event

import pytest

from gitfleet.adapters.kube import KubeDirectory
from gitfleet.errors import NoResponse
from gitfleet.loop.driver import Driver
from gitfleet.ports.transport import Request, Response
from gitfleet.status import cluster_state
from gitfleet.status.cluster_states import ClusterState
from tests import builders
from tests.scenarios.world import World

HANGING = [f"a{number}" for number in range(9)]
ANSWERING = ["b1", "b2"]
SECONDS, TIMEOUT = 0.25, 0.7


@dataclass
class Hangs:
    """Accepts a connection and says nothing, until the client gives up."""

    asked: list[str] = field(default_factory=list)
    server: str = "http://hanging"

    def request(self, request: Request) -> Response:
        self.asked.append(request.path)
        Event().wait(SECONDS)
        raise NoResponse(f"no response within {SECONDS:g} s", passing=False)

    def close(self) -> None:
        """Nothing to let go."""


@pytest.fixture
def executor() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as pool:
        yield pool


def test_clusters_that_hang_starve_no_others(executor: ThreadPoolExecutor) -> None:
    world, hanging = World(), {name: Hangs() for name in HANGING}

    def route(driver: Driver) -> None:
        directory = KubeDirectory(transports=lambda c: hanging.get(c.name) or world.fleet.cluster(c.name))
        driver.clusters.fanout = replace(
            driver.clusters.fanout, directory=directory, executor=executor, timeout=TIMEOUT
        )

    world.start_with = route
    world.restart()
    names = [*HANGING, *ANSWERING]
    strategy = builders.rolling_update(maxUnavailable="100%")
    web = [builders.namespace("web"), builders.deployment("web", "web"), builders.placement("web", strategy=strategy)]
    world.commit(*(builders.member_cluster(name) for name in names), *web)
    for _ in names:
        result = world.driver.reconcile()
        states = {name: cluster_state(world.state().clusters[name]) for name in HANGING}
        assert states == {
            name: ClusterState.NOT_JOINED if hanging[name].asked else ClusterState.NOT_SEEN for name in HANGING
        }
        if {world.image(name) for name in ANSWERING} == {"web:1"} and all(h.asked for h in hanging.values()):
            break
        assert result.waiting and not result.settled, "whoever was not asked is waited for"
    for image in ("web:2", "web:3"):
        world.commit(builders.deployment("web", "web", image=image))
        world.reconcile()
        assert [world.image(name) for name in ANSWERING] == [image] * 2, "in one pass, whatever the others do"
