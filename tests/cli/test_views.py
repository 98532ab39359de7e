"""`get`, `describe` and `explain`: what people look at, at any hour."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
import yaml

from gitfleet.adapters.clock import SystemClock
from gitfleet.api.texts import ApiText
from gitfleet.cli.texts import CliText
from gitfleet.formats.texts import FormatsText
from gitfleet.rollout.texts import RolloutText
from gitfleet.schedule.texts import ScheduleText
from gitfleet.views.explanation import why
from gitfleet.views.texts import ViewsText
from tests.cli.conftest import Shell, commit, git, tiered

AGE = re.compile(r"\b\d+[smhdy]\d*[smhd]?\b")
NO_MATCH = ScheduleText.CLUSTER_NOT_MATCH_ANY_REQUIRED()
NOT_BEST = ScheduleText.SCORE_NOT_HIGH_ENOUGH(
    scores=ScheduleText.AFFINITY_SCORE_TOPOLOGY_SPREAD_SCORE(affinity=0, topology_spread=0)
)
LONG_AGES = [
    timedelta(seconds=109),
    timedelta(minutes=9, seconds=59),
    timedelta(days=7, hours=23),
    timedelta(days=2900),
]


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[timedelta], None]:
    """The clock of the process goes on by so much: tables are made as they look then."""
    real = SystemClock.now
    return lambda passed: monkeypatch.setattr(SystemClock, "now", lambda self: real(self) + passed)


def cells(text: str) -> list[list[str]]:
    """A table's cells, with every age as 0s: ages vary, and with them the width of their column."""
    return [re.split(r" {2,}", AGE.sub("0s", line).rstrip()) for line in text.splitlines()]


@pytest.mark.parametrize("word", ["crp", "placements", "ClusterResourcePlacement"])
def test_placements(gitfleet: Shell, settled: Path, word: str) -> None:
    ended = gitfleet("get", word, "-C", settled)

    assert (ended.code, ended.err) == (0, "")
    assert cells(ended.out) == [
        ["NAME", "GEN", "SCHEDULED", "AVAILABLE", "CLUSTERS", "SNAPSHOT", "AGE", "WAITING"],
        ["monitoring", "1", "True", "True", "4/4", "0", "0s", "<none>"],
        ["web", "1", "True", "True", "2/2", "0", "0s", "<none>"],
    ]


@pytest.mark.parametrize("passed", tiered({str(age): age for age in LONG_AGES}, str(LONG_AGES[-1])))
@pytest.mark.parametrize("kind", ["crp", "mc", "bindings", "snapshots", "policies", "overrides"])
def test_every_table_fits_80_columns_and_wide_has_at_least_as_much(
    gitfleet: Shell, settled: Path, kind: str, passed: timedelta, later: Callable[[timedelta], None]
) -> None:
    later(passed)
    table, wide = gitfleet("get", kind, "-C", settled).out, gitfleet("get", kind, "-C", settled, "-o", "wide").out

    assert max(map(len, table.splitlines())) <= 80
    assert set(table.splitlines()[0].split()) <= set(wide.splitlines()[0].split())


def test_other_formats(gitfleet: Shell, settled: Path) -> None:
    listed = json.loads(gitfleet("get", "crp", "-C", settled, "-o", "json").out)
    one = yaml.safe_load(gitfleet("get", "crp", "web", "-C", settled, "-o", "yaml").out)

    assert (listed["kind"], [item["metadata"]["name"] for item in listed["items"]]) == ("List", ["monitoring", "web"])
    assert one == listed["items"][1]
    assert {status["clusterName"] for status in one["status"]["placementStatuses"]} == {"eu-west-1", "us-east-1"}
    assert gitfleet("get", "crp", "-C", settled, "-o", "name").out == (
        "clusterresourceplacement/monitoring\nclusterresourceplacement/web\n"
    )


