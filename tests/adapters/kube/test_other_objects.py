"""A server that answers with another object than the one that was asked for: an error of that object, no success."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from gitfleet.adapters.kube.client import KubeClient
from gitfleet.api.objects import ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.model.operations import Create, Delete, OutcomeCode, PropagationPolicy
from tests import builders
from tests.adapters.kube.stub import Stub, serving
from tests.adapters.kube.test_wire import wire

KEY = ObjectKey("", "v1", "ConfigMap", "ns", "cm")
KINDS = json.dumps({"resources": [{"name": "configmaps", "kind": "ConfigMap", "namespaced": True}]})
METADATA = {"name": "cm", "namespace": "ns", "uid": "u1"}
RIGHT = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": METADATA}
OTHERS: dict[str, dict[str, Any]] = {
    "all": {
        "kind": "Secret",
        "metadata": {"name": "other", "namespace": "kube-system", "uid": "u", "managedFields": "x"},
    },
    "kind": {**RIGHT, "kind": "Secret"},
    "group": {**RIGHT, "apiVersion": "apps/v1"},
    "no group": {**RIGHT, "apiVersion": 3},
    "name": {**RIGHT, "metadata": {**METADATA, "name": "other"}},
    "namespace": {**RIGHT, "metadata": {**METADATA, "namespace": "kube-system"}},
    "no namespace": {**RIGHT, "metadata": {"name": "cm"}},
    "metadata": {**RIGHT, "metadata": "x"},
    "no metadata": {"kind": "ConfigMap"},
    "generation": {**RIGHT, "metadata": {**METADATA, "generation": "x"}},
    "uid": {**RIGHT, "metadata": {**METADATA, "uid": {"a": 1}}},
}
DELETE = Delete(
    cluster="c1",
    placement=PlacementKey("", "web"),
    key=KEY,
    uid="u1",
    wave=1,
    reason="",
    propagation=PropagationPolicy.BACKGROUND,
)
CREATE = Create(
    cluster="c1",
    placement=PlacementKey("", "web"),
    manifest=builders.manifest_of(builders.config_map("ns", "cm")),
    wave=1,
    reason="",
)


@pytest.fixture
def stub() -> Iterator[Stub]:
    with serving() as stub:
        yield stub


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("operation", [CREATE, DELETE], ids=["apply", "delete"])
def test_a_write_that_another_object_answers_has_failed(stub: Stub, operation: Create | Delete, name: str) -> None:
    stub.replies = [(200, KINDS, {}), (200, json.dumps(OTHERS[name]), {})]
    (outcome,) = KubeClient("c1", wire(stub)).perform([operation])
    assert not outcome.ok and outcome.code is OutcomeCode.SERVER_ERROR and outcome.retry
    assert outcome.live is None
    assert outcome.message.startswith(f"{KEY}: the server answered with a")
    assert "kube-system" not in outcome.message


@pytest.mark.parametrize("operation", [CREATE, DELETE], ids=["apply", "delete"])
def test_the_object_itself_is_taken(stub: Stub, operation: Create | Delete) -> None:
    stub.replies = [(200, KINDS, {}), (200, json.dumps(RIGHT), {})]
    (outcome,) = KubeClient("c1", wire(stub)).perform([operation])
    assert outcome.ok and outcome.live is not None


@pytest.mark.parametrize("name", OTHERS)
def test_an_object_that_is_read_as_another_one_is_unreadable(stub: Stub, name: str) -> None:
    stub.replies = [(200, "ok", {}), (200, json.dumps({"items": []}), {}), (200, KINDS, {})]
    stub.replies.append((200, json.dumps(OTHERS[name]), {}))
    seen = KubeClient("c1", wire(stub), parallel=1).observe([KEY])
    assert seen.reachable and KEY not in seen.live
    assert "the server answered with a" in seen.unreadable[KEY]


def test_an_item_of_a_list_that_lies_in_another_namespace_is_unreadable(stub: Stub) -> None:
    keys = [ObjectKey("", "v1", "ConfigMap", "ns", f"cm-{number}") for number in range(8)]
    items = [{"metadata": {"name": key.name, "namespace": "ns", "uid": "u"}} for key in keys]
    items[3]["metadata"]["namespace"] = "kube-system"
    stub.replies = [(200, "ok", {}), (200, json.dumps({"items": []}), {}), (200, KINDS, {})]
    stub.replies.append((200, json.dumps({"items": items}), {}))
    seen = KubeClient("c1", wire(stub), parallel=1).observe(keys)
    assert set(seen.live) == set(keys) - {keys[3]}
    assert set(seen.unreadable) == {keys[3]}
