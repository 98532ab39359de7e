"""`gitfleet run` and its calls: the options, and rollouts that ask real webhooks and a real Prometheus."""

from __future__ import annotations

import hmac
import json
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from gitfleet.adapters.outbound.texts import OutboundText
from gitfleet.cli.texts import CliText
from tests.adapters.outbound.hook_server import HookServer, hook_server
from tests.cli.conftest import Shell, commit, git
from tests.cli.test_http import WAIT_SECONDS, Running, begin
from tests.realparts.prometheus import PrometheusServer

SECRET = "canary-of-the-signing-secret"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("--allow-webhooks", "https://hooks.example.com"),
            CliText.ALLOWED_HOST_NO_HOST(option="--allow-webhooks", given="https://hooks.example.com"),
        ),
        (("--metric-token", "prometheus.example.com"), "--metric-token prometheus.example.com is no HOST=FILE or"),
        (
            ("--metric-token", "p.example=a", "--metric-token", "http://p.example=b", "--metric-token", "P.example=c"),
            CliText.OPTION_NAMES_TWICE(option="--metric-token", name="P.example"),
        ),
    ],
)
def test_wrong_options(gitfleet: Shell, moving: Path, words: tuple[str, ...], said: str) -> None:
    ended = gitfleet("run", moving, "--once", *words)
    assert ended.code == 64 and said in ended.err


@pytest.mark.parametrize("option", ["--outbound-secret", "--outbound-ca"])
def test_a_file_that_is_not_there_ends_the_start(gitfleet: Shell, moving: Path, tmp_path: Path, option: str) -> None:
    ended = gitfleet("run", moving, "--once", option, tmp_path / "nowhere")
    assert ended.code == 1 and "nowhere" in ended.err and ended.out == ""


@pytest.mark.parametrize("command", ["plan", "simulate", "agent"])
def test_who_only_looks_has_no_way_out(gitfleet: Shell, moving: Path, command: str) -> None:
    ended = gitfleet(command, moving, "--allow-webhooks", "hooks.example.com")
    assert ended.code == 64 and "no such option '--allow-webhooks'" in ended.err


def test_a_run_with_all_of_them(gitfleet: Shell, moving: Path, tmp_path: Path) -> None:
    secret, token = tmp_path / "secret", tmp_path / "token"
    secret.write_text("s" * 32)
    token.write_text("t" * 32)
    words = ("--allow-webhooks", "hooks.example.com", "--allow-metrics", "*.example.org:9090")
    files = ("--outbound-secret", secret, "--metric-token", f"http://p.example.org:9090={token}")
    for mode in ("--once", "--until-settled"):
        ended = gitfleet("run", moving, mode, *words, *files)
        assert ended.code == 0, ended.err


ROLLOUT = """\
apiVersion: standard.oam.dev/v1alpha1
kind: RolloutTrait
metadata: {{name: web, namespace: web}}
spec:
  targetRef: {{apiVersion: apps/v1, kind: Deployment, name: web}}
  clusters: {{matchLabels: {{zone: eu-west}}}}
  rolloutPlan:
    numBatches: {batches}
    rolloutWebhooks:
      - {{type: pre-batch-rollout, name: gate, url: "{url}", timeout: {timeout}, metadata: {{team: shop}}}}
"""
METRIC = """\
    canaryMetric:
      - {{name: latency, interval: 1s, count: 2, metricsRange: {{max: {most}}}, templateRef: {{name: latency}}}}
---
apiVersion: gitfleet.dev/v1alpha1
kind: MetricTemplate
metadata: {{name: latency, namespace: web}}
spec:
  provider: {{address: "{address}"}}
  query: 'latency_now{{pod=~"{{{{ name }}}}-.*"}}'
"""


def roll_out(repo: Path, hooks: HookServer, *, batches: int = 1, timeout: str = "30s", metric: str = "") -> None:
    """Commit new content of the Deployment web, and a rollout of it that asks a webhook."""
    web = (repo / "resources" / "web" / "web.yaml").read_text()
    changed = web.replace("image: nginx:1.27", "image: nginx:1.28")
    assert changed != web
    text = ROLLOUT.format(batches=batches, url=hooks.url, timeout=timeout) + metric
    commit(repo, {"resources/web/web.yaml": changed, "rollouts/web.yaml": text})


