"""Remotes for the contract suite: in memory, a bare file, a work tree's repository, and git over HTTP."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gitfleet.adapters.git import GitRemote
from gitfleet.ports.repos import BranchChange
from gitfleet.simulation.memory_repo import MemoryRepo

WHEN = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
STATE = "gitfleet/state"
FILES = {"a.b": b"1\n", "a/b": b"22\n", "a-b": b"", "sub/deep/er.yaml": b"kind: X\n"}

Repo = GitRemote | MemoryRepo


@dataclass
class Hub:
    """One remote under test: `repo` and `other` are two instances on it, as two processes would have."""

    repo: Repo
    other: Repo
    path: Path | None = None  # the remote's git directory, None in memory

    def seed(self, files: dict[str, bytes], branch: str = "main") -> str:
        """Write files to a branch as people do."""
        heads = self.other.fetch()
        return self.other.commit(change(branch, heads.get(branch), files))

    def move_branch(self, name: str, commit: str | None) -> None:
        """Set a branch as people do, whatever it was; None deletes it."""
        if isinstance(self.repo, MemoryRepo):
            self.repo.move_branch(name, commit)
        else:
            assert self.path
            words = ["-d", f"refs/heads/{name}"] if commit is None else [f"refs/heads/{name}", commit]
            git(self.path, "update-ref", *words)

    def tag(self, name: str, commit: str) -> None:
        """Give a commit a name."""
        if isinstance(self.repo, MemoryRepo):
            self.repo.tags[name] = commit
        else:
            assert self.path
            git(self.path, "tag", "-a", "-m", "x", name, commit)


def change(branch: str, expected: str | None, files: dict[str, bytes] | None = None, **rest: Any) -> BranchChange:
    """A change with every field that a test does not care for filled in."""
    fields: dict[str, Any] = {"subject": "Change files", "when": WHEN, "write": files or {}, **rest}
    return BranchChange(branch=branch, expected=expected, **fields)


def git(where: Path, *words: str, stdin: bytes = b"") -> str:
    """Plain git as people have it, in a folder; its output."""
    names = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "ann"}
    names |= {"GIT_AUTHOR_EMAIL": "ann@example.org", "GIT_COMMITTER_NAME": "ann"}
    names |= {"GIT_COMMITTER_EMAIL": "ann@example.org"}
    done = subprocess.run(
        ["git", "-C", str(where), *words], input=stdin, env=os.environ | names, capture_output=True, check=True
    )
    return done.stdout.decode().strip()


def unsound(where: Path) -> list[str]:
    """What fsck complains of in a repository; objects that nothing refers to are no complaint."""
    return [line for line in git(where, "fsck", "--strict").splitlines() if not line.startswith("dangling")]


def unsound_commit(path: Path) -> str:
    """A commit with a file `.git/config`, which fsck refuses."""
    blob = git(path, "hash-object", "-w", "--stdin", stdin=b"evil")
    inner = git(path, "mktree", stdin=f"100644 blob {blob}\tconfig\n".encode())
    tree = git(path, "mktree", stdin=f"040000 tree {inner}\t.git\n".encode())
    return git(path, "commit-tree", "-m", "evil", tree)


def bare(path: Path) -> Path:
    """A new empty bare repository."""
    path.mkdir(parents=True)
    git(path, "init", "--quiet", "--bare", "--initial-branch=main", "--template=")
    return path


def clone_with_work_tree(path: Path) -> Path:
    """A new repository with a work tree whose checked-out branch `desk` has one file; returns its top folder."""
    path.mkdir(parents=True)
    git(path, "init", "--quiet", "--initial-branch=desk", "--template=")
    (path / "README").write_text("on the desk\n")
    git(path, "add", "README")
    git(path, "commit", "--quiet", "-m", "Begin")
    return path


def two_on(url: str, mirrors: Path, path: Path | None) -> Hub:
    """Two instances with a mirror each."""
    return Hub(GitRemote(url, mirrors / "one"), GitRemote(url, mirrors / "two"), path)


def put_symlink(hub: Hub, name: str, target: str) -> None:
    """Commit a symlink to main, past the port that refuses it."""
    if isinstance(hub.repo, MemoryRepo):
        hub.repo.put_entry("main", name, "120000", target.encode(), WHEN)
        return
    assert hub.path
    data = f"data {len(target)}\n{target}\n"
    stream = "commit refs/heads/main\ncommitter a <a@b> 1 +0000\ndata 1\nx\nfrom refs/heads/main^0\n"
    stream += f"M 120000 inline {name}\n"
    git(hub.path, "fast-import", "--quiet", stdin=(stream + data).encode())