def test_names_and_kinds_that_are_not_there(gitfleet: Shell, settled: Path) -> None:
    absent, unknown = gitfleet("get", "crp", "nope", "-C", settled), gitfleet("get", "placment", "-C", settled)

    assert (absent.code, absent.out) == (1, "")
    assert absent.err == (
        f"error: {CliText.THERE_IS_NO(kind='crp', name='nope')}\nhint: {CliText.GITFLEET_GET_LISTS(kind='crp')}\n"
    )
    assert unknown.code == 1
    hint = ApiText.GITFLEET_SCHEMA_LISTS_KINDS(meant=ApiText.YOU_MEAN(same_spelling="placement"))
    assert unknown.err == f"error: {ApiText.NO_KIND(word='placment')}\nhint: {hint}\n"
    assert gitfleet("describe", "mc", "nope", "-C", settled).code == 1


def test_before_the_first_reconcile(gitfleet: Shell, fleet: Path) -> None:
    ended = gitfleet("get", "crp", "-C", fleet)

    assert (ended.code, ended.out) == (1, "")
    assert ended.err == (
        'error: there is no branch "gitfleet/state" yet\n'
        "hint: `gitfleet run --once` makes it with the first reconcile\n"
    )


@pytest.mark.parametrize(
    "words", [("get", "crp"), ("get", "mc", "-o", "json"), ("describe", "crp", "web"), ("explain", "web")]
)
def test_a_state_branch_that_is_not_gitfleets(gitfleet: Shell, moving: Path, words: tuple[str, ...]) -> None:
    foreign = git(moving, "commit-tree", "-m", "mine", "main^{tree}").strip()
    git(moving, "update-ref", "refs/heads/gitfleet/state", foreign)
    ended = gitfleet(*words, "-C", moving)

    assert (ended.code, ended.out) == (1, "")
    assert ended.err == (
        f"error: the state branch's commit {foreign[:12]} holds no state of gitfleet\n"
        "hint: push the last commit that gitfleet made there back; docs/state-branch.md says how to find it\n"
    )


def test_kinds_that_people_write(gitfleet: Shell, fleet: Path) -> None:
    strategy = """\
apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterStagedUpdateStrategy
metadata: {name: by-region}
spec:
  stages:
    - {name: canary, labelSelector: {matchLabels: {env: staging}}}
"""
    empty = gitfleet("get", "csus", "-C", fleet)
    assert (empty.code, empty.out, empty.err) == (0, "", (CliText.NO_RESOURCES_FOUND() + "\n"))
    assert json.loads(gitfleet("get", "strategies", "-C", fleet, "-o", "json").out)["items"] == []
    commit(fleet, {"strategies/by-region.yaml": strategy})

    assert gitfleet("get", "csus", "-C", fleet).out == ("NAME        KIND\nby-region   ClusterStagedUpdateStrategy\n")
    assert "Match Labels:" in gitfleet("describe", "csus", "by-region", "-C", fleet).out


def test_describe(gitfleet: Shell, settled: Path) -> None:
    out = gitfleet("describe", "crp", "web", "-C", settled).out

    assert out.startswith("Name:         web\nNamespace:\n")
    said = {" ".join(line.split()) for line in out.splitlines()}
    assert {"Reason: SchedulingPolicyFulfilled", "Cluster Name: eu-west-1", "Cluster Name: us-east-1"} <= said


def test_explain_all_clusters(gitfleet: Shell, settled: Path) -> None:
    ended = gitfleet("explain", "web", "-C", settled)

    assert (ended.code, ended.err) == (0, "")
    assert ended.out == (
        "CLUSTER      PICKED   STATE   SNAPSHOT   WHY\n"
        f"eu-west-1    yes      Bound   0          {ViewsText.UP_DATE()}\n"
        f"us-east-1    yes      Bound   0          {ViewsText.UP_DATE()}\n"
        f"eu-north-1   no       -       -          {NOT_BEST}\n"
        f"us-lab-1     no       -       -          {NO_MATCH}\n"
    )


