"""Quarantined content on whole simulated fleets: no run and no rolling update rolls it out, unless a file lifts it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.placements import PlacementKey
from gitfleet.api.quarantines import Quarantine, quarantine_name
from gitfleet.api.texts import ApiText
from gitfleet.rollout.texts import RolloutText
from gitfleet.views.quarantines import lifting_text
from tests import builders
from tests.scenarios.staged_world import (
    EXTERNAL,
    QUICK,
    STARTED,
    SUCCEEDED,
    clusters_of,
    members,
    message,
    one_stage,
    rolled_out,
    run,
    run_named,
    said,
    stage_of,
    staged,
)
from tests.scenarios.test_contained_failures import poisoned
from tests.scenarios.test_staged_fallback import ENDED, OLD, WHY, bad_on, until_it_rolls_back, world_with_old
from tests.scenarios.world import World

WEB = PlacementKey("", "web")


def quarantine(digest: str, *, name: str = "web-bad", **spec: Any) -> dict[str, Any]:
    """A person's Quarantine of content of `web`."""
    return builders.quarantine(name, "web", digest, **spec)


def digest_of(world: World, index: int) -> str:
    """The hash of a snapshot of `web`."""
    return next(s.hash for s in world.state().placements[WEB].resource_snapshots if s.index == index)


def path(one: str) -> str:
    """Where the file of a quarantine lies."""
    return f"quarantines/{one}.yaml"


def failed_world() -> tuple[World, Quarantine]:
    """A run of web:2 has rolled back; and what it left behind."""
    world = world_with_old(bad_on("p2"))
    world.settle()
    assert (said(world, "new"), rolled_out(world)) == (ENDED, OLD)
    (one,) = world.state().quarantines.values()
    return world, one


def test_content_that_was_rolled_back_is_quarantined_from_the_first_moment_on() -> None:
    world = world_with_old(bad_on("p2"))
    until_it_rolls_back(world)
    (one,) = world.state().quarantines.values()
    digest = digest_of(world, 1)
    assert (one.name, one.content, one.run) == (quarantine_name(WEB, digest), (WEB, digest), "new")
    assert one.reason == f"run new: {WHY}"
    world.settle()
    assert list(world.state().quarantines.values()) == [one]


def test_a_run_of_quarantined_content_is_refused_and_one_of_other_content_is_not() -> None:
    world, one = failed_world()
    world.commit(run("again"))
    world.settle()
    assert said(world, "again") == ["Initialized=False UpdateRunInitializedFailed"]
    assert message(world, "again", "Initialized") == (
        "snapshot 1 "
        + ApiText.QUARANTINED_OTHER_CONTENT_GOES_OUT(
            name="", why=f"{one.name} (run new: {WHY})", lift=ApiText.QUARANTINE_LIFTED_TRUE()
        )
        + ("; " + RolloutText.THEN_ADD_NEW_RUN())
    )
    world.commit(builders.deployment("web", "web", image="web:3"), run("better"))
    world.settle()
    assert (said(world, "better"), set(rolled_out(world).values())) == (SUCCEEDED, {"web:3"})


def test_the_file_that_the_page_shows_lifts_it() -> None:
    world, one = failed_world()
    for cluster in OLD:
        world.fleet.cluster(cluster).behave([QUICK])
    page = world.state_text("README.md")
    assert "## Quarantined content: 1" in page and all(line in page for line in lifting_text(one).splitlines())
    world.write({path(one.name): lifting_text(one)})
    world.commit(run("again"))
    world.settle()
    assert (said(world, "again"), set(rolled_out(world).values())) == (SUCCEEDED, {"web:2"})
    assert [q.lifted for q in world.state().quarantines.values()] == [True]
    world.commit(remove=[path(one.name)])
    world.settle()
    assert [q.lifted for q in world.state().quarantines.values()] == [False]
    assert set(rolled_out(world).values()) == {"web:2"}, "what is there stays there"


def test_a_quarantine_ends_with_its_placement() -> None:
    world, _ = failed_world()
    world.commit(remove=["placements/web.yaml"])
    world.settle()
    assert world.state().quarantines == {}


