"""Who wrote what drifted: named in conditions and statuses, and recorded once, whatever else that manager writes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.bindings import FieldWriter
from gitfleet.api.objects import JsonObject, ObjectKey
from gitfleet.apply.texts import ApplyText
from tests import builders
from tests.scenarios.test_planned_steps import plan_of
from tests.scenarios.world import World

FLAG = ObjectKey("", "v1", "ConfigMap", "web", "flag")
KEY = ObjectKey("", "v1", "Secret", "web", "key")
STRATEGIES = {"drift": ({"whenToApply": "IfNotDrifted"}, "drifted"), "difference": ({"type": "ReportDiff"}, "diffed")}


def drifted(strategy: dict[str, Any], body: JsonObject, key: ObjectKey, path: str, value: str) -> World:
    """An object of one cluster that somebody changed after it was placed."""
    world = World()
    member = builders.member_cluster("c1")
    placed = builders.placement("web", strategy=builders.rolling_update(maxUnavailable="100%"))
    world.roll_out(member, builders.namespace("web"), body, placed)
    strategy = {**builders.rolling_update(maxUnavailable="100%"), "applyStrategy": strategy}
    world.roll_out(builders.placement("web", strategy=strategy))
    edit(world, key, path, value)
    world.settle()
    return world


def edit(world: World, key: ObjectKey, path: str, value: str) -> None:
    """Somebody with kubectl sets a field."""
    world.fleet.cluster("c1").mutate(key, [{"op": "add", "path": path, "value": value}])


def status_of(world: World, what: str) -> list[dict[str, Any]]:
    """What the placement's status says of the cluster, and the binding's own record."""
    (diverged,) = getattr(world.bindings("web")["c1"], what)
    return [{"details": diverged.details, "writers": diverged.writers, "observed": diverged.observed}]


@pytest.mark.parametrize("case", STRATEGIES)
def test_the_writer_is_said_and_its_later_writes_elsewhere_commit_nothing(case: str) -> None:
    strategy, what = STRATEGIES[case]
    world = drifted(strategy, builders.config_map("web", "flag", {"a": "1"}), FLAG, "/data/a", "9")
    (before,) = status_of(world, what)
    assert before["details"] == (("/data/a", "9", "1"),)
    (writer,) = before["writers"]
    assert writer == FieldWriter("/data/a", "kubectl-edit", writer.time) and writer.time
    written = f'"writtenBy":[{{"manager":"kubectl-edit","path":"/data/a","time":"{writer.time}"}}]'
    assert written in world.state_text("bindings/web/all.yaml")
    if what == "drifted":
        sentence = ApplyText.IS_AND_SHOULD_BE(
            path="/data/a", there="9", wanted="", by="", more_than_first="1, written by kubectl-edit"
        )
        assert sentence in world.bindings("web")["c1"].failed[0].message
    commits = world.state_commits()
    for minute in range(1, 4):
        world.advance(minutes=minute)
        edit(world, FLAG, "/data/heartbeat", str(minute))
        world.settle(limit=timedelta(seconds=1))
    assert world.state_commits() == commits
    assert status_of(world, what) == [before]
    world.advance(minutes=1)
    edit(world, FLAG, "/data/a", "8")
    world.settle(limit=timedelta(seconds=1))
    (after,) = status_of(world, what)
    assert after["details"] == (("/data/a", "8", "1"),) and after["writers"][0].time > writer.time


def test_of_a_secret_the_writer_is_said_and_no_value() -> None:
    body = builders.secret("web", "key", {"token": "s3cr3t-canary"})
    world = drifted({"whenToApply": "IfNotDrifted"}, body, KEY, "/data/token", "b3RoZXItY2FuYXJ5")
    (found,) = status_of(world, "drifted")
    assert [(one.path, one.manager) for one in found["writers"]] == [("/data/token", "kubectl-edit")]
    text = world.state_text("bindings/web/all.yaml") + world.state_text("placements/web.yaml")
    assert "kubectl-edit" in text and not any(value in text for value in ("canary", "b3RoZXItY2FuYXJ5"))


def test_what_is_corrected_names_who_wrote_it_in_the_plan() -> None:
    world = World()
    flag = builders.config_map("web", "flag", {"a": "1"})
    world.roll_out(builders.member_cluster("c1"), builders.namespace("web"), flag, builders.placement("web"))
    edit(world, FLAG, "/data/a", "9")
    rows = [row for placement in plan_of(world)["placements"] for row in placement["operations"]]
    reasons = [row["reason"] for row in rows if row["action"] == "update"]
    assert reasons == [
        (
            "drifted: "
            + ApplyText.IS_AND_SHOULD_BE(
                path="/data/a", there="9", wanted="", by="", more_than_first="1, written by kubectl-edit"
            )
        )
    ]
