"""The Lease of leader election on a real API server, and what RBAC it needs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from kubernetes.client import ApiClient, RbacAuthorizationV1Api

from gitfleet.adapters.clock import SystemClock
from gitfleet.adapters.kube.directory import FencedTransport
from gitfleet.adapters.kube.lease import KubeLease, open_lease
from gitfleet.adapters.kube.texts import KubeText
from gitfleet.errors import Forbidden, MissingPart, NoResponse
from gitfleet.ports.transport import Request, Response
from gitfleet.settings import ConnectionRules, ElectionSettings, LeaseTerms, Settings
from gitfleet.wiring.hub import open_workspace
from gitfleet.wiring.serving import elected
from tests.cli.conftest import GIT, make_repo
from tests.e2e.programs import eventually
from tests.realparts.api_server import ApiServer

CLOCK = SystemClock()


@pytest.fixture
def server(rbac_cluster: ApiServer) -> ApiServer:
    return rbac_cluster


@pytest.fixture
def place(server: ApiServer) -> tuple[str, str]:
    """A namespace of this test in which the user `hub` may use Leases, and a name."""
    namespace = server.make_namespace("lease")
    rules = [{"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get", "create", "update"]}]
    role = {"metadata": {"name": "gitfleet"}, "rules": rules}
    binding = {
        "metadata": {"name": "gitfleet"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "gitfleet"},
        "subjects": [{"kind": "User", "name": "hub", "apiGroup": "rbac.authorization.k8s.io"}],
    }
    with server.client() as client:
        api: Any = RbacAuthorizationV1Api(client)
        api.create_namespaced_role(namespace, role)
        api.create_namespaced_role_binding(namespace, binding)
    return namespace, "gitfleet"


def opened(server: ApiServer, place: tuple[str, str], folder: Path, user: str = "hub") -> KubeLease:
    kubeconfig = server.write_kubeconfig(folder / f"{user}.kubeconfig", user=user)
    return open_lease(ConnectionRules(kubeconfig=kubeconfig), place, CLOCK)


def stored(server: ApiServer, place: tuple[str, str]) -> Any:
    path = "/apis/coordination.k8s.io/v1/namespaces/{}/leases/{}".format(*place)
    with server.client() as client:
        call: Any = ApiClient.call_api
        response = call(client, "GET", f"{server.url}{path}", {"Authorization": f"Bearer {server.token}"})
        return json.loads(response.read())


def test_make_renew_hand_over_and_release(server: ApiServer, place: tuple[str, str], tmp_path: Path) -> None:
    lease = opened(server, place, tmp_path)
    assert lease.read() is None
    made = lease.write("a", 15.0, None)
    assert made is not None and made == lease.read()
    assert lease.write("b", 15.0, None) is None, "somebody else was first"
    renewed = lease.write("a", 15.0, made)
    assert renewed is not None and renewed != made
    assert lease.write("b", 15.0, made) is None, "an old version is no ground for a new holder"
    taken = lease.write("b", 15.0, renewed)
    assert taken is not None and (taken.holder, taken.seconds, taken.transitions) == ("b", 15.0, 1)
    released = lease.write("", 1.0, taken)
    spec = stored(server, place)["spec"]
    assert released is not None and not spec.get("holderIdentity") and spec["leaseTransitions"] == 1
    again = lease.write("a", 15.0, released)
    assert again is not None and again.transitions == 2
    lease.close()


def test_a_lease_that_was_deleted_is_not_written_over(
    server: ApiServer, place: tuple[str, str], tmp_path: Path
) -> None:
    lease = opened(server, place, tmp_path)
    made = lease.write("a", 15.0, None)
    with server.client() as client:
        call: Any = ApiClient.call_api
        path = "/apis/coordination.k8s.io/v1/namespaces/{}/leases/{}".format(*place)
        call(client, "DELETE", f"{server.url}{path}", {"Authorization": f"Bearer {server.token}"})
    assert lease.write("a", 15.0, made) is None and lease.read() is None
    assert lease.write("a", 15.0, None) is not None
    lease.close()


def test_who_may_not(server: ApiServer, place: tuple[str, str], tmp_path: Path) -> None:
    with pytest.raises(Forbidden, match="Lease") as refused:
        opened(server, place, tmp_path, user="nobody").read()
    sentence = str(refused.value)
    assert "leases.coordination.k8s.io" in sentence and 'User "nobody" cannot get' in sentence, sentence
    assert KubeText.NEEDS_VERBS_GET() in sentence
    with pytest.raises(Forbidden, match="Lease absent/gitfleet"):
        opened(server, ("absent", "gitfleet"), tmp_path).read()
    with pytest.raises(MissingPart, match=KubeText.NO_NAMESPACE(namespace="absent", name="")):
        opened(server, ("absent", "gitfleet"), tmp_path, user="admin").write("a", 15.0, None)
    with pytest.raises(MissingPart) as nowhere:
        open_lease(ConnectionRules(service_account=tmp_path), place, CLOCK)
    assert "--kubeconfig FILE" in str(nowhere.value.hint)


@pytest.fixture
def pod(server: ApiServer, place: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The service account of a pod."""
    host, _, port = server.url.removeprefix("https://").partition(":")
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", host)
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", port)
    for name, value in GIT.items():
        monkeypatch.setenv(name, value)
    folder = tmp_path / "serviceaccount"
    folder.mkdir()
    (folder / "ca.crt").write_text(server.ca_pem)
    (folder / "namespace").write_text(place[0])
    return folder


@pytest.mark.parametrize("user", ["hub", "nobody"])
def test_auto_in_a_pod(server: ApiServer, place: tuple[str, str], pod: Path, tmp_path: Path, user: str) -> None:
    """Two pods, one of which leads where they may use Leases; where they may not, there is no election."""
    token = server.kubeconfig_for(user)["users"][0]["user"]["token"]
    (pod / "token").write_text(token)
    repo = make_repo(tmp_path / "fleet")
    settings = Settings(repo=str(repo), cache_dir=tmp_path / "cache", connections=ConnectionRules(service_account=pod))
    chosen = ElectionSettings(terms=LeaseTerms.of(3))
    with open_workspace(settings) as one, open_workspace(settings) as other:
        with elected(one, settings, chosen):
            eventually(one.wake.leads)
            with elected(other, settings, chosen):
                if user == "nobody":
                    eventually(other.wake.leads)
                    return
                other.wake.wait(1.0)
                assert not other.wake.leads()
                one.wake.stop()
            assert not other.wake.leads()
        assert not one.wake.leads(), "released"


def test_no_write_is_sent_once_the_process_may_not() -> None:
    sent: list[str] = []

    class Inner:
        server = "https://c1"

        def request(self, request: Request) -> Response:
            sent.append(request.method)
            return Response(200, {})

        def close(self) -> None:
            sent.append("closed")

    may = True
    transport = FencedTransport(Inner(), lambda: may)
    transport.request(Request(method="PATCH", path="/x"))
    may = False
    transport.request(Request(method="GET", path="/x"))
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        with pytest.raises(NoResponse, match=KubeText.PROCESS_NOT_LEAD_ANY_MORE()) as refused:
            transport.request(Request(method=method, path="/x"))
        assert not refused.value.passing
    transport.close()
    assert sent == ["PATCH", "GET", "closed"] and transport.server == "https://c1"
