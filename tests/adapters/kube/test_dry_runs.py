"""Dry runs take a cluster a few seconds at most, however slow what it asks about each, and go to nobody who may write
them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from gitfleet.adapters.kube.client import KubeClient
from gitfleet.adapters.kube.texts import KubeText
from gitfleet.api.objects import Manifest, ObjectKey, Origin
from gitfleet.model.observations import LiveObject
from tests.adapters.kube.stub import serving
from tests.adapters.kube.test_wire import wire
from tests.texts import part

KINDS = json.dumps(
    {"resources": [{"name": "configmaps", "kind": "ConfigMap", "namespaced": True}], "groupVersion": "v1", "kind": "x"}
)


@dataclass
class Later:
    """A clock by which two seconds pass from one look to the next."""

    seconds: float = 0.0

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC)

    def monotonic(self) -> float:
        self.seconds += 2.0
        return self.seconds


def test_what_is_not_begun_with_in_five_seconds_is_not_asked() -> None:
    questions = []
    for name in ("a", "b", "c", "d"):
        key = ObjectKey("", "v1", "ConfigMap", "ns", name)
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "ns", "uid": name}}
        questions.append((Manifest(key, body, "digest", Origin("f.yaml", 1)), LiveObject(key, body)))
    refusal = json.dumps({"kind": "Status", "message": "not today", "reason": "Conflict", "code": 409})
    with serving() as stub:
        stub.replies = [(200, KINDS, {}), *[(409, refusal, {})] * 4]
        found = KubeClient("c1", wire(stub), parallel=1, clock=Later()).dry_run(questions)
        asked = [path for method, path, _ in stub.seen if method == "PUT"]
    assert [path.partition("?")[0].rpartition("/")[2] for path in asked] == ["a", "b"]
    assert ["not today" in answer.error for answer in found] == [True, True, False, False]
    assert [answer.error for answer in found[2:]] == [
        KubeText.TOOK_MORE_DRY_RUNS_BEFORE(wire="c1", begun_within=5, manifest=f"ConfigMap/ns/{name}") for name in "cd"
    ]


EXTENSION = json.dumps(
    {"resources": [{"name": "ovens", "kind": "Oven", "namespaced": True}], "groupVersion": "bakery.example.com/v1"}
)
DEFINITION = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
DEFINED = json.dumps({**DEFINITION, "metadata": {"name": "ovens.bakery.example.com", "uid": "d"}})
ABSENT = json.dumps({"kind": "Status", "message": "not found", "reason": "NotFound", "code": 404})


@pytest.mark.parametrize(("status", "definition", "is_asked"), [(404, ABSENT, False), (200, DEFINED, True)])
def test_only_what_a_definition_serves_is_put(status: int, definition: str, is_asked: bool) -> None:
    key = ObjectKey("bakery.example.com", "v1", "Oven", "ns", "a")
    metadata = {"name": "a", "namespace": "ns", "uid": "a"}
    body = {"apiVersion": "bakery.example.com/v1", "kind": "Oven", "metadata": metadata}
    with serving() as stub:
        stub.replies = [(200, EXTENSION, {}), (status, definition, {}), (409, ABSENT, {})]
        question = (Manifest(key, body, "digest", Origin("f.yaml", 1)), LiveObject(key, body))
        (answer,) = KubeClient("c1", wire(stub), parallel=1).dry_run([question])
        asked = [path for method, path, _ in stub.seen if method == "PUT"]
    assert (bool(asked), part(KubeText.SERVED_API_SERVER_EXTENSION) in answer.error) == (is_asked, not is_asked)
