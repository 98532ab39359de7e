"""Folders that wait for others, on whole simulated fleets."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from gitfleet.api.conditions import Reason, find_condition
from gitfleet.api.objects import JsonObject
from gitfleet.api.scenarios import ClusterRule, ObjectPattern
from gitfleet.reconcile.texts import ReconcileText
from tests import builders
from tests.folders import FOLDER, folder, select_folder, without_namespace
from tests.scenarios.staged_world import EXTERNAL, QUICK, ROLLING
from tests.scenarios.test_folders import clusters
from tests.scenarios.world import World, answer

NEEDS_CERTS = ({"folder": "certs"},)
BAD = ClusterRule(object=ObjectPattern(kind="Deployment", name="certs", image="certs:bad*"), available="never")


def files(name: str, image: str, needs: tuple[Mapping[str, str], ...] = ()) -> dict[str, str]:
    """A Folder in a namespace of its own with one Deployment."""
    body = folder(name, namespace=name, createNamespace=True, dependsOn=[dict(one) for one in needs])
    web = without_namespace(builders.deployment("x", name, image))
    return {f"resources/{name}/{FOLDER}": builders.to_yaml(body), f"resources/{name}/web.yaml": builders.to_yaml(web)}


def placed(
    *names: str, strategy: Mapping[str, object] = ROLLING, policy: Mapping[str, object] | None = None
) -> JsonObject:
    """A placement of Folders, by the name of the first."""
    selectors = [select_folder(name) for name in names]
    return builders.placement(names[0], selectors=selectors, strategy=strategy, policy=policy)


def two_folders(*bodies: JsonObject, certs: str = "certs:1") -> World:
    """`apps` waits for `certs`, each in a placement of its own."""
    world = World(rules=(BAD, QUICK))
    world.commit(*clusters(p1="prod", p2="prod"), *(bodies or (placed("apps"), placed("certs"))))
    world.write({**files("apps", "apps:1", NEEDS_CERTS), **files("certs", certs)})
    return world


def images(world: World, name: str) -> set[str]:
    """The image of a Deployment on all clusters."""
    bodies = [world.live(cluster, "Deployment", name, namespace=name) for cluster in world.fleet.clusters]
    return {"" if b is None else b["spec"]["template"]["spec"]["containers"][0]["image"] for b in bodies}


def waits(world: World, name: str = "apps") -> dict[str, str]:
    """Why the clusters of a placement wait for a dependency."""
    found = {c: find_condition(b.conditions, "RolloutStarted") for c, b in world.bindings(name).items()}
    return {c: s.message for c, s in found.items() if s and s.reason == Reason.DEPENDENCY_NOT_AVAILABLE}


def test_a_cluster_waits_until_the_dependency_is_available_there() -> None:
    world = two_folders()
    world.reconcile()
    assert waits(world) == {
        name: ReconcileText.DEPENDENCY_NOT_AVAILABLE(folder="apps", needed="folder certs", cluster=name)
        for name in ("p1", "p2")
    }
    assert images(world, "apps") == {""}
    world.settle()
    assert images(world, "apps") == {"apps:1"}


def test_new_content_of_both_goes_out_to_the_dependency_first() -> None:
    world = two_folders()
    world.settle()
    world.write({**files("apps", "apps:2", NEEDS_CERTS), **files("certs", "certs:2")})

    def is_in_order() -> None:
        for cluster in world.fleet.clusters:
            assert world.image(cluster, "apps") == "apps:1" or world.image(cluster, "certs") == "certs:2"

    world.settle(each=is_in_order)
    assert images(world, "apps") == {"apps:2"}


def test_a_dependency_that_never_comes_keeps_back_changes_alone() -> None:
    world = two_folders()
    world.settle()
    world.write(files("certs", "certs:bad"))
    world.settle()
    assert images(world, "apps") == {"apps:1"}
    assert not waits(world)  # what has not changed does not wait
    world.write(files("apps", "apps:2", NEEDS_CERTS))
    world.settle()
    assert images(world, "apps") == {"apps:1"}
    assert set(waits(world)) == {"p1", "p2"}
    world.write(files("certs", "certs:3"))
    world.settle()
    assert images(world, "apps") == {"apps:2"}


def test_a_dependency_that_is_not_placed_is_waited_for() -> None:
    world = two_folders(placed("apps"))
    world.settle()
    assert waits(world)["p1"] == ReconcileText.DEPENDENCY_NOT_PLACED(folder="apps", needed="folder certs", cluster="p1")
    world.commit(placed("certs", policy=builders.pick_fixed("p2")))
    world.settle()
    assert set(waits(world)) == {"p1"}
    assert images(world, "apps") == {"", "apps:1"}


def test_a_folder_that_nobody_has_is_waited_for() -> None:
    world = World(rules=(QUICK,))
    world.commit(*clusters(p1="prod"), placed("apps"))
    world.write(files("apps", "apps:1"))
    world.settle()
    world.write(files("apps", "apps:2", ({"folder": "nothing"},)))
    world.settle()
    assert images(world, "apps") == {"apps:1"}
    assert waits(world) == {"p1": ReconcileText.DEPENDENCY_UNKNOWN(folder="apps", needed="folder nothing")}


def test_the_clusters_of_a_run_wait_likewise() -> None:
    stages = builders.staged_strategy("stages", builders.stage("all"))
    world = two_folders(placed("apps", strategy=EXTERNAL), placed("certs"), stages, certs="certs:bad")
    world.commit(builders.staged_run("one", placement="apps", strategy="stages"))
    world.settle()
    assert images(world, "apps") == {""}
    (run,) = world.state().runs.values()
    wait = ReconcileText.DEPENDENCY_NOT_AVAILABLE(folder="apps", needed="folder certs", cluster="p1")
    assert wait in next(c.message for c in run.status.conditions if c.type == "Progressing")
    world.write(files("certs", "certs:2"))
    world.settle()
    assert images(world, "apps") == {"apps:1"}


def test_what_a_run_brings_to_the_dependency_is_waited_for() -> None:
    stages = builders.staged_strategy("stages", builders.stage("all", maxConcurrency=1))
    world = two_folders(placed("apps"), placed("certs", strategy=EXTERNAL), stages)
    world.settle()
    assert images(world, "apps") == {""}
    world.commit(builders.staged_run("one", placement="certs", strategy="stages"))
    world.settle()
    assert images(world, "apps") == {"apps:1"}
    world.write({**files("apps", "apps:2", NEEDS_CERTS), **files("certs", "certs:2")})
    world.commit(builders.staged_run("two", placement="certs", strategy="stages"))

    def is_in_order() -> None:
        for cluster in world.fleet.clusters:
            assert world.image(cluster, "apps") == "apps:1" or world.image(cluster, "certs") == "certs:2"

    world.settle(each=is_in_order)
    assert images(world, "apps") == {"apps:2"}


def test_no_budget_is_used_by_what_waits() -> None:
    world = two_folders(placed("apps"), placed("certs", policy=builders.pick_fixed("p2")))
    world.write(files("apps", "apps:1"))
    world.settle()
    world.write(files("apps", "apps:2", NEEDS_CERTS))
    world.settle()
    assert world.image("p2", "apps") == "apps:2"  # p1, which comes first by name, waits
    assert set(waits(world)) == {"p1"}


def in_one_placement(certs: str = "certs:1") -> World:
    """`apps` waits for `certs`, both in one placement."""
    return two_folders(placed("apps", "certs"), certs=certs)


def test_within_a_placement_the_applies_wait() -> None:
    world = in_one_placement()
    world.reconcile()
    assert (images(world, "certs"), images(world, "apps")) == ({"certs:1"}, {""})
    world.settle()
    assert images(world, "apps") == {"apps:1"}
    world.write({**files("apps", "apps:2", NEEDS_CERTS), **files("certs", "certs:bad")})
    world.settle()
    assert images(world, "apps") == {"apps:1"}
    waiting = [failed for b in world.bindings("apps").values() for failed in b.failed if failed.key.name == "apps"]
    assert [failed.reason for failed in waiting] == ["WaitsForFolder"]
    world.write(files("certs", "certs:3"))
    world.settle()
    assert images(world, "apps") == {"apps:2"}


@pytest.mark.parametrize("placements", [[placed("apps"), placed("certs")], [placed("apps", "certs")]])
def test_what_goes_from_a_cluster_goes_in_reverse(placements: list[JsonObject]) -> None:
    world = two_folders(*placements)
    world.settle()
    world.roll_out(remove=placements)
    world.roll_out(files={path: text for hold in world.state().held.values() for path, text in answer(hold).items()})
    assert images(world, "certs") == {""}
    gone = [happening.key.name for happening in world.happenings if happening.what == "delete"]
    order = [name for name in gone if name in {"apps", "certs"}]
    assert order.index("apps") < order.index("certs")
