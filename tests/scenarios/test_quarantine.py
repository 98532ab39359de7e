"""Quarantined content on whole simulated fleets: no run and no rolling update rolls it out, unless a file lifts it."""

from __future__ import annotations

from typing import Any

from gitfleet.api.placements import PlacementKey
from gitfleet.api.quarantines import Quarantine, quarantine_name
from gitfleet.api.texts import ApiText
from gitfleet.rollout.texts import RolloutText
from gitfleet.views.page_sections import lifting_text
from tests import builders
from tests.scenarios.staged_world import EXTERNAL, QUICK, SUCCEEDED, members, message, rolled_out, run, said
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
    world.roll_out(run("again"))
    assert said(world, "again") == ["Initialized=False UpdateRunInitializedFailed"]
    assert message(world, "again", "Initialized") == (
        "snapshot 1 "
        + ApiText.QUARANTINED_OTHER_CONTENT_GOES_OUT(
            name="", why=f"{one.name} (run new: {WHY})", lift=ApiText.QUARANTINE_LIFTED_TRUE()
        )
        + ("; " + RolloutText.THEN_ADD_NEW_RUN())
    )
    world.roll_out(builders.deployment("web", "web", image="web:3"), run("better"))
    assert (said(world, "better"), set(rolled_out(world).values())) == (SUCCEEDED, {"web:3"})


def test_the_file_that_the_page_shows_lifts_it() -> None:
    world, one = failed_world()
    for cluster in OLD:
        world.fleet.cluster(cluster).behave([QUICK])
    page = world.state_text("README.md")
    assert "## Quarantined content: 1" in page and all(line in page for line in lifting_text(one).splitlines())
    world.write({path(one.name): lifting_text(one)})
    world.roll_out(run("again"))
    assert (said(world, "again"), set(rolled_out(world).values())) == (SUCCEEDED, {"web:2"})
    assert [q.lifted for q in world.state().quarantines.values()] == [True]
    world.roll_out(remove=[path(one.name)])
    assert [q.lifted for q in world.state().quarantines.values()] == [False]
    assert set(rolled_out(world).values()) == {"web:2"}, "what is there stays there"


def test_a_placement_that_is_added_again_has_nothing_quarantined_by_the_runs_of_the_old_one() -> None:
    world, _ = failed_world()
    world.roll_out(remove=["placements/web.yaml"])
    world.roll_out(builders.deployment("web", "web", image="web:4"), builders.placement("web", strategy=EXTERNAL))
    world.roll_out(builders.deployment("web", "web", image="web:5"))
    assert world.state().quarantines == {}
    world.roll_out(run("good"))
    assert (said(world, "good"), set(rolled_out(world).values())) == (SUCCEEDED, {"web:5"})


def rolling_world() -> World:
    """Three clusters have web:1 of a rolling placement, one at a time."""
    world = World(rules=(QUICK,))
    world.roll_out(
        *members("c1", "c2", "c3"),
        builders.namespace("web"),
        builders.deployment("web", "web"),
        builders.placement("web", strategy=builders.rolling_update(maxUnavailable=1)),
    )
    return world


def test_a_rolling_update_moves_no_further_cluster_to_quarantined_content() -> None:
    world = rolling_world()
    world.commit(builders.deployment("web", "web", image="web:2"))
    world.rest()
    assert sorted(map(str, rolled_out(world).values())) == ["web:1", "web:1", "web:2"]
    had = rolled_out(world)
    world.roll_out(quarantine(digest_of(world, 1)), *members("c4"))
    assert rolled_out(world) == {**had, "c4": None}
    result = world.reconcile()
    why = "snapshot 1 " + ApiText.QUARANTINED_OTHER_CONTENT_GOES_OUT(
        name="", why="web-bad", lift=ApiText.TAKING_FILE_AWAY()
    )
    assert result is not None and result.settled and result.asks == (f"web: {why}",)
    assert {b.conditions[0].message for c, b in world.bindings("web").items() if had.get(c) != "web:2"} == {why}
    world.roll_out(builders.deployment("web", "web", image="web:3"))
    assert set(rolled_out(world).values()) == {"web:3"}


def test_a_persons_file_with_the_name_of_a_runs_quarantine_counts_too() -> None:
    world, one = failed_world()
    world.roll_out(builders.deployment("web", "web", image="web:3"))
    digest = digest_of(world, 2)
    world.roll_out(quarantine(digest, name=one.name, reason="3 is bad too"), run("again"))
    assert said(world, "again") == ["Initialized=False UpdateRunInitializedFailed"]
    assert {q.content: q.run for q in world.state().quarantines.values()} == {one.content: "new", (WEB, digest): ""}
    before = world.state().quarantines
    world.restart()
    world.settle()
    assert world.state().quarantines == before
    world.roll_out(remove=[path(one.name)])
    assert list(world.state().quarantines.values()) == [one]


def test_no_two_placements_share_the_name_of_a_quarantine() -> None:
    digest = "0" * 64
    keys = [PlacementKey("team", "web"), PlacementKey("", "team.web"), PlacementKey("team", "web-0"), WEB]
    assert len({quarantine_name(key, digest) for key in keys}) == len(keys)
