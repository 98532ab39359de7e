"""One real API server under two names: the second member gets nothing and takes nothing away."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from kubernetes.client import CoreV1Api

from gitfleet.adapters.kube import KubeDirectory
from gitfleet.fleet.fanout import Fanout
from gitfleet.observe.texts import ObserveText
from gitfleet.settings import ConnectionRules
from tests import builders
from tests.members.real_fleet import QUICK
from tests.realparts.api_server import ApiServer
from tests.scenarios.world import World


def kubeconfig(path: Path, contexts: dict[str, ApiServer]) -> Path:
    """A kubeconfig with these contexts."""
    merged: dict[str, Any] = {"apiVersion": "v1", "kind": "Config", "clusters": [], "users": [], "contexts": []}
    for name, server in contexts.items():
        one = server.kubeconfig
        merged["clusters"].append({**one["clusters"][0], "name": name})
        merged["users"].append({"name": name, "user": one["users"][0]["user"]})
        merged["contexts"].append({"name": name, "context": {"cluster": name, "user": name}})
    path.touch(mode=0o600)
    path.write_text(json.dumps(merged))
    return path


@pytest.mark.soak("real")
def test_a_second_context_of_one_server_gets_nothing_and_a_new_name_keeps_what_is_there(
    two_clusters: tuple[ApiServer, ApiServer], tmp_path: Path
) -> None:
    east, west = two_clusters
    name = f"same-{uuid4().hex[:8]}"
    path = kubeconfig(tmp_path / "config", {"c1": east, "c2": east, "c3": west, "d1": east})
    directory = KubeDirectory(ConnectionRules(kubeconfig=path), timeouts=QUICK)
    world = World()
    world.driver.clusters.fanout = Fanout(directory=directory, executor=None)

    def members(*names: str) -> list[dict[str, Any]]:
        found = [builders.member_cluster(one, connection={"context": one}) for one in names]
        for one in found:
            one["spec"]["deleteOptions"] = {"propagationPolicy": "Delete"}
        return found

    def namespace(server: ApiServer) -> Any:
        with server.client() as client:
            return CoreV1Api(client).read_namespace(name, _request_timeout=5)

    payload = builders.namespace(name), builders.config_map(name, "settings", {"k": "v"})
    world.commit(
        *members("c1", "c2", "c3"), *payload, builders.placement(name, policy=builders.pick_fixed("c1", "c2", "c3"))
    )
    world.rest()
    with east.client() as client:
        system: Any = CoreV1Api(client).read_namespace("kube-system", _request_timeout=5)
        uid = system.metadata.uid
    state = world.state()
    assert [fault.message for fault in state.faults] == [
        ObserveText.SAME_API_SERVER(cluster="c2", holder="c1", server=uid)
    ]
    assert set(state.inventory) == {"c1", "c3"} and state.clusters["c1"].status.server == uid
    before = namespace(east).metadata.uid
    world.commit(builders.placement(name, policy=builders.pick_fixed("c1", "c3")))
    world.rest()
    world.commit(remove=members("c2"))
    world.rest()
    assert not world.state().faults and set(world.state().inventory) == {"c1", "c3"}
    world.commit(*members("d1"), builders.placement(name, policy=builders.pick_fixed("d1", "c3")), remove=members("c1"))
    world.rest()
    assert set(world.state().inventory) == {"d1", "c3"} and not world.state().faults
    there = namespace(east).metadata
    assert (there.uid, there.deletion_timestamp) == (before, None)
    assert namespace(west).metadata.deletion_timestamp is None
    directory.close()
