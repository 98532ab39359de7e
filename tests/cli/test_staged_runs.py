"""What the commands say of staged update runs, and the answers that they commit and play."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from gitfleet.adapters.clock import SystemClock
from gitfleet.cli.texts import CliText
from gitfleet.rollout.texts import RolloutText
from gitfleet.views.texts import ViewsText
from tests import builders
from tests.cli.conftest import Shell, commit, copied, git, settle

pytestmark = pytest.mark.usefixtures("hurried")

STAGES = (
    builders.stage("canary", match_labels={"tier": "canary"}, wait="10m", approval=True),
    builders.stage("rest", match_labels={"tier": "prod"}),
)
SCENARIO = """\
apiVersion: gitfleet.dev/v1alpha1
kind: Scenario
spec:
  timeline:
    - {at: 60s, %s: {run: go, stage: canary}}
"""


REJECTED = (
    "error: shop: its last run go failed: stage canary was rejected by go-canary: Rejected",
    ("hint: " + CliText.GITFLEET_GET_RUNS_O_WIDE()),
)


def staged(repo: Path) -> None:
    """A commit with two clusters, an External placement and a run of it."""
    clusters = {"c1": "canary", "c2": "prod"}
    bodies = [
        *(builders.member_cluster(name, labels={"tier": tier}) for name, tier in clusters.items()),
        builders.namespace("shop"),
        builders.deployment("shop", "web"),
        builders.placement("shop", strategy={"type": "External"}, policy=builders.pick_fixed("c1", "c2")),
        builders.staged_strategy("slow", *STAGES),
        builders.staged_run("go", placement="shop", strategy="slow"),
    ]
    commit(repo, builders.repo_files_for(*bodies))


@pytest.fixture(scope="module")
def reached(settled: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that waits for a person's approval of its only stage, before any answer."""
    home = tmp_path_factory.mktemp("gate")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(home / "cache"))
        repo = copied(settled, home / "fleet")
    staged(repo)
    commit(repo, builders.repo_files_for(builders.staged_strategy("slow", builders.stage("canary", approval=True))))
    return settle(repo)


@pytest.fixture
def gate(reached: Path, tmp_path: Path) -> Path:
    """A copy of it, for Ann."""
    repo = copied(reached, tmp_path / "fleet")
    git(repo, "config", "user.name", "Ann")
    git(repo, "config", "user.email", "ann@example.org")
    return repo


def timeline(gitfleet: Shell, repo: Path, answer: str, folder: Path) -> list[dict[str, object]]:
    """What a scenario plays in which a person answers after a minute."""
    scenario = folder / "scenario.yaml"
    scenario.write_text(SCENARIO % answer)
    told = gitfleet("simulate", repo, "--scenario", scenario, "-o", "jsonl")
    return [json.loads(line) for line in told.out.splitlines()]


def test_plan_shows_the_stages_and_their_gates(gitfleet: Shell, moving: Path) -> None:
    staged(moving)
    (run,) = json.loads(gitfleet("plan", moving, "-o", "json").out)["runs"]
    assert (run["name"], run["state"], run["resourceSnapshotIndex"]) == ("go", "running", "0")
    assert [(s["name"], s["after"], [c["clusterName"] for c in s["clusters"]]) for s in run["stages"]] == [
        ("canary", ["TimedWait 10m0s", "Approval"], ["c1"]),
        ("rest", [], ["c2"]),
    ]
    lines = gitfleet("plan", moving).out.splitlines()
    at = lines.index(
        ViewsText.RUN_PLACEMENT(name="go", document="", snapshot="shop with snapshot 0", document_2="", why="running")
    )
    assert lines[at + 1 : at + 3] == [
        "  stage canary (updating): c1, then TimedWait 10m0s and Approval",
        "  stage rest (pending): c2",
    ]


