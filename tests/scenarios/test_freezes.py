"""Freezes on whole simulated fleets: what starts, what goes on, what is said, and when it wakes up."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gitfleet.api.conditions import Status, find_condition
from gitfleet.api.scenarios import ClusterRule
from gitfleet.rollout.texts import RolloutText
from gitfleet.simulation.clock import ManualClock
from gitfleet.status.texts import StatusText
from gitfleet.views.evictions import waiting_views
from tests import builders
from tests.scenarios.explaining import explain
from tests.scenarios.staged_world import EXTERNAL, members, message, rolled_out, said, stage_of
from tests.scenarios.world import World

QUICK = ClusterRule(available=timedelta(seconds=10))
MINUTE = ClusterRule(available=timedelta(minutes=1))
WAITS = "frozen by window night until 2026-11-20 20:00 Europe/Berlin"


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def config(**scope: Any) -> dict[str, Any]:
    """Two hours of every evening are frozen: 17:00 to 19:00 UTC in winter."""
    night = {"name": "night", "schedule": "0 18 * * *", "duration": "2h", "timeZone": "Europe/Berlin", "scope": scope}
    return builders.fleet_config(removals={"approval": "Never"}, freezeWindows=[night])


def world_at(time: str, *names: str, rule: ClusterRule = QUICK, **scope: Any) -> World:
    """A fleet at rest with placement `web`, at a time of 20 November 2026, UTC."""
    world = World(rules=(rule,), clock=ManualClock(utc("2026-11-20 10:00")))
    world.roll_out(config(**scope), *members(*(names or ("c1", "c2", "c3"))), *web("web:1"))
    world.move_to(utc(f"2026-11-20 {time}"))
    return world


def web(image: str, **parts: Any) -> list[dict[str, Any]]:
    parts = {"strategy": builders.rolling_update(maxUnavailable=1), **parts}
    return [builders.namespace("web"), builders.deployment("web", "web", image), builders.placement("web", **parts)]


def waits(world: World, placement: str = "web") -> dict[str, str]:
    """What the bindings that have not started say."""
    found = {n: find_condition(b.conditions, "RolloutStarted") for n, b in world.bindings(placement).items()}
    return {name: c.message for name, c in found.items() if c is not None and c.status is Status.FALSE}


def test_nothing_starts_in_a_window_and_all_goes_out_at_its_end() -> None:
    world = world_at("17:30")
    world.commit(*web("web:2"))
    woken = world.rest()
    assert woken == utc("2026-11-20 19:00")
    assert rolled_out(world) == dict.fromkeys(("c1", "c2", "c3"), "web:1")
    assert waits(world) == dict.fromkeys(("c1", "c2", "c3"), WAITS)
    result = world.driver.reconcile()
    assert result.waiting == tuple(f"web: {name} waits: {WAITS}" for name in ("c1", "c2", "c3"))
    assert not result.settled
    assert WAITS in world.state_text("README.md")
    assert {row["why"] for row in explain(world.repo, world.fleet, world.clock, "web")} == {WAITS}
    assert world.state().freezes.windows[0].name == "night"
    assert any(WAITS in str(event.fields.get("message")) for event in world.events)
    world.settle()
    assert set(rolled_out(world).values()) == {"web:2"}
    assert waits(world) == {}


def test_a_window_that_opens_in_a_rollout_lets_what_is_under_way_finish() -> None:
    world = world_at("16:59", rule=MINUTE)
    world.commit(*web("web:2"))
    world.rest()
    assert rolled_out(world) == {"c1": "web:2", "c2": "web:1", "c3": "web:1"}
    assert world.bindings("web")["c1"].applied_snapshot != world.bindings("web")["c2"].applied_snapshot
    world.move_to(utc("2026-11-20 17:05"))
    assert world.rest() == utc("2026-11-20 19:00")
    assert rolled_out(world) == {"c1": "web:2", "c2": "web:1", "c3": "web:1"}
    found = find_condition(world.bindings("web")["c1"].conditions, "Available")
    assert found is not None
    assert found.status is Status.TRUE
    assert waits(world) == dict.fromkeys(("c2", "c3"), WAITS)
    world.settle(timedelta(hours=3))
    assert set(rolled_out(world).values()) == {"web:2"}


def test_drift_is_corrected_in_a_window() -> None:
    world = world_at("17:30")
    cluster = world.fleet.cluster("c2")
    cluster.delete_by_hand(next(found.key for found in cluster.objects() if found.key.kind == "Deployment"))
    assert world.image("c2") is None
    world.settle()
    assert world.image("c2") == "web:1"


def test_a_joining_cluster_a_new_placement_and_a_removal_wait_and_a_leaving_cluster_does_not() -> None:
    world = world_at("17:30")
    other = [builders.namespace("b"), builders.deployment("b", "web"), builders.placement("b", "b")]
    world.commit(*members("c4"), *other, remove=(builders.placement("web"), builders.member_cluster("c3")))
    world.rest()
    assert {name: world.image_in(name, "web") for name in ("c1", "c2", "c4")} == {
        "c1": "web:1",
        "c2": "web:1",
        "c4": None,
    }
    assert {name: world.image_in(name, "b") for name in ("c1", "c4")} == {"c1": None, "c4": None}
    assert "c3" not in world.state().clusters
    result = world.driver.reconcile()
    assert result.wake_at == utc("2026-11-20 19:00")
    assert {s for s in result.waiting if s.startswith("web")} == {
        f"web: {name} waits: {WAITS}" for name in ("c1", "c2")
    }
    world.settle(timedelta(hours=3))
    assert {name: world.image_in(name, "web") for name in ("c1", "c2", "c4")} == dict.fromkeys(("c1", "c2", "c4"))
    assert {name: world.image_in(name, "b") for name in ("c1", "c4")} == dict.fromkeys(("c1", "c4"), "web:1")


def test_an_eviction_waits_for_the_end_of_a_window() -> None:
    world = world_at("17:30")
    world.commit(builders.eviction("ill", "web", "c2"))
    assert world.rest() == utc("2026-11-20 19:00")
    assert world.state().evictions == {}
    result = world.driver.reconcile()
    assert result.waiting == (f"eviction ill of web from c2 waits: {WAITS}",)
    assert [(str(f.severity), f.object, f.message) for f in world.state().faults] == [
        (
            "warning",
            "ClusterResourcePlacementEviction/ill",
            StatusText.WAITS_TAKE_OFF(placement_name="web", eviction="c2", why=WAITS),
        )
    ]
    rows = {row["clusterName"]: row["evictions"] for row in explain(world.repo, world.fleet, world.clock, "web")}
    assert rows == {
        "c1": [],
        "c2": [f"ill waits: {WAITS}"],
        "c3": [],
    }
    view = next(waiting_views(world.state().faults))
    assert (view.name, view.eviction.placement_name, view.eviction.cluster_name) == ("ill", "web", "c2")
    assert (view.valid, view.executed, view.message) == ("", "", WAITS)
    assert world.image("c2") == "web:1"
    world.move_to(utc("2026-11-20 19:00"))
    world.rest()
    assert world.state().evictions["ill"].was_executed
    assert world.state().faults == ()


def test_a_faulty_window_keeps_the_last_good_one() -> None:
    world = world_at("17:30")
    faulty = config()
    faulty["spec"]["freezeWindows"][0]["timeZone"] = "Europe/Berln"
    world.commit(faulty, *web("web:2"))
    world.rest()
    assert waits(world) == dict.fromkeys(("c1", "c2", "c3"), WAITS)
    assert [(f.path, f.field) for f in world.state().faults] == [("gitfleet.yaml", "spec.freezeWindows[0].timeZone")]


FIXED = builders.pick_fixed("a1", "a2", "b1", "b2")


def external(time: str, *stages: dict[str, Any], policy: dict[str, Any] | None = None, **scope: Any) -> World:
    world = World(rules=(QUICK,), clock=ManualClock(utc("2026-11-20 10:00")))
    clusters = [*members("a1", "a2", stage="canary", region="eu"), *members("b1", "b2", stage="prod", region="us")]
    placed = web("web:1", strategy=EXTERNAL, policy=policy)
    world.roll_out(config(**scope), *clusters, *placed, builders.staged_strategy("all", *stages))
    world.move_to(utc(f"2026-11-20 {time}"))
    world.commit(builders.staged_run("go", placement="web", strategy="all"))
    return world


def stages(**fields: Any) -> list[dict[str, Any]]:
    return [
        builders.stage("canary", match_labels={"stage": "canary"}, **fields),
        builders.stage("prod", match_labels={"stage": "prod"}),
    ]


def test_a_runs_stage_waits_for_the_window() -> None:
    world = external("17:30", *stages(), stages=["prod"])
    assert [world.rest() for _ in range(2)][1] is not None
    world.settle(timedelta(hours=1))
    assert rolled_out(world) == {"a1": "web:1", "a2": "web:1", "b1": None, "b2": None}
    assert said(world, "go") == [
        "Initialized=True UpdateRunInitializedSuccessfully",
        "Progressing=False UpdateRunWaiting",
    ]
    waiting = RolloutText.WAITS(where="before stage prod", first=WAITS)
    assert message(world, "go", "Progressing") == waiting
    assert stage_of(world, "go", "prod").start_time is None
    result = world.driver.reconcile()
    assert RolloutText.RUN_MESSAGE(run="go", message=waiting) in result.waiting
    assert result.wake_at == utc("2026-11-20 19:00")
    world.settle(timedelta(hours=3))
    assert set(rolled_out(world).values()) == {"web:1"}
    assert stage_of(world, "go", "prod").start_time == utc("2026-11-20 19:00")


def test_a_run_that_is_stopped_takes_the_placement_off_no_cluster_when_the_window_ends() -> None:
    stopped = builders.staged_run("next", placement="web", strategy="all")
    stopped["spec"]["state"] = "Stop"
    world = external("16:00", *stages(), policy=FIXED, clusters={"matchLabels": {"stage": "prod"}})
    world.settle(timedelta(minutes=20))
    assert said(world, "go")[-1] == "Succeeded=True UpdateRunSucceeded"
    world.move_to(utc("2026-11-20 17:30"))
    world.roll_out(
        builders.placement("web", strategy=EXTERNAL, policy=builders.pick_fixed("a1")),
        builders.staged_run("next", placement="web", strategy="all"),
        limit=timedelta(minutes=20),
    )
    assert rolled_out(world) == {"a1": "web:1", "a2": None, "b1": "web:1", "b2": "web:1"}
    world.roll_out(stopped, limit=timedelta(hours=3))
    assert (said(world, "next")[-1], world.image("b2")) == ("Progressing=False UpdateRunStopped", "web:1")
    world.roll_out(builders.staged_run("next", placement="web", strategy="all"))
    assert (said(world, "next")[-1], world.image("b2")) == ("Succeeded=True UpdateRunSucceeded", None)


UNTIL = "2026-11-21T06:00:00Z"
FRIDAY = "frozen by friday until 2026-11-21 06:00:00 UTC (ops: no changes)"


def test_a_freeze_by_commit_holds_until_its_end() -> None:
    world = world_at("12:00")
    world.commit(builders.freeze("friday", UNTIL, **{"from": "2026-11-20T12:30:00Z"}))
    world.rest()
    assert waits(world) == {}
    world.commit(builders.freeze("friday", UNTIL), *web("web:2"))
    assert world.rest() == utc("2026-11-21 06:00")
    assert waits(world) == dict.fromkeys(("c1", "c2", "c3"), FRIDAY)
    assert "no changes" in world.state_text("README.md")
    world.settle(timedelta(days=1))
    assert set(rolled_out(world).values()) == {"web:2"}
    world.rest()
    (fault,) = world.state().faults
    assert (fault.path, fault.object, fault.message) == (
        "freezes/friday.yaml",
        "Freeze/friday",
        RolloutText.EXPIRED_COUNTS_NOTHING(end="2026-11-21 06:00:00 UTC"),
    )


def test_what_expires_is_said_though_nothing_else_happens() -> None:
    world = world_at("12:00")
    world.commit(
        builders.freeze("friday", UNTIL), builders.freeze_override("now", "2026-11-20T14:00:00Z", freezes=["friday"])
    )
    for at, over in (("13:59:59", []), ("14:00", ["FreezeOverride/now"])):
        world.move_to(utc(f"2026-11-20 {at}"))
        result = world.driver.reconcile()
        assert result.settled or result.changed
        assert [fault.object for fault in world.state().faults] == over
    world.move_to(utc("2026-11-21 06:00"))
    world.reconcile()
    assert [fault.object for fault in world.state().faults] == ["Freeze/friday", "FreezeOverride/now"]


@pytest.mark.parametrize(
    ("lifts", "goes"),
    [
        ({"freezes": ["friday"]}, ["web", "other"]),
        ({"scope": {"placements": ["web"]}}, ["web"]),
        ({"freezes": ["friday"], "scope": {"placements": ["oth*"]}}, ["other"]),
        ({"freezes": ["monday"]}, []),
        ({"windows": ["friday", "night"]}, []),
        ({"scope": {"clusters": {"matchLabels": {"tier": "none"}}}}, []),
    ],
)
def test_an_override_lets_go_what_it_names(lifts: dict[str, Any], goes: list[str]) -> None:
    world = world_at("12:00", "c1")
    other = [builders.namespace("other"), builders.deployment("other", "web"), builders.placement("other")]
    world.commit(builders.freeze("friday", UNTIL), *web("web:2"), *other)
    world.rest()
    world.roll_out(builders.freeze_override("now", "2026-11-20T14:00:00Z", **lifts), limit=timedelta(hours=1))
    gone = [name for name, image in {"web": "web:2", "other": "web:1"}.items() if world.image_in("c1", name) == image]
    assert gone == goes


def test_a_placement_that_moves_before_it_began_waits_for_nothing_on_the_clusters_that_it_never_reached() -> None:
    world = World(rules=(QUICK,))
    until = (world.clock.now() + timedelta(minutes=30)).isoformat()
    frozen = builders.freeze("f", until, scope={"placements": ["web"]})

    rolling = builders.rolling_update(maxUnavailable=1)

    def on(*names: str) -> dict[str, Any]:
        return builders.placement("web", policy=builders.pick_fixed(*names), strategy=rolling)

    world.commit(*members("c1", "c2", "c3", "c4"), builders.namespace("web"), frozen, on("c1", "c2"))
    world.reconcile()
    world.commit(on("c3", "c4"))
    for _ in range(3):
        world.reconcile()
    assert set(world.bindings("web")) == {"c3", "c4"}
    world.settle(timedelta(hours=2))
    there = {name for name in world.fleet.clusters if world.live(name, "Namespace", "web")}
    assert there == {"c3", "c4"}
