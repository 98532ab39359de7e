"""The payload of a commit, indexed once; what references and keys are read from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.bindings import Binding, BindingState
from gitfleet.api.labels import LabelSelector
from gitfleet.api.objects import GroupKind, Manifest
from gitfleet.api.overrides import OverrideKey, override_type
from gitfleet.api.placements import Placement, PlacementKey, SelectionScope
from gitfleet.api.snapshots import OverrideSnapshot
from gitfleet.model.desired import Desired
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.snapshots import PayloadIndex, index_of, index_payload, references_of, selection_key, snapshot_order
from tests.snapshots.builders import (
    NAMESPACED,
    config,
    index,
    namespace,
    obj,
    pick,
    pick_namespace,
    placement,
    role,
)

WEB, SETTINGS, READER = namespace("web", team="a"), config("settings", "web"), role("reader", tier="x")
ODD: Any = object()


def desired(*payload: Manifest, **more: Any) -> Desired:
    """A commit with a payload."""
    return Desired(commit="c", payload=payload, namespaced=NAMESPACED, **more)


def test_the_index_of_a_commit_is_made_once() -> None:
    one, same = desired(WEB), desired(WEB)
    first, memo = index_of(one, None, Failures())
    assert first == index_payload([WEB], NAMESPACED)
    again, kept = index_of(one, memo, Failures())
    assert again is first and kept is memo
    other, memo = index_of(same, memo, Failures())
    assert other == first and other is not first, "another reading of the commit"
    assert index_of(same, memo, Failures())[0] is other


def test_an_index_knows_what_removals_are_held_for_and_what_cannot_be_read() -> None:
    held, _ = index_of(desired(WEB, holds_removals=True), None, Failures())
    assert held.holds_removals and held.holds(SETTINGS.key) and not held.holds(WEB.key)
    broken = replace(SETTINGS, body={**SETTINGS.body, "metadata": {"labels": ODD}})
    failures = Failures()
    found, memo = index_of(desired(WEB, broken), None, failures)
    assert memo is None, "what could not be read is tried again"
    assert [failure.subject for failure in failures.found] == [Subject.of_object(SETTINGS.key)]
    assert found.holds(SETTINGS.key) and not found.holds(READER.key)
    assert list(found.objects) == [WEB.key.identity]


def test_disabled_kinds_and_generated_objects_are_left_out() -> None:
    service, endpoints = (obj("v1", kind, "svc", "web") for kind in ("Service", "Endpoints"))
    other = obj("v1", "Endpoints", "other", "web")
    pod, custom_pod = obj("v1", "Pod", "p", "web"), obj("x.io/v1", "Pod", "p", "web")
    found = index(service, endpoints, other, pod, custom_pod)
    assert set(found.objects) == {m.key.identity for m in (service, other, custom_pod)}
    assert found.failed == frozenset()


@pytest.mark.parametrize(
    ("subject", "order"),
    [
        (config("s", "web"), ("v1", "web/s")),
        (namespace("web"), ("v1", "/web")),
        (obj("apps/v1", "Deployment", "d", "web"), ("apps/v1", "web/d")),
        (obj("x.io/v1", "Gadget", "g", "web"), ("x.io/v1, Kind=Gadget", "web/g")),
    ],
)
def test_what_objects_are_ordered_by(subject: Manifest, order: tuple[str, str]) -> None:
    assert snapshot_order(subject.key)[1:] == order


BASE = placement(pick("ClusterRole"), pick_namespace("web"))
PAYLOAD = index(WEB, SETTINGS, READER, namespace("other"), config("s", "other"))
BY_LABEL = placement(
    pick(
        "Namespace",
        label_selector=LabelSelector(match_labels={"team": "a"}),
        selection_scope=SelectionScope.NAMESPACE_WITH_RESOURCES,
    )
)


def changed(*payload: Manifest, holds_removals: bool = False) -> PayloadIndex:
    """The payload with other objects."""
    mine = {m.key: m for m in (WEB, SETTINGS, READER, namespace("other"), config("s", "other"), *payload)}
    return index(*mine.values(), holds_removals=holds_removals)


@pytest.mark.parametrize(
    ("subject", "payload", "same"),
    [
        (BASE, changed(), True),
        (BASE, changed(config("s", "other", "2")), True),
        (BASE, changed(obj("apps/v1", "Deployment", "d", "other")), True),
        (placement(*BASE.selectors, name="other"), changed(), False),
        (BASE, changed(holds_removals=True), False),
        (BASE, changed(role("writer")), False),
        (BASE, changed(role("reader", tier="y")), False),
        (BASE, changed(config("settings", "web", "2")), False),
        (BASE, changed(obj("apps/v1", "Deployment", "d", "web")), False),
        (BASE, changed(namespace("web", team="b")), False),
        (placement(pick("ClusterRole", "reader"), BASE.selectors[1]), changed(), False),
        (placement(BASE.selectors[0], pick_namespace("other")), changed(), False),
        (placement(BASE.selectors[0], pick_namespace("web", "NamespaceOnly")), changed(), False),
        (placement(*reversed(BASE.selectors)), changed(), False),
    ],
)
def test_what_a_selection_depends_on(subject: Placement, payload: PayloadIndex, same: bool) -> None:
    assert (selection_key(subject, payload) == selection_key(BASE, PAYLOAD)) is same


@pytest.mark.parametrize(
    ("subject", "payload", "same"),
    [
        (BY_LABEL, changed(config("s", "other", "2")), False),
        (BY_LABEL, changed(config("settings", "web", "2")), False),
        (BY_LABEL, changed(namespace("third")), False),
        (BY_LABEL, changed(role("writer")), True),
        (placement(pick_namespace("web", "NamespaceOnly")), changed(config("settings", "web", "2")), True),
        (
            placement(pick("ConfigMap", "x", selection_scope=SelectionScope.NAMESPACE_WITH_RESOURCES)),
            changed(role("writer")),
            True,
        ),
    ],
)
def test_what_picking_namespaces_depends_on(subject: Placement, payload: PayloadIndex, same: bool) -> None:
    """Those that are picked by labels, on the contents of each; one that is picked alone, on none."""
    assert (selection_key(subject, payload) == selection_key(subject, PAYLOAD)) is same


@pytest.mark.parametrize("kind", [GroupKind("", "Gadget"), GroupKind("x.io", "Gadget")])
def test_a_kind_that_becomes_known_may_be_selected_otherwise(kind: GroupKind) -> None:
    selector = replace(pick("Gadget"), group=kind.group)
    known = index_payload([WEB], {**NAMESPACED, kind: True})
    assert selection_key(placement(selector), known) != selection_key(placement(selector), index(WEB))


def bound(**names: Any) -> Binding:
    """A binding that names overrides."""
    return Binding(
        placement=PlacementKey("", "web"), cluster="a", state=BindingState.BOUND, policy_snapshot="web-0", **names
    )


def test_the_overrides_that_any_binding_names() -> None:
    """All that there are, where a placement cannot be read."""
    keys = {name: PlacementKey("", name) for name in ("web", "api", "odd")}
    records = {
        key: PlacementRecord(placement=placement(name=name), bindings=bindings)
        for (name, key), bindings in zip(
            keys.items(),
            [
                (bound(cluster_resource_overrides=("cro-1",)), bound(resource_overrides=("ns/ro-0", "ns/ro-1"))),
                (bound(cluster_resource_overrides=("cro-2", "cro-1")),),
                ODD,
            ],
            strict=True,
        )
    }
    key = OverrideKey("", "cro")
    override = override_type("")(key=key, resources=(), rules=())
    known = {key: tuple(OverrideSnapshot(override=override, index=index, hash="h") for index in (7, 8))}
    readable = {key: record for key, record in records.items() if key.name != "odd"}
    named = {"cro-1", "cro-2", "ns/ro-0", "ns/ro-1"}
    assert references_of(FleetState(placements=readable, overrides=known), Failures()) == named
    failures = Failures()
    assert references_of(FleetState(placements=records, overrides=known), failures) == named | {"cro-7", "cro-8"}
    assert [failure.subject for failure in failures.found] == [Subject.of_placement(keys["odd"])]
