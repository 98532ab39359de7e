"""Staged update runs on whole simulated fleets: each state and reason of a run, stage and cluster is reached, and what
must never happen does not."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import yaml

from gitfleet.api.runs import RunReason, RunStatus
from gitfleet.api.scenarios import ClusterRule
from gitfleet.api.values import NamespacedName
from gitfleet.approvals.texts import ApprovalsText
from gitfleet.model.state import PlacementRecord
from gitfleet.rollout import run_awaited
from gitfleet.rollout.staged import RunRequest
from gitfleet.rollout.staged.start import initialized
from gitfleet.rollout.texts import RolloutText
from gitfleet.simulation.cluster import SimulatedCrash
from gitfleet.views.runs import RequestView
from gitfleet.views.texts import ViewsText
from tests import builders
from tests.scenarios.explaining import explain, open_workspace
from tests.scenarios.staged_world import (
    EXTERNAL,
    FAILED,
    QUICK,
    STARTED,
    SUCCEEDED,
    clusters_of,
    members,
    message,
    never,
    one_stage,
    rolled_out,
    run,
    run_named,
    said,
    stage_of,
    staged,
)
from tests.scenarios.test_approval_requests import asking
from tests.scenarios.world import World
from tests.texts import part


def test_nothing_of_an_external_placement_is_rolled_out_without_a_run() -> None:
    world = staged(World(), *members("c1", "c2"))
    assert rolled_out(world) == {"c1": None, "c2": None}
    assert [s.index for r in world.state().placements.values() for s in r.resource_snapshots] == [0]
    world.commit(builders.deployment("web", "web", image="web:2"))
    world.settle()
    files, errors = open_workspace(world.repo, world.fleet, world.clock).rendered_files(None)
    latest = [path.split("/")[0] for path, text in files.items() if b"web:2" in text]
    assert (latest, errors, rolled_out(world)) == (["c1", "c2"], [], {"c1": None, "c2": None})


@pytest.mark.parametrize(
    ("limit", "clusters", "most"), [(1, 3, 1), (2, 3, 2), ("50%", 5, 2), ("1%", 4, 1), ("100%", 3, 3)]
)
def test_at_most_so_many_clusters_are_under_way(limit: int | str, clusters: int, most: int) -> None:
    names = [f"c{n}" for n in range(clusters)]
    world = staged(World(rules=(QUICK,)), *members(*names))
    world.commit(one_stage(maxConcurrency=limit), run())
    under_way: list[int] = []

    def count() -> None:
        reasons = list(clusters_of(world, "go", "all").values())
        under_way.append(reasons.count(RunReason.CLUSTER_STARTED))

    world.settle(each=count)
    assert max(under_way) == most
    assert said(world, "go") == SUCCEEDED
    assert set(rolled_out(world).values()) == {"web:1"}


def test_clusters_start_by_their_label_and_name() -> None:
    orders = {"a": "10", "b": "9", "z": "1", "d": "9"}
    clusters = [builders.member_cluster(name, labels={"order": order}) for name, order in orders.items()]
    world = staged(World(rules=(QUICK,)), *clusters)
    world.commit(one_stage(sortingLabelKey="order"), run())
    first: list[str] = []
    world.watch = lambda seen: first.append(seen.cluster) if seen.cluster not in first else None
    world.settle()
    assert first == ["z", "b", "d", "a"]


REFUSED: dict[str, tuple[list[dict[str, Any]], str]] = {
    "no placement": (
        [one_stage(), builders.staged_run("go", placement="wbe", strategy="all")],
        RolloutText.PARENT_PLACEMENT_NOT_FOUND(),
    ),
    "no strategy": ([run()], RolloutText.REFERENCED_UPDATESTRATEGY_NOT_FOUND(strategy="all")),
    "no such snapshot": (
        [one_stage(), run(index=7)],
        RolloutText.NO_RESOURCESNAPSHOTS_INDEX(index="7` found for placement `web"),
    ),
    "a cluster in no stage": (
        [one_stage(match_labels={"tier": "gold"}), run()],
        RolloutText.SOME_CLUSTERS_NOT_PLACED_ANY(count="2", most_named="10", missing="c1, c2"),
    ),
    "a cluster in two stages": (
        [builders.staged_strategy("all", builders.stage("one"), builders.stage("two")), run()],
        RolloutText.CLUSTER_APPEARS_MORE_ONE_STAGES(name="c1"),
    ),
    "a label that is no number": (
        [one_stage(sortingLabelKey="order"), run()],
        "the sorting label `order:` on cluster `c1` is not valid",
    ),
    "not External": (
        [
            one_stage(),
            builders.namespace("other"),
            builders.placement("other"),
            builders.staged_run("go", placement="other", strategy="all"),
        ],
        RolloutText.PARENT_PLACEMENT_NOT_EXTERNAL_ROLLOUT(strategy="RollingUpdate"),
    ),
}


BOTH: dict[str, Any] = {"approval": True, "beforeStageTasks": [{"type": "Approval"}]}
ONCE: dict[str, Any] = {"approval": True}
SHARED = [
    (
        "x",
        "x-before",
        BOTH,
        "approval `x-before-all` of this run would answer run `x` too, as its approval",
    ),
    ("x-before", "x", BOTH, "approval `x-before-all` of this run would answer run `x-before` too, as its"),
    (
        "x",
        "x-after",
        ONCE,
        "approval `x-after-all` of this run would answer run `x` too, as its approval",
    ),
    ("x", "x-all.y", ONCE, RolloutText.APPROVAL_RUN_WOULD_ANSWER_RUN(name="x-all.y-all", other="x", taken="x-all")),
    ("x-all.y", "x", ONCE, "approval `x-all` of this run would answer run `x-all.y` too, as its approval"),
    ("x", "x-before", ONCE, None),
    ("x", "x-all", BOTH, None),
    ("x", "y", BOTH, None),
]


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize(("first", "second", "gates", "sentence"), SHARED)
def test_a_run_whose_approvals_would_answer_another_is_refused(
    first: str, second: str, gates: dict[str, Any], sentence: str | None, together: bool
) -> None:
    """In one commit the first by name begins; a run of another placement counts, a finished one as well."""
    world = staged(World(), *members("c1"))
    other = [builders.namespace("other"), builders.placement("other", strategy=EXTERNAL)]
    world.commit(*other, one_stage(**gates), run(first), *([run(second)] if together else []))
    world.settle()
    if not together:
        world.commit(builders.staged_run(second, placement="other", strategy="all"))
        world.settle()
    elif second < first:
        second = first
    refused = said(world, second) == ["Initialized=False UpdateRunInitializedFailed"]
    assert refused is (sentence is not None)
    if sentence is not None and not together:
        assert message(world, second, "Initialized").startswith(sentence)


@pytest.mark.parametrize(("bodies", "sentence"), REFUSED.values(), ids=REFUSED)
def test_a_run_that_cannot_begin_is_refused_for_good(bodies: list[dict[str, Any]], sentence: str) -> None:
    world = staged(World(), *members("c1", "c2"))
    world.commit(*bodies)
    world.settle()
    assert said(world, "go") == ["Initialized=False UpdateRunInitializedFailed"]
    assert message(world, "go", "Initialized").startswith(sentence)
    assert rolled_out(world) == {"c1": None, "c2": None}
    commits = world.state_commits()
    world.commit(one_stage())
    world.settle()
    assert said(world, "go") == ["Initialized=False UpdateRunInitializedFailed"]
    assert world.state_commits() <= commits + 2


def test_a_placement_that_is_not_scheduled_begins_no_run() -> None:
    world = staged(World(), *members("c1"), policy=builders.pick_n(3))
    world.commit(one_stage(), run())
    world.settle()
    assert message(world, "go", "Initialized").startswith(
        RolloutText.POLICY_SNAPSHOT_NOT_FULLY_SCHEDULED(policy="web-0")
    )


def test_a_stage_without_clusters_is_skipped_with_its_tasks() -> None:
    world = staged(World(), *members("c1", env="prod"))
    empty = builders.stage("empty", match_labels={"env": "test"}, approval=True)
    empty["beforeStageTasks"] = [{"type": "Approval"}]
    world.commit(builders.staged_strategy("all", empty, builders.stage("prod", match_labels={"env": "prod"})), run())
    world.settle()
    assert [c.reason for c in stage_of(world, "go", "empty").conditions] == ["StageUpdatingSkippedNoClusters"] * 2
    assert said(world, "go") == SUCCEEDED


def gated() -> World:
    """A run that waits before its only stage."""
    world = staged(World(), *members("c1"))
    world.commit(one_stage(beforeStageTasks=[{"type": "Approval"}]), run())
    world.settle()
    return world


def test_a_stage_waits_for_the_approval_before_it() -> None:
    world = gated()
    assert said(world, "go")[1] == "Progressing=False UpdateRunWaiting"
    waiting = RolloutText.UPDATERUN_WAITING_BEFORE_STAGE_TASKS(stage="all")
    assert message(world, "go", "Progressing") == waiting
    assert rolled_out(world) == {"c1": None}
    stage = stage_of(world, "go", "all")
    assert ([c.reason for c in stage.conditions], stage.start_time) == (["StageUpdatingWaiting"], None)
    approved = builders.approval("go", "all")
    approved["metadata"]["name"] = "go-before-all"
    world.commit(approved)
    world.settle()
    reasons = [c.reason for c in stage_of(world, "go", "all").before_tasks[0].conditions]
    assert reasons == ["StageTaskApprovalRequestCreated", "StageTaskApprovalRequestApproved"]
    assert said(world, "go") == SUCCEEDED


def approved_stages() -> World:
    """A run that waits after the first of two stages, for a person and for a minute."""
    world = staged(World(rules=(QUICK,)), *members("c1", env="a"), *members("c2", env="b"))
    first = builders.stage("first", match_labels={"env": "a"}, approval=True)
    world.commit(builders.staged_strategy("all", first, builders.stage("second", match_labels={"env": "b"})), run())
    world.settle()
    return world


@pytest.mark.parametrize("seconds", [0, 30])
def test_a_run_is_settled_while_only_a_person_can_let_it_go_on(seconds: int) -> None:
    """A timed wait is over by itself, so that until then nothing is settled."""
    world = staged(World(rules=(QUICK,)), *members("c1"), policy={"placementType": "PickAll"})
    world.commit(one_stage(approval=True), run("old"))
    world.settle()
    world.commit(builders.approval("old", "all"))
    world.settle()
    wait = f"{seconds}s" if seconds else None
    slow = builders.staged_strategy("slow", builders.stage("all", approval=True, wait=wait))
    world.commit(
        *members("c2"),
        builders.deployment("web", "web", image="web:2"),
        slow,
        builders.staged_run("go", placement="web", strategy="slow"),
    )
    world.settle(limit=timedelta(seconds=25))
    sentence = RolloutText.RUN_WAITS_STAGE_APPROVAL(
        run="go",
        side="after",
        stage="all",
        key=RolloutText.GITFLEET_APPROVE_WRITES_ONE(why="go-all", run="go", stage="all"),
    )
    result = world.reconcile()
    assert result is not None
    if seconds:
        (waits,) = result.waiting
        assert (result.settled, result.asks) == (False, (sentence,))
        assert re.fullmatch(
            RolloutText.RUN_WAITS_STAGE_UNTIL(run="go", stage="all", end="2026-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d UTC"),
            waits,
        )
        assert result.wake_at is not None
        world.settle()
        result = world.reconcile()
        assert result is not None
    assert (result.settled, result.waiting, result.asks, result.wake_at) == (True, (), (sentence,), None)
    world.commit(builders.approval("go", "all"))
    world.settle()
    assert said(world, "go") == SUCCEEDED


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        ("Initialize", RolloutText.RUN_INITIALIZED_WAITS_SPEC_STATE().format("go")),
        ("Stop", RolloutText.RUN_STOPPED_WAITS_SPEC_STATE().format("go")),
    ],
)
def test_a_run_that_people_keep_is_settled(state: str, sentence: str) -> None:
    world = staged(World(rules=(QUICK,)), *members("c1"))
    world.commit(one_stage(), run(state=state))
    world.settle()
    result = world.reconcile()
    assert result is not None
    assert (result.settled, result.asks) == (True, (sentence,))


def test_the_page_counts_the_clusters_of_an_external_placement_that_have_its_latest_snapshot() -> None:
    world = staged(World(rules=(QUICK,)), *members("c1", "c2"), policy={"placementType": "PickAll"})
    world.commit(one_stage(approval=True, maxConcurrency=2), run())
    world.settle()
    world.commit(builders.approval("go", "all"), builders.deployment("web", "web", image="web:2"))
    world.settle()
    (row,) = [line for line in world.state_text("README.md").splitlines() if "(placements/web.yaml)" in line]
    scheduled, rolled_out_, available, snapshot, waits = [cell.strip() for cell in row.split("|")][3:8]
    assert (scheduled, rolled_out_, available, snapshot) == ("2", "0/2", "2/2", "1")
    sentence = RolloutText.CLUSTERS_SNAPSHOT_LATEST(old="0", latest="1", why=RolloutText.WAITS_RUN_NAMES())
    assert sentence in waits
    explained = explain(world.repo, world.fleet, world.clock, "web")
    assert [row["waiting"] for row in explained] == [[f"strategy External: {sentence}"]] * 2
    planned = open_workspace(world.repo, world.fleet, world.clock).plan(None, None)["placements"][0]["rollout"]
    assert planned == [{"clusterName": name, "move": "wait", "reason": sentence} for name in ("c1", "c2")]
    world.commit(run("older", index=0))  # which is unfinished, has given both clusters what they have, and asks
    world.settle()
    workspace = open_workspace(world.repo, world.fleet, world.clock)
    assert workspace.plan(None, None)["placements"][0]["rollout"] == planned
    assert [row["waiting"] for row in workspace.explain("web", None)[1]] == [[f"strategy External: {sentence}"]] * 2


def test_a_cluster_that_an_external_placement_leaves_waits_for_a_run() -> None:
    world = staged(World(rules=(QUICK,)), *members("c1", "c2"), policy=builders.pick_fixed("c1", "c2"))
    world.commit(one_stage(maxConcurrency=2), run())
    world.settle()
    world.commit(builders.placement("web", strategy=EXTERNAL, policy=builders.pick_fixed("c1")))
    world.settle()
    result = world.reconcile()
    assert result is not None
    assert (result.settled, result.waiting, rolled_out(world)["c2"]) == (True, (), "web:1")
    (record,) = result.state.placements.values()
    assert run_awaited(record) == RolloutText.NO_LONGER_PICKED(left="c2", verb="is")


def test_a_rejection_ends_the_run() -> None:
    world = approved_stages()
    world.commit(builders.approval("go", "first", approved=False))
    world.settle()
    assert said(world, "go") == FAILED
    assert message(world, "go", "Succeeded") == "stage first was rejected by go-first: Rejected"
    assert [c.reason for c in stage_of(world, "go", "first").conditions] == ["StageUpdatingFailed"] * 2
    assert rolled_out(world) == {"c1": "web:1", "c2": None}
    world.commit(builders.approval("go", "first"))
    world.settle()
    assert rolled_out(world)["c2"] is None


@pytest.mark.parametrize("name", ["go-first", "go-after-first"])
def test_either_name_of_an_approval_counts(name: str) -> None:
    world = approved_stages()
    body = builders.approval("go", "first")
    body["metadata"]["name"] = name
    world.commit(body)
    world.settle()
    assert said(world, "go") == SUCCEEDED


@pytest.mark.parametrize("names", [("go-first", "go-after-first"), ("go-after-first", "go-first")])
def test_a_rejection_under_either_name_rejects_what_the_other_approves(names: tuple[str, str]) -> None:
    world = approved_stages()
    bodies = [builders.approval("go", "first"), builders.approval("go", "first", approved=False)]
    for body, name in zip(bodies, names, strict=True):
        body["metadata"]["name"] = name
    world.commit(*bodies)
    world.settle()
    assert (said(world, "go"), rolled_out(world)["c2"]) == (FAILED, None)


def test_a_rejection_with_a_reason_of_the_reconcilers_own_rejects() -> None:
    world = approved_stages()
    body = builders.approval("go", "first", approved=False)
    body["status"]["conditions"][0]["reason"] = "ApprovalNotCounted"
    world.commit(body)
    world.settle()
    assert said(world, "go") == FAILED


@pytest.mark.parametrize("change", ["parentStageRollout", "targetStage"])
def test_an_approval_of_something_else_counts_for_nothing(change: str) -> None:
    world = approved_stages()
    body = builders.approval("go", "first")
    body["spec"][change] = "other"
    world.commit(body)
    result = world.reconcile()
    assert result is not None
    assert any("approval go-first is for stage" in sentence for sentence in result.asks)
    world.settle()
    assert rolled_out(world)["c2"] is None


@pytest.mark.parametrize("name", ["go-frist", "go", "go-second"])
def test_an_approval_of_another_name_answers_nothing_and_says_so(name: str) -> None:
    world = approved_stages()
    body = builders.approval("go", "first")
    body["metadata"]["name"] = name
    del body["spec"]
    world.commit(body)
    result = world.reconcile()
    why = ApprovalsText.ANSWERS_NO_NOW(what="request", name="go-first")
    assert [(f.path, f.object, f.message) for f in world.state().faults] == [
        (f"approvals/{name}.yaml", f"ClusterApprovalRequest/{name}", why)
    ]
    assert result is not None
    assert any(f"for approval go-first: approvals/{name}.yaml:1: " in s and why in s for s in result.asks)
    assert why in world.state_text("README.md")
    (request,) = world.state().approvals.values()
    assert (RequestView(request=request).approved, why in RequestView(request=request).waits) == ("Unknown", True)
    world.commit(builders.approval("go", "first"))
    world.settle()
    assert (said(world, "go"), world.state().faults) == (SUCCEEDED, ())


def test_an_approval_that_counted_is_not_taken_back() -> None:
    world = approved_stages()
    world.commit(builders.approval("go", "first"))
    world.rest()
    assert clusters_of(world, "go", "second") == {"c2": "ClusterUpdatingStarted"}
    world.commit(builders.approval("go", "first", approved=False))
    world.settle()
    assert said(world, "go") == SUCCEEDED
    request = world.state().approvals[NamespacedName("", "go-first")]
    assert [(c.type, c.status) for c in request.conditions] == [("Approved", "True"), ("ApprovalAccepted", "True")]


def test_a_cluster_that_does_not_get_ready_makes_the_run_stuck_and_the_fix_goes_on() -> None:
    world = staged(World(rules=(never("web:bad"), QUICK)), *members("c1", "c2"))
    world.commit(builders.deployment("web", "web", image="web:bad"), one_stage(), run())
    world.settle(limit=timedelta(minutes=20))
    assert said(world, "go") == [STARTED[0], "Progressing=False UpdateRunStuck"]
    assert message(world, "go", "Progressing") == (
        RolloutText.UPDATERUN_STUCK_WAITING_CLUSTER_STAGE(stuck="c1", stage="all")
    )
    assert rolled_out(world) == {"c1": "web:bad", "c2": None}
    world.commit(builders.deployment("web", "web", image="web:2"), run("fix"))
    world.settle()
    assert said(world, "go") == FAILED
    assert clusters_of(world, "go", "all")["c1"] == "ClusterUpdatingFailed"
    assert part(RolloutText.BINDING_UPDATING_CLUSTER_STAGE_NOT) in message(world, "go", "Succeeded")
    assert (said(world, "fix"), rolled_out(world)) == (SUCCEEDED, {"c1": "web:2", "c2": "web:2"})


def test_a_stage_goes_on_without_as_many_failures_as_it_allows() -> None:
    slow = ClusterRule(names=("c1",), available="never")
    world = staged(World(rules=(slow, QUICK)), *members("c1", "c2", "c3"))
    world.commit(one_stage(maxFailures=1, stuckAfter="1m"), run())
    world.settle()
    assert said(world, "go") == SUCCEEDED
    assert list(clusters_of(world, "go", "all").values()) == [
        "ClusterUpdatingFailed",
        "ClusterUpdatingSucceeded",
        "ClusterUpdatingSucceeded",
    ]


@pytest.mark.parametrize(("on_failure", "conditions"), [("Stop", FAILED), ("Wait", None)])
def test_more_failures_than_allowed_start_no_further_cluster(on_failure: str, conditions: list[str] | None) -> None:
    slow = ClusterRule(names=("c1", "c2"), available="never")
    world = staged(World(rules=(slow, QUICK)), *members("c1", "c2", "c3"))
    world.commit(one_stage(maxFailures=1, stuckAfter="1m", onFailure=on_failure), run())
    world.settle()
    assert said(world, "go") == (conditions or [STARTED[0], "Progressing=False UpdateRunStuck"])
    assert rolled_out(world) == {"c1": "web:1", "c2": "web:1", "c3": None}


@pytest.mark.parametrize("fields", [{"onFailure": "Stop"}, {"maxFailures": 1}], ids=str)
def test_time_in_which_no_process_lived_makes_no_cluster_stuck(fields: dict[str, Any]) -> None:
    """Found by the walk: the process died between writing that c1 starts and giving it anything."""
    world = staged(World(rules=(QUICK,)), *members("c1", "c2"))
    world.commit(one_stage(**fields), run())

    def dies(step: str) -> None:
        if step == "intent published":
            raise SimulatedCrash(step)

    world.driver = world.start(dies)
    assert world.reconcile() is None
    assert clusters_of(world, "go", "all")["c1"] == "ClusterUpdatingStarted"
    world.advance(minutes=6)
    world.settle()
    assert said(world, "go") == SUCCEEDED
    assert set(clusters_of(world, "go", "all").values()) == {"ClusterUpdatingSucceeded"}


@pytest.mark.parametrize(
    ("unreachable", "reason", "third"),
    [("Skip", "ClusterUpdatingSkipped", "web:1"), (None, "ClusterUpdatingStarted", None)],
)
def test_a_cluster_that_does_not_answer(unreachable: str | None, reason: str, third: str | None) -> None:
    world = staged(World(rules=(QUICK,)), *members("c1", "c2", "c3"))
    world.fleet.cluster("c2").reachable = False
    world.rest()
    world.advance(minutes=6)
    world.commit(one_stage(**({"unreachable": unreachable} if unreachable else {})), run())
    world.settle(limit=timedelta(minutes=20))
    assert clusters_of(world, "go", "all")["c2"] == reason
    assert world.image("c3") == third


def test_no_cluster_starts_while_most_do_not_answer() -> None:
    world = staged(World(rules=(QUICK,)), *members("c1", "c2", "c3"))
    for name in ("c2", "c3"):
        world.fleet.cluster(name).reachable = False
    world.rest()
    world.commit(one_stage(), run())
    world.settle(limit=timedelta(minutes=20))
    assert rolled_out(world)["c1"] is None
    for name in ("c2", "c3"):
        world.fleet.cluster(name).reachable = True
    world.settle()
    assert said(world, "go") == SUCCEEDED


def test_stop_lets_those_under_way_finish_and_run_goes_on() -> None:
    world = staged(World(rules=(QUICK,)), *members("c1", "c2"))
    world.commit(one_stage(), run(state="Run"))
    world.rest()
    world.commit(run(state="Stop"))
    world.rest()
    assert said(world, "go") == [STARTED[0], "Progressing=Unknown UpdateRunStopping"]
    assert [c.reason for c in stage_of(world, "go", "all").conditions] == ["StageUpdatingStopping"]
    world.settle()
    assert said(world, "go") == [STARTED[0], "Progressing=False UpdateRunStopped"]
    assert [c.reason for c in stage_of(world, "go", "all").conditions] == ["StageUpdatingStopped"]
    assert (rolled_out(world), run_named(world, "go").generation) == ({"c1": "web:1", "c2": None}, 2)
    world.commit(run(state="Run"))
    world.settle()
    assert said(world, "go") == SUCCEEDED
    assert {c.observed_generation for c in run_named(world, "go").status.conditions} == {3}


def test_initialize_works_out_the_stages_and_starts_nothing() -> None:
    world = staged(World(), *members("c1"))
    world.commit(one_stage(), run(state="Initialize"))
    world.settle()
    assert said(world, "go") == STARTED[:1]
    assert (clusters_of(world, "go", "all"), rolled_out(world)) == ({"c1": ""}, {"c1": None})
    world.commit(run(state="Run"))
    world.settle()
    assert said(world, "go") == SUCCEEDED


COUNT = "the cluster count initialized in the updateRun is outdated"
POLICY = "the policy snapshot index used in the updateRun is outdated"
ANEW = RolloutText.ADD_NEW_RUN_GO()
FREEZE = RolloutText.STRATEGY_MEMBERSHIP_FREEZE_KEEPS_RUN()
CHANGES: dict[str, tuple[Callable[[], list[dict[str, Any]]], str]] = {
    "a cluster joins": (lambda: members("c9"), f"{COUNT}, latest: 3, recorded: 2; c9 joined; {ANEW}; {FREEZE}"),
    "a label": (
        lambda: members("c2", order="1"),
        RolloutText.CLUSTERS_STAGE_CHANGED(
            was="all", names=("new: c1, c2, existing: c2, c1; " + RolloutText.ORDER_CHANGED() + f"; {ANEW}; {FREEZE}")
        ),
    ),
    "the apply strategy": (
        lambda: [
            builders.placement("web", strategy={**EXTERNAL, "applyStrategy": {"type": "ServerSideApply"}}),
        ],
        (RolloutText.APPLYSTRATEGY_UPDATERUN_OUTDATED() + f"; {ANEW}"),
    ),
    "the policy": (
        lambda: [
            builders.placement(
                "web",
                strategy=EXTERNAL,
                policy={
                    "placementType": "PickAll",
                    "affinity": {
                        "clusterAffinity": {
                            "requiredDuringSchedulingIgnoredDuringExecution": {
                                "clusterSelectorTerms": [{"labelSelector": {"matchLabels": {"order": "1"}}}]
                            }
                        }
                    },
                },
            ),
        ],
        f"{POLICY}, latest: 1, recorded: 0; c2 left; {ANEW}; {FREEZE}",
    ),
}


def waiting_run(**strategy: Any) -> World:
    """A run that has updated c2 and waits for approval; c1 comes in a second stage."""
    clusters = [*members("c1", order="1"), *members("c2", order="0")]
    policy = {"placementType": "PickAll"}
    world = staged(World(rules=(QUICK,)), *clusters, policy=policy)
    both = builders.stage("all", sortingLabelKey="order", approval=True)
    body = builders.staged_strategy("all", both)
    body["spec"] |= strategy
    world.commit(body, run())
    return world


@pytest.mark.parametrize(("change", "sentence"), CHANGES.values(), ids=CHANGES)
def test_a_run_meets_a_change_of_its_placement(change: Callable[[], list[dict[str, Any]]], sentence: str) -> None:
    world = waiting_run()
    world.rest()
    before = rolled_out(world)
    assert before == {"c1": None, "c2": "web:1"}
    bodies = change()
    if bodies[0]["kind"] == "MemberCluster" and bodies[0]["metadata"]["name"] == "c2":
        bodies = members("c2", order="2")
    if bodies[0]["kind"] == "ClusterResourcePlacement" and "policy" not in bodies[0]["spec"]:
        bodies[0]["spec"]["policy"] = {"placementType": "PickAll"}
    world.commit(*bodies)
    world.settle()
    assert said(world, "go") == FAILED
    assert message(world, "go", "Succeeded") == sentence
    assert {name: image for name, image in rolled_out(world).items() if name in before} == before


def test_a_frozen_run_goes_on_whoever_joins_or_leaves() -> None:
    world = waiting_run(membership="Freeze")
    world.rest()
    world.commit(*members("c9", order="7"), remove=members("c1", order="1"))
    world.settle()
    world.commit(builders.approval("go", "all"))
    world.settle()
    assert said(world, "go") == SUCCEEDED
    assert clusters_of(world, "go", "all") == {"c2": "ClusterUpdatingSucceeded", "c1": "ClusterUpdatingSkipped"}
    assert world.image("c9") is None


def test_a_placement_that_is_removed_ends_its_run() -> None:
    world = waiting_run()
    world.rest()
    world.commit(remove=["placements/web.yaml"])
    world.settle()
    assert said(world, "go") == FAILED
    assert message(world, "go", "Succeeded").startswith(RolloutText.PARENT_PLACEMENT_NOT_FOUND())


def test_the_deletion_stage_takes_the_placement_off_what_it_no_longer_picks() -> None:
    world = staged(World(rules=(QUICK,)), *members("c1", "c2"), policy=builders.pick_fixed("c1", "c2"))
    world.commit(one_stage(), run())
    world.settle()
    world.commit(builders.placement("web", strategy=EXTERNAL, policy=builders.pick_fixed("c1")))
    world.settle()
    assert rolled_out(world) == {"c1": "web:1", "c2": "web:1"}
    world.commit(run("clean"))
    world.settle()
    deletion = run_named(world, "clean").status.deletion
    assert deletion is not None
    assert [(c.cluster, [x.reason for x in c.conditions]) for c in deletion.clusters] == [
        ("c2", ["ClusterUpdatingStarted", "ClusterUpdatingSucceeded"])
    ]
    assert (said(world, "clean"), rolled_out(world)) == (SUCCEEDED, {"c1": "web:1", "c2": None})


def cleaning(*silent: str, **fields: Any) -> World:
    """A run that has only clusters to leave: c3 and c4 of four, some of which have just fallen silent."""
    names = ("c1", "c2", "c3", "c4")
    world = staged(World(rules=(QUICK,)), *members(*names), policy=builders.pick_fixed(*names))
    world.commit(one_stage(maxConcurrency=4), run())
    world.settle()
    for name in silent:
        world.fleet.cluster(name).reachable = False
    shrunk = builders.placement("web", strategy=EXTERNAL, policy=builders.pick_fixed("c1", "c2"))
    world.commit(shrunk, one_stage(maxConcurrency=4, **fields), run("clean"))
    world.settle(limit=timedelta(minutes=2))
    return world


def test_nothing_is_taken_off_while_most_clusters_do_not_answer() -> None:
    world = cleaning(approval=True)
    for name in ("c1", "c2", "c3"):
        world.fleet.cluster(name).reachable = False
    world.rest()
    world.commit(builders.approval("clean", "all"))
    world.settle(limit=timedelta(minutes=2))
    assert [b.deleting for b in world.bindings("web").values()] == [None] * 4
    for name in ("c1", "c2", "c3"):
        world.fleet.cluster(name).reachable = True
    world.settle()
    assert said(world, "clean") == SUCCEEDED
    assert rolled_out(world) == {"c1": "web:1", "c2": "web:1", "c3": None, "c4": None}


def test_a_run_says_from_which_clusters_it_waits_for_the_placement_to_go() -> None:
    world = cleaning("c3")
    assert (said(world, "clean"), rolled_out(world)["c4"]) == (STARTED, None)
    result = world.reconcile()
    assert result is not None
    assert RolloutText.RUN_WAITS_UNTIL_PLACEMENT_GONE(run="clean", left="c3") in result.waiting


def test_what_a_commit_removes_by_accident_is_held_before_any_run() -> None:
    world = World(rules=(QUICK,))
    names = [f"c{n}" for n in range(6)]
    staged(world, *members(*names), policy=builders.pick_fixed(*names))
    world.commit(builders.fleet_config(), one_stage(maxConcurrency=6), run())
    world.settle()
    with world.nothing_deleted():
        shrunk = builders.placement("web", strategy=EXTERNAL, policy=builders.pick_fixed("c0"))
        world.commit(shrunk, run("clean"))
        world.settle()
        assert len(world.state().holds) == 1
        assert not run_named(world, "clean").finished
    (hold,) = world.state().holds
    approved = builders.approval("x", "y")
    approved["metadata"]["name"] = hold
    del approved["spec"]
    world.commit(approved)
    world.settle()
    assert said(world, "clean") == SUCCEEDED
    assert [name for name, image in rolled_out(world).items() if image] == ["c0"]


def test_a_run_waits_while_its_placement_is_held_as_a_whole() -> None:
    world = World(rules=(QUICK,))
    names = [f"c{n}" for n in range(6)]
    staged(world, *members(*names))
    world.commit(builders.fleet_config(), one_stage(maxConcurrency=3), run())
    world.settle()
    world.commit(builders.deployment("web", "web", image="web:2"), run("next"))
    world.rest()
    had = rolled_out(world)
    assert sorted(map(str, had.values())) == [*["web:1"] * 3, *["web:2"] * 3]
    world.commit(remove=["placements/web.yaml"])
    world.settle()
    assert world.state().holds and rolled_out(world) == had
    assert not run_named(world, "next").finished
    world.commit(builders.placement("web", strategy=EXTERNAL))
    world.settle()
    assert said(world, "next") == SUCCEEDED and set(rolled_out(world).values()) == {"web:2"}


def test_an_older_snapshot_comes_back_after_a_restart() -> None:
    """Nothing else uses it any more, so a new process has to load it."""
    world = staged(World(rules=(QUICK,)), *members("c1", "c2"))
    world.commit(one_stage(), run("one"))
    world.settle()
    world.commit(builders.deployment("web", "web", image="web:2"), run("two"))
    world.settle()
    assert rolled_out(world) == {"c1": "web:2", "c2": "web:2"}
    world.restart()
    world.commit(run("back", index=0))
    world.rest()
    world.restart()
    world.settle()
    assert (said(world, "back"), rolled_out(world)) == (SUCCEEDED, {"c1": "web:1", "c2": "web:1"})


def test_runs_of_a_placement_go_one_behind_the_other() -> None:
    world = staged(World(rules=(QUICK,)), *members("c1", "c2", "c3"))
    world.commit(one_stage(), run("one"))
    world.settle(limit=timedelta(seconds=10))
    assert rolled_out(world) == {"c1": "web:1", "c2": "web:1", "c3": None}
    world.commit(builders.deployment("web", "web", image="web:2"), run("two"))
    world.settle()
    assert rolled_out(world) == {"c1": "web:2", "c2": "web:2", "c3": "web:2"}
    assert (said(world, "one"), said(world, "two")) == (SUCCEEDED, SUCCEEDED)


def test_an_unfinished_run_with_another_strategy_refuses_the_next() -> None:
    world = approved_stages()
    other = builders.staged_strategy("other", builders.stage("all"))
    world.commit(other, builders.staged_run("next", placement="web", strategy="other"))
    world.settle()
    assert message(world, "next", "Initialized").startswith(
        RolloutText.RUN_SAME_PLACEMENT_UNFINISHED_ANOTHER(other="go", strategy_name="all")
    )


def test_a_run_that_is_removed_leaves_everything_as_it_is() -> None:
    world = approved_stages()
    with world.nothing_deleted():
        world.commit(remove=["runs/go.yaml"])
        world.settle()
    assert (world.state().runs, world.state().approvals) == ({}, {})
    assert rolled_out(world) == {"c1": "web:1", "c2": None}


def test_a_bad_run_fails_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a defect of ours can stop a run otherwise than by what is written."""

    def broken(request: RunRequest, record: PlacementRecord) -> RunStatus:
        if request.run.key.name == "bad":
            raise ZeroDivisionError
        return initialized(request, record)

    monkeypatch.setattr("gitfleet.rollout.staged.progress.initialized", broken)
    world = staged(World(rules=(QUICK,)), *members("c1"))
    world.commit(one_stage(), run("bad"), run("good"))
    world.settle()
    assert said(world, "good") == SUCCEEDED
    assert said(world, "bad") == []
    assert any("ClusterStagedUpdateRun/bad" in fault.object for fault in world.state().faults)


