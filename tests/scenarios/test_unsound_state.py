"""A head of the state branch that git cannot give, or that holds no state: the nearest commit before it that does holds
instead, and the branch is repaired by compare-and-swap. Where there is none nothing changes anywhere, until a person
puts the branch right or deletes it. Real git, both sides."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gitfleet.adapters.git import GitRemote
from gitfleet.errors import BadInput, Forbidden
from gitfleet.loop.texts import LoopText
from tests import builders
from tests.adapters.git.hubs import STATE, bare, change, git, unsound
from tests.realparts.git_http import GitHttpServer
from tests.scenarios.test_unsound_commits import HARMS, SMALL, Hub, hub_of, restarted, settled
from tests.scenarios.world import World, nothing
from tests.texts import part

REF = f"refs/heads/{STATE}"
Foreign = Callable[[Hub], str]


def harmed(hub: Hub, what: str, times: int = 1) -> str:
    """The state branch with commits on top that git cannot give; its head."""
    main, state = git(hub.path, "rev-parse", "refs/heads/main", REF).split()
    git(hub.path, "update-ref", "refs/heads/main", state)
    bad = [HARMS[what][0](hub) for _ in range(times)][-1]
    git(hub.path, "update-ref", REF, bad)
    git(hub.path, "update-ref", "refs/heads/main", main)
    return bad


def cut(hub: Hub, what: str) -> str:
    """The same as a single commit without a history."""
    lines = git(hub.path, "cat-file", "commit", harmed(hub, what)).splitlines(keepends=True)
    orphan = "".join(line for line in lines if not line.startswith("parent ")).encode() + b"\n"
    return moved(hub, git(hub.path, "hash-object", "-t", "commit", "-w", "--stdin", stdin=orphan))


def moved(hub: Hub, commit: str) -> str:
    git(hub.path, "update-ref", REF, commit)
    return commit


def committed(hub: Hub, *listed: str, parent: str = "") -> str:
    """The state branch at a commit of some entries; an orphan without a parent."""
    tree = git(hub.path, "mktree", stdin="".join(f"{line}\n" for line in listed).encode())
    return moved(hub, git(hub.path, "commit-tree", "-m", "x", *(("-p", parent) if parent else ()), tree))


def note(hub: Hub) -> str:
    return f"100644 blob {git(hub.path, 'hash-object', '-w', '--stdin', stdin=b'hello')}\tnotes.txt"


FOREIGN: dict[str, Foreign] = {
    "a file of somebody else": lambda hub: committed(hub, note(hub)),
    "nothing at all": lambda hub: committed(hub),
    "the config repo": lambda hub: moved(hub, git(hub.path, "rev-parse", "refs/heads/main")),
}
EDITS: dict[str, Foreign] = {
    "all removed": lambda hub: committed(hub, parent=REF),
    "all replaced": lambda hub: committed(hub, note(hub), parent=REF),
    "the config repo's tree": lambda hub: moved(
        hub, git(hub.path, "commit-tree", "-m", "x", "-p", REF, "refs/heads/main^{tree}")
    ),
}


def seen(world: World) -> dict[str, list[tuple[str, str, str]]]:
    """Every object with its uid and version."""
    return {
        name: sorted((str(o.key), o.uid, str(o.body["metadata"]["resourceVersion"])) for o in cluster.objects())
        for name, cluster in world.fleet.clusters.items()
    }


def heals(world: World, bad: str, sentence: str, good: str) -> None:
    """What is committed meanwhile goes out, nothing is deleted, and the branch is sound and says what was done."""
    world.commit(builders.deployment("web", "web", image="web:2"))
    with world.nothing_deleted():
        world.settle()
    assert (world.image("c1"), world.image("c2")) == ("web:2", "web:2")
    (fault,) = world.state().faults
    assert all(part in fault.message for part in (bad[:12], good[:12], sentence)), fault.message
    hub = hub_of(world)
    files = git(hub.path, "ls-tree", "-r", "--name-only", REF).splitlines()
    assert "fleet.yaml" in files and "notes.txt" not in files
    assert git(hub.path, "merge-base", good, REF) == good
    assert {str(key): [b.cluster for b in r.bindings] for key, r in world.state().placements.items()} == {
        "web": ["c1", "c2"]
    }
    world.commit(builders.deployment("web", "web", image="web:3"))
    with world.nothing_deleted():
        world.settle()
    assert world.image("c2") == "web:3" and not world.state().faults


def holds(world: World, good: str, sentence: str) -> None:
    """Nothing happens anywhere but for a sentence that says what to do; the branch put back is gone on from."""
    hub = hub_of(world)
    before, head = seen(world), git(hub.path, "rev-parse", REF)
    world.commit(builders.deployment("web", "web", image="web:2"))
    for _ in range(2):
        with pytest.raises(BadInput, match=sentence) as raised:
            world.driver.reconcile()
        assert head[:12] in str(raised.value) and part(LoopText.STATE_BRANCH_COMMIT) in str(raised.value)
        assert raised.value.hint and LoopText.PUSH_LAST_COMMIT_GITFLEET_MADE() in raised.value.hint
        restarted(world, hub.path.parent / "again")
    assert seen(world) == before and git(hub.path, "rev-parse", REF) == head
    moved(hub, good)
    with world.nothing_deleted():
        world.settle()
    assert (world.image("c1"), world.image("c2")) == ("web:2", "web:2")
    assert not world.state().faults


def start(tmp_path: Path) -> tuple[World, Hub, str]:
    path = bare(tmp_path / "hub.git")
    world = settled(str(path), path, tmp_path / "mirror")
    return world, hub_of(world), git(path, "rev-parse", REF)


@pytest.mark.parametrize("process", ["the same", "another with its mirror"])
@pytest.mark.parametrize("what", HARMS)
def test_the_state_of_the_commit_before_goes_on(what: str, process: str, tmp_path: Path) -> None:
    world, hub, good = start(tmp_path)
    bad = harmed(hub, what)
    if process != "the same":
        restarted(world, tmp_path / "mirror")
    heals(world, bad, HARMS[what][1], good)
    if what == "unsound":
        git(hub.path, "prune", "--expire=now")
        assert unsound(hub.path) == [], "the unsound commit is no part of the branch any more"


@pytest.mark.parametrize("times", [1, 3])
def test_a_process_without_a_mirror_finds_the_commit_before_unsound_ones(times: int, tmp_path: Path) -> None:
    world, hub, good = start(tmp_path)
    bad = harmed(hub, "unsound", times)
    restarted(world, tmp_path / "fresh")
    heals(world, bad, "hasDotgit", good)


@pytest.mark.real
@pytest.mark.parametrize("fresh", [False, True], ids=["the same process", "a process without a mirror"])
def test_the_same_over_http(fresh: bool, git_http: GitHttpServer, tmp_path: Path) -> None:
    path = git_http.create("hub")
    world = settled(git_http.url("hub"), path, tmp_path / "mirror")
    good, bad = git(path, "rev-parse", REF), harmed(hub_of(world), "unsound")
    if fresh:
        restarted(world, tmp_path / "fresh")
    heals(world, bad, "hasDotgit", good)


@pytest.mark.parametrize("fresh", [False, True], ids=["the same process", "a process without a mirror"])
@pytest.mark.parametrize("what", EDITS)
def test_a_commit_that_replaces_all_files_is_repaired_on_top_of_it(what: str, fresh: bool, tmp_path: Path) -> None:
    world, hub, good = start(tmp_path)
    git(hub.path, "config", "receive.denyNonFastForwards", "true")
    bad = EDITS[what](hub)
    if fresh:
        restarted(world, tmp_path / "fresh")
    heals(world, bad, LoopText.HOLDS_NO_STATE_GITFLEET(), good)
    assert git(hub.path, "merge-base", bad, REF) == bad


@pytest.mark.parametrize("fresh", [False, True], ids=["the same process", "a process without a mirror"])
@pytest.mark.parametrize("what", FOREIGN)
def test_a_branch_that_was_replaced_by_something_else_changes_nothing(what: str, fresh: bool, tmp_path: Path) -> None:
    world, hub, good = start(tmp_path)
    FOREIGN[what](hub)
    if fresh:
        restarted(world, tmp_path / "fresh")
    holds(world, good, LoopText.HOLDS_NO_STATE_GITFLEET())


@pytest.mark.parametrize("what", HARMS)
def test_without_a_mirror_and_without_a_history_nothing_changes(what: str, tmp_path: Path) -> None:
    world, hub, good = start(tmp_path)
    cut(hub, what)
    restarted(world, tmp_path / "fresh")
    holds(world, good, HARMS[what][1])


def test_a_branch_that_was_replaced_is_begun_anew_when_it_is_deleted(tmp_path: Path) -> None:
    world, hub, _ = start(tmp_path)
    FOREIGN["a file of somebody else"](hub)
    with pytest.raises(BadInput, match=re.escape(LoopText.HOLDS_NO_STATE_GITFLEET())):
        world.driver.reconcile()
    git(hub.path, "update-ref", "-d", REF)
    before = {name: [key for key, *_ in found] for name, found in seen(world).items()}
    with world.nothing_deleted():
        world.settle()
    assert {name: [key for key, *_ in found] for name, found in seen(world).items()} == before
    assert {name: len(owned) for name, owned in world.state().inventory.items()} == {"c1": 2, "c2": 2}


def test_another_branch_of_the_default_name_does_not_matter(tmp_path: Path) -> None:
    path = bare(tmp_path / "hub.git")
    person = GitRemote(str(path), tmp_path / "other")
    person.commit(change(STATE, None, {"notes.txt": b"mine"}))
    config = builders.fleet_config(branches={"state": "fleet/state"})
    world = settled(str(path), path, tmp_path / "mirror", config)
    assert git(path, "ls-tree", "--name-only", REF) == "notes.txt"
    assert not world.driver.load_state(hub_of(world).fetch()["fleet/state"]).faults


def test_a_remote_that_lets_nobody_replace_the_head_is_named(tmp_path: Path) -> None:
    world, hub, good = start(tmp_path)
    git(hub.path, "config", "receive.denyNonFastForwards", "true")
    harmed(hub, "unsound")
    before = seen(world)
    with pytest.raises(Forbidden, match="replace the unreadable head") as raised:
        world.driver.reconcile()
    assert raised.value.hint and "Push the last sound commit" in raised.value.hint
    assert seen(world) == before
    moved(hub, good)
    world.settle()
    assert not world.state().faults


def test_who_was_faster_wins(tmp_path: Path) -> None:
    """Another process repairs the branch between reading and publishing: this one does nothing, and goes on from it."""
    world, hub, good = start(tmp_path)
    harmed(hub, "unsound")
    world.commit(builders.deployment("web", "web", image="web:2"))

    def late(moment: str) -> None:
        if moment == "decided":  # between reading and publishing, and from then on never again
            moved(hub, good)
            world.driver.checkpoint = nothing

    world.driver.checkpoint = late
    result = world.driver.reconcile()
    assert result.lost_race and git(hub.path, "rev-parse", REF) == good
    assert world.image("c1") == "web:1"
    world.settle()
    assert world.image("c1") == "web:2" and not world.state().faults


def test_the_commits_before_an_unsound_head_are_those_that_can_be_read(tmp_path: Path) -> None:
    _, hub, good = start(tmp_path)
    bad = harmed(hub, "unsound")
    shutil.rmtree(tmp_path / "mirror")
    reader = Hub(str(hub.path), tmp_path / "reader", bounds=SMALL)
    reader.fetch((STATE,))
    assert list(reader.ancestors(bad, most=5))[:1] == [good]
    assert len(list(reader.ancestors(bad, most=2))) == 2
