"""Shapes never see what a server writes in its own way; differences tell people what somebody changed."""

from __future__ import annotations

import base64
import copy
from typing import Any

import jsonpatch
import pytest

from gitfleet.apply import find_differences
from gitfleet.apply.shapes import shape_digest

DEPLOYMENT: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "ns", "labels": {"app": "web"}},
    "spec": {
        "replicas": 2,
        "template": {
            "spec": {
                "containers": [
                    {
                        "name": "web",
                        "image": "web:1",
                        "ports": [{"containerPort": 80}],
                        "args": ["--fast"],
                        "resources": {"requests": {"cpu": "1000m", "memory": 1024}},
                    }
                ]
            }
        },
    },
}


def served() -> dict[str, Any]:
    """The deployment as a server shows it."""
    body = copy.deepcopy(DEPLOYMENT)
    body["metadata"] |= {"uid": "u", "resourceVersion": "5", "generation": 1, "annotations": {"revision": "1"}}
    body["spec"] |= {"progressDeadlineSeconds": 600}
    (container,) = body["spec"]["template"]["spec"]["containers"]
    container |= {"imagePullPolicy": "IfNotPresent", "resources": {"requests": {"cpu": "1", "memory": "1024"}}}
    container["ports"] = [{"containerPort": 80, "protocol": "TCP"}]
    body["spec"]["template"]["spec"]["containers"].insert(0, {"name": "injected", "image": "proxy:1"})
    body["status"] = {"replicas": 2}
    return body


_CONTAINERS = "/spec/template/spec/containers"
_WEB = f"{_CONTAINERS}/1"
EDITS: dict[str, dict[str, Any]] = {
    "replicas": {"op": "replace", "path": "/spec/replicas", "value": 3},
    "image": {"op": "replace", "path": f"{_WEB}/image", "value": "web:2"},
    "label": {"op": "replace", "path": "/metadata/labels/app", "value": "other"},
    "label gone": {"op": "remove", "path": "/metadata/labels"},
    "container gone": {"op": "remove", "path": _WEB},
    "args": {"op": "add", "path": f"{_WEB}/args/-", "value": "--slow"},
    "cpu": {"op": "replace", "path": f"{_WEB}/resources/requests/cpu", "value": "2"},
    "port": {"op": "replace", "path": f"{_WEB}/ports/0/protocol", "value": "UDP"},
    "status": {"op": "replace", "path": "/status/replicas", "value": 1},
    "annotation": {"op": "add", "path": "/metadata/annotations/revision", "value": "2"},
    "default": {"op": "add", "path": "/spec/progressDeadlineSeconds", "value": 1},
    "injected": {"op": "replace", "path": f"{_CONTAINERS}/0/image", "value": "proxy:2"},
    "order": {"op": "move", "from": f"{_CONTAINERS}/0", "path": _WEB},
}
"""What somebody does to the Deployment on the server, as JSON patches."""


def edited(name: str) -> dict[str, Any]:
    found: dict[str, Any] = jsonpatch.apply_patch(served(), [EDITS[name]])
    return found


def test_a_missing_container_is_seen() -> None:
    body = edited("container gone")
    assert shape_digest(DEPLOYMENT, body) != shape_digest(DEPLOYMENT, served())
    ((path, there, _),) = find_differences(DEPLOYMENT, body)
    assert (path, there) == ("/spec/template/spec/containers/0", None)


@pytest.mark.parametrize("path", ["status", "annotation", "default", "injected", "order"])
def test_what_is_not_in_the_manifest_never_counts(path: str) -> None:
    assert shape_digest(DEPLOYMENT, edited(path)) == shape_digest(DEPLOYMENT, served())
    assert find_differences(DEPLOYMENT, edited(path)) == ()


@pytest.mark.parametrize(
    ("want", "have", "same"),
    [
        (None, [], True), ([], None, True), (None, {}, True), ({}, None, True), (None, None, True),
        (None, "x", False), ("x", None, False), (None, 0, False), (["x"], None, False), (None, {"x": 1}, False),
        ([], {}, False), (1, True, False), ("", 0, False),
    ],
)  # fmt: skip
def test_an_empty_list_or_map_may_be_written_as_null(want: Any, have: Any, same: bool) -> None:
    one, other = ({"apiVersion": "v1", "kind": "Thing", "spec": {"x": value}} for value in (want, have))
    assert (find_differences(one, other) == ()) is same