def test_a_clock_that_jumps_back_makes_a_timed_wait_no_longer_than_its_length() -> None:
    world = staged(World(rules=(QUICK,)), *members("c1"))
    world.commit(one_stage(wait="10m"), run())
    world.settle(limit=timedelta(minutes=1))
    waiting = stage_of(world, "go", "all").conditions[-1]
    assert waiting.reason == "StageUpdatingWaiting"
    world.advance(minutes=9, seconds=59)
    world.rest()
    assert said(world, "go") == STARTED
    world.settle()
    assert said(world, "go") == SUCCEEDED


def test_override_snapshots_are_pinned_when_the_run_begins() -> None:
    def override(replicas: int) -> dict[str, Any]:
        patch = {"op": "add", "path": "/spec/replicas", "value": replicas}
        return builders.override("o", "Deployment/web", builders.override_rule(patch))

    world = staged(World(rules=(QUICK,)), *members("c1", "c2"))
    world.commit(override(5), one_stage(), run())
    world.rest()
    world.commit(override(9))
    world.settle()
    found = [world.live(name, "Deployment", "web") for name in ("c1", "c2")]
    assert [body["spec"]["replicas"] for body in found if body] == [5, 5]


@pytest.mark.parametrize(("index", "counts"), [("0", True), ("1", False)])
def test_an_approval_of_another_snapshot_counts_for_nothing_and_says_so(index: str, counts: bool) -> None:
    world = approved_stages()
    body = builders.approval("go", "first")
    body["metadata"]["annotations"] = {"gitfleet.dev/resource-snapshot-index": index}
    world.commit(body)
    world.settle()
    sentence = "is for another snapshot than go-first, whose run rolls out 0"
    assert run_named(world, "go").finished is counts
    assert any(sentence in fault.message for fault in world.state().faults) is not counts


