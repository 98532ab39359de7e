"""Folders and their variants on whole simulated fleets."""

from __future__ import annotations

from collections.abc import Mapping

from gitfleet.api.conditions import Status
from gitfleet.api.holds import HoldRule, RemovalKind
from gitfleet.api.objects import JsonObject
from gitfleet.api.placements import PlacementKey
from gitfleet.api.scenarios import ClusterRule, ObjectPattern
from tests import builders
from tests.folders import FOLDER, PROD, REST, folder, select_folder, settings, web
from tests.scenarios.pull_world import PullWorld
from tests.scenarios.staged_world import EXTERNAL, QUICK, ROLLING
from tests.scenarios.test_rendered_branch import rendering
from tests.scenarios.world import World, answer, only_hold

APPS = PlacementKey("", "apps")
ENV = {"p1": "prod", "p2": "prod", "s1": "staging"}
IN_VARIANTS = folder("apps", ("prod", "prod", PROD), REST, namespace="apps", createNamespace=True)


def clusters(**env: str) -> list[JsonObject]:
    """Clusters by name with the label `env`."""
    return [builders.member_cluster(name, labels={"env": value}) for name, value in env.items()]


def apps_world(
    *bodies: JsonObject, strategy: Mapping[str, object] = ROLLING, world: World | None = None, **files: str
) -> World:
    """Three clusters, of which two get variant prod of the folder `apps`."""
    world = world or World(rules=(QUICK,))
    world.commit(
        *clusters(**ENV),
        builders.placement("apps", selectors=[select_folder("apps")], strategy=strategy),
        *bodies,
    )
    texts = {"base/web.yaml": web("web:1"), "prod/web.yaml": web("web:1", replicas=3)}
    texts |= {f"base/{name}.yaml": text for name, text in files.items()}
    world.write(
        {
            f"resources/apps/{FOLDER}": builders.to_yaml(IN_VARIANTS),
            **{f"resources/apps/{path}": text for path, text in texts.items()},
        }
    )
    world.settle()
    return world


def replicas(world: World) -> dict[str, int]:
    """The replicas of the Deployment `web` by cluster."""
    return {name: world.body(name, "Deployment", "web")["spec"]["replicas"] for name in world.fleet.clusters}


def variants(world: World) -> dict[str, dict[str, str]]:
    """The variants of the bindings by cluster."""
    return {name: dict(binding.variants) for name, binding in world.bindings("apps").items()}


def indexes(world: World) -> dict[str, str | None]:
    """The snapshots of the bindings by cluster."""
    return {name: binding.resource_snapshot for name, binding in world.bindings("apps").items()}


def test_each_cluster_gets_its_variant_and_the_made_namespace() -> None:
    world = apps_world()
    assert replicas(world) == {"p1": 3, "p2": 3, "s1": 1}
    assert variants(world) == {"p1": {"apps": "prod"}, "p2": {"apps": "prod"}, "s1": {"apps": "rest"}}
    assert world.live("s1", "Namespace", "apps") is not None
    assert not world.state().faults
    (snapshot,) = world.state().placements[APPS].resource_snapshots
    assert [key.kind for key in snapshot.keys] == ["Namespace", "Deployment"]
    assert len(snapshot.documents) == 3
    assert all(b.conditions[-1].status is Status.TRUE for b in world.bindings("apps").values())


def test_a_changed_label_is_an_update_within_the_budget() -> None:
    world = apps_world()
    world.commit(*clusters(p1="staging", p2="staging"))
    moving = 0

    def count() -> None:
        nonlocal moving
        under_way = [b for b in world.bindings("apps").values() if b.conditions[-1].status is not Status.TRUE]
        moving = max(moving, len(under_way))

    world.settle(each=count)
    assert replicas(world) == dict.fromkeys(ENV, 1)
    assert moving == 1
    assert set(indexes(world).values()) == {"apps-0-snapshot"}


def test_an_edited_variant_moves_its_own_clusters_and_the_others_take_the_number() -> None:
    world = apps_world()
    before = world.bindings("apps")["s1"].conditions[-1]
    world.write({"resources/apps/prod/web.yaml": web("web:1", replicas=5)})
    world.rest()
    assert indexes(world)["s1"] == "apps-1-snapshot"
    assert world.bindings("apps")["s1"].conditions[-1].status is Status.TRUE
    assert sum(name == "apps-1-snapshot" for name in indexes(world).values()) == 2
    world.settle()
    assert replicas(world) == {"p1": 5, "p2": 5, "s1": 1}
    assert before.last_transition_time == world.bindings("apps")["s1"].conditions[-1].last_transition_time


