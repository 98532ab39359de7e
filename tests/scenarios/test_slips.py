"""Slips of a person in what names a kind, a version or a namespace, each played on six clusters: nothing is deleted
that nobody asked to delete, and a sentence says what was probably meant (decisions D28, D29, D30)."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from gitfleet.desired.texts import DesiredText
from tests import builders
from tests.builders import to_yaml
from tests.desired.commits import read
from tests.scenarios.world import World

CLUSTERS = tuple(f"c{number}" for number in range(1, 7))
NAMESPACE = "resources/shop/namespace-shop.yaml"
WEB = "resources/shop/deployment-web.yaml"
BUDGET = "resources/shop/poddisruptionbudget-web.yaml"
ROLE = "resources/reader.yaml"
WIDGET = "resources/shop/widget-one.yaml"
CRD = "resources/widgets.yaml"
SHOP = "placements/shop.yaml"
CLUSTER_WIDE = "placements/cluster-wide.yaml"
OVERRIDE = "overrides/more-replicas.yaml"


def _selector(group: str, version: str, kind: str, name: str) -> dict[str, str]:
    return {"group": group, "version": version, "kind": kind, "name": name}


def _override() -> dict[str, object]:
    patch = {"op": "replace", "path": "/spec/replicas", "value": 2}
    return builders.override("more-replicas", "Deployment/web", builders.override_rule(patch), namespace="shop")


FILES = {
    **{f"clusters/{name}.yaml": to_yaml(builders.member_cluster(name)) for name in CLUSTERS},
    NAMESPACE: to_yaml(builders.namespace("shop")),
    WEB: to_yaml(builders.deployment("shop", "web")),
    BUDGET: to_yaml(builders.disruption_budget("shop", "web")),
    ROLE: to_yaml(builders.an_object("rbac.authorization.k8s.io/v1", "ClusterRole", "reader", rules=[])),
    CRD: to_yaml(builders.custom_definition("example.com", "Widget")),
    WIDGET: to_yaml(builders.an_object("example.com/v1", "Widget", "one", namespace="shop", spec={"size": 1})),
    SHOP: to_yaml(builders.placement("shop")),
    CLUSTER_WIDE: to_yaml(
        builders.an_object(
            builders.PLACEMENT_API,
            "ClusterResourcePlacement",
            "cluster-wide",
            spec={
                "resourceSelectors": [
                    _selector("rbac.authorization.k8s.io", "v1", "ClusterRole", "reader"),
                    _selector("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "widgets.example.com"),
                ]
            },
        )
    ),
    OVERRIDE: to_yaml(_override()),
}
PLACED = {
    "Namespace/shop",
    "Deployment/shop/web",
    "PodDisruptionBudget/shop/web",
    "Widget/shop/one",
    "ClusterRole/reader",
    "CustomResourceDefinition/widgets.example.com",
}


@dataclass(frozen=True)
class Slip:
    """One edit: a text of a file that becomes another one (the whole file is removed where `new` is None)."""

    path: str
    old: str
    new: str | None
    at: str
    says: str


SLIPS = {
    "selector: kind misspelt": Slip(
        SHOP, "kind: Namespace", "kind: Namespce", f"{SHOP}:9: ", "did you mean Namespace?"
    ),
    "selector: kind in small letters": Slip(SHOP, "kind: Namespace", "kind: namespace", f"{SHOP}:9: ", "Namespace?"),
    "selector: kind in the plural": Slip(SHOP, "kind: Namespace", "kind: namespaces", f"{SHOP}:9: ", "Namespace?"),
    "selector: version that the kind never had": Slip(
        SHOP,
        "version: v1",
        "version: v2",
        f"{SHOP}:8: ",
        DesiredText.NOT_VERSION_YOU_MEAN(groupkind="Namespace", versions="v1"),
    ),
    "selector: version with group": Slip(
        CLUSTER_WIDE, "version: v1", "version: rbac.authorization.k8s.io/v1", f"{CLUSTER_WIDE}:8: ", "did you mean v1?"
    ),
    "selector: group misspelt": Slip(
        CLUSTER_WIDE,
        "group: rbac.authorization.k8s.io",
        "group: rbac.authorisation.k8s.io",
        f"{CLUSTER_WIDE}:7: ",
        "did you mean group rbac.authorization.k8s.io, rbac.authorization.k8s.io/v1?",
    ),
    "selector: group left empty": Slip(
        CLUSTER_WIDE,
        "group: rbac.authorization.k8s.io",
        "group: ''",
        f"{CLUSTER_WIDE}:7: ",
        "has no kind ClusterRole; did you mean group rbac.authorization.k8s.io",
    ),
    "selector: a kind of nobody": Slip(
        CLUSTER_WIDE, "kind: ClusterRole", "kind: Sprocket", f"{CLUSTER_WIDE}:9: ", "is not a kind of group rbac"
    ),
    "selector: group and kind of nobody": Slip(
        SHOP,
        "group: ''",
        "group: nobody.example",
        f"{SHOP}:7: ",
        ("did you mean " + DesiredText.CORE_GROUP() + ", v1?"),
    ),
    "override: kind misspelt": Slip(
        OVERRIDE, "kind: Deployment", "kind: Deploymant", f"{OVERRIDE}:", "did you mean Deployment?"
    ),
    "override: version of another kind": Slip(
        OVERRIDE,
        "version: v1\n",
        "version: v2\n",
        f"{OVERRIDE}:",
        DesiredText.NOT_VERSION_YOU_MEAN(groupkind="Deployment.apps", versions="v1"),
    ),
    "payload: kind misspelt": Slip(
        WEB, "kind: Deployment", "kind: Deploymnet", f"{WEB}:2: ", "did you mean Deployment?"
    ),
    "payload: kind of another group": Slip(
        WEB, "apiVersion: apps/v1", "apiVersion: v1", f"{WEB}:1: ", "did you mean group apps, apps/v1?"
    ),
    "payload: group without version": Slip(
        WEB, "apiVersion: apps/v1", "apiVersion: apps", f"{WEB}:1: ", "did you mean group apps, apps/v1?"
    ),
    "payload: version that the kind never had": Slip(
        WEB, "apiVersion: apps/v1", "apiVersion: apps/v2", f"{WEB}:1: ", "is not a version of Deployment.apps"
    ),
    "payload: group misspelt": Slip(
        WEB, "apiVersion: apps/v1", "apiVersion: app/v1", f"{WEB}:1: ", "did you mean Deployment.apps?"
    ),
    "payload: group cut short": Slip(
        BUDGET,
        "apiVersion: policy/v1",
        "apiVersion: policies.k8s.io/v1",
        f"{BUDGET}:1: ",
        "PodDisruptionBudget.policy?",
    ),
    "payload: custom kind misspelt": Slip(
        WIDGET, "kind: Widget", "kind: Wigdet", f"{WIDGET}:2: ", "did you mean Widget.example.com?"
    ),
    "payload: custom group misspelt": Slip(
        WIDGET,
        "apiVersion: example.com",
        "apiVersion: exmaple.com",
        f"{WIDGET}:1: ",
        "did you mean Widget.example.com?",
    ),
    "payload: cluster-wide kind misspelt": Slip(
        ROLE, "kind: ClusterRole", "kind: ClusterRoles", f"{ROLE}:2: ", "did you mean ClusterRole?"
    ),
    "payload: namespace misspelt": Slip(
        WEB,
        "namespace: shop",
        "namespace: shpo",
        f"{WEB}:5: ",
        "has no Namespace manifest in the repo; add one for shpo",
    ),
    "payload: namespace of a custom object misspelt": Slip(
        WIDGET, "namespace: shop", "namespace: shpo", f"{WIDGET}:5: ", "has no Namespace manifest in the repo"
    ),
    "payload: namespace of a custom object left out": Slip(
        WIDGET, "\n  namespace: shop", "", f"{WIDGET}:3: ", "is required, since Widget is a namespaced kind"
    ),
    "namespace: manifest removed": Slip(
        NAMESPACE,
        "",
        None,
        f"{WEB}:5: Namespace/shop: metadata.namespace: ",
        "lost its manifest, and Deployment/shop/web",
    ),
    "namespace: name misspelt": Slip(NAMESPACE, "name: shop", "name: shpo", f"{WEB}:5: Namespace/shop: ", "lost its"),
    "namespace: kind misspelt": Slip(
        NAMESPACE, "kind: Namespace", "kind: Namspace", f"{NAMESPACE}:2: ", "did you mean Namespace?"
    ),
    "namespace: version misspelt": Slip(
        NAMESPACE, "apiVersion: v1", "apiVersion: v11", f"{NAMESPACE}:1: ", "is not a version of Namespace"
    ),
    "definition: kind misspelt": Slip(
        CRD,
        "kind: CustomResourceDefinition",
        "kind: CustomResourceDefiniton",
        f"{CRD}:2: ",
        "CustomResourceDefinition?",
    ),
    "definition: group misspelt": Slip(
        CRD, "apiVersion: apiextensions.k8s.io", "apiVersion: apiextension.k8s.io", f"{CRD}:1: ", "did you mean Custom"
    ),
}


def settled_world() -> World:
    """Six clusters that have everything."""
    world = World()
    world.write(FILES)
    world.settle()
    assert world.state().faults == ()
    assert {key for _, key in objects(world)} == PLACED
    assert len(objects(world)) == len(CLUSTERS) * len(PLACED)
    return world


def objects(world: World) -> set[tuple[str, str]]:
    """Everything that lives on the clusters beside their own namespaces."""
    return {
        (name, str(found.key))
        for name in CLUSTERS
        for found in world.fleet.cluster(name).objects()
        if found.key.kind != "Namespace" or found.key.name == "shop"
    }


@pytest.mark.parametrize("name", SLIPS)
def test_a_slip_deletes_nothing_and_is_named(name: str) -> None:
    slip, world = SLIPS[name], settled_world()
    before, text = objects(world), FILES[slip.path]
    assert slip.old in text
    with world.nothing_deleted():
        world.write({slip.path: None if slip.new is None else text.replace(slip.old, slip.new, 1)})
        world.settle()
        world.restart()
        world.settle()
        world.write({"resources/other.yaml": to_yaml(builders.namespace("other"))})  # a later commit that is sound
        world.settle()
    assert objects(world) == before
    (fault,) = [str(fault) for fault in world.state().faults if fault.severity == "error"]
    assert fault.startswith(slip.at) and slip.says in fault, fault
    with world.nothing_deleted():
        world.write({slip.path: text})
        world.settle()
    assert (objects(world), world.state().faults) == (before, ())


def test_a_namespace_goes_when_everything_in_it_goes_too() -> None:
    """Whether that is held as a mass deletion is decided elsewhere: nothing is faulty, and nothing is brought back."""
    gone = (NAMESPACE, WEB, BUDGET, WIDGET, OVERRIDE)
    desired = read({path: text for path, text in FILES.items() if path not in gone}, before=FILES)
    assert {str(manifest.key) for manifest in desired.payload} == {
        "ClusterRole/reader",
        "CustomResourceDefinition/widgets.example.com",
    }
    assert desired.faults == ()


def test_payload_of_a_namespace_that_was_never_made_is_not_placed_and_says_what_to_do() -> None:
    world = settled_world()
    world.write({"resources/late.yaml": to_yaml(builders.config_map("nowhere", "late"))})
    world.settle()
    (fault,) = world.state().faults
    assert str(fault) == (
        "resources/late.yaml:5: ConfigMap/nowhere/late: metadata.namespace: "
        + DesiredText.NO_NAMESPACE_MANIFEST_REPO(name="nowhere")
        + DesiredText.CORRECT_NAME(sentence="", near="")
    )
    world.write({"resources/nowhere.yaml": to_yaml(builders.namespace("nowhere"))})
    world.settle()
    assert world.state().faults == ()
