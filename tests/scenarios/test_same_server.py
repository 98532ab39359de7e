"""One API server under two names: the second member gets nothing, and nothing is deleted under the first."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.adapters.kube.observing import Observer
from gitfleet.api.clusters import SERVER
from gitfleet.observe.texts import ObserveText
from tests import builders
from tests.builders import to_yaml
from tests.scenarios.world import World

PAYLOAD = (builders.namespace("web"), builders.config_map("web", "settings", {"k": "v"}))


def cluster(name: str, **metadata: Any) -> str:
    """A member that deletes what is placed when it leaves."""
    body = builders.member_cluster(name)
    body["spec"]["deleteOptions"] = {"propagationPolicy": "Delete"}
    body["metadata"].update(metadata)
    return to_yaml(body)


def world_of(*names: str, aliases: dict[str, str], fixed: bool = True) -> World:
    """A world in which each alias reaches the API server of another member."""
    world = World()
    for alias, name in aliases.items():
        world.fleet.share(name, alias)
    world.write({f"clusters/{name}.yaml": cluster(name) for name in names})
    placement = builders.placement("web", policy=builders.pick_fixed(*names) if fixed else None)
    world.roll_out(*PAYLOAD, placement)
    return world


def server(world: World, name: str) -> str:
    """The UID of a cluster's Namespace kube-system."""
    body = world.body(name, "Namespace", "kube-system")
    return str(body["metadata"]["uid"])


def same(world: World, holder: str, name: str) -> str:
    """The error of a second member."""
    return ObserveText.SAME_API_SERVER(holder=holder, cluster=name, server=server(world, holder))


def faults(world: World) -> dict[str, str]:
    """The errors of members, by object."""
    return {fault.object: fault.message for fault in world.state().faults}


def test_a_second_member_with_the_same_server_gets_nothing_and_takes_nothing_away() -> None:
    world = world_of("c1", "c2", "c3", aliases={"c2": "c1"})
    assert faults(world) == {"MemberCluster/c2": same(world, "c1", "c2")}
    assert set(world.state().inventory) == {"c1", "c3"}
    assert world.state().clusters["c1"].status.server == server(world, "c1") != server(world, "c3")
    assert world.state().clusters["c2"].status.server == ""
    with world.nothing_deleted():
        world.roll_out(builders.placement("web", policy=builders.pick_fixed("c1", "c3")))
        world.roll_out(files={"clusters/c2.yaml": None})
    assert set(world.state().clusters) == set(world.state().inventory) == {"c1", "c3"}
    assert not world.state().faults and not world.state().holds


def test_an_override_for_the_second_member_alone_is_never_written() -> None:
    world = world_of("c1", "c2", aliases={"c2": "c1"})
    rule = builders.override_rule({"op": "replace", "path": "/data/k", "value": "other"}, labels={"alone": "yes"})
    world.write({"clusters/c2.yaml": cluster("c2", labels={"alone": "yes"})})
    world.commit(builders.override("one", "ConfigMap/settings", rule))
    start = len(world.happenings)
    world.settle()
    assert [one for one in world.happenings[start:] if one.what == "apply"] == []


def test_members_that_were_placed_under_both_names_lose_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The state of an older release has what is placed under both names, and no server."""
    with monkeypatch.context() as patched:
        patched.setattr(Observer, "namespaces", lambda _: (None, ""))
        patched.setattr(Observer, "identity", lambda _: None)
        world = world_of("c1", "c2", "c3", aliases={"c2": "c1"})
    assert set(world.state().inventory) == {"c1", "c2", "c3"} and not world.state().faults
    with world.nothing_deleted():
        world.roll_out(builders.placement("web", policy=builders.pick_fixed("c1", "c3")))
        assert faults(world) == {"MemberCluster/c2": same(world, "c1", "c2")}
        assert "c2" in world.bindings("web"), "it leaves with its file"
        world.roll_out(files={"clusters/c2.yaml": None})
        assert faults(world) == {}
    assert set(world.state().clusters) == set(world.state().inventory) == {"c1", "c3"}
    assert world.live("c1", "ConfigMap", "settings") is not None


@pytest.mark.parametrize("fixed", [True, False])
def test_a_member_that_is_named_otherwise_keeps_what_is_there(fixed: bool) -> None:
    world = world_of("c1", "c3", aliases={"d1": "c1"}, fixed=fixed)
    world.roll_out(builders.fleet_config(removals={"maxPercent": 0, "minObjects": 1, "minClusters": 9}))
    uid = (world.live("c1", "Namespace", "web") or {})["metadata"]["uid"]
    with world.nothing_deleted():
        world.write({"clusters/c1.yaml": None, "clusters/d1.yaml": cluster("d1")})
        if fixed:
            world.commit(builders.placement("web", policy=builders.pick_fixed("d1", "c3")))
        world.settle()
    assert set(world.state().clusters) == set(world.state().inventory) == {"d1", "c3"}
    assert (world.live("d1", "Namespace", "web") or {})["metadata"]["uid"] == uid
    assert not world.state().faults and not world.state().holds


def test_a_member_whose_server_changed_waits_for_a_person() -> None:
    world = world_of("c1", "c2", aliases={})
    before = server(world, "c1")
    world.fleet.share("c9", "c1")
    world.restart()
    after = server(world, "c1")
    start = len(world.happenings)
    world.roll_out(builders.config_map("web", "settings", {"k": "new"}))
    changed = ObserveText.API_SERVER_CHANGED(cluster="c1", before=before, server=after, annotation=SERVER)
    assert faults(world) == {"MemberCluster/c1": changed}
    assert {one.cluster for one in world.happenings[start:] if one.what in ("apply", "delete")} == {"c2"}
    assert world.state().clusters["c1"].status.server == before
    world.roll_out(files={"clusters/c1.yaml": cluster("c1", annotations={SERVER: after})})
    assert not world.state().faults
    assert world.state().clusters["c1"].status.server == after
    assert (world.live("c1", "ConfigMap", "settings") or {})["data"] == {"k": "new"}