def test_a_secret_is_compared_by_its_bytes_and_never_shown() -> None:
    wanted = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"password": "hunter2"}}
    there: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "s"},
        "data": {"password": _b64("hunter2")},
    }
    other = {**there, "data": {"password": _b64("hunter3"), "user": _b64("root")}}
    assert find_differences(wanted, there) == ()
    assert shape_digest(wanted, there) == shape_digest(wanted, {**there, "data": {**there["data"], "more": "eA=="}})
    assert shape_digest(wanted, there) != shape_digest(wanted, other)
    assert find_differences(wanted, other, full=True) == (
        ("/data/password", "(redacted)", "(redacted)"),
        ("/data/user", "(redacted)", None),
    )
    for one, two in ((wanted, {**other, "kind": None}), ({**wanted, "kind": None}, other)):
        assert {text for _, *texts in find_differences(one, two, full=True) for text in texts} == {"(redacted)", None}


def test_a_secret_of_another_group_has_fields_of_its_own() -> None:
    """Only the Secret of Kubernetes moves `stringData` into `data`."""
    wanted = {"apiVersion": "acme.example/v1", "kind": "Secret", "stringData": {"a": "1"}}
    digests = {shape_digest(wanted, {**wanted, "stringData": {"a": value}}) for value in "123"}
    assert len(digests) == 3


def test_lists_follow_the_servers_own_bookkeeping() -> None:
    wanted = {
        "apiVersion": "example.com/v1",
        "kind": "Foo",
        "metadata": {"name": "x"},
        "spec": {"routes": [{"id": "a", "to": 1}], "hosts": ["one"], "rules": [{"id": "r"}]},
    }
    managed = {
        "f:spec": {
            "f:routes": {'k:{"id":"a"}': {".": {}, "f:id": {}, "f:to": {}}},
            "f:hosts": {'v:"one"': {}},
            "f:rules": {},
        }
    }
    metadata = {"name": "x", "managedFields": [{"manager": "gitfleet", "operation": "Apply", "fieldsV1": managed}]}
    there = {**wanted, "metadata": metadata}
    spec = wanted["spec"]
    assert isinstance(spec, dict)
    more_routes = {**there, "spec": {**spec, "routes": [{"id": "b"}, {"id": "a", "to": 1}]}}
    more_hosts = {**there, "spec": {**spec, "hosts": ["two", "one"]}}
    more_rules = {**there, "spec": {**spec, "rules": [{"id": "r"}, {"id": "s"}]}}
    base = shape_digest(wanted, there)
    assert shape_digest(wanted, more_routes) == base
    assert shape_digest(wanted, more_hosts) == base
    assert shape_digest(wanted, more_rules) != base, "an atomic list belongs to us as a whole"


def test_a_subject_somebody_adds_to_a_role_binding_is_drift() -> None:
    wanted: dict[str, Any] = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "b"},
        "subjects": [{"kind": "User", "name": "jo"}],
    }
    there = {**wanted, "subjects": [*wanted["subjects"], {"kind": "User", "name": "mallory"}]}
    assert shape_digest(wanted, wanted) != shape_digest(wanted, there)
    assert [path for path, _, _ in find_differences(wanted, there)] == ["/subjects"]


def test_many_differences_are_cut() -> None:
    wanted = {"apiVersion": "v1", "kind": "ConfigMap", "data": {f"k{n:03}": "x" * 1000 for n in range(300)}}
    got = find_differences(wanted, {**wanted, "data": dict.fromkeys(wanted["data"], "y")})
    assert len(got) == 100


