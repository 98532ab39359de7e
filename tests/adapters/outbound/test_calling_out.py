"""What `run` puts together: the queue with real servers behind it, files that are replaced, and other packages'
providers, the example's among them."""

from __future__ import annotations

import hmac
import importlib
import json
import logging
import ssl
import sys
import threading
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from gitfleet.adapters.clock import SystemClock
from gitfleet.adapters.kube.texts import KubeText
from gitfleet.adapters.metrics import PrometheusMetrics
from gitfleet.adapters.notify.texts import NotifyText
from gitfleet.adapters.outbound.texts import OutboundText
from gitfleet.api.workload_records import MetricOutcome
from gitfleet.errors import BadInput
from gitfleet.fleet import call_queue
from gitfleet.fleet.texts import FleetText
from gitfleet.formats.hosts import HostPattern, Origin
from gitfleet.formats.texts import FormatsText
from gitfleet.loop.workspace import Workspace
from gitfleet.model.calls import Answer, Call, MetricQuery, WebhookCall, WebhookOutcome
from gitfleet.serving.texts import ServingText
from gitfleet.settings import OutboundSettings
from gitfleet.wiring.outbound import calling_out
from tests.adapters.outbound.hook_server import HookServer, hook_server
from tests.architecture.sources import ROOT
from tests.realparts.certificates import write_server_certificate

SECRET = "canary-of-the-signing-secret"
EXAMPLE = ROOT / "examples" / "metric-provider"


@dataclass
class Loop:
    """What of a run is asked here: the driver that gets the calls, and how often the loop was woken."""

    driver: SimpleNamespace = field(
        default_factory=lambda: SimpleNamespace(clusters=SimpleNamespace(workloads=SimpleNamespace(calls=None)))
    )
    clock: SystemClock = field(default_factory=SystemClock)
    woken: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    @property
    def wake(self) -> SimpleNamespace:
        """As a workspace has it."""
        return SimpleNamespace(trigger=self.woken.release)

    def answer(self, call: Call) -> Answer:
        """As a driver does: start a call, and look for its answer when the loop is woken."""
        self.driver.clusters.workloads.calls.start([call])
        while call.id not in self.driver.clusters.workloads.calls.answers():
            assert self.woken.acquire(timeout=60)
        found: Answer = self.driver.clusters.workloads.calls.answers()[call.id]
        self.driver.clusters.workloads.calls.forget([call.id])
        return found


@contextmanager
def opened(*allowed: str, **more: Any) -> Iterator[Loop]:
    loop = Loop()
    hosts = tuple(HostPattern.parse(one) for one in allowed)
    settings = OutboundSettings(**{"allowed_webhooks": hosts, "allowed_metrics": hosts, **more})
    with calling_out(cast(Workspace, loop), settings):
        yield loop


@pytest.fixture
def hooks() -> Iterator[HookServer]:
    with hook_server() as found:
        yield found


def webhook(hooks: HookServer, name: str = "a", seconds: float = 30.0) -> WebhookCall:
    return WebhookCall(id=name, url=hooks.url, body={"name": name}, timeout_seconds=seconds)


def query(provider: str, address: str, text: str = "q", name: str = "m") -> MetricQuery:
    at = datetime(2026, 1, 1, 0, 30, tzinfo=UTC)
    return MetricQuery(id=name, provider=provider, address=address, query=text, at=at)


@pytest.mark.parametrize("kind", ["allowed_webhooks", "allowed_metrics"])
def test_what_is_allowed_for_webhooks_is_not_for_metrics_nor_the_other_way_round(hooks: HookServer, kind: str) -> None:
    hosts = {"allowed_webhooks": (), "allowed_metrics": (), kind: (HostPattern.parse(hooks.host),)}
    with opened(**hosts) as loop:
        answer, metric = loop.answer(webhook(hooks)), loop.answer(query("prometheus", f"http://{hooks.host}"))
    called = ["/api" not in request for request, _, _ in hooks.got]
    assert called == [kind == "allowed_webhooks"]
    assert ("--allow-webhooks" in answer.message) is (kind == "allowed_metrics")
    assert ("--allow-metrics" in metric.message) is (kind == "allowed_webhooks")


