"""The HTTP side of the simulated API server: what it answers, and that the real adapter reads it, page by page too."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from gitfleet.api.objects import key_of
from gitfleet.errors import NoResponse
from gitfleet.ports.transport import Request, Response
from gitfleet.simulation.clock import ManualClock
from gitfleet.simulation.cluster import SimulatedCluster
from tests import builders as make
from tests.simulation.test_simulated_cluster import Lab

APPLY = {"Content-Type": "application/apply-patch+yaml"}
MINE = {"fieldManager": "me"}
CM = "/api/v1/namespaces/app/configmaps/cm"


def ask(cluster: SimulatedCluster, method: str, path: str, **more: Any) -> Response:
    return cluster.request(Request(method=method, path=path, **more))


@pytest.fixture
def lab() -> Lab:
    lab = Lab()
    lab.bench.have(make.config_map("app", "cm", {"k": "v"}), make.custom_definition("example.com", "Widget"))
    return lab


@pytest.mark.parametrize(
    ("method", "path", "more", "expected"),
    [
        ("GET", "/readyz", {}, (200, "")),
        ("GET", "/apis/apps/v1beta1/namespaces/app/deployments/web", {}, (404, "NotFound")),
        ("GET", "/api/v1/namespaces/app/namespaces/app", {}, (404, "NotFound")),
        ("GET", "/api/v1/configmaps", {}, (200, "")),
        ("GET", CM, {"query": {"resourceVersion": "0"}}, (400, "BadRequest")),
        ("GET", "/api/v1/pods", {"query": {"continue": "0:1"}}, (410, "Expired")),
        ("POST", "/api/v1/namespaces/app/configmaps", {}, (405, "MethodNotAllowed")),
        ("PATCH", CM, {"body": make.config_map("app", "cm"), "query": MINE}, (400, "BadRequest")),
        (
            "PATCH",
            CM,
            {"body": make.config_map("app", "cm"), "headers": APPLY, "query": {**MINE, "dryRun": "All"}},
            (400, "BadRequest"),
        ),
        ("DELETE", CM, {"body": {"propagationPolicy": "Sometimes"}}, (400, "BadRequest")),
    ],
)
def test_statuses(lab: Lab, method: str, path: str, more: dict[str, Any], expected: tuple[int, str]) -> None:
    before = lab.cluster.objects()
    answer = ask(lab.cluster, method, path, **more)
    reason = answer.json().get("reason", "") if isinstance(answer.content, dict) else ""
    assert (answer.status, reason) == expected
    assert lab.cluster.objects() == before


SECRET = make.config_map("app", "s") | {"kind": "Secret"}
DEFINITION = make.custom_definition("example.com", "Gadget")


@pytest.mark.parametrize("wrong", ["hunter2", 7, ["hunter2"], [[]], True])
@pytest.mark.parametrize(
    ("at", "body", "fields"),
    [
        ("/api/v1/namespaces/app/configmaps/cm", make.config_map("app", "cm"), ("metadata", "data")),
        ("/api/v1/namespaces/app/secrets/s", SECRET, ("metadata", "data", "stringData")),
        ("/api/v1/namespaces/app", make.namespace("app"), ("metadata", "metadata.labels", "spec")),
        ("/apis/apps/v1/namespaces/app/deployments/d", make.deployment("app", "d"), ("metadata", "spec")),
        (
            f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{DEFINITION['metadata']['name']}",
            DEFINITION,
            ("metadata", "spec", "spec.names"),
        ),
    ],
)
def test_an_object_of_wrong_types_is_a_bad_request(
    lab: Lab, at: str, body: dict[str, Any], fields: tuple[str, ...], wrong: object
) -> None:
    before = lab.cluster.objects()
    for field in fields:
        *outer, last = field.split(".")
        sent = copy.deepcopy(body)
        place = sent
        for name in outer:
            place = place.setdefault(name, {})
        place[last] = wrong
        answer = ask(lab.cluster, "PATCH", at, body=sent, headers=APPLY, query=MINE)
        assert (answer.status, answer.json()["reason"]) == (400, "BadRequest"), field
        assert "hunter2" not in answer.json()["message"]
    assert lab.cluster.objects() == before


def test_what_an_apply_and_a_delete_answer(lab: Lab) -> None:
    body = make.config_map("app", "new", {"k": "v"})
    del body["metadata"]["namespace"]  # the path says it too
    path = "/api/v1/namespaces/app/configmaps/new"
    made = ask(lab.cluster, "PATCH", path, body=body, headers=APPLY, query=MINE)
    again = ask(lab.cluster, "PATCH", path, body=body, headers=APPLY, query=MINE)
    assert (made.status, again.status) == (201, 200)
    assert made.json() == again.json() == ask(lab.cluster, "GET", path).json()
    assert made.json()["metadata"]["namespace"] == "app"
    gone = ask(lab.cluster, "DELETE", path)
    assert (gone.status, gone.json()["kind"], gone.json()["status"]) == (200, "Status", "Success")


def test_discovery_shows_what_is_defined(lab: Lab) -> None:
    groups = ask(lab.cluster, "GET", "/apis").json()["groups"]
    assert [group["versions"][0]["version"] for group in groups if group["name"] == "example.com"] == ["v1"]
    listed = ask(lab.cluster, "GET", "/apis/example.com/v1").json()["resources"]
    assert [(entry["name"], entry["kind"]) for entry in listed] == [("widgets", "Widget"), ("widgets/status", "Widget")]
    names = {entry["name"] for entry in ask(lab.cluster, "GET", "/api/v1").json()["resources"]}
    assert {"configmaps", "endpoints", "namespaces", "namespaces/status"} <= names
    policies = ask(lab.cluster, "GET", "/apis/networking.k8s.io/v1").json()["resources"]
    assert {"ingresses", "ingressclasses", "networkpolicies"} <= {entry["name"] for entry in policies}


def test_long_collections_are_read_page_by_page(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    bodies = [make.config_map("app", f"cm-{number}", {"k": str(number)}) for number in range(1100)]
    assert all(outcome.ok for outcome in lab.client.perform([lab.bench.create(body) for body in bodies]))
    seen: list[Request] = []
    real = lab.cluster.request

    def noted(request: Request) -> Response:
        seen.append(request)
        return real(request)

    monkeypatch.setattr(lab.cluster, "request", noted)
    keys = [key_of(body) for body in bodies] + [key_of(make.config_map("app", "gone"))]
    answer = lab.client.observe(keys, probe=False)
    assert [live.body["data"]["k"] if live else None for live in map(answer.live.__getitem__, keys)] == [
        *(str(number) for number in range(1100)),
        None,
    ]
    assert [request.query.get("limit") for request in seen] == ["500"] * 3


def test_a_page_after_a_write_has_expired_and_the_rest_is_asked_for_one_by_one(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    bodies = [make.config_map("app", f"cm-{number:03}") for number in range(510)]
    lab.client.perform([lab.bench.create(body) for body in bodies])
    real, pages = lab.cluster.request, []

    def writes_between_pages(request: Request) -> Response:
        if "continue" in request.query:
            lab.cluster.apply_by_hand(make.config_map("app", "between"))
        response = real(request)
        pages.append(response.status)
        return response

    monkeypatch.setattr(lab.cluster, "request", writes_between_pages)
    answer = lab.client.observe([key_of(body) for body in bodies], probe=False)
    assert all(answer.live.values()) and len(answer.live) == 510 and not answer.unreadable
    assert pages[:2] == [200, 410] and set(pages[2:]) == {200}


def test_nobody_answers_for_a_cluster_that_is_gone() -> None:
    cluster = SimulatedCluster("c1", ManualClock())
    cluster.reachable = False
    for method in ("GET", "PATCH", "DELETE"):
        with pytest.raises(NoResponse, match="connection refused"):
            ask(cluster, method, CM)
