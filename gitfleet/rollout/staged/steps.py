"""One pass over one run while it is worked out: what changes, and the moves from phase to phase."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from gitfleet.api.bindings import Binding
from gitfleet.api.runs import ApprovalRequest, ClusterUpdate, RunStatus, StageStatus, TaskStatus
from gitfleet.api.values import NamespacedName
from gitfleet.model.calls import Call
from gitfleet.model.rolling import Move, MoveKind, PlacementGate, RolloutRequest
from gitfleet.rollout.staged.phases import (
    CLUSTER_MARKS,
    CLUSTER_MOVES,
    RUN_MARKS,
    RUN_MOVES,
    STAGE_MARKS,
    STAGE_MOVES,
    ClusterEvent,
    ClusterPhase,
    Mark,
    RunEvent,
    RunPhase,
    StageEvent,
    StagePhase,
    marked,
    phase_of,
    with_condition,
)
from gitfleet.rollout.staged.requests import RunRequest


@dataclass(slots=True)
class Pass:
    """What one pass has come to so far. `event` is what happened to the run, `failure` why it ends; `stuck` are
    clusters that take too long; `starts` says whether any cluster may start."""

    request: RunRequest
    moving: RolloutRequest
    bindings: dict[str, Binding]
    leaving: list[Binding]
    """Bindings that are given up; one that is wanted may be beside it."""
    requests: dict[NamespacedName, ApprovalRequest]
    event: RunEvent = RunEvent.RUN
    failure: str = ""
    falls_back: bool = False
    refused: str = ""
    """Why the content must not be rolled out any further."""
    message: str = ""
    stuck: list[str] = field(default_factory=list)
    starts: bool = True
    moves: list[Move] = field(default_factory=list)
    blocked: dict[str, str] = field(default_factory=dict)
    waiting: list[str] = field(default_factory=list)
    asks: list[str] = field(default_factory=list)
    clocks: list[timedelta] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)

    @property
    def now(self) -> datetime:
        """The moment of the pass."""
        return self.request.now

    @property
    def name(self) -> str:
        """The run's name."""
        return str(self.request.run.key)

    def gate(self, stage: StageStatus) -> PlacementGate:
        """What keeps clusters of a stage from starting."""
        waiting = [c.cluster for c in stage.clusters if cluster_phase(c) is ClusterPhase.PENDING]
        freezes = self.request.freezes.of(self.request.run.placement, waiting, self.request.clusters, stage.name)
        waits = {name: self.request.waits[name] for name in waiting if name in self.request.waits}
        return PlacementGate(frozen={**waits, **freezes}, refused=self.refused)

    def fail(self, sentence: str, *, falls_back: bool = False) -> None:
        """The run ends here; or rolls back what it did, and ends then."""
        self.falls_back = falls_back and not self.failure
        self.event, self.failure = RunEvent.ABORT, self.failure or sentence

    def move(self, cluster: str, kind: MoveKind, reason: str) -> None:
        """A cluster moves now."""
        self.moves.append(Move(cluster=cluster, kind=kind, reason=reason))

    def clock(self, *lengths: timedelta | None) -> None:
        """Lengths of time after which the pass may come to something else; what is over counts for nothing."""
        self.clocks += [length for length in lengths if length is not None and length > timedelta(0)]

    def stage(self, stage: StageStatus, event: StageEvent, message: str = "") -> StageStatus:
        """The stage after an event, with its times."""
        phase = STAGE_MOVES.get((stage_phase(stage), event))
        if phase is None:
            return stage
        ends = phase in (StagePhase.SUCCEEDED, StagePhase.SKIPPED, StagePhase.FAILED)
        starts = phase in (StagePhase.UPDATING, StagePhase.SKIPPED)
        return replace(
            stage,
            conditions=marked(stage.conditions, STAGE_MARKS[phase], message, self.now),
            start_time=stage.start_time or (self.now if starts else None),
            end_time=stage.end_time or (self.now if ends else None),
        )

    def task(self, task: TaskStatus, mark: Mark) -> TaskStatus:
        """A task with a condition set."""
        conditions = with_condition(task.conditions, mark, self.now)
        return task if conditions is task.conditions else replace(task, conditions=conditions)

    def cluster(self, cluster: ClusterUpdate, event: ClusterEvent, message: str = "") -> ClusterUpdate:
        """The cluster after an event."""
        phase = CLUSTER_MOVES.get((cluster_phase(cluster), event))
        if phase is None:
            return cluster
        return replace(cluster, conditions=marked(cluster.conditions, CLUSTER_MARKS[phase], message, self.now))


def run_phase(status: RunStatus) -> RunPhase:
    """How far a run is."""
    return phase_of(RUN_MARKS, status.conditions)


def stage_phase(stage: StageStatus) -> StagePhase:
    """How far a stage is. Before and after its clusters it waits with the same reason: only then it has started."""
    phase = phase_of(STAGE_MARKS, stage.conditions)
    return StagePhase.GATED if phase is StagePhase.WAITING and stage.start_time is None else phase


def cluster_phase(cluster: ClusterUpdate) -> ClusterPhase:
    """How far a cluster of a stage is."""
    return phase_of(CLUSTER_MARKS, cluster.conditions)


def after_events(status: RunStatus, events: Iterable[RunEvent], message: str, now: datetime) -> RunStatus:
    """The run's status after events, one after the other. `message` is for the last one."""
    all_events = tuple(events)
    for event in all_events:
        phase, last = run_phase(status), event is all_events[-1]
        new = RUN_MOVES.get((phase, event))
        if new is None:
            # The same again, or by way of running on: a run that is stuck, say, and is stuck still.
            new = RUN_MOVES.get((RUN_MOVES.get((phase, RunEvent.RUN), phase), event), phase)
        conditions = marked(status.conditions, RUN_MARKS[new], message if last else "", now)
        status = status if conditions is status.conditions else replace(status, conditions=conditions)
    return status
