"""Which clusters are in which stage, in which order, and how many at a time (KubeFleet pkg/controllers/updaterun,
computeRunStageStatus and calculateMaxConcurrencyValue)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.runs import ClusterUpdate, StageStatus, TaskStatus
from gitfleet.api.stage_tasks import StageTask, TaskType
from gitfleet.api.staged import Stage, StagedRun
from gitfleet.api.values import IntOrPercent
from gitfleet.errors import BadInput
from gitfleet.rollout.texts import RolloutText

_MOST_NAMED: Final = 10
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)


def stages_of(
    run: StagedRun, stages: Sequence[Stage], clusters: Iterable[MemberCluster], selected: Collection[str]
) -> tuple[StageStatus, ...]:
    """The stages of a run before anything of it started: of the `selected` clusters those that each stage's selector
    matches, by its sorting label and by name.

    BadInput, in KubeFleet's words, when a cluster is in two stages or in none, or has a sorting label that is no whole
    number.
    """
    placed: set[str] = set()
    statuses = []
    chosen = [cluster for cluster in clusters if cluster.name in selected]
    for stage in stages:
        members = sorted(_order(stage, cluster) for cluster in chosen if _is_in(stage, cluster))
        names = [name for _, name in members]
        for name in names:
            if name in placed:
                raise BadInput(
                    RolloutText.CLUSTER_APPEARS_MORE_ONE_STAGES(name=name),
                    hint=RolloutText.CHANGE_STAGES_LABEL_SELECTORS_EACH(),
                )
        placed.update(names)
        statuses.append(_fresh(run, stage, names))
    missing = sorted(set(selected) - placed)
    if missing:
        raise BadInput(
            RolloutText.SOME_CLUSTERS_NOT_PLACED_ANY(
                count=len(missing), most_named=_MOST_NAMED, missing=", ".join(missing[:_MOST_NAMED])
            ),
            hint=RolloutText.LABEL_STAGE_SELECTS(),
        )
    return tuple(statuses)


def _is_in(stage: Stage, cluster: MemberCluster) -> bool:
    return stage.label_selector is not None and stage.label_selector.matches(cluster.scheduling_labels)


def _order(stage: Stage, cluster: MemberCluster) -> tuple[int, str]:
    if stage.sorting_label_key is None:
        return 0, cluster.name
    text = cluster.labels.get(stage.sorting_label_key, "")
    if not _INTEGER.fullmatch(text):
        raise BadInput(
            RolloutText.SORTING_LABEL_CLUSTER_NOT_VALID(
                sorting_label_key=stage.sorting_label_key, text=text, cluster=cluster.name
            ),
            hint=RolloutText.GIVE_CLUSTER_LABEL(),
        )
    return int(text), cluster.name


def _fresh(run: StagedRun, stage: Stage, names: Iterable[str]) -> StageStatus:
    def tasks(stage_tasks: Iterable[StageTask], request: str) -> tuple[TaskStatus, ...]:
        return tuple(
            TaskStatus(type=task.type, approval_request_name=request if task.type is TaskType.APPROVAL else "")
            for task in stage_tasks
        )

    return StageStatus(
        name=stage.name,
        clusters=tuple(ClusterUpdate(cluster=name) for name in names),
        before_tasks=tasks(stage.before_tasks, request_name(run, stage.name, before=True)),
        after_tasks=tasks(stage.after_tasks, request_name(run, stage.name, before=False)),
    )


def request_name(run: StagedRun, stage: str, *, before: bool) -> str:
    """The name of an approval request: `<run>-<stage>` after a stage, `<run>-before-<stage>` before it (decision
    D9)."""
    return f"{run.key.name}-before-{stage}" if before else f"{run.key.name}-{stage}"


def answer_names(run: StagedRun, stages: Iterable[Stage]) -> Iterator[str]:
    """The names of all approvals that answer a run, the alias `<run>-after-<stage>` among them (decision D9)."""
    for stage in stages:
        if any(task.type is TaskType.APPROVAL for task in stage.before_tasks):
            yield request_name(run, stage.name, before=True)
        if any(task.type is TaskType.APPROVAL for task in stage.after_tasks):
            yield request_name(run, stage.name, before=False)
            yield alias_name(run.key.name, stage.name)


def alias_name(run: str, stage: str) -> str:
    """KubeFleet's newer name of what is asked after a stage."""
    return f"{run}-after-{stage}"


def concurrency(limit: IntOrPercent, clusters: int) -> int:
    """How many clusters may be updated at the same time: a percentage is rounded down, and one always may."""
    if isinstance(limit, int):
        return max(1, limit)
    return max(1, int(limit.removesuffix("%")) * clusters // 100)
