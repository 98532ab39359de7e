"""Which objects a placement selects, in which order, and what it must not select."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitfleet.api.labels import LabelSelector
from gitfleet.api.objects import NAME_LABEL, GroupKind, Manifest
from gitfleet.api.placements import ResourceSelector
from gitfleet.snapshots import select
from gitfleet.snapshots.index import index_payload, is_propagated, snapshot_order
from gitfleet.snapshots.texts import SnapshotsText
from tests.snapshots.builders import NAMESPACED, config, index, namespace, obj, pick, pick_namespace, placement, role

WEB = (namespace("web", team="a"), config("settings", "web"), obj("apps/v1", "Deployment", "app", "web"))
PAYLOAD = index(
    *WEB, namespace("other"), config("settings", "other", tier="x"), role("reader", tier="x"), role("writer")
)


def names(*selectors: ResourceSelector, ns: str = "") -> list[str]:
    found = select(placement(*selectors, ns=ns), PAYLOAD)
    assert found.error is None
    return [str(m.key) for m in found.manifests]


def complaint(*selectors: ResourceSelector, ns: str = "", payload: tuple[Manifest, ...] = ()) -> str:
    found = select(placement(*selectors, ns=ns), index(*payload) if payload else PAYLOAD)
    assert found.error is not None
    assert (found.error.reason, found.manifests) == ("InvalidResourceSelectors", ())
    return found.error.message


TIER_X = LabelSelector(match_labels={"tier": "x"})


@pytest.mark.parametrize(
    ("selectors", "expected"),
    [
        ([pick_namespace("web")], ["Namespace/web", "ConfigMap/web/settings", "Deployment/web/app"]),
        ([pick_namespace("web", "NamespaceOnly")], ["Namespace/web"]),
        (
            [pick_namespace("web", "NamespaceWithResourceSelectors"), pick("ConfigMap"), pick("ClusterRole", "writer")],
            ["Namespace/web", "ConfigMap/web/settings", "ClusterRole/writer"],
        ),
        (
            [pick("Namespace", label_selector=LabelSelector(match_labels={"team": "a"}))],
            ["Namespace/web", "ConfigMap/web/settings", "Deployment/web/app"],
        ),
        ([pick("ClusterRole", label_selector=LabelSelector(match_labels={NAME_LABEL: "reader"}))], []),
        ([pick("ClusterRole", label_selector=TIER_X)], ["ClusterRole/reader"]),
        ([pick("ClusterRole", "writer"), pick("ClusterRole", "reader")], ["ClusterRole/reader", "ClusterRole/writer"]),
        ([replace(pick("ClusterRole"), version="v1beta1")], ["ClusterRole/reader", "ClusterRole/writer"]),
        (
            [pick("ClusterRole"), replace(pick("ClusterRole", "reader"), version="v1beta1")],
            ["ClusterRole/reader", "ClusterRole/writer"],
        ),
        ([pick("Pod")], []),
    ],
)
def test_what_is_selected(selectors: list[ResourceSelector], expected: list[str]) -> None:
    assert names(*selectors) == expected


def test_a_resource_placement_selects_in_its_own_namespace() -> None:
    assert names(pick("ConfigMap"), ns="web") == ["ConfigMap/web/settings"]
    assert names(pick("ConfigMap", label_selector=TIER_X), ns="other") == ["ConfigMap/other/settings"]
    for selector, why in (
        (pick_namespace("web"), SnapshotsText.RESOURCEPLACEMENT_CANNOT_SELECT_NAMESPACE()),
        (pick("ClusterRole"), SnapshotsText.RESOURCEPLACEMENT_CANNOT_SELECT(selector="ClusterRole")),
    ):
        unusable = SnapshotsText.RESOURCE_SELECTORS_CANNOT_USED(placement="web/web", why=why)
        assert complaint(selector, ns="web") == unusable


@pytest.mark.parametrize("name", ["default", "kube-system", "fleet-system"])
def test_reserved_namespaces_are_a_user_error(name: str) -> None:
    assert complaint(pick_namespace(name)) == (
        SnapshotsText.RESOURCE_SELECTORS_CANNOT_USED(
            placement="web", why=SnapshotsText.NAMESPACE_RESERVED_CANNOT_PLACED(selector=name)
        )
    )
    assert name in complaint(pick("Namespace"), payload=(namespace(name),))


def test_an_object_selected_twice_is_a_user_error() -> None:
    message = complaint(pick("ClusterRole", "reader"), pick("ClusterRole", label_selector=TIER_X))
    assert message.endswith(SnapshotsText.SELECTED_MORE_ONCE(manifest="ClusterRole/reader"))
    twice = pick("ClusterRole", "writer")
    assert complaint(twice, twice).endswith(SnapshotsText.SELECTED_MORE_ONCE(manifest="ClusterRole/writer"))


def test_a_namespaced_kind_needs_its_namespace() -> None:
    assert complaint(pick("ConfigMap")) == (
        SnapshotsText.RESOURCE_SELECTORS_CANNOT_USED(
            placement="web", why=SnapshotsText.PLACEMENT_CANNOT_SELECT(selector="ConfigMap")
        )
    )
    assert complaint(pick_namespace("nowhere", "NamespaceWithResourceSelectors")) == (
        SnapshotsText.RESOURCE_SELECTORS_CANNOT_USED(
            placement="web", why=SnapshotsText.NAMESPACEWITHRESOURCESELECTORS_NEEDS_EXACTLY_ONE_NAMESPACE(count="0")
        )
    )


GADGET, WIDE = obj("v1", "Gadget", "g", "web"), obj("v1", "Gadget", "w")


@pytest.mark.parametrize(
    ("known", "payload", "selected"),
    [
        (None, (WIDE,), ["Gadget/w"]),
        (None, (GADGET,), None),
        (None, (), []),
        (True, (), None),
        (True, (WIDE,), None),
    ],
)
def test_whether_a_kind_is_namespaced(
    known: bool | None, payload: tuple[Manifest, ...], selected: list[str] | None
) -> None:
    """As the payload tells of the kind, else as its objects are written; a kind that nobody knows has no objects."""
    kinds = {GroupKind("", "Gadget"): known} if known is not None else {}
    found = select(placement(pick("Gadget")), index_payload(payload, kinds))
    assert (None if found.error else [str(m.key) for m in found.manifests]) == selected
    beside = select(placement(pick("Gadget")), index(), index_payload(payload, kinds))
    assert beside == found, "what is held of an earlier commit counts as well"


def test_a_kind_that_is_never_placed_selects_nothing_whatever_its_scope() -> None:
    kinds = {GroupKind("", "Pod"): True, GroupKind("x.io", "Pod"): True}
    assert select(placement(pick("Pod")), index_payload([], kinds)).error is None
    of_others = ResourceSelector(group="x.io", version="v1", kind="Pod")
    assert select(placement(of_others), index_payload([], kinds)).error is not None


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        (obj("v1", "Event", "e", "web"), False),
        (obj("batch/v1", "Job", "j", "web", metadata={"ownerReferences": [{"kind": "CronJob"}]}), False),
        (obj("v1", "Endpoints", "svc", "web"), False),
        (obj("v1", "ServiceAccount", "default", "web"), False),
        (obj("v1", "Secret", "s", "web", type="kubernetes.io/service-account-token"), False),
        (obj("v1", "ConfigMap", "c", "web", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}), False),
    ],
)
def test_what_is_never_propagated(subject: Manifest, expected: bool) -> None:
    assert is_propagated(subject.key, subject.body, services={("web", "svc")}) is expected


KINDS = st.sampled_from(["Namespace", "ConfigMap", "Gadget", "Widget", "Deployment"])
OBJECTS = st.builds(
    lambda kind, name, version: obj(version, kind, name, "" if kind == "Namespace" else "web"),
    KINDS,
    st.sampled_from("abcdef"),
    st.sampled_from(["v1", "apps/v1", "x.io/v1"]),
)


PAYLOADS = st.lists(OBJECTS, unique_by=lambda m: m.key)


@given(PAYLOADS.flatmap(lambda found: st.tuples(st.just(found), st.permutations(found))))
def test_the_order_does_not_depend_on_the_order_of_files(orders: tuple[list[Manifest], list[Manifest]]) -> None:
    one, two = (index_payload(manifests, NAMESPACED) for manifests in orders)
    assert one == two
    for group in one.kinds.values():
        keys = [snapshot_order(m.key) for m in group]
        assert keys == sorted(keys)
