"""A shell for tests: `gitfleet` runs one command in this process, git makes the repos, nothing of the user's counts."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark.structures import ParameterSet

from gitfleet.adapters.clock import SystemClock
from gitfleet.cli.init import layout_files
from gitfleet.cli.main import run
from gitfleet.cli.options import cache_dir_for
from gitfleet.loop.runner import Wake

GIT = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "A person",
    "GIT_AUTHOR_EMAIL": "person@example.com",
    "GIT_COMMITTER_NAME": "A person",
    "GIT_COMMITTER_EMAIL": "person@example.com",
}


@dataclass(frozen=True)
class Ended:
    """What one command left: its exit code, data and talk."""

    code: int
    out: str
    err: str


Shell = Callable[..., Ended]


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path_factory.mktemp("home")
    for name in [name for name in os.environ if name.startswith(("GITFLEET_", "KUBE", "GIT_"))]:
        monkeypatch.delenv(name)
    for name, value in {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), **GIT}.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def gitfleet(capsys: pytest.CaptureFixture[str]) -> Shell:
    """Run one command in this process."""

    def shell(*words: str | Path) -> Ended:
        capsys.readouterr()
        code = run([str(word) for word in words])
        return Ended(code, *capsys.readouterr())

    return shell


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a command in this process waits for its next pass, its clock goes on at once by as much."""
    ahead = 0.0

    def wait(wake: Wake, seconds: float) -> None:
        nonlocal ahead
        ahead += 0.0 if wake.stopped else max(0.0, seconds)

    monkeypatch.setattr(Wake, "wait", wait)
    monkeypatch.setattr(SystemClock, "now", lambda _: datetime.now(UTC) + timedelta(seconds=ahead))
    monkeypatch.setattr(SystemClock, "monotonic", lambda _: time.monotonic() + ahead)


def with_usual_signals() -> None:
    """Whoever started the tests may ignore SIGHUP (nohup) or SIGINT (a shell's background job), and a child would go on
    doing so."""
    for number in (signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)


def git(folder: Path, *words: str) -> str:
    """Run git in a folder with nobody's settings; its output."""
    done = subprocess.run(
        ["git", *words], cwd=folder, env={**os.environ, **GIT}, capture_output=True, text=True, check=True
    )
    return done.stdout


def commit(repo: Path, files: Mapping[str, str | bytes | None], subject: str = "A change") -> None:
    """Write files (None removes one) and commit everything."""
    for path, content in files.items():
        target = repo / path
        if content is None:
            target.unlink()
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "--message", subject)


def make_repo(folder: Path, files: Mapping[str, str | bytes] | None = None, branch: str = "main") -> Path:
    """A repo with one commit: these files, or what `gitfleet init` lays out."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet", f"--initial-branch={branch}")
    commit(folder, dict(layout_files()) if files is None else files, "The fleet")
    return folder


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    """The repo that `gitfleet init` lays out, committed."""
    return make_repo(tmp_path / "fleet")


def settle(repo: Path) -> Path:
    """The repo after `gitfleet run --until-settled`, with a cache beside it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(repo.parent / "cache"))
        assert run(["run", "--until-settled", str(repo)]) == 0
    return repo


@pytest.fixture(scope="session")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same repo, settled; for tests that only read."""
    return settle(make_repo(tmp_path_factory.mktemp("settled") / "fleet"))


def copied(repo: Path, to: Path) -> Path:
    """A copy of a repo that was settled with a cache beside it. Its cache and its simulated clusters come along."""
    (cache,) = (repo.parent / "cache" / "gitfleet" / "repos").iterdir()
    shutil.copytree(cache, cache_dir_for(str(to), None), dirs_exist_ok=True)
    return Path(shutil.copytree(repo, to))


@pytest.fixture
def moving(settled: Path, tmp_path: Path) -> Path:
    """A copy of the settled repo, for tests that commit to it."""
    return copied(settled, tmp_path / "fleet")


def tiered(cases: Mapping[str, Any], *kept: str) -> list[ParameterSet]:
    """Cases by name, as parameters: `make test` runs those to be `kept`, `make soak` the others."""
    marks = {name: () if name in kept else pytest.mark.soak("real") for name in cases}
    return [pytest.param(case, id=name, marks=marks[name]) for name, case in cases.items()]
