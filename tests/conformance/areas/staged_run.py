"""staged_run: stages, concurrency and results of clusters, from strategies and runs that the product's reader reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from gitfleet.api.staged import StagedRun, StagedStrategy
from gitfleet.errors import BadInput
from gitfleet.rollout import is_ready, staged
from gitfleet.rollout.staged import stages, waits
from tests.conformance.documents import NOW, V1BETA1, accepted, binding_of, cluster_of, difference
from tests.conformance.texts import text_difference
from tests.desired import checks

Case = dict[str, Any]


def _strategy_document(stages: Any) -> dict[str, Any]:
    kind = {"apiVersion": V1BETA1, "kind": "ClusterStagedUpdateStrategy"}
    return {**kind, "metadata": {"name": "strat"}, "spec": {"stages": stages}}


def _run() -> StagedRun:
    body = {
        "apiVersion": V1BETA1,
        "kind": "ClusterStagedUpdateRun",
        "metadata": {"name": "run"},
        "spec": {"placementName": "p", "stagedRolloutStrategyName": "strat"},
    }
    return accepted(StagedRun, body)


def _stages(given: Mapping[str, Any]) -> dict[str, Any]:
    """What a strategy makes of clusters; what its reader refuses never gets as far as a run."""
    document = _strategy_document(given["stages"])
    refused = checks.check_strategy_stages(given["stages"])
    if refused:
        return {"errors": refused}
    strategy = accepted(StagedStrategy, document)
    clusters = [cluster_of(cluster) for cluster in given["clusters"]]
    try:
        found = staged.stages_of(_run(), strategy.stages, clusters, given["selected"])
    except BadInput as error:
        return {"errors": [str(error)]}
    stages = []
    for stage in found:
        tasks = (*stage.before_tasks, *stage.after_tasks)
        requests = [task.approval_request_name for task in tasks if task.approval_request_name]
        one: dict[str, Any] = {"clusters": [cluster.cluster for cluster in stage.clusters], "stage": stage.name}
        stages.append({**one, "approval_requests": requests} if requests else one)
    return {"stages": stages}


def _by_seed(wanted: Mapping[str, Any]) -> dict[str, Any]:
    """The seeds name a request after a stage `<run>-<stage>`, KubeFleet's newest code `<run>-after-<stage>` (decision
    D9)."""
    return {
        "stages": [
            {**stage, "approval_requests": [name.replace("-after-", "-") for name in stage["approval_requests"]]}
            if "approval_requests" in stage
            else stage
            for stage in wanted["stages"]
        ]
    }


def run_stages(case: Case) -> str | None:
    """op stages: the clusters of each stage in order and the names of its requests, or what is wrong."""
    got, wanted = _stages(case["in"]), case["out"]
    if "error" not in wanted:
        return difference(_by_seed(wanted), got)
    return text_difference(wanted["error"], got["errors"]) if "errors" in got else f"not refused: {got}"


def run_concurrency(case: Case) -> str | None:
    """op max_concurrency."""
    given = case["in"]
    return difference(case["out"], {"concurrency": stages.concurrency(given["maxConcurrency"], given["clusterCount"])})


def run_result(case: Case) -> str | None:
    """op cluster_result: no case is about what cannot be tracked, which KubeFleet counts at once (decision D14)."""
    ready = is_ready(binding_of(case["in"], policy="p-0"), timedelta(seconds=60), NOW).ready
    return difference(case["out"], {"result": "succeeded" if ready else "in-progress"})


OPS: Mapping[str, Callable[[Case], str | None]] = {
    "stages": run_stages,
    "max_concurrency": run_concurrency,
    "cluster_result": run_result,
    "stuck_string": lambda case: difference(case["out"], {"string": waits.stuck_text(case["in"]["clusters"])}),
}
AREAS = {"staged_run": lambda case: OPS[case["op"]](case)}
