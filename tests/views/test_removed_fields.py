"""What goes with an update: by the field's owners, with the value it has; nothing of a Secret is shown."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from gitfleet.api.objects import key_of
from gitfleet.api.placements import PlacementKey
from gitfleet.model.observations import LiveObject
from gitfleet.model.operations import Create, Update
from gitfleet.views.plan_document import diff_of
from gitfleet.views.removed_fields import removed_fields
from tests.apply.model_cluster import manifest

WEB = """'k:{"name":"web"}'"""
PROXY = """'k:{"name":"proxy"}'"""
LIVE: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Thing",
    "metadata": {"name": "x", "namespace": "ns", "labels": {"team": "a", "theirs": "b"}},
    "spec": {
        "grace": 5,
        "probe": {"path": "/", "every": 10},
        "containers": [{"name": "web", "image": "web:1", "pull": "Always"}, {"name": "proxy", "image": "proxy:1"}],
        "rules": [1, 2],
    },
    "status": {"phase": "Fine"},
}
OWN = f"""
f:metadata: {{f:labels: {{f:team: {{}}}}}}
f:spec:
  f:grace: {{}}
  f:probe: {{f:path: {{}}}}
  f:rules: {{}}
  f:containers: {{{WEB}: {{.: {{}}, f:name: {{}}, f:image: {{}}}}, {PROXY}: {{.: {{}}, f:name: {{}}, f:image: {{}}}}}}
