"""The two worked examples of the seed on safe rollout, played as a user would with `gitfleet simulate`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from gitfleet.api.scenarios import Scenario
from gitfleet.model.events import Event, EventType
from gitfleet.rollout.texts import RolloutText
from gitfleet.simulation.scenario import read_scenario
from gitfleet.simulation.scenario_run import ScenarioRun
from gitfleet.status.texts import StatusText
from gitfleet.views.kinds import objects_of
from gitfleet.wiring import hub
from tests.scenarios.explaining import explain, waiting
from tests.state.builders import reader_of

EXAMPLES = Path(__file__).parents[2] / "examples" / "safe-rollout"
Timeline = list[tuple[float, Event]]


def load(name: str) -> tuple[dict[str, bytes], Scenario]:
    """An example's config repo and scenario."""
    fleet = EXAMPLES / name / "fleet"
    files = {str(p.relative_to(fleet)): p.read_bytes() for p in sorted(fleet.rglob("*")) if p.is_file()}
    return files, read_scenario((EXAMPLES / name / "scenario.yaml").read_bytes(), path=f"{name}/scenario.yaml")


def play(name: str, until: timedelta | None = None) -> tuple[ScenarioRun, Timeline]:
    """Play an example, as if nothing of its timeline came after `until`."""
    files, scenario = load(name)
    if until is not None:
        scenario = replace(scenario, timeline=tuple(e for e in scenario.timeline if e.at <= until))
    timeline: Timeline = []
    return hub.run_scenario(scenario, files, lambda event, at: timeline.append((at, event))), timeline


def availability(timeline: Timeline) -> Iterator[tuple[float, Event, frozenset[str]]]:
    """Every event, with the clusters that are available after it as far as the timeline tells."""
    available: set[str] = set()
    for at, event in timeline:
        if event.type == EventType.AVAILABLE and event.cluster:
            (available.add if event.fields["value"] else available.discard)(event.cluster)
        gone = event.type == EventType.APPLIED and event.fields["action"] == "delete"
        if (event.type == EventType.REMOVED or gone) and event.cluster:
            available.discard(event.cluster)
        yield at, event, frozenset(available)


def status_of(play: ScenarioRun) -> dict[str, Any]:
    """The placement's status as `get -o yaml` shows it."""
    (document,) = objects_of("crp", reader_of(play.state), "test")
    status = document["status"]
    assert isinstance(status, dict)
    return status


def condition(conditions: list[dict[str, Any]], type_: str) -> dict[str, Any]:
    """One condition."""
    return next(c for c in conditions if c["type"] == type_)


def images(play: ScenarioRun) -> dict[str, str | None]:
    """The image that each cluster runs."""
    found: dict[str, str | None] = {}
    for name, cluster in sorted(play.fleet.clusters.items()):
        bodies = [live.body for live in cluster.objects() if live.key.kind == "Deployment"]
        found[name] = bodies[0]["spec"]["template"]["spec"]["containers"][0]["image"] if bodies else None
    return found


# Example 1: a bad image


def test_a_bad_image_stops_on_exactly_one_cluster() -> None:
    played, timeline = play("bad-image", until=timedelta(minutes=2))
    good, bad = "registry.example/web:1", "registry.example/web:bad"
    assert images(played) == {"cluster-1": bad, "cluster-2": good, "cluster-3": good, "cluster-4": None}
    assert timeline[-1][1].fields["reason"] == "settled"  # nothing can move any more: no clock will bring the rest
    assert {e.cluster for _, e in timeline if e.type == EventType.UPDATING} == {"cluster-1"}


def test_a_stopped_rollout_says_why() -> None:
    played, _ = play("bad-image", until=timedelta(minutes=2))
    status = status_of(played)
    started = condition(status["conditions"], "ClusterResourcePlacementRolloutStarted")
    assert (started["status"], started["reason"]) == ("False", "RolloutNotStartedYet")
    assert started["message"] == StatusText.ROLLOUT_BEING_BLOCKED_ROLLOUT_STRATEGY_CLUSTER().format(2)
    clusters = {entry["clusterName"]: entry for entry in status["placementStatuses"]}
    assert sorted(clusters) == ["cluster-1", "cluster-2", "cluster-3"]
    broken = condition(clusters["cluster-1"]["conditions"], "Available")
    assert (broken["status"], broken["reason"]) == ("False", "NotAllWorkAreAvailable")
    assert "Deployment" in broken["message"] and "test-ns/web" in broken["message"]
    assert clusters["cluster-1"]["failedPlacements"][0]["name"] == "web"
    assert clusters["cluster-1"]["observedResourceIndex"] == "1"
    for name in ("cluster-2", "cluster-3"):
        held = condition(clusters[name]["conditions"], "RolloutStarted")
        assert (held["status"], held["reason"]) == ("False", "RolloutNotStartedYet")
        assert clusters[name]["observedResourceIndex"] == "0"


