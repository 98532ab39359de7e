"""Selectors of kinds in other versions than payload is written in (KubeFleet ResourceSelectorResolver), and of kinds
that only clusters have (decision D28)."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.api.objects import JsonObject
from gitfleet.desired.texts import DesiredText
from tests import builders
from tests.scenarios.world import World


def scaler(version: str, most: int = 3) -> JsonObject:
    """A namespaced object."""
    spec = {"maxReplicas": most, "scaleTargetRef": {"kind": "Deployment", "name": "web"}}
    api = f"autoscaling/{version}"
    return builders.an_object(api, "HorizontalPodAutoscaler", "web", namespace="web", spec=spec)


def webhook(version: str) -> JsonObject:
    """A cluster-scoped object."""
    return builders.an_object(f"admissionregistration.k8s.io/{version}", "ValidatingWebhookConfiguration", "web")


def selecting(*selectors: dict[str, Any]) -> JsonObject:
    """A placement of the namespace `web` without what is in it, and of what the selectors pick there."""
    scope = "NamespaceWithResourceSelectors"
    return builders.placement(
        "web", selectors=[{**builders.select_namespace("web"), "selectionScope": scope}, *selectors]
    )


def selector_of(body: JsonObject, version: str, name: str | None) -> dict[str, Any]:
    """A selector of an object in some version."""
    group, _, _ = body["apiVersion"].partition("/")
    named = {"name": name} if name is not None else {}
    return {"group": group, "version": version, "kind": body["kind"], **named}


@pytest.mark.parametrize("name", ["web", None])
@pytest.mark.parametrize(
    ("written", "rewritten", "selected"),
    [(scaler("v2"), scaler("v1"), "v1"), (scaler("v1"), scaler("v2"), "v1"), (webhook("v1"), webhook("v1"), "v1beta1")],
)
def test_a_selector_means_its_kind_in_every_version(
    written: JsonObject, rewritten: JsonObject, selected: str, name: str | None
) -> None:
    """The object goes out as it is written, and an edit of its version takes it from nowhere."""
    world = World()
    placement = selecting(selector_of(written, selected, name))
    world.roll_out(builders.member_cluster("c1"), builders.namespace("web"), placement, written)
    assert world.state().faults == ()
    kind, namespace = written["kind"], written["metadata"].get("namespace")
    live = world.body("c1", kind, "web", namespace)
    assert live["apiVersion"] == written["apiVersion"]
    with world.nothing_deleted():
        world.roll_out(rewritten)
    assert world.live("c1", kind, "web", namespace) is not None


WIDGET = {"group": "widgets.example.com", "version": "v1", "kind": "Widget", "name": "web"}
DEFINITION = builders.custom_definition("widgets.example.com", "Widget")


def widget() -> JsonObject:
    """An object of the kind that only clusters define."""
    return builders.an_object("widgets.example.com/v1", "Widget", "web", namespace="web", spec={"size": 1})


def test_a_kind_that_only_clusters_have_is_refused_until_the_repo_has_objects_of_it() -> None:
    """Clusters are not asked: without an object in the repo the selector selects nothing."""
    world = World()
    world.roll_out(builders.member_cluster("c1"), builders.member_cluster("c2"))
    for cluster in ("c1", "c2"):
        world.fleet.cluster(cluster).apply_by_hand(DEFINITION)
    world.roll_out(builders.namespace("web"), selecting(WIDGET))
    (fault,) = world.state().faults
    assert (fault.severity, fault.field) == ("error", "spec.resourceSelectors[1].kind")
    assert fault.message == DesiredText.NO_KNOWN_KIND()
    assert world.live("c1", "Namespace", "web") is None
    world.roll_out(widget())
    assert world.live("c1", "Widget", "web", "web") is not None
    with world.nothing_deleted():
        world.roll_out(selecting({**WIDGET, "group": "gears.example.org", "kind": "Sprocket"}))
    (fault,) = [fault for fault in world.state().faults if fault.severity == "error"]
    assert (fault.path, fault.field) == ("placements/web.yaml", "spec.resourceSelectors[1].kind")
    assert world.live("c1", "Widget", "web", "web") is not None
