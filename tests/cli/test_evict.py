"""`gitfleet evict` and what every command says of evictions."""

from __future__ import annotations

import json
from pathlib import Path

import yaml

from gitfleet.cli.texts import CliText
from gitfleet.rollout.texts import RolloutText
from gitfleet.views.texts import ViewsText
from tests import builders
from tests.cli.conftest import Shell, commit, git

NO_BUDGET = RolloutText.EVICTION_ALLOWED_NO_BUDGET_SPECIFIED()


def test_an_eviction_is_committed_planned_carried_out_and_listed(gitfleet: Shell, moving: Path) -> None:
    said = gitfleet("evict", "web", "us-east-1", "-C", moving)
    assert (said.code, said.out) == (0, ""), said.err
    made = git(moving, "rev-parse", "main").strip()
    assert said.err.splitlines() == [
        "evictions/web-us-east-1.yaml evicts web from us-east-1",
        CliText.COMMITTED_AS_BY(branch="main", commit=made[:10], email="", merge="person@example.com"),
        CliText.PICKED_AGAIN_ONCE(cluster="us-east-1", placement="web"),
    ]
    assert git(moving, "log", "-1", "--format=%s") == "Evict web from us-east-1\n"
    assert yaml.safe_load((moving / "evictions" / "web-us-east-1.yaml").read_text()) == builders.eviction(
        "web-us-east-1", "web", "us-east-1"
    )

    sentence = f"eviction web-us-east-1 evicts web from us-east-1: {NO_BUDGET}"
    assert sentence in gitfleet("plan", moving).out.splitlines()
    planned = json.loads(gitfleet("plan", moving, "-o", "json").out)
    assert planned["evictions"] == [
        {
            "name": "web-us-east-1",
            "placement": "web",
            "clusterName": "us-east-1",
            "valid": "True",
            "executed": "True",
            "message": NO_BUDGET,
        }
    ]
    (web,) = [placement for placement in planned["placements"] if placement["name"] == "web"]
    assert web["moves"]["leave"] == ["us-east-1"]
    assert web["moves"]["because"].startswith("us-east-1 is evicted")
    assert not planned["holds"]
    assert gitfleet("plan", moving, "--detailed-exitcode").code == 2

    assert gitfleet("run", "--until-settled", moving).code == 0
    rows = gitfleet("get", "evictions", "-C", moving).out.splitlines()
    assert [row.split()[:5] for row in rows] == [
        ["NAME", "VALID", "EXECUTED", "PLACEMENT", "CLUSTER"],
        ["web-us-east-1", "True", "True", "web", "us-east-1"],
    ]
    assert NO_BUDGET in gitfleet("get", "crpe", "-C", moving, "-o", "wide").out
    explained = gitfleet("explain", "web", "us-east-1", "-C", moving).out
    assert f"Eviction web-us-east-1 executed: {NO_BUDGET}" in " ".join(explained.split())
    told = gitfleet("describe", "eviction", "web-us-east-1", "-C", moving).out
    assert "ClusterResourcePlacementEvictionExecuted" in told
    assert f"| [`web-us-east-1`](evictions/web-us-east-1.yaml) | `web` | `us-east-1` | True | `{NO_BUDGET}` |" in git(
        moving, "show", "gitfleet/state:README.md"
    )
    assert json.loads(gitfleet("plan", moving, "-o", "json").out)["evictions"] == [], "it was decided"


def test_each_eviction_has_a_name_of_its_own(gitfleet: Shell, moving: Path) -> None:
    for expected in ("web-us-east-1", "web-us-east-1-2", "web-us-east-1-3"):
        said = gitfleet("evict", "web", "us-east-1", "-C", f"file://{moving}")
        assert said.err.startswith(f"evictions/{expected}.yaml evicts")
    on_branch = gitfleet("evict", "web", "eu-west-1", "-C", moving, "--branch", "drain")
    assert CliText.MERGE_INTO(watched="main") in on_branch.err
    assert git(moving, "show", "drain:evictions/web-eu-west-1.yaml")


REFUSED = {
    ("wbe", "us-east-1"): ViewsText.NO_PLACEMENT(name="wbe"),
    ("web", "us-lab-1"): CliText.NOT_PLACED_CLUSTER(placement="web", cluster="us-lab-1"),
    ("team/web", "us-east-1"): "team/web is a ResourcePlacement, and only a ClusterResourcePlacement",
    ("fixed", "us-east-1"): CliText.PLACEMENTTYPE_PICKFIXED_CANNOT_EVICTED(placement="fixed"),
}


def test_what_would_be_invalid_is_not_committed(gitfleet: Shell, moving: Path) -> None:
    fixed = builders.placement("fixed", policy=builders.pick_fixed("us-east-1"))
    commit(moving, builders.repo_files_for(fixed, builders.namespace("fixed")))
    assert gitfleet("run", "--once", moving).code == 0
    before = git(moving, "rev-parse", "main")
    for words, error in REFUSED.items():
        ended = gitfleet("evict", *words, "-C", moving)
        assert (ended.code, ended.out) == (1, "")
        assert error in ended.err
    assert git(moving, "rev-parse", "main") == before
