"""The Analysis after a stage: metrics of the clusters that it updated let the run go on, or end it (decision record
0043). All is recorded in the task's status, so that a restart measures nothing twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from gitfleet import analysis
from gitfleet.analysis import Analysed, AnalysisVerdict, Scope
from gitfleet.api.conditions import Status
from gitfleet.api.runs import RunConditionType, RunReason, RunRecord, StageStatus, TaskStatus
from gitfleet.api.stage_tasks import AnalysisScope, StageTask
from gitfleet.api.staged import Stage
from gitfleet.api.workload_rollouts import WORKLOAD_KINDS
from gitfleet.formats.sentences import and_more
from gitfleet.formats.times import time_text
from gitfleet.rollout.staged.pace import waiting_since
from gitfleet.rollout.staged.phases import ClusterPhase, Mark
from gitfleet.rollout.staged.requests import snapshot_for
from gitfleet.rollout.staged.steps import Pass, cluster_phase
from gitfleet.rollout.staged.waits import analysis_wait
from gitfleet.rollout.texts import RolloutText

_KEPT_PER_CLUSTER: Final = 3
"""Measurements of each metric that are kept where each cluster has its own."""
_MOST_NAMED: Final = 3


def analyse(work: Pass, spec: Stage, stage: StageStatus, task: StageTask, status: TaskStatus) -> TaskStatus:
    """The status of an Analysis after this pass: what came of its measurements, and which are due. Where it failed, the
    run ends, rolls back, or (`onFailure: Wait`) it is measured on."""
    on_failure = task.on_failure or spec.on_failure or "Stop"
    found = [
        analysis.advance(task.metrics, status.measurements, scope, work.request.measured, work.now)
        for scope in _scopes(work, stage, task, goes_on=on_failure == "Wait")
    ]
    measurements = tuple(one for each in found for one in each.measurements)
    status = status if measurements == status.measurements else replace(status, measurements=measurements)
    said = _sentence(found)
    if all(one.verdict is AnalysisVerdict.PASSED for one in found):
        running = Mark(RunConditionType.ANALYSIS_RUNNING, Status.FALSE, RunReason.ANALYSIS_SUCCEEDED)
        done = Mark(RunConditionType.ANALYSIS_SUCCEEDED, Status.TRUE, RunReason.ANALYSIS_SUCCEEDED, said)
        return work.task(work.task(status, running), done)
    if on_failure != "Wait" and any(one.verdict is AnalysisVerdict.FAILED for one in found):
        work.fail(f"stage {stage.name}: {said}", falls_back=on_failure == "Rollback")
        running = Mark(RunConditionType.ANALYSIS_RUNNING, Status.FALSE, RunReason.ANALYSIS_FAILED)
        done = Mark(RunConditionType.ANALYSIS_SUCCEEDED, Status.FALSE, RunReason.ANALYSIS_FAILED, said)
        return work.task(work.task(status, running), done)
    for one in found:
        work.calls += one.queries
        work.clock(one.wake_at - work.now if one.wake_at is not None else None)
    work.waiting.append(analysis_wait(work.name, stage.name, said))
    return work.task(status, Mark(RunConditionType.ANALYSIS_RUNNING, Status.TRUE, RunReason.ANALYSIS_RUNNING, said))


def _scopes(work: Pass, stage: StageStatus, task: StageTask, *, goes_on: bool) -> Iterator[Scope]:
    """One analysis, or one for each cluster of the stage that was updated."""
    run = work.request.run
    updated = [c.cluster for c in stage.clusters if cluster_phase(c) is ClusterPhase.UPDATED]
    if not updated:
        return
    whole = Scope(
        key="\n".join((str(run.key), time_text(run.created), stage.name)),
        began=waiting_since(stage, work.now),
        namespace=run.key.namespace,
        variables={**_variables(work, stage), "clusters": analysis.alternatives(updated)},
        templates=work.request.templates,
        goes_on=goes_on,
    )
    match task.scope or AnalysisScope.STAGE:
        case AnalysisScope.STAGE:
            yield whole
        case AnalysisScope.CANARY:
            others = list(_not_updated(run))
            yield replace(whole, baseline={"clusters": analysis.alternatives(others)} if others else None)
        case AnalysisScope.CLUSTER:
            for name in updated:
                own = {**whole.variables, "cluster": name, "clusters": analysis.alternatives([name])}
                key = f"{whole.key}\n{name}"
                yield replace(whole, key=key, variables=own, cluster=name, kept=_KEPT_PER_CLUSTER)


def _not_updated(run: RunRecord) -> Iterator[str]:
    """The clusters that the run has not reached yet."""
    clusters = (cluster for stage in run.status.stages for cluster in stage.clusters)
    return (cluster.cluster for cluster in clusters if cluster_phase(cluster) is ClusterPhase.PENDING)


def _variables(work: Pass, stage: StageStatus) -> dict[str, str]:
    """The variables of every template; `namespace`, `name` and `kind` where the placement has one workload."""
    run, record = work.request.run, work.request.record
    always = {
        "run": run.key.name,
        "stage": stage.name,
        "placement": run.placement_name,
        "snapshot": run.status.resource_snapshot_index_used,
    }
    snapshot = snapshot_for(run, record) if record is not None else None
    manifests = (snapshot.manifests or ()) if snapshot is not None else ()
    keys = [manifest.key for manifest in manifests if manifest.key.group_kind in WORKLOAD_KINDS]
    if len(keys) != 1:
        return always
    return {**always, "namespace": keys[0].namespace, "name": keys[0].name, "kind": keys[0].kind}


def _sentence(found: Sequence[Analysed]) -> str:
    """Why the analyses are where they are: those that failed, where some did."""
    failed = [one.message for one in found if one.verdict is AnalysisVerdict.FAILED]
    said = list(dict.fromkeys(failed or [one.message for one in found]))
    return (
        "; ".join(said[:_MOST_NAMED]) + and_more(len(said) - _MOST_NAMED) if said else RolloutText.NO_CLUSTER_UPDATED()
    )
