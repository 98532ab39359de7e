"""`gitfleet run --listen`: probes, metrics and webhooks of the running loop, over real HTTP."""

from __future__ import annotations

import hmac
import json
import shutil
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

from gitfleet import __version__
from gitfleet.cli.texts import CliText
from gitfleet.fleet.texts import FleetText
from gitfleet.loop.texts import LoopText
from gitfleet.serving.texts import ServingText
from tests.cli.conftest import GIT, Shell, commit, with_usual_signals
from tests.texts import part

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


def begin(repo: Path | str, log: Path, *words: str) -> Running:
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
    for odd in ("text/plain;version=x", "application/openmetrics-text;version=a.b.c"):
        status, page = running.ask("/metrics", headers={"Accept": odd})
        assert status == 200 and "gitfleet_reconciles_total" in page, odd

    running.process.send_signal(signal.SIGTERM)
    assert running.process.wait(WAIT_SECONDS) == 0
    messages = [line["message"] for line in running.lines()]
    assert messages[1] == CliText.GITFLEET_CTRL_C_SIGTERM_ENDS() % (__version__, "is reconciling")
    assert messages[-1] == "interrupted"


def test_a_remote_that_goes_away_and_comes_back(running: Running, moving: Path) -> None:
    running.until("/readyz", "ok")
    away = moving.with_name("away")
    moving.rename(away)
    running.until("/metrics", 'gitfleet_reconciles_total{outcome="failed"}')
    assert running.ask("/healthz") == (200, "ok\n")
    away.rename(moving)
    while LoopText.RECONCILING_AGAIN_AFTER() % "" not in running.log.read_text():
        time.sleep(0.1)
    assert any(
        line["level"] == "warning" and LoopText.TRYING_AGAIN_G() % ("", 5) in line["message"]
        for line in running.lines()
    )


EVERYBODY = "It's a Secret to Everybody"
"""The secret of GitHub's example."""
PUSH = b'{"ref": "refs/heads/develop", "before": "28e1879d029cb852e4844d9c718537df08844e03"}'


def hexadecimal(secret: str, body: bytes) -> str:
    return hmac.digest(secret.encode(), body, "sha256").hex()


GITHUBS = {"X-Hub-Signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"}


@pytest.fixture(scope="module")
def receiving(settled: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Running, Path]]:
    """A run that polls once an hour and receives webhooks; the folder of their secrets."""
    folder = tmp_path_factory.mktemp("webhooks")
    repo = Path(shutil.copytree(settled, folder / "fleet"))
    patch = pytest.MonkeyPatch()
    for name, value in {**GIT, "XDG_CACHE_HOME": str(folder / "cache")}.items():
        patch.setenv(name, value)
    commit(repo, {"gitfleet.yaml": (repo / "gitfleet.yaml").read_text().replace("interval: 30s", "interval: 1h")})
    (folder / "github").write_text(f"{EVERYBODY}\n")
    (folder / "generic").write_text(f"{EVERYBODY}\n")
    words = [word for name in ("github", "generic") for word in ("--webhook", f"{name}={folder / name}")]
    found = begin(repo, folder / "log", *words)
    found.until("/metrics", 'conditionType="Completed",generation="1",name="web"')
    found.until("/metrics", 'conditionType="Completed",generation="1",name="monitoring"')
    yield found, folder
    patch.undo()
    found.process.kill()
    found.process.wait()


def reconciles(running: Running) -> float:
    """How many there were, once none has followed by itself for five seconds: a pass of a busy machine takes that."""
    seen: list[float] = []
    while len(seen) < 6 or len({*seen[-6:]}) > 1:
        lines = running.ask("/metrics")[1].splitlines()
        seen.append(sum(float(line.split()[-1]) for line in lines if line.startswith("gitfleet_reconciles_")))
        time.sleep(1.0)
    return seen[-1]


def test_a_signed_request_wakes_the_loop_and_no_other_does(receiving: tuple[Running, Path]) -> None:
    running, _ = receiving
    body, headers = b"Hello, World!", GITHUBS
    before = reconciles(running)
    for wrong in ({}, dict.fromkeys(headers, "sha256=00")):
        assert running.ask("/webhook/github", body, wrong) == (401, (ServingText.SIGNATURE_MISSING_WRONG() + "\n"))
    assert running.ask("/webhook/generic", body, headers)[0] == 401
    assert running.ask("/webhook/github", b"a" * 1024 * 1024 + b"a", headers)[0] == 413
    assert running.ask("/webhook/github")[0] == 405
    assert reconciles(running) == before

    assert running.ask("/webhook/github", body, headers) == (202, (ServingText.LOOP_WOKEN() + "\n"))
    assert reconciles(running) == before + 1
    for _ in range(3):
        assert running.ask("/webhook/github", body, headers)[0] == 202
    assert before + 2 <= reconciles(running) <= before + 3, "several are one"
    log = running.log.read_text()
    assert EVERYBODY not in log


def test_a_secret_is_replaced_without_a_restart(receiving: tuple[Running, Path]) -> None:
    running, folder = receiving
    (folder / "github").write_text("another secret, longer\n")
    assert running.ask("/webhook/github", b"Hello, World!", GITHUBS)[0] == 401
    signed = {"X-Hub-Signature-256": f"sha256={hexadecimal('another secret, longer', PUSH)}"}
    assert running.ask("/webhook/github", PUSH, signed)[0] == 202
    (folder / "github").unlink()
    assert running.ask("/webhook/github", PUSH, signed) == (503, (ServingText.SECRET_WEBHOOK_CANNOT_READ() + "\n"))
    (folder / "github").write_text(f"{EVERYBODY}\n")  # other tests use it


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, FleetText.CANNOT_READ(error="No such file")), ("short", part(ServingText.HOLDS_NO_WEBHOOK_SECRET))],
)
def test_a_run_does_not_begin_without_a_secret(gitfleet: Shell, fleet: Path, content: str | None, said: str) -> None:
    file = fleet.parent / "secret"
    if content is not None:
        file.write_text(content)
    ended = gitfleet("run", fleet, "--listen", "127.0.0.1:0", "--webhook", f"github={file}")
    assert ended.code == 1 and said in ended.err


def _no_provider(given: str) -> str:
    return CliText.OPTION_NO_PAIR(
        option="--webhook", given=given, form="PROVIDER=FILE with one of github, gitlab, gitea"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--listen", "8080"], CliText.LISTEN_NO_ADDRESS_PORT(address="8080")),
        (["--webhook", "github=x"], "--webhook goes with --listen"),
        (
            ["--listen", ":0", "--webhook", "gothub=x"],
            _no_provider("gothub=x"),
        ),
        (
            ["--listen", ":0", "--webhook", "github=x", "--webhook", "github=y"],
            CliText.OPTION_NAMES_TWICE(option="--webhook", name="github"),
        ),
        (["--once", "--listen", ":0"], part(CliText.CONTINUOUS_RUN_NOT_ONCE_UNTIL)),
        (["--until-settled", "--log-format", "json"], part(CliText.CONTINUOUS_RUN_NOT_ONCE_UNTIL)),
    ],
)
def test_usage(gitfleet: Shell, fleet: Path, words: list[str], said: str) -> None:
    ended = gitfleet("run", fleet, *words)
    assert ended.code == 64 and said in ended.err
