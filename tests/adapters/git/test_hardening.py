"""What only real git can show: nothing of a repository, an environment or an address makes git run something."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from gitfleet.adapters.git import GitRemote
from gitfleet.adapters.git.connection import Bounds
from gitfleet.adapters.git.hardening import git_environment
from gitfleet.adapters.git.mirror import Mirror
from gitfleet.adapters.git.runner import GitRunner
from gitfleet.adapters.git.texts import GitText
from gitfleet.errors import BadInput, UnreadableCommit
from tests.adapters.git.hubs import STATE, WHEN, Hub, bare, change, clone_with_work_tree, git, two_on, unsound_commit
from tests.texts import part

HOOKS = [
    "pre-receive", "update", "post-receive", "post-update", "reference-transaction", "proc-receive", "pre-push",
    "pre-auto-gc", "push-to-checkout", "post-index-change", "fsmonitor-watchman",
]  # fmt: skip


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """A folder of hooks and one program that all leave the file `sprung` when they run."""
    folder = tmp_path / "trap"
    folder.mkdir()
    for name in [*HOOKS, "program"]:
        script = folder / name
        script.write_text(f"#!/bin/sh\necho {name} >> {tmp_path}/sprung\nexit 1\n")
        script.chmod(0o755)
    return folder


def exercise(remote: GitRemote) -> None:
    heads = remote.fetch()
    head = remote.commit(change(STATE, heads.get(STATE), {"f": b"1"}))
    remote.commit(change(STATE, head, {"f": b"2"}))
    remote.list_tree(remote.fetch()[STATE])
    remote.housekeep()


@pytest.mark.parametrize("kind", ["bare", "work-tree"])
def test_nothing_of_a_local_repository_runs(tmp_path: Path, trap: Path, kind: str) -> None:
    path = bare(tmp_path / "hub.git") if kind == "bare" else clone_with_work_tree(tmp_path / "desk") / ".git"
    hooks = path / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in HOOKS:
        (hooks / name).symlink_to(trap / name)
    elsewhere = bare(tmp_path / "elsewhere.git")
    (path / "objects" / "info").mkdir(exist_ok=True)
    (path / "objects" / "info" / "alternates").write_text(f"{elsewhere}/objects\n")
    program = str(trap / "program")
    settings = {
        "core.alternateRefsCommand": program, "core.fsmonitor": program, "core.sshCommand": program,
        "core.askPass": program, "uploadpack.packObjectsHook": program, "credential.helper": f"!{program}",
        "filter.evil.smudge": program, "filter.evil.clean": program, "diff.external": program, "gpg.program": program,
        "core.editor": program, "core.pager": program,
    }  # fmt: skip
    for key, value in settings.items():
        git(path, "config", key, value)
    exercise(GitRemote(str(path), tmp_path / "mirror"))
    git(path, "config", "core.hooksPath", str(trap))
    exercise(GitRemote(f"file://{path}", tmp_path / "mirror2"))
    assert not (tmp_path / "sprung").exists()
    with pytest.raises(subprocess.CalledProcessError):  # the trap is armed: plain git steps into it
        git(path, "update-ref", "refs/heads/x", f"refs/heads/{STATE}")
    assert (tmp_path / "sprung").exists()


def test_a_hook_that_got_into_the_mirror_meanwhile_does_not_run(tmp_path: Path, trap: Path) -> None:
    mirror = Mirror(tmp_path / "mirror", lock_seconds=9)
    with mirror.locked():
        shutil.copytree(trap, mirror.git_dir / "hooks")
        blob = git(mirror.git_dir, "hash-object", "-w", "--stdin", stdin=b"1")
        ours = GitRunner(mirror.folder, git_environment(str(mirror.git_dir)))
        assert ours.run("update-ref", "refs/gitfleet/x", blob).ok
    assert not (tmp_path / "sprung").exists()
    with pytest.raises(subprocess.CalledProcessError):  # the trap is armed
        git(mirror.git_dir, "update-ref", "refs/gitfleet/y", blob)
    assert (tmp_path / "sprung").exists()


def test_the_settings_of_user_and_system_do_not_count(
    tmp_path: Path, trap: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    program = str(trap / "program")
    (home / ".gitconfig").write_text(
        f'[core]\n hooksPath = {trap}\n fsmonitor = {program}\n[url "ext::{program}"]\n insteadOf = {tmp_path}\n'
        f"[credential]\n helper = !{program}\n[uploadpack]\n packObjectsHook = {program}\n[user]\n name = else\n"
        "[init]\n templateDir = /nowhere\n[fetch]\n recurseSubmodules = true\n"
    )
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    path = bare(tmp_path / "hub.git")
    remote = GitRemote(str(path), tmp_path / "mirror")
    exercise(remote)
    assert not (tmp_path / "sprung").exists()
    assert git(path, "log", "-1", "--format=%an <%ae> %cn", STATE) == "gitfleet <gitfleet@localhost> gitfleet"


def test_the_environment_of_the_caller_does_not_reach_git(
    tmp_path: Path, trap: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As inside a hook, where git exports GIT_DIR and friends."""
    path = bare(tmp_path / "hub.git")
    other = clone_with_work_tree(tmp_path / "other")
    before = git(other, "for-each-ref")
    program = str(trap / "program")
    strange = {
        "GIT_DIR": str(other / ".git"), "GIT_WORK_TREE": str(other), "GIT_INDEX_FILE": str(tmp_path / "index"),
        "GIT_OBJECT_DIRECTORY": str(other / ".git/objects"), "GIT_COMMON_DIR": str(other / ".git"),
        "GIT_NAMESPACE": "evil", "GIT_TRACE": str(tmp_path / "sprung"), "GIT_TRACE2": str(tmp_path / "sprung"),
        "GIT_SSH_COMMAND": program, "GIT_ASKPASS": program, "GIT_EXTERNAL_DIFF": program, "GIT_PROXY_COMMAND": program,
        "GIT_CONFIG_PARAMETERS": f"'core.hooksPath={trap}'", "GIT_CONFIG_COUNT": "1", "GIT_AUTHOR_NAME": "evil",
        "GIT_CONFIG_KEY_0": "core.hooksPath", "GIT_CONFIG_VALUE_0": str(trap), "GIT_COMMITTER_DATE": "1 +0000",
        "GIT_TEMPLATE_DIR": str(trap), "GIT_EXEC_PATH": str(trap), "GIT_CEILING_DIRECTORIES": "/",
        "GIT_QUARANTINE_PATH": str(tmp_path), "GIT_DEFAULT_HASH": "sha256", "LC_ALL": "de_DE.UTF-8",
    }  # fmt: skip
    with monkeypatch.context() as patch:
        for key, value in strange.items():
            patch.setenv(key, value)
        exercise(GitRemote(str(path), tmp_path / "mirror"))
    assert not (tmp_path / "sprung").exists()
    assert git(other, "for-each-ref") == before
    assert git(path, "rev-parse", "--verify", f"refs/heads/{STATE}")