def test_a_scenario_approves_a_stage(gitfleet: Shell, moving: Path, tmp_path: Path) -> None:
    staged(moving)
    events = timeline(gitfleet, moving, "approve", tmp_path)
    told = [
        (e["t"], e["type"], e.get("stage"), e.get("phase"), e.get("cluster")) for e in events if e.get("run") == "go"
    ]
    assert told == [
        (0, "stage", "canary", "started", None),
        (0, "clusterUpdate", "canary", "started", "c1"),
        (0, "run", None, None, None),
        (0, "run", None, None, None),
        (5, "stage", "canary", "waiting", None),
        (5, "clusterUpdate", "canary", "succeeded", "c1"),
        (5, "approvalRequested", "canary", None, None),
        (60, "approved", "canary", None, None),
        (605, "stage", "canary", "succeeded", None),
        (605, "stage", "rest", "started", None),
        (605, "clusterUpdate", "rest", "started", "c2"),
        (610, "stage", "rest", "waiting", None),
        (610, "stage", "rest", "succeeded", None),
        (610, "clusterUpdate", "rest", "succeeded", "c2"),
        (610, "stage", "kubernetes-fleet.io/deleteStage", "started", None),
        (610, "stage", "kubernetes-fleet.io/deleteStage", "succeeded", None),
        (610, "run", None, None, None),
    ]
    assert events[-1]["reason"] == "settled"


def test_a_reconcile_until_settled_ends_at_a_gate_and_says_how_to_open_it(gitfleet: Shell, gate: Path) -> None:
    at_the_gate = gitfleet("run", "--until-settled", gate)
    assert at_the_gate.code == 0
    assert at_the_gate.err.splitlines()[0] == (
        "waiting: "
        + RolloutText.RUN_WAITS_STAGE_APPROVAL(
            run="go",
            side="after",
            stage="canary",
            key=RolloutText.GITFLEET_APPROVE_WRITES_ONE(why="go-canary", run="go", stage="canary"),
        )
    )
    assert gitfleet("approve", "go", "canary", "-C", gate).code == 0
    assert gitfleet("run", "--until-settled", gate).err.startswith("settled at commit")
    assert gitfleet("get", "csur", "-C", gate).out.splitlines()[1].split()[:6] == [
        "go", "shop", "0", "0", "True", "True",
    ]  # fmt: skip

    again = builders.staged_run("again", placement="shop", strategy="timed")
    commit(gate, builders.repo_files_for(builders.staged_strategy("timed", builders.stage("all", wait="10m")), again))
    timed = gitfleet("run", "--until-settled", "--timeout", "0", gate)
    assert timed.code == 1
    error = "error: nothing was settled within 0 s: " + RolloutText.RUN_WAITS_STAGE_UNTIL(
        run="again", stage="all", end="20\\d\\d-.* UTC"
    )
    assert re.search(error, timed.err)


def rejected(gitfleet: Shell, repo: Path) -> None:
    """The run fails, and so does the reconcile."""
    commit(repo, builders.repo_files_for(builders.approval("go", "canary", approved=False)))
    ended = gitfleet("run", "--until-settled", repo)
    assert (ended.code, ended.err.splitlines()[-2:]) == (1, [*REJECTED])
    assert "settled at commit" in ended.err


def test_a_reconcile_until_settled_fails_where_the_last_run_of_a_placement_did(gitfleet: Shell, gate: Path) -> None:
    rejected(gitfleet, gate)
    assert gitfleet("run", "--once", gate).code == 0
    explained = gitfleet("explain", "shop", "-C", gate).out
    assert REJECTED[0].removeprefix("error: ") in " ".join(explained.split())


@pytest.mark.soak("real")
def test_only_the_last_run_of_this_fleet_makes_a_reconcile_until_settled_fail(gitfleet: Shell, gate: Path) -> None:
    rejected(gitfleet, gate)
    assert gitfleet("run", "--until-settled", gate).code == 1  # it is no less so when it is asked again
    came = builders.staged_run("came", placement="shop", strategy="slow")
    came["status"] = {"conditions": [{"type": "Succeeded", "status": "True"}]}
    commit(gate, builders.repo_files_for(came))
    assert gitfleet("run", "--until-settled", gate).code == 1  # what ended elsewhere is no run of this fleet
    commit(gate, builders.repo_files_for(builders.staged_run("again", placement="shop", strategy="slow")))
    assert gitfleet("run", "--until-settled", gate).code == 0
    commit(gate, {"runs/again.yaml": None, "runs/came.yaml": None})
    assert gitfleet("run", "--until-settled", gate).code == 1
    commit(gate, {"runs/go.yaml": None})
    assert gitfleet("run", "--until-settled", gate).code == 0


