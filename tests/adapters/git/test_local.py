"""A local repository as the remote: its work trees and indexes are never touched."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gitfleet.adapters.git import GitRemote
from gitfleet.adapters.git.texts import GitText
from gitfleet.errors import BadInput
from tests.adapters.git.hubs import STATE, bare, change, clone_with_work_tree, git, unsound


def test_the_work_tree_stays_as_it_is(tmp_path: Path) -> None:
    top = clone_with_work_tree(tmp_path / "desk")
    (top / "README").write_text("being edited\n")
    (top / "untracked").write_text("x")
    index = (top / ".git" / "index").read_bytes()
    status = git(top, "status", "--porcelain")
    remote = GitRemote(str(top), tmp_path / "mirror")
    heads = remote.fetch()
    state = remote.commit(change(STATE, None, {"README": b"state\n"}))
    remote.commit(change("main", None, {"f": b"1"}, base=heads["desk"]))
    assert git(top, "rev-parse", STATE) == state
    assert (top / ".git" / "index").read_bytes() == index
    assert git(top, "status", "--porcelain") == status
    assert (top / "README").read_text() == "being edited\n"
    assert unsound(top) == []


def test_a_checked_out_branch_is_refused_with_advice(tmp_path: Path) -> None:
    top = clone_with_work_tree(tmp_path / "desk")
    git(top, "config", "receive.denyCurrentBranch", "updateInstead")
    git(top, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    for place in (top, top / ".git", tmp_path / "side"):
        remote = GitRemote(str(place), tmp_path / "mirror")
        heads = remote.fetch()
        for branch in ("desk", "side"):
            with pytest.raises(
                BadInput, match=re.escape(GitText.BRANCH_CHECKED_OUT(branch=branch, shown=place))
            ) as refused:
                remote.commit(change(branch, heads[branch], {"README": b"new\n"}))
            assert refused.value.hint == GitText.USE_BARE_REPOSITORY()
    assert (top / "README").read_text() == "on the desk\n"
    assert git(top, "status", "--porcelain") == ""


def test_main_of_a_bare_repository_can_be_moved(tmp_path: Path) -> None:
    path = bare(tmp_path / "hub.git")
    remote = GitRemote(str(path), tmp_path / "mirror")
    first = remote.commit(change("main", None, {"f": b"1"}))
    assert git(path, "rev-parse", "HEAD") == first


def test_head_of_a_local_repository_is_a_revision(tmp_path: Path) -> None:
    top = clone_with_work_tree(tmp_path / "desk")
    git(top, "checkout", "-q", "--detach")
    git(top, "commit", "-q", "--allow-empty", "-m", "on no branch")
    remote = GitRemote(str(top), tmp_path / "mirror")
    remote.fetch()
    assert remote.resolve("HEAD") == git(top, "rev-parse", "HEAD")


def test_a_shallow_clone_can_be_read(tmp_path: Path) -> None:
    top = clone_with_work_tree(tmp_path / "desk")
    git(top, "commit", "-q", "--allow-empty", "-m", "second")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{top}", "shallow")
    remote = GitRemote(str(tmp_path / "shallow"), tmp_path / "mirror")
    head = remote.fetch()["desk"]
    assert list(remote.list_tree(head)) == ["README"]
    remote.commit(change(STATE, None, {"f": b"1"}))
    remote.commit(change("gitfleet/approve/a", None, {"f": b"1"}, base=head))


def test_packed_and_linked_repositories_are_found(tmp_path: Path) -> None:
    top = clone_with_work_tree(tmp_path / "desk")
    git(top, "gc", "-q")
    (tmp_path / "link").symlink_to(top)
    head = git(top, "rev-parse", "HEAD")
    for number, place in enumerate((top, top / ".git", tmp_path / "link", f"file://{top}")):
        assert GitRemote(str(place), tmp_path / f"mirror{number}").fetch() == {"desk": head}
