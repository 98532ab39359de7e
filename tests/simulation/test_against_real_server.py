"""The simulated API server against a real one, request by request: the same statuses, words, fields and owners."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitfleet.adapters.kube.http_transport import HttpTransport
from gitfleet.adapters.kube.logins import Endpoint, FixedLogin, Login
from gitfleet.api.objects import JsonObject, key_of
from gitfleet.ports.transport import Request, Transport
from gitfleet.simulation.clock import ManualClock
from gitfleet.simulation.cluster import SimulatedCluster
from tests import builders as make
from tests.realparts.api_server import ApiServer

MANAGERS = ("gitfleet", "other")
JSON = {"Content-Type": "application/json", "Accept": "application/json"}
APPLY = {"Content-Type": "application/apply-patch+yaml", "Accept": "application/json"}
GADGET_PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.simulated.example.com"
PREFIXES = {"ConfigMap": "/api/v1", "Deployment": "/apis/apps/v1", "Gadget": "/apis/simulated.example.com/v1"}
TEXT = {"type": "string"}
ITEM = {"type": "object", "properties": {"name": TEXT}}
SPEC = {
    "size": TEXT,
    "notes": {"type": "object", "additionalProperties": TEXT},
    "items": {"type": "array", "items": ITEM},
}
GADGET = make.custom_definition("simulated.example.com", "Gadget")
GADGET["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = {
    "type": "object",
    "properties": {"spec": {"type": "object", "properties": SPEC}, "status": {"type": "object"}},
}


@dataclass(frozen=True)
class Side:
    """One of the two servers that are compared, with the namespace that a test has on it."""

    transport: Transport
    namespace: str

    def send(self, method: str, path: str, **more: Any) -> tuple[int, Any]:
        """Status and body of one request."""
        response = self.transport.request(Request(method=method, path=path, **more))
        return response.status, response.json() if response.text().startswith("{") else response.text()

    def apply(
        self, body: JsonObject, manager: str = "gitfleet", *, force: bool = True, path: str = ""
    ) -> tuple[int, Any]:
        """Server-side apply in the test's namespace, or at a path."""
        body = {**body, "metadata": {"namespace": self.namespace, **body["metadata"]}}
        query = {"fieldManager": manager, "force": str(force).lower()}
        return self.send("PATCH", path or self.path(body), query=query, body=body, headers=APPLY)

    def path(self, body: JsonObject) -> str:
        metadata = body["metadata"]
        space = metadata.get("namespace", self.namespace)
        return f"{PREFIXES[body['kind']]}/namespaces/{space}/{body['kind'].lower()}s/{metadata['name']}"


@pytest.fixture(scope="module")
def real(one_cluster: ApiServer) -> Iterator[Side]:
    server = one_cluster
    login = FixedLogin(Login(headers={"Authorization": f"Bearer {server.token}"}))
    transport = HttpTransport(Endpoint(server=server.url, authority=server.ca_pem), login)
    side = Side(transport, server.make_namespace("simulated"))
    status, reported = side.apply(GADGET, path=GADGET_PATH)
    assert status in (200, 201), reported
    yield side
    transport.close()


def simulated(namespace: str) -> Side:
    side = Side(SimulatedCluster("c1", ManualClock()), namespace)
    side.apply(make.namespace(namespace), path=f"/api/v1/namespaces/{namespace}")
    side.apply(GADGET, path=GADGET_PATH)
    return side


def owners(body: JsonObject) -> dict[str, Mapping[str, Any]]:
    return {
        entry["manager"]: entry["fieldsV1"]
        for entry in body["metadata"].get("managedFields") or ()
        if entry["manager"] in MANAGERS and not entry.get("subresource")
    }


def part(value: Any, like: Any) -> Any:
    """The part of a real value that the simulated one has too: a real server adds defaults."""
    if isinstance(value, dict) and isinstance(like, dict):
        return {key: part(value[key], like[key]) if key in value else None for key in like}
    if isinstance(value, list) and isinstance(like, list) and len(value) == len(like):
        return [part(one, other) for one, other in zip(value, like, strict=True)]
    return value


