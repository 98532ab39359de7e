"""`ignoreDifferences` as a table: what is compared, and what is applied, beside what is left alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.fleet import IgnoreDifferences
from gitfleet.apply import Ignored, find_differences
from gitfleet.apply.comparisons import Comparisons
from gitfleet.model.observations import LiveObject
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
    "an item of a list, by its position": (
        ignored("/spec/list/1/image"), {"list": [{"name": "a"}, {"name": "b", "image": "1"}]},
        body({"list": [{"name": "a"}, {"name": "b", "image": "2"}]}),
        {"list": [{"name": "a"}, {"name": "b"}]}, {"list": [{"name": "a"}, {"name": "b", "image": "2"}]},
    ),
    "a position that the list has not": (
        ignored("/spec/list/7/image", "/spec/list/x"), {"list": [{"name": "a"}]}, body({"list": []}),
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


@pytest.mark.parametrize("about", [
    {}, {"group": "apps"}, {"kind": "Deployment"}, {"name": "web"}, {"namespace": "shop"},
    {"group": "apps", "kind": "Deployment", "name": "web", "namespace": "shop"},
])  # fmt: skip
def test_a_rule_is_about_what_it_names_and_what_it_leaves_out_matches_all(about: dict[str, str]) -> None:
    key = make.manifest_of(body({})).key
    rule: Any = IgnoreDifferences(json_pointers=(REPLICAS,))
    assert replace(rule, **about).matches(key)
    assert not any(replace(rule, **{**about, field: "other"}).matches(key) for field in about)


@pytest.mark.parametrize("full", [False, True])
def test_it_is_no_difference_and_does_not_change_the_shape(full: bool) -> None:
    manifest, rules = make.manifest_of(body({"replicas": 2, "x": 1})), ignored(REPLICAS, "/spec/extra")
    one, other = (LiveObject(manifest.key, body({"replicas": n, "x": 1, "extra": n})) for n in (2, 5))
    assert Comparisons(rules).differences(manifest, other, full=full) == ()
    assert Comparisons(rules).shape(manifest, one) == Comparisons(rules).shape(manifest, other)
    assert Comparisons().shape(manifest, one) != Comparisons().shape(manifest, other)
    assert find_differences(manifest.body, other.body, full=full) != ()


def test_a_secrets_texts_are_its_data() -> None:
    manifest = make.manifest_of(make.secret("shop", "login", {"password": "1", "user": "u"}))
    live = {**manifest.body, "data": {"password": "Mg==", "user": "dQ=="}}
    assert ignored("/data/password").written(manifest, live).body["data"] == live["data"]
    wanted, there = ignored("/data/password").compared(manifest.key, manifest.body, live)
    assert wanted["data"] == there["data"] == {"user": "dQ=="}
