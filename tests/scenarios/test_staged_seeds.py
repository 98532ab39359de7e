"""The seeds' three-stage example (seeds/003, Staged Update; seeds/002), played with its times: the status of the run is
the seed's, field by field."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

from gitfleet.api import write
from gitfleet.api.runs import RunRecord
from gitfleet.api.scenarios import ClusterRule
from gitfleet.rollout.texts import RolloutText
from gitfleet.simulation.clock import ManualClock
from gitfleet.status.texts import StatusText
from tests import builders
from tests.scenarios.staged_world import run_named
from tests.scenarios.world import World

SEEDS = Path(__file__).parents[1] / "data" / "seeds"
START = datetime(2025, 3, 12, 23, 21, 39, tzinfo=UTC)
NAME = "example-placement"
CANARY = "2025-03-12T23:25:15Z"
"""When canary was approved."""


def at(text: str) -> datetime:
    """A time of the seed's day."""
    return datetime.fromisoformat(f"2025-03-12T{text}+00:00")


def strategy() -> dict[str, Any]:
    """The strategy of the seed's completed run: its snapshot has other tasks than the one that the page defines."""
    return builders.staged_strategy(
        "example-strategy",
        {
            "name": "staging",
            "labelSelector": {"matchLabels": {"environment": "staging"}},
            "afterStageTasks": [{"type": "Approval"}, {"type": "TimedWait", "waitTime": "1m"}],
        },
        builders.stage("canary", match_labels={"environment": "canary"}, approval=True, sortingLabelKey="name"),
        builders.stage(
            "production", match_labels={"environment": "production"}, wait="1m", approval=True, sortingLabelKey="order"
        ),
    )


def play() -> World:
    """The seed's fleet on its day; the run begins."""
    world = World(clock=ManualClock(START), rules=(ClusterRule(available=timedelta(seconds=15)),))
    world.roll_out(
        builders.member_cluster("member1", labels={"environment": "staging"}),
        builders.member_cluster("member2", labels={"environment": "canary", "name": "1"}),
        builders.namespace(NAME),
        builders.deployment(NAME, "web"),
        builders.placement(NAME, strategy={"type": "External"}),
        strategy(),
        builders.staged_run("example-run", placement=NAME, strategy="example-strategy", index="0"),
    )
    return world


def until(world: World, text: str) -> None:
    """Let time pass to a moment of the seed's day."""
    world.settle(limit=at(text) - world.clock.now())
    world.move_to(at(text))


def approve(world: World, stage: str, text: str) -> None:
    """A person approves at a moment of the seed's day."""
    until(world, text)
    world.commit(builders.approval("example-run", stage))
    world.rest()


def without_empty(value: Any) -> Any:
    """The seed's text has empty messages, and 0s for the wait of an approval; a file leaves both out."""
    if isinstance(value, dict):
        return {key: without_empty(part) for key, part in value.items() if part not in ("", "0s")}
    return [without_empty(item) for item in value] if isinstance(value, list) else value


def wanted_status() -> Any:
    """The seed's status; the index of the snapshot is a field that KubeFleet got later. The seed's KubeFleet waited
    for the tasks of its stage without clusters; a later one skips them, and so does decision D44: the run ends with the
    approval of canary."""
    text = Path(__file__).with_name("seed_run_status.yaml").read_text()
    found = without_empty(yaml.safe_load(text.replace("2025-03-12T23:26:15Z", CANARY)))
    production = found["stagesStatus"][-1]
    assert (production["stageName"], production["clusters"]) == ("production", [])
    for task in production["afterStageTaskStatus"]:
        del task["conditions"]
    said = {"reason": "StageUpdatingSkippedNoClusters", "message": RolloutText.STAGE_SKIPPED_BECAUSE_NO_CLUSTERS()}
    production["conditions"] = [{**condition, **said} for condition in production["conditions"]]
    return {**found, "resourceSnapshotIndexUsed": "0"}


def status(world: World) -> Any:
    """The run's status in its file."""
    return yaml.safe_load(world.state_text("runs/example-run.yaml"))["status"]


def test_the_completed_run_of_the_seed() -> None:
    world = play()
    until(world, "23:22:54")
    world.rest()
    approve(world, "staging", "23:22:55")
    approve(world, "canary", "23:25:15")
    world.settle()

    assert status(world) == wanted_status()


