"""The example of workload rollouts, played as a newcomer does: what its README says comes about."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitfleet.api.objects import JsonObject
from gitfleet.api.workload_records import RollingState
from gitfleet.model.events import Event, EventType
from gitfleet.simulation.scenario import read_scenario
from gitfleet.simulation.scenario_run import ScenarioRun
from gitfleet.wiring import hub

EXAMPLE = Path(__file__).parents[2] / "examples" / "workload-rollout"
Timeline = list[tuple[float, Event]]


@pytest.fixture(scope="module")
def played() -> tuple[ScenarioRun, Timeline]:
    fleet, timeline = EXAMPLE / "fleet", Timeline()
    files = {str(p.relative_to(fleet)): p.read_bytes() for p in sorted(fleet.rglob("*")) if p.is_file()}
    scenario = read_scenario((EXAMPLE / "scenario.yaml").read_bytes(), path="scenario.yaml")
    return hub.run_scenario(scenario, files, lambda event, at: timeline.append((at, event))), timeline


def states(timeline: Timeline, rollout: str, cluster: str, begin: float, end: float) -> list[tuple[float, str, int]]:
    """The states of a rollout on a cluster, with the batch from 1, between two moments."""
    return [
        (at, event.fields.get("batchState") or event.fields["state"], event.fields.get("currentBatch", -1) + 1)
        for at, event in timeline
        if event.type is EventType.WORKLOAD_ROLLOUT
        if (event.fields["rollout"], event.cluster) == (f"shop/{rollout}", cluster) and begin <= at < end
    ]


def test_all_ends_well_and_no_file_has_an_error(played: tuple[ScenarioRun, Timeline]) -> None:
    run, timeline = played
    assert not [event for _, event in timeline if event.type is EventType.FAULT]
    ended = {record.key.name: {one.rolling_state for one in record.clusters} for record in run.state.rollouts.values()}
    assert ended == {name: {RollingState.SUCCEEDED} for name in ("cart", "db", "web")}
    images = {
        (name, live.key.name): (live.body["spec"]["template"]["spec"]["containers"][0]["image"], pods_of(live.body))
        for name, cluster in run.fleet.clusters.items()
        for live in cluster.objects()
        if live.key.kind in ("Deployment", "StatefulSet")
    }
    for cluster in ("eu-1", "us-1"):
        assert images[cluster, "web"] == ("registry.example/web:4", 8)
        assert images[cluster, "db"] == ("registry.example/db:2", 3)


def pods_of(body: JsonObject) -> int:
    """How many pods a workload wants."""
    return int(body["spec"].get("replicas", 1))


def test_web_goes_through_one_cluster_after_the_other_and_waits_for_the_change_window(
    played: tuple[ScenarioRun, Timeline],
) -> None:
    _, timeline = played
    first, second = (states(timeline, "web", cluster, 60, 1200) for cluster in ("eu-1", "us-1"))
    assert [batch for _, state, batch in first if state == "batchInRolling"] == [1, 2, 3, 4]
    (waited,) = [at for at, state, batch in first if (state, batch) == ("batchInRolling", 4)]
    assert 360 <= waited <= 400
    through = next(at for at, state, _ in first if state == "rolloutSucceed")
    assert min(at for at, state, _ in second if state == "batchInRolling") >= through


def test_db_waits_for_a_person(played: tuple[ScenarioRun, Timeline]) -> None:
    _, timeline = played
    waits = [
        (at, event.cluster)
        for at, event in timeline
        if event.type is EventType.WORKLOAD_ROLLOUT and event.fields["rollout"] == "shop/db" and "waits" in event.fields
    ]
    assert {cluster for _, cluster in waits} == {"eu-1", "us-1"}
    assert all(1200 <= at < 1320 for at, _ in waits)
    assert states(timeline, "db", "eu-1", 1320, 1500)[-1][1] == "rolloutSucceed"


def test_errors_end_a_release_in_its_first_batch_on_the_first_cluster(played: tuple[ScenarioRun, Timeline]) -> None:
    _, timeline = played
    bad = states(timeline, "web", "eu-1", 1800, 2100)
    assert bad[-1][1] == "rolloutFailed"
    assert {batch for _, _, batch in bad if batch} == {1}
    assert not [state for _, state, _ in states(timeline, "web", "us-1", 1800, 2100) if state.startswith("batch")]
    (why,) = [
        event.fields["message"]
        for at, event in timeline
        if event.type is EventType.WORKLOAD_ROLLOUT and event.fields["state"] == "rolloutFailed" and at >= 1800
    ]
    assert "errors" in why
    assert "0.05" in why
