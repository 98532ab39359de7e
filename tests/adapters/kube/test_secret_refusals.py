"""A server that repeats values of a Secret in its refusal: the outcome has none of them."""

from __future__ import annotations

import base64
import json

import pytest

from gitfleet.adapters.kube.client import KubeClient
from gitfleet.api.objects import Manifest, ObjectKey, Origin
from gitfleet.api.placements import PlacementKey
from gitfleet.model.observations import LiveObject
from gitfleet.model.operations import Update
from tests.adapters.kube.stub import serving
from tests.adapters.kube.test_wire import wire

KINDS = json.dumps(
    {"resources": [{"name": "secrets", "kind": "Secret", "namespaced": True}], "groupVersion": "v1", "kind": "x"}
)
KEY = ObjectKey("", "v1", "Secret", "ns", "s")
NEW, OLD = 'hunter2"new\nvalue', "hunter2-old-value"


def body(value: str, *, as_text: bool = False) -> dict[str, object]:
    parts = {"stringData": {"a": value}} if as_text else {"data": {"a": base64.b64encode(value.encode()).decode()}}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "ns", "uid": "u"}, **parts}


@pytest.mark.parametrize("as_text", [False, True])
@pytest.mark.parametrize(
    "quoted",
    [
        r"hunter2\"new\nvalue",
        r"hunter2\\\"new\\nvalue",
        base64.b64encode(NEW.encode()).decode(),
        "hunter2-old-value",
        base64.b64encode(OLD.encode()).decode(),
        "hunter2-old...",
        "hunter2%22new%0Avalue",
        "&quot;hunter2&quot;new value",
        "new\nvalue hunter2\n  -old",
    ],
)
@pytest.mark.parametrize("status", [400, 403, 409, 422, 500])
def test_no_value_of_a_secret_comes_back_in_an_outcome(quoted: str, status: int, as_text: bool) -> None:
    told = f'admission webhook "w" denied the request: got "{quoted}", which is weak'
    answer = json.dumps({"kind": "Status", "message": told, "reason": "Invalid", "code": status})
    operation = Update(
        cluster="c1",
        placement=PlacementKey("", "web"),
        manifest=Manifest(KEY, body(NEW, as_text=as_text), "digest", Origin("s.yaml", 1)),
        wave=1,
        reason="",
        live=LiveObject(KEY, body(OLD)),
    )
    with serving() as stub:
        stub.replies = [(200, KINDS, {}), *[(status, answer, {})] * 10]
        (outcome,) = KubeClient("c1", wire(stub)).perform([operation])
    assert not outcome.ok and outcome.message
    assert "hunter2" not in outcome.message.replace("***", ""), outcome.message
    assert not any(piece in outcome.message for piece in ("old-val", "new val", r"new\n", "aHVudGVy"))