def test_explain_one_cluster(gitfleet: Shell, settled: Path) -> None:
    refused, picked = (
        gitfleet("explain", "web", "us-lab-1", "-C", settled),
        gitfleet("explain", "web", "eu-west-1", "-C", settled),
    )

    assert refused.out == (
        f"us-lab-1 is not picked for web: {NO_MATCH}\n"
        f"{CliText.REFUSED_PLUG(row='ClusterAffinity')}\n"
        f"{CliText.WOULD_CHANGE(row='add label env=prod')}\n"
    )
    assert picked.out.splitlines()[-1] == CliText.ITS_BINDING_IS_WITH_IT(
        row="Bound", row_2="web-0-snapshot", has="web-0-snapshot"
    )


def test_explain_before_the_first_reconcile_says_what_comes_next(gitfleet: Shell, fleet: Path) -> None:
    lines = gitfleet("explain", "web", "-C", fleet).out.splitlines()

    assert lines[1].endswith(
        "Bound   -          next: " + RolloutText.GOES_OUT_NEW_CLUSTER(latest_snapshot="web-0-snapshot")
    )


def test_explain_as_json(gitfleet: Shell, settled: Path) -> None:
    document = json.loads(gitfleet("explain", "web", "us-lab-1", "-C", settled, "-o", "json").out)

    (row,) = document.pop("clusters")
    assert document == {
        "apiVersion": "gitfleet.dev/v1alpha1",
        "kind": "Explanation",
        "placement": "web",
        "removalsHeld": "",
        "pinned": "",
        "kept": "",
        "runWaits": "",
        "lastRunFailed": "",
    }
    assert (row["clusterName"], row["selected"], row["refusedBy"], row["remedy"]) == (
        "us-lab-1", False, "ClusterAffinity", "add label env=prod",
    )  # fmt: skip


def test_explain_unknown_names(gitfleet: Shell, settled: Path) -> None:
    assert gitfleet("explain", "nope", "-C", settled).err == (
        f"error: {ViewsText.NO_PLACEMENT(name='nope')}\nhint: placements: monitoring, web\n"
    )
    assert gitfleet("explain", "web", "eu-west", "-C", settled).err == (
        f"error: {CliText.NO_CLUSTER(cluster='eu-west')}\nhint: {FormatsText.YOU_MEAN(near='eu-west-1')}\n"
    )


def test_explain_names_the_cause_when_a_cluster_never_answered(gitfleet: Shell, fleet: Path) -> None:
    cluster = (fleet / "clusters" / "eu-west-1.yaml").read_text()
    commit(fleet, {"clusters/eu-west-1.yaml": cluster.replace("simulated: true", "context: nowhere")})
    once = gitfleet("run", "--once", fleet)
    row = next(
        line for line in gitfleet("explain", "web", "-C", fleet).out.splitlines() if line.startswith("eu-west-1")
    )

    assert "cluster: eu-west-1 is not joined: " in once.err and '"nowhere"' in once.err
    assert '"nowhere"' in row
    assert '"nowhere"' in gitfleet("get", "mc", "-o", "wide", "-C", fleet).out


def test_state_branch_of_another_name(gitfleet: Shell, fleet: Path) -> None:
    config = (fleet / "gitfleet.yaml").read_text().replace("spec:\n", "spec:\n  branches: {state: elsewhere}\n")
    commit(fleet, {"gitfleet.yaml": config})
    assert gitfleet("run", "--until-settled", fleet).code == 0

    assert "gitfleet/state" not in git(fleet, "branch", "--list")
    assert gitfleet("get", "crp", "-C", fleet).code == 0
    document = json.loads(gitfleet("plan", fleet, "--rev", "main", "-o", "json").out)
    assert document["stateCommit"] == git(fleet, "rev-parse", "elsewhere").strip()


