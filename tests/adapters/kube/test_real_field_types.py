"""A real API server refuses what is a fault for its type, takes what is none, and has the data of the file."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from gitfleet.api.objects import JsonObject, key_of
from gitfleet.desired.reading.payload import type_breaks
from gitfleet.formats.kind_fields import field_types, list_keys, served_kinds
from gitfleet.formats.kinds import BUILT_IN_KINDS
from gitfleet.formats.yaml_reader import parse_documents
from tests.formats.kind_fields import data_of
from tests.realparts.control_plane import ApiServer

CASES = Path(__file__).parents[2] / "desired" / "cases"


def documents(name: str) -> list[dict[str, Any]]:
    """The objects of a case, less the first: the Namespace of the others."""
    parsed = parse_documents((CASES / f"{name}.yaml").read_bytes(), max_bytes=1 << 20)
    bodies = [document.value for document in parsed.documents[1:]]
    assert not parsed.faults and len(bodies) > 15
    return [body for body in bodies if isinstance(body, dict)]


@pytest.fixture(scope="module")
def server(one_cluster: ApiServer) -> Iterator[ApiServer]:
    """A server with the Namespace that the objects are in."""
    ask(one_cluster, "/api/v1/namespaces", {"metadata": {"name": "web"}})
    yield one_cluster
    ask(one_cluster, "/api/v1/namespaces/web", method="DELETE")


def ask(server: ApiServer, path: str, body: JsonObject | None = None, method: str | None = None) -> tuple[int, Any]:
    """The status and the content of an answer."""
    headers = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}
    content = json.dumps(body).encode() if body is not None else None
    request = Request(f"{server.url}{path}", content, headers, method=method)
    try:
        with urlopen(request, context=ssl.create_default_context(cadata=server.ca_pem)) as answer:
            return answer.status, json.load(answer)
    except HTTPError as refused:
        return refused.code, json.load(refused)


def tried(server: ApiServer, body: JsonObject) -> tuple[int, str]:
    """What the server says of an object that it would create."""
    key = key_of(body)
    prefix = f"/apis/{key.api_version}" if key.group else f"/api/{key.version}"
    inside = f"/namespaces/{key.namespace}" if key.namespace else ""
    path = f"{prefix}{inside}/{BUILT_IN_KINDS[key.group, key.kind].plural}?dryRun=All"
    given = {name: part for name, part in body["metadata"].items() if name in ("name", "namespace", "finalizers")}
    status, answer = ask(server, path, {**body, "metadata": given})
    return status, answer.get("message", "")


def test_what_is_a_fault_is_refused(server: ApiServer) -> None:
    for body in documents("payload-fields-of-wrong-types"):
        status, message = tried(server, body)
        assert status == 400 and type_breaks(body), f"{body['kind']}: {message}"


def test_what_is_taken_is_no_fault(server: ApiServer) -> None:
    for body in documents("payload-as-servers-take-it"):
        assert (*tried(server, body), type_breaks(body)) == (201, "", []), body["kind"]


def test_the_data_are_those_of_the_server(server: ApiServer) -> None:
    _, document = ask(server, "/openapi/v2")
    data = data_of(document)
    assert (data["fields"], data["lists"]) == (field_types(), list_keys())
    assert served_kinds().issuperset(data["served"]), "alpha versions are served only when asked for"
