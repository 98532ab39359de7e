"""The watch on a local repository's branches, with real git: it rings for what moves a branch and for nothing else."""

from __future__ import annotations

import logging
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from watchdog.observers.inotify import InotifyEmitter

from gitfleet.adapters.git_setup import local_git_dir, make_repository
from gitfleet.adapters.ref_watch import watch_refs

SOON = 60.0
QUIET = 0.4
"""Long enough for the kernel to tell of anything, short enough for a test."""


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgSign=false"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


class Bell:
    """Notes that the trigger was called."""

    def __init__(self) -> None:
        self.rung = threading.Event()
        self.count = 0

    def trigger(self) -> None:
        self.count += 1
        self.rung.set()

    def silence(self) -> None:
        """Until nothing rings any more."""
        while self.rung.wait(QUIET):
            self.rung.clear()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    make_repository(folder, {"a.txt": b"1", "clusters/c.yaml": b"1"}, "First")
    return folder


@pytest.fixture
def events(repo: Path) -> Iterator[Bell]:
    heard = Bell()
    git_dir = local_git_dir(str(repo))
    assert git_dir is not None
    end = watch_refs(git_dir, heard.trigger)
    yield heard
    end()


@pytest.mark.parametrize(
    "command",
    [
        ("commit", "--allow-empty", "-m", "x"),
        ("branch", "feature/a/b"),
        ("update-ref", "refs/heads/gitfleet/state", "HEAD"),
        ("branch", "-m", "main", "other"),
        ("pack-refs", "--all"),
    ],
)
def test_it_rings_when_a_branch_moves(repo: Path, events: Bell, command: tuple[str, ...]) -> None:
    git(repo, *command)
    assert events.rung.wait(SOON)


def test_it_rings_for_a_branch_in_a_folder_that_was_just_made_and_for_its_end(repo: Path, events: Bell) -> None:
    git(repo, "branch", "deep/er/one")
    assert events.rung.wait(SOON)
    events.silence()
    git(repo, "update-ref", "refs/heads/deep/er/one", "HEAD~0", "HEAD")
    git(repo, "branch", "deep/er/two")
    assert events.rung.wait(SOON)
    events.silence()
    git(repo, "branch", "-D", "deep/er/one")
    assert events.rung.wait(SOON)


def test_it_rings_when_a_packed_branch_is_deleted(repo: Path, events: Bell) -> None:
    git(repo, "branch", "gone")
    git(repo, "pack-refs", "--all")
    events.silence()
    git(repo, "branch", "-D", "gone")
    assert events.rung.wait(SOON)


def test_it_rings_for_a_commit_in_another_work_tree(repo: Path, events: Bell, tmp_path: Path) -> None:
    git(repo, "worktree", "add", "-b", "side", str(tmp_path / "side"))
    events.silence()
    git(tmp_path / "side", "commit", "--allow-empty", "-m", "x")
    assert events.rung.wait(SOON)
    assert local_git_dir(str(tmp_path / "side")) == local_git_dir(str(repo))


def test_it_rings_for_a_push_into_a_bare_repository(repo: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--bare", str(repo), "bare.git")
    heard = Bell()
    git_dir = local_git_dir(str(tmp_path / "bare.git"))
    assert git_dir is not None
    end = watch_refs(git_dir, heard.trigger)
    git(repo, "push", str(tmp_path / "bare.git"), "HEAD:refs/heads/new")
    assert heard.rung.wait(SOON)
    end()


def test_it_does_not_ring_for_what_moves_no_branch(repo: Path, events: Bell) -> None:
    events.silence()
    events.count = 0
    (repo / "a.txt").write_text("edited")
    (repo / "clusters/d.yaml").write_text("new")
    (repo / ".git/refs/heads/main.lock").write_text("")
    (repo / ".git/refs/heads/main.lock").unlink()
    for command in (
        ("add", "--all"),
        ("status",),
        ("stash",),
        ("tag", "v1"),
        ("update-ref", "refs/remotes/origin/main", "HEAD"),
        ("log",),
        ("config", "user.name", "b"),
        ("checkout", "--detach"),
        ("fetch", "."),
    ):
        git(repo, *command)
    events.silence()
    assert events.count == 0


def test_it_ends_cleanly(repo: Path) -> None:
    threads = threading.active_count()
    heard = Bell()
    git_dir = local_git_dir(str(repo))
    assert git_dir is not None
    end = watch_refs(git_dir, heard.trigger)
    assert threading.active_count() > threads
    end()
    assert threading.active_count() == threads
    git(repo, "commit", "--allow-empty", "-m", "x")
    assert not heard.rung.wait(QUIET)


def test_without_watches_polling_is_left(
    repo: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    begin, begun = InotifyEmitter.on_thread_start, list[object]()

    def refuse(self: InotifyEmitter) -> None:
        begun.append(self)
        if len(begun) > 1:
            raise OSError(28, "inotify watch limit reached")
        begin(self)

    monkeypatch.setattr(InotifyEmitter, "on_thread_start", refuse)
    with caplog.at_level(logging.WARNING):
        end = watch_refs(repo / ".git", lambda: None)
    end()
    assert "only the poll interval wakes the loop" in caplog.text


@pytest.mark.parametrize("address", ["https://git.example.com/x.git", "git@example.com:x.git", "ssh://h/x"])
def test_what_is_not_on_this_machine_is_not_watched(address: str) -> None:
    assert local_git_dir(address) is None


def test_a_repository_of_branches_in_a_reftable(tmp_path: Path) -> None:
    try:
        git(tmp_path, "init", "--ref-format=reftable", "--initial-branch=main", "repo")
    except subprocess.CalledProcessError:
        pytest.skip("this git has no reftable")
    heard = Bell()
    end = watch_refs(tmp_path / "repo/.git", heard.trigger)
    git(tmp_path / "repo", "commit", "--allow-empty", "-m", "x")
    assert heard.rung.wait(SOON)
    end()
