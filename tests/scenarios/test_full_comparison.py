"""FullComparison: what the server filled in is no drift, asked of the server where its records do not tell; each
content is asked about once, and nothing is ever written by asking."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from gitfleet.adapters.kube.texts import KubeText
from gitfleet.api.bindings import Binding
from gitfleet.api.objects import JsonObject, ObjectKey
from gitfleet.api.scenarios import ClusterRule, ObjectPattern
from gitfleet.apply.texts import ApplyText
from gitfleet.fleet import dry_runs
from gitfleet.fleet.texts import FleetText
from gitfleet.simulation import requests
from gitfleet.simulation.requests import replaced as replaced_as_it_is
from tests import builders
from tests.scenarios.staged_world import QUICK
from tests.scenarios.world import World

WEB = ObjectKey("apps", "v1", "Deployment", "shop", "web")
GRACE = "/spec/template/spec/terminationGracePeriodSeconds"
STRICT = {"comparisonOption": "FullComparison", "whenToApply": "IfNotDrifted"}


def fleet(**strategy: Any) -> list[JsonObject]:
    rolling = {**builders.rolling_update(), "applyStrategy": strategy or STRICT}
    return [
        builders.member_cluster("c1"),
        builders.namespace("shop"),
        builders.deployment("shop", "web"),
        builders.placement("shop", strategy=rolling),
    ]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of what dry runs were about."""
    names: list[str] = []
    replaced = replaced_as_it_is

    def counted(server: Any, key: ObjectKey, *more: Any) -> Any:
        names.append(key.name)
        return replaced(server, key, *more)

    monkeypatch.setattr(requests, "replaced", counted)
    yield names


def rolled_out(**strategy: Any) -> World:
    world = World()
    world.roll_out(*fleet(**strategy))
    return world


def by_hand(world: World, value: int, op: str = "replace", path: str = GRACE) -> None:
    world.fleet.cluster("c1").mutate(WEB, [{"op": op, "path": path, "value": value}])


def drifted(world: World) -> list[tuple[str, str | None, str | None, str]]:
    """What the binding says of the Deployment: each path, both values, and who wrote it."""
    found: Binding = world.bindings("shop")["c1"]
    (one,) = (one for one in found.drifted if one.key == WEB)
    writers = {writer.path: writer.manager for writer in one.writers}
    return [(path, there, wanted, writers.get(path, "")) for path, there, wanted in one.details]


def test_a_fresh_object_has_no_drift_and_its_server_is_hardly_asked(asked: list[str]) -> None:
    world = rolled_out()
    live = world.fleet.cluster("c1").memory.get(WEB)
    assert live is not None and live.body["spec"]["progressDeadlineSeconds"] == 600
    assert not world.bindings("shop")["c1"].failed and not world.bindings("shop")["c1"].drifted
    assert "web" not in asked


def test_a_default_that_somebody_changed_has_drifted_and_one_that_is_back_has_not(asked: list[str]) -> None:
    world = rolled_out()
    by_hand(world, 5)
    world.settle()
    assert drifted(world) == [(GRACE, "5", None, "kubectl-edit")]
    version = world.fleet.cluster("c1").memory.version
    before = asked.count("web")
    for _ in range(3):
        world.advance(seconds=60)
        world.settle()
    world.driver.reconcile()
    assert asked.count("web") == before == 1, "the content is asked about once"
    assert world.fleet.cluster("c1").memory.version == version, "asking writes nothing"
    by_hand(world, 30)
    world.settle()
    assert not world.bindings("shop")["c1"].drifted and not world.bindings("shop")["c1"].failed
    assert asked.count("web") == 2