def state_of(repo: Path) -> str:
    """The rollout as the state branch has it."""
    return git(repo, "show", "gitfleet/state:rollouts/web/web.yaml")


def until_state(repo: Path, words: str, log: Path) -> str:
    deadline, said = time.monotonic() + WAIT_SECONDS, ""
    while words not in said:
        assert time.monotonic() < deadline, f"{said}\n{log.read_text()}"
        time.sleep(0.2)
        with suppress(subprocess.CalledProcessError):  # it is not there yet
            said = state_of(repo)
    return said


@pytest.fixture
def hooks() -> Iterator[HookServer]:
    with hook_server() as found:
        yield found


def end(running: Running) -> None:
    running.process.kill()
    running.process.wait()


@pytest.mark.real
def test_a_rollout_asks_a_webhook_and_a_real_prometheus(
    moving: Path, tmp_path: Path, hooks: HookServer, prometheus: PrometheusServer
) -> None:
    secret, log = tmp_path / "secret", tmp_path / "log"
    secret.write_text(SECRET)
    prometheus.target = 'latency_now{pod="web-1"} 0.2\nlatency_now{pod="other"} 9\n'
    roll_out(moving, hooks, batches=2, metric=METRIC.format(most=0.5, address=prometheus.url))
    words = ["--allow-webhooks", hooks.host, "--allow-metrics", prometheus.url.removeprefix("http://")]
    running = begin(moving, log, *words, "--outbound-secret", str(secret))
    try:
        state = until_state(moving, "rollingState: rolloutSucceed", log)
        page = running.until("/metrics", 'gitfleet_rollout_calls_total{kind="webhook",outcome="passed"} 2.0')
    finally:
        end(running)
    keys = [headers["idempotency-key"] for _, headers, _ in hooks.got]
    assert len(keys) == len(set(keys)) == 2
    for (request, headers, body), batch in zip(hooks.got, (0, 1), strict=True):
        signed = hmac.new(SECRET.encode(), body, "sha256").hexdigest()
        assert request == "POST /hook" and headers["x-gitfleet-signature-256"] == f"sha256={signed}"
        said = json.loads(body)
        assert (said["type"], said["batch"], said["metadata"]) == ("pre-batch-rollout", batch, {"team": "shop"})
    measured = re.search(r'kind="metric",outcome="measured"} (\S+)', page)
    assert measured is not None and float(measured[1]) >= 4.0, page
    assert "0.2" in state and SECRET not in state + log.read_text()


@pytest.mark.soak("crashes")
def test_a_process_that_is_killed_asks_again_with_the_same_key(moving: Path, tmp_path: Path, hooks: HookServer) -> None:
    log, again = tmp_path / "log", tmp_path / "again"
    roll_out(moving, hooks, timeout="100s")
    hooks.way = "hang"
    running = begin(moving, log, "--allow-webhooks", hooks.host)
    try:
        deadline = time.monotonic() + WAIT_SECONDS
        while not hooks.got:
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
    finally:
        end(running)
    hooks.way = "answer"
    running = begin(moving, again, "--allow-webhooks", hooks.host)
    try:
        until_state(moving, "rollingState: rolloutSucceed", again)
    finally:
        end(running)
    (_, first, body), (_, second, repeated) = hooks.got
    assert first["idempotency-key"] == second["idempotency-key"] and body == repeated
    assert hooks.done == {first["idempotency-key"]: 1}


def test_runs_with_an_end_ask_too(gitfleet: Shell, moving: Path, hooks: HookServer) -> None:
    roll_out(moving, hooks)
    ended = gitfleet("run", moving, "--until-settled", "--timeout", 15)
    assert ended.code == 1 and hooks.got == []
    refused = OutboundText.NO_HOST_PROCESS_CALL(shown=hooks.host, option="--allow-webhooks")
    assert refused in " ".join(state_of(moving).split())
    deadline = time.monotonic() + WAIT_SECONDS
    while "rollingState: rolloutSucceed" not in state_of(moving):
        assert time.monotonic() < deadline, state_of(moving)
        assert gitfleet("run", moving, "--once", "--allow-webhooks", hooks.host).code == 0
        time.sleep(1)
    assert len({headers["idempotency-key"] for _, headers, _ in hooks.got}) == len(hooks.got) == 1
