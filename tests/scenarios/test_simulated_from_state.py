"""`simulate` starts from the state branch: what is recorded there is on the clusters, and only what a commit changes
happens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.placements import PlacementKey
from gitfleet.api.scenarios import ClusterRule, Scenario
from gitfleet.errors import BadInput
from gitfleet.model.events import Event, EventType
from gitfleet.settings import Limits
from gitfleet.simulation.scenario_run import ScenarioRun
from gitfleet.wiring import hub
from gitfleet.wiring.recorded_fleets import recorded_fleet
from tests import builders
from tests.scenarios import test_planned_steps as steps
from tests.scenarios import test_plans_without_state as changes
from tests.scenarios.explaining import open_workspace
from tests.scenarios.world import World


def simulated(world: World, rules: tuple[ClusterRule, ...] = ()) -> tuple[ScenarioRun, Counter[tuple[str, ...]]]:
    """The head of the watched branch, simulated from the state branch; the run, and what it did on clusters."""
    workspace = open_workspace(world.repo, world.fleet, world.clock, "none")
    recorded = recorded_fleet(workspace, Limits())
    assert recorded is not None
    events: list[Event] = []
    run = hub.run_scenario(
        Scenario(clusters=rules),
        dict(world.repo.files("main")),
        lambda event, at: events.append(event),
        recorded=recorded,
    )
    assert events[-1].fields["reason"] == "settled"
    applied = (event for event in events if event.type is EventType.APPLIED)
    return run, Counter(
        (str(event.cluster), "delete" if event.fields["action"] == "delete" else "apply", _object(event))
        for event in applied
    )


def _object(event: Event) -> str:
    body: Any = event.fields["object"]
    return f"{body['kind']}/{body['name']}"


def done_by(world: World) -> Counter[tuple[str, ...]]:
    """What a reconciler does on the world's own clusters."""
    start = len(world.happenings)
    world.settle()
    return Counter(steps.happened(world, start))


def test_nothing_happens_where_the_state_is_settled() -> None:
    world = changes.settled()
    run, done = simulated(world)
    assert done == Counter()
    assert run.state.placements.keys() == world.state().placements.keys()
    assert not run.state.holds


def test_namespaces_that_others_made_are_there() -> None:
    world = changes.settled()
    for name in ("c1", "c2", "c3"):
        world.fleet.cluster(name).apply_by_hand(builders.namespace("theirs"), manager="kubectl")
    selector = {"group": "", "version": "v1", "kind": "ConfigMap", "name": "ours"}
    spec = {"resourceSelectors": [selector], "policy": builders.pick_fixed("c1", "c2", "c3")}
    world.roll_out(
        builders.fleet_config(existingNamespaces=["theirs"]),
        builders.config_map("theirs", "ours", {"a": "1"}),
        builders.an_object(builders.PLACEMENT_API, "ResourcePlacement", "ours", namespace="theirs", spec=spec),
    )
    assert simulated(world)[1] == Counter()
    world.commit(builders.config_map("theirs", "ours", {"a": "2"}))
    _, done = simulated(world)
    assert done == done_by(world) and done.total() == 3


@pytest.mark.parametrize(
    "change",
    [changes.replicas, changes.removal_of_one_object, changes.new_cluster, changes.removal_of_a_placement],
    ids=lambda change: change.__name__,
)
def test_only_the_change_happens(change: Callable[[World], None]) -> None:
    world = changes.settled()
    change(world)
    run, done = simulated(world)
    assert done == done_by(world)
    assert [hold.reasons for hold in run.state.held.values()] == [h.reasons for h in world.state().held.values()]


def test_a_pin_keeps_what_it_names() -> None:
    world = changes.settled()
    old = world.state().placements[PlacementKey("", "web")].resource_snapshots[-1]
    world.roll_out(changes.app(image="app:2"))
    world.commit(builders.pin("web", old.index, old.hash))
    _, done = simulated(world)
    assert done == done_by(world) and done.total() == 4
    world.commit(changes.app(image="app:3"))
    assert simulated(world)[1] == Counter()


def test_a_finished_run_does_not_begin_again() -> None:
    world = steps.by_runs()
    assert simulated(world)[1] == Counter()
    steps.a_run(world)
    _, done = simulated(world)
    assert done == done_by(world) and done.total() == 6


def test_a_run_that_waits_goes_on_with_its_approval() -> None:
    world = steps.by_runs()
    stages = (builders.stage(f"s{half}", match_labels={"half": half}, approval=True) for half in "12")
    world.roll_out(
        builders.staged_strategy("gated", *stages),
        builders.deployment("web", "app", image="app:2"),
        builders.staged_run("gated", placement="web", strategy="gated"),
    )
    assert simulated(world)[1] == Counter()
    world.commit(builders.approval("gated", "s1"))
    _, done = simulated(world)
    assert done == done_by(world) and done.total() == 3


def test_rules_count_for_what_changes() -> None:
    world = changes.settled()
    never = ClusterRule(names=("c1",), available="never")
    assert simulated(world, (never,))[1] == Counter()
    world.commit(changes.app(image="app:2"))
    _, done = simulated(world, (never,))
    assert [cluster for cluster, _, _ in done] == ["c1"]


def test_a_scenario_cannot_start_before_the_state() -> None:
    world = changes.settled()
    recorded = recorded_fleet(open_workspace(world.repo, world.fleet, world.clock, "none"), Limits())
    assert recorded is not None
    at = recorded.written
    assert recorded.start_of(Scenario()) == at
    assert recorded.start_of(Scenario(start=at + timedelta(days=1))) == at + timedelta(days=1)
    with pytest.raises(BadInput):
        recorded.start_of(Scenario(start=at - timedelta(days=1)))


def test_without_a_state_branch_there_is_nothing_to_start_from() -> None:
    world = steps.committed()
    assert recorded_fleet(open_workspace(world.repo, world.fleet, world.clock, "none"), Limits()) is None
