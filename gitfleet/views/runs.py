"""Staged update runs and their approval requests for people, as rows; and what waits for an answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from gitfleet.api import write
from gitfleet.api.conditions import find_condition
from gitfleet.api.holds import Hold
from gitfleet.api.objects import JsonObject
from gitfleet.api.placements import PlacementKey
from gitfleet.api.runs import (
    ApprovalRequest,
    ClusterUpdate,
    RunConditionType,
    RunRecord,
    StageStatus,
)
from gitfleet.api.staged import BEGAN_ELSEWHERE
from gitfleet.api.values import NamespacedName
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.rollout import staged
from gitfleet.state import StateReader
from gitfleet.views.holds import holds_of, waiting_holds
from gitfleet.views.tables import NONE
from gitfleet.views.texts import ViewsText

_TELLING: Final[Mapping[staged.RunPhase, RunConditionType]] = {
    staged.RunPhase.NEW: RunConditionType.INITIALIZED,
    staged.RunPhase.REFUSED: RunConditionType.INITIALIZED,
    staged.RunPhase.STUCK: RunConditionType.PROGRESSING,
    staged.RunPhase.FAILED: RunConditionType.SUCCEEDED,
}
"""Which condition of a run that does not go on says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """A run, the requests of its stages, and the holds with removals of its placement."""

    run: RunRecord
    holds: tuple[Hold, ...] = ()
    requests: Mapping[NamespacedName, ApprovalRequest] = field(default_factory=dict)

    @property
    def namespace(self) -> str:
        """Its namespace, "" for one of the whole cluster."""
        return self.run.key.namespace

    @property
    def name(self) -> str:
        """Its name."""
        return self.run.key.name

    @property
    def stage(self) -> str:
        """The stage that it is in with its phase; a dash before the first and after the last."""
        for stage in self.run.status.all_stages:
            phase = staged.stage_phase(stage)
            if phase not in ("succeeded", "skipped"):
                return f"{stage.name} {phase}" if not self.run.finished or phase == "failed" else NONE
        return NONE

    @property
    def message(self) -> str:
        """Why it does not begin, is stuck or failed; "" for one that goes on or succeeded."""
        telling = _TELLING.get(staged.run_phase(self.run.status))
        condition = find_condition(self.run.status.conditions, telling) if telling is not None else None
        return condition.message if condition is not None else ""

    def waits(self, now: datetime) -> tuple[str, ...]:
        """What it waits for, until when, and what lets it go on."""
        return staged.waits_of(self.run, self.requests, now)

    @property
    def updated(self) -> str:
        """How many of its clusters are updated, of all."""
        return _count(self.run.status.clusters)

    def body(self) -> JsonObject:
        """The whole object."""
        return write(self.run)


def run_views(state: StateReader, name: str | None = None) -> Iterator[RunView]:
    """Every run, or those of a name."""
    requests = {request.key: request for request in state.each(ApprovalRequest)}
    waiting = waiting_holds(state)
    runs = sorted(state.each(RunRecord, name), key=lambda run: run.key)
    return (RunView(run=run, requests=requests, holds=holds_of(run.placement, waiting)) for run in runs)


def run_waits(kind: str, state: StateReader, name: str, now: datetime) -> tuple[str, ...]:
    """What a run waits for, or what the runs of a placement wait for, of a `kind` as it is listed."""
    return tuple(
        wait
        for view in (run_views(state, name if kind == "runs" else None) if kind in ("runs", "placements") else ())
        if kind == "runs" or name in (str(view.run.placement), view.run.placement_name)
        for wait in view.waits(now)
    )


def last_run_failures(
    runs: Iterable[RunRecord], records: Mapping[PlacementKey, PlacementRecord]
) -> dict[PlacementKey, str]:
    """Why the last run of each placement failed or was refused, in a sentence, where it did. One that began on another
    hub is none of this fleet's, and one that failed matters no longer where its placement is gone or needs no run."""
    last: dict[PlacementKey, RunView] = {}
    for run in sorted(runs, key=lambda run: (run.created, run.key)):
        view = RunView(run=run)
        if BEGAN_ELSEWHERE not in view.message:
            last[run.placement] = view
    ends = {staged.RunPhase.FAILED: "failed", staged.RunPhase.REFUSED: "was refused"}
    external = {key for key, record in records.items() if record.placement.strategy.external}
    return {
        key: ViewsText.LAST_RUN(key=key, run=view.run.key, end=end, view=view.message)
        for key, view in last.items()
        if (end := ends.get(staged.run_phase(view.run.status))) and (end != "failed" or key in external)
    }


def pending_request(state: FleetState, run: str, stage: str) -> ApprovalRequest | None:
    """The unanswered request for a stage of a run (`name` or `namespace/name`)."""
    for request in state.approvals.values():
        namespace = f"{request.key.namespace}/" if request.key.namespace else ""
        matches = (f"{namespace}{request.parent_run}", request.target_stage) == (run, stage)
        if matches and request.answer is None:
            return request
    return None


def progress_of(stage: StageStatus) -> str:
    """How far a stage is: `waiting, 2/2 clusters`; `updating, 0/2 clusters, 1 soaking` where clusters are healthy and
    do not count yet."""
    under_way = [cluster for cluster in stage.clusters if staged.cluster_phase(cluster) is staged.ClusterPhase.UPDATING]
    soaking = sum(staged.soaking_since(cluster) is not None for cluster in under_way)
    text = f"{staged.stage_phase(stage)}, {_count(stage.clusters)} clusters"
    return f"{text}, {soaking} soaking" if soaking else text


def _count(clusters: Iterable[ClusterUpdate]) -> str:
    listed = list(clusters)
    return f"{sum(staged.cluster_phase(cluster) == 'updated' for cluster in listed)}/{len(listed)}"
