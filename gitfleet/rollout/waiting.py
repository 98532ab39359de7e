"""What a placement is still waiting for, in a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from gitfleet.api.bindings import DELETED, Binding, BindingState, is_active
from gitfleet.api.conditions import Condition, ConditionType, Status
from gitfleet.formats.sentences import agreeing, more_than_first, named_briefly
from gitfleet.model.rolling import RolloutPlan, wait_for
from gitfleet.model.state import PlacementRecord
from gitfleet.rollout.texts import RolloutText

_STEPS = ("Overridden", "WorkSynchronized", "Applied", "Available")


def waiting_for(record: PlacementRecord, plan: RolloutPlan | None = None) -> tuple[str, ...]:
    """One sentence for each binding that has not arrived where it is to go; empty when the placement is at rest.

    With the `plan` that blocked bindings the sentences say why: the conditions alone do not carry the numbers. What
    only a person can let go on is not among them.

    A binding that failed permanently (an override that cannot be applied) is waiting too: for a change by a person.
    """
    name = str(record.placement.key)
    reasons, asks = (plan.blocked, plan.asks) if plan is not None else ({}, ())
    moving = ((binding, reasons.get(binding.cluster, "")) for binding in record.bindings)
    return tuple(
        wait_for(reason, f"{name}: {binding.cluster} {state}")
        for binding, reason in moving
        if reason not in asks
        for state in waiting_state(binding, record, reason)
    )


def run_awaited(record: PlacementRecord, bindings: Iterable[Binding] | None = None, refused: str = "") -> str:
    """What the clusters of an External placement (or some of its `bindings`) have, where that is not its newest
    snapshot, or that it no longer picks them, and what a run must do, or why none may (`refused`); "" where nothing
    waits for a run. Such a placement is settled all the same: no clock moves it."""
    latest = record.latest_resources
    if latest is None or not record.placement.strategy.external:
        return ""
    chosen = record.bindings if bindings is None else tuple(bindings)
    sentences = []
    had = {record.snapshot_index(b.resource_snapshot) for b in chosen if is_active(b)} - {str(latest.index)}
    if had:
        old = ", ".join(sorted(index or "none" for index in had))
        why = refused or RolloutText.WAITS_RUN_NAMES()
        sentences.append(RolloutText.CLUSTERS_SNAPSHOT_LATEST(old=old, latest=latest.index, why=why))
    if unpicked := [b.cluster for b in chosen if b.deleting is None and b.state is BindingState.UNSCHEDULED]:
        verb = agreeing(len(unpicked), "is", "are")
        sentences.append(RolloutText.NO_LONGER_PICKED(left=named_briefly(unpicked, 3), verb=verb))
    return "; ".join(sentences)


def way_out(binding: Binding) -> str:
    """What to do where a run gave a binding what cannot be rendered."""
    return RolloutText.KEEPS_COMMIT_NEW_RUN(cluster=binding.cluster)


def waiting_state(binding: Binding, record: PlacementRecord, reason: str = "") -> Iterator[str]:
    """Yield how a cluster stands that has not arrived where it is to go, as the end of a sentence about it."""
    if binding.deleting is not None:
        yield from _giving_up(binding)
        return
    if record.placement.deleting is not None and reason:
        yield f"waits: {reason}"
        return
    current = {c.type: c for c in binding.conditions if c.observed_generation == binding.generation}
    started = current.get(ConditionType.ROLLOUT_STARTED)
    if started is not None and started.status is not Status.TRUE:
        yield f"waits: {reason or started.message}"
        return
    if binding.state is BindingState.UNSCHEDULED:
        if not record.placement.strategy.external:  # else its run says what it waits for
            yield f"waits: {reason}" if reason else RolloutText.NO_LONGER_PICKED_NOT_CLEARED()
        return
    if binding.state is not BindingState.BOUND:
        if not record.placement.strategy.external:
            yield RolloutText.NOT_ROLLED_OUT(state=binding.state)
        return
    if ConditionType.DIFF_REPORTED not in current:
        yield from _unfinished(binding, current)


def _giving_up(binding: Binding) -> Iterator[str]:
    undeleted = _not_deleted(binding)
    if undeleted or not binding.kept:  # what is kept waits for another placement, which says so itself
        yield RolloutText.GIVING_UP_RESOURCES() + (f" and {undeleted}" if undeleted else "")


def _unfinished(binding: Binding, current: Mapping[str, Condition]) -> Iterator[str]:
    """The first step that a cluster has not reported as done, or what it has not deleted."""
    for step in _STEPS:
        condition = current.get(step)
        if condition is None:
            yield RolloutText.NOT_REPORTED_NEWEST_GENERATION(step=step)
            return
        if condition.status is not Status.TRUE:
            yield RolloutText.IS_NOT(step=step, condition=condition.message or condition.reason)
            return
    if undeleted := _not_deleted(binding):
        yield undeleted


def kept_there(binding: Binding) -> str:
    """What a cluster keeps until another placement has it; "" when there is nothing."""
    if not binding.kept:
        return ""
    return f"keeps {binding.kept[0].key}: {binding.kept[0].message}{more_than_first(binding.kept)}"


def _not_deleted(binding: Binding) -> str:
    """What its cluster has not deleted yet, as the end of a sentence; "" when there is nothing."""
    undeleted = [failed for failed in binding.failed if failed.condition == DELETED and failed not in binding.kept]
    if not undeleted:
        return ""
    first, more = undeleted[0], more_than_first(undeleted)
    return RolloutText.NOT_DELETED(there=first.key, there_2=first.message, more_than_first=more)
