"""`gitfleet rollback` of an External placement, on whole simulated fleets: in each state of a run that is under way."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from gitfleet.api.objects import Manifest, ObjectKey, Origin
from gitfleet.api.staged import StagedRun, StagedStrategy
from gitfleet.api.texts import ApiText
from gitfleet.api.values import NamespacedName
from gitfleet.errors import BadInput
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState
from gitfleet.rollout.staged import RunPhase, run_phase
from gitfleet.views.rollbacks import rollback_of
from gitfleet.views.texts import ViewsText
from tests import builders
from tests.scenarios.staged_world import (
    QUICK,
    SUCCEEDED,
    members,
    never,
    one_stage,
    rolled_out,
    run,
    run_named,
    said,
    staged,
)
from tests.scenarios.test_staged_fallback import bad_on
from tests.scenarios.world import World
from tests.texts import part

OLD = {"c1": "web:1", "c2": "web:1"}
GO = NamespacedName("", "go")


def plain() -> dict[str, object]:
    """A strategy without a gate."""
    return builders.staged_strategy("plain", builders.stage("every", maxConcurrency=2))


def written(state: FleetState) -> Desired:
    """The runs and strategies that the repo has, each in a file of its own."""
    keys = {*state.runs, GO}
    runs = {
        key: StagedRun(key=key, placement_name="web", strategy_name="all", origin=Origin(f"runs/{key.name}.yaml", 1))
        for key in keys
    }
    strategies = {key: StagedStrategy(key=key, stages=()) for key in (NamespacedName("", "plain"),)}
    return Desired(commit="", objects={"runs": runs, "strategies": strategies})


def go_back(world: World, index: int = 0) -> None:
    """What `gitfleet rollback web --to 0 --strategy plain` commits."""
    state = world.state()
    made = rollback_of(state, written(state), "web", index, "plain", lambda path: False)
    known = set(world.repo.files("main"))
    world.write({made.path: made.text, **dict.fromkeys((path for path in made.remove if path in known), None)})


def begun(world: World, **fields: object) -> None:
    """web:2 and a run of it."""
    world.commit(builders.deployment("web", "web", image="web:2"), one_stage(**fields), run())


def new(world: World) -> None:
    begun(world)


def refused(world: World) -> None:
    begun(world)
    world.roll_out(run(index=9))


def initialized(world: World) -> None:
    begun(world)
    world.roll_out(run(state="Initialize"))


def running(world: World) -> None:
    begun(world)
    world.rest()


def waiting(world: World) -> None:
    begun(world, beforeStageTasks=[{"type": "Approval"}])
    world.settle()


def stuck(world: World) -> None:
    world.fleet.cluster("c1").behave([never("web:2"), QUICK])
    begun(world)
    world.settle(limit=timedelta(minutes=20))


def stopping(world: World) -> None:
    running(world)
    world.commit(run(state="Stop"))
    world.rest()


def stopped(world: World) -> None:
    stopping(world)
    world.settle()


def rolling_back(world: World) -> None:
    world.fleet.cluster("c2").behave([bad_on("c2"), QUICK])
    begun(world, onFailure="Rollback", stuckAfter="1m")
    while run_phase_of(world) is not RunPhase.ROLLING_BACK:
        world.advance(seconds=5)
        world.reconcile()


def succeeded(world: World) -> None:
    begun(world)
    world.settle()


def failed(world: World) -> None:
    running(world)
    world.roll_out(*members("c2", order="1"), one_stage(), *members("c9"))
    world.roll_out(remove=members("c9"))


def run_phase_of(world: World) -> RunPhase:
    """How far the run `go` is."""
    found = world.state().runs.get(GO)
    return run_phase(found.status) if found is not None else RunPhase.NEW


PHASES: dict[RunPhase, Callable[[World], None]] = {
    RunPhase.NEW: new, RunPhase.REFUSED: refused, RunPhase.INITIALIZED: initialized, RunPhase.RUNNING: running,
    RunPhase.WAITING: waiting, RunPhase.STUCK: stuck, RunPhase.STOPPING: stopping, RunPhase.STOPPED: stopped,
    RunPhase.ROLLING_BACK: rolling_back, RunPhase.SUCCEEDED: succeeded, RunPhase.FAILED: failed,
}  # fmt: skip


def world_with_old() -> World:
    """Two clusters have web:1."""
    world = staged(World(rules=(QUICK,)), *members("c1", "c2"))
    world.roll_out(plain(), builders.staged_run("one", placement="web", strategy="plain"))
    assert rolled_out(world) == OLD
    return world


def test_the_table_has_every_state() -> None:
    assert set(PHASES) == set(RunPhase)


@pytest.mark.parametrize("phase", PHASES)
def test_a_rollback_in_every_state_of_a_run(phase: RunPhase) -> None:
    world = world_with_old()
    PHASES[phase](world)
    assert run_phase_of(world) is phase
    if phase in (RunPhase.NEW, RunPhase.REFUSED, RunPhase.INITIALIZED, RunPhase.WAITING):
        assert rolled_out(world) == OLD
    if phase in (RunPhase.REFUSED,):
        with pytest.raises(BadInput, match=re.escape(ViewsText.EVERY_CLUSTER_SNAPSHOT_ALREADY(name="web", index="0"))):
            go_back(world)
        return
    world.restart()
    go_back(world)
    with world.nothing_deleted():
        world.settle()
    assert (said(world, "web-back-to-0"), {c: i for c, i in rolled_out(world).items() if c != "c9"}) == (SUCCEEDED, OLD)
    assert (GO in world.state().runs) is (phase in (RunPhase.SUCCEEDED, RunPhase.FAILED)), (
        "what was under way has ended"
    )


def test_what_cannot_be_gone_back_to_says_so_in_one_sentence() -> None:
    world = world_with_old()
    rolling_back(world)
    state = world.state()
    wanted = written(state)
    cases = {
        ("wbe", 0, "plain"): ViewsText.NO_PLACEMENT(name="wbe"),
        ("web", 7, "plain"): ViewsText.NO_SNAPSHOT(name="web", index="7"),
        ("web", 0, "nope"): ViewsText.NO_STRATEGY(chosen="nope"),
        ("web", 0, None): ViewsText.NO_STRATEGY(chosen="all"),
    }
    for (name, index, strategy), sentence in cases.items():
        with pytest.raises(BadInput) as caught:
            rollback_of(state, wanted, name, index, strategy, lambda path: False)
        assert str(caught.value) == sentence and caught.value.hint
    with pytest.raises(BadInput, match=part(ApiText.QUARANTINED_OTHER_CONTENT_GOES_OUT)):
        rollback_of(state, wanted, "web", 1, "plain", lambda path: False)
    assert run_named(world, "go").fell_back


def test_a_run_in_a_file_with_other_objects_or_payload_is_left_to_people() -> None:
    """The file goes with the rollback: what lies beside the run would go with it."""
    world = world_with_old()
    running(world)
    state = world.state()
    wanted = written(state)
    assert "runs/go.yaml" in rollback_of(state, wanted, "web", 0, "plain", lambda path: False).remove
    together = {key: replace(one, origin=Origin("runs/all.yaml", 1)) for key, one in wanted.objects["runs"].items()}
    key, body = ObjectKey("", "v1", "ConfigMap", "web", "beside"), builders.config_map("web", "beside", {})
    beside = Manifest(key=key, body=body, digest="", origin=Origin("runs/go.yaml", 9))
    for path, desired in (
        ("runs/all.yaml", replace(wanted, objects={**wanted.objects, "runs": together})),
        ("runs/go.yaml", replace(wanted, payload=(beside,))),
    ):
        said = ViewsText.RUN_UNDER_WAY(run="go") + ViewsText.HOLDS_OTHER_OBJECTS_TOO(what="", path=path)
        with pytest.raises(BadInput, match=re.escape(said)):
            rollback_of(state, desired, "web", 0, "plain", lambda path: False)
