"""`ignoreDifferences` as a table: what is compared, and what is applied, beside what is left alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.fleet import IgnoreDifferences
from gitfleet.apply import Ignored
from tests import builders as make

Tree = Mapping[str, Any]
LEAF: Tree = {}
OWN, OTHER = "gitfleet", "other"


def ignored(*pointers: str, managers: tuple[str, ...] = (), **about: str) -> Ignored:
    return Ignored((IgnoreDifferences(json_pointers=pointers, managers=managers, **about),))


def body(spec: Any, owners: Mapping[str, Tree] = LEAF) -> dict[str, Any]:
    managed = [
        {"manager": name, "operation": "Apply", "apiVersion": "apps/v1", "fieldsV1": {"f:spec": fields}}
        for name, fields in owners.items()
    ]
    made = make.an_object("apps/v1", "Deployment", "web", namespace="shop", spec=spec)
    return {**made, "metadata": {**made["metadata"], "managedFields": managed}}


KEY_A = 'k:{"name":"a"}'
ITEM: Tree = {".": LEAF, "f:name": LEAF, "f:image": LEAF}
REPLICAS = "/spec/replicas"

CASES: dict[str, tuple[Ignored, Any, dict[str, Any], Any, Any]] = {
    "another manager's field is left out": (
        ignored(REPLICAS), {"replicas": 2, "x": 1},
        body({"replicas": 5, "x": 1}, {OTHER: {"f:replicas": LEAF}, OWN: {"f:x": LEAF}}), {"x": 1}, {"x": 1},
    ),
    "gitfleet's own keeps the live value": (
        ignored(REPLICAS), {"replicas": 2, "x": 1},
        body({"replicas": 2, "x": 1}, {OWN: {"f:replicas": LEAF}}), {"x": 1}, {"replicas": 2, "x": 1},
    ),
    "and does so when it leaves the manifest": (
        ignored(REPLICAS), {"x": 1},
        body({"replicas": 2, "x": 1}, {OWN: {"f:replicas": LEAF}}), {"x": 1}, {"replicas": 2, "x": 1},
    ),
    "a part of a value that is written as a whole": (
        ignored("/spec/selector/a"), {"selector": {"a": "1", "b": "1"}},
        body({"selector": {"a": "2", "b": "2"}}, {OTHER: {"f:selector": LEAF}}),
        {"selector": {"b": "1"}}, {"selector": {"a": "2", "b": "1"}},
    ),
    "what nobody is known to own": (
        ignored(REPLICAS), {"replicas": 2}, body({"replicas": 5}), {}, {"replicas": 5},
    ),
    "what is not there is made as the manifest says": (
        ignored(REPLICAS), {"replicas": 2}, body({}), {}, {"replicas": 2},
    ),
    "what neither manifest nor gitfleet has": (
        ignored(REPLICAS), {"x": 1}, body({"replicas": 5, "x": 1}), {"x": 1}, {"x": 1},
    ),
    "what is gitfleet's of a map stays its own, with the live value": (
        ignored("/spec/m"), {"m": {"a": 1, "new": 1}, "x": 1},
        body({"m": {"a": 2, "theirs": 1, "both": 1, "set": 1, "in": {"o": 1, "t": 1}}, "x": 1}, {
            OWN: {"f:m": {".": LEAF, "f:a": LEAF, "f:both": LEAF, "f:in": {"f:o": LEAF}}, "f:x": LEAF},
            OTHER: {"f:m": {"f:theirs": LEAF, "f:both": LEAF, "f:in": {"f:t": LEAF}}},
        }),
        {"x": 1}, {"m": {"a": 2, "in": {"o": 1}}, "x": 1},
    ),
    "a map that another manager applied empty": (
        ignored("/spec/m"), {"m": {"a": 1}}, body({"m": {"a": 1}}, {OWN: {"f:m": {"f:a": LEAF}}, OTHER: {"f:m": LEAF}}),
        {}, {"m": {"a": 1}},
    ),
    "a manager that applied a map empty": (
        ignored(managers=(OTHER,)), {"m": {"a": 1}},
        body({"m": {"a": 2}}, {OWN: {"f:m": {"f:a": LEAF}}, OTHER: {"f:m": LEAF}}), {"m": {"a": 1}}, {"m": {"a": 1}},
    ),
    "what is gitfleet's of lists": (
        ignored("/spec/m"), {"m": {"containers": [], "set": [], "all": []}},
        body(
            {"m": {"containers": [{"name": "b"}, {"name": "a", "image": "1", "tty": True}], "set": [1, 2], "all": [3]}},
            {
                OWN: {"f:m": {
                    "f:containers": {KEY_A: {".": LEAF, "f:name": LEAF, "f:tty": LEAF, "f:image": LEAF}},
                    "f:set": {"v:1": LEAF}, "f:all": LEAF,
                }},
                OTHER: {"f:m": {
                    "f:containers": {'k:{"name":"b"}': ITEM, KEY_A: ITEM}, "f:set": {"v:2": LEAF},
                }},
            },
        ),
        {}, {"m": {"containers": [{"name": "a", "tty": True}], "set": [1], "all": [3]}},
    ),
    "an item of a list, by its keys": (
        ignored("/spec/containers/0/image"), {"containers": [{"name": "b", "image": "1"}, {"name": "a", "image": "1"}]},
        body({"containers": [{"name": "s", "image": "9"}, {"name": "a", "image": "2"}, {"name": "b", "image": "3"}]}),
        {"containers": [{"name": "b"}, {"name": "a", "image": "1"}]},
        {"containers": [{"name": "b", "image": "3"}, {"name": "a", "image": "1"}]},
    ),
    "by the keys that the server names": (
        ignored("/spec/list/0/image"), {"list": [{"name": "b", "image": "1"}]},
        body({"list": [{"name": "a", "image": "2"}, {"name": "b", "image": "3"}]}, {
            OWN: {"f:list": {KEY_A: ITEM, 'k:{"name":"b"}': ITEM}},
        }),
        {"list": [{"name": "b"}]}, {"list": [{"name": "b", "image": "3"}]},
    ),
    "an item that is not there": (
        ignored("/spec/containers/0/image"), {"containers": [{"name": "b", "image": "1"}]},
        body({"containers": [{"name": "a", "image": "2"}]}),
        {"containers": [{"name": "b", "image": "1"}]}, {"containers": [{"name": "b", "image": "1"}]},
    ),
    "an item that several may be": (
        ignored("/spec/ports/0/name"), {"ports": [{"port": 53, "name": "a"}]},
        body({"ports": [{"port": 53, "protocol": "UDP", "name": "u"}, {"port": 53, "protocol": "TCP", "name": "t"}]}),
        {"ports": [{"port": 53, "name": "a"}]}, {"ports": [{"port": 53, "name": "a"}]},
    ),
    "an item of a list of maps without keys, and of a set": (
        ignored("/spec/list/0/image", "/spec/set/0"), {"list": [{"image": "1"}], "set": ["a"]},
        body({"list": [{"image": "2"}], "set": ["b", "a"]}, {OWN: {"f:list": LEAF, "f:set": {'v:"a"': LEAF}}}),
        {"list": [{"image": "1"}], "set": ["a"]}, {"list": [{"image": "1"}], "set": ["a"]},
    ),
    "items of a list of texts, by their positions": (
        ignored("/spec/args/0", "/spec/args/1"), {"args": ["a", "b", "c"]},
        body({"args": ["1", "2", "3"]}, {OWN: {"f:args": LEAF}}), {"args": ["c"]}, {"args": ["1", "2", "c"]},
    ),
    "a list that left the manifest": (
        ignored("/spec/containers/0/image"), {"x": 1},
        body({"containers": [{"name": "a", "image": "2"}], "x": 1}, {OWN: {"f:containers": {KEY_A: ITEM}}}),
        {"x": 1}, {"x": 1},
    ),
    "an item that two of the manifest may be": (
        ignored("/spec/ports/0/name"), {"ports": [{"port": 53, "name": "a"}, {"port": 53, "protocol": "UDP"}]},
        body({"ports": [{"port": 53, "protocol": "UDP", "name": "u"}]}),
        {"ports": [{"port": 53, "name": "a"}, {"port": 53, "protocol": "UDP"}]},
        {"ports": [{"port": 53, "name": "a"}, {"port": 53, "protocol": "UDP"}]},
    ),
    "a position that the live list has not": (
        ignored("/spec/args/1"), {"args": ["a", "b"]}, body({"args": ["1"]}),
        {"args": ["a", "b"]}, {"args": ["a", "b"]},
    ),
    "another manager's part of an item, in a list in a list": (
        ignored("/spec/l/0/in/0/x"), {"l": [{"id": 1, "in": [{"id": 2, "x": 1, "y": 1}]}]},
        body({"l": [{"id": 7, "in": []}, {"id": 1, "in": [{"id": 7}, {"id": 2, "x": 5, "y": 1}]}]}, {
            OTHER: {"f:l": {'k:{"id":1}': {"f:in": {'k:{"id":2}': {"f:x": LEAF}}}}},
        }),
        {"l": [{"id": 1, "in": [{"id": 2, "y": 1}]}]}, {"l": [{"id": 1, "in": [{"id": 2, "y": 1}]}]},
    ),
    "below a text, and in a list of texts and items": (
        ignored("/spec/text/x", "/spec/list/0/image"), {"text": "a", "list": ["x"]},
        body({"text": "b", "list": ["x"]}, {OTHER: {"f:list": {KEY_A: LEAF}}}),
        {"text": "a", "list": ["x"]}, {"text": "a", "list": ["x"]},
    ),
    "one that the live object has not, before another one": (
        ignored("/spec/a", "/spec/zz"), {"a": 1, "zz": 1}, body({"a": 5}, {OWN: {"f:a": LEAF}}), {}, {"a": 5, "zz": 1},
    ),
    "one that is nobody's, before another one": (
        ignored("/spec/a", "/spec/zz"), {"a": 1}, body({"a": 5, "zz": 1}, {OWN: {"f:a": LEAF}}), {}, {"a": 5},
    ),
    "what left a map that gitfleet applied as one value": (
        ignored("/spec/selector/a"), {"selector": {"b": 1}},
        body({"selector": {"a": 2, "b": 2}}, {OWN: {"f:selector": LEAF}}),
        {"selector": {"b": 1}}, {"selector": {"a": 2, "b": 1}},
    ),
    "a list that is a map by now": (
        ignored("/spec/l/0"), {"l": ["a"]}, body({"l": {"0": "b"}}), {"l": ["a"]}, {"l": ["a"]},
    ),
    "what is gitfleet's of a map that left the manifest": (
        ignored("/spec/m/a"), {"x": 1}, body({"m": {"a": 2}, "x": 1}, {OWN: {"f:m": {"f:a": LEAF}}}),
        {"x": 1}, {"x": 1, "m": {"a": 2}},
    ),
    "what is gitfleet's alone of a map": (
        ignored("/spec/m"), {"m": {"a": 1}}, body({"m": {"a": 2, "z": 1}}, {OWN: {"f:m": {"f:a": LEAF}}}),
        {}, {"m": {"a": 2}},
    ),
    "what others own of a map that gitfleet applied as one value": (
        ignored("/spec/m"), {"m": {"a": 1, "b": 1}},
        body({"m": {"a": 2, "b": 2}}, {OWN: {"f:m": LEAF}, OTHER: {"f:m": {"f:a": LEAF}}}), {}, {"m": {"b": 2}},
    ),
    "some values of a manager's set": (
        ignored(managers=(OTHER,)), {"set": ["x", "y"]}, body({"set": ["x", "y"]}, {OTHER: {"f:set": {'v:"x"': LEAF}}}),
        {"set": ["x", "y"]}, {"set": ["x", "y"]},
    ),
    "a text in a list of which a manager has items": (
        ignored(managers=(OTHER,)), {"list": ["name"]}, body({}, {OTHER: {"f:list": {KEY_A: {"f:image": LEAF}}}}),
        {"list": ["name"]}, {"list": ["name"]},
    ),
    "a position that the list has not": (
        ignored("/spec/list/1/image", "/spec/list/x"), {"list": [{"name": "a"}]}, body({"list": []}),
        {"list": [{"name": "a"}]}, {"list": [{"name": "a"}]},
    ),
    "a name with a slash and a tilde": (
        ignored("/spec/a~1b~0c"), {"a/b~c": 1}, body({"a/b~c": 2}), {}, {"a/b~c": 2},
    ),
    "all fields of a manager, items keep their names": (
        ignored(managers=(OTHER,)),
        {"list": [{"name": "a", "image": "1", "tty": True}, {"name": "b"}], "set": ["x"], "m": {"p": 1, "q": 1}},
        body({}, {OTHER: {
            "f:list": {KEY_A: {".": LEAF, "f:name": LEAF, "f:image": LEAF}}, "f:set": LEAF, "f:m": {"f:p": LEAF},
        }}),
        {"list": [{"name": "a", "tty": True}, {"name": "b"}], "m": {"q": 1}},
        {"list": [{"name": "a", "tty": True}, {"name": "b"}], "m": {"q": 1}},
    ),
    "another object's rule": (
        ignored(REPLICAS, name="api"), {"replicas": 2}, body({"replicas": 5}), {"replicas": 2}, {"replicas": 2},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("rules", "spec", "live", "compared", "written"), CASES.values(), ids=CASES)
def test_what_is_compared_and_what_is_applied(
    rules: Ignored, spec: Any, live: dict[str, Any], compared: Any, written: Any
) -> None:
    manifest = make.manifest_of(body(spec))
    assert rules.compared(manifest.key, manifest.body, live)[0]["spec"] == compared
    applied = rules.written(manifest, live)
    assert (applied.body["spec"], applied.digest) == (written, manifest.digest)


def test_a_map_where_the_manifest_has_a_list_is_compared_whole() -> None:
    manifest = make.manifest_of(body({"l": ["a"]}))
    found = ignored("/spec/l/0").compared(manifest.key, manifest.body, body({"l": {"0": "b"}}))
    assert [one["spec"] for one in found] == [{"l": ["a"]}, {"l": {"0": "b"}}]


@pytest.mark.parametrize("about", [
    {}, {"group": "apps"}, {"kind": "Deployment"}, {"name": "web"}, {"namespace": "shop"},
    {"group": "apps", "kind": "Deployment", "name": "web", "namespace": "shop"},
])  # fmt: skip
def test_a_rule_is_about_what_it_names_and_what_it_leaves_out_matches_all(about: dict[str, str]) -> None:
    key = make.manifest_of(body({})).key
    rule: Any = IgnoreDifferences(json_pointers=(REPLICAS,))
    assert replace(rule, **about).matches(key)
    assert not any(replace(rule, **{**about, field: "other"}).matches(key) for field in about)


def test_a_secrets_texts_are_its_data() -> None:
    manifest = make.manifest_of(make.secret("shop", "login", {"password": "1", "user": "u"}))
    live = {**manifest.body, "data": {"password": "Mg==", "user": "dQ=="}}
    assert ignored("/data/password").written(manifest, live).body["data"] == live["data"]
    wanted, there = ignored("/data/password").compared(manifest.key, manifest.body, live)
    assert wanted["data"] == there["data"] == {"user": "dQ=="}
