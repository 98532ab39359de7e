"""Staged update runs on whole simulated fleets: each state and reason of a run, stage and cluster is reached, and what
must never happen does not."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import yaml

from gitfleet.api.texts import ApiText
from gitfleet.api.values import NamespacedName
from gitfleet.approvals.texts import ApprovalsText
from gitfleet.formats.texts import FormatsText
from gitfleet.rollout import run_awaited
from gitfleet.rollout.texts import RolloutText
from gitfleet.simulation.cluster import SimulatedCrash
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
    said,
    staged,
)
from tests.scenarios.test_approval_requests import asking
from tests.scenarios.world import World
from tests.texts import part


def test_nothing_of_an_external_placement_is_rolled_out_without_a_run() -> None:
    world = staged(World(), *members("c1", "c2"))
    assert rolled_out(world) == {"c1": None, "c2": None}
    assert [s.index for r in world.state().placements.values() for s in r.resource_snapshots] == [0]
    world.roll_out(builders.deployment("web", "web", image="web:2"))
    files, errors = open_workspace(world.repo, world.fleet, world.clock).rendered_files(None)
    latest = [path.split("/")[0] for path, text in files.items() if b"web:2" in text]
    assert (latest, errors, rolled_out(world)) == (["c1", "c2"], [], {"c1": None, "c2": None})


BOTH: dict[str, Any] = {"approval": True, "beforeStageTasks": [{"type": "Approval"}]}
ONCE: dict[str, Any] = {"approval": True}
answers = RolloutText.APPROVAL_RUN_WOULD_ANSWER_RUN
SHARED = [
    ("x", "x-before", BOTH, answers(name="x-before-all", other="x", taken="x-before-all")),
    ("x-before", "x", BOTH, answers(name="x-before-all", other="x-before", taken="x-before-all")),
    ("x", "x-after", ONCE, answers(name="x-after-all", other="x", taken="x-after-all")),
    ("x", "x-all.y", ONCE, answers(name="x-all.y-all", other="x", taken="x-all")),
    ("x-all.y", "x", ONCE, answers(name="x-all", other="x-all.y", taken="x-all.y-all")),
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
    world.roll_out(*other, one_stage(**gates), run(first), *([run(second)] if together else []))
    if not together:
        world.roll_out(builders.staged_run(second, placement="other", strategy="all"))
    elif second < first:
        second = first
    refused = said(world, second) == ["Initialized=False UpdateRunInitializedFailed"]
    assert refused is (sentence is not None)
    if sentence is not None and not together:
        assert message(world, second, "Initialized").startswith(sentence)


def gated() -> World:
    """A run that waits before its only stage."""
    world = staged(World(), *members("c1"))
    world.roll_out(one_stage(beforeStageTasks=[{"type": "Approval"}]), run())
    return world


def approved_stages() -> World:
    """A run that waits after the first of two stages, for a person and for a minute."""
    world = staged(World(rules=(QUICK,)), *members("c1", env="a"), *members("c2", env="b"))
    first = builders.stage("first", match_labels={"env": "a"}, approval=True)
    world.roll_out(builders.staged_strategy("all", first, builders.stage("second", match_labels={"env": "b"})), run())
    return world


@pytest.mark.parametrize("seconds", [0, 30])
def test_a_run_is_settled_while_only_a_person_can_let_it_go_on(seconds: int) -> None:
    """A timed wait is over by itself, so that until then nothing is settled."""
    world = staged(World(rules=(QUICK,)), *members("c1"), policy={"placementType": "PickAll"})
    world.roll_out(one_stage(approval=True), run("old"))
    world.roll_out(builders.approval("old", "all"))
    wait = f"{seconds}s" if seconds else None
    slow = builders.staged_strategy("slow", builders.stage("all", approval=True, wait=wait))
    world.roll_out(
        *members("c2"),
        builders.deployment("web", "web", image="web:2"),
        slow,
        builders.staged_run("go", placement="web", strategy="slow"),
        limit=timedelta(seconds=25),
    )
    sentence = RolloutText.RUN_WAITS_STAGE_APPROVAL(
        run="go",
        side="after",
        stage="all",
        key=RolloutText.GITFLEET_APPROVE_WRITES_ONE(why="go-all", run="go", stage="all"),
    )
    result = world.driver.reconcile()
    if seconds:
        (waits,) = result.waiting
        assert (result.settled, result.asks) == (False, (sentence,))
        assert re.fullmatch(
            RolloutText.RUN_WAITS_STAGE_UNTIL(run="go", stage="all", end="2026-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d UTC"),
            waits,
        )
        assert result.wake_at is not None
        world.settle()
        result = world.driver.reconcile()
    assert (result.settled, result.waiting, result.asks, result.wake_at) == (True, (), (sentence,), None)
    world.roll_out(builders.approval("go", "all"))
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
    world.roll_out(one_stage(), run(state=state))
    result = world.driver.reconcile()
    assert (result.settled, result.asks) == (True, (sentence,))


def test_the_page_counts_the_clusters_of_an_external_placement_that_have_its_latest_snapshot() -> None:
    world = staged(World(rules=(QUICK,)), *members("c1", "c2"), policy={"placementType": "PickAll"})
    world.roll_out(one_stage(approval=True, maxConcurrency=2), run())
    world.roll_out(builders.approval("go", "all"), builders.deployment("web", "web", image="web:2"))
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
    world.roll_out(one_stage(maxConcurrency=2), run())
    world.roll_out(builders.placement("web", strategy=EXTERNAL, policy=builders.pick_fixed("c1")))
    result = world.driver.reconcile()
    assert (result.settled, result.waiting, rolled_out(world)["c2"]) == (True, (), "web:1")
    (record,) = result.state.placements.values()
    assert run_awaited(record) == RolloutText.NO_LONGER_PICKED(left="c2", verb="is")


@pytest.mark.parametrize("change", ["parentStageRollout", "targetStage"])
def test_an_approval_of_something_else_counts_for_nothing(change: str) -> None:
    world = approved_stages()
    body = builders.approval("go", "first")
    body["spec"][change] = "other"
    world.commit(body)
    result = world.driver.reconcile()
    assert any(ApprovalsText.SPEC_SAYS_APPROVE_ONE_WAITS() in sentence for sentence in result.asks)
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
    assert any(f"{part(RolloutText.RUN_WAITS_STAGE_APPROVAL)}go-first" in sentence for sentence in result.asks)
    assert why in world.state_text("README.md")
    world.roll_out(builders.approval("go", "first"))
    assert (said(world, "go"), world.state().faults) == (SUCCEEDED, ())


def test_a_cluster_that_does_not_get_ready_makes_the_run_stuck_and_the_fix_goes_on() -> None:
    world = staged(World(rules=(never("web:bad"), QUICK)), *members("c1", "c2"))
    world.roll_out(builders.deployment("web", "web", image="web:bad"), one_stage(), run(), limit=timedelta(minutes=20))
    assert said(world, "go") == [STARTED[0], "Progressing=False UpdateRunStuck"]
    assert message(world, "go", "Progressing") == (
        RolloutText.UPDATERUN_STUCK_WAITING_CLUSTER_STAGE(stuck="c1", stage="all")
    )
    assert rolled_out(world) == {"c1": "web:bad", "c2": None}
    world.roll_out(builders.deployment("web", "web", image="web:2"), run("fix"))
    assert said(world, "go") == FAILED
    assert clusters_of(world, "go", "all")["c1"] == "ClusterUpdatingFailed"
    assert part(RolloutText.BINDING_UPDATING_CLUSTER_STAGE_NOT) in message(world, "go", "Succeeded")
    assert (said(world, "fix"), rolled_out(world)) == (SUCCEEDED, {"c1": "web:2", "c2": "web:2"})


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


ANEW = RolloutText.ADD_NEW_RUN_GO()
FREEZE = RolloutText.STRATEGY_MEMBERSHIP_FREEZE_KEEPS_RUN()


def cleaning(*silent: str, **fields: Any) -> World:
    """A run that has only clusters to leave: c3 and c4 of four, some of which have just fallen silent."""
    names = ("c1", "c2", "c3", "c4")
    world = staged(World(rules=(QUICK,)), *members(*names), policy=builders.pick_fixed(*names))
    world.roll_out(one_stage(maxConcurrency=4), run())
    for name in silent:
        world.fleet.cluster(name).reachable = False
    shrunk = builders.placement("web", strategy=EXTERNAL, policy=builders.pick_fixed("c1", "c2"))
    world.roll_out(shrunk, one_stage(maxConcurrency=4, **fields), run("clean"), limit=timedelta(minutes=2))
    return world


def test_nothing_is_taken_off_while_most_clusters_do_not_answer() -> None:
    world = cleaning(approval=True)
    for name in ("c1", "c2", "c3"):
        world.fleet.cluster(name).reachable = False
    world.rest()
    world.roll_out(builders.approval("clean", "all"), limit=timedelta(minutes=2))
    assert [b.deleting for b in world.bindings("web").values()] == [None] * 4
    for name in ("c1", "c2", "c3"):
        world.fleet.cluster(name).reachable = True
    world.settle()
    assert said(world, "clean") == SUCCEEDED
    assert rolled_out(world) == {"c1": "web:1", "c2": "web:1", "c3": None, "c4": None}


def test_an_older_snapshot_comes_back_after_a_restart() -> None:
    """Nothing else uses it any more, so a new process has to load it."""
    world = staged(World(rules=(QUICK,)), *members("c1", "c2"))
    world.roll_out(one_stage(), run("one"))
    world.roll_out(builders.deployment("web", "web", image="web:2"), run("two"))
    assert rolled_out(world) == {"c1": "web:2", "c2": "web:2"}
    world.restart()
    world.commit(run("back", index=0))
    world.rest()
    world.restart()
    world.settle()
    assert (said(world, "back"), rolled_out(world)) == (SUCCEEDED, {"c1": "web:1", "c2": "web:1"})


def test_a_run_that_is_removed_leaves_everything_as_it_is() -> None:
    world = approved_stages()
    with world.nothing_deleted():
        world.roll_out(remove=["runs/go.yaml"])
    assert (world.state().runs, world.state().approvals) == ({}, {})
    assert rolled_out(world) == {"c1": "web:1", "c2": None}


def test_override_snapshots_are_pinned_when_the_run_begins() -> None:
    def override(replicas: int) -> dict[str, Any]:
        patch = {"op": "add", "path": "/spec/replicas", "value": replicas}
        return builders.override("o", "Deployment/web", builders.override_rule(patch))

    world = staged(World(rules=(QUICK,)), *members("c1", "c2"))
    world.commit(override(5), one_stage(), run())
    world.rest()
    world.roll_out(override(9))
    found = [world.live(name, "Deployment", "web") for name in ("c1", "c2")]
    assert [body["spec"]["replicas"] for body in found if body] == [5, 5]


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
    world.roll_out(files={"approvals/go-first.yaml": content.decode()})
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
    assert (
        f"{ViewsText.GOES_OUT(count='3 objects')}\n\n- ConfigMap/web/gone\n- Deployment/web/web\n- Namespace/web\n\n"
        in body_of(world, "old-before-a")
    )
    many = [builders.config_map("web", f"map-{number:02}", {"password": "hidden"}) for number in range(20)]
    go_through(world, "old")
    newer = builders.deployment("web", "web", image="web:2")
    world.roll_out(*many, newer, run("new"), remove=[builders.path_of(gone)])
    names = [*(f"added ConfigMap/web/map-{number:02}" for number in range(18)), "and 2 more"]
    listed = "\n".join(f"- {name}" for name in ("removed ConfigMap/web/gone", "changed Deployment/web/web", *names))
    section = f"{ViewsText.CHANGES_FROM_SNAPSHOT(old=1)}: 1 removed, 1 changed, 20 added\n\n{listed}\n\nWhat comes next"
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
    world.roll_out(builders.eviction("out", "web", victim))
    executed = world.state().evictions["out"].conditions[-1]
    blocked = (phase, victim) == ("waiting", "c2")
    assert (executed.status, executed.message.startswith(BLOCKED)) == ("False" if blocked else "True", blocked)
    if phase != "second" and not failure:
        world.roll_out(builders.approval("go", "first"))
    assert rolled_out(world) == images
    assert said(world, "go") == (FAILED if failure else SUCCEEDED)
    assert message(world, "go", "Succeeded") == failure
    result = world.driver.reconcile()
    assert result.settled
    world.roll_out(run("later"))
    world.roll_out(builders.approval("later", "first"))
    assert rolled_out(world) == {"c1": "web:1", "c2": "web:1"}


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
    world.roll_out(*members("c1", "c2"), *([builders.namespace("other"), other] if known else []))
    world.roll_out(bringing_namespace(strategy=strategy), *with_namespaced_run(POLICIES[policy]))
    record = world.state().runs[NamespacedName("web", "go")]
    assert [f"{c.type}={c.status} {c.reason}" for c in record.status.conditions] == SUCCEEDED
    assert rolled_out(world) == {"c1": "web:1", "c2": "web:1"}


def test_a_run_waits_for_the_run_that_brings_its_namespace() -> None:
    """Which is a person's turn, so that all is settled until then."""
    world = World(rules=(QUICK,))
    world.roll_out(*members("c1"), bringing_namespace(strategy=EXTERNAL), *with_namespaced_run(None), one_stage())
    (waits,) = (one for one in world.driver.reconcile().asks if one.startswith("run web/go waits"))
    assert waits.endswith(RolloutText.NAMESPACE_NOT_THERE_YET(namespace="web", where="c1"))
    assert world.driver.reconcile().settled
    world.roll_out(builders.staged_run("first", placement="namespaces", strategy="all"))
    assert rolled_out(world) == {"c1": "web:1"}


