"""One continuous `gitfleet run` outlives what a git server does to it, and says meanwhile what it is."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from gitfleet.loop.texts import LoopText
from tests.cli.conftest import commit, git
from tests.cli.test_http import WAIT_SECONDS, begin
from tests.realparts.git_http import GitHttpServer

pytestmark = pytest.mark.real
OLD, NEW = "old-token-0123456789", "new-token-0123456789"
SECRET = "webhook-secret-0123456789"
FAILED = LoopText.LAST_RECONCILE_FAILED(why="the git remote ")
STATE = "refs/heads/gitfleet/state"


def test_a_run_goes_on_after_each_outage(
    moving: Path, tmp_path: Path, git_http: GitHttpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = (moving / "gitfleet.yaml").read_text()
    commit(moving, {"gitfleet.yaml": config.replace("interval: 30s", "interval: 1s")})
    path = git_http.create("fleet")
    git(moving, "push", "--quiet", str(path), "main")
    git_http.credentials = ("bot", OLD)
    token = tmp_path / "token"
    token.write_text(OLD)
    for name, value in {"USERNAME": "bot", "PASSWORD_FILE": str(token), "TIMEOUT": "2"}.items():
        monkeypatch.setenv(f"GITFLEET_GIT_{name}", value)
    secret = tmp_path / "secret"
    secret.write_text(SECRET)
    words = ("--cache-dir", str(tmp_path / "cache"), "--webhook", f"generic={secret}")
    running = begin(git_http.url("fleet"), tmp_path / "log", *words)

    def until(words: str) -> None:
        """A webhook wakes the loop, so that nobody waits for its pauses."""
        deadline = time.monotonic() + WAIT_SECONDS
        while words not in (said := running.ask("/readyz")[1]):
            assert time.monotonic() < deadline and running.process.poll() is None, said
            running.ask("/webhook/generic", b"{}", {"Authorization": f"Bearer {SECRET}"})
            time.sleep(0.2)

    try:
        until("ok")

        git_http.latency = 60.0  # it accepts and does not answer
        until(f"{FAILED}does not answer as it should")
        assert running.ask("/healthz") == (200, "ok\n")
        git_http.clear_faults()
        until("ok")

        git_http.credentials = ("bot", NEW)  # the token is rotated on the server first
        until(f"{FAILED}refuses the credentials")
        token.write_text(NEW)
        until("ok")

        away = path.with_name("away.git")
        path.rename(away)
        until(f"{FAILED}has no such repository")
        away.rename(path)
        until("ok")

        lock = path / f"{STATE}.lock"
        lock.touch()
        commit(moving, {"gitfleet.yaml": (moving / "gitfleet.yaml").read_text() + "# a change\n"})
        git(moving, "push", "--quiet", str(path), "main")
        until(f"{FAILED}cannot do what it is asked now")
        lock.unlink()
        until("ok")

        first = git(path, "rev-list", "--max-parents=0", STATE).split()[0]
        git(path, "update-ref", STATE, first)  # the state branch is forced back to its beginning
        deadline = time.monotonic() + WAIT_SECONDS
        while git(path, "rev-parse", STATE).strip() == first:
            assert time.monotonic() < deadline and running.process.poll() is None
            time.sleep(0.2)
        until("ok")
    finally:
        running.process.kill()
        running.process.wait()
    log = running.log.read_text()
    assert OLD not in log and NEW not in log and "Traceback" not in log
    assert log.count("reconciling again after") >= 4
