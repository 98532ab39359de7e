"""What nobody foresaw while one object is handled is that object's outcome; the others on the cluster go on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from gitfleet.adapters.kube import performing
from gitfleet.adapters.kube.client import KubeClient
from gitfleet.api.objects import ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.model.operations import Delete, PropagationPolicy
from tests.adapters.kube.stub import Stub, serving
from tests.adapters.kube.test_deleting import GONE, KINDS, lost
from tests.adapters.kube.test_wire import wire
from tests.gates import permit


@pytest.fixture
def stub() -> Iterator[Stub]:
    with serving() as stub:
        yield stub


def test_an_object_that_cannot_be_handled_holds_nobody_up(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    delete = performing.Performer._delete

    def failing(performer: performing.Performer, operation: Delete) -> Any:
        if operation.key.name == "bad":
            raise ZeroDivisionError("hunter2")
        return delete(performer, operation)

    monkeypatch.setattr(performing.Performer, "_delete", failing)
    stub.replies = [(200, KINDS, {})]
    for name in ("first", "last"):
        stub.replies += [(200, GONE, {}), (404, lost(name=name), {})]
    operations = [
        Delete(
            cluster="c1",
            placement=PlacementKey("", "web"),
            key=ObjectKey("", "v1", "ConfigMap", "ns", name),
            uid="u1",
            wave=wave,
            reason="",
            propagation=PropagationPolicy.BACKGROUND,
            permit=permit("c1", ObjectKey("", "v1", "ConfigMap", "ns", name)),
        )
        for wave, name in ((3, "first"), (2, "bad"), (1, "last"))
    ]
    outcomes = KubeClient("c1", wire(stub)).perform(operations)
    assert [(o.ok, o.code) for o in outcomes] == [(True, "Deleted"), (False, "InternalError"), (True, "Deleted")]
    assert "hunter2" not in outcomes[1].message and "ZeroDivisionError" in outcomes[1].message
    assert outcomes[1].retry
