"""The request of a deletion carries the uid that was seen, and what comes back is told apart."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from gitfleet.adapters.kube.client import KubeClient
from gitfleet.adapters.kube.texts import KubeText
from gitfleet.api.objects import ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.model.operations import Delete, PropagationPolicy
from tests.adapters.kube.stub import Stub, serving
from tests.adapters.kube.test_wire import wire
from tests.gates import permit

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
    permit=permit("c1", KEY),
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
    assert len(stub.seen) == 2
    assert stub.seen[-1][:2] == ("DELETE", "/api/v1/namespaces/ns/configmaps/cm")
    assert json.loads(stub.bodies[-1]) == {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "propagationPolicy": "Background",
        "preconditions": {"uid": "u1"},
    }


def there(**metadata: str) -> str:
    """The object as a server shows it after the deletion."""
    return json.dumps({"kind": "ConfigMap", "metadata": {"name": "cm", "namespace": "ns", "uid": "u1", **metadata}})


@pytest.mark.parametrize(
    ("status", "body", "expected", "message"),
    [
        (404, lost(), (True, "Deleted", False), ""),
        (200, there(uid="u2"), (True, "Deleted", False), ""),
        (200, there(deletionTimestamp="2026-01-01T00:00:00Z"), (True, "Deleting", True), ""),
        (200, there(), (False, "ServerError", False), KubeText.SERVER_ANSWERED_DELETED()),
        (404, json.dumps({"message": "not found"}), (False, "ServerError", False), "404"),
        (403, json.dumps({"message": "no"}), (False, "ServerError", False), "no"),
    ],
    ids=["gone", "made again by somebody", "being deleted", "still there", "a doubtful 404", "may not be read"],
)
def test_a_deletion_that_is_answered_with_success_is_confirmed(
    stub: Stub, status: int, body: str, expected: tuple[bool, str, bool], message: str
) -> None:
    stub.replies = [(200, KINDS, {}), (200, GONE, {}), (status, body, {})]
    (outcome,) = KubeClient("c1", wire(stub)).perform([DELETE])
    assert (outcome.ok, outcome.code, outcome.live is not None) == expected
    assert message in outcome.message
    assert stub.seen[-1][:2] == ("GET", "/api/v1/namespaces/ns/configmaps/cm")