def test_a_placement_that_is_added_again_has_nothing_quarantined_by_the_runs_of_the_old_one() -> None:
    world, _ = failed_world()
    world.commit(remove=["placements/web.yaml"])
    world.settle()
    world.commit(builders.deployment("web", "web", image="web:4"), builders.placement("web", strategy=EXTERNAL))
    world.settle()
    world.commit(builders.deployment("web", "web", image="web:5"))
    world.settle()
    assert world.state().quarantines == {}
    world.commit(run("good"))
    world.settle()
    assert (said(world, "good"), set(rolled_out(world).values())) == (SUCCEEDED, {"web:5"})


def test_a_run_that_is_removed_leaves_its_quarantine() -> None:
    world, one = failed_world()
    world.commit(remove=["runs/new.yaml"])
    world.settle()
    world.restart()
    world.commit(run("again"))
    world.settle()
    assert list(world.state().quarantines.values()) == [one]
    assert said(world, "again") == ["Initialized=False UpdateRunInitializedFailed"]


def test_a_persons_quarantine_stops_a_run_on_its_way_until_it_is_taken_back() -> None:
    world = staged(World(rules=(QUICK,)), *members("c1", "c2", "c3"))
    world.commit(one_stage(), run())
    world.rest()
    bad = quarantine(digest_of(world, 0), reason="it loses data")
    world.commit(bad)
    world.settle(limit=timedelta(hours=1))
    why = "snapshot 0 " + ApiText.QUARANTINED_OTHER_CONTENT_GOES_OUT(
        name="", why="web-bad (it loses data)", lift=ApiText.TAKING_FILE_AWAY()
    )
    assert said(world, "go") == [STARTED[0], "Progressing=False UpdateRunWaiting"]
    assert message(world, "go", "Progressing") == RolloutText.UPDATERUN_STARTS_NO_FURTHER_CLUSTER(refused=why)
    assert rolled_out(world) == {"c1": "web:1", "c2": None, "c3": None}
    result = world.reconcile()
    assert (
        result is not None
        and result.settled
        and result.asks == (RolloutText.RUN_STARTS_NO_FURTHER_CLUSTER(run="go", refused=why),)
    )
    world.commit(remove=[path("web-bad")])
    world.settle()
    assert (said(world, "go"), world.state().quarantines) == (SUCCEEDED, {})


def rolling_world() -> World:
    """Three clusters have web:1 of a rolling placement, one at a time."""
    world = World(rules=(QUICK,))
    world.commit(
        *members("c1", "c2", "c3"),
        builders.namespace("web"),
        builders.deployment("web", "web"),
        builders.placement("web", strategy=builders.rolling_update(maxUnavailable=1)),
    )
    world.settle()
    return world


def test_a_rolling_update_moves_no_further_cluster_to_quarantined_content() -> None:
    world = rolling_world()
    world.commit(builders.deployment("web", "web", image="web:2"))
    world.rest()
    assert sorted(map(str, rolled_out(world).values())) == ["web:1", "web:1", "web:2"]
    had = rolled_out(world)
    world.commit(quarantine(digest_of(world, 1)), *members("c4"))
    world.settle()
    assert rolled_out(world) == {**had, "c4": None}
    result = world.reconcile()
    why = "snapshot 1 " + ApiText.QUARANTINED_OTHER_CONTENT_GOES_OUT(
        name="", why="web-bad", lift=ApiText.TAKING_FILE_AWAY()
    )
    assert result is not None and result.settled and result.asks == (f"web: {why}",)
    assert {b.conditions[0].message for c, b in world.bindings("web").items() if had.get(c) != "web:2"} == {why}
    world.commit(builders.deployment("web", "web", image="web:3"))
    world.settle()
    assert set(rolled_out(world).values()) == {"web:3"}


def test_a_rolling_update_goes_on_when_the_file_is_taken_away() -> None:
    world = rolling_world()
    world.commit(builders.deployment("web", "web", image="web:2"))
    world.rest()
    world.commit(quarantine(digest_of(world, 1)))
    world.settle()
    world.restart()
    world.commit(remove=[path("web-bad")])
    world.settle()
    assert set(rolled_out(world).values()) == {"web:2"}


