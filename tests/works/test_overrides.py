"""Overrides on one object: order, rules, variables, deletion, and errors that say where but never what."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitfleet.api.cluster_selectors import ClusterSelectorTerm
from gitfleet.api.clusters import ClusterStatus, PropertyValue
from gitfleet.api.overrides import JsonPatch, OverrideRule
from gitfleet.formats.canonical_json import digest_of
from gitfleet.works import CompiledOverrides
from gitfleet.works.render import render_work
from gitfleet.works.texts import WorksText
from tests.works.builders import (
    EAST,
    NAMESPACE,
    ROLE,
    SECRET,
    SETTINGS,
    WEST,
    binding_of,
    bodies,
    obj,
    override,
    render,
    rule,
    snapshot,
)


def add(path: str, value: Any) -> JsonPatch:
    return JsonPatch("add", path, value)


def replace_(path: str, value: Any) -> JsonPatch:
    return JsonPatch("replace", path, value)


def data(work_bodies: list[Any]) -> list[Any]:
    return [body.get("data") for body in work_bodies]


def test_only_what_is_patched_is_copied_and_gets_a_new_digest() -> None:
    deep = obj("v1", "ConfigMap", "deep", "web", data={"a": "1"}, other={"b": [1, 2]})
    before = deepcopy(deep.body)
    work = render((NAMESPACE, deep), [override("ro", deep, rule(add("/data/x", "y")), ns="web")])
    assert work.overridden
    assert work.manifests[0] is NAMESPACE
    patched = work.manifests[1]
    assert patched.body == {**before, "data": {"a": "1", "x": "y"}}
    assert patched.digest == digest_of(patched.body)
    assert patched.body["other"] is deep.body["other"]
    assert deep.body == before


def test_a_namespace_override_reaches_everything_in_it_and_the_namespaced_one_wins() -> None:
    """All cluster-wide overrides by name, then the namespaced ones: the last writer wins."""
    overrides = [
        override("z-ro", SETTINGS, rule(add("/metadata/labels/who", "ro")), ns="web"),
        override("b-cro", NAMESPACE, rule(add("/metadata/labels/who", "b"))),
        override("a-cro", NAMESPACE, rule(add("/metadata/labels", {"who": "a"}))),
    ]
    labels = [b["metadata"].get("labels") for b in bodies(render((NAMESPACE, SETTINGS, ROLE), overrides))]
    assert labels == [{"who": "b"}, {"who": "ro"}, None]


def test_rules_go_in_order_to_the_clusters_they_select() -> None:
    rules = (rule(replace_("/data/a", "2")), rule(replace_("/data/a", "eu"), region="eu"))
    overrides = [override("ro", SETTINGS, *rules, ns="web")]
    assert data(bodies(render((SETTINGS,), overrides, EAST))) == [{"a": "eu"}]
    assert data(bodies(render((SETTINGS,), overrides, WEST))) == [{"a": "2"}]


def test_no_selector_selects_no_cluster_and_a_term_without_labels_neither() -> None:
    nobody = OverrideRule(cluster_terms=None, patches=(replace_("/data/a", "2"),))
    empty_term = OverrideRule(cluster_terms=(ClusterSelectorTerm(),), patches=(replace_("/data/a", "3"),))
    work = render((SETTINGS,), [override("ro", SETTINGS, nobody, empty_term, ns="web")])
    assert work.manifests == (SETTINGS,)


NOTED = replace(
    EAST,
    annotations={
        "team": 'web "one"\\n',
        "loop": "${MEMBER-CLUSTER-ANNOTATION-KEY-loop} ${MEMBER-CLUSTER-NAME}",
        "none": "",
    },
    status=ClusterStatus(
        properties={"example.com/sku/a100": PropertyValue("8"), "k8s.io/k8s-version": PropertyValue("v1.36")}
    ),
)
"""A cluster with annotations and properties."""


@pytest.mark.parametrize(
    ("value", "placed"),
    [
        ("${MEMBER-CLUSTER-ANNOTATION-KEY-team}", 'web "one"\\n'),
        ("${MEMBER-CLUSTER-ANNOTATION-KEY-none}", ""),
        ("${MEMBER-CLUSTER-PROPERTY-example.com/sku/a100} of ${MEMBER-CLUSTER-LABEL-KEY-region}", "8 of eu"),
        ({"${MEMBER-CLUSTER-PROPERTY-k8s.io/k8s-version}": ["${MEMBER-CLUSTER-NAME}"]}, {"v1.36": ["east"]}),
        ("${MEMBER-CLUSTER-ANNOTATION-KEY-loop}", "${MEMBER-CLUSTER-ANNOTATION-KEY-loop} ${MEMBER-CLUSTER-NAME}"),
    ],
)
def test_annotations_and_properties_are_replaced_by_their_text_as_it_is(value: Any, placed: Any) -> None:
    work = render((SETTINGS,), [override("ro", SETTINGS, rule(add("/data/x", value)), ns="web")], NOTED)
    assert (work.error, data(bodies(work))[0]["x"]) == (None, placed)


RESTLESS = "resources.kubernetes-fleet.io/available-cpu"
FAILED_ON_SETTINGS = WorksText.SNAPSHOT_FAILED_APPLY(
    override="ResourceOverride", snapshot="ro-0", key="ConfigMap", key_2="settings", place=' in namespace "web"'
)
ON_SETTINGS = f"{FAILED_ON_SETTINGS}: rule 1: "


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        (replace_("/data/zzz", "2"), WorksText.NOTHING_IS_THERE(operation="replace", name="/data/zzz")),
        (JsonPatch("remove", "/data/zzz"), WorksText.NOTHING_IS_THERE(operation="remove", name="/data/zzz")),
        (
            add("/metadata/labels/x", "2"),
            WorksText.NOT_CANNOT_HOLD(operation="add", name="/metadata/labels/x", place="/metadata/labels"),
        ),
        (add("/data/a/b/c", "2"), WorksText.NOT_CANNOT_HOLD(operation="add", name="/data/a/b/c", place="/data/a")),
        (
            add("/data/x", "${MEMBER-CLUSTER-LABEL-KEY-no"),
            WorksText.VARIABLE_VALUE_MISSING_CLOSING_BRACKET(path="/data/x"),
        ),
        (
            add("/data/x", "${MEMBER-CLUSTER-ANNOTATION-KEY-no}"),
            WorksText.NOT_FOUND_CLUSTER(what="annotation", plain="no", cluster="east"),
        ),
        (
            add("/data/x", "${MEMBER-CLUSTER-PROPERTY-a.b/no}"),
            WorksText.NOT_FOUND_CLUSTER(what="property", plain="a.b/no", cluster="east"),
        ),
        (
            add("/data/x", f"${{MEMBER-CLUSTER-PROPERTY-{RESTLESS}}}"),
            WorksText.PROPERTY_CHANGES_ALL_TIME(plain=RESTLESS),
        ),
        (
            add("/data/x", "${MEMBER-CLUSTER-PROPERTY-pass word}"),
            WorksText.NOT_FOUND_CLUSTER(what="property", plain="(not a name)", cluster="east"),
        ),
        *[
            (
                add("/data/x", f"${{MEMBER-CLUSTER-LABEL-KEY-{key}}}"),
                WorksText.LABEL_KEY_NOT_FOUND_CLUSTER(plain=said, cluster="east"),
            )
            for key, said in (
                ("a.b/c_d-e", "a.b/c_d-e"),
                ("k" * 318, "(not a label key)"),
                ("pass word", "(not a label key)"),
                ("", ""),
            )
        ],
    ],
)
def test_an_override_that_cannot_be_applied_says_where(patch: JsonPatch, message: str) -> None:
    work = render((NAMESPACE, SETTINGS), [override("ro", SETTINGS, rule(patch), ns="web")])
    assert (work.error, work.manifests) == (f"{ON_SETTINGS}{message}", ())


def test_a_label_that_makes_the_value_unreadable_is_said_without_it() -> None:
    patch = add("/data/x", "${MEMBER-CLUSTER-LABEL-KEY-region}")
    odd = replace(EAST, labels={"region": 'hunter2"'})
    work = render((SETTINGS,), [override("ro", SETTINGS, rule(patch), ns="web")], odd)
    said = WorksText.VALUE_NO_JSON_ONCE_VARIABLES(name="/data/x")
    assert work.error == f"{ON_SETTINGS}{said}"


def test_an_object_without_a_namespace_is_named_without_one() -> None:
    work = render((NAMESPACE,), [override("cro", NAMESPACE, rule(), rule(JsonPatch("remove", "/spec")))])
    assert work.error == (
        WorksText.SNAPSHOT_FAILED_APPLY(
            override="ClusterResourceOverride",
            snapshot="cro-0",
            key="Namespace",
            key_2="web",
            place=(":" + WorksText.NOTHING_IS_THERE(operation="", name="rule 2: remove /spec")),
        )
    )


@pytest.mark.parametrize("patch", [JsonPatch("add", "data/x", "1"), JsonPatch("add", "/data/~2", "1")])
def test_a_patch_that_cannot_be_read_is_an_error(patch: JsonPatch) -> None:
    work = render((SETTINGS,), [override("ro", SETTINGS, rule(), rule(patch), ns="web")])
    assert work.error == (WorksText.SNAPSHOT_RULE_NO_RFC_PATCH(kind="ResourceOverride", snapshot="ro-0", number="2"))


def test_identity_cannot_be_patched() -> None:
    changes = [("/metadata/name", "x"), ("/kind", "Y"), ("/metadata", {}), ("/metadata", "x"), ("/apiVersion", "v2")]
    for patch in (add(path, value) for path, value in changes):
        work = render((SETTINGS,), [override("ro", SETTINGS, rule(patch), ns="web")])
        assert work.error == f"{WorksText.RULE_WOULD_CHANGE_APIVERSION(on=FAILED_ON_SETTINGS, number=1)}"


def test_an_override_snapshot_that_is_gone_is_an_error() -> None:
    binding = replace(binding_of(EAST), cluster_resource_overrides=("cro-0",))
    work = render_work(binding, snapshot(ROLE), CompiledOverrides(), EAST)
    assert work.error == (WorksText.OVERRIDE_SNAPSHOT_NOT(reference="cro-0"))


def test_a_snapshot_that_was_not_loaded_is_an_error() -> None:
    work = render_work(binding_of(EAST), replace(snapshot(ROLE), manifests=None), CompiledOverrides(), EAST)
    assert work.error == "resource snapshot web-0-snapshot was not loaded"


TOKENS = st.sampled_from(["data", "password", "x", "0", "-", "metadata", "labels", "a~1b", "~0"])
PATHS = st.lists(TOKENS, min_size=1, max_size=4).map(lambda tokens: "/" + "/".join(tokens))
VALUES = st.sampled_from(["hunter2", {"p": "hunter2"}, ["hunter2"], "${MEMBER-CLUSTER-LABEL-KEY-hunter2", 7])


@given(st.lists(st.builds(JsonPatch, st.sampled_from(["add", "remove", "replace"]), PATHS, VALUES), min_size=1))
def test_no_patch_raises_changes_the_original_or_tells_a_secret(patches: list[JsonPatch]) -> None:
    before = deepcopy(SECRET.body)
    work = render((SECRET,), [override("ro", SECRET, rule(*patches), ns="web")])
    assert SECRET.body == before
    assert (work.error is None) or (work.manifests == () and "hunter2" not in work.error)
    assert work.error is None or "aHVudGVyMg" not in work.error