def test_a_stopped_rollout_is_explained_cluster_by_cluster() -> None:
    played, _ = play("bad-image", until=timedelta(minutes=2))
    rows = {row["clusterName"]: row for row in explain(played.repo, played.fleet, played.clock, "test")}
    assert [rows[name]["selected"] for name in sorted(rows)] == [True, True, True, False]
    (broken,) = rows["cluster-1"]["waiting"]
    assert "Deployment/test-ns/web" in broken and "available" in broken
    for name in ("cluster-2", "cluster-3"):
        (held,) = rows[name]["waiting"]
        assert "2 of 3 clusters are available" in held and "maxUnavailable 1" in held and "cluster-1" in held
    assert rows["cluster-4"]["state"] is None and rows["cluster-4"]["reason"]
    sentences = waiting(played.repo, played.fleet, played.clock)
    assert len(sentences) == 3
    not_available = RolloutText.IS_NOT(step="Available", condition="")
    assert any(not_available in s and "Deployment" in s for s in sentences)
    assert any("cluster-2" in s for s in sentences) and any("cluster-3" in s for s in sentences)


def test_the_readme_of_the_state_branch_names_the_cluster_and_the_deployment() -> None:
    played, _ = play("bad-image", until=timedelta(minutes=2))
    page = played.repo.files("gitfleet/state")["README.md"].decode()
    row = next(line for line in page.splitlines() if line.startswith("| [`test`]"))
    assert "cluster-1" in row and "Deployment" in row


def test_the_spare_cluster_is_never_picked_and_the_good_image_heals() -> None:
    played, timeline = play("bad-image")
    assert not [e for _, e in timeline if e.cluster == "cluster-4" and e.type != EventType.CLUSTER]
    assert images(played) == {
        **dict.fromkeys(["cluster-1", "cluster-2", "cluster-3"], "registry.example/web:2"),
        "cluster-4": None,
    }
    healed = [(at, e.cluster) for at, e in timeline if e.type == EventType.UPDATING and e.fields["snapshot"] == "2"]
    assert [cluster for _, cluster in healed] == ["cluster-1", "cluster-2", "cluster-3"]
    assert healed[0][0] == 20 * 60  # at once: what has failed needs no budget
    assert len({at for at, _ in healed}) == 3  # one after the other
    end = timeline[-1][1].fields
    assert end["reason"] == "settled"
    assert all(c == {"snapshot": "2", "available": True} for c in end["placements"]["test"]["clusters"].values())


def test_never_more_than_one_cluster_is_down() -> None:
    _, timeline = play("bad-image")
    after_start = [available for at, _, available in availability(timeline) if at > 20]
    assert after_start and min(map(len, after_start)) == 2


# Example 2: from the west to the east


def test_the_move_surges_to_the_east_and_ends_there() -> None:
    played, timeline = play("west-to-east")
    bound = [(at, e.cluster) for at, e in timeline if e.type == EventType.BOUND and at > 0]
    assert bound == [(120, "cluster-3"), (120, "cluster-4")]  # both at once: maxSurge 2
    removed = [(at, e.cluster) for at, e in timeline if e.type == EventType.REMOVED]
    assert removed == [(120, "cluster-1"), (140, "cluster-2")]  # the second one when the east serves
    assert images(played) == {
        **dict.fromkeys(("cluster-1", "cluster-2")),
        **dict.fromkeys(("cluster-3", "cluster-4"), "registry.example/web:1"),
    }
    assert timeline[-1][1].fields == {
        "reason": "settled",
        "placements": {"test": {"clusters": {f"cluster-{n}": {"snapshot": "0", "available": True} for n in (3, 4)}}},
    }


def test_at_least_one_cluster_serves_at_every_event() -> None:
    _, timeline = play("west-to-east")
    reported = [(at, event, available) for at, event, available in availability(timeline) if at > 20]
    assert reported
    for at, event, available in reported:
        assert len(available) >= 1, (at, event)


def test_clusters_that_wait_to_be_removed_stay_available_in_the_telling() -> None:
    """Being unpicked changes nothing on the cluster, so nothing may say that it is not available any more."""
    _, timeline = play("west-to-east")
    assert not [(at, e) for at, e in timeline if e.type == EventType.AVAILABLE and not e.fields["value"] and at >= 120]


# The same fleet, disturbed


def test_disturbances_lose_nothing_and_breaks_no_budget() -> None:
    files, _ = load("bad-image")
    path = EXAMPLES / "bad-image" / "disturbances.yaml"
    timeline: Timeline = []
    played = hub.run_scenario(
        read_scenario(path.read_bytes(), path=path.name), files, lambda event, at: timeline.append((at, event))
    )
    assert set(images(played).values()) == {"registry.example/web:2"}
    updates = [(at, e.cluster) for at, e in timeline if e.type == EventType.UPDATING]
    # The silent cluster has the budget for five minutes; it answers again after nine.
    assert [(at < 360, at < 600, cluster == "cluster-2") for at, cluster in updates] == [
        (False, True, False),
        (False, True, False),
        (False, False, True),
    ]
    assert len({at for at, _ in updates}) == len(updates) == 3
    assert timeline[-1][1].fields["reason"] == "settled"
    assert [e.type for _, e in timeline].count(EventType.CRASH) == 2


@pytest.mark.parametrize("name", ["bad-image", "west-to-east"])
def test_an_example_has_no_fault(name: str) -> None:
    played, timeline = play(name)
    assert not [e for _, e in timeline if e.type == EventType.FAULT]
    assert "faults.yaml" not in played.repo.files("gitfleet/state")