BAD = builders.override("bad", "Deployment/web", builders.override_rule({"op": "remove", "path": "/spec/nothing"}))
GATED = one_stage(beforeStageTasks=[{"type": "Approval"}])


def failing() -> World:
    """A run that is stuck with an override that fails."""
    world = staged(World(rules=(QUICK,)), *members("c1", "c2"))
    world.roll_out(BAD, one_stage(), run())
    return world


STUCK = RolloutText.RUN_STUCK_STAGE(run="go", stage="all", stuck="c1")
KEEPS = f"web: {RolloutText.KEEPS_COMMIT_NEW_RUN(cluster='c1', kept='').partition(';')[0]}"
AFTER: dict[str, tuple[Callable[[World], object], list[str]]] = {
    "stuck": (lambda world: None, [STUCK]),
    "corrected": (lambda world: world.commit(remove=[BAD]), [STUCK]),
    "stopped": (
        lambda world: world.commit(run(state="Stop")),
        [RolloutText.RUN_STOPPING_STARTED_GOES_END().format("go")],
    ),
    "deleted": (lambda world: world.commit(remove=[run()]), [KEEPS]),
    "a gate beside": (
        lambda world: world.commit(GATED, run("second"), remove=[BAD, run()]),
        [KEEPS, RolloutText.RUN_WAITS_STAGE_APPROVAL(run="second", side="before", stage="all", key="")],
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
    result = world.driver.reconcile()
    assert result.settled
    assert [ask[: len(begin)] for ask, begin in zip(result.asks, begins, strict=True)] == begins
    assert result.asks[0].endswith(keeps)
    world.roll_out(one_stage(), run("third"), remove=[BAD, run(), run("second")])
    assert said(world, "third") == SUCCEEDED


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("startRate", 0, ApiText.MUST_LEAST_RAISE(context=1)),
        ("startRate", "2", ApiText.MUST_WHOLE_NUMBER()),
        ("minSoak", "soon", FormatsText.MUST_DURATION_M_H30M()),
    ],
)
def test_a_pace_that_cannot_be_kept_is_refused_at_the_door(field: str, value: object, sentence: str) -> None:
    world = staged(World(rules=(QUICK,)), *members("c1"))
    world.commit(one_stage(**{field: value}))
    world.rest()
    (fault,) = world.state().faults
    assert fault.path == "strategies/all.yaml" and f"stages[0].{field}" in str(fault)
    assert sentence in str(fault)
