"""The staged update runs of a plan: their stages, clusters in order, and what stands between."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from gitfleet.api.runs import StageStatus
from gitfleet.api.stage_tasks import StageTask
from gitfleet.api.staged import Stage
from gitfleet.formats.durations import seconds_text
from gitfleet.formats.sentences import named_briefly
from gitfleet.model.state import FleetState
from gitfleet.rollout import staged
from gitfleet.views.runs import RunView
from gitfleet.views.texts import ViewsText


def run_documents(before: FleetState, after: FleetState, now: datetime) -> list[dict[str, Any]]:
    """The runs that are under way, and those that the change begins or ends, with what each waits for `now`."""
    return [
        _document(RunView(run=run, requests=after.approvals), now)
        for key, run in after.runs.items()
        if not run.finished or (old := before.runs.get(key)) is None or not old.finished
    ]


def _document(view: RunView, now: datetime) -> dict[str, Any]:
    run, status = view.run, view.run.status
    specs = status.strategy.stages if status.strategy is not None else ()
    stages = [_stage(stage, spec) for stage, spec in zip(status.stages, specs, strict=True)]
    return {
        "name": run.key.name,
        "namespace": run.key.namespace or None,
        "placement": str(run.placement),
        "strategy": run.strategy_name,
        "resourceSnapshotIndex": status.resource_snapshot_index_used or None,
        "state": staged.run_phase(status).value,
        "message": view.message,
        "waits": list(view.waits(now)),
        "stages": stages,
        "deletion": [cluster.cluster for cluster in status.deletion.clusters] if status.deletion is not None else [],
    }


def _stage(stage: StageStatus, spec: Stage) -> dict[str, Any]:
    return {
        "name": stage.name,
        "state": staged.stage_phase(stage).value,
        "maxConcurrency": spec.max_concurrency,
        "minSoak": seconds_text(spec.min_soak) if spec.min_soak is not None else None,
        "startRate": spec.start_rate,
        "before": [_task(task) for task in spec.before_tasks],
        "clusters": [
            {"clusterName": cluster.cluster, "state": staged.cluster_phase(cluster).value} for cluster in stage.clusters
        ],
        "after": [_task(task) for task in spec.after_tasks],
    }


def _task(task: StageTask) -> str:
    if task.metrics:
        return f"{task.type} of {named_briefly([metric.name for metric in task.metrics], 3)}"
    return task.type if not task.wait_seconds else f"{task.type} {seconds_text(task.wait_seconds)}"


def run_sentences(document: Mapping[str, Any]) -> Iterator[str]:
    """A run's document in lines: the run, then its stages, two to the right."""
    name = f"{document['namespace']}/{document['name']}" if document["namespace"] else document["name"]
    snapshot = f" with snapshot {document['resourceSnapshotIndex']}" if document["resourceSnapshotIndex"] else ""
    message = f": {document['message']}" if document["message"] and not document["waits"] else ""
    yield ViewsText.RUN_PLACEMENT(
        name=name, document=document["placement"], snapshot=snapshot, document_2=document["state"], why=message
    )
    yield from (f"  {wait}" for wait in document["waits"])
    for stage in document["stages"]:
        clusters = ", ".join(cluster["clusterName"] for cluster in stage["clusters"]) or "no cluster"
        before = f"after {_all(stage['before'])}: " if stage["before"] else ""
        after = f", then {_all(stage['after'])}" if stage["after"] else ""
        rate = f", {stage['startRate']} a minute" if stage["startRate"] else ""
        soak = ViewsText.EACH_HEALTHY(stage=stage["minSoak"]) if stage["minSoak"] else ""
        yield f"  stage {stage['name']} ({stage['state']}): {before}{clusters}{rate}{soak}{after}"
    if document["deletion"]:
        yield ViewsText.LAST_LEAVES(document=", ".join(document["deletion"]))


def _all(tasks: Sequence[str]) -> str:
    return " and ".join(tasks)
