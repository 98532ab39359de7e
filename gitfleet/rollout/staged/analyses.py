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
from gitfleet.api.stage_tasks import AnalysisScope, OnStageFailure, StageTask
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
    on_failure = task.on_failure or spec.on_failure or OnStageFailure.STOP
    analyses = [
        analysis.advance(task.metrics, status.measurements, scope, work.request.measured, work.now)
        for scope in _scopes(work, stage, task, goes_on=on_failure is OnStageFailure.WAIT)
    ]
    measurements = tuple(measurement for each in analyses for measurement in each.measurements)
    status = status if measurements == status.measurements else replace(status, measurements=measurements)
    sentence = _sentence(analyses)
    verdicts = {analysed.verdict for analysed in analyses}
    passed = verdicts <= {AnalysisVerdict.PASSED}
    failed = on_failure is not OnStageFailure.WAIT and AnalysisVerdict.FAILED in verdicts
    if failed:
        work.fail(f"stage {stage.name}: {sentence}", falls_back=on_failure is OnStageFailure.ROLLBACK)
    if passed or failed:
        reason = RunReason.ANALYSIS_SUCCEEDED if passed else RunReason.ANALYSIS_FAILED
        running = Mark(RunConditionType.ANALYSIS_RUNNING, Status.FALSE, reason)
        done = Mark(RunConditionType.ANALYSIS_SUCCEEDED, Status.TRUE if passed else Status.FALSE, reason, sentence)
        return work.task(work.task(status, running), done)
    for analysed in analyses:
        work.calls += analysed.queries
        work.clock(analysed.wake_at - work.now if analysed.wake_at is not None else None)
    work.waiting.append(analysis_wait(work.name, stage.name, sentence))
    return work.task(status, Mark(RunConditionType.ANALYSIS_RUNNING, Status.TRUE, RunReason.ANALYSIS_RUNNING, sentence))


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
            baseline = list(_not_updated(run))
            yield replace(whole, baseline={"clusters": analysis.alternatives(baseline)} if baseline else None)
        case AnalysisScope.CLUSTER:
            for name in updated:
                own = {**whole.variables, "cluster": name, "clusters": analysis.alternatives([name])}
                key = f"{whole.key}\n{name}"
                yield replace(whole, key=key, variables=own, cluster=name, retained=_KEPT_PER_CLUSTER)


def _not_updated(run: RunRecord) -> Iterator[str]:
    """The clusters that the run has not reached yet."""
    return (cluster.cluster for cluster in run.status.clusters if cluster_phase(cluster) is ClusterPhase.PENDING)


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
    keys = [*{manifest.key: None for manifest in manifests if manifest.key.group_kind in WORKLOAD_KINDS}]
    if len(keys) != 1:
        return always
    return {**always, "namespace": keys[0].namespace, "name": keys[0].name, "kind": keys[0].kind}


def _sentence(analyses: Sequence[Analysed]) -> str:
    """Why the analyses are where they are: those that failed, where some did."""
    failed = [analysed.message for analysed in analyses if analysed.verdict is AnalysisVerdict.FAILED]
    messages = list(dict.fromkeys(failed or [analysed.message for analysed in analyses]))
    if not messages:
        return RolloutText.NO_CLUSTER_UPDATED()
    return "; ".join(messages[:_MOST_NAMED]) + and_more(len(messages) - _MOST_NAMED)
