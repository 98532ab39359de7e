"""A head of the state branch that gitfleet did not write, or that cannot be read: the newest whole state before it is
restored and nothing is deleted. Where there is none, nothing changes anywhere."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from gitfleet.adapters.git.texts import GitText
from gitfleet.api.conditions import Status
from gitfleet.api.holds import HoldRule
from gitfleet.api.objects import JsonObject
from gitfleet.approvals import approval_path, approval_text
from gitfleet.branches.state_trees import MOST_COMMITS
from gitfleet.branches.texts import BranchesText
from gitfleet.errors import BadInput, Forbidden
from gitfleet.simulation.memory_repo import MemoryRepo
from gitfleet.status.texts import StatusText
from tests import builders
from tests.adapters.git.hubs import bare, git, unsound
from tests.properties.damaging import rewritten
from tests.scenarios.explaining import open_workspace
from tests.scenarios.test_unsound_commits import HARMS, Hub, hub_of, restarted, settled
from tests.scenarios.world import STATE, World, commit_state, nothing
from tests.texts import part

REF = f"refs/heads/{STATE}"
FLEET_FILE = "fleet.yaml"


def begin(repo: MemoryRepo | None = None) -> World:
    """A settled fleet of three clusters with two placements."""
    world = World(repo=repo or MemoryRepo())
    world.roll_out(
        *(builders.member_cluster(name) for name in ("c1", "c2", "c3")),
        *(body for name in ("web", "api") for body in payload(name)),
        builders.placement("web", strategy=builders.rolling_update()),
        builders.placement("api", policy=builders.pick_fixed("c3"), strategy=builders.rolling_update()),
    )
    return world


def payload(name: str, image: str = "app:1") -> list[JsonObject]:
    """The objects of a placement."""
    return [builders.namespace(name), builders.deployment(name, "web", image=image)]


def approve_all(world: World) -> None:
    """A person approves each hold: first the restored state, then whatever else is held."""
    while held := sorted(world.state().held):
        world.roll_out(files={approval_path(name): approval_text(name, Status.TRUE) for name in held})


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The warnings of a restored state in the log."""
    return [record.getMessage() for record in caplog.records if record.msg == BranchesText.STATE_RESTORED.value]


def amended(world: World) -> None:
    """The head with another tree under its own message."""
    message, parent = (head := world.repo.log(STATE)[0]).message, head.parent
    world.commit_state({"clusters/c2.yaml": None})
    rewritten(world, message=message, parent=parent)


def edited(path: str, text: bytes | None, *, trailers: bool = False) -> Callable[[World], object]:
    return lambda world: world.commit_state({path: text}, trailers=trailers)


def several(world: World) -> None:
    for number in range(MOST_COMMITS):
        world.commit_state({"notes.txt": str(number)})


DAMAGES: dict[str, Callable[[World], object]] = {
    "a file that is not gitfleet's": edited("notes.txt", b"mine"),
    "a garbled file": edited("placements/web.yaml", b"{"),
    "a removed file": edited("inventory/c1/all.yaml", None),
    "no fleet.yaml": edited(FLEET_FILE, None),
    "an amended commit": amended,
    "fifty commits": several,
    "a commit of gitfleet's that cannot be read": edited("bindings/web/all.yaml", b"{", trailers=True),
}