def test_the_sentence_that_matters_most() -> None:
    row = {
        "clusterName": "c1", "selected": True, "waiting": [], "next": None, "appliedSnapshot": "web-2-snapshot",
        "reason": "picked", "clusterMessage": "",
    }  # fmt: skip

    assert why(row) == ViewsText.UP_DATE()
    assert why({**row, "next": "web-3-snapshot replaces web-2-snapshot"}).startswith("next: web-3")
    assert why({**row, "waiting": ["is not Available: no"]}) == "is not Available: no"
    assert why({**row, "selected": False, "clusterMessage": "gone"}) == "picked (gone)"


def test_a_past_state_is_read_at_its_commit(gitfleet: Shell, moving: Path) -> None:
    then = git(moving, "rev-parse", "gitfleet/state").strip()
    commit(moving, {"placements/monitoring.yaml": None})
    assert gitfleet("run", "--until-settled", moving).code == 0
    (plan_hold,) = json.loads(gitfleet("plan", moving, "-o", "json").out)["holds"]
    assert gitfleet("get", "holds", "-C", moving, "-o", "name").out == f"hold/{plan_hold['name']}\n"
    commit(moving, {plan_hold["approval"]["path"]: plan_hold["approval"]["content"]})
    assert gitfleet("run", "--until-settled", moving).code == 0

    now, before = gitfleet("get", "crp", "-C", moving), gitfleet("get", "crp", "-C", moving, "--at", then[:12])

    assert ("monitoring" in now.out, "monitoring" in before.out) == (False, True)
    assert gitfleet("describe", "crp", "monitoring", "-C", moving, "--at", then).code == 0
    refused = gitfleet("get", "crp", "-C", moving, "--at", "main")
    assert refused.err.startswith('error: "main" is no commit of the state branch\n')
    refused = gitfleet("get", "strategies", "-C", moving, "--at", then)
    assert refused.err.startswith(f"error: {CliText.STAND_WATCHED_BRANCH(listed_as='strategies')}")


def test_explain_tells_what_is_recorded(gitfleet: Shell, moving: Path) -> None:
    """A newer commit changes nothing before it is reconciled, and `--rev` works out what it leads to."""
    then = git(moving, "rev-parse", "gitfleet/state").strip()
    recorded = gitfleet("explain", "web", "-C", moving)
    placement = (moving / "placements" / "web.yaml").read_text().replace("numberOfClusters: 2", "numberOfClusters: 3")
    commit(moving, {"placements/web.yaml": placement})

    still, worked_out = (
        gitfleet("explain", "web", "-C", moving),
        gitfleet("explain", "web", "-C", moving, "--rev", "main"),
    )

    assert (still.out, recorded.err) == (recorded.out, "")
    assert still.err == CliText.NEWER_COMMITS_NOT_RECONCILED_YET(
        otherwise=(CliText.REV_WORKS_OUT_LEAD(watch_branch="main") + "\n")
    )
    assert "eu-north-1   yes" in worked_out.out and worked_out.err == ""
    assert gitfleet("run", "--until-settled", moving).code == 0
    assert "eu-north-1   yes" in gitfleet("explain", "web", "-C", moving).out
    assert gitfleet("explain", "web", "-C", moving, "--at", then).out == recorded.out
    assert CliText.REV_NOT_GO_TOGETHER() in gitfleet("explain", "web", "-C", moving, "--at", then, "--rev", "main").err
    assert gitfleet("explain", "new", "-C", moving, "--at", then).err.startswith(
        "error: " + ViewsText.NO_PLACEMENT(name="new")
    )


def test_a_new_commit_that_moves_the_state_branch_is_followed(gitfleet: Shell, moving: Path) -> None:
    """Commits that leave the FleetConfig alone are no reason to read it; one that changes it is."""
    commit(moving, {"resources/more.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: more}\n"})
    assert gitfleet("get", "crp", "-C", moving).code == 0
    config = (moving / "gitfleet.yaml").read_text().replace("spec:\n", "spec:\n  branches: {state: elsewhere}\n")
    commit(moving, {"gitfleet.yaml": config})

    ended = gitfleet("get", "crp", "-C", moving)

    assert (ended.code, ended.err.splitlines()[0]) == (1, 'error: there is no branch "elsewhere" yet')