@pytest.mark.parametrize(("digest", "counts"), [("0" * 64, False), (None, True)])
def test_an_approval_of_another_request_of_the_name_counts_for_nothing(digest: str | None, counts: bool) -> None:
    world = approved_stages()
    request = world.state().approvals[NamespacedName("", "go-first")]
    body = builders.approval("go", "first")
    body["metadata"]["annotations"] = {"gitfleet.dev/digest": digest or request.digest}
    world.commit(body)
    world.settle()
    assert run_named(world, "go").finished is counts


def test_a_new_run_of_an_old_name_asks_for_another_approval() -> None:
    world = approved_stages()
    first = world.state().approvals[NamespacedName("", "go-first")]
    world.commit(remove=["runs/go.yaml"])
    world.settle()
    world.advance(hours=1)
    world.commit(run())
    world.settle()
    again = world.state().approvals[NamespacedName("", "go-first")]
    assert first.digest != again.digest


def test_a_stage_asks_on_a_branch_that_approves_when_it_is_merged() -> None:
    world = asking(approved_stages())
    world.reconcile()
    (commit,) = world.repo.log("gitfleet/approve/go-first")[:1]
    assert commit.subject == "Approve go-first: run go waits after stage first"
    assert "What comes next: stage second\n\n- c2" in commit.message
    content = world.repo.files("gitfleet/approve/go-first")["approvals/go-first.yaml"]
    assert yaml.safe_load(content)["metadata"]["annotations"] == {
        "gitfleet.dev/digest": world.state().approvals[NamespacedName("", "go-first")].digest,
        "gitfleet.dev/resource-snapshot-index": "0",
    }
    world.write({"approvals/go-first.yaml": content.decode()})
    world.settle()
    assert said(world, "go") == SUCCEEDED
    assert "gitfleet/approve/go-first" not in world.repo.fetch()