def test_a_webhook_signed_with_what_the_file_holds_now(hooks: HookServer, tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text(SECRET)
    with opened(hooks.host, secret_file=file) as loop:
        assert loop.answer(webhook(hooks)).outcome is WebhookOutcome.PASSED
        file.write_text(f"another-{SECRET}\n{SECRET}\n")
        hooks.status, hooks.body = 403, f"no {SECRET}".encode()
        refused = loop.answer(webhook(hooks, "b"))
        file.unlink()
        unsigned = loop.answer(webhook(hooks, "c"))
    for (_, headers, body), secret in zip(hooks.got, (SECRET, f"another-{SECRET}"), strict=True):
        signed = hmac.new(secret.encode(), body, "sha256").hexdigest()
        assert headers["x-gitfleet-signature-256"] == f"sha256={signed}"
    assert (refused.outcome, refused.message) == (
        WebhookOutcome.REJECTED, (f'{hooks.host}' + FleetText.ANSWERS_NOT(host="", status="403", expected="",
            why="200 to 299: no ***")),
    )  # fmt: skip
    assert unsigned.outcome is WebhookOutcome.FAILED and str(file) in unsigned.message


def test_calls_are_counted_for_the_page_of_metrics(hooks: HookServer) -> None:
    page = PrometheusMetrics("1", list)
    settings = OutboundSettings(allowed_webhooks=(HostPattern.parse(hooks.host),))
    loop = Loop()
    with calling_out(cast(Workspace, loop), settings) as queue:
        queue.metrics = page
        loop.answer(webhook(hooks))
        hooks.status = 400
        loop.answer(webhook(hooks, "b"))
        loop.answer(query("prometheus", "https://prometheus.example"))
    text = page.page("")[0].decode()
    for kind, outcome in (("webhook", "passed"), ("webhook", "rejected"), ("metric", "failed")):
        assert f'gitfleet_rollout_calls_total{{kind="{kind}",outcome="{outcome}"}} 1.0\n' in text


def test_authorities_of_a_file_count_beside_the_machines(tmp_path: Path) -> None:
    certificate, key = write_server_certificate(tmp_path, "hooks")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with hook_server(context) as hooks:
        with opened(hooks.host) as loop:
            assert loop.answer(webhook(hooks)).message.endswith("self-signed certificate")
        with opened(hooks.host, ca_file=certificate) as loop:
            assert loop.answer(webhook(hooks)).outcome is WebhookOutcome.PASSED


def test_a_token_as_its_file_has_it_now_is_for_queries_alone(hooks: HookServer, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("canary-of-a-token\n")
    hooks.body = json.dumps({"status": "error", "errorType": "denied", "error": "canary-of-a-token"}).encode()
    hooks.status = 422
    tokens = ((Origin.parse(f"http://{hooks.host}"), file),)
    with opened(hooks.host, metric_tokens=tokens) as loop:
        found = loop.answer(query("prometheus", f"http://{hooks.host}/tenant/?extra=1", "up{}"))
        file.write_text("another")
        loop.answer(query("prometheus", f"http://{hooks.host}", name="n"))
        loop.answer(webhook(hooks))
    assert (found.outcome, found.message) == (MetricOutcome.FAILED, f"{hooks.host} answers 422: denied: ***")
    (asked, first, _), (_, second, _), (_, third, _) = hooks.got
    assert asked == "GET /tenant/api/v1/query?extra=1&query=up%7B%7D&time=1767227400.000&timeout=27"
    assert (first["authorization"], second["authorization"]) == ("Bearer canary-of-a-token", "Bearer another")
    assert "authorization" not in third


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (200, b"ok", ("{host}" + OutboundText.ANSWERS_NOTHING_PROMETHEUS_ANSWERS(host="", status="200"))),
        (200, b"[]", ("{host}" + OutboundText.ANSWERS_NOTHING_PROMETHEUS_ANSWERS(host="", status="200"))),
        (200, b'{"status": "success"}', ("{host}: " + OutboundText.QUERY_GIVES_MUST_GIVE_SCALAR(part="nothing"))),
        (
            200, b'{"status": "success", "data": {"resultType": "vector", "result": [{"value": [1]}]}}',
            ("{host}: " + OutboundText.ANSWER_CANNOT_READ(kind="vector")),
        ),
        (
            200, b'{"status": "success", "data": {"resultType": "vector", "result": [{"histogram": []}]}}',
            ("{host}: " + OutboundText.QUERY_GIVES_NATIVE_HISTOGRAMS()),
        ),
        (
            200, b'{"status": "success", "data": {"resultType": "vector", "result": ['
            + b",".join([b'{"value": [1, "1"]}'] * 1001) + b"]}}",
            ("{host}" + OutboundText.GIVES_VALUES_LET_QUERY_AGGREGATE(host="", count="1001", most_values="1000")),
        ),
        (200, b'"' + b"x" * (1 << 20) + b'"', ("{host}" + OutboundText.ANSWERS_MORE_MIB(host="", most_read="1"))),
        (401, b"no", ("{host}" + OutboundText.REFUSES_METRIC_TOKEN_GIVES_TOKEN(host="", status="401"))),
        (302, b"", ("{host}" + NotifyText.REDIRECTS_ANOTHER_ADDRESS(host=""))),
        (503, b"<html>", ("{host}" + OutboundText.ANSWERS_NOTHING_PROMETHEUS_ANSWERS(host="", status="503"))),
    ],
)  # fmt: skip
def test_what_is_no_measurement(hooks: HookServer, status: int, body: bytes, said: str) -> None:
    hooks.status, hooks.body = status, body
    with opened(hooks.host) as loop:
        found = loop.answer(query("prometheus", f"http://{hooks.host}"))
    assert (found.outcome, found.message) == (MetricOutcome.FAILED, said.format(host=hooks.host))


