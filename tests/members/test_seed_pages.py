"""The examples of the seeds' pages on scheduling, played, with the outcome that the page describes (seeds/001, 003)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from gitfleet.schedule.texts import ScheduleText
from tests import builders
from tests.members.plays import Played, member, place_role, play_bodies, remove, required_terms, role, write

SEEDS: Final = Path(__file__).parents[1] / "data" / "seeds"
FLEET: Final = ("bravelion", "jumpingcat", "singingbutterfly", "smartfish")


def policy_of(file: str) -> dict[str, Any]:
    """The policy of a seed's placement, as it is written there."""
    policy: dict[str, Any] = yaml.safe_load((SEEDS / file).read_text())["spec"]["policy"]
    return policy


def pick(count: int, **parts: Any) -> dict[str, Any]:
    return {"placementType": "PickN", "numberOfClusters": count, **parts}


def preferred(*terms: tuple[int, dict[str, Any]]) -> dict[str, Any]:
    chosen = [{"weight": weight, "preference": preference} for weight, preference in terms]
    return {"clusterAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": chosen}}


def labelled(**labels: str) -> dict[str, Any]:
    return {"labelSelector": {"matchLabels": labels}}


def measured(name: str, nodes: int) -> dict[str, Any]:
    """A member with so many nodes (seed 003 "Cluster properties")."""
    properties = {"kubernetes-fleet.io/node-count": {"value": str(nodes)}}
    return {**member(name), "status": {"properties": properties}}


def play(clusters: list[dict[str, Any]], policy: dict[str, Any] | None, *timeline: Any) -> Played:
    return play_bodies([*clusters, *place_role("crp", policy=policy)], *timeline)


def scores(played: Played, placement: str = "crp") -> dict[str, tuple[int, int]]:
    """(topology spread score, affinity score) of each binding."""
    return {
        cluster: (b.decision.score.topology_spread, b.decision.score.affinity)
        for cluster, b in played.bindings(placement).items()
        if b.decision is not None and b.decision.score is not None
    }


PLAIN = [member(name) for name in FLEET]


# Placement types (seeds/001)


def test_pick_fixed_places_resources_to_the_two_clusters_it_names() -> None:
    played = play(PLAIN, policy_of("001-06-pick-fixed.yaml"))
    assert played.placed("crp") == {"bravelion", "smartfish"}
    assert played.condition("crp")[2] == ScheduleText.FOUND_ALL_CLUSTER_NEEDED_SPECIFIED(found=2)


def test_no_policy_picks_all_clusters_of_the_fleet() -> None:
    assert play(PLAIN, None).placed("crp") == set(FLEET)


def test_pick_all_picks_those_with_the_label_and_ignores_the_others() -> None:
    critical = [member(name, system="critical" if name == "smartfish" else "other") for name in FLEET]
    assert play(critical, policy_of("001-07-pick-all.yaml")).placed("crp") == {"smartfish"}


def test_pick_all_is_forward_looking() -> None:
    policy = policy_of("001-07-pick-all.yaml")
    played = play([member("bravelion", system="critical")], policy, *write(60, member("newcomer", system="critical")))
    assert played.placed("crp") == {"bravelion", "newcomer"}


def test_pick_n_takes_preferred_clusters_first_and_others_only_if_there_are_not_enough() -> None:
    policy = policy_of("001-08-pick-n.yaml")
    clusters = [member(name, **{"critical-level": "1"}) for name in ("bravelion", "jumpingcat")]
    clusters += [member(name) for name in ("singingbutterfly", "smartfish")]
    played = play(clusters, policy)
    assert played.placed("crp") == {"bravelion", "jumpingcat", "smartfish"}
    assert scores(played) == {"bravelion": (0, 20), "jumpingcat": (0, 20), "smartfish": (0, 0)}


def test_without_terms_clusters_are_ranked_by_their_names_the_most_significant_first() -> None:
    assert play(PLAIN, pick(2)).placed("crp") == {"smartfish", "singingbutterfly"}


