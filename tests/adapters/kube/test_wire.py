"""Patience, limits and silence of the connection to one server."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitfleet.adapters.kube.client import KubeClient
from gitfleet.adapters.kube.http_transport import HttpTransport
from gitfleet.adapters.kube.logins import Endpoint, FileLogin, FixedLogin, Login, LoginSource
from gitfleet.adapters.kube.refusals import refusal_of
from gitfleet.adapters.kube.texts import KubeText
from gitfleet.adapters.kube.wire import TYPED_PATCH, Timeouts, Wire
from gitfleet.adapters.texts import AdaptersText
from gitfleet.api.objects import ObjectKey
from gitfleet.errors import ClusterUnreachable
from gitfleet.ports.transport import Response
from tests.adapters.kube.stub import Stub, serving

OK = (200, "{}", dict[str, str]())
ANYBODY = FixedLogin(Login())


@pytest.fixture
def stub() -> Iterator[Stub]:
    with serving() as stub:
        yield stub


def wire(stub: Stub, pauses: list[float] | None = None) -> Wire:
    login = FixedLogin(Login(headers={"Authorization": "Bearer secret-token"}))
    return to(stub.url, login, pauses=pauses)


def to(
    url: str, login: LoginSource = ANYBODY, *, timeouts: Timeouts | None = None, pauses: list[float] | None = None
) -> Wire:
    transport = HttpTransport(Endpoint(server=url), login, timeouts=timeouts)
    return Wire("c1", transport, timeouts=timeouts, pause=(pauses if pauses is not None else []).append)


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_busy_server_is_asked_again(stub: Stub, status: int) -> None:
    stub.replies = [(status, "busy", {}), OK]
    pauses: list[float] = []
    assert wire(stub, pauses).send("GET", "/x").ok
    assert len(pauses) == 1 and 0.05 <= pauses[0] <= 0.15


def test_it_may_say_how_long_to_wait_within_reason(stub: Stub) -> None:
    stub.replies = [(429, "", {"Retry-After": "1"}), (429, "", {"Retry-After": "3600"}), (429, "", {})]
    pauses: list[float] = []
    assert wire(stub, pauses).send("GET", "/x").status == 429
    assert pauses == [1.0, 2.0]


@pytest.mark.parametrize(("status", "body"), [(404, ""), (409, ""), (422, ""), (500, f"{TYPED_PATCH} (x)")])
def test_a_verdict_is_not_asked_for_twice(stub: Stub, status: int, body: str) -> None:
    stub.replies = [(status, body, {})]
    assert wire(stub).send("PATCH", "/x", body={}).status == status
    assert len(stub.seen) == 1


def test_redirects_are_not_followed_and_long_answers_are_cut(stub: Stub) -> None:
    stub.replies = [(302, "", {"Location": "http://127.0.0.1:1/steal"})]
    redirected = KubeText.API_SERVER_GAVE_INSTEAD_JSON(name="c1", what="a redirect", asked="GET /x")
    with pytest.raises(ClusterUnreachable, match=re.escape(redirected)):
        wire(stub).send("GET", "/x")
    stub.replies = [(200, '{"x": "' + "x" * 1991 + '"}', {})]
    assert wire(stub).send("GET", "/x", limit=1000).status == 413
    assert wire(stub).send("GET", "/x", limit=2000).ok


def test_a_server_that_is_not_there() -> None:
    pauses: list[float] = []
    gone = to("http://127.0.0.1:1", pauses=pauses)
    with pytest.raises(
        ClusterUnreachable, match=re.escape(KubeText.API_SERVER_NOT_ANSWER(name="c1", error="connection refused"))
    ):
        gone.send("GET", "/x")
    assert len(pauses) == 2
    with pytest.raises(ClusterUnreachable, match=re.escape(AdaptersText.NAME_CANNOT_RESOLVED())):
        to("http://no-such-host.invalid").send("GET", "/x")


def test_a_server_that_hangs() -> None:
    timeouts = Timeouts(read_seconds=0.2)
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        with pytest.raises(ClusterUnreachable, match=re.escape(AdaptersText.NO_RESPONSE_WITHIN(seconds=0.2))):
            to(url, timeouts=timeouts).send("GET", "/x")


def test_a_rotated_token_is_read_again(stub: Stub, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("old\n")
    stub.replies = [OK]
    found = to(stub.url, FileLogin(token))
    assert found.send("GET", "/x").ok
    token.write_text("new\n")
    stub.replies = [(401, "", {}), OK]
    assert found.send("GET", "/x").ok and not found.refused
    assert [seen[2] for seen in stub.seen] == ["Bearer old", "Bearer old", "Bearer new"]
    stub.replies = [(401, "", {})]
    assert found.send("GET", "/x").status == 401 and found.refused


def test_an_unwell_server_answers_and_says_so(stub: Stub) -> None:
    stub.replies = [(503, "[-]etcd failed", {})]
    result = KubeClient("c1", wire(stub)).observe([])
    assert (result.reachable, result.healthy) == (True, False)
    assert result.error == KubeText.API_SERVER_SAYS_NOT_READY(text="[-]etcd failed")


def test_a_key_that_cannot_be_read_stands_alone(stub: Stub) -> None:
    kinds = {"resources": [{"name": "configmaps", "kind": "ConfigMap", "namespaced": True}]}
    stub.replies = [(200, json.dumps(kinds), {}), (403, json.dumps({"message": "no"}), {})]
    key = ObjectKey("", "v1", "ConfigMap", "ns", "cm")
    result = KubeClient("c1", wire(stub)).observe([key], probe=False)
    assert result.reachable and result.unreadable == {key: "no"}
    stub.replies = [(403, json.dumps({"message": "no kinds"}), {})]
    result = KubeClient("c1", wire(stub)).observe([key], probe=False)
    assert result.unreadable == {key: f"{KubeText.KINDS(prefix='/api/v1')}: no kinds"}


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (400, {"message": "strict decoding error"}, ("Invalid", False)),
        (401, {}, ("Unauthorized", True)),
        (403, {"message": "cannot create"}, ("Forbidden", False)),
        (403, {"message": "ns is being terminated"}, ("Forbidden", True)),
        (403, {"message": "exceeded quota: q"}, ("Forbidden", True)),
        (404, {"message": "x not found"}, ("NotFound", True)),
        (404, {"message": 'namespaces "x" not found', "details": {"kind": "namespaces"}}, ("NeedsNamespace", True)),
        (409, {"message": "try again"}, ("Conflict", True)),
        (409, {"details": {"causes": [{"reason": "FieldManagerConflict"}]}}, ("Conflict", False)),
        (413, {}, ("Invalid", False)),
        (422, {"message": "immutable"}, ("Invalid", False)),
        (429, {}, ("TooManyRequests", True)),
        (500, {"message": "failed calling webhook"}, ("ServerError", True)),
        (500, {"message": f"{TYPED_PATCH} (x)"}, ("Invalid", False)),
        (503, {}, ("ServerError", True)),
    ],
)
def test_refusals(status: int, body: dict[str, object], expected: tuple[str, bool]) -> None:
    got = refusal_of(Response(status, json.dumps(body).encode()))
    assert (got.code, got.retry) == expected


def invalid(message: str, field: str, cause: str) -> bytes:
    """A 422 as an API server writes it."""
    causes = [{"reason": "FieldValueInvalid", "message": cause, "field": field}]
    return json.dumps({"kind": "Status", "message": message, "details": {"causes": causes}}).encode()


@pytest.mark.parametrize(
    ("cause", "reason"),
    [
        ('Invalid value: {"matchLabels":{"app":"web"}}: field is immutable', "field is immutable"),
        ('Invalid value: v1.LabelSelector{MatchLabels:map[string]string{"a":"b"}}: field is immutable',
         "field is immutable"),
        ('Invalid value: ["ReadWriteOnce"]: field is immutable', "field is immutable"),
        ("Forbidden: spec is immutable after creation\n core.Spec{\n- A: 1,\n+ A: 2,\n}\n",
         "Forbidden: spec is immutable after creation"),
        ('Invalid value: "a: b": must be c', 'Invalid value: "a: b": must be c'),
        ("Required value", "Required value"),
    ],
)  # fmt: skip
def test_a_refusal_of_a_field_is_its_reason(cause: str, reason: str) -> None:
    got = refusal_of(Response(422, invalid(f'Kind "x" is invalid: spec.a: {cause}', "spec.a", cause)))
    assert got.message == f'Kind "x" is invalid: spec.a: {reason}'


def test_a_page_of_a_proxy_is_a_sentence_too() -> None:
    got = refusal_of(Response(502, b"<html>\n bad  gateway</html>"))
    assert got.message == "<html> bad gateway</html>"
