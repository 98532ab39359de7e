"""Files of the state branch that a run needs are lost: no stage is repeated without its gate, nothing goes back, and
the run goes on, or says what a person has to do."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
import yaml

from gitfleet.api.scenarios import ClusterRule
from gitfleet.loop.approval_history import ApprovalHistory
from gitfleet.loop.driver import Driver
from gitfleet.loop.results import ReconcileResult
from gitfleet.views import approval_requests
from tests import builders
from tests.scenarios.staged_world import members, message, rolled_out, said, staged
from tests.scenarios.test_garbled_state import garble
from tests.scenarios.world import STATE, World

QUICK = ClusterRule(available=timedelta(seconds=10))
STAGES = (
    builders.stage("first", match_labels={"env": "a"}, approval=True),
    builders.stage("second", match_labels={"env": "b"}),
)
LOST = "the state branch lost how far this run was, and it is not started again"
PATHS = ("runs/go.yaml", "approvals/go-first.yaml", "snapshots/resources/web/0/snapshot.yaml", "bindings/web/all.yaml",
         "placements/web.yaml", "fleet.yaml")  # fmt: skip


def run(name: str, index: int | None = None) -> dict[str, object]:
    return builders.staged_run(name, placement="web", strategy="slow", index=index)


def begun() -> World:
    """A run that waits after its first stage, where approvals are looked up as in production."""
    world = World(rules=(QUICK,))

    def ask(driver: Driver) -> None:
        driver.approvals = ApprovalHistory(history=world.repo, reader=world.repo)

    world.start_with = ask
    world.restart()
    staged(world, *members("c1", env="a"), *members("c2", env="b"))
    world.commit(builders.staged_strategy("slow", *STAGES), run("go"))
    world.settle()
    assert rolled_out(world) == {"c1": "web:1", "c2": None}
    return world


def in_the_second_stage() -> World:
    world = begun()
    world.commit(builders.approval("go", "first"))
    world.rest()
    assert said(world, "go")[-1] == "Progressing=True UpdateRunStarted"
    return world


def over() -> World:
    """The run is over, and another one has rolled out something newer since."""
    world = begun()
    world.commit(builders.approval("go", "first"))
    world.settle()
    world.commit(builders.deployment("web", "web", image="web:2"), run("next"))
    world.settle()
    world.commit(builders.approval("next", "first"))
    world.settle()
    assert rolled_out(world) == {"c1": "web:2", "c2": "web:2"}
    return world


def last(world: World) -> ReconcileResult:
    result = world.reconcile()
    assert result is not None
    return result


def finish(world: World, image: str) -> None:
    """A person does what the status asks for, until everything has the image."""
    for name in ("again", "more"):
        pending = [request for request in world.state().approvals.values() if request.answer is None]
        open_runs = [one for one in world.state().runs.values() if not one.finished]
        world.advance(minutes=1)
        if open_runs:
            for request in pending:
                body = builders.approval(request.parent_run or "", request.target_stage or "")
                body["metadata"]["name"] = f"{request.key.name}.{name}"
                world.commit(body)
        else:
            world.commit(run(name))
        world.settle()
    for request in [one for one in world.state().approvals.values() if one.answer is None]:
        world.commit(builders.approval(request.parent_run or "", request.target_stage or ""))
    world.settle()
    assert set(rolled_out(world).values()) == {image}
    assert last(world).settled


@pytest.mark.parametrize("how", ["garbled", "removed", "garbled without history", "removed without history"])
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("start", [begun, in_the_second_stage, over])
def test_a_lost_file_repeats_no_stage_without_its_gate(start: Callable[[], World], path: str, how: str) -> None:
    world = start()
    before = rolled_out(world)
    content = b"\x00" if how.startswith("garbled") else None
    garble(world, {path: content}, history="without" not in how)
    world.restart()
    with world.nothing_deleted():
        world.settle()
    after = rolled_out(world)
    assert after == before or (start is in_the_second_stage and after == {**before, "c2": "web:1"})
    result = last(world)
    assert result.settled or result.waiting
    assert result.asks or all(one.finished for one in world.state().runs.values())
    finish(world, "web:2" if start is over else "web:1")


@pytest.mark.parametrize("content", [b"\x00", None], ids=["garbled", "removed"])
@pytest.mark.parametrize("start", [begun, in_the_second_stage, over])
def test_a_run_whose_file_is_lost_is_not_started_again(start: Callable[[], World], content: bytes | None) -> None:
    world = start()
    garble(world, {"runs/go.yaml": content}, history=False)
    world.restart()
    world.settle()
    assert said(world, "go") == ["Initialized=False UpdateRunInitializedFailed"]
    assert message(world, "go", "Initialized").startswith(LOST)


@pytest.mark.parametrize("part", ["stagedUpdateStrategySnapshot", "stagesStatus"])
def test_a_run_whose_file_lost_a_part_is_not_started_again(part: str) -> None:
    world = in_the_second_stage()
    body = yaml.safe_load(world.state_text("runs/go.yaml"))
    del body["status"][part]
    garble(world, {"runs/go.yaml": builders.to_yaml(body).encode()}, history=False)
    world.restart()
    world.settle()
    assert said(world, "go") == ["Initialized=False UpdateRunInitializedFailed"]
    assert message(world, "go", "Initialized").startswith(LOST)


@pytest.mark.parametrize("old", ["stageName: first", "deletionStageStatus"])
def test_a_request_of_a_stage_that_its_run_no_longer_has_stops_nothing(old: str) -> None:
    world = World(rules=(QUICK,))
    strategy = builders.staged_strategy("slow", builders.stage("first", approval=True))
    staged(world, *members("c1", env="a"))
    world.commit(strategy, run("go"))
    world.settle()
    text = world.state_text("runs/go.yaml")
    assert old in text and len(list(approval_requests(world.state()))) == 1
    garble(world, {"runs/go.yaml": text.replace(old, old + "2").encode()}, history=False)
    world.restart()
    assert list(approval_requests(world.state())) == []
    world.settle()


@pytest.mark.parametrize("start", [begun, over])
def test_without_the_state_branch_every_gate_asks_again(start: Callable[[], World]) -> None:
    world = start()
    newest = rolled_out(world)["c1"]
    assert newest is not None
    world.repo.move_branch(STATE, None)
    world.restart()
    with world.nothing_deleted():
        world.settle()
    assert rolled_out(world) == ({"c1": newest, "c2": None} if start is begun else {"c1": newest, "c2": newest})
    assert any("waits after stage first for approval" in sentence for sentence in last(world).asks)
    finish(world, newest)
