"""What ``GitHttpServer`` promises besides what tests over it use: the protocol in every form, and nothing outside."""

from __future__ import annotations

import gzip
import os
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.realparts.git_http import GitHttpServer

pytestmark = pytest.mark.real

AUTHOR = ["-c", "user.name=Test", "-c", "user.email=test@example.com"]


def git(*arguments: str | Path, cwd: Path, ok: bool = True) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(
        ["git", *AUTHOR, *map(str, arguments)],
        cwd=cwd,
        env=kept | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_TERMINAL_PROMPT": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not ok or done.returncode == 0, done.stderr
    return done


def commit(clone: Path, name: str, text: str) -> str:
    (clone / name).write_text(text)
    git("add", name, cwd=clone)
    git("commit", "--quiet", "-m", name, cwd=clone)
    return head(clone)


def head(repository: Path, ref: str = "HEAD") -> str:
    return git("rev-parse", ref, cwd=repository).stdout.strip()


@pytest.fixture
def clone(git_http: GitHttpServer, tmp_path: Path) -> Path:
    """A clone of the served repository ``hub``, which has one commit on ``main``."""
    git_http.create("hub")
    path = tmp_path / "clone"
    git("clone", "--quiet", git_http.url("hub"), path, cwd=tmp_path)
    commit(path, "first", "1\n")
    git("push", "--quiet", "origin", "HEAD:main", cwd=path)
    return path


class TestGitOverHttp:
    @pytest.mark.parametrize("version", ["0", "1", "2"])
    def test_every_version_of_the_protocol_is_spoken(self, git_http: GitHttpServer, clone: Path, version: str) -> None:
        listed = git("-c", f"protocol.version={version}", "ls-remote", git_http.url("hub"), "main", cwd=clone)

        assert listed.stdout.split() == [head(clone), "refs/heads/main"]
        assert (git_http.requests[-1] == "POST /hub.git/git-upload-pack") == (version == "2")

    def test_a_large_push_in_chunks_arrives_whole(self, git_http: GitHttpServer, clone: Path) -> None:
        seen: list[Path] = []
        git_http.before_receive_pack = seen.append
        (clone / "large").write_bytes(os.urandom(3_000_000))
        git("add", "large", cwd=clone)
        git("commit", "--quiet", "-m", "large", cwd=clone)
        git("-c", "http.postBuffer=65536", "push", "--quiet", "origin", "HEAD:main", cwd=clone)

        assert head(git_http.root / "hub.git", "main") == head(clone)
        assert seen == [git_http.root / "hub.git"]
        git("fsck", "--strict", cwd=git_http.root / "hub.git")

    def test_a_compressed_request_is_understood(self, git_http: GitHttpServer, clone: Path) -> None:
        want = f"want {head(clone)}\n"
        lines = [f"{len(want) + 4:04x}{want}", "0000", "0009done\n"]
        request = urllib.request.Request(
            f"{git_http.url('hub')}/git-upload-pack",
            data=gzip.compress("".join(lines).encode()),
            headers={"Content-Type": "application/x-git-upload-pack-request", "Content-Encoding": "gzip"},
        )
        with urllib.request.urlopen(request) as response:
            assert response.read().startswith(b"0008NAK\nPACK")

    def test_a_partial_clone_leaves_the_blobs(self, git_http: GitHttpServer, clone: Path, tmp_path: Path) -> None:
        arguments = ["clone", "--quiet", "--bare", "--filter=blob:none", git_http.url("hub")]
        git(*arguments, "partial", cwd=tmp_path)

        missing = git("rev-list", "--objects", "--all", "--missing=print", cwd=tmp_path / "partial").stdout.splitlines()
        assert f"?{head(clone, 'HEAD:first')}" in missing

    def test_what_lies_outside_the_root_is_not_served(self, git_http: GitHttpServer, clone: Path) -> None:
        outside = git_http.url("hub").replace("hub.git", f"%2e%2e/{clone.name}/.git")
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(f"{outside}/info/refs?service=git-upload-pack")
