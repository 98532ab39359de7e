"""Mistakes that people make in a config repo (mistakes.yaml), each as one commit on a settled fleet of six clusters:
nothing is deleted that was not asked for, a sentence names the cause, and taking the commit back leaves nothing behind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from gitfleet.api.faults import Severity
from tests import builders, texts
from tests.scenarios.world import World

CLUSTERS: Final = ("c1", "c2", "c3", "c4", "c5", "c6")
MISTAKES: Final = yaml.safe_load((Path(__file__).parent / "mistakes.yaml").read_text(encoding="utf-8"))
NAMES: Final = [row["slip"] for row in MISTAKES]
_HASH: Final = re.compile("-[0-9a-z]{10}$")
"""What kustomize's generators append to a name."""


def _custom(name: str) -> dict[str, Any]:
    return builders.an_object("acme.example.com/v1", "Widget", name, namespace="custom", spec={"size": 1})


def _role(name: str, **labels: str) -> dict[str, Any]:
    return builders.an_object("rbac.authorization.k8s.io/v1", "ClusterRole", name, labels=labels, rules=[])


def _selector(group: str, kind: str, **how: Any) -> dict[str, Any]:
    return {"group": group, "version": "v1", "kind": kind, **how}


def fleet_files() -> dict[str, str]:
    """The config repo: placements of every kind of policy and selector, and what they select."""
    files = {
        f"clusters/{name}.yaml": builders.to_yaml(
            builders.member_cluster(name, labels={"region": "us" if name == "c6" else "eu"})
        )
        for name in CLUSTERS
    }
    shop = builders.placement(
        "shop",
        selectors=[_selector("", "Namespace", labelSelector={"matchLabels": {"team": "shop"}})],
        policy=builders.pick_n(5, match_labels={"region": "eu"}),
    )
    rbac = "rbac.authorization.k8s.io"
    roles = builders.placement(
        "roles",
        selectors=[
            _selector(rbac, "ClusterRole", name="reader"),
            _selector(rbac, "ClusterRole", labelSelector={"matchLabels": {"tier": "base"}}),
        ],
    )
    custom = builders.placement(
        "custom",
        selectors=[
            builders.select_namespace("custom"),
            _selector("apiextensions.k8s.io", "CustomResourceDefinition", name="widgets.acme.example.com"),
        ],
    )
    settings = builders.an_object(
        builders.PLACEMENT_API,
        "ResourcePlacement",
        "settings",
        namespace="team",
        spec={"resourceSelectors": [_selector("", "ConfigMap", name="settings")]},
    )
    team = builders.placement(
        "team", selectors=[{**builders.select_namespace("team"), "selectionScope": "NamespaceOnly"}]
    )
    files |= {f"placements/{body['metadata']['name']}.yaml": builders.to_yaml(body) for body in (shop, roles, team)}
    files["placements/custom.yaml"] = builders.to_yaml(custom)
    files["placements/team/settings.yaml"] = builders.to_yaml(settings)
    files["placements/web.yaml"] = builders.to_yaml(builders.placement("web"))
    files["placements/pay.yaml"] = builders.to_yaml(
        builders.placement("pay", policy=builders.pick_fixed("c1", "c2", "c3"))
    )
    many = [f"many-{number}" for number in range(1, 6)]
    files["placements/many.yaml"] = builders.to_yaml(builders.placement("many", *many))
    for name in ("web", "pay", "team", "custom", *many):
        files[f"resources/{name}/namespace.yaml"] = builders.to_yaml(builders.namespace(name))
    for name in ("pay", "team", *many):
        files[f"resources/{name}/settings.yaml"] = builders.to_yaml(builders.config_map(name, "settings", {"k": "v"}))
    files["resources/shop/namespace.yaml"] = builders.to_yaml(builders.namespace("shop", labels={"team": "shop"}))
    files["resources/shop/settings.yaml"] = builders.to_yaml(builders.config_map("shop", "settings", {"k": "v"}))
    files["resources/web/app.yaml"] = builders.to_yaml(builders.deployment("web", "app"))
    files["resources/web/others.yaml"] = builders.to_yaml(
        *(builders.config_map("web", f"settings-{name}", {"k": "v"}) for name in ("red", "green", "blue"))
    )
    files["resources/many/5.yaml"] = builders.to_yaml(builders.config_map("many-1", "five", {"k": "v"}))
    files["resources/custom/definition.yaml"] = builders.to_yaml(
        builders.custom_definition("acme.example.com", "Widget")
    )
    files["resources/custom/one.yaml"] = builders.to_yaml(_custom("one"))
    files["resources/custom/more.yaml"] = builders.to_yaml(
        *(_custom(name) for name in ("two", "three", "four", "five"))
    )
    files["resources/roles/named.yaml"] = builders.to_yaml(_role("reader"))
    files["resources/roles/labelled.yaml"] = builders.to_yaml(_role("base-one", tier="base"))
    files["resources/roles/more.yaml"] = builders.to_yaml(
        *(_role(f"base-{name}", tier="base") for name in ("two", "six"))
    )
    return files


