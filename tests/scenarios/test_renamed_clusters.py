"""A cluster that is renamed in its file, or whose API server another member names too, leaves only after a person's
word: everything on it would be deleted where deleteOptions say so (decision D31)."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.api.holds import ClusterCount, HoldRule
from gitfleet.views.holds import hold_document, hold_sentence
from tests import builders
from tests.builders import to_yaml
from tests.scenarios.test_holds import answer, only_hold
from tests.scenarios.world import World

CLUSTERS = tuple(f"c{number}" for number in range(1, 5))


def cluster(name: str, *, policy: str = "Delete", connection: dict[str, Any] | None = None) -> str:
    """A MemberCluster file."""
    body = builders.member_cluster(name, connection=connection)
    body["spec"]["deleteOptions"] = {"propagationPolicy": policy}
    return to_yaml(body)


def settled(**first: Any) -> World:
    """Four clusters, too few for a share of them to be held, and a placement on all; `first` is how c1 is written."""
    world = World()
    world.write({f"clusters/{name}.yaml": cluster(name, **(first if name == "c1" else {})) for name in CLUSTERS})
    world.commit(
        builders.namespace("web"), builders.config_map("web", "settings", {"k": "v"}), builders.placement("web")
    )
    world.settle()
    assert world.state().faults == () and placed(world) == set(CLUSTERS)
    return world


def placed(world: World) -> set[str]:
    """The clusters that have what is placed."""
    return {name for name in world.fleet.clusters if world.live(name, "ConfigMap", "settings") is not None}


@pytest.mark.parametrize("name", ["c9", "prod-eu", "c11", "cl"])
@pytest.mark.parametrize("policy", ["Delete", "Abandon"])
def test_a_renamed_cluster_leaves_only_after_an_approval(name: str, policy: str) -> None:
    world = settled(policy=policy)
    with world.nothing_deleted():
        world.write({"clusters/c1.yaml": cluster(name, policy=policy)})
        world.settle()
        world.restart()
        world.settle()
    hold = only_hold(world)
    (reason,) = hold.reasons
    counted = {"objects": 2, "unmanaged": 0} if policy == "Delete" else {"objects": 0, "unmanaged": 2}
    assert hold.clusters == (ClusterCount(cluster="c1", **counted),)
    assert ("; 2 stay on clusters that leave the fleet, unmanaged" in hold_sentence(hold_document(hold))) is (
        policy == "Abandon"
    )
    assert (reason.rule, reason.path, reason.line) == (HoldRule.LIKELY_TYPO, "clusters/c1.yaml", 1)
    assert reason.sentence == (
        "the commit takes cluster c1 out of the fleet and has another one in its file: clusters/c1.yaml has "
        f"MemberCluster/{name} in its place"
    )
    assert set(world.state().clusters) == {*CLUSTERS, name} and "c1" in placed(world)
    world.write(answer(hold))
    world.settle()
    assert set(world.state().clusters) == {*CLUSTERS, name} - {"c1"}
    assert ("c1" in placed(world)) is (policy == "Abandon")
    assert not world.state().holds


def test_a_rename_that_is_taken_back_leaves_nothing_behind() -> None:
    world = settled()
    text = cluster("c1")
    world.write({"clusters/c1.yaml": cluster("c9")})
    world.settle()
    assert world.state().holds
    world.write({"clusters/c1.yaml": text})
    world.settle()
    assert set(world.state().clusters) == set(CLUSTERS)
    assert placed(world) == set(CLUSTERS)
    assert not world.state().holds


def test_a_known_cluster_that_takes_the_file_of_another_one_is_a_rename_as_well() -> None:
    world = settled()
    with world.nothing_deleted():
        world.write({"clusters/c1.yaml": cluster("c2"), "clusters/c2.yaml": None})
        world.settle()
    (reason,) = only_hold(world).reasons
    assert "clusters/c1.yaml has MemberCluster/c2 in its place" in reason.sentence


@pytest.mark.parametrize("fresh", [("cc", "dd"), ("cc",), ("ab", "bb")])
def test_clusters_that_have_nothing_may_be_exchanged_for_others_in_their_file(fresh: tuple[str, ...]) -> None:
    world = World()
    labelled = [builders.member_cluster(name, labels={"has": "web"}) for name in CLUSTERS]
    some = builders.placement("web", policy=builders.pick_n(4, match_labels={"has": "web"}))
    world.commit(*labelled, builders.namespace("web"), builders.config_map("web", "settings", {"k": "v"}), some)
    world.commit(builders.fleet_config(massDelete={"maxPercent": 50}))
    world.write({"clusters/all.yaml": "---\n".join(map(cluster, ("aa", "bb")))})
    world.settle()
    assert set(world.state().clusters) == {*CLUSTERS, "aa", "bb"} and placed(world) == set(CLUSTERS)
    with world.nothing_deleted():
        world.write({"clusters/all.yaml": "---\n".join(map(cluster, fresh))})
        world.settle()
    assert (set(world.state().clusters), world.state().holds) == ({*CLUSTERS, *fresh}, {})


def test_files_that_move_and_clusters_that_are_merely_removed_or_added_are_not_renames() -> None:
    world = settled()
    everything = "---\n".join(cluster(name) for name in CLUSTERS[1:])
    gone = {f"clusters/{name}.yaml": None for name in CLUSTERS[1:]}
    with world.nothing_deleted():
        world.write({**gone, "clusters/all.yaml": everything})
        world.settle()
    assert not world.state().holds
    world.write(
        {"clusters/all.yaml": "---\n".join(cluster(name) for name in CLUSTERS[2:]), "clusters/c5.yaml": cluster("c5")}
    )
    world.settle()
    assert not world.state().holds
    assert set(world.state().clusters) == {"c1", "c3", "c4", "c5"} and "c2" not in placed(world)


SERVERS: dict[str, dict[str, Any]] = {
    "context": {"context": "kind-one"},
    "kubeconfig file": {"kubeconfig": {"file": "one.yaml"}},
    "kubeconfig secret": {"kubeconfig": {"secret": {"namespace": "fleet", "name": "one"}}},
    "inCluster": {"inCluster": True},
}


@pytest.mark.parametrize("way", SERVERS)
def test_a_cluster_whose_api_server_another_member_names_leaves_only_after_an_approval(way: str) -> None:
    world = settled(connection=SERVERS[way])
    other = cluster("prod", connection=SERVERS[way])
    with world.nothing_deleted():
        world.write({"clusters/c1.yaml": None, "clusters/prod.yaml": other})
        world.settle()
    hold = only_hold(world)
    (reason,) = hold.reasons
    assert (reason.rule, reason.path) == (HoldRule.LIKELY_TYPO, "clusters/c1.yaml")
    assert reason.sentence == (
        "the commit takes cluster c1 out of the fleet, and clusters/prod.yaml names the same connection for cluster "
        "prod, so what c1 has would be deleted under it: clusters/c1.yaml was removed"
    )
    world.write(answer(hold))
    world.settle()
    assert "c1" not in world.state().clusters


def test_a_cluster_that_was_added_earlier_under_the_same_connection_counts_as_well() -> None:
    world = settled(connection=SERVERS["context"])
    with world.nothing_deleted():
        world.write({"clusters/prod.yaml": cluster("prod", connection=SERVERS["context"])})
        world.settle()
        world.write({"clusters/c1.yaml": None})
        world.settle()
    assert "names the same connection for cluster prod" in str(only_hold(world).reasons[0])


def test_what_is_abandoned_may_go_to_another_member() -> None:
    """The new member takes over what stays."""
    world = settled(policy="Abandon", connection=SERVERS["context"])
    with world.nothing_deleted():
        world.write({"clusters/c1.yaml": None, "clusters/prod.yaml": cluster("prod", connection=SERVERS["context"])})
        world.settle()
    assert not world.state().holds
    assert "c1" not in world.state().clusters


def test_taking_a_rename_back_asks_before_the_same_api_server_is_cleared_under_the_old_name() -> None:
    world = settled(connection=SERVERS["context"])
    with world.nothing_deleted():
        for name in ("prod", "c1"):
            world.write({"clusters/c1.yaml": cluster(name, connection=SERVERS["context"])})
            world.settle()
    (reason,) = only_hold(world).reasons
    assert "names the same connection for cluster c1, so what prod has would be deleted under it" in reason.sentence
