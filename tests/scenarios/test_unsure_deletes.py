"""Nothing is deleted on a cluster of which gitfleet is not sure: that is silent, whose lists fail half way, whose login
has expired, or behind whose address another server stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from gitfleet.adapters.kube import KubeDirectory
from gitfleet.errors import NoResponse
from gitfleet.loop.driver import Driver
from gitfleet.ports.transport import Request, Response
from gitfleet.simulation.cluster import SimulatedCluster
from tests import builders
from tests.adapters.kube.test_strange_servers import QUICK
from tests.scenarios.world import World

SETTINGS = builders.config_map("web", "settings", {"a": "1"})
KEPT = builders.config_map("web", "kept", {"a": "1"})
Fault = Callable[[World, Request], Response]


def error(status: int, reason: str) -> Response:
    """What an API server says when it refuses."""
    return Response(
        status, {"kind": "Status", "status": "Failure", "code": status, "reason": reason, "message": reason}
    )


def silent(_world: World, request: Request) -> Response:
    raise NoResponse(f"{request.path} timed out", passing=True)


def half_a_list(world: World, request: Request) -> Response:
    """The first page comes without items, and the next one never."""
    if request.method != "GET" or "configmaps" not in request.path:
        return world.fleet.cluster("c1").request(request)
    if "continue" in request.query or request.path.rpartition("/")[2] != "configmaps":
        return error(500, "InternalError")
    whole = world.fleet.cluster("c1").request(request).json()
    return Response(200, {**whole, "items": [], "metadata": {**whole["metadata"], "continue": "more"}})


def refuses(status: int, reason: str) -> Fault:
    return lambda world, request: error(status, reason)


PAGE = Response(404, b"<html>404 page not found</html>")


def no_object(found: Response, *paths: str) -> Fault:
    """A proxy that answers for health and kinds, and does not find the objects, nor these paths."""

    def answer(world: World, request: Request) -> Response:
        lost = request.path in paths or "/configmaps" in request.path
        return found if lost else world.fleet.cluster("c1").request(request)

    return answer


def another(manager: str) -> Fault:
    """Another server has objects of the same names."""

    def answer(world: World, request: Request) -> Response:
        server = world.fleet.cluster("another")
        if not server.objects():
            for body in (builders.namespace("web"), SETTINGS, KEPT):
                server.apply_by_hand(body, manager=manager)
        return server.request(request)

    return answer


FAULTS: dict[str, Fault] = {
    "silent": silent,
    "half a list": half_a_list,
    "the token has expired": refuses(401, "Unauthorized"),
    "the rights are gone": refuses(403, "Forbidden"),
    "nothing is found": refuses(404, "NotFound"),
    "nothing is found on a page": lambda world, request: PAGE,
    "no object is found": no_object(error(404, "NotFound")),
    "no object is found on a page": no_object(PAGE),
    "no kind is found on a page": no_object(PAGE, "/apis", "/api/v1"),
    "empty responses": lambda world, request: Response(200, {}),
    "a server error": refuses(503, "ServiceUnavailable"),
    "another server, made by others": another("kubectl"),
    "another server, made by gitfleet": another("gitfleet"),
}


@dataclass(slots=True)
class Line:
    """What carries the requests for c1; faulty while `fault` is set."""

    world: World
    fault: Fault | None = None

    @property
    def server(self) -> str:
        return "https://c1.simulated.invalid"

    def request(self, request: Request) -> Response:
        return self.fault(self.world, request) if self.fault else self.world.fleet.cluster("c1").request(request)

    def close(self) -> None:
        """There is no connection."""


def settled() -> tuple[World, Line]:
    """Two clusters with a Namespace and two ConfigMaps, the first of them over a line of ours."""
    world = World()
    line = Line(world)

    def route(driver: Driver) -> None:
        def transport(name: str) -> Line | SimulatedCluster:
            return line if name == "c1" else world.fleet.cluster(name)

        directory = KubeDirectory(parallel=1, timeouts=QUICK, transports=lambda member: transport(member.name))
        driver.clusters.fanout = replace(driver.clusters.fanout, directory=directory)

    world.start_with = route
    world.restart()
    members = [builders.member_cluster(name) for name in ("c1", "c2")]
    strategy = builders.rolling_update(maxUnavailable="100%")
    world.roll_out(*members, builders.namespace("web"), SETTINGS, KEPT, builders.placement("web", strategy=strategy))
    assert has(world, "c1") == has(world, "c2") == {"kept", "settings"}
    return world, line


def has(world: World, cluster: str) -> set[str]:
    return {live.key.name for live in world.fleet.cluster(cluster).objects() if live.key.kind == "ConfigMap"}


@pytest.mark.parametrize("restarts", [False, True], ids=["known", "restarted"])
@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_not_seen_for_certain_is_not_deleted(fault: str, restarts: bool) -> None:
    world, line = settled()
    line.fault = FAULTS[fault]
    world.commit(remove=[SETTINGS])
    if restarts:
        world.restart()
    start = len(world.happenings)
    world.settle()
    deleted = {(one.cluster, one.key.name) for one in world.happenings[start:] if one.what == "delete"}
    assert deleted == {("c2", "settings")}
    assert has(world, "c1") == {"kept", "settings"}
    line.fault = None
    world.settle()
    assert has(world, "c2") == {"kept"}
    assert has(world, "c1") == {"kept"}, "nothing is believed of another server"
