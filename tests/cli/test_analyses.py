"""Staged runs that metrics end, with a real Prometheus and in simulations; what the commands show of the numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from gitfleet.analysis.texts import AnalysisText
from tests import builders
from tests.cli.conftest import Shell, commit, make_repo
from tests.realparts.prometheus import PrometheusServer

QUERY = 'max(error_rate{cluster=~"{{ clusters }}",namespace="{{ namespace }}"})'
NUMBERS = AnalysisText.ABOVE_LARGEST_ALLOWED(named="", number_text="0.05, 1 time running (failureLimit 0)")
CLUSTERS = {"canary.one": "canary", "prod-1": "prod"}


def measured(repo: Path, address: str = "http://prometheus.example:9090", image: str = "web:1", **task: Any) -> None:
    """A commit with two clusters, and a run whose first stage is gated by an error rate."""
    task = {"interval": "1s", **task}
    gated = builders.stage("canary", match_labels={"tier": "canary"}, afterStageTasks=[builders.analysis(**task)])
    template = builders.metric_template(query=QUERY)
    template["spec"]["provider"]["address"] = address
    bodies = [
        *(builders.member_cluster(name, labels={"tier": tier}) for name, tier in CLUSTERS.items()),
        builders.namespace("shop"),
        builders.deployment("shop", "web", image=image),
        builders.placement("shop", strategy={"type": "External"}),
        builders.staged_strategy("safe", gated, builders.stage("rest", match_labels={"tier": "prod"})),
        builders.staged_run(f"to-{image.rpartition(':')[2]}", placement="shop", strategy="safe"),
        template,
    ]
    commit(repo, builders.repo_files_for(*bodies))


def rates(server: PrometheusServer, canary: float) -> str:
    """What the target says, and the --allow-metrics for it; returns when Prometheus has it."""
    values = "".join(
        f'error_rate{{cluster="{name}",namespace="shop"}} {value}\n'
        for name, value in {"canary.one": canary, "canaryxone": 0.9, "prod-1": 0.9}.items()
    )
    server.scrape(values)
    return "127.0.0.1:" + server.url.rpartition(":")[2]


def settled_with(gitfleet: Shell, repo: Path, allowed: str) -> str:
    """What `run --until-settled` ends with, the exit code first."""
    ended = gitfleet("run", repo, "--until-settled", "--timeout", "120", "--allow-metrics", allowed)
    return f"{ended.code} {ended.err}"


@pytest.mark.real
def test_a_real_prometheus_ends_one_run_and_rolls_the_next_one_back(
    gitfleet: Shell, tmp_path: Path, prometheus: PrometheusServer
) -> None:
    repo = make_repo(tmp_path / "fleet", {"README.md": "A fleet"})
    measured(repo, prometheus.url, count=2)
    assert settled_with(gitfleet, repo, rates(prometheus, 0.01)).startswith("0 settled")
    (run,) = json.loads(gitfleet("get", "runs", "-C", repo, "-o", "json").out)["items"]
    task = run["status"]["stagesStatus"][0]["afterStageTaskStatus"][0]
    assert [(one["values"], one["verdict"]) for one in task["measurements"]] == [([0.01], "Passed")] * 2
    measured(repo, prometheus.url, "web:2")
    ended = settled_with(gitfleet, repo, rates(prometheus, 0.12))
    assert ended.startswith("1 settled") and "run to-2 failed: stage canary: error-rate was 0.12 at " in ended
    assert NUMBERS in ended
    measured(repo, prometheus.url, "web:3", onFailure="Rollback")
    ended = settled_with(gitfleet, repo, rates(prometheus, 0.2))
    assert "error-rate was 0.2 at " in ended and NUMBERS in ended and "canary.one went back to what they had" in ended
    explained = gitfleet("explain", "shop", "-C", repo).out
    assert "its last run to-3 failed: stage canary: error-rate was 0.2 at " in explained and NUMBERS in explained
    shown = gitfleet("describe", "runs", "to-3", "-C", repo).out
    query = r'max(error_rate{cluster=~"canary\\.one",namespace="shop"})'
    assert (
        query in shown
        and "Failed Running:  1" in shown
        and AnalysisText.ABOVE_LARGEST_ALLOWED(named="", number_text="0.05") in shown
    )
    assert NUMBERS in gitfleet("get", "runs", "-C", repo, "-o", "wide").out


SCENARIO: Final = {
    "apiVersion": "gitfleet.dev/v1alpha1",
    "kind": "Scenario",
    "spec": {
        "start": "2026-01-01T00:00:00Z",
        "metrics": [
            {"query": '*cluster=~"canary\\\\.one"*', "value": 0.01, "until": "60s"},
            {"query": "*", "value": 0.12},
        ],
    },
}


@pytest.mark.parametrize(("on_failure", "reason"), [("Stop", "UpdateRunFailed"), ("Rollback", "UpdateRunRolledBack")])
def test_a_simulation_ends_a_run_as_its_scenario_measures(
    gitfleet: Shell, tmp_path: Path, on_failure: str, reason: str
) -> None:
    repo, scenario = make_repo(tmp_path / "fleet", {"README.md": "A fleet"}), tmp_path / "scenario.yaml"
    measured(repo, count=3, interval="1m", onFailure=on_failure)
    scenario.write_text(yaml.safe_dump(SCENARIO))
    told = gitfleet("simulate", repo, "--scenario", scenario).out
    assert "stage canary: error-rate was 0.12 at 2026-01-01 00:01:05 UTC, " + NUMBERS in told
    assert reason in told and "prod-1 started" not in told