def test_the_run_in_the_midst_of_the_seed() -> None:
    """member1 is updated, the wait of its stage is over, and nobody has approved it yet."""
    world = play()
    found = status(world)

    stages = {stage["stageName"]: stage for stage in found["stagesStatus"]}
    reasons = [[c["reason"] for c in task.get("conditions", ())] for task in stages["staging"]["afterStageTaskStatus"]]
    assert reasons == [["AfterStageTaskApprovalRequestCreated"], ["AfterStageTaskWaitTimeElapsed"]]
    assert stages["canary"] == {
        "stageName": "canary",
        "clusters": [{"clusterName": "member2"}],
        "afterStageTaskStatus": [{"type": "Approval", "approvalRequestName": "example-run-canary"}],
    }
    assert stages["production"] == {
        "stageName": "production",
        "clusters": [],
        "afterStageTaskStatus": [
            {"type": "TimedWait"},
            {"type": "Approval", "approvalRequestName": "example-run-production"},
        ],
    }
    assert [c["reason"] for c in found["conditions"]] == ["UpdateRunInitializedSuccessfully", "UpdateRunStarted"]
    assert found["deletionStageStatus"] == {"stageName": "kubernetes-fleet.io/deleteStage", "clusters": []}

    record = next(iter(world.state().placements.values()))
    member1, member2 = record.bindings
    messages = {c.type: c.message for c in member1.conditions}
    assert messages["RolloutStarted"] == (
        RolloutText.DETECTED_NEW_CHANGES_RESOURCES_STARTED()
        + ", resourceSnapshotIndex: 0, clusterStagedUpdateRun: example-run"
    )
    assert member2.resource_snapshot is None
    rollout = record.conditions[-1]
    assert (rollout.type, rollout.status, rollout.reason, rollout.message) == (
        "ClusterResourcePlacementRolloutStarted",
        "Unknown",
        "RolloutStartedUnknown",
        StatusText.STILL_CLUSTER_PROCESS_DECIDING_WHETHER().format("1"),
    )


def test_a_process_that_is_killed_at_every_moment_tells_the_same() -> None:
    """Nothing depends on memory: every pass by a process of its own."""
    world = play()
    for moment, stage in (("23:22:55", "staging"), ("23:25:15", "canary")):
        approve(world, stage, moment)
        world.restart()
    world.settle(each=world.restart)

    assert status(world) == wanted_status()


def test_the_example_of_the_other_page() -> None:
    """seeds/002: its own files; staging waits an hour, canary has two clusters by a label, production is approved."""
    world = World(rules=(ClusterRule(available=timedelta(seconds=15)),))
    files = {
        f"{folder}/{name}": (SEEDS / name).read_text()
        for folder, name in (("strategies", "002-02-staged-strategy.yaml"), ("runs", "002-04-staged-run.yaml"))
    }
    labels = {
        "member-cluster-01": {"environment": "canary", "name": "2"},
        "member-cluster-02": {"environment": "staging"},
        "member-cluster-03": {"environment": "canary", "name": "1"},
        "member-cluster-04": {"environment": "production", "order": "1"},
    }
    clusters = [builders.member_cluster(name, labels=own) for name, own in labels.items()]
    payload = [builders.namespace("test-namespace"), builders.deployment("test-namespace", "web")]
    world.write({"placements/p.yaml": (SEEDS / "002-03-external-placement.yaml").read_text()})
    world.roll_out(*clusters, *payload)
    world.commit(builders.deployment("test-namespace", "web", image="web:2"))  # the run names snapshot 1
    world.settle()
    world.write(files)
    world.rest()
    run: RunRecord = run_named(world, "example-staged-update-run")
    assert [[c.cluster for c in stage.clusters] for stage in run.status.stages] == [
        ["member-cluster-02"],
        ["member-cluster-03", "member-cluster-01"],
        ["member-cluster-04"],
    ]
    world.settle(limit=timedelta(minutes=1))
    assert (world.image("member-cluster-02"), world.image("member-cluster-03")) == ("web:2", None)
    world.advance(minutes=59)
    world.rest()
    assert world.image("member-cluster-03") is None
    world.settle(limit=timedelta(minutes=2))
    assert world.image("member-cluster-01") == "web:2"
    assert world.image("member-cluster-04") is None
    payload_text = (SEEDS / "002-06-approval-payload.json").read_text()
    world.roll_out(files={"approvals/example-staged-update-run-canary.json": payload_text})
    assert world.image("member-cluster-04") == "web:2"
    conditions = write(run_named(world, "example-staged-update-run"))["status"]["conditions"]
    assert [c["type"] for c in conditions] == ["Initialized", "Progressing", "Succeeded"]