@dataclass
class Fleet:
    """One settled fleet for all rows; a row that fails leaves it behind, and the next one makes another."""

    files: Mapping[str, str]
    begin: Callable[[], World] = World
    world: World | None = None
    objects: frozenset[str] = frozenset()

    def settled(self) -> World:
        """The fleet as it was before any mistake."""
        if self.world is None:
            self.world = self.begin()
            self.world.roll_out(files=self.files)
            state = self.world.state()
            assert not state.held and not [f for f in state.faults if f.severity is Severity.ERROR], state.faults
            self.objects = objects(self.world)
            assert len(self.objects) > 100
        return self.world


FLEET: Final = Fleet(fleet_files())


def objects(world: World) -> frozenset[str]:
    """Every object on every cluster."""
    return frozenset(
        f"{name} {found.key}" for name, cluster in world.fleet.clusters.items() for found in cluster.objects()
    )


def edit(row: Mapping[str, Any], files: Mapping[str, str]) -> dict[str, str | None]:
    """The files that a row's commit writes (None: removes)."""
    changes: dict[str, str | None] = dict(row.get("write", {}))
    if "file" in row:
        text = files[row["file"]]
        old, new = row["replace"]
        start = text.index(row.get("after", ""))
        assert old in text[start:], text
        changes[row["file"]] = text[:start] + text[start:].replace(old, new, 1)
    for gone in row.get("remove", ()):
        changes |= {path: None for path in files if path == gone or (gone.endswith("/") and path.startswith(gone))}
    for old, new in row.get("rename", {}).items():
        for path, text in files.items():
            if path.startswith(old):
                changes |= {path: None, new + path.removeprefix(old): text}
    if row.get("taint"):
        taint = "  taints:\n  - {key: broken, value: 'yes', effect: NoSchedule}\n"
        changes |= {path: text + taint for path, text in files.items() if path.startswith("clusters/")}
    assert changes
    return changes


def exported(world: World, files: Mapping[str, str]) -> dict[str, str | None]:
    """Every file as `kubectl get -o yaml` would have it: with the status and what a server fills in."""
    server = {"uid": "6f1c", "resourceVersion": "42", "creationTimestamp": "2026-01-01T00:00:00Z", "generation": 3}
    changes: dict[str, str | None] = {}
    for path, text in files.items():
        bodies = list(yaml.safe_load_all(text))
        for body in bodies:
            body["metadata"] |= {**server, "managedFields": [{"manager": "kubectl", "operation": "Update"}]}
            body["status"] = {"conditions": []}
        changes[path] = builders.to_yaml(*bodies)
    return changes


def sentences(world: World) -> Iterator[tuple[str, str]]:
    """All that a person is told, as (path, sentence)."""
    state = world.state()
    for fault in state.faults:
        yield fault.path, str(fault)
    for hold in state.held.values():
        for reason in hold.reasons:
            yield "", str(reason)


@pytest.mark.parametrize("row", MISTAKES, ids=NAMES)
def test_a_mistake_deletes_nothing_and_is_named(row: Mapping[str, Any]) -> None:
    play(row, FLEET)


def play(row: Mapping[str, Any], fleet: Fleet) -> None:
    """Commit one row's mistake, see how it ends, and take it back."""
    world, files = fleet.settled(), fleet.files
    fleet.world = None
    changes = exported(world, files) if row.get("exported") else edit(row, files)
    start = len(world.happenings)
    world.roll_out(files=changes)
    deleted = {_HASH.sub("-HASH", f"{h.key}") for h in world.happenings[start:] if h.what == "delete"}
    state = world.state()
    said = list(sentences(world))
    assert deleted == set(row.get("deletes", ())), said
    assert row["ends"] == "asked" or fleet.objects <= objects(world)
    errors = [fault for fault in state.faults if fault.severity is Severity.ERROR]
    rules = {str(rule) for hold in state.held.values() for removal in hold.removals for rule in removal.rules}
    assert rules == set(row.get("rules", ())), said
    match row["ends"]:
        case "stays" | "refused":
            assert errors, said
        case "held" | "nothing" | "asked":
            assert not errors, said
        case unknown:
            pytest.fail(f"no such end: {unknown}")
    if "says" in row or "at" in row:
        assert any(
            texts.said(row.get("says", "")) in sentence and row.get("at", path) == path for path, sentence in said
        ), said
    world.roll_out(
        files={path: None for path, text in changes.items() if path not in files}
        | {p: files[p] for p in changes if p in files}
    )
    after = world.state()
    assert not after.held and not [fault for fault in after.faults if fault.severity is Severity.ERROR]
    assert fleet.objects <= objects(world)
    # A cluster that left kept its Namespaces, which are then not gitfleet's own any more.
    fleet.world = None if any(path.startswith(("clusters/", ".gitfleetignore")) for path in changes) else world


def test_every_mistake_is_there_once() -> None:
    assert len(set(NAMES)) == len(NAMES) >= 60
