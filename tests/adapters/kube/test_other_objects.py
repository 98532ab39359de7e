"""A server that answers with another object than the one that was asked for: an error of that object, no success."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from gitfleet.adapters.kube.client import KubeClient
from gitfleet.adapters.kube.texts import KubeText
from gitfleet.api.objects import ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.model.operations import Create, Delete, OutcomeCode
from tests import builders
from tests.adapters.kube.stub import Stub, serving
from tests.adapters.kube.test_deleting import DELETE, KEY, KINDS, lost
from tests.adapters.kube.test_wire import wire

METADATA = {"name": "cm", "namespace": "ns", "uid": "u1"}
RIGHT = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": METADATA}
SENTENCES = {
    "metadata": KubeText.SERVER_ANSWERED_ANOTHER_OBJECT(),
    "no metadata": KubeText.SERVER_ANSWERED_ANOTHER_OBJECT(),
    "generation": KubeText.SERVER_ANSWERED_ANOTHER_OBJECT(),
    "uid": KubeText.SERVER_ANSWERED_ANOTHER_OBJECT(),
}
ANOTHER = KubeText.SERVER_ANSWERED_ANOTHER_OBJECT()
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
CREATE = Create(
    cluster="c1",
    placement=PlacementKey("", "web"),
    manifest=builders.manifest_of(builders.config_map("ns", "cm")),
    wave=1,
    reason="",
)
SYSTEM = {"metadata": {"name": "kube-system", "uid": "s"}}
"""A Namespace that every API server has."""


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
    assert outcome.message == SENTENCES.get(name, ANOTHER)


@pytest.mark.parametrize("operation", [CREATE, DELETE], ids=["apply", "delete"])
def test_the_object_itself_is_taken(stub: Stub, operation: Create | Delete) -> None:
    stub.replies = [(200, KINDS, {}), (200, json.dumps(RIGHT), {})]
    (outcome,) = KubeClient("c1", wire(stub)).perform([operation])
    assert outcome.ok and outcome.live is not None


@pytest.mark.parametrize("name", OTHERS)
def test_an_object_that_is_read_as_another_one_is_unreadable(stub: Stub, name: str) -> None:
    stub.replies = [(200, "ok", {}), (200, json.dumps({"items": [SYSTEM]}), {}), (200, KINDS, {})]
    stub.replies.append((200, json.dumps(OTHERS[name]), {}))
    seen = KubeClient("c1", wire(stub), parallel=1).observe([KEY])
    assert seen.reachable and KEY not in seen.live
    assert seen.unreadable[KEY] == SENTENCES.get(name, ANOTHER)


@pytest.mark.parametrize(
    ("body", "gone"),
    [
        (lost(), True),
        (lost(answer="Cluster"), False),
        (lost(reason="Gone"), False),
        (lost(name="other"), False),
        (lost(kind="namespaces"), False),
        (json.dumps({"kind": "Status", "reason": "NotFound", "details": "cm"}), False),
        (json.dumps({"kind": "Status", "reason": "NotFound"}), False),
        (json.dumps(["cm"]), False),
        ("404 page not found", False),
        ("<html>no such site</html>", False),
        ("", False),
    ],
)
def test_a_404_counts_where_it_names_the_object(stub: Stub, body: str, gone: bool) -> None:
    stub.replies = [(200, KINDS, {}), (404, body, {})]
    seen = KubeClient("c1", wire(stub), parallel=1).observe([KEY], probe=False)
    assert seen.reachable and seen.live == ({KEY: None} if gone else {})
    assert gone or seen.unreadable[KEY].startswith(KubeText.SERVER_ANSWERED_NOT_SAY_OBJECT(message=""))


def test_a_list_that_is_none_is_read_one_by_one(stub: Stub) -> None:
    keys = [ObjectKey("", "v1", "ConfigMap", "ns", f"cm-{number}") for number in range(8)]
    stub.replies = [(200, KINDS, {}), (200, "{}", {}), (404, lost(name=keys[0].name), {}), (404, "no", {})]
    seen = KubeClient("c1", wire(stub), parallel=1).observe(keys, probe=False)
    assert seen.live == {keys[0]: None} and set(seen.unreadable) == set(keys[1:])


GROUPS = json.dumps({"kind": "APIGroupList", "groups": [{"name": "apps", "versions": [{"groupVersion": "apps/v1"}]}]})
GADGET = ObjectKey("example.com", "v1", "Gadget", "ns", "g")
SCALE = ObjectKey("apps", "v1", "Scale", "ns", "s")


@pytest.mark.parametrize(
    ("key", "replies", "unreadable"),
    [
        (GADGET, [(404, "404 page not found"), (200, GROUPS)], None),
        (GADGET, [(404, "404 page not found"), (404, "404 page not found")], (KubeText.GROUPS_API() + ": 404 page")),
        (GADGET, [(404, "404 page not found"), (200, "{}")], (KubeText.GROUPS_API() + ": ")),
        (GADGET, [(200, "{}")], f"{KubeText.KINDS(prefix='/apis/example.com/v1')}: "),
        (SCALE, [(200, KINDS), (200, GROUPS)], None),
        (
            SCALE,
            [(404, "404 page not found"), (200, GROUPS)],
            KubeText.KINDS_SERVER_NAMES_VERSION_NOT(prefix="/apis/apps/v1"),
        ),
        (KEY, [(404, "404 page not found")], f"{KubeText.KINDS(prefix='/api/v1')}: 404 page"),
        (KEY, [(200, json.dumps({"resources": []}))], None),
    ],
)
def test_a_kind_is_gone_where_the_server_says_what_it_has(
    stub: Stub, key: ObjectKey, replies: list[tuple[int, str]], unreadable: str | None
) -> None:
    stub.replies = [(status, body, {}) for status, body in replies]
    seen = KubeClient("c1", wire(stub), parallel=1).observe([key], probe=False)
    assert (seen.live == {key: None}) is (unreadable is None), seen
    assert unreadable is None or seen.unreadable[key].startswith(unreadable)


@pytest.mark.parametrize("gone", [True, False])
@pytest.mark.parametrize("objects", [1, 9])
def test_a_kind_that_went_takes_its_objects_with_it(stub: Stub, objects: int, gone: bool) -> None:
    """The server's list of kinds is asked for once more where a 404 names no object."""
    keys = [ObjectKey("", "v1", "ConfigMap", "ns", f"cm-{number}") for number in range(objects)]
    reads = objects + (objects > 8)
    stub.replies = [(200, KINDS, {}), *[(404, "404 page not found", {})] * reads]
    stub.replies.append((200, json.dumps({"resources": []}) if gone else KINDS, {}))
    seen = KubeClient("c1", wire(stub), parallel=1).observe(keys, probe=False)
    assert (set(seen.live), set(seen.unreadable)) == ((set(keys), set()) if gone else (set(), set(keys)))
    assert len(stub.seen) == reads + 2


def test_an_item_of_a_list_that_lies_in_another_namespace_is_unreadable(stub: Stub) -> None:
    keys = [ObjectKey("", "v1", "ConfigMap", "ns", f"cm-{number}") for number in range(8)]
    items = [{"metadata": {"name": key.name, "namespace": "ns", "uid": "u"}} for key in keys]
    items[3]["metadata"]["namespace"] = "kube-system"
    stub.replies = [(200, "ok", {}), (200, json.dumps({"items": [SYSTEM]}), {}), (200, KINDS, {})]
    stub.replies.append((200, json.dumps({"items": items}), {}))
    seen = KubeClient("c1", wire(stub), parallel=1).observe(keys)
    assert set(seen.live) == set(keys) - {keys[3]}
    assert set(seen.unreadable) == {keys[3]}
