"""What is wrong with one placement, cluster or plug-in is said where it belongs, and the others go on (invariant 2)."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet import wiring
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.objects import JsonObject
from gitfleet.api.scenarios import Entry, Written
from gitfleet.schedule.plugins import Cycle, PluginFactory, Refusal, SchedulerPlugin
from gitfleet.schedule.texts import ScheduleText
from tests import builders
from tests.members.plays import (
    Played,
    member,
    pick_all,
    place_role,
    play_bodies,
    required,
    required_terms,
    write,
)
from tests.members.test_seed_pages import measured, pick, preferred
from tests.texts import part

SOUND = [*place_role("sound"), *place_role("two", policy=pick(2))]
CLUSTERS = [member("a"), member("b"), member("c")]


def wanted(name: str, operator: str = "Ge", *values: str) -> dict[str, Any]:
    return {"name": name, "operator": operator, "values": list(values)}


def by_properties(*expressions: JsonObject) -> dict[str, Any]:
    term = {"propertySelector": {"matchExpressions": [dict(one) for one in expressions]}}
    return {"placementType": "PickAll", "affinity": required_terms(term)}


def others_are_sound(played: Played) -> None:
    assert played.placed("sound") == {"a", "b", "c"}
    assert played.placed("two") == {"c", "b"}
    assert played.condition("sound", "Available")[0] == "True"


# Plug-ins


class Moody(SchedulerPlugin):
    """A filter that fails for one placement."""

    name = "Moody"
    depends_on_bindings = False

    def filter(self, cycle: Cycle, cluster: MemberCluster) -> Refusal | None:
        if cycle.placement.name == "crp":
            raise RuntimeError("the price list is gone")
        return None


def install(monkeypatch: pytest.MonkeyPatch, **plugins: PluginFactory) -> None:
    monkeypatch.setattr(wiring, "scheduler_plugins", lambda: plugins)


def config(*plugins: str) -> dict[str, Any]:
    return builders.fleet_config(scheduler={"plugins": [{"name": name} for name in plugins]})


def test_a_plugin_that_raises_stops_that_placement_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, Moody=lambda args: Moody())
    played = play_bodies([*CLUSTERS, *SOUND, *place_role("crp"), config("Moody")])
    others_are_sound(played)
    assert played.placed("crp") == set()
    status, _, message = played.condition("crp")
    assert status != "True"
    assert "Moody" in message and "the price list is gone" in message


def test_a_plugin_that_begins_to_raise_takes_nothing_away(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, Moody=lambda args: Moody())
    timeline = [*write(60, config("Moody")), *write(120, member("d"))]
    played = play_bodies([*CLUSTERS, *SOUND, *place_role("crp")], *timeline)
    assert played.placed("sound") == {"a", "b", "c", "d"}
    assert played.placed("crp") == {"a", "b", "c"}
    assert played.live("a", "ClusterRole", "crp") is not None


def test_an_unknown_plugin_is_a_fault_of_the_configuration_and_moves_nothing() -> None:
    played = play_bodies([*CLUSTERS, *SOUND], *write(60, config("Nonesuch")), *write(120, member("d")))
    others_are_sound(played)
    (fault,) = played.state.faults
    assert (fault.path, fault.object, fault.field) == ("gitfleet.yaml", "FleetConfig", "spec.scheduler.plugins[0]")
    assert ScheduleText.NO_SCHEDULER_PLUG(listed="Nonesuch", filter="installed are") in fault.message


def test_it_says_so_on_every_placement_that_waits_for_it_and_goes_on_when_it_is_gone() -> None:
    bodies = [*CLUSTERS, *SOUND, config("Nonesuch")]
    played = play_bodies(bodies)
    assert played.placed("sound") == set()
    assert part(ScheduleText.SCHEDULER_PROFILE_ERRORS) in played.condition("sound")[2]
    mended = play_bodies(bodies, *write(60, builders.fleet_config()))
    others_are_sound(mended)
    assert not mended.state.faults


# Properties


def test_a_property_that_is_no_quantity_stops_who_asks_for_it() -> None:
    odd = measured("b", 2)
    odd["status"]["properties"]["cost.example.com/hour"] = {"value": "cheap"}
    asks = by_properties(wanted("cost.example.com/hour", "Ge", "1"))
    played = play_bodies([member("a"), odd, member("c"), *SOUND, *place_role("crp", policy=asks)])
    others_are_sound(played)
    assert played.placed("crp") == set()
    status, _, message = played.condition("crp")
    assert status != "True"
    assert "the property cost.example.com/hour of cluster b cannot be compared" in message and "cheap" in message


def test_the_same_for_who_sorts_by_it_though_others_have_good_values() -> None:
    bodies = [measured("a", 2), measured("b", 3), measured("c", 4)]
    for body, value in zip(bodies, ("1", "cheap", "3"), strict=True):
        body["status"]["properties"]["cost"] = {"value": value}
    sorts = pick(1, affinity=preferred((10, {"propertySorter": {"name": "cost", "sortOrder": "Ascending"}})))
    played = play_bodies([*bodies, *SOUND, *place_role("crp", policy=sorts)])
    others_are_sound(played)
    assert played.placed("crp") == set()
    assert "cluster b" in played.condition("crp")[2]


def test_it_is_picked_when_the_value_is_mended() -> None:
    odd, mended = measured("b", 2), measured("b", 2)
    odd["status"]["properties"]["cost"] = {"value": "cheap"}
    mended["status"]["properties"]["cost"] = {"value": "3"}
    asks = by_properties(wanted("cost", "Ge", "1"))
    bodies = [member("a"), odd, member("c"), *SOUND, *place_role("crp", policy=asks)]
    played = play_bodies(bodies, *write(60, mended))
    assert played.placed("crp") == {"b"}
    assert played.condition("crp")[0] == "True"


def test_what_is_held_stays_when_a_value_becomes_odd() -> None:
    good, odd = measured("b", 2), measured("b", 2)
    good["status"]["properties"]["cost"] = {"value": "3"}
    odd["status"]["properties"]["cost"] = {"value": "cheap"}
    asks = by_properties(wanted("cost", "Ge", "1"))
    played = play_bodies([member("a"), good, member("c"), *SOUND, *place_role("crp", policy=asks)], *write(60, odd))
    others_are_sound(played)
    assert played.placed("crp") == {"b"}


def test_the_version_of_kubernetes_is_a_property_and_no_quantity() -> None:
    """It may be looked at by people, and a file may hold it; who compares it gets the error that it cannot be."""
    asks = by_properties(wanted("k8s.io/k8s-version", "Ge", "1"))
    played = play_bodies([*CLUSTERS, *SOUND, *place_role("crp", policy=asks)])
    others_are_sound(played)
    assert "k8s.io/k8s-version" in played.condition("crp")[2]
    assert not played.state.faults


@pytest.mark.parametrize(
    "expressions",
    [
        [wanted("p", "Eq", "1"), wanted("p", "Eq", "2")],
        [wanted("p", "Eq", "1"), wanted("p", "Ne", "1")],
        [wanted("p", "Gt", "5"), wanted("p", "Lt", "5")],
        [wanted("p", "Ge", "5"), wanted("p", "Le", "4")],
        [wanted("p", "Eq", "1"), wanted("p", "Gt", "1")],
        [wanted("p", "Like", "1")],
        [wanted("p", "Eq", "1", "2")],
        [wanted("p", "Eq")],
        [wanted("p", "Eq", "much")],
        [wanted("resources.kubernetes-fleet.io/some-cpu", "Eq", "1")],
    ],
)
def test_requirements_that_nothing_can_meet_are_a_fault_of_their_file(expressions: list[dict[str, Any]]) -> None:
    played = play_bodies([*CLUSTERS, *SOUND, *place_role("crp", policy=by_properties(*expressions))])
    others_are_sound(played)
    (fault,) = played.state.faults
    assert (fault.path, fault.object) == ("placements/crp.yaml", "ClusterResourcePlacement/crp")
    assert "propertySelector" in fault.field and fault.line > 1
    assert "crp" not in {key.name for key in played.state.placements}


def test_a_faulty_edit_keeps_the_last_good_version() -> None:
    bad = by_properties(wanted("p", "Gt", "5"), wanted("p", "Lt", "5"))
    bodies = [*CLUSTERS, *SOUND, *place_role("crp", policy=pick_all())]
    played = play_bodies(bodies, *write(60, place_role("crp", policy=bad)[0]), *write(120, member("d")))
    assert played.placed("crp") == {"a", "b", "c", "d"}
    assert len(played.state.faults) == 1


@pytest.mark.parametrize(
    "expressions",
    [
        [{"key": "env", "operator": "In", "values": ["prod"]}, {"key": "env", "operator": "NotIn", "values": ["prod"]}],
        [{"key": "env", "operator": "Exists"}, {"key": "env", "operator": "DoesNotExist"}],
    ],
)
def test_labels_that_no_cluster_can_have_pick_nobody_and_say_so(expressions: list[dict[str, Any]]) -> None:
    """Kubernetes accepts such a selector; it is no fault, and `refusals` say who was refused by what."""
    policy = pick(1, affinity=required_terms({"labelSelector": {"matchExpressions": expressions}}))
    played = play_bodies([*CLUSTERS, *SOUND, *place_role("crp", policy=policy)])
    others_are_sound(played)
    assert played.condition("crp")[:2] == ("False", "SchedulingPolicyUnfulfilled")
    assert set(played.refusals("crp")) == {"a", "b", "c"}
    assert ScheduleText.CLUSTER_NOT_MATCH_ANY_REQUIRED() in played.refusals("crp")["a"]


@pytest.mark.parametrize("operator", ["Near", "in"])
def test_an_operator_that_there_is_not_is_a_fault(operator: str) -> None:
    expressions = [{"key": "env", "operator": operator, "values": ["prod"]}]
    policy = {
        "placementType": "PickAll",
        "affinity": required_terms({"labelSelector": {"matchExpressions": expressions}}),
    }
    played = play_bodies([*CLUSTERS, *SOUND, *place_role("crp", policy=policy)])
    others_are_sound(played)
    assert [f.object for f in played.state.faults] == ["ClusterResourcePlacement/crp"]


# Clusters


def twin(name: str, **labels: str) -> Entry:
    text = builders.to_yaml(member(name, **labels))
    return Entry(at=write(60, member(name))[0].at, write=Written(path="clusters/twin.yaml", content=text))


def test_two_clusters_of_one_name_are_a_fault_and_the_one_that_was_there_stays() -> None:
    bodies = [member("a", env="prod"), member("b"), member("c"), *SOUND]
    bodies += place_role("crp", policy={"placementType": "PickAll", "affinity": required(env="prod")})
    played = play_bodies(bodies, twin("a", env="test"))
    others_are_sound(played)
    assert played.placed("crp") == {"a"}
    assert played.state.clusters["a"].labels == {"env": "prod"}
    assert played.state.clusters["a"].deleting is None
    faults = [(f.path, f.object) for f in played.state.faults]
    assert ("clusters/twin.yaml", "MemberCluster/a") in faults
    assert "clusters/a.yaml" in str(played.state.faults[0])


def test_two_placements_of_one_name_too() -> None:
    text = builders.to_yaml(place_role("sound", policy=pick(1))[0])
    at = write(60, member("a"))[0].at
    bodies = [*CLUSTERS, *SOUND]
    played = play_bodies(bodies, Entry(at=at, write=Written(path="placements/zz.yaml", content=text)))
    others_are_sound(played)
    assert [(f.path, f.object) for f in played.state.faults] == [
        ("placements/zz.yaml", "ClusterResourcePlacement/sound")
    ]


@pytest.mark.parametrize(
    ("edit", "field"),
    [
        ({"taints": [{"key": "k", "effect": "NoExecute"}]}, "taints"),
        ({"taints": [{"key": "k", "effect": "NoSchedule"}] * 2}, "taints"),
        ({"heartbeatPeriodSeconds": 0}, "heartbeatPeriodSeconds"),
        ({"heartbeatPeriodSeconds": 601}, "heartbeatPeriodSeconds"),
        ({"deleteOptions": {"propagationPolicy": "Perhaps"}}, "deleteOptions"),
        ({"connection": {"simulated": True, "context": "x"}}, "connection"),
        ({"colour": "blue"}, "colour"),
    ],
)
def test_a_faulty_edit_of_a_cluster_changes_nothing(edit: dict[str, Any], field: str) -> None:
    faulty = member("a")
    faulty["spec"].update(edit)
    played = play_bodies([*CLUSTERS, *SOUND], *write(60, faulty))
    others_are_sound(played)
    (fault,) = played.state.faults
    assert (fault.path, fault.object) == ("clusters/a.yaml", "MemberCluster/a")
    assert field in fault.field or field in fault.message
    assert played.state.clusters["a"].deleting is None


# Topology


def test_a_topology_key_that_no_cluster_has_restricts_nobody() -> None:
    """KubeFleet: a cluster without the label gets 0 and is never refused."""
    spread = [{"topologyKey": "planet", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}]
    played = play_bodies([*CLUSTERS, *SOUND, *place_role("crp", policy=pick(3, topologySpreadConstraints=spread))])
    others_are_sound(played)
    assert played.placed("crp") == {"a", "b", "c"}


@pytest.mark.parametrize(
    "spread", [{}, {"topologyKey": "k", "maxSkew": 0}, {"topologyKey": "k", "whenUnsatisfiable": "x"}]
)
def test_a_constraint_that_is_none_is_a_fault(spread: dict[str, Any]) -> None:
    played = play_bodies([*CLUSTERS, *SOUND, *place_role("crp", policy=pick(1, topologySpreadConstraints=[spread]))])
    others_are_sound(played)
    (fault,) = played.state.faults
    assert fault.object == "ClusterResourcePlacement/crp" and "topologySpreadConstraints" in fault.field