def test_it_keeps_looking_until_all_clusters_are_found_and_stops_then() -> None:
    more, better = write(60, member("aardvark")), write(120, member("zebra"))
    before = play(PLAIN, pick(5))
    assert before.placed("crp") == set(FLEET)
    assert before.condition("crp")[:2] == ("False", "SchedulingPolicyUnfulfilled")
    played = play(PLAIN, pick(5), *more, *better)
    assert played.placed("crp") == {*FLEET, "aardvark"}


def test_upscaling_takes_the_most_appropriate_ones_and_downscaling_those_that_rank_lower() -> None:
    more = write(60, place_role("crp", policy=pick(3))[0])
    assert play(PLAIN, pick(2), *more).placed("crp") == {"smartfish", "singingbutterfly", "jumpingcat"}
    fewer = write(60, place_role("crp", policy=pick(1))[0])
    assert play(PLAIN, pick(3), *fewer).placed("crp") == {"smartfish"}


def test_the_ranking_for_downscaling_is_that_of_the_day_of_scheduling() -> None:
    """A label that came later gives no points to who was picked before."""
    prefers = pick(2, affinity=preferred((20, labelled(gold="yes"))))
    clusters = [member("bravelion", gold="yes"), member("smartfish")]
    timeline = [*write(60, member("bravelion")), *write(60, member("smartfish", gold="yes"))]
    fewer = write(120, place_role("crp", policy={**prefers, "numberOfClusters": 1})[0])
    assert play(clusters, prefers, *timeline, *fewer).placed("crp") == {"bravelion"}


def test_a_cluster_that_leaves_is_unpicked_and_another_one_is_found() -> None:
    played = play(PLAIN, pick(2), remove(60, member("smartfish")))
    assert played.placed("crp") == {"singingbutterfly", "jumpingcat"}


# Topology spread (seeds/003, the first placement)


def in_zones(**zones: str) -> list[dict[str, Any]]:
    return [member(name, env=zone) for name, zone in zones.items()]


def test_the_first_placement_of_seed_003_takes_one_cluster_of_each_environment() -> None:
    policy = policy_of("003-01-placement.yaml")
    played = play(in_zones(a="prod", b="prod", c="canary", d="canary"), policy)
    assert played.placed("crp") == {"d", "b"}  # the largest name first, then the other environment
    assert scores(played)["b"] == (1, 0)  # it takes the skew away


# Property-based scheduling (seeds/003, "Cluster properties")


def wants(name: str, operator: str, value: str) -> dict[str, Any]:
    expression = {"name": name, "operator": operator, "values": [value]}
    return required_terms({"propertySelector": {"matchExpressions": [expression]}})


def test_a_property_that_changes_moves_nothing_and_lets_others_in() -> None:
    policy = {"placementType": "PickAll", "affinity": wants("kubernetes-fleet.io/node-count", "Ge", "3")}
    clusters = [measured("a", 3), measured("b", 1)]
    played = play(clusters, policy, *write(10, measured("a", 1)), *write(20, measured("b", 5)))
    assert played.placed("crp") == {"a", "b"}


# Resource selectors (seeds/001)


@pytest.mark.parametrize(
    ("file", "roles", "namespaces"),
    [
        ("001-02-selector-by-name.yaml", set(), {"work"}),
        ("001-03-selector-by-label.yaml", set(), {"play", "work"}),
        ("001-04-selector-by-kind.yaml", {"other", "secretReader"}, set()),
        ("001-05-multiple-selectors.yaml", {"secretReader"}, {"work"}),
    ],
)
def test_selectors_pick_what_their_page_says(file: str, roles: set[str], namespaces: set[str]) -> None:
    written = yaml.safe_load((SEEDS / file).read_text())
    critical = {"system": "critical"}
    bodies = [
        member("a"),
        builders.namespace("work", labels=critical),
        builders.config_map("work", "cm", {"k": "v"}),
        builders.namespace("play", labels=critical),
        builders.namespace("rest"),
        role("secretReader"),
        role("other"),
        builders.placement("crp", selectors=written["resourceSelectors"]),
    ]
    played = play_bodies(bodies)
    mine = [e.key for e in played.state.inventory["a"].values()]
    assert {key.name for key in mine if key.kind == "ClusterRole"} == roles
    assert {key.name for key in mine if key.kind == "Namespace"} == namespaces
    assert {key.namespace for key in mine if key.kind == "ConfigMap"} == namespaces & {"work"}