def test_what_the_new_variant_lacks_is_withdrawn_and_what_none_has_is_dropped() -> None:
    world = apps_world(builders.fleet_config(removals={"minClusters": 3}), settings=settings(a="1"))
    assert world.live("s1", "ConfigMap", "settings") is not None
    world.roll_out(*clusters(s1="prod"))  # no cluster has variant rest now, and the object is withdrawn all the same
    (removal,) = only_hold(world).removals
    assert (removal.kind, removal.cluster, removal.rules) == (RemovalKind.BINDING, "s1", (HoldRule.MASS_REMOVAL,))
    assert world.live("s1", "ConfigMap", "settings") is not None
    world.roll_out(remove=["resources/apps/base/settings.yaml"])
    assert not world.state().held  # one object that no variant has is dropped, and that is no mass removal
    assert world.live("s1", "ConfigMap", "settings") is None


def test_removing_a_variant_is_judged_by_the_gate() -> None:
    world = apps_world(builders.fleet_config(removals={"minClusters": 3}))
    prod_alone = folder("apps", ("prod", "prod", PROD), namespace="apps", createNamespace=True)
    with world.nothing_deleted():
        world.roll_out(files={f"resources/apps/{FOLDER}": builders.to_yaml(prod_alone)})
    assert variants(world)["s1"] == {}
    (removal,) = only_hold(world).removals
    assert (removal.kind, removal.cluster, removal.rules) == (RemovalKind.BINDING, "s1", (HoldRule.MASS_REMOVAL,))
    world.roll_out(files=answer(only_hold(world)))
    assert world.live("s1", "Deployment", "web") is None
    assert world.live("s1", "Namespace", "apps") is not None


def prod_is(replicas_of_prod: int) -> dict[str, str | None]:
    """An edit of variant prod."""
    return {"resources/apps/prod/web.yaml": web("web:1", replicas=replicas_of_prod)}


def test_a_pin_brings_back_the_old_variants_and_the_old_selectors() -> None:
    world = apps_world()
    rest_first = folder("apps", ("rest", "base", None), namespace="apps", createNamespace=True)
    world.roll_out(files={f"resources/apps/{FOLDER}": builders.to_yaml(rest_first)})
    assert replicas(world) == dict.fromkeys(ENV, 1)
    old = world.state().placements[APPS].resource_snapshots[0]
    world.roll_out(builders.pin("apps", 0, old.hash))
    assert replicas(world) == {"p1": 3, "p2": 3, "s1": 1}
    newest = world.state().placements[APPS].resource_snapshots[-1]
    assert (newest.hash, newest.folders) == (old.hash, old.folders)
    world.roll_out(remove=["pins/apps.yaml"])
    assert replicas(world) == dict.fromkeys(ENV, 1)


STAGES = builders.staged_strategy("all", builders.stage("all", maxConcurrency=1))


def test_a_run_fixes_the_variants_when_it_begins_and_a_changed_label_waits_for_the_next_one() -> None:
    world = apps_world(STAGES, strategy=EXTERNAL)
    world.roll_out(builders.staged_run("first", placement="apps", strategy="all"))
    assert replicas(world) == {"p1": 3, "p2": 3, "s1": 1}
    world.write(prod_is(5))
    world.commit(builders.staged_run("second", placement="apps", strategy="all"))
    world.rest()
    world.roll_out(*clusters(p1="staging", p2="staging"))
    assert replicas(world) == {"p1": 5, "p2": 5, "s1": 1}
    assert set(indexes(world).values()) == {"apps-1-snapshot"}  # every cluster is verified, s1 too
    world.roll_out(builders.staged_run("third", placement="apps", strategy="all"))
    assert replicas(world) == dict.fromkeys(ENV, 1)
    assert not [h for h in world.happenings if h.what == "delete"]


def test_a_run_that_fails_gives_back_the_variant() -> None:
    bad = ClusterRule(object=ObjectPattern(image="bad:1"), available="never")
    world = apps_world(STAGES, strategy=EXTERNAL, world=World(rules=(bad, QUICK)))
    world.roll_out(builders.staged_run("first", placement="apps", strategy="all"))
    stage = builders.stage("all", maxConcurrency=1, stuckAfter="1m", onFailure="Rollback")
    world.commit(*clusters(p1="staging"), builders.staged_strategy("back", stage))
    world.write({"resources/apps/base/web.yaml": web("bad:1")})
    world.roll_out(builders.staged_run("second", placement="apps", strategy="back"))
    assert variants(world)["p1"] == {"apps": "prod"}
    assert replicas(world)["p1"] == 3


