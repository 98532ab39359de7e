"""What goes with an update: by the field's owners, with the value it has; nothing of a Secret is shown."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from gitfleet.api.objects import key_of
from gitfleet.api.placements import PlacementKey
from gitfleet.model.observations import LiveObject
from gitfleet.model.operations import Update
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


def update(*others: str, own: str | None = OWN, removes: str = "{}", live: dict[str, Any] = LIVE) -> Update:
    """To a manifest that has little left, over an object with what gitfleet and others own, as YAML."""
    entries = [{"manager": "gitfleet", "operation": "Apply"} | ({"fieldsV1": yaml.safe_load(own)} if own else {})]
    entries += [{"manager": "other", "operation": "Update", "fieldsV1": yaml.safe_load(one)} for one in others]
    there = {**live, "metadata": {**live["metadata"], "uid": "u1", "managedFields": entries}}
    wanted = {
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
    return [(field["path"], field["value"]) for field in removed_fields(operation)]


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
        (
            ("f:metadata: {f:labels: {f:theirs: {}}}", "f:spec: {f:grace: {}}"),
            "f:spec: {f:grace: {}}",
            ALL,
        ),
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
