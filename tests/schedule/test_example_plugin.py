"""The example package, laid out as an installer does it (nothing is fetched or built) and found by its entry point."""

from __future__ import annotations

import shutil
import tomllib
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

import pytest

from gitfleet.api.fleet import ListedPlugin
from gitfleet.api.placements import PlacementPolicy
from gitfleet.schedule import explain, index_fleet, profile_from, schedule, schedule_key
from tests.schedule.fleets import NOW, cluster, request, states

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "scheduler-plugin"
COST = "example.com/hourly-cost"
FLEET = index_fleet([cluster("cheap", {COST: "1.20"}), cluster("dear", {COST: "3.10"}), cluster("unknown")], NOW)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> EntryPoint:
    """The example's own entry point, out of a folder that holds what a wheel of it would."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    group = "gitfleet.scheduler_plugins"
    shutil.copytree(EXAMPLE / "src", tmp_path, dirs_exist_ok=True)
    info = tmp_path / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n", encoding="utf-8"
    )
    lines = [f"{name} = {value}" for name, value in project["entry-points"][group].items()]
    (info / "entry_points.txt").write_text("\n".join([f"[{group}]", *lines]) + "\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    (found,) = entry_points(group=group, name="CostCeiling")
    return found


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
        assert fault.message.startswith("the scheduler plug-in CostCeiling refuses its args: ")