def test_an_override_comes_after_the_variant_and_leaves_a_cluster_without_the_object_alone() -> None:
    patch = builders.override_rule({"op": "replace", "path": "/spec/replicas", "value": 7})
    world = apps_world(builders.override("more", "Deployment/web", patch, namespace="apps"), settings=settings(a="1"))
    assert replicas(world) == dict.fromkeys(ENV, 7)
    also = builders.override_rule({"op": "add", "path": "/data/b", "value": "2"})
    world.roll_out(builders.override("data", "ConfigMap/settings", also, namespace="apps"))
    assert world.body("s1", "ConfigMap", "settings")["data"] == {"a": "1", "b": "2"}
    assert world.live("p1", "ConfigMap", "settings") is None
    assert all(b.conditions[-1].status is Status.TRUE for b in world.bindings("apps").values())


def test_a_patch_that_does_not_fit_a_variant_is_an_error_and_fails_its_clusters_alone() -> None:
    texts = {"base/web.yaml": web("web:1"), "prod/web.yaml": web("web:1", replicas=None)}
    world = apps_world(strategy=builders.rolling_update(maxUnavailable=3))
    world.write({f"resources/apps/{path}": text for path, text in texts.items()})
    patch = builders.override_rule({"op": "replace", "path": "/spec/replicas", "value": 7})
    world.roll_out(builders.override("more", "Deployment/web", patch, namespace="apps"))
    assert world.body("s1", "Deployment", "web")["spec"]["replicas"] == 7
    states = {name: b.conditions[-1].status for name, b in world.bindings("apps").items()}
    assert states["s1"] is Status.TRUE
    assert Status.FALSE in states.values()
    assert any("resources/apps/prod/web.yaml" in str(fault) for fault in world.state().faults)


def test_an_eviction_takes_the_variant_off_and_the_made_namespace_stays() -> None:
    world = apps_world()
    world.roll_out(builders.eviction("off", "apps", "p1"), builders.member_cluster("p1", labels={"env": "prod"}))
    assert "apps-0-snapshot" in indexes(world).values()
    world.roll_out(remove=["placements/apps.yaml"])
    for hold in [*world.state().held.values()]:
        world.roll_out(files=answer(hold))
    assert all(world.live(name, "Deployment", "web") is None for name in ENV)
    assert all(world.live(name, "Namespace", "apps") is not None for name in ENV)


def test_an_error_in_a_variant_keeps_its_last_good_version_and_others_go_on() -> None:
    world = apps_world()
    broken = {"resources/apps/prod/web.yaml": "kind: [", "resources/apps/base/web.yaml": web("web:1", replicas=2)}
    world.roll_out(files=broken)
    assert replicas(world) == {"p1": 3, "p2": 3, "s1": 2}
    world.roll_out(files={f"resources/apps/{FOLDER}": "kind: ["})
    assert replicas(world) == {"p1": 3, "p2": 3, "s1": 2}
    world.roll_out(files={f"resources/apps/{FOLDER}": builders.to_yaml(IN_VARIANTS), **prod_is(4)})
    assert replicas(world) == {"p1": 4, "p2": 4, "s1": 2}


def test_the_error_of_a_variant_whose_path_is_gone_stays_until_it_is_corrected() -> None:
    world = apps_world()
    world.write({"resources/apps/prod/web.yaml": None})
    for _ in range(3):
        world.reconcile()
        assert "VARIANT_PATH_NO_FOLDER" in [fault.code for fault in world.state().faults]
    assert replicas(world) == {"p1": 3, "p2": 3, "s1": 1}


def test_several_placements_have_the_made_namespace() -> None:
    world = apps_world()
    more = folder("more", namespace="apps", createNamespace=True)
    world.roll_out(
        files={
            f"resources/more/{FOLDER}": builders.to_yaml(more),
            "resources/more/settings.yaml": settings(a="1"),
            "placements/more.yaml": builders.to_yaml(builders.placement("more", selectors=[select_folder("more")])),
        }
    )
    for name in ("apps", "more"):
        assert all(b.conditions[-1].status is Status.TRUE for b in world.bindings(name).values()), name
    assert world.live("p1", "ConfigMap", "settings") is not None
    world.roll_out(remove=["placements/apps.yaml"])
    for hold in [*world.state().held.values()]:
        world.roll_out(files=answer(hold))
    assert world.live("p1", "Deployment", "web") is None
    assert world.live("p1", "ConfigMap", "settings") is not None
    assert all(b.conditions[-1].status is Status.TRUE for b in world.bindings("more").values())