def test_the_request_says_which_objects_change_and_says_the_same_after_a_restart() -> None:
    """Before the first stage, between two stages and after the last, when no cluster has the old snapshot any more."""
    world = staged(World(rules=(QUICK,)), *members("c1", env="a"), *members("c2", env="b"))
    stages = [builders.stage(name, match_labels={"env": name}, approval=True) for name in "ab"]
    stages[0]["beforeStageTasks"] = [{"type": "Approval"}]
    gone = builders.config_map("web", "gone")
    world.commit(gone, builders.staged_strategy("all", *stages), run("old"))
    asking(world)
    world.settle()
    assert "What goes out: 3 objects\n\n- ConfigMap/web/gone\n- Deployment/web/web\n- Namespace/web\n\n" in body_of(
        world, "old-before-a"
    )
    many = [builders.config_map("web", f"map-{number:02}", {"password": "hidden"}) for number in range(20)]
    go_through(world, "old")
    newer = builders.deployment("web", "web", image="web:2")
    world.commit(*many, newer, run("new"), remove=[builders.path_of(gone)])
    world.settle()
    names = [*(f"added ConfigMap/web/map-{number:02}" for number in range(18)), "and 2 more"]
    listed = "\n".join(f"- {name}" for name in ("removed ConfigMap/web/gone", "changed Deployment/web/web", *names))
    section = f"What changes from snapshot 1: 1 removed, 1 changed, 20 added\n\n{listed}\n\nWhat comes next"
    for gate in ("before-a", "a", "b"):
        assert section in body_of(world, f"new-{gate}") and "hidden" not in body_of(world, f"new-{gate}")
        head = world.repo.fetch()[f"gitfleet/approve/new-{gate}"]
        world.restart()
        world.settle()
        assert world.repo.fetch()[f"gitfleet/approve/new-{gate}"] == head
        answer(world, f"new-{gate}")
        world.settle()
    assert said(world, "new") == SUCCEEDED


