"""Objects that an override of type Delete newly takes from clusters count as removals, by object and cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from gitfleet.api.conditions import Status
from gitfleet.api.holds import HoldRule
from gitfleet.api.objects import JsonObject, ObjectKey
from gitfleet.api.texts import ApiText
from gitfleet.apply.texts import ApplyText
from tests import builders
from tests.scenarios.test_holds import CLUSTERS, TEAMS, answer, objects, only_hold, settled
from tests.scenarios.test_planned_steps import plan_of, planned
from tests.scenarios.world import World

LAB: Mapping[str, Any] = {"labelSelector": {"matchLabels": {"region": "lab"}}}
EU: Mapping[str, Any] = {"labelSelector": {"matchLabels": {"region": "eu"}}}
PATCH = {"op": "replace", "path": "/data/version", "value": "9"}
LABEL = {"op": "add", "path": "/metadata/labels", "value": {"tier": "x"}}
OTHER_LABEL = {**LABEL, "value": {"tier": "y"}}


def rule(*terms: Mapping[str, Any], patch: Mapping[str, Any] | None = None) -> JsonObject:
    """A rule of an override for clusters that one of the terms selects (all for none)."""
    how = {"jsonPatchOverrides": [patch]} if patch else {"overrideType": "Delete"}
    return {"clusterSelector": {"clusterSelectorTerms": list(terms)}, **how}


def of_namespace(*rules: JsonObject, team: str = "web") -> JsonObject:
    """An override of a namespace with all that is in it."""
    spec = {"clusterResourceSelectors": [builders.select_namespace(team)], "policy": {"overrideRules": list(rules)}}
    return builders.an_object(builders.PLACEMENT_API, "ClusterResourceOverride", f"of-{team}", spec=spec)


def of_objects(*rules: JsonObject, names: Sequence[str] = ("settings", "app")) -> JsonObject:
    """An override of objects of namespace web."""
    kinds = {"settings": ("", "ConfigMap"), "app": ("apps", "Deployment")}
    selectors = [{"group": kinds[n][0], "version": "v1", "kind": kinds[n][1], "name": n} for n in names]
    spec = {"resourceSelectors": selectors, "policy": {"overrideRules": list(rules)}}
    return builders.an_object(builders.PLACEMENT_API, "ResourceOverride", "drop", namespace="web", spec=spec)


def clusters(region: str, *names: str) -> list[JsonObject]:
    return [builders.member_cluster(name, labels={"region": region}) for name in names]


def version(world: World, cluster: str) -> str:
    return str((world.live(cluster, "ConfigMap", "settings", "web") or {}).get("data", {}).get("version", ""))


SLIPS = {
    "new override without a cluster selector": ((), [of_objects(rule())], 12),
    "cluster selector misspelt": ([of_objects(rule(LAB))], [of_objects(rule(EU))], 12),
    "terms emptied": ([of_objects(rule(LAB))], [of_objects(rule())], 12),
    "terms widened": ([of_objects(rule(LAB))], [of_objects(rule(LAB, EU))], 12),
    "object became its namespace": ([of_namespace(rule(LAB))], [of_namespace(rule(EU))], 18),
    "clusters relabelled": ([of_objects(rule(LAB))], clusters("lab", *CLUSTERS), 12),
    "one cluster relabelled": ([of_namespace(rule(LAB))], clusters("lab", "c1"), 3),
    "patch became a deletion": ([of_objects(rule(EU, patch=PATCH), names=["settings"])], [of_objects(rule(EU))], 12),
}


@pytest.mark.parametrize(("before", "slip", "gone"), SLIPS.values(), ids=SLIPS)
def test_what_an_override_newly_deletes_is_held_taken_back_and_approved(
    before: Sequence[JsonObject], slip: Sequence[JsonObject], gone: int
) -> None:
    world = settled()
    labels = clusters("eu", *CLUSTERS)
    limits = builders.fleet_config(massDelete={"maxPercent": 10}) if gone == 3 else builders.fleet_config()
    world.commit(limits, *before)
    world.settle()
    had, versions = objects(world), [version(world, name) for name in CLUSTERS]
    with world.nothing_deleted():
        world.commit(*slip, builders.config_map("shop", "settings", {"version": "2"}))
        document = plan_of(world)
        (held,) = document["holds"]
        assert held["objects"] == gone and not planned_deletes(document)
        world.settle()
        hold = only_hold(world)
        assert hold.name == held["name"] and hold.objects == gone == len(hold.removals)
        assert {reason.rule for reason in hold.reasons} >= {HoldRule.MASS_DELETION}
        assert "'version': '2'" in str(world.live("c6", "ConfigMap", "settings", "shop")), "the rest goes out"
        assert [version(world, name) for name in CLUSTERS] == versions, "what is held stays as it is"
        commits = world.state_commits()
        world.restart()
        world.settle()
        assert world.state_commits() == commits
        world.commit(*labels, *before, remove=[] if before else slip)
        world.settle()
        assert not world.state().holds and objects(world) == had
        world.commit(*slip)
        world.settle()
        hold = only_hold(world)
    world.write(answer(hold))
    most = most_deleting(world)
    assert most == 1 and not world.state().holds
    assert len(objects(world)) == len(had) - gone


def planned_deletes(document: JsonObject) -> list[JsonObject]:
    """What a plan deletes, now or later."""
    rows = (row for p in document["placements"] for part in ("operations", "later") for row in p[part])
    return [row for row in rows if row["action"] == "delete"]


def most_deleting(world: World) -> int:
    """Settles; on how many clusters something was deleted in one pass at most."""
    most = 0
    while True:
        start = len(world.happenings)
        result = world.reconcile()
        most = max(most, len({h.cluster for h in world.happenings[start:] if h.what == "delete"}))
        if result is not None and not result.changed:
            moment = world.fleet.next_change() or result.wake_at
            if moment is None:
                return most
            world.move_to(moment)


def test_the_reason_names_the_override() -> None:
    world = settled()
    world.commit(of_objects(rule(LAB)))
    world.settle()
    world.commit(of_objects(rule(EU)))
    world.settle()
    (reason,) = only_hold(world).reasons
    expected = "the commit removes 12 of the 18 objects that placement web has, from 6 clusters (more than 30%)"
    assert str(reason) == f"overrides/web-drop.yaml:18: {expected}: overrides/web-drop.yaml deletes objects there"
    assert str(only_hold(world).removals[0]) == ApiText.PLACEMENT_CLUSTER_2(
        object="ConfigMap/web/settings", placement="web", cluster="c1"
    )


def test_a_small_deletion_by_an_override_goes_out() -> None:
    world = settled()
    world.commit(*clusters("lab", "c1"), of_objects(rule(LAB), names=["app"]))
    (row,) = planned_deletes(plan_of(world))
    assert row["reason"] == ApplyText.DELETES_CLUSTER(
        override="ResourceOverride", override_2="web/drop", placement="ClusterResourcePlacement", placement_2="web"
    )
    world.settle()
    assert not world.state().holds and len(objects(world)) == 53


def test_an_override_that_leaves_nothing_of_a_placement_is_held_in_a_small_fleet_too() -> None:
    world = World()
    world.commit(*clusters("eu", "c1", "c2"), builders.namespace("web"), builders.placement("web"))
    world.settle()
    with world.nothing_deleted():
        world.commit(of_namespace(rule()))
        world.settle()
        (reason,) = only_hold(world).reasons
        assert reason.rule is HoldRule.EMPTY_SELECTION
        assert "ClusterResourcePlacement web has no objects any more" in reason.sentence


def test_only_the_override_that_deletes_waits_and_only_where_it_does() -> None:
    """What another override says, and what the placement's own manifests say, goes out."""
    world = settled()
    world.commit(*clusters("lab", "c1", "c2", "c3"))
    world.settle()
    with world.nothing_deleted():
        patch = {"op": "add", "path": "/metadata/labels/tier", "value": "x"}
        label = {"op": "add", "path": "/metadata/labels", "value": {}}
        other = of_namespace(rule(patch=label))
        other["spec"]["policy"]["overrideRules"].append(rule(patch=patch))
        world.commit(of_objects(rule(LAB)), other, builders.config_map("web", "more", {"a": "b"}))
        world.settle()
        assert only_hold(world).objects == 6
        for name in CLUSTERS:
            for found in (world.live(name, "ConfigMap", n, "web") or {} for n in ("settings", "more")):
                assert found["metadata"]["labels"]["tier"] == "x"
    with world.nothing_deleted():
        world.commit(builders.config_map("web", "settings", {"version": "2"}))
        world.settle()
        assert {version(world, name) for name in CLUSTERS} == {"2"}


