"""A member's life on real API servers: it joins, falls silent, comes back, and leaves cleared or not."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

from kubernetes.client import ApiException, RbacAuthorizationV1Api

from gitfleet.adapters.texts import AdaptersText
from gitfleet.api.conditions import find_condition
from tests import builders
from tests.members.plays import place_role
from tests.members.real_fleet import RealFleet
from tests.realparts.api_server import ApiServer
from tests.scenarios.world import World


def member(name: str, leave: str = "Abandon") -> dict[str, Any]:
    body = builders.member_cluster(name, connection={"context": name})
    body["spec"]["deleteOptions"] = {"propagationPolicy": leave}
    body["metadata"]["annotations"] = {"gitfleet.dev/allow-empty": "true"}
    return body


def has_role(server: ApiServer, name: str) -> bool:
    with server.client() as client:
        try:
            RbacAuthorizationV1Api(client).read_cluster_role(name, _request_timeout=5)
        except ApiException as error:
            assert error.status == 404
            return False
    return True


def test_a_cluster_joins_falls_silent_comes_back_and_leaves(
    two_clusters: tuple[ApiServer, ApiServer], tmp_path: Path
) -> None:
    east, west = two_clusters
    first, late = (f"{name}-{uuid4().hex[:8]}" for name in ("first", "late"))
    world = World()
    with RealFleet(world, two_clusters, tmp_path):
        world.commit(member("east"), member("west", leave="Delete"), *place_role(first))
        world.rest()
        assert set(world.bindings(first)) == {"east", "west"}
        assert has_role(east, first) and has_role(west, first)
        status = world.state().clusters["east"].status
        assert {c.type: str(c.status) for c in status.conditions} == {
            "ReadyToJoin": "True",
            "Joined": "True",
            "ClusterPropertyProviderStarted": "True",
            "ClusterPropertyCollectionSucceeded": "True",
        }
        assert status.properties["k8s.io/cluster-entrypoint"].value == east.url
        assert status.agent is not None and status.agent.last_received_heartbeat == world.clock.now()

        # Silent for more than five minutes: it keeps what it has and gets nothing new.
        east.freeze()
        try:
            world.rest()
            world.advance(minutes=6)
            world.commit(*place_role(late))
            world.rest()
        finally:
            east.thaw()
        assert set(world.bindings(first)) == {"east", "west"}
        assert set(world.bindings(late)) == {"west"}
        agent = world.state().clusters["east"].status.agent
        healthy = find_condition(agent.conditions, "Healthy") if agent else None
        assert healthy is not None and healthy.reason == "ClusterUnreachable"
        assert AdaptersText.NO_RESPONSE_WITHIN(seconds=1) in healthy.message

        # Back again, it catches up.
        world.rest()
        assert set(world.bindings(late)) == {"east", "west"}
        assert has_role(east, late)

        # Both leave: east keeps its objects, and it is said how many; west is cleared.
        world.events.clear()
        world.commit(remove=[member("east"), member("west")])
        world.rest()
    assert has_role(east, first) and has_role(east, late)
    assert not has_role(west, first) and not has_role(west, late)
    state = world.state()
    assert not state.clusters and not state.inventory
    left = {e.cluster: e.fields.get("objects") for e in world.events if e.fields.get("state") == "left"}
    assert left == {"east": 2, "west": None}
    with east.client() as client:
        for name in (first, late):
            RbacAuthorizationV1Api(client).delete_cluster_role(name)