def body_of(world: World, request: str) -> str:
    """The message of the branch that asks for an approval."""
    return world.repo.log(f"gitfleet/approve/{request}")[0].message


def go_through(world: World, name: str) -> None:
    """Every gate of a run is opened."""
    for gate in ("before-a", "a", "b"):
        answer(world, f"{name}-{gate}")
        world.settle()
    assert said(world, name) == SUCCEEDED


def answer(world: World, request: str) -> None:
    """The file of a request's branch is merged."""
    path = f"approvals/{request}.yaml"
    world.write({path: world.repo.files(f"gitfleet/approve/{request}")[path].decode()})


def test_the_page_of_the_state_branch_draws_the_run() -> None:
    world = approved_stages()
    page = world.state_text("README.md")
    assert ViewsText.STAGES_WAIT_APPROVAL(count="1") in page
    assert '  s0["first<br/>waiting, 1/1 clusters"]\n  s1["second<br/>pending, 0/1 clusters"]' in page
    assert "  s0 -->|Approval| s1" in page


BLOCKED = RolloutText.EVICTION_BLOCKED_PLACEMENT_NOT_PROPAGATED()
ABORTED = RolloutText.CLUSTER_COUNT_INITIALIZED_UPDATERUN_OUTDATED(count="1", policy_observed_cluster_count="2")
EVICTED = [
    (None, "updating", "c1", {"c1": None, "c2": None}, f"{ABORTED}; c1 left; {ANEW}; {FREEZE}"),
    (None, "waiting", "c1", {"c1": None, "c2": None}, f"{ABORTED}; c1 left; {ANEW}; {FREEZE}"),
    (None, "waiting", "c2", {"c1": "web:1", "c2": "web:1"}, ""),
    (None, "second", "c2", {"c1": "web:1", "c2": None}, f"{ABORTED}; c2 left; {ANEW}; {FREEZE}"),
    ("Freeze", "updating", "c1", {"c1": None, "c2": "web:1"}, ""),
    ("Freeze", "waiting", "c1", {"c1": None, "c2": "web:1"}, ""),
    ("Freeze", "second", "c2", {"c1": "web:1", "c2": None}, ""),
]


