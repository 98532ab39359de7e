"""A commit on the watched branch that git cannot give (unsound, missing or damaged on the remote, too large): what was
accepted last goes on, the commit is named, and a commit on top of it or a sound push heals. Real git, both sides."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import cast

import pytest

from gitfleet.adapters.git import GitRemote
from gitfleet.adapters.git.connection import Bounds
from gitfleet.adapters.git.texts import GitText
from gitfleet.api.objects import JsonObject
from gitfleet.simulation.memory_repo import MemoryRepo
from tests import builders
from tests.adapters.git.hubs import STATE, bare, change, git
from tests.realparts.git_http import GitHttpServer
from tests.scenarios.world import World

SMALL = Bounds(largest_fetch_bytes=1 << 20)
Harm = Callable[["Hub"], str]


class Hub(GitRemote):
    """A real remote as a world's repository; `path` is its git directory."""

    path: Path

    def commit_files(
        self, branch: str, files: Mapping[str, bytes | str | None], when: datetime, subject: str = "Change"
    ) -> str:
        """Write files to a branch as a person does, with a clone that the reconciler has no part in."""
        tree = GitRemote(str(self.path), self.path.parent / "person")
        written = {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}
        gone = tuple(path for path, text in written.items() if text is None)
        kept = {path: text for path, text in written.items() if text is not None}
        head = tree.fetch((branch,)).get(branch)
        return tree.commit(change(branch, head, kept, remove=gone, when=when, subject=subject))

    def put(self, tree: str, parent: str = "refs/heads/main") -> str:
        """A commit of a tree on top of main, past everything that checks it."""
        commit = git(self.path, "commit-tree", "-m", "put", "-p", parent, tree)
        git(self.path, "update-ref", "refs/heads/main", commit)
        return commit

    def tree_with(self, name: str, content: bytes, mode: str = "100644 blob") -> str:
        """The tree of main with one entry more."""
        entry = git(self.path, "hash-object", "-w", "--stdin", "--literally", stdin=content)
        listed = git(self.path, "ls-tree", "refs/heads/main").encode()
        return git(self.path, "mktree", stdin=listed + f"\n{mode} {entry}\t{name}\n".encode())


def unsound(hub: Hub) -> str:
    inner = git(hub.path, "mktree", stdin=f"100644 blob {blob(hub, b'evil')}\tconfig\n".encode())
    listed = git(hub.path, "ls-tree", "refs/heads/main").encode()
    return hub.put(git(hub.path, "mktree", stdin=listed + f"\n040000 tree {inner}\t.git\n".encode()))


def blob(hub: Hub, content: bytes) -> str:
    return git(hub.path, "hash-object", "-w", "--stdin", stdin=content)


def loose(hub: Hub, oid: str) -> Path:
    return hub.path / "objects" / oid[:2] / oid[2:]


def missing_blob(hub: Hub) -> str:
    commit = hub.put(hub.tree_with("resources.txt", b"gone"))
    loose(hub, blob(hub, b"gone")).unlink()
    return commit


def missing_tree(hub: Hub) -> str:
    tree = hub.tree_with("resources.txt", b"gone")
    commit = hub.put(tree)
    loose(hub, tree).unlink()
    return commit


def damaged_blob(hub: Hub) -> str:
    commit = hub.put(hub.tree_with("resources.txt", b"damaged"))
    path = loose(hub, blob(hub, b"damaged"))
    path.chmod(0o600)
    path.write_bytes(b"no zlib")
    return commit


def too_large(hub: Hub) -> str:
    return hub.put(hub.tree_with("big.bin", os.urandom(3 << 20)))


HARMS: dict[str, tuple[Harm, str]] = {
    "unsound": (unsound, "hasDotgit"),
    "a missing blob": (missing_blob, GitText.OBJECT_MISSING()),
    "a missing tree": (missing_tree, GitText.OBJECT_MISSING()),
    "a damaged blob": (damaged_blob, GitText.OBJECT_MISSING()),
    "too large": (too_large, GitText.BRINGS_MORE(limit=1)),
}