def _b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize(
    ("want", "have", "full", "details"),
    [
        ({"a": 1}, {"a": 1}, True, ()),
        ({"a": 1}, {"a": 1, "b": 2}, True, (("/spec/b", "2", None),)),
        ({"a": 1}, {"a": 1, "b": 0}, True, ()),
        ({"a": 1}, {}, False, (("/spec/a", None, "1"),)),
        ({"a": None}, {"a": 5}, False, (("/spec/a", "5", "null"),)),
        ({"a": 1}, {"a": True}, False, (("/spec/a", "true", "1"),)),
        ({"a": False}, {"a": 0}, False, (("/spec/a", "0", "false"),)),
        ({"a": "1000m"}, {"a": "1"}, False, (("/spec/a", "1", "1000m"),)),
        ({"limits": {"cpu": "1000m"}}, {"limits": {"cpu": 1}}, False, ()),
        ({"limits": {"cpu": "1000m"}}, {"limits": {"cpu": True}}, False, (("/spec/limits/cpu", "true", "1000m"),)),
        ({"limits": {"cpu": "x"}}, {"limits": {"cpu": "y"}}, False, (("/spec/limits/cpu", "y", "x"),)),
        ({"a/b~c": 1}, {"a/b~c": 2}, False, (("/spec/a~1b~0c", "2", "1"),)),
        ({"l": [1, 2]}, {"l": [1, 3]}, False, (("/spec/l/1", "3", "2"),)),
        ({"l": [1]}, {"l": [1, 3]}, False, (("/spec/l", "[1,3]", "[1]"),)),
        ({"l": [{"a": 1}]}, {"l": [{"a": 1, "b": 2}]}, True, (("/spec/l/0/b", "2", None),)),
        ({"l": [{"a": 1}]}, {"l": [{"a": 1, "b": 2}]}, False, ()),
        (
            {"env": [{"name": "x", "value": "1"}]},
            {"env": [{"name": "y"}, {"name": "x", "value": "2", "more": 3}]},
            False,
            (("/spec/env/0/value", "2", "1"),),
        ),
        (
            {"env": [{"name": "x", "value": "1"}]},
            {"env": [{"name": "x", "value": "1", "more": 3}]},
            True,
            (("/spec/env/0/more", "3", None),),
        ),
        (
            {"env": [{"name": "x"}]},
            {"env": [{"name": "x"}, {"name": "y"}]},
            True,
            (("/spec/env", '[{"name":"x"},{"name":"y"}]', '[{"name":"x"}]'),),
        ),
    ],
)
def test_one_field_as_the_whole_answer(want: Any, have: Any, full: bool, details: tuple[Any, ...]) -> None:
    wanted = {"apiVersion": "example.com/v1", "kind": "Foo", "spec": want}
    assert find_differences(wanted, {**wanted, "spec": have}, full=full) == details


