"""The classes of bindings that the budget is reckoned with (kubefleet.md §3, KubeFleet pickBindingsToRoll)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import timedelta

from gitfleet.api.bindings import Binding, BindingState, ClusterContent
from gitfleet.api.folders import variant_changes
from gitfleet.model.rolling import RolloutRequest
from gitfleet.rollout.budgets import Counts
from gitfleet.rollout.readiness import (
    has_failed,
    in_progress,
    is_diff_reported,
    is_failure,
    is_ready,
    unavailable_period,
)
from gitfleet.rollout.silence import left_out, until_left_out
from gitfleet.rollout.texts import RolloutText


@dataclass(slots=True)
class Classes:
    """Positions in the request's list of bindings, each list in listing order; `clocks` are times after which a
    binding counts for something else. Built once and read only."""

    targeted: list[int] = field(default_factory=list)
    left_out: int = 0
    waiting_for_answer: list[int] = field(default_factory=list)
    ready: set[int] = field(default_factory=set)
    can_be_ready: int = 0
    leaving: int = 0
    failed_updates: list[int] = field(default_factory=list)
    unfinished_updates: list[int] = field(default_factory=list)
    updates: list[int] = field(default_factory=list)
    binds: list[int] = field(default_factory=list)
    blocked_binds: list[int] = field(default_factory=list)
    refused_updates: list[int] = field(default_factory=list)
    removes: list[int] = field(default_factory=list)
    frozen: list[int] = field(default_factory=list)
    up_to_date: list[int] = field(default_factory=list)
    clocks: list[timedelta] = field(default_factory=list)

    @property
    def counts(self) -> Counts:
        """The numbers that the budget needs."""
        return Counts(ready=len(self.ready), leaving=self.leaving, can_be_ready=self.can_be_ready)

    @property
    def need_roll(self) -> bool:
        """Whether anything would move, were it allowed to."""
        moves = (self.failed_updates, self.updates, self.removes, self.binds)
        return any((*moves, self.blocked_binds, self.refused_updates, self.waiting_for_answer, self.frozen))


def classify(request: RolloutRequest) -> Classes:
    """Sort the bindings into their classes."""
    out = Classes()
    clearing = {b.cluster for b in request.bindings if b.deleting is not None}
    silent, unavailable = left_out(request), unavailable_period(request.rolling_update)
    for position, binding in enumerate(request.bindings):
        if binding.cluster in silent:
            _leave_out(out, request, position, binding)
            continue
        if binding.state is not BindingState.UNSCHEDULED:
            out.targeted.append(position)
        if binding.state is BindingState.SCHEDULED:
            if binding.deleting is None:
                _sort_bind(out, request, position, clearing)
            continue
        if binding.deleting is not None and binding.only_keeps:
            continue  # what is held, or stays for another placement, counts for no budget
        _classify(out, request, position, binding, unavailable)
        if binding.deleting is None:
            _sort_move(out, request, position, binding)
    # What is frozen counts for every budget as what waits for its turn does.
    waits = (request.gate.frozen[request.bindings[i].cluster].wait(request.now) for i in out.frozen)
    out.clocks += [*until_left_out(request), *(wait for wait in waits if wait is not None)]
    return out


def _sort_bind(out: Classes, request: RolloutRequest, position: int, clearing: Collection[str]) -> None:
    """Put a binding that is not rolled out yet among the binds, or what is blocked or frozen."""
    cluster = request.bindings[position].cluster
    if cluster in request.taking_over:
        out.ready.add(position)
        out.can_be_ready += 1
    if request.latest_snapshot is None or cluster in clearing or request.gate.refused:
        positions = out.blocked_binds
    elif cluster in request.gate.frozen:
        positions = out.frozen
    else:
        positions = out.updates if cluster in request.taking_over else out.binds
    positions.append(position)


def _sort_move(out: Classes, request: RolloutRequest, position: int, binding: Binding) -> None:
    """Put a rolled out binding among the removals, the kinds of updates, what is frozen, or what is up to date."""
    is_frozen = binding.cluster in request.gate.frozen
    if binding.state is BindingState.UNSCHEDULED:
        positions = out.frozen if is_frozen else out.removes
    elif staleness(request, binding) is None:
        positions = out.up_to_date
    elif request.gate.refused:
        positions = out.refused_updates
    elif is_frozen:
        positions = out.frozen
    elif has_failed(binding, request.now, trying=binding.cluster in request.disturbed):
        positions = out.failed_updates
    else:
        positions = out.updates
        if in_progress(binding, request.now) is not None:
            out.unfinished_updates.append(position)
    positions.append(position)


def _leave_out(out: Classes, request: RolloutRequest, position: int, binding: Binding) -> None:
    """A cluster that has been silent for long: not counted and not moved (decision D32)."""
    if binding.state is not BindingState.UNSCHEDULED:
        out.left_out += 1
    if binding.deleting is not None:
        return
    current = binding.state is BindingState.BOUND and staleness(request, binding) is None
    (out.up_to_date if current else out.waiting_for_answer).append(position)


def staleness(request: RolloutRequest, binding: Binding) -> str | None:
    """What a Bound binding lacks, as the end of a sentence; None when it is up to date (an unchanged binding is never
    touched, whatever its conditions say). A changed apply strategy makes it stale too (decision D18)."""
    if request.latest_snapshot is None:
        return None
    if binding.resource_snapshot != request.latest_snapshot:
        before = f" replaces {binding.resource_snapshot}" if binding.resource_snapshot else " goes out"
        return f"{request.latest_snapshot}{before}"
    target = request.contents.get(binding.cluster, ClusterContent())
    if binding.variants != target.variants:
        return RolloutText.VARIANTS_CHANGED(changes=variant_changes(binding.variants, target.variants))
    if ClusterContent.of(binding) != target:
        return RolloutText.OVERRIDES_CONCERN_CHANGED()
    labels = request.labels.get(binding.cluster, ())
    if labels and binding.override_labels and labels != binding.override_labels:
        return RolloutText.CLUSTER_OVERRIDES_DEPEND_CHANGED()
    if binding.apply_strategy != request.apply_strategy:
        return RolloutText.APPLY_STRATEGY_CHANGED()
    return None


def _classify(out: Classes, request: RolloutRequest, position: int, binding: Binding, unavailable: timedelta) -> None:
    readiness = is_ready(binding, unavailable, request.now)
    if readiness.ready and binding.cluster not in request.disturbed:
        out.ready.add(position)
        if binding.deleting is not None:
            out.leaving += 1
    else:
        remaining = in_progress(binding, request.now)
        out.clocks += [clock for clock in (readiness.wait, remaining) if clock is not None]
    # A cluster in progress may have the resources, however long it takes: maxSurge counts it (decision D6).
    if not is_diff_reported(binding) and not is_failure(binding):
        out.can_be_ready += 1