def test_a_refused_dry_run_is_said_counts_nothing_as_a_default_and_is_tried_again(asked: list[str]) -> None:
    world = rolled_out()
    by_hand(world, 5)
    by_hand(world, 30)
    world.advance(seconds=5)  # The Deployment's controller notes a revision of it, which is another content.
    cluster = world.fleet.cluster("c1")
    cluster.memory.rules = (ClusterRule(object=ObjectPattern(kind="Deployment"), apply="fail"),)
    world.settle()
    (failed,) = world.bindings("shop")["c1"].failed
    refused = KubeText.DRY_RUN_REFUSED(message="")
    assert ApplyText.SERVER_FILLED_COUNTS_WELL(error=refused) in failed.message
    assert drifted(world) == [(GRACE, "30", None, "kubectl-edit")]
    assert asked.count("web") == 1
    cluster.memory.rules = ()
    world.advance(minutes=11)
    world.settle()
    assert not world.bindings("shop")["c1"].drifted and asked.count("web") == 2


def test_so_many_at_once_and_the_rest_in_the_next_pass(asked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dry_runs, "MOST_AT_ONCE", 2)
    world = World()
    names = [f"web-{number}" for number in range(5)]
    world.roll_out(*fleet(), *(builders.deployment("shop", name) for name in names))
    for name in names:
        for value in (5, 30):
            patch = [{"op": "replace", "path": GRACE, "value": value}]
            world.fleet.cluster("c1").mutate(ObjectKey("apps", "v1", "Deployment", "shop", name), patch)
    counts = []
    for _ in range(4):
        world.driver.reconcile()
        counts.append(len([name for name in asked if name in names]))
    assert counts == [4, 5, 5, 5], "before deciding, and before planning"
    world.settle()
    assert not world.bindings("shop")["c1"].drifted


@pytest.mark.parametrize("answers", [True, False], ids=["answered", "refused"])
def test_a_run_until_all_is_settled_asks_about_all_first(monkeypatch: pytest.MonkeyPatch, answers: bool) -> None:
    """What has drifted stands in front, and its answers change nothing."""
    monkeypatch.setattr(dry_runs, "MOST_AT_ONCE", 2)
    world = World(rules=(QUICK,))
    names = [f"web-{number}" for number in range(12)]
    world.roll_out(*fleet(comparisonOption="FullComparison"), *(builders.deployment("shop", name) for name in names))
    cluster = world.fleet.cluster("c1")
    for number, name in enumerate(names):
        for value in (5, 30) if number > 7 else (5,):
            patch = [{"op": "replace", "path": GRACE, "value": value}]
            cluster.mutate(ObjectKey("apps", "v1", "Deployment", "shop", name), patch)
    if not answers:
        cluster.memory.rules = (ClusterRule(object=ObjectPattern(kind="Deployment"), apply="fail"),)
    world.advance(minutes=5)
    results = [world.driver.reconcile()]
    while not results[-1].settled and len(results) < 12:
        results.append(world.driver.reconcile())
    said = FleetText.SERVER_FILLED_NOT_KNOWN_ALL().format("c1")
    assert said in results[0].waiting
    assert results[-1].settled and len(results) <= 6
    # Refused, all that somebody wrote counts.
    drifted_ = [drift.key.name for drift in world.bindings("shop")["c1"].drifted]
    assert drifted_ == sorted(names[:8] if answers else names)


def test_what_changes_in_each_pass_keeps_nothing_else_from_being_asked(
    asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dry_runs, "MOST_AT_ONCE", 2)
    world = World()
    names = [f"web-{number}" for number in range(7)]
    world.roll_out(*fleet(), *(builders.deployment("shop", name) for name in names))

    def edit(name: str, patch: JsonObject) -> None:
        world.fleet.cluster("c1").mutate(ObjectKey("apps", "v1", "Deployment", "shop", name), [patch])

    for name in names:
        for value in (5, 30):
            edit(name, {"op": "replace", "path": GRACE, "value": value})
    for number in range(4):
        for name in names[:5]:
            edit(name, {"op": "add", "path": "/metadata/annotations", "value": {"kubernetes.io/change": str(number)}})
        world.driver.reconcile()
    assert set(names) <= set(asked)