def test_without_its_folder_file_the_made_namespace_is_released_and_people_alone_are_waited_for() -> None:
    world = apps_world(settings=settings(a="1"))
    with world.nothing_deleted():
        world.roll_out(remove=[f"resources/apps/{FOLDER}"])
    result = world.reconcile()
    assert result is not None and result.settled, result
    assert world.live("s1", "Deployment", "web") is not None
    assert not [key for owned in world.state().inventory.values() for key in owned if key.kind == "Namespace"]
    for hold in [*world.state().held.values()]:
        world.roll_out(files=answer(hold))
    assert all(world.live(name, "Namespace", "apps") is not None for name in ENV)
    world.roll_out(files={f"resources/apps/{FOLDER}": builders.to_yaml(IN_VARIANTS)})
    assert replicas(world) == {"p1": 3, "p2": 3, "s1": 1}


def test_the_rendered_branch_has_the_manifests_of_the_variant() -> None:
    world = rendering(World(rules=(QUICK,)))
    world = apps_world(builders.fleet_config(rendered={"enabled": True}), world=world)
    files = {path: content for path, content in world.repo.files("gitfleet/rendered").items() if "deployment" in path}
    assert {path.split("/")[0]: b"replicas: 3" in content for path, content in files.items()} == {
        "p1": True, "p2": True, "s1": False,
    }  # fmt: skip


def test_nothing_is_decided_again_without_a_change() -> None:
    world = apps_world()
    commits = world.state_commits()
    world.advance(hours=1)
    world.settle()
    world.restart()
    world.settle()
    assert world.state_commits() == commits


def test_an_agent_gets_the_manifests_of_its_variant() -> None:
    world = PullWorld(rules=(QUICK,))
    member = builders.member_cluster("p1", labels={"env": "prod"}, connection={"pull": True})
    world.commit(member, builders.placement("apps", selectors=[select_folder("apps")], strategy=ROLLING))
    texts = {f"resources/apps/{FOLDER}": builders.to_yaml(IN_VARIANTS), "resources/apps/base/web.yaml": web("web:1")}
    world.write({**texts, **prod_is(3)})
    world.start_agent("p1")
    world.turns()
    assert world.body("p1", "Deployment", "web")["spec"]["replicas"] == 3
    world.commit(builders.member_cluster("p1", labels={"env": "dev"}, connection={"pull": True}))
    world.turns()
    assert world.body("p1", "Deployment", "web")["spec"]["replicas"] == 1


def test_a_freeze_holds_a_cluster_at_its_variant() -> None:
    world = apps_world()
    world.roll_out(builders.freeze("stop", "2099-01-01T00:00:00Z"), *clusters(p1="staging"))
    assert (replicas(world)["p1"], variants(world)["p1"]) == (3, {"apps": "prod"})
    world.roll_out(remove=["freezes/stop.yaml"])
    assert replicas(world)["p1"] == 1


def test_an_error_in_a_folder_without_variants_keeps_what_is_placed_by_it() -> None:
    world = World(rules=(QUICK,))
    good = {
        f"resources/apps/{FOLDER}": builders.to_yaml(folder("apps", namespace="apps", createNamespace=True)),
        "resources/apps/web.yaml": web("web:1"),
    }
    world.commit(*clusters(c1="x"), builders.placement("apps", selectors=[select_folder("apps")]))
    world.roll_out(files=good)
    for broken in ("kind: [", builders.to_yaml(folder("apps", createNamespace=True)), "kind: ]"):
        world.roll_out(files={f"resources/apps/{FOLDER}": broken})
        assert [key.name for key in world.state().placements[APPS].resource_snapshots[-1].keys] == ["apps", "web"]
        assert indexes(world) == {"c1": "apps-0-snapshot"}
        world.restart()
    below = {"resources/kustomization.yaml": "resources: []\n"}
    world.roll_out(files={**good, **below})  # the folder lies below a kustomization now
    assert indexes(world) == {"c1": "apps-0-snapshot"}
    world.roll_out(files={"resources/kustomization.yaml": None, "resources/apps/web.yaml": web("web:2")})
    assert world.image("c1") == "web:2"