def settled(url: str, path: Path, mirror: Path, *more: JsonObject) -> World:
    """One placement on two clusters, through real git."""
    hub = Hub(url, mirror, bounds=SMALL)
    hub.path = path
    world = World(repo=cast("MemoryRepo", hub))
    world.commit(
        builders.member_cluster("c1"), builders.member_cluster("c2"),
        builders.namespace("web"), builders.deployment("web", "web", image="web:1"), builders.placement("web"), *more,
    )  # fmt: skip
    world.settle()
    assert world.image("c1") == "web:1"
    return world


def restarted(world: World, mirror: Path) -> None:
    """A process without a mirror."""
    old = hub_of(world)
    hub = Hub(old._settings.url, mirror, bounds=SMALL)
    hub.path = old.path
    world.repo = cast("MemoryRepo", hub)
    world.restart()


def hub_of(world: World) -> Hub:
    """The remote of a world that was made by `settled`."""
    return cast("Hub", world.repo)


@pytest.mark.parametrize("fresh", [False, True], ids=["the same process", "a process without a mirror"])
@pytest.mark.parametrize("what", HARMS)
def test_what_was_accepted_last_goes_on_and_is_reconciled(what: str, fresh: bool, tmp_path: Path) -> None:
    path = bare(tmp_path / "hub.git")
    judged(settled(str(path), path, tmp_path / "mirror"), *HARMS[what], tmp_path / "fresh" if fresh else None)


@pytest.mark.soak("mutations")
@pytest.mark.real
@pytest.mark.parametrize("fresh", [False, True], ids=["the same process", "a process without a mirror"])
@pytest.mark.parametrize("what", ["unsound", "a missing blob"])
def test_the_same_over_http(what: str, fresh: bool, git_http: GitHttpServer, tmp_path: Path) -> None:
    path = git_http.create("hub")
    world = settled(git_http.url("hub"), path, tmp_path / "mirror")
    judged(world, *HARMS[what], tmp_path / "fresh" if fresh else None)


def judged(world: World, harm: Harm, sentence: str, fresh: Path | None) -> None:
    accepted, hub = world.state().observed_commit, hub_of(world)
    sound = git(hub.path, "rev-parse", "refs/heads/main^{tree}")
    bad = harm(hub)
    if fresh is not None:
        restarted(world, fresh)
        hub = hub_of(world)
    with world.nothing_deleted():
        world.settle()
    state = world.state()
    (fault,) = state.faults
    assert bad[:12] in str(fault) and accepted and accepted[:12] in str(fault) and sentence in str(fault)
    assert state.observed_commit == accepted
    assert bad[:12] in readme(world)
    assert any(bad[:12] in str(event.fields) for event in world.events)

    world.fleet.cluster("c1").delete_by_hand(
        next(o.key for o in world.fleet.cluster("c1").objects() if o.key.kind == "Deployment")
    )
    world.settle()
    assert world.image("c1") == "web:1", "drift is put right"
    head = hub.fetch()[STATE]
    world.reconcile()
    assert hub.fetch()[STATE] == head, "the same sentence every time"

    hub.put(sound)
    with world.nothing_deleted():
        world.settle()
    assert world.state().faults == ()
    world.roll_out(builders.deployment("web", "web", image="web:2"))
    assert (world.image("c1"), world.image("c2")) == ("web:2", "web:2")


def test_a_first_commit_that_is_unsound_places_nothing(tmp_path: Path) -> None:
    path = bare(tmp_path / "hub.git")
    world = settled(str(path), path, tmp_path / "mirror")
    bad = unsound(hub_of(world))
    git(path, "update-ref", "-d", f"refs/heads/{STATE}")
    restarted(world, tmp_path / "fresh")
    with world.nothing_deleted():
        world.settle()
    (fault,) = world.state().faults
    assert bad[:12] in str(fault)


def readme(world: World) -> str:
    """The page of the state branch."""
    hub = hub_of(world)
    entry = hub.list_tree(hub.fetch()[STATE])["README.md"]
    return hub.read_blobs([entry.oid], limit=1 << 20)[entry.oid].decode()
