"""The question to one run in one pass, and its answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from gitfleet.api.bindings import Binding, BindingState, PinnedLabels, is_active
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.conditions import Condition
from gitfleet.api.metrics import MetricTemplate
from gitfleet.api.runs import ApprovalRequest, RunRecord
from gitfleet.api.snapshots import ResourceSnapshot
from gitfleet.api.staged import RunState, StagedRun, StagedStrategy
from gitfleet.api.values import NamespacedName
from gitfleet.model.approvals import Verdict
from gitfleet.model.calls import Answers, Call
from gitfleet.model.rolling import Frozen, Move
from gitfleet.model.state import PlacementRecord
from gitfleet.rollout.freezes import Freezes
from gitfleet.rollout.requests import ContentsByCluster


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """One run, and all that its next step depends on.

    `state` is what people want now: Initialize, Run or Stop. `record` is the placement's (None: there is none),
    `scheduled` its Scheduled condition of this pass, `strategy` the strategy that the run names (`strategy_faults`
    where those of its file are that hide it), `other_runs` the further unfinished runs of the placement, `answers` the
    names of approvals that answer other runs of its namespace that were there first. `contents` are the overrides and
    variants that each cluster is to get, `labels` what they depend on, `former_labels` the same of those that each
    cluster had before the run. `requests` are the run's approval requests, `verdicts` what people have said to each.
    `disturbed` are clusters where drift is being corrected, `silent` those that do not answer, and since when;
    `quarantined` says of the placement's content that must not go out why, by its digest; `had` is what each cluster
    had before any run moved it now. `awaits_namespace` are the clusters that are picked only once another placement has
    brought the namespace there. `waits` are the clusters that wait for another folder. `templates` are those that
    metrics may name, `measured` what came of the calls of earlier passes.
    """

    run: RunRecord
    state: RunState
    record: PlacementRecord | None
    scheduled: Condition | None
    strategy: StagedStrategy | None
    strategy_faults: str = ""
    other_runs: tuple[RunRecord, ...] = ()
    answers: Mapping[str, NamespacedName] = field(default_factory=dict)
    clusters: Mapping[str, MemberCluster] = field(default_factory=dict)
    contents: ContentsByCluster = field(default_factory=dict)
    labels: Mapping[str, PinnedLabels] = field(default_factory=dict)
    former_labels: Mapping[str, PinnedLabels] = field(default_factory=dict)
    requests: Mapping[NamespacedName, ApprovalRequest] = field(default_factory=dict)
    verdicts: Mapping[NamespacedName, Verdict] = field(default_factory=dict)
    disturbed: frozenset[str] = frozenset()
    quarantined: Mapping[str, str] = field(default_factory=dict)
    had: Mapping[str, Binding] = field(default_factory=dict)
    awaits_namespace: frozenset[str] = frozenset()
    silent: Mapping[str, datetime] = field(default_factory=dict)
    freezes: Freezes = Freezes()
    waits: Mapping[str, Frozen] = field(default_factory=dict)
    templates: Mapping[NamespacedName, MetricTemplate] = field(default_factory=dict)
    measured: Answers = field(default_factory=dict)
    now: datetime
    commit: str = ""
    """The watched branch's."""

    @property
    def bindings(self) -> tuple[Binding, ...]:
        """The placement's bindings, none where there is no placement."""
        return self.record.bindings if self.record is not None else ()

    @property
    def selected(self) -> tuple[str, ...]:
        """The clusters that the placement wants."""
        return tuple(binding.cluster for binding in self.bindings if is_active(binding))

    @property
    def unpicked(self) -> tuple[str, ...]:
        """The clusters that the placement left and on which it still is, by name: the deletion stage's."""
        clusters = (b.cluster for b in self.bindings if b.state is BindingState.UNSCHEDULED)
        return tuple(sorted(clusters))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStep:
    """What one pass makes of a run: its record, the placement's bindings, and its approval requests.

    `moves` and `blocked` say which clusters it moves and which wait, and why; `waiting` what the run itself waits for,
    and `asks` what only a person, a commit or what is not the run's own can let go on, in a sentence each; `clock` is
    how long until time alone may change something, `calls` are to be under way.
    """

    run: RunRecord
    bindings: tuple[Binding, ...] = ()
    requests: Mapping[NamespacedName, ApprovalRequest] = field(default_factory=dict)
    moves: tuple[Move, ...] = ()
    blocked: Mapping[str, str] = field(default_factory=dict)
    waiting: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    clock: timedelta | None = None
    calls: tuple[Call, ...] = ()


def snapshot_for(run: StagedRun, record: PlacementRecord) -> ResourceSnapshot | None:
    """The resource snapshot that a run rolls out: the one that it was initialized with, else the one that it names,
    else the latest. None where the placement has no such snapshot."""
    used = run.status.resource_snapshot_index_used if isinstance(run, RunRecord) else ""
    index = used or run.resource_snapshot_index
    if index is None:
        return record.latest_resources
    return next((s for s in record.resource_snapshots if str(s.index) == (index.lstrip("0") or "0")), None)
