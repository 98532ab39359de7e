"""A hold of which a part is taken back says what is held still: its counts, its causes and their places."""

from __future__ import annotations

import json

import pytest

from gitfleet.api.holds import HoldRule
from gitfleet.api.placements import PlacementKey
from gitfleet.views import hold_document, hold_sentence
from tests import builders
from tests.scenarios.test_holds import CLUSTERS, answer, objects, only_hold, placement_of, settled
from tests.scenarios.world import World

SHARE = "the commit removes 36 of the 54 objects that the fleet has, from 6 clusters (more than 30%)"
PART = "; a part of it is held no more, the rest still is"


def said(world: World) -> list[str]:
    """Why the one hold is there."""
    return [str(reason) for reason in only_hold(world).reasons]


def test_counts_and_causes_are_those_of_the_placement_that_is_left() -> None:
    world = settled()
    with world.nothing_deleted():
        world.commit(remove=["placements/web.yaml", "placements/shop.yaml"])
        world.settle()
        whole = only_hold(world)
        assert whole.objects == 36
        both = "placements/shop.yaml was removed and placements/web.yaml was removed"
        assert said(world) == [f"placements/shop.yaml:1: {SHARE}: {both}"]
        world.commit(placement_of("shop"))
        world.settle()
        left = only_hold(world)
        assert (left.name, left.digest, left.objects) == (whole.name, whole.digest, 18)
        assert {count.cluster: count.objects for count in left.clusters} == dict.fromkeys(CLUSTERS, 3)
        assert said(world) == [f"placements/web.yaml:1: {SHARE}{PART}: placements/web.yaml was removed"]
        page = world.state_text("README.md")
        assert "placement web: 18 placed objects on c1, c2, c3 and 3 more" in page
        assert "placements/shop.yaml was removed" not in page
        (event,) = [event for event in world.events if event.type == "held" and event.fields["objects"] == 18]
        assert event.fields["removals"] == ["placement web"] and event.fields["message"] == said(world)[0]
        assert hold_sentence(hold_document(left)).startswith("placement web: 18 placed objects")
        commits = world.state_commits()
        world.restart()
        world.settle()
        assert world.state_commits() == commits, "a hold that nothing changes for makes no commit"
    world.write(answer(left))
    world.settle()
    assert len(objects(world)) == 36 and not world.state().holds


def test_a_rule_that_holds_nothing_of_what_is_left_goes() -> None:
    """One file takes all of a placement and a part of another."""
    world = settled()
    shared = [builders.config_map("shop", "settings", {"version": "1"}), builders.deployment("shop", "app")]
    pay = builders.config_map("pay", "settings", {"version": "1"})
    world.write(
        {
            "resources/both.yaml": builders.to_yaml(*shared, pay),
            **dict.fromkeys(f"resources/shop/{n}.yaml" for n in ("configmap-settings", "deployment-app")),
            "resources/pay/configmap-settings.yaml": None,
        }
    )
    world.settle()
    with world.nothing_deleted():
        world.write({"resources/both.yaml": None, "placements/web.yaml": builders.to_yaml(unpicked())})
        world.settle()
        whole = only_hold(world)
        assert {reason.rule for reason in whole.reasons} == {HoldRule.MASS_DELETION, HoldRule.LAST_CLUSTER}
        assert whole.objects == 36
        world.commit(builders.placement("web", policy={"placementType": "PickAll"}, strategy=strategy()))
        world.settle()
        left = only_hold(world)
        assert [reason.rule for reason in left.reasons] == [HoldRule.MASS_DELETION]
        assert left.objects == 18
        assert said(world)[0].endswith(f"{PART}: resources/both.yaml was removed")
        world.write({"resources/both.yaml": builders.to_yaml(*shared)})
        world.settle()
        left = only_hold(world)
        assert left.objects == 6 and [str(r) for r in left.removals] == ["ConfigMap/pay/settings of placement pay"]
        assert said(world)[0].count(PART) == 1
        assert json.dumps(hold_document(left)).count(PART) == 1


def unpicked() -> dict[str, object]:
    """The placement web with a policy that picks no cluster."""
    nowhere = {"placementType": "PickAll", "affinity": builders.pick_n(1, match_labels={"region": "ue"})["affinity"]}
    return builders.placement("web", policy=nowhere, strategy=strategy())


def strategy() -> dict[str, object]:
    """One cluster after another."""
    return builders.rolling_update(maxUnavailable=1)


@pytest.mark.parametrize(
    "path", ["resources/web/configmap-settings.yaml", "placements/web.yaml", "clusters/c1.yaml"], ids=str
)
def test_a_cause_that_is_another_one_now_is_said(path: str) -> None:
    """The rule moves to another line of the ignore file, and at last the file itself goes."""
    world = settled()
    with world.nothing_deleted():
        world.write({".gitfleetignore": f"{path}\n"})
        world.settle()
        name = only_hold(world).name
        assert all(".gitfleetignore:1: " in one and one.endswith(f"line 1 hides {path}") for one in said(world))
        world.write({".gitfleetignore": f"# why\n{path}\n"})
        world.settle()
        assert all(".gitfleetignore:2: " in one and one.endswith(f"line 2 hides {path}") for one in said(world))
        world.write({".gitfleetignore": None, path: None})
        world.settle()
        assert only_hold(world).name == name
        assert all(one.endswith(f"{path} has it no more") for one in said(world))


def test_counts_follow_the_clusters_that_come_and_go() -> None:
    world = settled()
    with world.nothing_deleted():
        world.commit(remove=["resources/web/configmap-settings.yaml"])
        world.settle()
        assert only_hold(world).objects == 6
        world.commit(builders.member_cluster("c7", labels={"region": "eu"}))
        world.settle()
        assert only_hold(world).objects == 7
        assert [count.cluster for count in only_hold(world).clusters] == [*CLUSTERS, "c7"]


def test_a_second_placement_that_wants_all_of_it_ends_the_hold() -> None:
    world = settled()
    with world.nothing_deleted():
        world.commit(remove=["placements/web.yaml"])
        world.settle()
        assert only_hold(world).objects == 18
        # It selects more than `web` did, beside another new one: it is not that one renamed.
        heir = builders.placement("heir", "web", "spare", strategy=strategy())
        world.commit(builders.namespace("spare"), heir, builders.namespace("other"), builders.placement("other"))
        world.settle()
        assert not world.state().holds and PlacementKey("", "web") not in world.state().placements