@pytest.mark.parametrize(("membership", "phase", "victim", "images", "failure"), EVICTED)
def test_an_eviction_of_the_placement_of_a_run(
    membership: str | None, phase: str, victim: str, images: dict[str, str | None], failure: str
) -> None:
    """An executed eviction is a change of the placement's clusters: the run fails, or goes on without the cluster,
    which gets nothing before a later run."""
    clusters = [*members("c1", env="a"), *members("c2", env="b")]
    world = staged(World(rules=(QUICK,)), *clusters, policy={"placementType": "PickAll"})
    first = builders.stage("first", match_labels={"env": "a"}, approval=True)
    body = builders.staged_strategy("all", first, builders.stage("second", match_labels={"env": "b"}))
    world.commit({**body, "spec": {**body["spec"], **({"membership": membership} if membership else {})}}, run())
    if phase == "updating":
        world.rest()
    else:
        world.settle()
    if phase == "second":
        world.commit(builders.approval("go", "first"))
        world.rest()
    world.commit(builders.eviction("out", "web", victim))
    world.settle()
    executed = world.state().evictions["out"].conditions[-1]
    blocked = (phase, victim) == ("waiting", "c2")
    assert (executed.status, executed.message.startswith(BLOCKED)) == ("False" if blocked else "True", blocked)
    if phase != "second" and not failure:
        world.commit(builders.approval("go", "first"))
        world.settle()
    assert rolled_out(world) == images
    assert said(world, "go") == (FAILED if failure else SUCCEEDED)
    assert message(world, "go", "Succeeded") == failure
    result = world.reconcile()
    assert result is not None and result.settled
    world.commit(run("later"))
    world.settle()
    world.commit(builders.approval("later", "first"))
    world.settle()
    assert rolled_out(world) == {"c1": "web:1", "c2": "web:1"}