def test_a_quarantine_with_an_error_keeps_its_last_good_version() -> None:
    world = rolling_world()
    world.commit(builders.deployment("web", "web", image="web:2"))
    world.rest()
    had = rolled_out(world)
    world.commit(quarantine(digest_of(world, 1)))
    world.rest()
    world.commit(quarantine("no digest"))
    world.settle()
    (fault,) = world.state().faults
    assert ApiText.MUST_HEXADECIMAL_DIGITS_SNAPSHOT_HASH() in str(fault)
    assert rolled_out(world) == had


def test_no_run_goes_on_with_content_that_another_one_rolled_back() -> None:
    world = world_with_old(bad_on("p2"))
    world.commit(run("beside"))
    world.settle()
    assert said(world, "new")[:3] == ENDED[:3]
    assert run_named(world, "beside").fell_back or "quarantined" in str(run_named(world, "beside").status.conditions)
    assert "web:1" in rolled_out(world).values()


def test_a_rollback_gives_no_quarantined_content_back() -> None:
    world = world_with_old(bad_on("p2"))
    world.settle(limit=timedelta(seconds=50))
    world.commit(quarantine(digest_of(world, 0)))
    world.settle()
    assert (said(world, "new"), rolled_out(world)) == (ENDED, {**dict.fromkeys(OLD, "web:2"), "p3": "web:1"})
    (why,) = {c.conditions[-1].message for c in stage_of(world, "new", "canary").clusters}
    assert why.startswith("web-0-snapshot, which it had, is quarantined by web-bad; ")
    assert message(world, "new", "Succeeded").endswith("; " + RolloutText.NO_CLUSTER_ANYTHING_GO_BACK())


@pytest.mark.parametrize("other", ["a", "z"])
def test_another_run_of_the_content_starts_nothing_from_the_pass_on_in_which_one_rolls_back(other: str) -> None:
    """Whichever of the two comes first in a pass."""

    def begun() -> World:
        world = world_with_old(bad_on("p2"))
        world.commit(run(other, state="Initialize"))
        return world

    ticks = until_it_rolls_back(begun())
    world = begun()
    for _ in range(ticks - 1):
        world.advance(seconds=5)
        world.reconcile()
    world.commit(run(other, state="Run"))
    world.advance(seconds=5)
    world.reconcile()
    assert "Progressing=True UpdateRunRollingBack" in said(world, "new")
    assert said(world, other)[1:] == ["Progressing=False UpdateRunWaiting"]
    assert clusters_of(world, other, "canary") == {"c1": "", "c2": ""}
    world.settle()
    assert rolled_out(world) == OLD


def test_a_persons_file_with_the_name_of_a_runs_quarantine_counts_too() -> None:
    world, one = failed_world()
    world.commit(builders.deployment("web", "web", image="web:3"))
    world.settle()
    digest = digest_of(world, 2)
    world.commit(quarantine(digest, name=one.name, reason="3 is bad too"), run("again"))
    world.settle()
    assert said(world, "again") == ["Initialized=False UpdateRunInitializedFailed"]
    assert {q.content: q.run for q in world.state().quarantines.values()} == {one.content: "new", (WEB, digest): ""}
    before = world.state().quarantines
    world.restart()
    world.settle()
    assert world.state().quarantines == before
    world.commit(remove=[path(one.name)])
    world.settle()
    assert list(world.state().quarantines.values()) == [one]


def test_no_two_placements_share_the_name_of_a_quarantine() -> None:
    digest = "0" * 64
    keys = [PlacementKey("team", "web"), PlacementKey("", "team.web"), PlacementKey("team", "web-0"), WEB]
    assert len({quarantine_name(key, digest) for key in keys}) == len(keys)


def test_a_run_whose_quarantine_cannot_be_written_rolls_back_once_it_can(monkeypatch: pytest.MonkeyPatch) -> None:
    world = world_with_old(bad_on("p2"))
    poison = poisoned(monkeypatch, "gitfleet.state.file_kinds", "write", lambda value: isinstance(value, Quarantine))
    poison.armed = True
    world.settle()
    assert poison.raised and not world.state().quarantines
    assert not any(one.fell_back for one in world.state().runs.values())
    poison.armed = False
    world.restart()
    world.advance(seconds=30)
    world.settle()
    (one,) = world.state().quarantines.values()
    assert (said(world, "new"), rolled_out(world), one.run) == (ENDED, OLD, "new")