names = st.sampled_from(["a", "b", "c"])
values = st.sampled_from(["1", "2"])
data = st.dictionaries(names, values, max_size=3)
config_maps = st.builds(
    lambda data, labels: make.an_object("v1", "ConfigMap", "x", data=data, labels=labels), st.none() | data, data
)
environment = st.dictionaries(names, values, max_size=3).map(
    lambda env: [{"name": name, "value": value} for name, value in sorted(env.items())]
)


def a_deployment(
    env: list[Any], extra: bool, image: str, replicas: int | None, ports: list[int], app: str
) -> JsonObject:
    body = make.deployment("", "x", f"web:{image}", replicas)
    body["spec"]["selector"]["matchLabels"] = body["spec"]["template"]["metadata"]["labels"] = {"app": app}
    containers = body["spec"]["template"]["spec"]["containers"]
    if env:
        containers[0]["env"] = env
    if ports:
        containers[0]["ports"] = [{"containerPort": port} for port in ports]
    if extra:
        containers.append({"name": "proxy", "image": "proxy:1"})
    return body


deployments = st.builds(
    a_deployment,
    environment,
    st.booleans(),
    values,
    st.none() | st.integers(1, 3),
    st.lists(st.sampled_from([80, 81]), unique=True, max_size=2),
    st.sampled_from(["web", "web", "web", "other"]),
)
gadgets = st.fixed_dictionaries(
    {"size": values},
    optional={
        # Never empty: a real server turns a map that loses its last field into null, and then refuses the object.
        "notes": st.dictionaries(names, values, min_size=1, max_size=3),
        "items": st.lists(st.builds(lambda name: {"name": name}, names), max_size=2),
    },
).map(lambda spec: make.an_object("simulated.example.com/v1", "Gadget", "x", spec=spec))
histories = st.one_of(
    *(
        st.lists(st.tuples(st.sampled_from(MANAGERS), st.booleans(), bodies), min_size=2, max_size=5)
        for bodies in (config_maps, deployments, gadgets)
    )
)
_numbers = iter(range(1_000_000))


@pytest.mark.soak("real")
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=histories)
def test_the_same_applies_leave_the_same_fields_and_owners(
    real: Side, history: list[tuple[str, bool, dict[str, Any]]]
) -> None:
    memory = simulated(real.namespace)
    name = f"x-{next(_numbers)}"
    for manager, force, template in history:
        body = {**template, "metadata": {**template["metadata"], "name": name}}
        (theirs_status, theirs), (status, ours) = (side.apply(body, manager, force=force) for side in (real, memory))
        assert status == theirs_status, (ours, theirs)
        if status == 409:
            assert ours["message"] == theirs["message"]
            assert ours["details"]["causes"] == theirs["details"]["causes"]
        if status >= 300:
            continue
        assert owners(ours) == owners(theirs)
        for field in ("data", "spec"):
            assert ours.get(field) == part(theirs.get(field), ours.get(field))
        assert ours["metadata"].get("labels") == theirs["metadata"].get("labels")
        assert ours["metadata"].get("generation") == theirs["metadata"].get("generation")
        assert key_of(ours) == key_of(theirs)


