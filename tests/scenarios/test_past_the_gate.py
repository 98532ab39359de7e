"""A deletion that any package sends past the removal gate is refused where deletions are performed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gitfleet import apply
from gitfleet.apply import deletions
from gitfleet.fleet.fanout import Fanout
from gitfleet.loop.driver import Driver
from gitfleet.model.operations import Delete, Operation
from tests import builders
from tests.scenarios.pull_world import PullWorld, pulled_cluster
from tests.scenarios.test_removals import maps

Mutate = Callable[[Operation], Operation]


def in_apply(monkeypatch: pytest.MonkeyPatch, mutate: Mutate) -> None:
    monkeypatch.setattr(deletions, "Delete", lambda **values: mutate(Delete(**values)))


def in_reconcile(monkeypatch: pytest.MonkeyPatch, mutate: Mutate) -> None:
    record = apply.record_all_intended

    def mutant(*arguments: Any) -> Any:
        inventory, operations = record(*arguments)
        return inventory, tuple(map(mutate, operations))

    monkeypatch.setattr(apply, "record_all_intended", mutant)


def in_loop(monkeypatch: pytest.MonkeyPatch, mutate: Mutate) -> None:
    plan = Driver.plan_operations

    def mutant(*arguments: Any) -> Any:
        decision, operations = plan(*arguments)
        return decision, tuple(map(mutate, operations))

    monkeypatch.setattr(Driver, "plan_operations", mutant)


def in_fleet(monkeypatch: pytest.MonkeyPatch, mutate: Mutate) -> None:
    perform: Any = Fanout.perform

    def mutant(fanout: Fanout, clusters: Any, operations: Any) -> Any:
        return perform(fanout, clusters, {name: [*map(mutate, writes)] for name, writes in operations.items()})

    monkeypatch.setattr(Fanout, "perform", mutant)


EVERY_PACKAGE = [in_apply, in_reconcile, in_loop, in_fleet]
CASES = [*((False, mutant) for mutant in EVERY_PACKAGE), *((True, mutant) for mutant in EVERY_PACKAGE[:3])]


@pytest.mark.parametrize(("pulled", "package"), CASES)
def test_a_deletion_past_the_gate_is_refused(
    pulled: bool, package: Callable[[pytest.MonkeyPatch, Mutate], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is deleted in place of an orphan, with its right uid, is an object that a placement wants."""
    world = PullWorld()
    if pulled:
        world.start_agent("c1")
    wanted, orphan = maps(2)
    member = pulled_cluster("c1") if pulled else builders.member_cluster("c1")
    world.commit(member, builders.namespace("app"), wanted, orphan, builders.placement("app"))
    world.turns()
    alive = world.live("c1", "ConfigMap", "m00", "app")
    assert alive is not None
    redirected = list[Delete]()

    def redirect(operation: Operation) -> Operation:
        if not isinstance(operation, Delete):
            return operation
        redirected.append(operation)
        return replace(operation, key=replace(operation.key, name="m00"), uid=alive["metadata"]["uid"])

    package(monkeypatch, redirect)
    world.commit(remove=[orphan])
    for _ in range(4):
        world.turn()
        world.advance(seconds=30)
    assert redirected and world.live("c1", "ConfigMap", "m00", "app") == alive
    assert world.live("c1", "ConfigMap", "m01", "app") is not None