EVIL_URLS = [
    "", " ", "-oProxyCommand=x", "--upload-pack=touch /tmp/x", "ext::sh -c id", "EXT::x", "fd::17",
    "transport::address",
    "ftp://host/x", "ssh://-oProxyCommand=id/x", "ssh://-l@host/x", "git@-oProxyCommand=id:x",
    "git@host:-x", "https://", "https://host", "https:///x", "https://host:99999999/x", "https://[::1/x", "a\nb",
    "https://host/x\n", "\0", "file://other.host/x", "file:///nowhere/at/all", "/nowhere/at/all", "nowhere",
    "ext+ssh://x/y", "javascript://x/y",
]  # fmt: skip


@pytest.mark.parametrize("url", EVIL_URLS)
def test_evil_urls_are_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(BadInput):
        GitRemote(url, tmp_path / "mirror")
    assert not (tmp_path / "mirror").exists()


def test_a_folder_without_a_repository_is_refused(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    with pytest.raises(BadInput, match=re.escape(GitText.NO_REPOSITORY_AT(path=tmp_path / "plain"))):
        GitRemote(str(tmp_path / "plain"), tmp_path / "mirror")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_repository_of_another_user_needs_trust(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SUDO_UID", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    path = bare(tmp_path / "hub.git")
    os.chown(path, 12345, 12345)
    with pytest.raises(BadInput, match=re.escape(GitText.BELONGS_ANOTHER_USER(path=path))) as refused:
        GitRemote(str(path), tmp_path / "mirror")
    assert refused.value.hint == GitText.TRUST_OWNER(path=path)
    (tmp_path / ".gitconfig").write_text(f"[safe]\n directory = {path}\n")
    exercise(GitRemote(str(path), tmp_path / "mirror"))


def test_unsound_objects_are_not_let_in(file_hub: Hub, tmp_path: Path) -> None:
    assert file_hub.path
    file_hub.seed({"f": b"1"})
    commit = unsound_commit(file_hub.path)
    tree = git(file_hub.path, "rev-parse", f"{commit}^{{tree}}")
    git(file_hub.path, "update-ref", "refs/heads/evil", commit)
    remote = GitRemote(str(file_hub.path), tmp_path / "fresh")
    assert remote.fetch()["evil"] == commit
    for _ in range(2):
        with pytest.raises(UnreadableCommit, match=re.escape(part(GitText.OBJECT_UNSOUND_AS))):
            remote.list_tree(commit)
    assert not (tmp_path / "fresh" / "mirror.git" / "objects" / tree[:2] / tree[2:]).exists()
    assert tree not in git(tmp_path / "fresh" / "mirror.git", "cat-file", "--batch-all-objects", "--batch-check")


def test_a_tree_that_unfolds_without_end_is_stopped(file_hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    assert file_hub.path
    monkeypatch.setattr("gitfleet.adapters.git.connection.OUTPUT_BYTES", 1 << 20)
    tree = ""
    entry = "100644 blob " + git(file_hub.path, "hash-object", "-w", "--stdin", stdin=b"x")
    for _ in range(9):
        listing = "".join(f"{entry}\td{n}\n" for n in range(10))
        tree = git(file_hub.path, "mktree", stdin=listing.encode())
        entry = f"040000 tree {tree}"
    commit = git(file_hub.path, "commit-tree", "-m", "bomb", tree)
    git(file_hub.path, "update-ref", "refs/heads/main", commit)
    remote = GitRemote(str(file_hub.path), file_hub.path.parent / "bombed")
    remote.fetch()
    with pytest.raises(BadInput, match=GitText.GIVES_MORE()):
        remote.list_tree(commit)


def test_a_fetch_of_too_many_bytes_is_stopped(file_hub: Hub, tmp_path: Path) -> None:
    file_hub.seed({f"f{n}": os.urandom(20_000) for n in range(150)})
    small = GitRemote(str(file_hub.path), tmp_path / "small", bounds=Bounds(largest_fetch_bytes=1 << 20))
    head = small.fetch()["main"]
    with pytest.raises(UnreadableCommit, match=GitText.BRINGS_MORE(limit=1)):
        small.list_tree(head)
    assert not list((tmp_path / "small" / "mirror.git" / "objects").rglob("*pack*/*"))


def test_submodules_are_listed_and_left_alone(file_hub: Hub) -> None:
    assert file_hub.path
    commit = file_hub.seed({"f": b"1"})
    modules = '[submodule "sub"]\n\tpath = sub\n\turl = https://nowhere.invalid/\n'
    stream = (
        f"commit refs/heads/main\ncommitter a <a@b> 1 +0000\ndata 1\nx\nfrom {commit}\nM 160000 {'1' * 40} sub\n"
        f"M 100644 inline .gitmodules\ndata {len(modules)}\n{modules}\n"
    )
    git(file_hub.path, "fast-import", "--quiet", stdin=stream.encode())
    head = file_hub.repo.fetch()["main"]
    entry = file_hub.repo.list_tree(head)["sub"]
    assert (entry.mode, entry.oid, entry.size) == ("160000", "1" * 40, None)


def test_a_mirror_folder_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    path = bare(tmp_path / "hub.git")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(BadInput, match=re.escape(GitText.FOLDER_HOLDS_SOMETHING_ELSE(folder=tmp_path / "mine"))):
        GitRemote(str(path), tmp_path / "mine")
    assert [file.name for file in (tmp_path / "mine").iterdir()] == ["thesis.txt"]


def test_hashes_of_the_longer_kind(tmp_path: Path) -> None:
    path = tmp_path / "hub.git"
    path.mkdir()
    git(path, "init", "--quiet", "--bare", "--object-format=sha256", "--initial-branch=main", "--template=")
    hub = two_on(str(path), tmp_path, path)
    first = hub.seed({"a": b"1"})
    assert len(first) == 64
    assert hub.repo.fetch() == {"main": first}
    entry = hub.repo.list_tree(first)["a"]
    assert hub.repo.read_blobs([entry.oid], limit=9) == {entry.oid: b"1"}
    second = hub.repo.commit(change("main", first, {"a": b"2"}, when=WHEN))
    assert hub.other.fetch() == {"main": second}