def _refused_everywhere(side: Side, name: str) -> Iterator[tuple[str, tuple[int, Any]]]:
    """Requests that every server refuses, by what they are about."""
    here = f"/api/v1/namespaces/{side.namespace}"
    body = make.an_object("v1", "ConfigMap", name, data={"a": "1", "b": "1"})
    other = "11111111-2222-3333-4444-555555555555"

    def with_metadata(**fields: str) -> JsonObject:
        return {**body, "metadata": {**body["metadata"], **fields}}

    yield "an object that is not there", side.send("GET", f"{here}/configmaps/{name}")
    yield "deleting what is not there", side.send("DELETE", f"{here}/configmaps/{name}")
    yield "a path that is not there", side.send("GET", "/nowhere/at/all")
    yield "a kind that is not there", side.send("GET", f"{here}/gizmos/{name}")
    yield "a group that is not there", side.send("GET", "/apis/absent.example.com")
    yield "a version that is not served", side.send("GET", "/apis/apps/v1beta1")
    yield "a version of no group", side.send("GET", "/apis/absent.example.com/v1")
    yield "an object of no group", side.send("GET", f"/apis/absent.example.com/v1/namespaces/x/things/{name}")
    yield "an object without its namespace", side.send("GET", f"/api/v1/configmaps/{name}")
    yield "updating what is not there", side.apply(with_metadata(uid=other))
    absent = f"{name}-absent"
    yield (
        "a namespace that is not there",
        side.apply(with_metadata(namespace=absent), path=f"/api/v1/namespaces/{absent}/configmaps/{name}"),
    )
    made, first = side.apply(body)
    assert made == 201
    yield "another object by now", side.apply(with_metadata(uid=other))
    yield "fields of others", side.apply({**body, "data": {"a": "2", "b": "2"}}, "other", force=False)
    side.apply({**body, "data": {"a": "2", "b": "1"}})
    yield "an old version", side.apply(with_metadata(resourceVersion=first["metadata"]["resourceVersion"]))
    yield "another name", side.apply(body, path=f"{here}/configmaps/{name}-other")
    yield "another namespace", side.apply(with_metadata(namespace="other"), path=f"{here}/configmaps/{name}")
    yield "no manager", side.send("PATCH", f"{here}/configmaps/{name}", body=body, headers=APPLY)
    options = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": other}}
    yield "deleting another object", side.send("DELETE", f"{here}/configmaps/{name}", body=options, headers=JSON)
    yield "a namespace of the system", side.send("DELETE", "/api/v1/namespaces/kube-system")
    web = make.deployment(side.namespace, name)
    web["spec"]["template"]["metadata"]["labels"] = {"app": name, "x": "y"}
    side.apply(web)
    web["spec"]["selector"]["matchLabels"] = {"x": "y"}
    yield "a field that never changes", side.apply(web)
    yield "an expired page", side.send("GET", f"{here}/configmaps", query={"limit": "1", "continue": "garbage"})


def _comparable(reported: tuple[int, Any]) -> tuple[Any, ...]:
    """What must be the same: the words too, where they do not quote a value; never the numbers of an object."""
    status, body = reported
    if not isinstance(body, dict):
        return status, body
    about = body.get("details", {}) if status == 404 else {}
    words = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "UID", body["message"]) if status not in (400, 410, 422) else ""
    return status, body["reason"], words, about.get("name"), about.get("kind")


def test_refusals_are_the_same_down_to_the_words(real: Side) -> None:
    name = f"refused-{next(_numbers)}"
    theirs = {about: _comparable(reported) for about, reported in _refused_everywhere(real, name)}
    ours = {about: _comparable(reported) for about, reported in _refused_everywhere(simulated(real.namespace), name)}
    assert ours == theirs
    assert all(status >= 400 for status, *_ in theirs.values())


def test_pages_and_discovery_look_the_same(real: Side) -> None:
    memory = simulated(real.namespace)
    pages = []
    for side in (real, memory):
        path = f"/api/v1/namespaces/{side.namespace}/configmaps"
        for number in range(3):
            side.apply(make.an_object("v1", "ConfigMap", f"paged-{number}"))
        found: list[str] = []
        query = {"limit": "2"}
        for _ in range(20):
            status, page = side.send("GET", path, query=query)
            assert status == 200, page
            found += [item["metadata"]["name"] for item in page["items"]]
            assert set(page) == {"apiVersion", "kind", "metadata", "items"}
            if not page["metadata"].get("continue"):
                break
            query = {**query, "continue": page["metadata"]["continue"]}
        pages.append([name for name in found if name.startswith("paged-")])
    assert pages[0] == pages[1] == ["paged-0", "paged-1", "paged-2"]
    groups = [{group["name"] for group in side.send("GET", "/apis")[1]["groups"]} for side in (real, memory)]
    assert {"apps", "simulated.example.com"} <= groups[1] <= groups[0]
    for path in ("/api/v1", "/apis/apps/v1", "/apis/networking.k8s.io/v1", "/apis/simulated.example.com/v1"):
        kinds = []
        for side in (real, memory):
            _, reported = side.send("GET", path)
            kinds.append({entry["name"]: (entry["kind"], entry["namespaced"]) for entry in reported["resources"]})
        assert {name: kind for name, kind in kinds[1].items() if "/" not in name}.items() <= kinds[0].items()