@pytest.mark.parametrize("broken", ["spec: {stages: 3}\n", "spec: [\n"])
def test_a_run_waits_for_a_strategy_that_has_errors(broken: str) -> None:
    """And only a commit can help, so that all is settled."""
    world = staged(World(), *members("c1"))
    path = builders.path_of(one_stage())
    head = "apiVersion: placement.kubernetes-fleet.io/v1beta1\nkind: ClusterStagedUpdateStrategy\n"
    world.write({path: f"{head}metadata: {{name: all}}\n{broken}", **builders.repo_files_for(run())})
    world.settle()
    assert said(world, "go") == ["Initialized=Unknown UpdateRunWaiting"]
    waits = message(world, "go", "Initialized")
    assert waits.startswith(f"its strategy `all` has errors ({path}:")
    result = world.driver.reconcile()
    assert (f"run go waits: {waits}" in result.asks, result.settled) == (True, True)
    world.commit(one_stage())
    world.settle()
    assert said(world, "go") == SUCCEEDED


def test_the_words_of_a_run_that_is_refused_name_what_there_is() -> None:
    world = staged(World(), *members("c1"))
    world.commit(run())
    world.settle()
    assert message(world, "go", "Initialized").endswith(
        RolloutText.ADD_NAME_NEW_RUN(kind="ClusterStagedUpdateStrategy")
    )
    world.commit(one_stage(), run("seven", index=7))
    world.settle()
    assert message(world, "seven", "Initialized").endswith(
        "for placement `web`; " + RolloutText.INDEXES_THERE_ARE(known="0")
    )