@pytest.mark.parametrize("how", ["approved", "taken back"])
def test_a_wider_deletion_in_a_later_commit_has_a_hold_of_its_own(how: str) -> None:
    """The override waits as a whole where a part of what it deletes waits: what was approved goes with the rest."""
    world = settled()
    with world.nothing_deleted():
        world.commit(of_objects(rule(), names=["app"]))
        world.settle()
        first = only_hold(world)
        world.commit(of_objects(rule()))
        world.settle()
        (second,) = (hold for name, hold in world.state().holds.items() if name != first.name)
        assert {removal.object.name for removal in second.removals if removal.object} == {"settings"}
        world.write(answer(first))
        world.settle()
        assert [hold.answer for hold in world.state().holds.values()].count(Status.TRUE) == 1
    if how == "approved":
        world.write(answer(second))
    else:
        world.commit(of_objects(rule(), names=["app"]))
    world.settle()
    assert not world.state().holds
    assert len(objects(world)) == (42 if how == "approved" else 48)


KEPT_OUT = [of_objects(rule(LAB), names=["settings"]), of_namespace(rule(EU, patch=LABEL))]
HELD_WHOLE: Mapping[str, Sequence[Sequence[str] | JsonObject]] = {
    "with its overrides": [["placements/web.yaml", "overrides/web-drop.yaml", "overrides/of-web.yaml"]],
    "its overrides later": [["placements/web.yaml"], ["overrides/web-drop.yaml", "overrides/of-web.yaml"]],
    "its override edited later": [["placements/web.yaml"], of_objects(rule(EU, patch=PATCH), names=["settings"])],
    "its other override edited later": [["placements/web.yaml"], of_namespace(rule(EU, patch=OTHER_LABEL))],
    "a cluster relabelled": [["placements/web.yaml"], *clusters("eu", "c1")],
    "the whole tree": [["placements/", "overrides/", "resources/", "clusters/"]],
}


