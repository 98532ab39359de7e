"""A name that was copied from elsewhere and not changed: the document is refused as defined twice, and what it was
before stays as it is (invariant 2)."""

from __future__ import annotations

import pytest

from gitfleet.api.faults import Severity
from tests import builders
from tests.builders import to_yaml
from tests.scenarios.explaining import open_workspace
from tests.scenarios.world import World

CLUSTERS = ("c1", "c2", "c3")
PAIR = "resources/web/pair.yaml"
SETTINGS = "resources/web/settings.yaml"


def cluster(name: str, **connection: str) -> str:
    """A MemberCluster file; everything on the cluster is deleted when it leaves."""
    body = builders.member_cluster(name, connection=connection or None)
    body["spec"]["deleteOptions"] = {"propagationPolicy": "Delete"}
    return to_yaml(body)


def settled() -> World:
    """Three clusters, and placements with an override and two objects in one file."""
    world = World()
    world.write(
        {
            **{f"clusters/{name}.yaml": cluster(name) for name in CLUSTERS},
            "resources/web/namespace.yaml": to_yaml(builders.namespace("web")),
            "resources/pay/namespace.yaml": to_yaml(builders.namespace("pay")),
            "placements/web.yaml": to_yaml(builders.placement("web")),
            "placements/pay.yaml": to_yaml(builders.placement("pay")),
            PAIR: to_yaml(builders.config_map("web", "one", {"k": "v"}), builders.config_map("web", "two", {"k": "v"})),
            SETTINGS: to_yaml(builders.config_map("web", "settings", {"k": "v"})),
        }
    )
    world.settle()
    assert world.state().faults == ()
    return world


def objects(world: World) -> set[tuple[str, str]]:
    """Every object on every cluster."""
    return {(name, str(found.key)) for name, one in world.fleet.clusters.items() for found in one.objects()}


SLIPS = {
    "a cluster": ("clusters/c1.yaml", "name: c1\n", "name: c2\n", "MemberCluster/c2"),
    "a placement": ("placements/pay.yaml", "name: pay\nspec", "name: web\nspec", "ClusterResourcePlacement/web"),
    "one document of two": (PAIR, "name: two", "name: settings", "ConfigMap/web/settings"),
    "one document of two, as the other one": (PAIR, "name: two", "name: one", "ConfigMap/web/one"),
    "the only document of a file": (SETTINGS, "name: settings", "name: one", "ConfigMap/web/one"),
}


@pytest.mark.parametrize("name", SLIPS)
def test_what_a_refused_document_was_stays(name: str) -> None:
    path, old, new, label = SLIPS[name]
    world = settled()
    before, text = objects(world), world.repo.files("main")[path].decode()
    assert old in text
    with world.nothing_deleted():
        world.write({path: text.replace(old, new, 1)})
        world.settle()
        world.restart()
        world.settle()
        world.write({"resources/other.yaml": to_yaml(builders.namespace("other"))})  # a later commit that is sound
        world.settle()
        state = world.state()
        errors = [fault for fault in state.faults if fault.severity is Severity.ERROR]
        (fault,) = [fault for fault in errors if "may be meant to replace" not in fault.message]  # what it was before
        assert (fault.path, fault.object) == (path, label) and "is defined a second time" in fault.message
        assert (objects(world), dict(state.holds)) == (before, {})
        world.write({path: text})
        world.settle()
    assert (objects(world), world.state().faults, world.state_text("last-good.yaml")) == (before, (), "")


def test_an_override_stays_as_well() -> None:
    world = settled()
    for name, target in (("first", "one"), ("second", "two")):
        rule = builders.override_rule({"op": "replace", "path": "/data/k", "value": "changed"})
        world.write({f"overrides/{name}.yaml": to_yaml(builders.override(name, f"ConfigMap/{target}", rule))})
    world.settle()
    text = world.repo.files("main")["overrides/second.yaml"].decode()
    world.write({"overrides/second.yaml": text.replace("name: second", "name: first")})
    world.settle()
    assert [fault.object for fault in world.state().faults] == ["ResourceOverride/web/first"]
    assert [(world.live("c1", "ConfigMap", name) or {})["data"] for name in ("one", "two")] == [{"k": "changed"}] * 2


def test_a_removal_waits_for_an_error_beside_it_as_long_as_it_is_there() -> None:
    world = settled()
    two = builders.config_map("web", "two", {"k": "v"})
    copy = builders.config_map("web", "settings", {"k": "v"})
    world.write({PAIR: to_yaml(two, copy)})
    world.settle()
    assert world.live("c1", "ConfigMap", "one") is not None
    world.write({PAIR: to_yaml(copy)})
    world.settle()
    assert [str(removal.object) for hold in world.state().holds.values() for removal in hold.removals] == [
        "ConfigMap/web/two"
    ]
    assert None not in [world.live("c1", "ConfigMap", name) for name in ("one", "two")]
    world.write({PAIR: None})
    world.settle()
    assert [world.live("c1", "ConfigMap", name) for name in ("one", "two")] == [None, None]


def test_what_goes_beside_a_copy_in_a_new_file_goes_once_that_is_removed() -> None:
    world = settled()
    world.write({PAIR: None, "resources/web/new.yaml": to_yaml(builders.config_map("web", "settings", {"k": "v"}))})
    world.settle()
    assert [fault.path for fault in world.state().faults] == ["resources/web/new.yaml"]
    assert world.live("c1", "ConfigMap", "one") is not None
    world.write({"resources/web/new.yaml": None})
    world.settle()
    assert world.live("c1", "ConfigMap", "one") is None
    assert world.live("c1", "ConfigMap", "settings") is not None


DROP = {
    "resourceSelectors": [{"group": "", "version": "v1", "kind": "ConfigMap", "name": "settings"}],
    "policy": {"overrideRules": [{"clusterSelector": {"clusterSelectorTerms": []}, "overrideType": "Delete"}]},
}
KINDS = {
    "resources/": builders.config_map("web", "copied", {"k": "v"}),
    "resources/unplaced/": builders.config_map("default", "copied", {"k": "v"}),
    "placements/": builders.placement("copied"),
    "clusters/": builders.member_cluster("copied"),
    "overrides/": builders.an_object(builders.PLACEMENT_API, "ResourceOverride", "copied", namespace="web", spec=DROP),
}


@pytest.mark.parametrize("copy", ["a.yaml", "z.yaml"])
@pytest.mark.parametrize("folder", KINDS)
def test_every_reader_blames_the_same_copy(folder: str, copy: str) -> None:
    """`validate`, `plan`, and every reconcile of every process, however many commits later."""
    world, text = settled(), to_yaml(KINDS[folder])
    world.write({f"{folder}m.yaml": text})
    world.settle()
    world.write({f"{folder}{copy}": text})
    for number in range(3):
        workspace = open_workspace(world.repo, world.fleet, world.clock, "simulated")
        read = [str(fault) for fault in workspace.faults_at(workspace.commit_of(None))]
        assert [fault["path"] for fault in workspace.plan(None, None)["faults"]] == [f"{folder}{copy}"]
        world.settle()
        assert [str(fault) for fault in world.state().faults] == read
        if number:
            world.restart()
        world.write({"resources/web/other.yaml": to_yaml(builders.config_map("web", f"other-{number}"))})
