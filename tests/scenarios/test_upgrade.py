"""A fleet of release 2 goes on with today's gitfleet: what was held waits, nothing is deleted, nothing rolls again.

`tests/data/release-2/fleet.bundle` was made by release 2 itself, on simulated clusters. Its state branch has nine holds
and a rollout of `web` that has reached c1; c5 is silent. The branch `clusters` has what was on the clusters.
"""

from __future__ import annotations

import logging
from datetime import datetime
from pathlib import Path
from typing import Final, cast

import pytest
import yaml

from gitfleet.api.holds import HoldRule
from gitfleet.simulation.clock import ManualClock
from gitfleet.simulation.fleet import SimulatedFleet
from gitfleet.simulation.memory_repo import MemoryRepo
from tests.adapters.git.hubs import bare, git
from tests.scenarios.test_unsound_commits import Hub
from tests.scenarios.world import STATE, World, answer

BUNDLE: Final = Path(__file__).parents[1] / "data" / "release-2" / "fleet.bundle"
END: Final = datetime.fromisoformat("2026-01-01T00:03:25+00:00")
"""When release 2 stopped."""


def of_release_2(folder: Path) -> World:
    """Its remote and its clusters, with a process of today."""
    path = bare(folder / "hub.git")
    git(path, "fetch", "--quiet", str(BUNDLE), "refs/heads/*:refs/heads/*")
    (saved := folder / "clusters").mkdir()
    for name in git(path, "ls-tree", "--name-only", "clusters").splitlines():
        (saved / name).write_text(git(path, "show", f"clusters:{name}"))
    hub = Hub(str(path), folder / "mirror")
    hub.path = path
    world = World(repo=cast("MemoryRepo", hub), clock=ManualClock(END))
    for name, cluster in SimulatedFleet.load(saved, world.clock).clusters.items():
        memory = cluster.memory
        world.fleet.cluster(name).restore(
            reachable=cluster.reachable, version=memory.version, objects=[*memory.objects.values()]
        )
    return world


def rules_by_hold(world: World) -> dict[str, set[HoldRule]]:
    """The rules that hold something, by the hold's name without its digest."""
    held = world.state().held.values()
    return {hold.name.rpartition("-")[0]: {rule for one in hold.removals for rule in one.rules} for hold in held}


def test_a_fleet_of_release_2_goes_on(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    world = of_release_2(tmp_path)
    assert len(world.state().held) == 9
    with world.nothing_deleted():
        world.settle()
        world.fleet.cluster("c5").reachable = True
        world.settle()
        head = world.repo.fetch()[STATE]
        world.restart()
        world.settle()
    assert not caplog.records
    assert world.repo.fetch()[STATE] == head

    sent = {(one.cluster, one.key.namespace) for one in world.happenings if one.what == "apply"}
    assert sent == {(name, "web") for name in ("c2", "c3", "c4", "c5")}, "the rollout goes on, and no other begins"
    apps = [world.body(f"c{number}", "Deployment", "app", "web") for number in range(1, 7)]
    images = [app["spec"]["template"]["spec"]["containers"][0]["image"] for app in apps]
    assert images == [*5 * ["app:2"], "app:1"], "c6 leaves the fleet, which is held"

    both = {HoldRule.COMMIT_HAS_ERRORS, HoldRule.APPROVAL_REQUIRED}
    assert rules_by_hold(world) == {
        **{f"hold-{name}": both for name in ("c6", "hidden", "old", "pets", "shop", "typo", "wild")},
        # Today this is not a cluster that is withdrawn: it was the last one, so that its objects are dropped.
        "hold-last": {HoldRule.COMMIT_HAS_ERRORS, HoldRule.STILL_IN_REPO, HoldRule.EMPTIED, HoldRule.PROTECTED_KIND},
    }, "leaving External is an error today"
    written = {rule.value for rules in rules_by_hold(world).values() for rule in rules}
    for name in world.state().holds:
        text = git(tmp_path / "hub.git", "show", f"{STATE}:holds/{name}.yaml")
        assert {reason["rule"] for reason in yaml.safe_load(text)["spec"]["reasons"]} <= written


@pytest.mark.parametrize("approved", [True, False])
def test_an_answer_to_a_hold_of_release_2_counts(approved: bool, tmp_path: Path) -> None:
    world = of_release_2(tmp_path)
    pets = next(hold for hold in world.state().held.values() if hold.name.startswith("hold-pets-"))
    world.roll_out(files=answer(pets, approved))
    deleted = {(one.cluster, str(one.key)) for one in world.happenings if one.what == "delete"}
    listed = {(cluster, str(one.object)) for cluster in ("c1", "c2") for one in pets.removals}
    assert deleted == (listed if approved else set())
