"""Events about gitfleet's own pod: counted and limited, and on a real API server with the RBAC that they need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from kubernetes.client import CoreV1Api, RbacAuthorizationV1Api

from gitfleet.adapters.kube.pod_events import BURST, PodEvents, pod_events
from gitfleet.adapters.kube.texts import KubeText
from gitfleet.adapters.kube.wire import Timeouts, Wire
from gitfleet.api.notifications import NotificationEvent
from gitfleet.errors import Forbidden
from gitfleet.model.notifications import Occurrence
from gitfleet.ports.transport import Request, Response
from gitfleet.settings import ConnectionRules
from gitfleet.simulation.clock import ManualClock
from gitfleet.views.notifications import Occasion, notification_message
from tests.realparts.api_server import ApiServer

FAILED, DONE = NotificationEvent.APPLY_FAILED, NotificationEvent.ROLLOUT_COMPLETE


@dataclass
class Server:
    """An API server that keeps what is written, and answers as it is told to."""

    sent: list[Request] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    server: str = "https://own"

    def request(self, request: Request) -> Response:
        status = self.answers.pop(0) if self.answers else 200
        if status < 300:
            self.sent.append(request)
        return Response(status, {})

    def close(self) -> None:
        """Nothing to let go."""


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def events(server: Server, clock: ManualClock) -> PodEvents:
    wire = Wire("own", server, timeouts=Timeouts(tries=1))
    return PodEvents(wire=wire, namespace="ops", pod="gitfleet-0", uid="u-1", clock=clock)


def say(events: PodEvents, event: NotificationEvent, *sentences: str) -> None:
    occasion = Occasion("fleet", events.clock.now(), "", "")
    events.send(notification_message(occasion, [Occurrence(event, one) for one in sentences]))


def written(sent: Sequence[Request]) -> list[tuple[str, Any]]:
    bodies = [one.body or {} for one in sent]
    return [(b["reason"], b["note"]) if "note" in b else ("series", b["series"]["count"]) for b in bodies]


def test_what_is_said_again_is_counted(events: PodEvents, server: Server, clock: ManualClock) -> None:
    for _ in range(3):
        say(events, FAILED, "web: c1 failed")
    say(events, DONE, "web is there")
    assert written(server.sent) == [
        ("ApplyFailed", "web: c1 failed"), ("series", 2), ("series", 3), ("RolloutComplete", "web is there"),
    ]  # fmt: skip
    clock.advance(601)
    say(events, FAILED, "web: c1 failed")
    assert written(server.sent)[-1] == ("ApplyFailed", "web: c1 failed")
    kinds = [(one.body or {}).get("type") for one in server.sent if one.method == "POST"]
    assert kinds == ["Warning", "Normal", "Warning"]


def test_an_event_that_is_gone_is_made_again(events: PodEvents, server: Server) -> None:
    say(events, FAILED, "one")
    server.answers = [404]
    say(events, FAILED, "one")
    assert written(server.sent) == [("ApplyFailed", "one")] * 2


def test_a_burst_is_limited(events: PodEvents, server: Server, clock: ManualClock) -> None:
    for _ in range(5):
        say(events, DONE, *(f"p{number}" for number in range(20)))
    assert len(server.sent) == BURST
    clock.advance(301)
    say(events, DONE, "p1", "p2")
    assert len(server.sent) == BURST + 1


def test_in_no_pod_there_are_none(tmp_path: Path) -> None:
    assert pod_events(ConnectionRules(service_account=tmp_path), "p", "", ManualClock()) is None


def in_pod(server: ApiServer, namespace: str, user: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> PodEvents:
    """The writer of a process that runs in a pod with the account of a user."""
    kubeconfig = server.kubeconfig_for(user)
    address = kubeconfig["clusters"][0]["cluster"]["server"].removeprefix("https://")
    host, _, port = address.partition(":")
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", host)
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", port)
    (folder / "namespace").write_text(namespace)
    (folder / "token").write_text(kubeconfig["users"][0]["user"]["token"])
    (folder / "ca.crt").write_text(server.ca_pem)
    make = pod_events(ConnectionRules(service_account=folder), "gitfleet-0", "", ManualClock(datetime.now(UTC)))
    assert make is not None
    assert make() is make()
    return make()


def test_on_a_real_api_server(rbac_cluster: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = rbac_cluster
    namespace = server.make_namespace("events")
    with server.client() as client:
        core, api = CoreV1Api(client), RbacAuthorizationV1Api(client)
        events = in_pod(server, namespace, "hub", tmp_path, monkeypatch)
        with pytest.raises(Forbidden, match=KubeText.GITFLEET_NOT_WRITE_EVENTS_NAMESPACE(namespace=namespace)):
            say(events, FAILED, "one")
        rules = [{"apiGroups": ["events.k8s.io"], "resources": ["events"], "verbs": ["create", "patch"]}]
        subject = {"kind": "User", "name": "hub", "apiGroup": "rbac.authorization.k8s.io"}
        role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "hub"}
        api.create_namespaced_role(namespace, {"metadata": {"name": "hub"}, "rules": rules})
        binding = {"metadata": {"name": "hub"}, "roleRef": role, "subjects": [subject]}
        api.create_namespaced_role_binding(namespace, binding)
        for _ in range(2):
            say(events, FAILED, "web: c1 failed")
        say(events, DONE, "web is there")
        found = core.list_namespaced_event(namespace, field_selector="involvedObject.name=gitfleet-0").items
        said = {(one.type, one.reason, one.message, one.series.count if one.series else 1) for one in found}
    assert said == {("Warning", "ApplyFailed", "web: c1 failed", 2), ("Normal", "RolloutComplete", "web is there", 1)}
