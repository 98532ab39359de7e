"""The example package, found by its entry point."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from gitfleet.api.fleet import ListedPlugin
from gitfleet.api.placements import PlacementPolicy
from gitfleet.schedule import explain, index_fleet, profile_from, schedule, schedule_key
from gitfleet.schedule.texts import ScheduleText
from tests.installed import install_example
from tests.schedule.fleets import NOW, cluster, request, states

COST = "example.com/hourly-cost"
FLEET = index_fleet([cluster("cheap", {COST: "1.20"}), cluster("dear", {COST: "3.10"}), cluster("unknown")], NOW)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> EntryPoint:
    return install_example("scheduler-plugin", "gitfleet.scheduler_plugins", tmp_path, monkeypatch)


def test_the_example_refuses_what_costs_too_much(installed: EntryPoint) -> None:
    listed = ListedPlugin(name="CostCeiling", args={"ceiling": "2.50"})
    profile, faults = profile_from([listed], {installed.name: installed.load()})
    assert faults == ()
    answer = schedule(request(PlacementPolicy()), FLEET, profile)
    assert states(answer) == {"cheap": "Scheduled", "unknown": "Scheduled"}
    verdicts = {each.cluster: each for each in explain(request(PlacementPolicy()), FLEET, profile)}
    assert (verdicts["dear"].refused_by, verdicts["dear"].reason) == (
        "CostCeiling",
        "cluster costs 3.10, above the ceiling of 2.50",
    )
    assert verdicts["dear"].remedy == f"lower label {COST} to 2.50 or raise the ceiling of CostCeiling"


def test_the_example_is_asked_again_only_when_its_label_changes(installed: EntryPoint) -> None:
    listed = ListedPlugin(name="CostCeiling", args={"ceiling": "2.50"})
    profile, _ = profile_from([listed], {installed.name: installed.load()})
    question = request(PlacementPolicy())
    cheaper = index_fleet([cluster("cheap", {COST: "1.00"}), *FLEET.clusters[1:]], NOW, FLEET)
    labelled = index_fleet([cluster("cheap", {COST: "1.20", "x": "y"}), *FLEET.clusters[1:]], NOW, FLEET)
    key = schedule_key(question, FLEET, profile=profile)
    assert schedule_key(question, cheaper, profile=profile) != key
    assert schedule_key(question, labelled, profile=profile) == key
    other, _ = profile_from(
        [ListedPlugin(name="CostCeiling", args={"ceiling": "9"})], {"CostCeiling": installed.load()}
    )
    assert schedule_key(question, FLEET, profile=other) != key


def test_the_example_refuses_args_that_it_cannot_use(installed: EntryPoint) -> None:
    for args in ({}, {"ceiling": "much"}, {"ceiling": "1", "x": 1}):
        _, (fault,) = profile_from([ListedPlugin(name="CostCeiling", args=args)], {"CostCeiling": installed.load()})
        assert fault.message.startswith("the scheduler plug-in CostCeiling " + ScheduleText.REFUSES_ARGS() + ": ")