def test_the_answer_is_bound_to_the_request(gitfleet: Shell, moving: Path) -> None:
    staged(moving)
    gated = builders.staged_strategy("slow", builders.stage("all", beforeStageTasks=[{"type": "Approval"}]))
    commit(moving, builders.repo_files_for(gated))
    git(moving, "config", "user.name", "Ann")
    git(moving, "config", "user.email", "ann@example.org")
    told = gitfleet("approve", "go", "all", "-C", moving)
    assert told.code == 1
    assert CliText.RUN_WAITS_NO_APPROVAL_STAGE(run="go", stage="all") in told.err
    gitfleet("run", "--once", moving)
    (row,) = gitfleet("get", "clusterapprovalrequests", "-C", moving).out.splitlines()[1:]
    assert row.split()[:3] == ["go-before-all", "go", "all"]
    request = yaml.safe_load(git(moving, "show", "gitfleet/state:approvals/go-before-all.yaml"))
    told = gitfleet("approve", "go", "all", "-C", moving)
    assert CliText.STAGE_RUN_SNAPSHOT(verb="approve", stage="all", run="go", snapshot_index="0") in told.err
    written = yaml.safe_load(git(moving, "show", "main:approvals/go-before-all.yaml"))
    assert (
        written["metadata"]["annotations"]["gitfleet.dev/digest"]
        == (request["metadata"]["annotations"]["gitfleet.dev/digest"])
    )
    gitfleet("run", "--once", moving)
    (row,) = gitfleet("get", "clusterapprovalrequests", "-C", moving).out.splitlines()[1:]
    assert row.split()[3:5] == ["True", "True"]


def test_a_run_that_is_over_takes_no_answer(gitfleet: Shell, moving: Path) -> None:
    staged(moving)
    gated = builders.staged_strategy("slow", builders.stage("all", beforeStageTasks=[{"type": "Approval"}]))
    commit(moving, builders.repo_files_for(gated))
    gitfleet("run", "--once", moving)
    changed = {"type": "External", "applyStrategy": {"whenToApply": "IfNotDrifted"}}
    commit(
        moving,
        builders.repo_files_for(builders.placement("shop", strategy=changed, policy=builders.pick_fixed("c1", "c2"))),
    )
    gitfleet("run", "--once", moving)
    assert "Succeeded=False" in "".join(
        f"{c['type']}={c['status']}"
        for c in yaml.safe_load(git(moving, "show", "gitfleet/state:runs/go.yaml"))["status"]["conditions"]
    )
    failed = "shop: its last run go failed: the applyStrategy in the updateRun is outdated"
    assert gitfleet("explain", "shop", "-C", moving).out.startswith(failed)
    assert failed in gitfleet("explain", "shop", "-C", moving, "--rev", "main", "-o", "json").out
    later = builders.staged_run("later", placement="shop", strategy="none")
    commit(moving, builders.repo_files_for(later))
    gitfleet("run", "--once", moving)
    refused = "shop: its last run later was refused: " + RolloutText.REFERENCED_UPDATESTRATEGY_NOT_FOUND(
        strategy="none"
    )
    assert gitfleet("explain", "shop", "-C", moving).out.startswith(refused)
    before = git(moving, "rev-parse", "main")
    for verb in ("approve", "reject"):
        told = gitfleet(verb, "go", "all", "-C", moving)
        assert told.code == 1
        assert CliText.RUN_OVER_NO_ANSWER_CHANGES(run="go") in told.err
    assert git(moving, "rev-parse", "main") == before


SOAKS, TIMED, ASKS = {"minSoak": "1h"}, {"wait": "1h"}, {"approval": True}