def with_namespaced_run(policy: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Namespace `web`, a ResourcePlacement in it, its strategy and its run."""
    deployment = {"group": "apps", "version": "v1", "kind": "Deployment", "name": "web"}
    bodies = [builders.placement("web", selectors=[deployment], strategy=EXTERNAL, policy=policy), one_stage(), run()]
    for body in bodies:
        body["kind"] = body["kind"].removeprefix("Cluster")
        body["metadata"]["namespace"] = "web"
    return [builders.namespace("web"), builders.deployment("web", "web"), *bodies]


def bringing_namespace(**parts: Any) -> dict[str, Any]:
    """A placement of Namespace `web` alone."""
    only = {**builders.select_namespace("web"), "selectionScope": "NamespaceOnly"}
    return builders.placement("namespaces", selectors=[only], **parts)


POLICIES = {"all": None, "n": builders.pick_n(2), "fixed": builders.pick_fixed("c1", "c2")}


@pytest.mark.parametrize("known", [False, True], ids=["new", "edited"])
@pytest.mark.parametrize("policy", POLICIES)
def test_a_run_waits_for_the_namespace_that_its_own_commit_brings(policy: str, known: bool) -> None:
    strategy = builders.rolling_update(maxUnavailable=1, maxSurge=1, unavailablePeriodSeconds=30)
    world = World(rules=(QUICK,))
    other = builders.placement("namespaces", "other", strategy=strategy)
    world.commit(*members("c1", "c2"), *([builders.namespace("other"), other] if known else []))
    world.settle()
    world.commit(bringing_namespace(strategy=strategy), *with_namespaced_run(POLICIES[policy]))
    world.settle()
    record = world.state().runs[NamespacedName("web", "go")]
    assert [f"{c.type}={c.status} {c.reason}" for c in record.status.conditions] == SUCCEEDED
    assert rolled_out(world) == {"c1": "web:1", "c2": "web:1"}


def test_a_run_waits_for_the_run_that_brings_its_namespace() -> None:
    """Which is a person's turn, so that all is settled until then."""
    world = World(rules=(QUICK,))
    world.commit(*members("c1"), bringing_namespace(strategy=EXTERNAL), *with_namespaced_run(None), one_stage())
    world.settle()
    (waits,) = (one for one in world.driver.reconcile().asks if one.startswith("run web/go waits"))
    assert waits.endswith(RolloutText.NAMESPACE_NOT_THERE_YET(namespace="web", where="c1"))
    assert world.driver.reconcile().settled
    world.commit(builders.staged_run("first", placement="namespaces", strategy="all"))
    world.settle()
    assert rolled_out(world) == {"c1": "web:1"}


BAD = builders.override("bad", "Deployment/web", builders.override_rule({"op": "remove", "path": "/spec/nothing"}))
GATED = one_stage(beforeStageTasks=[{"type": "Approval"}])


def failing() -> World:
    """A run that is stuck with an override that fails."""
    world = staged(World(rules=(QUICK,)), *members("c1", "c2"))
    world.commit(BAD, one_stage(), run())
    world.settle()
    return world


AFTER: dict[str, tuple[Callable[[World], object], list[str]]] = {
    "stuck": (lambda world: None, ["run go is stuck"]),
    "corrected": (lambda world: world.commit(remove=[BAD]), ["run go is stuck"]),
    "stopped": (lambda world: world.commit(run(state="Stop")), ["run go is stopping"]),
    "deleted": (lambda world: world.commit(remove=[run()]), ["web: c1 keeps"]),
    "a gate beside": (
        lambda world: world.commit(GATED, run("second"), remove=[BAD, run()]),
        ["web: c1 keeps", "run second waits before stage all"],
    ),
}


@pytest.mark.parametrize("then", AFTER)
def test_a_fleet_is_settled_where_only_a_new_run_can_help_and_that_is_said(then: str) -> None:
    """A run keeps the overrides that it began with, whatever is committed since."""
    world = failing()
    keeps = RolloutText.KEEPS_COMMIT_NEW_RUN(
        cluster="c1", kept=f"override web/bad-0 of commit {world.repo.fetch()['main'][:12]}"
    )
    change, begins = AFTER[then]
    change(world)
    world.settle()
    result = world.reconcile()
    assert result is not None and result.settled
    assert [ask[: len(begin)] for ask, begin in zip(result.asks, begins, strict=True)] == begins
    assert result.asks[0].endswith(keeps)
    world.commit(one_stage(), run("third"), remove=[BAD, run(), run("second")])
    world.settle()
    assert said(world, "third") == SUCCEEDED
