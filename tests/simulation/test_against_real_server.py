"""The simulated API server against a real one, request by request: the same statuses, words, fields and owners."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitfleet.adapters.kube.http_transport import HttpTransport
from gitfleet.adapters.kube.logins import Endpoint, FixedLogin, Login
from gitfleet.api.objects import JsonObject, key_of
from gitfleet.api.values import name_rule
from gitfleet.desired.reading.payload import type_breaks
from gitfleet.formats.kind_fields import field_types, list_keys
from gitfleet.formats.kinds import BUILT_IN_KINDS
from gitfleet.formats.yaml_reader import parse_documents
from gitfleet.ports.transport import Request, Transport
from gitfleet.simulation.clock import ManualClock
from gitfleet.simulation.cluster import SimulatedCluster
from tests import builders as make
from tests.realparts.api_server import ApiServer

CASES = Path(__file__).parents[1] / "desired" / "cases"
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
    for wrong in ("Plum!", "a" * 254):
        yield f"the name {wrong}", side.apply(make.an_object("v1", "ConfigMap", wrong))
    for wrong in ("a.b", "a" * 64):
        query, home = {"fieldManager": "gitfleet"}, make.namespace(wrong)
        yield (
            f"the namespace {wrong}",
            side.send("PATCH", f"/api/v1/namespaces/{wrong}", query=query, body=home, headers=APPLY),
        )
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
    return status, body.get("reason", ""), words, about.get("name"), about.get("kind")


def test_refusals_are_the_same_down_to_the_words(real: Side) -> None:
    name = f"refused-{next(_numbers)}"
    theirs = {about: _comparable(reported) for about, reported in _refused_everywhere(real, name)}
    ours = {about: _comparable(reported) for about, reported in _refused_everywhere(simulated(real.namespace), name)}
    assert ours == theirs
    assert all(status >= 400 for status, *_ in theirs.values())


def _reached() -> Iterator[tuple[str, list[tuple[str, str, str]], str]]:
    """Every type of the built-in kinds that both servers serve, once: its kind, the way to it (the type that has a
    field, the field, its type), and its name."""
    seen: set[str] = set()
    for kind in (f"{'/'.join(filter(None, (row.group, row.versions[-1])))}/{row.kind}" for row in SERVED):
        todo: list[tuple[str, list[tuple[str, str, str]]]] = [(kind, []), ("ObjectMeta", [("", "metadata", "")])]
        for name, way in todo:
            if name in seen:
                continue
            seen.add(name)
            yield kind, way, name
            for field, code in field_types()[name].items():
                # What stands behind "?" is no field to a server: it may be anything.
                if code.lstrip("[{") in field_types() and field != "managedFields":
                    todo.append((code.lstrip("[{"), [*way, (name, field, code)]))


SERVED = [
    row
    for row in BUILT_IN_KINDS.values()
    if row.versions and f"{'/'.join(filter(None, (row.group, row.versions[-1])))}/{row.kind}" in field_types()
]


def _keys(type_: str, keys: Sequence[str], number: int) -> dict[str, Any]:
    types = field_types()[type_]
    return {key: number if types[key].startswith("int") else f"a{number}" for key in keys}


def _object(kind: str, way: list[tuple[str, str, str]], value: Any) -> JsonObject:
    """An object of a kind with a value at the end of a way."""
    for owner, field, code in reversed(way):
        keys = list_keys().get(owner, {}).get(field, ())
        for sign in reversed(code[: len(code) - len(code.lstrip("[{"))]):
            value = [{**_keys(code.lstrip("["), keys, 1), **value}] if sign == "[" else {"k": value}
        value = {field: value}
    api_version, _, name = kind.rpartition("/")
    metadata = {"name": "x", **value.get("metadata", {})}
    return {"apiVersion": api_version, "kind": name, **value, "metadata": metadata}


def _corpus() -> Iterator[JsonObject]:
    """Good and bad objects: each type with a field that it does not have, each list that server-side apply merges with
    items of one key, of two, and none at all."""
    for kind, way, name in _reached():
        yield _object(kind, way, {"notThere": 1})
        for field, keys in list_keys().get(name, {}).items():
            type_ = field_types()[name][field][1:]
            one, other = (_keys(type_, keys, n) for n in (1, 2)) if keys else (1, 2) if type_ == "int32" else ("a", "b")
            yield _object(kind, way, {field: [one, other]})
            yield _object(kind, way, {field: [one, other, one, one]})
            if keys:
                yield _object(kind, way, {field: [one, None]})
            if keys and name != "v1/ServiceAccount":  # the only keys without a default, which OpenAPI does not show
                yield _object(kind, way, {field: [{}, {}]})


def _misfits_said(reported: tuple[int, Any]) -> set[str]:
    """What server-side apply says of an object before it is looked at otherwise; what else is refused is the same."""
    status, body = reported
    if status != 500:
        return set()
    about, _, lines = body["message"].partition("): ")
    return {f"{about}: {line.strip()}" for line in lines.removeprefix("errors:\n").split("\n")}


def _compare_typed(real: Side, bodies: Iterable[JsonObject]) -> None:
    memory = simulated(real.namespace)
    for body in bodies:
        row = BUILT_IN_KINDS[key_of(body).group_kind]
        prefix = f"/apis/{body['apiVersion']}" if row.group else f"/api/{body['apiVersion']}"
        inside = f"/namespaces/{real.namespace}" if row.namespaced else ""
        namespace = {"namespace": real.namespace} if row.namespaced else {}
        sent = {**body, "metadata": {**body["metadata"], **namespace}}
        path = f"{prefix}{inside}/{row.plural}/{body['metadata']['name']}"
        query = {"fieldManager": "gitfleet", "force": "true", "fieldValidation": "Strict"}
        theirs = real.send("PATCH", path, query={**query, "dryRun": "All"}, body=sent, headers=APPLY)
        ours = memory.send("PATCH", path, query=query, body=sent, headers=APPLY)
        # A real server ends with the first field of a mapping that it does not know, in whatever order.
        assert _misfits_said(theirs) <= _misfits_said(ours), (body, ours, theirs)
        assert (ours[0] == 500) == (theirs[0] == 500), (body, ours, theirs)
        if "ownerReferences" not in body["metadata"]:  # these are taken off before anything is placed
            assert bool(type_breaks(sent)) == (theirs[0] == 500), (body, theirs)


def test_what_does_not_fit_the_schema_is_refused_in_the_same_words(real: Side) -> None:
    """The objects of a case of `validate`, and a sample of the corpus."""
    text = (CASES / "what-server-side-apply-refuses.yaml").read_bytes()
    documents = [document.value for document in parse_documents(text, max_bytes=1 << 20).documents]
    _compare_typed(real, [body for body in documents if (key_of(body).group_kind) in BUILT_IN_KINDS])
    _compare_typed(real, list(_corpus())[::25])


@pytest.mark.soak("real")
def test_the_whole_corpus_is_refused_in_the_same_words(real: Side) -> None:
    bodies = list(_corpus())
    assert len(bodies) > 400
    _compare_typed(real, bodies)


def test_the_same_names_are_refused_of_every_kind(real: Side) -> None:
    """Events are never placed, and the other kinds that are left out have names that follow from their fields."""
    wrong, own = [], {"APIService", "CustomResourceDefinition", "Event", "IPAddress"}
    for row in (row for row in SERVED if row.kind not in own):
        version = f"{'/'.join(filter(None, (row.group, row.versions[-1])))}"
        inside = f"/namespaces/{real.namespace}" if row.namespaced else ""
        path = f"/{'apis' if row.group else 'api'}/{version}{inside}/{row.plural}/"
        for name in ("Plum!", "a.b", "1a", "a" * 53, "a" * 64):
            body = make.an_object(version, row.kind, name)
            query = {"fieldManager": "gitfleet", "force": "true", "dryRun": "All"}
            status, said = real.send("PATCH", path + name, query=query, body=body, headers=APPLY)
            names = f'metadata.name: Invalid value: "{name}"' in said["message"] if status == 422 else False
            rule = name_rule(row.group, row.kind)
            if names is (rule is None or rule.allows(name)):
                wrong.append((row.kind, name, said.get("message")))
    assert not wrong


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
