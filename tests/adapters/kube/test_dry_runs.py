"""Dry runs take a cluster a few seconds at most, however slow what it asks about each."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime

from gitfleet.adapters.kube.client import KubeClient
from gitfleet.api.objects import Manifest, ObjectKey, Origin
from gitfleet.model.observations import LiveObject
from tests.adapters.kube.stub import serving
from tests.adapters.kube.test_wire import wire

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
    (why,) = {answer.error.rpartition(" that of ")[0] for answer in found[2:]}
    assert why == "c1 took more than 5 s for the dry runs before"