@pytest.mark.parametrize(
    ("fields", "wait"),
    [
        (SOAKS, r"run go waits: c1 in stage canary must stay healthy until 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC"),
        pytest.param(
            TIMED,
            r"run go waits in stage canary until 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC",
            marks=pytest.mark.soak("real"),
        ),
        (ASKS, "run go waits after stage canary for approval go-canary; `gitfleet approve go canary` writes one"),
    ],
    ids=["soaks", "timed", "asks"],
)
def test_all_views_say_what_a_run_waits_for(
    gitfleet: Shell, moving: Path, monkeypatch: pytest.MonkeyPatch, fields: dict[str, Any], wait: str
) -> None:
    """The very sentence of `run`, with the time or the command that ends it."""
    staged(moving)
    canary = builders.stage("canary", match_labels={"tier": "canary"}, **fields)
    commit(moving, builders.repo_files_for(builders.staged_strategy("slow", canary, STAGES[1])))
    real, waiting = SystemClock.now, ""
    for passes in range(3):  # the clock goes on by 10 s from one to the next
        monkeypatch.setattr(SystemClock, "now", lambda self, passed=timedelta(seconds=10 * passes): real(self) + passed)
        waiting = gitfleet("run", "--once", moving).err
    found = re.search(f"^waiting: ({wait})$", waiting, re.MULTILINE)
    assert found is not None, waiting
    said = found[1]
    assert gitfleet("explain", "shop", "-C", moving).out.splitlines()[0] == said
    assert json.loads(gitfleet("explain", "shop", "-C", moving, "-o", "json").out)["runWaits"] == said
    for kind in ("csur", "approvals"):
        assert max((len(line) for line in gitfleet("get", kind, "-C", moving).out.splitlines()), default=0) <= 80
    by_run = gitfleet("explain", "go", "-C", moving)
    assert by_run.code == 1
    assert by_run.err.splitlines() == [
        ("error: " + ViewsText.NO_PLACEMENT_BUT_RUN_PLACEMENT(name="go", placement="shop")),
        ("hint: " + ViewsText.GITFLEET_EXPLAIN_SAYS_WAITS(placement="shop", name="go")),
    ]
    soaking = f"Waiting: {said}" in gitfleet("explain", "shop", "c1", "-C", moving).out.splitlines()
    assert soaking == (fields is SOAKS)
    plan = gitfleet("plan", moving).out.splitlines()
    assert (
        plan[
            plan.index(
                ViewsText.RUN_PLACEMENT(
                    name="go", document="", snapshot="shop with snapshot 0", document_2="", why="running"
                )
            )
            + 1
        ]
        == f"  {said}"
    )
    for kind, name in (("csur", "go"), ("crp", "shop")):
        assert gitfleet("describe", kind, name, "-C", moving).out.splitlines()[-2:] == ["Waits For:", f"  {said}"]
    assert said.removeprefix("run go ") in gitfleet("get", "csur", "-C", moving, "-o", "wide").out
    page = git(moving, "show", "gitfleet/state:README.md")
    shown = said.replace("`", "'")
    assert f"- `{shown}`" in page.splitlines()
    assert f"| 2 | 1/2 | 1/2 | 0 | `{shown}` |" in page


def test_the_page_says_how_to_answer_a_stage(reached: Path) -> None:
    page = git(reached, "show", "gitfleet/state:README.md")
    assert page[page.index("## Stages that wait") : page.index("## Clusters")] == (
        "## Stages that wait for approval: 1\n\n"
        "### [`go-canary`](approvals/go-canary.yaml)\n\n"
        "Run `go` waits after stage `canary`, with snapshot `0`.\n\n"
        "- To approve: `gitfleet approve go canary`, or merge the branch `gitfleet/approve/go-canary`.\n"
        "- To reject: `gitfleet reject go canary`. Closing or deleting a branch answers nothing.\n"
        '- By hand: add `approvals/go-canary.yaml` to the config repo; `status: "False"` there rejects.\n\n'
        "```yaml\n"
        "apiVersion: placement.kubernetes-fleet.io/v1beta1\n"
        "kind: ClusterApprovalRequest\n"
        "metadata:\n"
        "  name: go-canary\n"
        "status:\n"
        "  conditions:\n"
        '  - status: "True"\n'
        "    type: Approved\n"
        "```\n\n"
    )
    branches = git(reached, "branch", "--list", "gitfleet/approve/*").split()
    assert branches == ["gitfleet/approve/go-canary"]