@pytest.mark.parametrize("restarts", [False, True], ids=["goes on", "restarts"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_the_newest_whole_state_is_restored(damage: str, restarts: bool, caplog: pytest.LogCaptureFixture) -> None:
    world = begin()
    files, good = dict(world.repo.files(STATE)), {one.id for one in world.repo.log(STATE)}
    DAMAGES[damage](world)
    bad = world.repo.log(STATE)[0].id
    if restarts:
        world.restart()
    applied = len(world.happenings)
    world.settle()

    assert len(world.happenings) == applied, "nothing is sent to a cluster"
    state = world.state()
    assert state.restored in good
    (hold,) = state.holds
    assert [fault.message for fault in state.faults] == [
        StatusText.STATE_RESTORED(commit=state.restored[:12], hold=hold)
    ]
    assert world.repo.files(STATE).keys() == files.keys() | {"faults.yaml", f"holds/{hold}.yaml"}
    assert world.repo.log(STATE)[1].id == bad, "the next commit is on top of it"
    (said,) = warnings(caplog)
    assert bad[:12] in said and state.restored[:12] in said


def test_nothing_is_deleted_while_the_state_is_a_restored_one() -> None:
    world = begin()
    world.commit_state({"notes.txt": "mine"})
    world.restart()
    world.commit(*payload("web", "app:2"), remove=["placements/api.yaml", "resources/api/deployment-web.yaml"])
    with world.nothing_deleted():
        world.settle()
        world.restart()
        world.settle()
    assert world.image_in("c1", "web") == "app:2" and world.image_in("c3", "api") == "app:1"
    standing, _ = open_workspace(world.repo, world.fleet, world.clock).explain("web", None)
    assert HoldRule.STATE_RESTORED in standing["removalsHeld"]
    approve_all(world)
    assert world.image_in("c3", "api") is None
    assert not (world.state().restored or world.state().faults or world.state().holds)


@pytest.mark.parametrize("history", [True, False])
def test_without_a_whole_state_nothing_changes(history: bool) -> None:
    world = begin()
    for _ in range(MOST_COMMITS + 1 if history else 0):
        world.commit_state({"notes.txt": str(world.state_commits())})
    if not history:
        world.repo.move_branch(STATE, None)
        commit_state(world.repo, {"notes.txt": "mine"}, world.clock.now(), trailers=False)
    head = world.repo.log(STATE)[0].id
    world.commit(*payload("web", "app:2"))
    before = len(world.happenings)
    for _ in range(2):
        world.restart()
        with pytest.raises(BadInput, match=re.escape(part(BranchesText.STATE_BRANCH_COMMIT))) as raised:
            world.driver.reconcile()
        assert head[:12] in str(raised.value)
        assert raised.value.hint == BranchesText.STATE_BRANCH_START_AGAIN(branch=STATE)
    assert (world.repo.log(STATE)[0].id, len(world.happenings)) == (head, before)

    world.repo.move_branch(STATE, None)
    with world.nothing_deleted():
        world.settle()
    assert world.image_in("c1", "web") == "app:2" and not world.state().restored


def test_commits_of_release_2_name_no_tree_and_count() -> None:
    world = begin()
    head = world.repo.log(STATE)[0]
    before = len(world.happenings)
    message = re.sub("Gitfleet-Tree: .*\n", "", head.message)
    assert message != head.message and "Gitfleet-Phase" in message
    rewritten(world, message=message)
    world.restart()
    world.settle()
    assert (world.repo.log(STATE)[0].message, len(world.happenings)) == (message, before)


# Real git, both sides


def start(tmp_path: Path) -> tuple[World, Hub, str]:
    path = bare(tmp_path / "hub.git")
    world = settled(str(path), path, tmp_path / "mirror")
    return world, hub_of(world), git(path, "rev-parse", REF)


def harmed(hub: Hub, what: str) -> str:
    """The state branch with a commit on top that git cannot give; its head."""
    main, state = git(hub.path, "rev-parse", "refs/heads/main", REF).split()
    git(hub.path, "update-ref", "refs/heads/main", state)
    bad = HARMS[what][0](hub)
    git(hub.path, "update-ref", REF, bad)
    git(hub.path, "update-ref", "refs/heads/main", main)
    return bad


def seen(world: World) -> dict[str, list[tuple[str, str]]]:
    """Every object with its version."""
    return {
        name: sorted((str(o.key), str(o.body["metadata"]["resourceVersion"])) for o in cluster.objects())
        for name, cluster in world.fleet.clusters.items()
    }


@pytest.mark.parametrize("fresh", [False, True], ids=["the same process", "a process without a mirror"])
@pytest.mark.parametrize("what", HARMS)
def test_a_head_that_git_cannot_give_is_replaced_or_nothing_changes(what: str, fresh: bool, tmp_path: Path) -> None:
    """A process without a mirror finds the commits before an unsound head alone."""
    world, hub, good = start(tmp_path)
    bad = harmed(hub, what)
    if fresh:
        restarted(world, tmp_path / "fresh")
    before = seen(world)
    if fresh and what != "unsound":
        with pytest.raises(BadInput, match=HARMS[what][1]):
            world.driver.reconcile()
        assert (seen(world), git(hub.path, "rev-parse", REF)) == (before, bad)
        return
    world.settle()
    assert seen(world) == before
    assert world.state().restored == good
    assert git(hub.path, "merge-base", good, REF) == good
    if what == "unsound":
        git(hub.path, "prune", "--expire=now")
        assert unsound(hub.path) == [], "the unsound commit is no part of the branch any more"
    world.roll_out(builders.deployment("web", "web", image="web:2"))
    assert (world.image("c1"), world.image("c2")) == ("web:2", "web:2")


def test_a_commit_that_replaces_all_files_stays_below_the_restored_tree(tmp_path: Path) -> None:
    world, hub, good = start(tmp_path)
    git(hub.path, "config", "receive.denyNonFastForwards", "true")
    bad = git(hub.path, "commit-tree", "-m", "x", "-p", REF, "refs/heads/main^{tree}")
    git(hub.path, "update-ref", REF, bad)
    world.settle()
    assert world.state().restored == good and git(hub.path, "merge-base", bad, REF) == bad
    tree = git(hub.path, "rev-parse", f"{REF}^{{tree}}")
    assert f"Gitfleet-Tree: {tree}" in git(hub.path, "log", "-1", "--format=%B", REF)


def test_a_remote_that_lets_nobody_replace_the_head_is_named(tmp_path: Path) -> None:
    world, hub, _ = start(tmp_path)
    git(hub.path, "config", "receive.denyNonFastForwards", "true")
    harmed(hub, "unsound")
    before = seen(world)
    with pytest.raises(Forbidden, match=part(GitText.NOBODY_REPLACES_HEAD)) as raised:
        world.driver.reconcile()
    assert raised.value.hint == GitText.PUSH_SOUND_COMMIT(branch=STATE)
    assert seen(world) == before


def test_who_restores_first_wins(tmp_path: Path) -> None:
    """Another process puts the branch right between reading and publishing: this one does nothing, and goes on."""
    world, hub, good = start(tmp_path)
    harmed(hub, "unsound")
    world.commit(builders.deployment("web", "web", image="web:2"))

    def late(moment: str) -> None:
        if moment == "decided":
            git(hub.path, "update-ref", REF, good)
            world.driver.checkpoint = nothing

    world.driver.checkpoint = late
    assert world.driver.reconcile().lost_race and world.image("c1") == "web:1"
    world.settle()
    assert world.image("c1") == "web:2" and not world.state().restored
