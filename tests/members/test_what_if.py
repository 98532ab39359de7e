"""What-if: `plan` and `simulate` as if clusters were added, gone or cordoned; and what a commit moves, and why."""

from __future__ import annotations

import re
from typing import Any

import pytest

from gitfleet.api.objects import JsonObject
from gitfleet.branches.desired_trees import CORDON, WhatIf
from gitfleet.branches.texts import BranchesText
from gitfleet.errors import BadInput
from gitfleet.schedule.texts import ScheduleText
from gitfleet.views.plan_document import has_changes
from gitfleet.views.plan_moves import moves_sentence
from gitfleet.views.texts import ViewsText
from tests import builders
from tests.members.plays import member, pick_all, place_role, play_bodies
from tests.scenarios.explaining import open_workspace
from tests.scenarios.world import World
from tests.texts import part

NOTHING = WhatIf()
US_1_LEAVES = ViewsText.FLEET(names="us-1", verb="leaves")
PAIR = {"placementType": "PickN", "numberOfClusters": 2}


def a_world(*more: JsonObject) -> World:
    """Three production clusters with PickAll and PickN, at rest."""
    world = World()
    clusters = [member(name, env="prod", region=name[:2]) for name in ("eu-1", "eu-2", "us-1")]
    world.roll_out(*clusters, *place_role("all", policy=pick_all(env="prod")), *place_role("pair", policy=PAIR), *more)
    return world


def plan(world: World, what_if: WhatIf = NOTHING, *, rev: str | None = None, base: str | None = None) -> dict[str, Any]:
    workspace = open_workspace(world.repo, world.fleet, world.clock, "simulated")
    return workspace.plan(rev, base, what_if)


def moves(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {p["name"]: p["moves"] for p in document["placements"]}


def no_move() -> dict[str, Any]:
    return {"leave": [], "held": [], "join": [], "because": ""}


def extra(*clusters: JsonObject) -> tuple[tuple[str, bytes], ...]:
    return (("new.yaml", builders.to_yaml(*clusters).encode()),)


# The options


def test_without_a_cluster_everything_on_it_goes_elsewhere() -> None:
    world = a_world()
    before = world.state_commits()
    document = plan(world, WhatIf(without=("us-1",)))
    assert moves(document) == {
        "all": {"leave": ["us-1"], "held": [], "join": [], "because": US_1_LEAVES},
        "pair": {
            "leave": ["us-1"],
            "held": [],
            "join": ["eu-1"],
            "because": f"{US_1_LEAVES} and PickN finds a replacement",
        },
    }
    assert has_changes(document)
    assert world.state_commits() == before  # nothing is written
    assert world.live("us-1", "ClusterRole", "all") is not None


def test_with_more_clusters_pick_all_grows_and_pick_n_does_not() -> None:
    document = plan(a_world(), WhatIf(extra=extra(member("us-2", env="prod"), member("us-3", env="test"))))
    assert moves(document) == {
        "all": {"leave": [], "held": [], "join": ["us-2"], "because": ViewsText.FLEET(names="us-2", verb="joins")},
        "pair": no_move(),
    }


def test_a_cordoned_cluster_keeps_what_it_has_and_gets_nothing_new() -> None:
    world = a_world()
    assert not has_changes(plan(world, WhatIf(cordon=("us-1",))))
    world.commit(*place_role("late"))
    document = plan(world, WhatIf(cordon=("us-1",)))
    assert moves(document)["late"]["join"] == ["eu-1", "eu-2"]
    late = next(p for p in document["placements"] if p["name"] == "late")
    (refused,) = [row for row in late["clusters"] if not row["selected"]]
    assert (refused["clusterName"], refused["refusedBy"]) == ("us-1", "TaintToleration")
    assert ScheduleText.TAINT_KEY_VALUE(taint=CORDON.key, taint_2="", effect="NoSchedule") in refused["reason"]


@pytest.mark.parametrize("what_if", [WhatIf(without=("nowhere",)), WhatIf(cordon=("region=mars",))])
def test_what_chooses_no_cluster_is_a_mistake(what_if: WhatIf) -> None:
    with pytest.raises(BadInput, match=re.escape(part(BranchesText.CHOOSES_NO_CLUSTER))):
        plan(a_world(), what_if)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"kind: MemberCluster\napiVersion: cluster.kubernetes-fleet.io/v1\n", "metadata"),
        (b"a: [", "new.yaml"),
        (b"apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n", part(BranchesText.HOLDS_NO_MEMBERCLUSTER)),
        (b"", part(BranchesText.HOLDS_NO_MEMBERCLUSTER)),
    ],
)
def test_a_file_of_extra_clusters_must_hold_some(content: bytes, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        plan(a_world(), WhatIf(extra=(("new.yaml", content),)))
    assert said in str(refused.value)


def test_an_extra_file_stands_in_for_the_cluster_that_is_there() -> None:
    """A cluster of the same name is that cluster with another file: here, with other labels."""
    document = plan(a_world(), WhatIf(extra=extra(member("eu-1", env="test"))))
    assert moves(document) == {"all": no_move(), "pair": no_move()}


def test_simulate_takes_the_same_options() -> None:
    bodies = [member("a"), member("b"), *place_role("r"), *place_role("one", policy={**PAIR, "numberOfClusters": 1})]
    played = play_bodies(bodies, what_if=WhatIf(without=("b",), extra=extra(member("c"), member("d")), cordon=("d",)))
    assert played.placed("r") == {"a", "c"}
    assert played.placed("one") == {"c"}
    assert set(played.state.clusters) == {"a", "c", "d"}


# What a commit moves


COMMITS: dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]], dict[str, tuple[list[str], list[str], str]]]] = {
    "a label": (
        [member("st-1", env="prod")],
        [],
        {"all": ([], ["st-1"], ViewsText.BECOME_ELIGIBLE(names="st-1", verb="has"))},
    ),
    "more": (
        place_role("pair", policy={**PAIR, "numberOfClusters": 3}),
        [],
        {
            "pair": (
                [],
                ["eu-2"],
                ViewsText.NUMBEROFCLUSTERS_IS_AND_WAS(number_of_clusters="3", number_of_clusters_2="2"),
            )
        },
    ),
    "fewer": (
        place_role("pair", policy={**PAIR, "numberOfClusters": 1}),
        [],
        {
            "pair": (
                ["st-1"],
                [],
                ViewsText.NUMBEROFCLUSTERS_IS_AND_WAS(number_of_clusters="1", number_of_clusters_2="2"),
            )
        },
    ),
    "another policy": (
        place_role("all", policy=pick_all(region="eu")),
        [],
        {"all": (["us-1"], [], ViewsText.POLICY_CHANGED())},
    ),
    "a policy that leaves nothing as it was": (
        place_role("all", policy=pick_all(env="test")),
        [],
        {"all": (["eu-1", "eu-2", "us-1"], ["st-1"], ViewsText.POLICY_CHANGED())},
    ),
    "two clusters less": (
        [],
        [member("us-1"), member("eu-2")],
        {
            "all": (["eu-2", "us-1"], [], ViewsText.FLEET(names="eu-2 and us-1", verb="leave")),
            "pair": (["us-1"], ["eu-1"], f"{US_1_LEAVES} and PickN finds a replacement"),
        },
    ),
    "no placement any more": (
        [],
        place_role("all")[:1],
        {"all": (["eu-1", "eu-2", "us-1"], [], ViewsText.PLACEMENT_DELETED())},  # though one after the other
    ),
}