@pytest.mark.parametrize("value", [" 10 ", "1_0", "", "0x1p2", "١", 10, True, None, []])
def test_a_value_is_a_number_as_prometheus_writes_it_or_none(hooks: HookServer, value: object) -> None:
    data = {"resultType": "vector", "result": [{"value": [1, value]}]}
    hooks.body = json.dumps({"status": "success", "data": data}).encode()
    with opened(hooks.host) as loop:
        found = loop.answer(query("prometheus", f"http://{hooks.host}"))
    said = f"{hooks.host}: " + OutboundText.ANSWER_CANNOT_READ(kind="vector")
    assert (found.outcome, found.message) == (MetricOutcome.FAILED, said)


@pytest.mark.parametrize(
    ("warnings", "said"),
    [
        (["a store is down", "b"], "{host}: a store is down"),
        ([], ""),
        (5, ""),
        ("text", ""),
        ({"a": 1}, ""),
        (None, ""),
    ],
)
def test_a_warning_of_the_server_is_kept(hooks: HookServer, warnings: object, said: str) -> None:
    data = {"resultType": "vector", "result": [{"value": [1, one]} for one in ("-2.5e-07", "1e+09")]}
    hooks.body = json.dumps({"status": "success", "warnings": warnings, "data": data}).encode()
    with opened(hooks.host) as loop:
        found = loop.answer(query("prometheus", f"http://{hooks.host}"))
    assert (found.outcome, found.message) == (MetricOutcome.MEASURED, said.format(host=hooks.host))
    assert cast(Any, found).values == (-2.5e-07, 1e09)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"secret_file": "nowhere"}, KubeText.CANNOT_READ(source="nowhere", error="No such file or directory")),
        ({"secret_file": "short"}, ServingText.HOLDS_NO_WEBHOOK_SECRET(where="short", shortest="16")),
        (
            {"metric_tokens": "nowhere"},
            "nowhere of --metric-token cannot be read: No such file or directory",
        ),
        ({"metric_tokens": "lines"}, "lines of --metric-token holds no token on one line"),
        ({"ca_file": "nowhere"}, "nowhere of --outbound-ca holds no certificates in PEM that can be read"),
        ({"ca_file": "short"}, "short of --outbound-ca holds no certificates in PEM that can be read"),
    ],
)
def test_a_file_that_cannot_be_used_ends_the_start(tmp_path: Path, settings: Mapping[str, str], said: str) -> None:
    (tmp_path / "short").write_text("short")
    (tmp_path / "lines").write_text("a\nb")
    paths: dict[str, Any] = {name: tmp_path / file for name, file in settings.items()}
    if "metric_tokens" in paths:
        paths["metric_tokens"] = ((Origin.parse("p.example"), paths["metric_tokens"]),)
    with pytest.raises(BadInput) as raised, opened("p.example", **paths):
        pass
    assert str(raised.value) == f"{tmp_path}/{said}"


