"""A step of a workload rollout that its cluster does not carry out: the status says so in the cluster's words, and a
person is asked where trying again cannot help."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from gitfleet.api.conditions import find_condition
from gitfleet.api.workload_records import RollingState
from gitfleet.formats.managed_fields import ROLLOUT_MANAGER
from gitfleet.model.texts import ModelText
from gitfleet.ports.transport import Request, Response
from gitfleet.simulation.cluster import SimulatedCluster
from gitfleet.simulation.refusals import Refused
from gitfleet.workload.texts import WorkloadText
from tests.builders import deployment
from tests.scenarios.pull_world import PullWorld
from tests.scenarios.test_pulled_rollouts import pull_world
from tests.scenarios.test_workload_rollouts import a_world, replicas, rollout, status
from tests.scenarios.world import World

OLD, NEW = deployment("web", "web-1", "web:1", replicas=4), deployment("web", "web-2", "web:2", replicas=4)
SAID = 'deployments.apps "web-2" is forbidden: User "hub" cannot patch it'
FORBIDDEN, BROKEN = Refused(403, "Forbidden", SAID), Refused(500, "InternalError", "etcdserver: no leader")
TO_CHANGE = "Deployment/web/web-2 " + WorkloadText.IS_BE_CHANGED() + ("; " + ModelText.LAST_ATTEMPT_FAILED(why=""))


@contextmanager
def refusing(refusal: Refused) -> Iterator[None]:
    """Let every cluster refuse the steps of rollouts."""
    real = SimulatedCluster.request

    def request(self: SimulatedCluster, asked: Request) -> Response:
        if asked.query.get("fieldManager") == ROLLOUT_MANAGER:
            return Response(refusal.status, refusal.body)
        return real(self, asked)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(SimulatedCluster, "request", request)
        yield


def said(world: World | PullWorld, cluster: str) -> str:
    """What its state waits for."""
    found = status(world, cluster)
    condition = find_condition(found.conditions, found.telling)
    assert condition is not None
    return condition.message


@pytest.mark.parametrize(("refusal", "asks"), [(FORBIDDEN, True), (BROKEN, False)], ids=["forbidden", "broken"])
def test_what_a_cluster_refuses_is_in_the_status(refusal: Refused, asks: bool) -> None:
    world = a_world(OLD)
    with refusing(refusal):
        world.roll_out(NEW, rollout(NEW, OLD, numBatches=2))
        commits = len(world.repo.log("gitfleet/state"))
        result = world.driver.reconcile()
        assert result.settled is asks
        assert said(world, "c1") == f"{TO_CHANGE}{refusal.message}"
        assert any(refusal.message in one for one in result.asks) is asks
        assert len(world.repo.log("gitfleet/state")) == commits, "the same refusal once more is no news"
    world.settle()
    assert status(world).rolling_state is RollingState.SUCCEEDED
    assert (replicas(world, "web-1"), replicas(world, "web-2")) == (0, 4)


def test_what_an_agent_could_not_carry_out_is_in_the_status() -> None:
    world = pull_world(OLD)
    with refusing(FORBIDDEN):
        world.commit(NEW, rollout(NEW, OLD, numBatches=2))
        for _ in range(30):
            world.turn()
            world.advance(seconds=5)
        assert said(world, "shop-1") == f"{TO_CHANGE}{SAID}"
        result = world.driver.reconcile()
        assert any(SAID in one for one in result.asks)
        assert (result.settled, result.waiting) == (True, ()), "the agent has answered"
        world.restart()
        world.turn()
        assert said(world, "shop-1").endswith(SAID), "it stands in the agent's report"
    for _ in range(200):
        world.turn()
        world.advance(seconds=5)
    assert status(world, "shop-1").rolling_state is RollingState.SUCCEEDED