@pytest.mark.parametrize("what", COMMITS)
def test_each_move_of_a_commit_has_its_reason(what: str) -> None:
    written, removed, wanted = COMMITS[what]
    world = a_world(member("st-1", env="test"))
    world.commit(*written, remove=removed)
    found = {
        name: (moved["leave"], moved["join"], moved["because"])
        for name, moved in moves(plan(world)).items()
        if moved["because"]
    }
    assert found == wanted


def test_what_waits_for_an_answer_would_leave() -> None:
    world = a_world(member("st-1", env="test"))
    world.commit(*place_role("all", policy=pick_all(env="test")))
    assert moves(plan(world))["all"]["held"] == ["eu-1", "eu-2", "us-1"]


def test_all_clusters_of_a_deleted_placement_wait_for_an_answer_about_its_objects() -> None:
    world = a_world()
    world.commit(remove=place_role("all")[:1])
    assert moves(plan(world))["all"]["held"] == ["eu-1", "eu-2", "us-1"]


def test_a_cluster_that_answers_again_has_become_eligible() -> None:
    world = a_world()
    world.fleet.cluster("us-1").reachable = False
    world.rest()
    world.advance(minutes=10)
    world.commit(*place_role("late"))
    world.rest()
    world.fleet.cluster("us-1").reachable = True
    because = ViewsText.BECOME_ELIGIBLE(names="us-1", verb="has")
    assert moves(plan(world))["late"] == {"leave": [], "held": [], "join": ["us-1"], "because": because}


def test_a_new_placement_and_a_fleet_that_nobody_reconciled_yet() -> None:
    world = World()
    world.commit(member("a"), member("b"), *place_role("r"))
    assert moves(plan(world))["r"] == {
        "leave": [],
        "held": [],
        "join": ["a", "b"],
        "because": ViewsText.PLACEMENT_NEW(),
    }


def test_a_plan_on_top_of_another_commit() -> None:
    world = a_world()
    first = world.commit(member("us-2", env="prod"))
    world.commit(member("us-3", env="prod"))
    assert moves(plan(world))["all"]["join"] == ["us-2", "us-3"]
    assert moves(plan(world, base=first))["all"]["join"] == ["us-3"]


@pytest.mark.parametrize(
    ("leave", "held", "join", "sentence"),
    [
        (3, 0, 2, "3 clusters leave, 2 join, because X"),
        (1, 0, 1, "1 cluster leaves, 1 joins, because X"),
        (0, 0, 1, "1 cluster joins, because X"),
        (2, 0, 0, "2 clusters leave, because X"),
        (3, 2, 0, f"1 cluster leaves, {ViewsText.WOULD_LEAVE_IF_APPROVED(clusters=2)}, because X"),
        (1, 1, 1, f"{ViewsText.WOULD_LEAVE_IF_APPROVED(clusters='1 cluster')}, 1 joins, because X"),
        (0, 0, 0, ""),
    ],
)
def test_the_sentence(leave: int, held: int, join: int, sentence: str) -> None:
    moved = {"leave": ["c"] * leave, "held": ["c"] * held, "join": ["c"] * join, "because": "X"}
    assert moves_sentence(moved) == sentence
