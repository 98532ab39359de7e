"""Every reason in the status of a run, stage, cluster, task or approval request (kubefleet.md §7, the seeds' and
gitfleet's own), and the play that reaches it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from functools import cache
from typing import Final

import pytest

from gitfleet.api.conditions import Conditions
from gitfleet.api.objects import ObjectKey
from gitfleet.api.runs import RunReason, RunRecord
from gitfleet.api.scenarios import ClusterRule, MetricRule
from gitfleet.model.state import FleetState
from tests import builders
from tests.scenarios.staged_world import QUICK, members, message, one_stage, run, said, stage_of, staged
from tests.scenarios.test_staged_fallback import bad_on, world_with_old
from tests.scenarios.test_staged_runs import approved_stages, gated
from tests.scenarios.world import World

R = RunReason


def asks_and_waits() -> World:
    """An approval before the stage, an approval and a time after it, each cluster healthy for a minute."""
    world = staged(World(rules=(QUICK,)), *members("c1", "c2"))
    world.commit(one_stage(approval=True, wait="2m", beforeStageTasks=[{"type": "Approval"}], minSoak="1m"), run())
    world.rest()
    before = builders.approval("go", "all")
    before["metadata"]["name"] = "go-before-all"
    world.roll_out(before)
    world.commit(builders.approval("go", "all"))
    return world


def falls_ill() -> World:
    """A cluster is not healthy any more before it was so for long enough."""
    world = staged(World(rules=(QUICK,)), *members("c1"))
    world.roll_out(one_stage(minSoak="10m"), run(), limit=timedelta(minutes=5))
    world.fleet.cluster("c1").delete_by_hand(ObjectKey("apps", "v1", "Deployment", "web", "web"))
    return world


def names_no_strategy() -> World:
    """A run that can never begin."""
    world = staged(World(), *members("c1"))
    world.commit(run())
    return world


def is_rejected() -> World:
    """A person says no."""
    world = approved_stages()
    world.commit(builders.approval("go", "first", approved=False))
    return world


def is_stopped() -> World:
    """A person stops the run while a cluster is under way."""
    world = staged(World(rules=(QUICK,)), *members("c1", "c2"))
    world.commit(one_stage(), run())
    world.rest()
    world.commit(run(state="Stop"))
    return world


def is_stuck() -> World:
    """A cluster never gets ready."""
    world = staged(World(rules=(ClusterRule(names=("c1",), available="never"),)), *members("c1", "c2"))
    world.commit(one_stage(), run())
    return world


def gives_up() -> World:
    """One cluster fails and may, and another stage has none."""
    world = staged(World(rules=(ClusterRule(names=("c1",), available="never"), QUICK)), *members("c1", "c2"))
    empty = builders.stage("empty", match_labels={"env": "nowhere"})
    strategy = builders.staged_strategy("all", builders.stage("all", maxFailures=1, stuckAfter="1m"), empty)
    world.commit(strategy, run())
    return world


def skips_the_silent() -> World:
    """A cluster does not answer, and the stage goes on without it."""
    world = staged(World(rules=(QUICK,)), *members("c1", "c2", "c3"))
    world.fleet.cluster("c2").reachable = False
    world.rest()
    world.advance(minutes=6)
    world.commit(one_stage(unreachable="Skip"), run())
    return world


def is_measured() -> World:
    """What is measured after the stage is as it must be."""
    world = staged(World(rules=(QUICK,), metrics=(MetricRule(query="*", value=0.01),)), *members("c1"))
    world.commit(one_stage(afterStageTasks=[builders.analysis(count=2)]), builders.metric_template(), run())
    return world


def measures_too_much() -> World:
    """And is not."""
    world = staged(World(rules=(QUICK,), metrics=(MetricRule(query="*", value=0.12),)), *members("c1"))
    world.commit(one_stage(afterStageTasks=[builders.analysis()]), builders.metric_template(), run())
    return world


def rolls_back() -> World:
    """A cluster never gets ready, and those before it get back what they had."""
    return world_with_old(bad_on("p2"))


PLAYS: Final[Mapping[Callable[[], World], tuple[RunReason, ...]]] = {
    asks_and_waits: (
        R.RUN_INITIALIZED, R.RUN_STARTED, R.RUN_SUCCEEDED, R.STAGE_WAITING,
        R.STAGE_SUCCEEDED, R.CLUSTER_STARTED, R.CLUSTER_HEALTHY, R.CLUSTER_SUCCEEDED, R.BEFORE_STAGE_REQUEST_CREATED,
        R.BEFORE_STAGE_REQUEST_APPROVED, R.AFTER_STAGE_REQUEST_CREATED, R.AFTER_STAGE_REQUEST_APPROVED,
        R.WAIT_TIME_ELAPSED, R.APPROVAL_ACCEPTED,
    ),
    gated: (R.RUN_WAITING,),
    falls_ill: (R.CLUSTER_NOT_HEALTHY,),
    names_no_strategy: (R.RUN_NOT_INITIALIZED,),
    is_rejected: (R.RUN_FAILED, R.STAGE_FAILED, R.STAGE_TASK_REJECTED),
    is_stopped: (R.RUN_STOPPING, R.RUN_STOPPED, R.STAGE_STOPPING, R.STAGE_STOPPED),
    is_stuck: (R.RUN_STUCK, R.STAGE_STARTED),
    gives_up: (R.CLUSTER_FAILED, R.STAGE_SKIPPED),
    skips_the_silent: (R.CLUSTER_SKIPPED,),
    is_measured: (R.ANALYSIS_RUNNING, R.ANALYSIS_SUCCEEDED),
    measures_too_much: (R.ANALYSIS_FAILED,),
    rolls_back: (R.RUN_ROLLING_BACK, R.RUN_ROLLED_BACK, R.CLUSTER_ROLLING_BACK, R.CLUSTER_ROLLED_BACK),
}  # fmt: skip


@cache
def _reached(play: Callable[[], World]) -> frozenset[str]:
    """The reasons in every state that the play pushes."""
    world = play()
    found: set[str] = set()
    trees = world.state_trees()

    def look(step: str) -> None:
        if step in ("intent published", "reported"):
            found.update(_reasons(trees.at(world.repo.fetch().get("gitfleet/state"))))

    world.start_with = lambda driver: setattr(driver, "checkpoint", look)
    world.restart()
    look("reported")
    world.settle(limit=timedelta(minutes=30))
    return frozenset(found)


def _reasons(state: FleetState) -> Iterable[str]:
    every = [one for record in state.runs.values() for one in _conditions(record)]
    every += [request.conditions for request in state.approvals.values()]
    return (condition.reason for conditions in every for condition in conditions)


def _conditions(record: RunRecord) -> Iterable[Conditions]:
    yield record.status.conditions
    for stage in record.status.stages:
        yield stage.conditions
        yield from (cluster.conditions for cluster in stage.clusters)
        yield from (task.conditions for task in (*stage.before_tasks, *stage.after_tasks))


@pytest.mark.parametrize("reason", RunReason)
def test_each_reason_is_reached(reason: RunReason) -> None:
    (play,) = [play for play, reasons in PLAYS.items() if reason in reasons]
    assert reason in _reached(play)


def test_a_rejection_says_who_said_no() -> None:
    world = is_rejected()
    world.settle()
    (task,) = stage_of(world, "go", "first").after_tasks
    assert [(c.status, c.reason, c.message) for c in task.conditions] == [
        ("True", "AfterStageTaskApprovalRequestCreated", ""),
        ("False", "StageTaskApprovalRequestRejected", "rejected by go-first: Rejected"),
    ]
    assert said(world, "go")[-1] == "Succeeded=False UpdateRunFailed"
    assert message(world, "go", "Succeeded") == "stage first was rejected by go-first: Rejected"
