"""The request of a deletion carries the uid that was seen, and what comes back is told apart."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from gitfleet.adapters.kube.client import KubeClient
from gitfleet.api.objects import ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.model.operations import Delete, PropagationPolicy
from tests.adapters.kube.stub import Stub, serving
from tests.adapters.kube.test_wire import wire

KEY = ObjectKey("", "v1", "ConfigMap", "ns", "cm")
KINDS = json.dumps({"resources": [{"name": "configmaps", "kind": "ConfigMap", "namespaced": True}]})
DELETE = Delete(
    cluster="c1",
    placement=PlacementKey("", "web"),
    key=KEY,
    uid="u1",
    wave=1,
    reason="",
    propagation=PropagationPolicy.BACKGROUND,
)


def lost(reason: str = "NotFound", answer: str = "Status", **details: str) -> str:
    """What an API server says of an object that it does not have."""
    details = {"name": "cm", "kind": "configmaps", **details}
    return json.dumps({"kind": answer, "status": "Failure", "reason": reason, "details": details, "code": 404})


GONE = json.dumps({"kind": "Status", "status": "Success"})
LEAVING = json.dumps({"kind": "ConfigMap", "metadata": {"name": "cm", "namespace": "ns", "uid": "u1"}})


@pytest.fixture
def stub() -> Iterator[Stub]:
    with serving() as stub:
        yield stub


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (200, GONE, (True, "Deleted", False)),
        (200, LEAVING, (True, "Deleting", True)),
        (404, lost(), (True, "NotFound", False)),
        (404, json.dumps({"message": "not found"}), (False, "ServerError", False)),
        (409, json.dumps({"message": "the UID in the precondition does not match"}), (False, "Conflict", False)),
        (403, json.dumps({"message": "no"}), (False, "Forbidden", False)),
    ],
)
def test_only_the_object_that_was_seen_is_deleted(
    stub: Stub, status: int, body: str, expected: tuple[bool, str, bool]
) -> None:
    stub.replies = [(200, KINDS, {}), (status, body, {})]
    client = KubeClient("c1", wire(stub))
    (outcome,) = client.perform([DELETE])
    assert (outcome.ok, outcome.code, outcome.live is not None) == expected
    assert stub.seen[-1][:2] == ("DELETE", "/api/v1/namespaces/ns/configmaps/cm")
    assert json.loads(stub.bodies[-1]) == {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "propagationPolicy": "Background",
        "preconditions": {"uid": "u1"},
    }
