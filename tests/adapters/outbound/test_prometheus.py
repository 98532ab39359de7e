"""Measurements by a real Prometheus, of the past and of a target that it scrapes."""

from __future__ import annotations

import re
import socket
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from gitfleet.adapters.checked_requests import trusting
from gitfleet.adapters.notify.texts import NotifyText
from gitfleet.adapters.outbound import AllowedHttp, Prometheus
from gitfleet.adapters.outbound.texts import OutboundText
from gitfleet.api.workload_records import MetricOutcome
from gitfleet.errors import BadInput, NoResponse
from gitfleet.formats.hosts import HostPattern
from gitfleet.model.calls import MetricQuery
from gitfleet.ports.metric_providers import MeasurementState, MetricProviderAccess
from tests.realparts.prometheus import EPOCH, PrometheusServer
from tests.texts import part

MEASURED, NO_DATA, FAILED = MetricOutcome.MEASURED, MetricOutcome.NO_DATA, MetricOutcome.FAILED
AN_HOUR_LATER = EPOCH + timedelta(minutes=59, seconds=30)


def provider(*allowed: str) -> Prometheus:
    patterns = tuple(HostPattern.parse(one) for one in allowed)
    http = AllowedHttp(allowed=patterns, option="--allow-metrics", context=trusting)
    return Prometheus(MetricProviderAccess(name="prometheus", http=http))


def query(address: str, text: str, at: datetime = AN_HOUR_LATER) -> MetricQuery:
    return MetricQuery(id="m", provider="prometheus", address=address, query=text, at=at, timeout_seconds=30.0)


def measured(server: PrometheusServer, text: str, at: datetime = AN_HOUR_LATER) -> MeasurementState:
    return provider("127.0.0.1:" + server.url.rpartition(":")[2]).start(query(server.url, text, at))


LONG = " or ".join(f'requests_total{{pod="{number}"}}' for number in range(200)) + ' or requests_total{pod="a"}'


@pytest.mark.real
@pytest.mark.parametrize(
    ("text", "outcome", "values"),
    [
        ("scalar(latency_seconds)", MEASURED, (0.25,)),
        ("latency_seconds", MEASURED, (0.25,)),
        ("42", MEASURED, (42.0,)),
        ("1e-3", MEASURED, (0.001,)),
        ("sum(rate(requests_total[10m]))", MEASURED, (3.0,)),
        ("sum(rate(errors_total[10m])) / sum(rate(requests_total[10m]))", MEASURED, (3 / 180,)),
        ("sort_desc(rate(requests_total[10m]))", MEASURED, (2.0, 1.0)),
        ('latency_seconds + on() group_right() label_replace(vector(1), "é", "ü & =", "", "")', FAILED, ()),
        (LONG, MEASURED, (59 * 60.0,)),
        ("nothing_of_that_name", NO_DATA, ()),
        ("broken", NO_DATA, ()),
        ("scalar(requests_total)", NO_DATA, ()),
        ("latency_seconds / 0", NO_DATA, ()),
        ("requests_total / (requests_total - 59 * 60)", MEASURED, (2.0,)),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else None,
)
def test_a_query_of_the_past(
    prometheus: PrometheusServer, text: str, outcome: MetricOutcome, values: tuple[float, ...]
) -> None:
    found = measured(prometheus, text)
    assert found.outcome is outcome and found.values == pytest.approx(values), found.message
    assert bool(found.message) is (outcome is not MEASURED or "- 59" in text)


@pytest.mark.real
def test_a_query_is_of_its_moment(prometheus: PrometheusServer) -> None:
    moments = [EPOCH - timedelta(hours=1), EPOCH + timedelta(minutes=30), EPOCH + timedelta(minutes=90)]
    found = [measured(prometheus, "latency_seconds", at).values for at in moments]
    assert found == [(), (0.25,), (0.75,)]


@pytest.mark.real
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("requests_total[5m]", ("{host}: " + OutboundText.QUERY_GIVES_MUST_GIVE_SCALAR(part="a matrix"))),
        ('"a text"', ("{host}: " + OutboundText.QUERY_GIVES_MUST_GIVE_SCALAR(part="a string"))),
        (
            "sum(",
            '{host} answers 400: bad_data: invalid parameter "query": 1:5: parse error: unclosed left parenthesis',
        ),
        ("a * on() b{c=~'('}", '{host} answers 400: bad_data: invalid parameter "query": '),
        ("requests_total + on() requests_total", "{host} answers 422: execution: found duplicate series"),
    ],
    ids=["range", "string", "syntax", "pattern", "execution"],
)
def test_a_query_that_measures_nothing(prometheus: PrometheusServer, text: str, said: str) -> None:
    found = measured(prometheus, text)
    host = prometheus.url.removeprefix("http://")
    assert found.outcome is FAILED and found.message.startswith(said.format(host=host)), found.message
    assert "\n" not in found.message


@pytest.mark.real
def test_what_is_scraped_now_is_measured(prometheus: PrometheusServer) -> None:
    prometheus.target = 'now_ratio{pod="a"} 0.99\nnow_ratio{pod="b"} NaN\n'
    deadline = time.monotonic() + 60
    while (found := measured(prometheus, "now_ratio", datetime.now(UTC))).outcome is NO_DATA:
        assert time.monotonic() < deadline, found
        time.sleep(0.2)
    assert (found.outcome, found.values) == (MEASURED, (0.99,))
    assert found.message.endswith(": " + OutboundText.VALUES_NAN_INF(lost="1", count="2"))


@pytest.mark.real
def test_a_frozen_server_and_one_that_is_gone(prometheus: PrometheusServer) -> None:
    asked = replace(query(prometheus.url, "1"), timeout_seconds=0.5)
    asks, host = provider("127.0.0.1:" + prometheus.url.rpartition(":")[2]), prometheus.url.removeprefix("http://")
    prometheus.process.freeze()
    try:
        with pytest.raises(
            NoResponse, match=(f"^{host}" + NotifyText.NOT_ANSWER(host="", error="no response within 0\\.5 s$"))
        ):
            asks.start(asked)
    finally:
        prometheus.process.thaw()
    assert asks.start(asked).values == (1.0,)
    free = socket.create_server(("127.0.0.1", 0))
    port = free.getsockname()[1]
    free.close()
    with pytest.raises(
        NoResponse, match=(f"^127\\.0\\.0\\.1:{port}" + NotifyText.NOT_ANSWER(host="", error="connection refused$"))
    ):
        provider(f"127.0.0.1:{port}").start(query(f"http://127.0.0.1:{port}", "1"))


@pytest.mark.real
def test_a_prometheus_that_is_not_allowed(prometheus: PrometheusServer) -> None:
    port = prometheus.url.rpartition(":")[2]
    for allowed in ((), ("127.0.0.1",), (f"localhost:{port}",), (f"*.1.example:{port}",)):
        with pytest.raises(BadInput, match=re.escape(part(OutboundText.NO_HOST_PROCESS_CALL))):
            provider(*allowed).start(query(prometheus.url, "1"))