def after_removing(
    commits: Sequence[Sequence[str] | JsonObject],
) -> tuple[World, dict[str, object], Mapping[str, bytes]]:
    """A fleet with overrides after commits that remove files of these prefixes, or write an object, and that neither
    plan nor do anything to a cluster; with what is placed, and the files that there were."""
    world = settled()
    world.commit(*clusters("lab", "c1", "c2"))
    world.settle()
    world.commit(*KEPT_OUT)
    world.settle()
    had, files = everything(world), world.repo.files("main")
    assert not world.state().holds and version(world, "c1") == "" and version(world, "c3") == "1"
    for commit in commits:
        if isinstance(commit, dict):
            world.commit(commit)
        else:
            world.write({path: None for path in files if path.startswith(tuple(commit))})
        assert not planned(plan_of(world), "operations", "later")
        world.settle()
        assert everything(world) == had
    return world, had, files


@pytest.mark.parametrize("commits", HELD_WHOLE.values(), ids=HELD_WHOLE)
def test_a_placement_that_is_held_as_a_whole_keeps_its_overrides(commits: Sequence[Sequence[str] | JsonObject]) -> None:
    """Nothing of it is created, patched or deleted, until it is written back: then the overrides of now hold."""
    world, had, files = after_removing(commits)
    assert sum(hold.objects for hold in world.state().holds.values()) == (52 if len(commits[0]) == 4 else 16)
    world.restart()
    world.settle()
    assert everything(world) == had
    world.fleet.cluster("c3").mutate(
        ObjectKey("", "v1", "ConfigMap", "web", "settings"), [{**PATCH, "value": "edited by hand"}]
    )
    world.settle()
    assert everything(world) == had, "drift goes on being corrected"
    world.write({path: text.decode() for path, text in files.items()})
    world.settle()
    assert not world.state().holds and everything(world) == had


