"""Three-way merge by field ownership, as a table: what the manifest before had and this one has not goes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from gitfleet.apply.removed_fields import LAST_APPLIED, removed_fields
from gitfleet.formats.field_trees import taken_over

Tree = Mapping[str, Any]
LEAF: Tree = {}


def entry(manager: str, fields: Tree, operation: str = "Update", **more: Any) -> dict[str, Any]:
    return {"manager": manager, "operation": operation, "apiVersion": "v1", "fieldsV1": fields, **more}


def body(*managed: dict[str, Any], annotations: Tree = LEAF, labels: Tree = LEAF, **parts: Any) -> dict[str, Any]:
    metadata = {"name": "x", "managedFields": list(managed), "annotations": annotations, "labels": labels}
    return {"apiVersion": "v1", "kind": "Thing", "metadata": metadata, **parts}


def pod(*containers: Tree) -> dict[str, Any]:
    return {"containers": list(containers)}


A, B = {"name": "a", "image": "1"}, {"name": "b", "image": "1"}
KEY_A, KEY_B = 'k:{"name":"a"}', 'k:{"name":"b"}'
ITEM = {".": LEAF, "f:name": LEAF, "f:image": LEAF}
OWN = "gitfleet"
DATA = {"f:data": {"f:a": LEAF, "f:b": LEAF}}

BY_GIT: dict[str, tuple[Tree, Tree, Tree, Tree]] = {
    "what others set, too": (
        {"data": {"a": "1", "b": "1"}},
        {"data": {"a": "1"}},
        body(entry(OWN, DATA, "Apply"), entry("other", {"f:data": {"f:b": LEAF}}), data={"a": "1", "b": "2"}),
        {"f:data": {"f:b": LEAF}},
    ),
    "what is gone already": ({"data": {"a": "1"}}, {"data": {}}, body(data={"c": "1"}), {}),
    "what was in no manifest stays": ({"spec": {"a": 1}}, {"spec": {"a": 2}}, body(spec={"a": 1, "replicas": 9}), {}),
    "a field that is null now, or was": (
        {"spec": {"a": 1, "b": None}},
        {"spec": {"a": None}},
        body(spec={"a": 1, "b": 2}),
        {"f:spec": {"f:a": LEAF}},
    ),
    "a map goes whole": (
        {"spec": {"m": {"a": 1}, "n": 1}},
        {"spec": {"n": 1}},
        body(entry("other", {"f:spec": {"f:m": {"f:y": LEAF}}}), spec={"m": {"a": 1, "y": 1, "z": 1}, "n": 1}),
        {"f:spec": {"f:m": {".": LEAF, "f:a": LEAF, "f:y": LEAF}}},
    ),
    "a map without what is not compared": (
        {"spec": {"m": {"a": 1, "in": {"b": 1}}, "n": 1}},
        {"spec": {"n": 1}},
        body(
            entry("other", {"f:spec": {"f:m": {".": LEAF, "f:a": LEAF, "f:left": LEAF, "f:in": {"f:left": LEAF}}}}),
            spec={"m": {"a": 1, "in": {"b": 1}}, "n": 1},
        ),
        {"f:spec": {"f:m": {".": LEAF, "f:a": LEAF, "f:in": {".": LEAF, "f:b": LEAF}}}},
    ),
    "not another manager's item that it may be": (
        {"spec": {"ports": [{"port": 53}, {"port": 80}]}},
        {"spec": {"ports": [{"port": 80}]}},
        body(spec={"ports": [{"port": 53, "protocol": "UDP"}, {"port": 53, "protocol": "TCP"}, {"port": 80}]}),
        {},
    ),
    "entries of data each by itself": (
        {"data": {"a": "1"}, "binaryData": {"b": "MQ=="}},
        {},
        body(entry("other", {"f:data": {"f:z": LEAF}}), data={"a": "1", "z": "1"}, binaryData={"b": "MQ=="}),
        {"f:data": {"f:a": LEAF}, "f:binaryData": {"f:b": LEAF}},
    ),
    "labels each by itself": (
        {"metadata": {"labels": {"a": "1"}}},
        {"metadata": {}},
        {**body(), "metadata": {"labels": {"a": "1", "z": "1"}}},
        {"f:metadata": {"f:labels": {"f:a": LEAF}}},
    ),
    "an item of a list goes whole": (
        {"spec": pod(A, B)},
        {"spec": pod(A)},
        body(
            entry(OWN, {"f:spec": {"f:containers": {KEY_A: ITEM, KEY_B: ITEM}}}, "Apply"),
            entry("other", {"f:spec": {"f:containers": {KEY_B: {"f:env": LEAF}}}}),
            spec=pod(A, {**B, "env": []}),
        ),
        {"f:spec": {"f:containers": {KEY_B: {**ITEM, "f:env": LEAF}}}},
    ),
    "a field of an item": (
        {"spec": pod({**A, "tty": True})},
        {"spec": pod(A)},
        body(entry("other", {"f:spec": {"f:containers": {KEY_A: {**ITEM, "f:tty": LEAF}}}}), spec=pod({**A, "tty": 1})),
        {"f:spec": {"f:containers": {KEY_A: {"f:tty": LEAF}}}},
    ),
    "a list of which nobody owns an item": (
        {"spec": pod(A, B)},
        {"spec": pod(A)},
        body(spec=pod(A, B)),
        {"f:spec": {"f:containers": {KEY_B: ITEM}}},
    ),
    "a value of a set": (
        {"spec": {"s": ["a", "b"]}},
        {"spec": {"s": ["a"]}},
        body(entry("other", {"f:spec": {"f:s": {'v:"a"': LEAF, 'v:"b"': LEAF}}}), spec={"s": ["a", "b"]}),
        {"f:spec": {"f:s": {'v:"b"': LEAF}}},
    ),
    "a list that is one value": (
        {"spec": {"l": [1, 2]}}, {"spec": {"l": [1]}}, body(entry("o", {"f:spec": {"f:l": LEAF}}), spec={"l": [1]}), {},
    ),
    "another type than before": (
        {"spec": {"a": {"b": 1}}}, {"spec": {"a": 1}}, body(spec={"a": {"b": 1}}), {"f:spec": {"f:a": {"f:b": LEAF}}},
    ),
    "no map any more": (
        {"spec": {"a": {"b": 1}}}, {"spec": {"a": ["c"]}},
        body(entry("o", {"f:spec": {"f:a": {'v:"b"': LEAF}}}), spec={"a": ["b"]}), {},
    ),
    "what others made another type of": (
        {"spec": {"m": {"b": 1}, "l": [1], "n": 1}}, {"spec": {"n": 1}}, body(spec={"m": [1], "l": {"b": 1}, "n": 1}),
        {"f:spec": {"f:m": LEAF, "f:l": LEAF}},
    ),
    "what is gone already, before something else": (
        {"data": {"a": "1", "b": "1"}, "spec": pod({"name": "c"}, A, B)},
        {"data": {}, "spec": pod(A)},
        body(data={"b": "1"}, spec=pod(A, B)),
        {"f:data": {"f:b": LEAF}, "f:spec": {"f:containers": {KEY_B: ITEM}}},
    ),
    "a list goes whole": (
        {"spec": {"containers": [A], "n": 1}}, {"spec": {"n": 1}}, body(spec={"containers": [A, B], "n": 1}),
        {"f:spec": {"f:containers": {".": LEAF, KEY_A: ITEM}}},
    ),
    "a list goes whole, by the keys that the server names": (
        {"spec": {"l": [{"id": 1}], "m": {"l": [{"id": 1}]}, "n": 1}},
        {"spec": {"n": 1}},
        body(
            entry("o", {"f:spec": {"f:l": {'k:{"id":1}': {"f:x": LEAF}}, "f:m": {"f:l": {'k:{"id":1}': {"f:x": {}}}}}}),
            spec={"l": [{"id": 1, "x": 1}], "m": {"l": [{"id": 1, "x": 1}]}, "n": 1},
        ),
        {"f:spec": {
            "f:l": {".": LEAF, 'k:{"id":1}': {".": LEAF, "f:id": LEAF, "f:x": LEAF}},
            "f:m": {".": LEAF, "f:l": {".": LEAF, 'k:{"id":1}': {".": LEAF, "f:id": LEAF, "f:x": LEAF}}},
        }},
    ),
    "an item by the keys that the server names": (
        {"spec": {"l": [{"id": 1}, {"id": 2}]}}, {"spec": {"l": [{"id": 1}]}},
        body(
            entry("o", {"f:spec": {"f:l": {'k:{"id":1}': {"f:id": LEAF}, 'k:{"id":2}': {"f:id": LEAF}}}}),
            spec={"l": [{"id": 1}, {"id": 2}]},
        ),
        {"f:spec": {"f:l": {'k:{"id":2}': {".": LEAF, "f:id": LEAF}}}},
    ),
    "an item as the server writes its name": (
        {"spec": pod({"name": "a&b"})}, {"spec": pod(A)},
        body(
            entry("o", {"f:spec": {"f:containers": {r'k:{"name":"a\u0026b"}': ITEM}}}), spec=pod({**A, "name": "a&b"}),
        ),
        {"f:spec": {"f:containers": {r'k:{"name":"a\u0026b"}': ITEM}}},
    ),
    "status, identity and the rest of metadata": (
        {"status": {"a": 1}, "metadata": {"finalizers": ["f"]}},
        {},
        {**body(status={"a": 1}), "metadata": {"finalizers": ["f"]}},
        {},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("before", "wanted", "live", "gone"), BY_GIT.values(), ids=BY_GIT)
def test_what_the_manifest_before_had(before: Tree, wanted: Tree, live: Tree, gone: Tree) -> None:
    identity = {"apiVersion": "v1", "kind": "Thing"}
    found = removed_fields({**identity, **wanted}, live, {**identity, **before}, is_taken_over=False)
    assert found == gone


def applied(**parts: Any) -> dict[str, str]:
    return {LAST_APPLIED: json.dumps({"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "x"}, **parts})}


ANNOTATION = {"f:metadata": {"f:annotations": {f"f:{LAST_APPLIED}": LEAF}}}
SCALE = entry("kube-controller-manager", {"f:spec": {"f:replicas": LEAF}}, subresource="scale")
DEFAULTS = entry("kubectl-client-side-apply", {"f:spec": {"f:old": LEAF, "f:defaulted": LEAF}})

TAKEN_OVER: dict[str, tuple[Tree, Tree, Tree]] = {
    "kubectl's annotation, whoever set it since, and the annotation itself": (
        {"spec": {"kept": 1}},
        body(
            DEFAULTS, entry("kubectl-edit", {"f:spec": {"f:old": LEAF}}),
            spec={"kept": 1, "old": 2, "defaulted": 1}, annotations=applied(spec={"kept": 1, "old": 1}),
        ),
        {**ANNOTATION, "f:spec": {"f:old": LEAF}},
    ),
    "labels and annotations that kubectl applied": (
        {"metadata": {"labels": {"a": "1"}}},
        body(
            annotations={
                "x": "1", "y": "1", LAST_APPLIED:
                json.dumps({"apiVersion": "v1", "metadata": {"annotations": {"x": "1"}, "labels": {"b": "1"}}}),
            },
            labels={"a": "1", "b": "1"},
        ),
        {"f:metadata": {"f:annotations": {"f:x": LEAF, f"f:{LAST_APPLIED}": LEAF}, "f:labels": {"f:b": LEAF}}},
    ),
    "replicas that no autoscaler set": (
        {"spec": {"kept": 1}},
        body(DEFAULTS, spec={"kept": 1, "replicas": 9}, annotations=applied(spec={"kept": 1, "replicas": 2})),
        {**ANNOTATION, "f:spec": {"f:replicas": LEAF}},
    ),
    "items by the keys that the server names, and what Helm has beside": (
        {"spec": {"l": [{"id": 1}]}},
        body(
            entry("other", {"f:spec": {"f:l": {'k:{"id":1}': {"f:id": LEAF}, 'k:{"id":2}': {"f:id": LEAF}}}}),
            entry("helm", {"f:spec": {"f:h": LEAF}}),
            spec={"l": [{"id": 1}, {"id": 2}], "h": 1}, annotations=applied(spec={"l": [{"id": 1}, {"id": 2}]}),
        ),
        {**ANNOTATION, "f:spec": {"f:l": {'k:{"id":2}': {".": LEAF, "f:id": LEAF}}, "f:h": LEAF}},
    ),
    "an annotation that is no object": (
        {"spec": {}}, body(DEFAULTS, spec={"old": 1}, annotations={LAST_APPLIED: "[1]"}), {"f:spec": {"f:old": LEAF}},
    ),
    "not what an autoscaler set": (
        {"spec": {"kept": 1}},
        body(SCALE, spec={"kept": 1, "replicas": 9}, annotations=applied(spec={"kept": 1, "replicas": 2})),
        ANNOTATION,
    ),
    "kubectl's fields, where its annotation is gone or is none": (
        {"spec": {"kept": 1}},
        body(DEFAULTS, spec={"kept": 1, "old": 2, "defaulted": 1}, annotations={LAST_APPLIED: "{"}),
        {"f:spec": {"f:old": LEAF, "f:defaulted": LEAF}},
    ),
    "before server-side apply: by the annotation alone": (
        {"spec": {"kept": 1}},
        body(
            entry("before-first-apply", {"f:spec": {"f:old": LEAF, "f:clusterIP": LEAF}}),
            spec={"old": 1, "clusterIP": "10.0.0.1"}, annotations=applied(spec={"old": 1}),
        ),
        {**ANNOTATION, "f:spec": {"f:old": LEAF}},
    ),
    "not the replicas where nobody knows who set them": (
        {"spec": {}},
        body(spec={"old": 1, "replicas": 9}, annotations=applied(spec={"old": 1, "replicas": 2})),
        {**ANNOTATION, "f:spec": {"f:old": LEAF}},
    ),
    "Helm's fields": (
        {"spec": pod(A)},
        body(
            entry("helm", {
                "f:metadata": {"f:labels": {".": LEAF, "f:managed-by": LEAF}, "f:finalizers": {'v:"x"': LEAF}},
                "f:spec": {
                    "f:containers": {KEY_A: {**ITEM, "f:tty": LEAF}, KEY_B: ITEM}, "f:old": {".": LEAF, "f:a": LEAF},
                },
                "f:status": {"f:a": LEAF},
            }),
            entry("someone", {"f:spec": {"f:theirs": LEAF}}),
            spec={**pod({**A, "tty": True}, B), "old": {"a": 1, "b": 1}, "theirs": 1},
            status={"a": 1}, labels={"managed-by": "Helm"},
        ),
        {
            "f:metadata": {"f:labels": {"f:managed-by": LEAF}},
            "f:spec": {"f:containers": {KEY_A: {"f:tty": LEAF}, KEY_B: ITEM}, "f:old": {".": LEAF, "f:a": LEAF}},
        },
    ),
    "Helm's items and values of lists": (
        {"spec": {**pod(A, B, {"name": "c"}), "set": ["a"], "m": 1}},
        body(
            entry("helm", {"f:spec": {
                "f:containers": {
                    ".": LEAF, KEY_A: ITEM, 'k:{"name":"c"}': ITEM,
                    KEY_B: {**ITEM, "f:tty": LEAF, "f:m": {"f:a": LEAF}, "f:set": {'v:"x"': LEAF, 'v:"y"': LEAF}},
                },
                "f:set": {".": LEAF, 'v:"a"': LEAF, 'v:"b"': LEAF},
                "f:m": {"f:a": LEAF}, "f:gone": {"f:a": LEAF, "f:left": LEAF},
            }}),
            entry("other", {"f:spec": {"f:containers": {KEY_B: {"f:m": {"f:b": LEAF}}}}}),
            spec={
                **pod(A, {**B, "tty": True, "m": {"a": 1, "b": 1}, "set": ["x", "y"]}), "set": ["a", "b"],
                "m": {"a": 1}, "gone": {"a": 1},
            },
        ),
        {"f:spec": {
            "f:containers": {KEY_B: {"f:tty": LEAF, "f:m": {"f:a": LEAF, "f:b": LEAF}, "f:set": {
                'v:"x"': LEAF, 'v:"y"': LEAF,
            }}},
            "f:set": {'v:"b"': LEAF}, "f:m": {"f:a": LEAF}, "f:gone": {"f:a": LEAF},
        }},
    ),
    "nobody's manifest": ({"spec": {"kept": 1}}, body(entry("somebody", {"f:spec": {"f:a": LEAF}}), spec={"a": 1}), {}),
    "what kubectl applied in another version": (
        {"spec": {}},
        body(spec={"a": 1}, annotations={LAST_APPLIED: '{"apiVersion": "v1beta1", "spec": {"a": 1}}'}),
        {},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("wanted", "live", "gone"), TAKEN_OVER.values(), ids=TAKEN_OVER)
def test_what_the_manifest_of_a_tool_had_when_its_object_is_taken_over(wanted: Tree, live: Tree, gone: Tree) -> None:
    manifest = {"apiVersion": "v1", "kind": "Thing", **wanted}
    assert removed_fields(manifest, live, None, is_taken_over=True) == gone
    assert removed_fields(manifest, live, None, is_taken_over=False) == {}


LABEL = {"f:metadata": {"f:labels": {"f:by": LEAF}}}


@pytest.mark.parametrize(
    ("kind", "operation", "gone"),
    [
        ("PersistentVolumeClaim", "Update", LABEL),
        ("PersistentVolumeClaim", "Apply", {**LABEL, "f:spec": {"f:storageClassName": LEAF}}),
        ("Deployment", "Update", {**LABEL, "f:spec": {"f:storageClassName": LEAF}}),
    ],
)
def test_what_admission_filled_in_and_nobody_may_change_stays(kind: str, operation: str, gone: Tree) -> None:
    fields = {**LABEL, "f:spec": {"f:storageClassName": LEAF}}
    live = body(entry("helm", fields, operation), spec={"storageClassName": "fast"}, labels={"by": "Helm"})
    found = removed_fields(
        {"apiVersion": "v1", "kind": kind, "spec": {}}, {**live, "kind": kind}, None, is_taken_over=True
    )
    assert found == gone


@pytest.mark.parametrize("older", ["live", "own"])
def test_in_another_version_the_server_decides(older: str) -> None:
    live = body(entry(OWN, DATA, "Apply", apiVersion="v1beta1" if older == "own" else "v1"), data={"a": "1"})
    if older == "live":
        live["apiVersion"] = "v1beta1"
    before = {"apiVersion": "v1", "data": {"a": "1"}}
    assert removed_fields({"apiVersion": "v1", "data": {}}, live, before, is_taken_over=False) == {}


def test_a_secrets_texts_are_its_data() -> None:
    identity = {"apiVersion": "v1", "kind": "Secret"}
    before, wanted = {**identity, "stringData": {"a": "1", "b": "1"}}, {**identity, "stringData": {"a": "1"}}
    live = {**body(data={"a": "MQ==", "b": "Mg=="}), "kind": "Secret"}
    assert removed_fields(wanted, live, before, is_taken_over=False) == {"f:data": {"f:b": LEAF}}


def test_the_fields_are_taken_from_the_others_in_that_version_and_only_where_it_is_needed() -> None:
    gone = {"f:data": {"f:b": LEAF}}
    own, other = entry(OWN, DATA, "Apply"), entry("other", {"f:data": {"f:b": LEAF, "f:z": LEAF}})
    status = entry("other", {"f:status": LEAF}, subresource="status")
    older = entry("old", {"f:data": {"f:b": LEAF}}, apiVersion="v1beta1")
    assert taken_over(body(own, other, status, older), gone) == [
        {**other, "fieldsV1": {"f:data": {"f:z": LEAF}}}, status, older, own,
    ]  # fmt: skip
    assert taken_over(body(own, entry("other", gone)), gone) == [own]
    assert taken_over(body(own, status, older), gone) is None
    unowned = taken_over(body(), gone)
    assert unowned == [
        {"manager": OWN, "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": gone}
    ]
    assert taken_over(body(entry(OWN, {"f:data": LEAF}, "Apply")), gone) is None


def test_what_gitfleet_and_kubectl_applied_before_both_go() -> None:
    """Whoever replaced the object may have applied it with kubectl."""
    applied = json.dumps({"apiVersion": "v1", "data": {"b": "1"}})
    there = body(annotations={LAST_APPLIED: applied}, data={"a": "1", "b": "1", "c": "1"})
    wanted, before = {"apiVersion": "v1", "data": {"c": "1"}}, {"apiVersion": "v1", "data": {"a": "1", "c": "1"}}
    found = removed_fields(wanted, there, before, is_taken_over=True)
    assert found["f:data"] == {"f:a": LEAF, "f:b": LEAF}
