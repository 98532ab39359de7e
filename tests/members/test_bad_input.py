"""What is wrong with one placement, cluster or plug-in is said where it belongs, and the others go on (invariant 2)."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.objects import JsonObject
from gitfleet.api.scenarios import Entry, Written
from gitfleet.schedule.plugins import Cycle, PluginFactory, Refusal, SchedulerPlugin
from gitfleet.schedule.texts import ScheduleText
from gitfleet.wiring import hub
from tests import builders
from tests.members.plays import Played, member, place_role, play_bodies, required, required_terms, write
from tests.members.test_seed_pages import measured, pick
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
    monkeypatch.setattr(hub, "scheduler_plugins", lambda: plugins)


def config(*plugins: str) -> dict[str, Any]:
    return builders.fleet_config(scheduler={"plugins": [{"name": name} for name in plugins]})


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
    text = ScheduleText.PROPERTY_CLUSTER_CANNOT_COMPARED(name="cost.example.com/hour", cluster="b", error="")
    assert text in message and "cheap" in message


def test_what_is_held_stays_when_a_value_becomes_odd() -> None:
    good, odd = measured("b", 2), measured("b", 2)
    good["status"]["properties"]["cost"] = {"value": "3"}
    odd["status"]["properties"]["cost"] = {"value": "cheap"}
    asks = by_properties(wanted("cost", "Ge", "1"))
    played = play_bodies([member("a"), good, member("c"), *SOUND, *place_role("crp", policy=asks)], *write(60, odd))
    others_are_sound(played)
    assert played.placed("crp") == {"b"}


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