MODULE = """
from gitfleet.ports.metric_providers import MeasurementState, MetricOutcome, MetricProvider


class Sound(MetricProvider):
    def __init__(self, access):
        self.name = access.name

    def start(self, query):
        assert self.name == "sound"
        return MeasurementState(outcome=MetricOutcome.MEASURED, values=(float(len(query.query)),))


class Misspelt(Sound):
    def resumme(self, query, state):
        return state


class Other:
    def __init__(self, access):
        pass


def refusing(access):
    raise ValueError("canary")
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, Mapping[str, str]], None]]:
    """Installs a package with metric providers: its sources are on the path, its metadata beside them."""
    packages: list[str] = []

    def install(package: str, entries: Mapping[str, str]) -> None:
        metadata = tmp_path / f"{package}-1.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1\n")
        lines = ["[gitfleet.metric_providers]", *(f"{name} = {value}" for name, value in entries.items())]
        (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n")
        packages.append(package)
        importlib.invalidate_caches()

    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.syspath_prepend(str(EXAMPLE / "src"))
    yield install
    for package in packages:
        sys.modules.pop(package, None)


def test_providers_of_other_packages(
    site: Callable[[str, Mapping[str, str]], None], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "gauges.py").write_text(MODULE)
    names = {"sound": "Sound", "misspelt": "Misspelt", "other": "Other", "refusing": "refusing", "prometheus": "Sound"}
    site("gauges", {name: f"gauges:{value}" for name, value in names.items()} | {"gone": "gauges:Gone"})
    with caplog.at_level(logging.WARNING), opened() as loop:
        said = {name: loop.answer(query(name, "", "four", name)) for name in (*names, "gone", "never")}
        again = loop.answer(query("misspelt", "", "four", "again"))
    assert (said["sound"].outcome, cast(Any, said["sound"]).values) == (MetricOutcome.MEASURED, (4.0,))
    assert {name: answer.message for name, answer in said.items() if answer.message} == {
        "misspelt": (
            "metric provider misspelt cannot be used: Misspelt has no hook resumme: "
            f"{FormatsText.YOU_MEAN(near='resume')} Helpers start with an underscore"
        ),
        "other": (
            "metric provider other cannot be used: its factory made a Other, which does not derive from MetricProvider"
        ),
        "refusing": "metric provider refusing cannot be used: unexpected ValueError",
        "prometheus": "the query has no address of a Prometheus, such as https://prometheus.example.com",
        "gone": "there is no metric provider gone; installed are misspelt, other, prometheus, refusing, sound",
        "never": "there is no metric provider never; installed are misspelt, other, prometheus, refusing, sound",
    }
    assert again.message == said["misspelt"].message
    assert sum("metric provider misspelt cannot be used" in line for line in caplog.messages) == 1
    assert "canary" not in caplog.text


def test_the_example_measures_what_takes_time_and_leaves_nothing_running(
    site: Callable[[str, Mapping[str, str]], None], hooks: HookServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    site("gitfleet_loadtest", project["entry-points"]["gitfleet.metric_providers"])
    monkeypatch.setattr("gitfleet_loadtest.LOOK_AGAIN_SECONDS", 0.0)
    monkeypatch.setattr(call_queue, "SHORTEST_PAUSE", 0.05)
    asked = query("loadtest", f"http://{hooks.host}", "checkout", "id-1")
    with opened(hooks.host) as loop:
        hooks.status, hooks.body = 201, b'{"run": 7, "state": "running"}'
        loop.driver.clusters.workloads.calls.start([asked])
        until(lambda: len(hooks.got) > 3)
        assert hooks.got[0][0] == "POST /runs" and json.loads(hooks.got[0][2]) == {"test": "checkout"}
        assert hooks.got[0][1]["idempotency-key"] == "id-1"
        assert {request for request, _, _ in hooks.got[1:]} == {"GET /runs/7"}
        hooks.body = b'{"state": "done", "p95Seconds": 0.4}'
        found = loop.answer(asked)
        assert (found.outcome, cast(Any, found).values) == (MetricOutcome.MEASURED, (0.4,))
        hooks.body = b'{"run": 8, "state": "running"}'
        loop.driver.clusters.workloads.calls.start([query("loadtest", f"http://{hooks.host}", "checkout", "id-2")])
        until(lambda: hooks.got[-1][0] == "GET /runs/8")
        loop.driver.clusters.workloads.calls.forget(["id-2"])
        until(lambda: hooks.got[-1][0] == "DELETE /runs/8")
        hooks.status, hooks.body = 409, b"busy"
        busy = loop.answer(query("loadtest", f"http://{hooks.host}", "checkout", "id-3"))
    assert busy.message == f"{hooks.host} answers 409 to POST /runs: busy"


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)
