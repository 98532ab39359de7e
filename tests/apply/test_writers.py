"""Who wrote a field of a live object, by its managedFields."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.api.bindings import FieldWriter
from gitfleet.apply import names_of, writer_of

MANIFEST = {
    "metadata": {"labels": {"a/b~c": "1"}},
    "data": {"greeting": "Hello"},
    "spec": {
        "template": {
            "spec": {
                "containers": [
                    {"name": "web", "image": "web:1"},
                    {"name": "log", "image": "log:1", "ports": [{"containerPort": 80}]},
                ]
            }
        },
        "args": ["a", "b"],
        "finalizers": ["x"],
        "ports": [{"port": 80}],
    },
}


def entry(manager: str, fields: Any, *, time: str = "2026-01-01T00:00:00Z", **more: Any) -> dict[str, Any]:
    return {"manager": manager, "operation": "Update", "time": time, "fieldsV1": fields, **more}


CONTAINER: dict[str, Any] = {
    "f:spec": {"f:template": {"f:spec": {"f:containers": {'k:{"name":"log"}': {".": {}, "f:image": {}}}}}}
}
NAMED: dict[str, Any] = {
    "f:spec": {"f:template": {"f:spec": {"f:containers": {
        'k:{"name":"log"}': {"f:ports": {'k:{"containerPort":80,"protocol":"TCP"}': {"f:name": {}}}},
    }}}},
}  # fmt: skip
PORT: dict[str, Any] = {"f:spec": {"f:ports": {'k:{"port":80,"protocol":"TCP"}': {"f:targetPort": {}}}}}


@pytest.mark.parametrize(
    ("path", "entries", "writer"),
    [
        ("/data/greeting", [entry("kubectl-edit", {"f:data": {"f:greeting": {}}})], "kubectl-edit"),
        ("/data/greeting", [entry("kubectl-edit", {"f:data": {"f:other": {}}})], None),
        ("/data/greeting", [entry("kubectl-edit", {"f:data": {}})], None),
        ("/data", [entry("kubectl-edit", {"f:data": {"f:greeting": {}}})], "kubectl-edit"),
        ("/metadata/labels/a~1b~0c", [entry("x", {"f:metadata": {"f:labels": {"f:a/b~c": {}}}})], "x"),
        ("/spec/template/spec/containers/1/image", [entry("x", CONTAINER)], "x"),
        ("/spec/template/spec/containers/0/image", [entry("x", CONTAINER)], None),
        ("/spec/template/spec/containers/1", [entry("x", CONTAINER)], "x"),
        ("/spec/ports/0/targetPort", [entry("x", PORT)], "x"),
        ("/spec/template/spec/containers/1/ports/0/name", [entry("x", NAMED)], "x"),
        ("/spec/args/1", [entry("x", {"f:spec": {"f:args": {}}})], "x"),
        ("/spec/args/1", [entry("x", {"f:spec": {"f:args": {'k:{"name":"b"}': {}}}})], None),
        ("/spec/finalizers/0", [entry("x", {"f:spec": {"f:finalizers": {'v:"x"': {}}}})], "x"),
        ("/data/greeting", [entry("gitfleet", {"f:data": {"f:greeting": {}}}, operation="Apply")], None),
        ("/data/greeting", [entry("gitfleet", {"f:data": {"f:greeting": {}}})], "gitfleet"),
        (
            "/data/greeting",
            [
                entry("new", {"f:data": {"f:greeting": {}}}, time="2026-01-02T00:00:00Z"),
                entry("old", {"f:data": {"f:greeting": {}}}),
            ],
            "new",
        ),
        (
            "/data/greeting",
            [
                {"manager": "undated", "fieldsV1": {"f:data": {"f:greeting": {}}}},
                entry("x", {"f:data": {"f:greeting": {}}}),
            ],
            "x",
        ),
        ("/data/greeting", ["nonsense", {"manager": 7}, {"fieldsV1": []}, entry("x", {"f:data": "wrong"})], None),
        ("/data/greeting", "nonsense", None),
        ("/data/greeting", [{"fieldsV1": {"f:data": {"f:greeting": {}}}}], ""),
        ("/spec/ports/0/targetPort", [entry("x", {"f:spec": {"f:ports": {"k:nonsense": {"f:targetPort": {}}}}})], None),
    ],
)
def test_the_last_other_writer_of_a_field(path: str, entries: Any, writer: str | None) -> None:
    found = writer_of(MANIFEST, {"metadata": {"managedFields": entries}}, path)

    assert (found.manager if found is not None else None) == writer


@pytest.mark.parametrize(
    ("managers", "names"), [("", ""), ("a", "a"), ("baa", "a and b"), ("dcba", "a, b, c and 1 more"), (["", "x"], "x")]
)
def test_the_names_in_a_sentence(managers: str, names: str) -> None:
    assert names_of(FieldWriter("/a", manager) for manager in managers) == names
