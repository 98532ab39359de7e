"""The simulated API server against a real one: the same applies, by two managers, leave the same fields and owners."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kubernetes.client import ApiClient

from gitfleet.api.objects import JsonObject, key_of
from gitfleet.simulation.bodies import Refused
from gitfleet.simulation.clock import ManualClock
from gitfleet.simulation.server import MemoryServer
from tests import builders as make
from tests.realparts.api_server import ApiServer

pytestmark = pytest.mark.real

MANAGERS = ("gitfleet", "other")
CODES = {409: "Conflict", 422: "Invalid"}
PLURALS = {"ConfigMap": "/api/v1", "Deployment": "/apis/apps/v1", "Gadget": "/apis/simulated.example.com/v1"}
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


class RealServer:
    """The few raw calls that a comparison needs."""

    def __init__(self, api: ApiClient, namespace: str) -> None:
        self.api = api
        self.namespace = namespace

    def apply(self, body: JsonObject, manager: str, *, force: bool) -> dict[str, Any] | str:
        path = f"{PLURALS[body['kind']]}/namespaces/{self.namespace}/{body['kind'].lower()}s/{body['metadata']['name']}"
        return self.call(path, {**body, "metadata": {**body["metadata"], "namespace": self.namespace}}, manager, force)

    def call(self, path: str, body: JsonObject, manager: str, force: bool) -> dict[str, Any] | str:
        request = self.api.param_serialize(
            "PATCH",
            path,
            query_params=[("fieldManager", manager), ("force", str(force).lower())],
            header_params={"Content-Type": "application/apply-patch+yaml", "Accept": "application/json"},
            body=dict(body),
            auth_settings=["BearerToken"],
        )
        response = self.api.call_api(*request)
        answer = orjson.loads(cast(Any, response).read())
        if response.status >= 300:
            return CODES.get(response.status, f"{response.status}: {answer.get('message')}")
        assert isinstance(answer, dict)
        return answer


@pytest.fixture(scope="module")
def real(two_clusters: tuple[ApiServer, ApiServer]) -> Iterator[RealServer]:
    server = two_clusters[0]
    with server.client() as api:
        found = RealServer(api, server.make_namespace("simulated"))
        path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.simulated.example.com"
        assert isinstance(found.call(path, GADGET, "gitfleet", True), dict)
        yield found


def owners(body: JsonObject) -> dict[str, Mapping[str, Any]]:
    return {
        entry["manager"]: entry["fieldsV1"]
        for entry in body["metadata"].get("managedFields") or ()
        if entry["manager"] in MANAGERS and not entry.get("subresource")
    }


def part(value: Any, like: Any) -> Any:
    """The part of a real value that the simulated one speaks of: a real server adds defaults."""
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


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(history=histories)
def test_the_same_applies_leave_the_same_fields_and_owners(
    real: RealServer, history: list[tuple[str, bool, dict[str, Any]]]
) -> None:
    clock = ManualClock()
    memory = MemoryServer("c1")
    for body in (make.namespace(real.namespace), GADGET):
        memory.apply(body, now=clock.now())
    name = f"x-{next(_numbers)}"
    for manager, force, template in history:
        body = {**template, "metadata": {**template["metadata"], "name": name, "namespace": real.namespace}}
        theirs = real.apply(body, manager, force=force)
        try:
            ours: JsonObject | str = memory.apply(body, now=clock.now(), manager=manager, force=force).body
        except Refused as refused:
            ours = refused.code
        if isinstance(theirs, str) or isinstance(ours, str):
            assert ours == theirs
            continue
        assert owners(ours) == owners(theirs)
        for field in ("data", "spec"):
            assert ours.get(field) == part(theirs.get(field), ours.get(field))
        assert ours["metadata"].get("labels") == theirs["metadata"].get("labels")
        assert ours["metadata"].get("generation") == theirs["metadata"].get("generation")
        assert key_of(ours) == key_of(theirs)