def everything(world: World) -> dict[str, object]:
    """What is placed on every cluster, with its labels and data."""
    return {
        f"{name} {found.key}": (found.body["metadata"].get("labels"), found.body.get("data"), found.body.get("spec"))
        for name, cluster in world.fleet.clusters.items()
        for found in cluster.objects()
        if found.key.namespace in TEAMS or found.key.name in TEAMS
    }


NEW = {"namespace": "web", "spec": of_objects(rule(EU, patch=PATCH), names=["settings"])["spec"]}
HELD_OBJECTS: Mapping[str, Sequence[Sequence[str] | JsonObject]] = {
    "with the overrides": [["resources/", "overrides/"]],
    "overrides later": [["resources/"], ["overrides/"]],
    "an override edited later": [["resources/"], of_objects(rule(EU, patch=PATCH), names=["settings"])],
    "a cluster relabelled": [["resources/", "overrides/"], *clusters("eu", "c1")],
    "a new override": [["resources/"], builders.an_object(builders.PLACEMENT_API, "ResourceOverride", "new", **NEW)],
}


@pytest.mark.parametrize("commits", HELD_OBJECTS.values(), ids=HELD_OBJECTS)
def test_an_object_whose_manifest_is_gone_keeps_its_overrides(commits: Sequence[Sequence[str] | JsonObject]) -> None:
    """As long as its removal is held; a cluster that joins meanwhile gets it as the others in its place have it."""
    world, had, files = after_removing(commits)
    world.restart()
    world.settle()
    assert everything(world) == had and world.state().holds
    world.commit(*clusters("lab", "c7"), *clusters("eu", "c8"))
    world.settle()
    now = everything(world)
    for new, like in (("c7", "c2"), ("c8", "c3")):
        assert {k.partition(" ")[2]: v for k, v in now.items() if k.startswith(f"{new} ")} == {
            k.partition(" ")[2]: v for k, v in had.items() if k.startswith(f"{like} ")
        }
    world.write({path: files[path].decode() if path in files else None for path in {*world.repo.files("main"), *files}})
    world.settle()
    assert not world.state().holds and {k: v for k, v in everything(world).items() if k in had} == had


def test_an_override_of_what_is_held_goes_on_for_its_placement_alone_until_the_answer() -> None:
    world = settled()
    world.commit(of_namespace(rule(EU, patch=LABEL)), of_namespace(rule(EU, patch=LABEL), team="shop"))
    world.settle()
    lost = ("resources/web/configmap-settings.yaml", "overrides/of-web.yaml", "overrides/of-shop.yaml")
    with world.nothing_deleted():
        world.write(dict.fromkeys(lost))
        world.settle()
        hold = only_hold(world)
        assert hold.objects == 6 and tiers(world, "shop") == {None} and tiers(world, "web") == {"x"}
    world.write(answer(hold))
    world.settle()
    assert not world.state().holds and tiers(world, "web") == {None} and len(objects(world)) == 48


def tiers(world: World, team: str) -> set[object]:
    """The label "tier" of the objects of a namespace, wherever they are."""
    found = (live.body for one in world.fleet.clusters.values() for live in one.objects() if live.key.namespace == team)
    return {(body["metadata"].get("labels") or {}).get("tier") for body in found}
