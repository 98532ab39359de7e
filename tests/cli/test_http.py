"""`gitfleet run --listen`: probes, metrics and webhooks of the running loop, over real HTTP."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.conftest import Shell, commit, with_usual_signals

WAIT_SECONDS = 120


@dataclass
class Running:
    """A continuous run and where it listens."""

    process: subprocess.Popen[str]
    url: str
    log: Path

    def ask(self, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None) -> tuple[int, str]:
        request = urllib.request.Request(self.url + path, data=body, headers=dict(headers or {}))
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def lines(self) -> list[dict[str, str]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def until(self, path: str, words: str) -> str:
        deadline = time.monotonic() + WAIT_SECONDS
        while words not in (said := self.ask(path)[1]):
            assert time.monotonic() < deadline, said
            time.sleep(0.2)
        return said


def begin(repo: Path, log: Path, *words: str) -> Running:
    command = [sys.executable, "-m", "gitfleet", "run", str(repo), "--listen", "127.0.0.1:0", "--log-format", "json"]
    with log.open("w") as stderr:
        process = subprocess.Popen(
            [*command, *words],
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            text=True,
            preexec_fn=with_usual_signals,
        )  # fmt: skip
    deadline = time.monotonic() + WAIT_SECONDS
    while "listening on" not in log.read_text() or not log.read_text().endswith("\n"):
        assert process.poll() is None and time.monotonic() < deadline, log.read_text()
        time.sleep(0.05)
    where = next(
        one["message"] for one in map(json.loads, log.read_text().splitlines()) if "listening" in one["message"]
    )
    return Running(process, f"http://{where.removeprefix('listening on ')}", log)


@pytest.fixture
def running(moving: Path, tmp_path: Path) -> Iterator[Running]:
    """A run that polls each second."""
    config = (moving / "gitfleet.yaml").read_text()
    commit(moving, {"gitfleet.yaml": config.replace("interval: 30s", "interval: 1s")})
    found = begin(moving, tmp_path / "log")
    yield found
    found.process.kill()
    found.process.wait()


def test_probes_metrics_and_the_end(running: Running) -> None:
    assert running.ask("/healthz") == (200, "ok\n")
    running.until("/readyz", "ok")
    completed = (
        'fleet_workload_placement_status_last_timestamp_seconds{conditionType="Completed",generation="1",'
        'name="web",namespace="",reason="Completed",status="True"} 1.'
    )
    page = running.until("/metrics", completed)
    assert 'gitfleet_reconciles_total{outcome="changed"}' in page
    assert 'gitfleet_clusters{state="healthy"} 4.0' in page
    assert "gitfleet_approvals_pending 0.0" in page and 'gitfleet_build_info{version="' in page
    openmetrics = running.ask("/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"})[1]
    assert openmetrics.endswith("# EOF\n")

    running.process.send_signal(signal.SIGTERM)
    assert running.process.wait(15) == 0
    messages = [line["message"] for line in running.lines()]
    assert messages[1].endswith("is reconciling; Ctrl-C or SIGTERM ends it")
    assert messages[-1] == "interrupted"


def test_a_remote_that_goes_away_and_comes_back(running: Running, moving: Path) -> None:
    running.until("/readyz", "ok")
    away = moving.with_name("away")
    moving.rename(away)
    running.until("/metrics", 'gitfleet_reconciles_total{outcome="failed"}')
    assert running.ask("/healthz") == (200, "ok\n")
    away.rename(moving)
    while "reconciling again after" not in running.log.read_text():
        time.sleep(0.1)
    assert any(line["level"] == "warning" and "; trying again in 5 s" in line["message"] for line in running.lines())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--listen", "8080"], "--listen 8080 is no ADDRESS:PORT"),
        (["--listen", ":8080x"], "is no ADDRESS:PORT"),
        (["--once", "--listen", ":0"], "go with a continuous run"),
        (["--until-settled", "--log-format", "json"], "go with a continuous run"),
    ],
)
def test_usage(gitfleet: Shell, fleet: Path, words: list[str], said: str) -> None:
    ended = gitfleet("run", fleet, *words)
    assert ended.code == 64 and said in ended.err
