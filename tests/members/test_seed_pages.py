"""The examples of the seeds' pages on scheduling, played, with the outcome that the page describes (seeds/001, 003)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from gitfleet.schedule.texts import ScheduleText
from tests import builders
from tests.members.plays import (
    Played,
    member,
    pick_all,
    place_role,
    play_bodies,
    remove,
    required_terms,
    role,
    silent,
    write,
)

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


def tainted(name: str, key: str, value: str = "", **labels: str) -> dict[str, Any]:
    body = member(name, **labels)
    body["spec"]["taints"] = [{"key": key, "value": value, "effect": "NoSchedule"}]
    return body


def measured(
    name: str, nodes: int, *, cpu: tuple[str, str, str] = ("40", "32", "2"), memory: str = "800Mi", **labels: str
) -> dict[str, Any]:
    """A member with the status of seed 003 "Cluster properties"; cpu is (capacity, allocatable, available)."""
    body = member(name, **labels)
    body["status"] = {
        "properties": {"kubernetes-fleet.io/node-count": {"value": str(nodes)}},
        "resourceUsage": {
            "capacity": {"cpu": cpu[0], "memory": "20Gi"},
            "allocatable": {"cpu": cpu[1], "memory": "16Gi"},
            "available": {"cpu": cpu[2], "memory": memory},
        },
    }
    return body


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
    message = played.condition("crp")[2]
    assert message.endswith("found 2 cluster(s)")


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


def test_resources_stay_on_a_cluster_that_becomes_unhealthy() -> None:
    played = play(PLAIN, pick(2), silent(60, "smartfish"))
    assert played.placed("crp") == {"smartfish", "singingbutterfly"}
    assert played.live("smartfish", "ClusterRole", "crp") is not None


@pytest.mark.parametrize(
    ("policy", "field"),
    [
        ({"placementType": "PickFixed", "clusterNames": ["a"], "numberOfClusters": 1}, "numberOfClusters"),
        ({"placementType": "PickFixed", "clusterNames": ["a"], "affinity": {}}, "affinity"),
        ({"placementType": "PickAll", "clusterNames": ["a"]}, "clusterNames"),
        ({"placementType": "PickAll", "numberOfClusters": 1}, "numberOfClusters"),
        (pick_all() | {"topologySpreadConstraints": [{"topologyKey": "k"}]}, "topologySpreadConstraints"),
        (pick_all() | {"affinity": preferred((1, labelled(a="b")))}, "preferred"),
        (pick(1) | {"clusterNames": ["a"]}, "clusterNames"),
        ({"placementType": "PickN"}, "numberOfClusters"),
    ],
)
def test_each_type_has_its_own_fields(policy: dict[str, Any], field: str) -> None:
    """The table "Available fields for each placement type"; what is wrong with one placement holds no other up."""
    played = play_bodies([*PLAIN, *place_role("crp", policy=policy), *place_role("sound")])
    (fault,) = played.state.faults
    assert fault.object == "ClusterResourcePlacement/crp"
    assert field in fault.field or field in fault.message
    assert played.placed("crp") == set()
    assert played.placed("sound") == set(FLEET)


def test_a_placement_type_cannot_be_changed() -> None:
    """ "Fleet does not support switching between different placement types": the last good version stays."""
    played = play(PLAIN, pick(2), *write(60, place_role("crp", policy=pick_all())[0]))
    assert played.placed("crp") == {"smartfish", "singingbutterfly"}
    assert "placementType" in str(played.state.faults[0])


# Affinity terms


def test_terms_are_alternatives_and_what_is_in_one_holds_together() -> None:
    clusters = [
        member("a", region="east", env="prod"),
        member("b", region="east"),
        member("c", region="west", env="canary"),
        member("d", region="west", env="prod"),
    ]
    either = required_terms(labelled(region="east", env="prod"), labelled(env="canary"))
    assert play(clusters, {"placementType": "PickAll", "affinity": either}).placed("crp") == {"a", "c"}


def test_preferences_add_up_and_may_be_negative() -> None:
    clusters = [member("a", x="1", y="1"), member("b", x="1"), member("c", y="1"), member("d", z="1")]
    terms = preferred((40, labelled(x="1")), (30, labelled(y="1")), (-20, labelled(z="1")))
    played = play(clusters, pick(3, affinity=terms))
    assert scores(played) == {"a": (0, 70), "b": (0, 40), "c": (0, 30)}
    assert 'Cluster "d" does not score high enough (affinity score: -20' in played.refusals("crp")["d"]


# Topology spread (seeds/003, the first placement)


def in_zones(**zones: str) -> list[dict[str, Any]]:
    return [member(name, env=zone) for name, zone in zones.items()]


def test_the_first_placement_of_seed_003_takes_one_cluster_of_each_environment() -> None:
    policy = policy_of("003-01-placement.yaml")
    played = play(in_zones(a="prod", b="prod", c="canary", d="canary"), policy)
    assert played.placed("crp") == {"d", "b"}  # the largest name first, then the other environment
    assert scores(played)["b"] == (1, 0)  # it takes the skew away


def test_a_skew_beyond_the_limit_is_refused_or_only_disliked() -> None:
    zones = in_zones(a="prod", b="prod", c="prod", d="canary")
    spread = {"maxSkew": 1, "topologyKey": "env", "whenUnsatisfiable": "DoNotSchedule"}
    strict = play(zones, pick(4, topologySpreadConstraints=[spread]))
    assert strict.placed("crp") == {"d", "c", "b"}
    assert strict.condition("crp")[:2] == ("False", "SchedulingPolicyUnfulfilled")
    assert (
        ScheduleText.VIOLATED_DONOTSCHEDULE_TOPOLOGY_SPREAD_CONSTRAINT(key="env", max_skew="1")
        in strict.refusals("crp")["a"]
    )
    loose = play(zones, pick(4, topologySpreadConstraints=[{**spread, "whenUnsatisfiable": "ScheduleAnyway"}]))
    assert loose.placed("crp") == {"a", "b", "c", "d"}
    assert scores(loose)["a"][0] == -1000


def test_spread_comes_before_affinity() -> None:
    """ "The cluster with the highest topology spread score ranks the highest", whatever it is liked for."""
    zones = [member("a", env="prod", gold="yes"), member("b", env="prod", gold="yes"), member("c", env="canary")]
    spread = {"topologyKey": "env"}
    policy = pick(2, affinity=preferred((100, labelled(gold="yes"))), topologySpreadConstraints=[spread])
    assert play(zones, policy).placed("crp") == {"b", "c"}


# Taints and tolerations (seeds/003)


@pytest.mark.parametrize(
    ("tolerations", "picked"),
    [
        ([], {"b"}),
        ([{"key": "gpu-workload", "operator": "Exists"}], {"a", "b"}),
        ([{"key": "gpu-workload", "operator": "Equal", "value": "yes"}], {"a", "b"}),
        ([{"key": "gpu-workload", "operator": "Equal", "value": "no"}], {"b"}),
        ([{"key": "gpu-workload", "value": "yes", "effect": "NoSchedule"}], {"a", "b"}),
        ([{"operator": "Exists"}], {"a", "b"}),
        ([{"key": "other", "operator": "Exists"}], {"b"}),
    ],
)
def test_all_taints_must_be_tolerated(tolerations: list[dict[str, str]], picked: set[str]) -> None:
    clusters = [tainted("a", "gpu-workload", "yes"), member("b")]
    assert play(clusters, {**pick_all(), "tolerations": tolerations}).placed("crp") == picked


def test_a_cluster_with_two_taints_needs_both_tolerated() -> None:
    cluster = tainted("a", "one")
    cluster["spec"]["taints"].append({"key": "two", "value": "", "effect": "NoSchedule"})
    one = {"key": "one", "operator": "Exists"}
    half = play([cluster], {**pick_all(), "tolerations": [one]})
    assert half.placed("crp") == set()
    assert "Key:two" in half.refusals("crp")["a"]
    whole = play([cluster], {**pick_all(), "tolerations": [one, {"key": "two", "operator": "Exists"}]})
    assert whole.placed("crp") == {"a"}


def test_tolerations_may_be_added_and_neither_changed_nor_removed() -> None:
    one, two = {"key": "one", "operator": "Exists"}, {"key": "two", "operator": "Exists"}
    clusters = [tainted("a", "one"), tainted("b", "two"), member("c")]
    before = {**pick_all(), "tolerations": [one]}
    added = play(clusters, before, *write(60, place_role("crp", policy={**before, "tolerations": [one, two]})[0]))
    assert added.placed("crp") == {"a", "b", "c"}
    changed = play(clusters, before, *write(60, place_role("crp", policy={**before, "tolerations": [two]})[0]))
    assert changed.placed("crp") == {"a", "c"}
    assert "tolerations" in str(changed.state.faults[0])


# Property-based scheduling (seeds/003, "Cluster properties")


def wants(name: str, operator: str, value: str) -> dict[str, Any]:
    expression = {"name": name, "operator": operator, "values": [value]}
    return required_terms({"propertySelector": {"matchExpressions": [expression]}})


@pytest.mark.parametrize(
    ("name", "operator", "value", "picked"),
    [
        ("kubernetes-fleet.io/node-count", "Ge", "3", {"b", "c"}),
        ("kubernetes-fleet.io/node-count", "Eq", "2", {"a"}),
        ("kubernetes-fleet.io/node-count", "Ne", "2", {"b", "c"}),  # nobody knows d's: it meets nothing
        ("resources.kubernetes-fleet.io/total-cpu", "Gt", "40", {"b"}),
        ("resources.kubernetes-fleet.io/allocatable-cpu", "Le", "32000m", {"a", "c"}),
        ("resources.kubernetes-fleet.io/available-memory", "Gt", "1Gi", {"c"}),
    ],
)
def test_clusters_are_required_to_have_properties(name: str, operator: str, value: str, picked: set[str]) -> None:
    clusters = [
        measured("a", 2),
        measured("b", 3, cpu=("64", "60", "20")),
        measured("c", 4, memory="8Gi"),
        member("d"),
    ]
    # A simulated cluster without a written node count has none that anybody counted.
    played = play(clusters, {"placementType": "PickAll", "affinity": wants(name, operator, value)})
    assert played.placed("crp") == picked


def test_the_one_with_most_free_is_taken_first() -> None:
    clusters = [measured(name, 1, cpu=("40", "32", free)) for name, free in (("a", "20"), ("b", "2"), ("c", "11"))]
    sorter = {"name": "resources.kubernetes-fleet.io/available-cpu", "sortOrder": "Descending"}
    played = play(clusters, pick(2, affinity=preferred((100, {"propertySorter": sorter}))))
    assert scores(played) == {"a": (0, 100), "c": (0, 50)}
    cheap = {**sorter, "sortOrder": "Ascending"}
    assert play(clusters, pick(1, affinity=preferred((100, {"propertySorter": cheap})))).placed("crp") == {"b"}


def test_labels_and_properties_of_one_term_hold_together() -> None:
    clusters = [measured("a", 5, env="prod"), measured("b", 5, env="test"), measured("c", 1, env="prod")]
    expression = {"name": "kubernetes-fleet.io/node-count", "operator": "Gt", "values": ["3"]}
    term = {**labelled(env="prod"), "propertySelector": {"matchExpressions": [expression]}}
    policy = {"placementType": "PickAll", "affinity": required_terms(term)}
    assert play(clusters, policy).placed("crp") == {"a"}


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