"""
ITEM = '{"name":"proxy","image":"proxy:1"}'
ALL = [
    ("/metadata/labels/team", "a"),
    ("/spec/grace", "5"),
    ("/spec/probe", '{"path":"/","every":10}'),
    ("/spec/containers/1", ITEM),
]


def update(
    *others: str,
    own: str | None = OWN,
    removes: str = "{}",
    live: dict[str, Any] = LIVE,
    to: dict[str, Any] | None = None,
) -> Update:
    """To a manifest, or one that has little left, over an object with what gitfleet and others own, as YAML."""
    entries = [{"manager": "gitfleet", "operation": "Apply"} | ({"fieldsV1": yaml.safe_load(own)} if own else {})]
    entries += [{"manager": "other", "operation": "Update", "fieldsV1": yaml.safe_load(one)} for one in others]
    there = {**live, "metadata": {**live["metadata"], "uid": "u1", "managedFields": entries}}
    wanted = to or {
        "apiVersion": live["apiVersion"],
        "kind": live["kind"],
        "metadata": {"name": "x", "namespace": "ns"},
        **({"spec": {"containers": [{"name": "web", "image": "web:2"}], "rules": [1]}} if "spec" in live else {}),
    }
    return Update(
        cluster="c1", placement=PlacementKey("", "web"), manifest=manifest(wanted), wave=1, reason="",
        live=LiveObject(key_of(live), there), removes=yaml.safe_load(removes),
    )  # fmt: skip


def shown(operation: Update) -> list[tuple[str, str]]:
    return [(field["path"], field["value"]) for field in removed_fields(operation)["removedFields"]]


@pytest.mark.parametrize(
    ("others", "removes", "gone"),
    [
        ((), "{}", [("/metadata/labels", '{"team":"a","theirs":"b"}'), *ALL[1:]]),
        (("f:metadata: {f:labels: {f:theirs: {}}}",), "{}", ALL),
        (
            ("f:metadata: {f:labels: {f:theirs: {}}}", "f:spec: {f:grace: {}, f:probe: {f:path: {}}}"),
            "{}",
            [ALL[0], ALL[3]],
        ),
        (("f:metadata: {f:labels: {f:theirs: {}}}", "f:spec: {f:grace: {}}"), "f:spec: {f:grace: {}}", ALL),
    ],
    ids=["nobody else", "a label of somebody else", "co-owned fields stay", "unless they are taken over"],
)
def test_what_goes_is_what_nobody_else_keeps(
    others: tuple[str, ...], removes: str, gone: list[tuple[str, str]]
) -> None:
    assert shown(update(*others, removes=removes)) == gone


def test_where_no_cluster_was_asked_all_that_was_applied_goes() -> None:
    found = shown(update(own=None))
    assert found == [
        ("/metadata/labels", '{"team":"a","theirs":"b"}'),
        ALL[1],
        ALL[2],
        ("/spec/containers/0/pull", "Always"),
        ALL[3],
    ]


def test_of_a_secret_only_the_name_of_the_field_is_shown() -> None:
    metadata = {"name": "x", "namespace": "ns"}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": {"a": "aHVudGVyMg=="}}
    ((path, value),) = shown(update(own="f:data: {f:a: {}}", live=secret))
    assert path.startswith("/data") and "aHVudGVyMg" not in value


@pytest.mark.parametrize("own", ["f:data: {f:a: {}, f:b: {}}", None], ids=["asked", "as recorded"])
@pytest.mark.parametrize(("left", "gone"), [({"a": "2", "b": "2"}, []), ({"a": "2"}, ["/data/b"])])
def test_a_secret_is_compared_as_it_is_stored(own: str | None, left: dict[str, str], gone: list[str]) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x", "namespace": "ns"}}
    data = {"a": "MQ==", "b": "MQ=="}
    there = {**secret, "data": data} if own else {**secret, "stringData": {"a": "1", "b": "1"}}
    change = update(own=own, live=there, to={**secret, "stringData": left})
    assert [path for path, _ in shown(change)] == gone
    lines = diff_of(change).splitlines()
    assert "+stringData:" not in lines and "-data:" not in lines and "-stringData:" not in lines


UDP, TCP = {"port": 53, "protocol": "UDP"}, {"port": 53, "protocol": "TCP", "targetPort": 53}
ONE = [{"port": 80, "protocol": "TCP", "targetPort": 80}]


@pytest.mark.parametrize(
    ("there", "wanted", "gone"),
    [
        (ONE, [{"port": 80}], []),
        (ONE, [{"port": 80, "protocol": "TCP"}], []),
        ([{"port": 80}], [{"port": 80, "protocol": "TCP"}], []),
        (ONE, [{"port": 81}], ["/spec/ports/0"]),
        ([UDP, TCP], [{"port": 53}, UDP], []),
        ([UDP, TCP], [{"port": 53}], ["/spec/ports/0"]),
        ([TCP, UDP], [UDP], ["/spec/ports/0"]),
        ([UDP], [{"port": 53}], ["/spec/ports/0"]),
    ],
    ids=[
        "left to its default", "spelt out", "recorded without", "another port", "two of a number",
        "the other one goes", "the default goes", "another protocol",
    ],
)  # fmt: skip
@pytest.mark.parametrize("is_asked", [True, False], ids=["asked", "as recorded"])
def test_a_manifest_may_leave_a_key_of_an_item_to_its_default(
    there: list[dict[str, Any]], wanted: list[dict[str, Any]], gone: list[str], *, is_asked: bool
) -> None:
    items: dict[str, Any] = {
        f'k:{{"port":{item["port"]},"protocol":"{item.get("protocol", "TCP")}"}}': {
            ".": {}, "f:port": {}, "f:protocol": {},
        }
        for item in there
    }  # fmt: skip
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x", "namespace": "ns"}}
    change = update(
        own=yaml.safe_dump({"f:spec": {"f:ports": items}}) if is_asked else None,
        live={**service, "spec": {"ports": there}}, to={**service, "spec": {"ports": wanted}},
    )  # fmt: skip
    paths = [path for path, _ in shown(change) if not path.endswith("/targetPort")]
    assert paths == gone


def test_a_key_that_only_a_server_knows_the_default_of_matches_any_value() -> None:
    thing = {"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "x", "namespace": "ns"}}
    there = [{"name": "a", "scope": "Wide"}, {"name": "b", "scope": "Wide"}, "odd"]
    node: dict[str, Any] = {".": {}, "f:name": {}}
    items = {f'k:{{"name":"{name}","scope":"Wide"}}': node for name in "ab"}
    change = update(
        own=yaml.safe_dump({"f:spec": {"f:rows": items}}),
        live={**thing, "spec": {"rows": there}}, to={**thing, "spec": {"rows": [{"name": "b"}]}},
    )  # fmt: skip
    assert shown(change) == [("/spec/rows/0", '{"name":"a","scope":"Wide"}')]
    lines = diff_of(change).splitlines()[3:]
    assert [line for line in lines if line[0] in "+-"] == ["-  - name: a", "-    scope: Wide"]


@pytest.mark.parametrize("number", [100, 499])
def test_no_more_than_a_hundred_are_named_and_all_are_counted(number: int) -> None:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": "ns"}}
    live = {**body, "data": {f"k{at}": "1" for at in range(number + 1)}}
    own = yaml.safe_dump({"f:data": {f"f:k{at}": {} for at in range(number + 1)}})
    found = removed_fields(update(own=own, live=live, to={**body, "data": {"k0": "1"}}))
    assert (len(found["removedFields"]), found["removedFieldCount"]) == (100, number)


def test_nothing_goes_with_what_is_no_update() -> None:
    there = update()
    operation = Create(cluster="c1", placement=there.placement, manifest=there.manifest, wave=1, reason="")
    assert removed_fields(operation) == {"removedFields": [], "removedFieldCount": 0}
