"""The examples for Argo CD and Flux against the definitions of their kinds: by schema, and on a real API server."""

from __future__ import annotations

import gzip
import json
import ssl
import time
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import jsonschema
import pytest
import yaml

from tests.realparts.api_server import ApiServer

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("argocd/*.yaml")) + sorted((ROOT / "examples").glob("flux/*.yaml"))
DEFINITIONS = [
    json.loads(gzip.decompress(path.read_bytes())) for path in sorted((ROOT / "tests/data/crds").glob("*.json.gz"))
]


def documents() -> Iterator[Any]:
    for path in EXAMPLES:
        for number, body in enumerate(yaml.safe_load_all(path.read_text())):
            yield pytest.param(body, id=f"{path.parent.name}-{path.stem}-{number}")


def definition_of(body: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The definition of an object's kind, and the version of it."""
    group, _, name = body["apiVersion"].partition("/")
    (found,) = (
        (one, version)
        for one in DEFINITIONS
        for version in one["spec"]["versions"]
        if (one["spec"]["group"], version["name"], one["spec"]["names"]["kind"]) == (group, name, body["kind"])
    )
    return found


def closed(schema: Any) -> Any:
    """The schema with fields that it does not name refused, as the API server refuses them when it is strict."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: closed(value) for key, value in schema.items()}
    is_open = "x-kubernetes-preserve-unknown-fields" in schema or "additionalProperties" in schema
    return (
        {**made, "additionalProperties": False} if isinstance(schema.get("properties"), dict) and not is_open else made
    )


@pytest.mark.parametrize("body", list(documents()))
def test_an_example_is_of_its_kind(body: dict[str, Any]) -> None:
    schema = definition_of(body)[1]["schema"]["openAPIV3Schema"]
    spec = closed(schema["properties"]["spec"])
    jsonschema.Draft7Validator(spec).validate(body["spec"])
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft7Validator(spec).validate({**body["spec"], "misspelt": 1})


@pytest.mark.real
@pytest.mark.parametrize("body", list(documents()))
def test_a_real_api_server_takes_an_example(body: dict[str, Any], one_cluster: ApiServer) -> None:
    server, (definition, version) = one_cluster, definition_of(body)
    names, namespace = definition["spec"]["names"], server.make_namespace("agents")
    plain = {key: definition[key] for key in ("apiVersion", "kind", "spec")}
    place = f"/apis/{definition['spec']['group']}/{version['name']}/namespaces/{namespace}/{names['plural']}"
    crd = {**plain, "metadata": {"name": definition["metadata"]["name"]}}
    apply(server, f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{crd['metadata']['name']}", crd)
    moved = {**body, "metadata": {**body["metadata"], "namespace": namespace}}
    made = apply(server, f"{place}/{body['metadata']['name']}", moved, tries=100)
    assert {key: made["spec"][key] for key in body["spec"]} == body["spec"]


def apply(server: ApiServer, path: str, body: dict[str, Any], tries: int = 1) -> dict[str, Any]:
    """Apply an object, strictly; its kind may be served only a moment after it was defined."""
    request = Request(
        f"{server.url}{path}?fieldManager=test&fieldValidation=Strict&force=true",
        method="PATCH",
        headers={"Content-Type": "application/apply-patch+yaml", "Authorization": f"Bearer {server.token}"},
        data=json.dumps(body).encode(),
    )
    trust = ssl.create_default_context(cadata=server.ca_pem)
    for left in reversed(range(tries)):
        try:
            with urlopen(request, context=trust, timeout=60) as answer:
                return dict(json.load(answer))
        except HTTPError as error:
            said = error.read().decode()
            assert error.code == 404 and left, said
            time.sleep(0.1)
    raise AssertionError(f"{path} is not served")


def test_each_cluster_has_a_folder_that_the_examples_find() -> None:
    """The generator's pattern, and the folder of the Kustomization, are those of the branch's layout."""
    (applications,) = (p.values[0] for p in documents() if p.values[0]["kind"] == "ApplicationSet")
    (pattern,) = applications["spec"]["generators"][0]["git"]["directories"]
    assert (fnmatch("us-east-1", pattern["path"]), "/" in pattern["path"]) == (True, False)
    (applied,) = (p.values[0] for p in documents() if p.values[0]["kind"] == "Kustomization")
    assert applied["spec"]["path"] == "./us-east-1"