def test_items_are_told_apart_as_the_server_keeps_them_at_every_depth() -> None:
    """Another order and items of other people are no difference, and a change is named at the item of the manifest."""

    def body(*items: Any, **meta: Any) -> dict[str, Any]:
        lists: dict[str, Any] = {"spec": {"routes": list(items)}, "routes": list(items)}
        return {"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "x", **meta}, **lists}

    def item(id_: str, *inner: Any) -> dict[str, Any]:
        return {"id": id_, "more": {"hops": list(inner)}}

    keyed: dict[str, Any] = {'k:{"id":"a"}': {"f:more": {"f:hops": {'k:{"at":1}': {}, 'k:{"at":2}': {}}}}}
    managed = {"f:routes": keyed, "f:spec": {"f:routes": keyed}}
    meta = {"managedFields": [{"manager": "gitfleet", "operation": "Apply", "fieldsV1": managed}]}
    one, two = {"at": 1, "to": "x"}, {"at": 2, "to": "y"}
    wanted = body(item("a", one, two))
    assert find_differences(wanted, body(item("b"), item("a", {"at": 3}, two, one), **meta)) == ()
    assert find_differences(wanted, body(item("b"), item("a", {**two, "to": "z"}, one), **meta)) == (
        ("/spec/routes/0/more/hops/1/to", "z", "y"),
        ("/routes/0/more/hops/1/to", "z", "y"),
    )
    base = shape_digest(wanted, body(item("a", one, two), **meta))
    assert shape_digest(wanted, body(item("b"), {**item("a", {"at": 3}, two, one), "of": "others"}, **meta)) == base
    for other in (item("a", {**two, "to": "z"}, one), item("a", one), item("b", one, two)):
        assert shape_digest(wanted, body(other, **meta)) != base
    assert [path for path, _, _ in find_differences(wanted, body(item("b"), item("a", one, two)))] == [
        "/spec/routes",
        "/routes",
    ], "where the server does not say, a list of this name is one value"


@pytest.mark.parametrize("part", ["annotations", "labels"])
def test_metadata_counts_but_for_the_domains_of_kubernetes(part: str) -> None:
    wanted = {"kind": "Foo", "metadata": {"name": "x", part: {"a": "1", "kubernetes.io/b": "1"}}}
    there = {"kind": "Foo", "metadata": {"uid": "u", part: {"x.k8s.io/c": "1", "more": "2"}}}
    assert find_differences(wanted, there) == ((f"/metadata/{part}/a", None, "1"),)
    assert find_differences(wanted, there, full=True) == (
        (f"/metadata/{part}/a", None, "1"),
        (f"/metadata/{part}/more", "2", None),
    )
    assert find_differences({"kind": "Foo"}, {"kind": "Foo", "status": {"a": 1}, "more": 1}, full=True) == (
        ("/more", "1", None),
    )


@pytest.mark.parametrize("part", ["annotations", "labels"])
def test_labels_and_annotations_of_the_manifest_are_part_of_the_shape(part: str) -> None:
    metadata = {"name": "x", "labels": {"a": "1"}, "annotations": {"a": "1"}}
    wanted = {"kind": "Foo", "metadata": metadata}
    shape = shape_digest(wanted, wanted)
    assert shape_digest(wanted, {"kind": "Foo", "metadata": {**metadata, part: {"a": "1", "of": "others"}}}) == shape
    assert shape_digest(wanted, {"kind": "Foo", "metadata": {**metadata, part: {"a": "2"}}}) != shape
    assert shape_digest(wanted, {"kind": "Foo", "metadata": {**metadata, part: None}}) != shape


def test_a_value_of_a_secret_that_is_no_base64_is_compared_as_it_stands() -> None:
    def secret(text: str, version: str = "v1") -> dict[str, Any]:
        return {"apiVersion": version, "kind": "Secret", "data": {"key": text}}

    assert find_differences(secret("not base64!"), secret("not base64!")) == ()
    assert find_differences(secret("not base64!"), secret("other")) == (("/data/key", "(redacted)", "(redacted)"),)
    redacted = (("/data/key", "(redacted)", "(redacted)"),)
    assert find_differences(secret("YQ==", "x/v1"), secret("Yg==", "x/v1")) == redacted
    assert find_differences(secret("YQ==", "x/v1"), secret("YR==", "x/v1")) == redacted, "no base64 of Kubernetes"
    assert find_differences(secret("YQ=="), secret("YR==")) == (), "both are the byte a"


@pytest.mark.parametrize(("length", "shown"), [(256, "x" * 256), (257, "x" * 255 + "…")])
def test_the_longest_value_that_is_shown(length: int, shown: str) -> None:
    ((_, there, _),) = find_differences({"kind": "Foo", "a": "1"}, {"kind": "Foo", "a": "x" * length})
    assert there == shown


def test_nothing_of_a_secret_is_a_detail_but_its_labels_and_type() -> None:
    def secret(value: str) -> dict[str, Any]:
        metadata = {"name": "s", "labels": {"l": value}, "annotations": {"a": value}}
        return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": value, "Data": {"x": [value]}}

    shown = {path: have for path, have, _ in find_differences(secret("hunter2"), secret("hunter3"))}
    hidden = "(redacted)"
    assert shown == {
        "/metadata/annotations/a": hidden, "/metadata/labels/l": "hunter3", "/type": "hunter3", "/Data/x/0": hidden,
    }  # fmt: skip


def test_a_text_that_holds_a_secret_is_no_detail() -> None:
    def carrier(value: str) -> dict[str, Any]:
        return {"apiVersion": "v1", "kind": "ConfigMap", "data": {"s": f"kind: Secret\nstringData: {{a: {value}}}\n"}}

    assert find_differences(carrier("a"), carrier("b")) == (("/data/s", "***", "***"),)
