"""Mistakes that people make in kustomize folders (kustomize_mistakes.yaml), built by the machine's own program: what is
held for plain files is held for what is built, and what is asked for goes on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from gitfleet.adapters.kustomize import KustomizeProgram
from gitfleet.api.placements import PLACEMENT_GROUP
from tests import builders
from tests.adapters.test_kustomize import needs_program
from tests.loop.test_kustomize_rollout import BuiltWorld
from tests.scenarios.test_mistakes import Fleet, play

MISTAKES: Final = yaml.safe_load((Path(__file__).parent / "kustomize_mistakes.yaml").read_text(encoding="utf-8"))
NAMES: Final = [row["slip"] for row in MISTAKES]
ROLE: Final = "rbac.authorization.k8s.io/v1"
KUSTOMIZATIONS: Final = {
    "app/kustomization.yaml": "namespace: shop\nnamePrefix: p-\nresources: [../base, worker.yaml]\n"
    "components: [../parts/queue]\nconfigMapGenerator: [{name: colours, literals: [colour=blue]}]\n",
    "base/kustomization.yaml": "resources: [web.yaml, api.yaml]\n",
    "parts/queue/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
    "resources: [queue.yaml]\n",
    "direct/kustomization.yaml": "resources: [apple.yaml, plum.yaml, both.yaml, widget.yaml, envelope.yaml]\n",
    "small/kustomization.yaml": "namespace: small\nconfigMapGenerator: [{name: conf, files: [app.conf]}]\n",
    "small/app.conf": "a = 1\n",
    "yml/kustomization.yml": "resources: [kiwi.yaml]\n",
    "pay/kustomization.yaml": "namespace: pay\nresources: [../other]\n",
    "other/kustomization.yaml": "resources: [till.yaml]\n",
    "patched/kustomization.yaml": "resources: [grape.yaml, lime.yaml]\npatches: [{path: grape-patch.yaml}]\n",
    "labelled/kustomization.yaml": "labels: [{pairs: {team: labelled}}]\nresources: [namespace.yaml]\n",
}


def bare(body: dict[str, Any]) -> str:
    """A manifest whose namespace kustomize adds."""
    return builders.to_yaml({**body, "metadata": {"name": body["metadata"]["name"]}})


def setting(name: str) -> str:
    """A ConfigMap in namespace shop."""
    return builders.to_yaml(builders.config_map("shop", name, {"k": "v"}))


def fleet_files() -> dict[str, str]:
    """Overlays with a base, a component and a generator, kustomizations without any, and plain files beside them."""
    wanted = {"matchLabels": {"team": "labelled"}}
    by_label = {"group": "", "version": "v1", "kind": "Namespace", "labelSelector": wanted}
    objects = [
        *(builders.member_cluster(f"c{number}") for number in range(1, 5)),
        *(builders.placement(name) for name in ("shop", "pay", "small")),
        builders.placement("labelled", selectors=[by_label]),
    ]
    objects[4]["spec"]["resourceSelectors"] += [
        {"group": PLACEMENT_GROUP, "version": "v1beta1", "kind": "ClusterResourceEnvelope", "name": "roles"},
        {"group": "apiextensions.k8s.io", "version": "v1", "kind": "CustomResourceDefinition"},
    ]
    files = builders.repo_files_for(*objects)
    role = builders.an_object(ROLE, "ClusterRole", "reader", rules=[])
    wrapped = builders.an_object(builders.PLACEMENT_API, "ClusterResourceEnvelope", "roles", data={"role.yaml": role})
    widget = builders.an_object("acme.example.com/v1", "Widget", "one", namespace="shop", spec={"size": 1})
    return files | {
        f"resources/{path}": text
        for path, text in {
            **KUSTOMIZATIONS,
            **{f"plain/plain-{n}.yaml": setting(f"plain-{n}") for n in range(1, 10)},
            "plain/definition.yaml": builders.to_yaml(builders.custom_definition("acme.example.com", "Widget")),
            "plain/namespace.yaml": builders.to_yaml(builders.namespace("shop")),
            "spare/namespace.yaml": builders.to_yaml(builders.namespace("spare")),
            "pay.yaml": builders.to_yaml(builders.namespace("pay")),
            "small.yaml": builders.to_yaml(builders.namespace("small")),
            "labelled/namespace.yaml": builders.to_yaml(builders.namespace("labelled")),
            "base/web.yaml": bare(builders.deployment("", "web")),
            "base/api.yaml": bare(builders.deployment("", "api")),
            "app/worker.yaml": bare(builders.deployment("", "worker")),
            "parts/queue/queue.yaml": bare(builders.deployment("", "queue")),
            "other/till.yaml": bare(builders.deployment("", "till")),
            "direct/apple.yaml": setting("apple"),
            "direct/plum.yaml": setting("plum"),
            "direct/both.yaml": setting("pear") + "---\n" + setting("nut"),
            "direct/widget.yaml": builders.to_yaml(widget),
            "direct/envelope.yaml": builders.to_yaml(wrapped),
            "yml/kiwi.yaml": setting("kiwi"),
            "patched/grape.yaml": setting("grape"),
            "patched/grape-patch.yaml": builders.to_yaml(builders.config_map("shop", "grape", {"more": "v"})),
            "patched/lime.yaml": setting("lime"),
        }.items()
    }


def begin() -> BuiltWorld:
    """A fleet whose kustomize folders are built by the program itself."""
    return BuiltWorld(program=KustomizeProgram())


FLEET: Final = Fleet(fleet_files(), begin)


@needs_program
@pytest.mark.parametrize("row", MISTAKES, ids=NAMES)
def test_a_mistake_in_a_kustomize_folder_deletes_nothing_and_is_named(row: Mapping[str, Any]) -> None:
    play(row, FLEET)


@needs_program
def test_a_whole_overlay_that_goes_to_another_placed_namespace_is_held_where_it_was() -> None:
    """The objects go out in the new namespace, where a placement selects them; the old ones stay."""
    world, path = begin(), "resources/app/kustomization.yaml"
    world.write(fleet_files())
    world.settle()
    with world.nothing_deleted():
        world.write({path: KUSTOMIZATIONS["app/kustomization.yaml"].replace("namespace: shop", "namespace: pay")})
        world.settle()
    (hold,) = world.state().holds.values()
    assert [(str(reason.rule), reason.message.split(" takes ")[0]) for reason in hold.reasons] == [
        ("IgnoredFile", "an edit of a kustomization")
    ]
    assert all(world.live("c1", "Deployment", "p-web", namespace) for namespace in ("shop", "pay"))


def test_every_mistake_is_there_once() -> None:
    assert len(set(NAMES)) == len(NAMES) >= 60
