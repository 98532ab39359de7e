"""Deciding: the one place that leads through every package, and the newcomer's table of contents.

    decide            accept -> observe -> snapshots -> schedule -> rollout -> works
    plan_operations   apply, once the objects of new works were looked at
    withhold          nothing is done for what could not be published
    settle            what came of it -> observe -> status

Everything here is pure: the same inputs give the same decision, and the memo only saves work. Each placement, override,
object and cluster is decided by itself: one that cannot be is left as it was, and says so in a condition or a fault.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar

from gitfleet import apply, desired, observe, placing, rollout, schedule, snapshots, status, works
from gitfleet.api.placements import Placement, PlacementKey
from gitfleet.model.decisions import Decision, Inputs
from gitfleet.model.failures import Failure, Failures, Subject, attempt
from gitfleet.model.observations import ClusterObservation
from gitfleet.model.operations import Operation, Outcome
from gitfleet.model.state import FleetState, PlacementRecord, keep

K = TypeVar("K")
V = TypeVar("V")
Plugins = Mapping[str, schedule.PluginFactory]


@dataclass(frozen=True, slots=True, kw_only=True)
class Memo:
    """Answers of the pass before, each with the question it answers: an empty memo gives the same decision."""

    payload: snapshots.PayloadMemo = None
    works: works.WorksMemo = works.WorksMemo()
    plans: apply.PlansMemo = field(default_factory=dict)
    bindings: schedule.BindingDigests = field(default_factory=dict)
    fleet: schedule.FleetIndex | None = None
    placements: placing.PlacementsMemo = placing.PlacementsMemo()


def decide(inputs: Inputs, memo: Memo, plugins: Plugins = schedule.BUILT_IN) -> tuple[Decision, Memo]:
    """Which clusters get what from now on: the state to publish (inventory still to be recorded) and its works."""
    wanted, before, now = inputs.desired, inputs.before, inputs.now
    failures = Failures()
    accepted = desired.accept(wanted, before, now, failures)
    clusters = observe.observe_clusters(accepted.clusters, before.clusters, inputs.observations, now, failures)
    known = replace(before, clusters=clusters, left_behind={}, misplaced=frozenset())
    seen_works, rendered = works.render_fleet(known, memo.works, failures)
    removing = rollout.removals(clusters, before.placements, before.inventory, failures)
    operations, planned = apply.plan_fleet(known, seen_works, inputs.observations, removing, memo.plans, failures)
    seen = observe.Seen.of(seen_works, operations, (), inputs.observations)
    in_use = snapshots.references_of(before, failures)
    overrides = snapshots.take_override_snapshots(wanted.overrides, before.overrides, in_use=in_use, failures=failures)
    unreadable = works.unreadable_overrides(overrides, failures)
    payload, payload_memo = snapshots.index_of(wanted, memo.payload, failures)
    index = schedule.index_fleet(clusters.values(), now, memo.fleet, failures)
    profile, faults = schedule.profile_for(wanted.config, plugins)
    current = snapshots.current_overrides(wanted.overrides, overrides)
    shared = placing.Shared(
        inputs=inputs,
        clusters=clusters,
        index=index,
        profile=profile,
        payload=payload,
        overrides=tuple(o for o in current if o.reference not in unreadable),
        unreadable=unreadable,
        disturbed=apply.disturbed_by(operations),
        digests={key: known for key, known in memo.bindings.items() if key in accepted.placements},
    )
    facts = shared.facts()
    last = memo.placements if memo.placements.facts == facts else placing.PlacementsMemo()
    decided = {
        key: _decide_one(placement, before.placements.get(key), seen, shared, last, failures)
        for key, placement in accepted.placements.items()
    }
    records = {key: one.record for key, one in decided.items()}
    plans = {key: one.plan for key, one in decided.items() if one.plan is not None}
    after = replace(
        known,
        observed_commit=wanted.commit,
        scheduler_plugins=wanted.config.scheduler_plugins,
        placements=records,
        overrides=overrides,
        last_good=wanted.last_good,
    )
    works_after, rendered = works.render_fleet(after, rendered, failures)
    after = replace(after, faults=wanted.faults + faults + status.faults_of(failures, after, wanted))
    clocks = (now + plan.clock for plan in plans.values() if plan.clock is not None)
    wakes = (index.wake_at, rollout.next_forced_leave(clusters), *clocks)
    decision = Decision(
        inputs=inputs,
        after=status.with_failures(after, before, failures, now),
        works=works_after,
        seen_works=seen_works,
        plans=plans,
        wake_at=min((wake for wake in wakes if wake is not None), default=None),
        failures=failures.found,
    )
    return decision, Memo(
        payload=payload_memo,
        works=rendered,
        plans=planned,
        bindings=shared.digests,
        fleet=None if failures.found else index,  # a cluster that could not be judged is judged again
        placements=placing.PlacementsMemo(facts=facts, seen=seen, decided=decided),
    )


def _decide_one(
    placement: Placement,
    before: PlacementRecord | None,
    seen: observe.Seen,
    shared: placing.Shared,
    memo: placing.PlacementsMemo,
    failures: Failures,
) -> placing.Decided:
    """The placement's next record, and its plan; the record that it has when anything about it failed."""
    subject, old = Subject.of_placement(placement.key), before or PlacementRecord(placement=placement)
    kept = placing.Decided(old)
    if subject in failures:
        return kept
    known = memo.lasting(old, placement)
    if known is not None and attempt(subject, memo.still_holds, old, seen, shared) is True:
        return known
    record, mine = replace(old, placement=placement), Failures()
    after = mine.contain(subject, kept, placing.decide_placement, record, seen, shared, mine)
    failures.note_all(mine)
    moving = after.plan is not None and after.plan.need_roll
    same = keep(old, after.record)
    return placing.Decided(same, after.plan, lasting=same is old and not moving and not mine.found)


def plan_operations(
    decision: Decision, closer: Mapping[str, ClusterObservation], memo: Memo
) -> tuple[Decision, tuple[Operation, ...], Memo]:
    """The operations on every cluster that answers, and the decision with its inventory recorded: intent first."""
    failures = Failures(decision.failures)
    observations = apply.merge_observations(decision.inputs.observations, closer)
    after = decision.after
    removing = rollout.removals(after.clusters, after.placements, after.inventory, failures)
    planned, plans = apply.plan_fleet(after, decision.works, observations, removing, memo.plans, failures)
    inventory, operations = apply.record_all_intended(after.inventory, planned, failures)
    recorded = status.with_failures(
        replace(after, inventory=inventory), decision.inputs.before, failures, decision.inputs.now
    )
    inputs = replace(decision.inputs, observations=observations)
    again = frozenset(closer)
    decided = replace(decision, after=recorded, inputs=inputs, observed_again=again, failures=failures.found)
    return decided, operations, replace(memo, plans=plans)


def withhold(
    decision: Decision, operations: tuple[Operation, ...], published: FleetState, failures: tuple[Failure, ...]
) -> tuple[Decision, tuple[Operation, ...]]:
    """The decision as it was `published`, and the operations behind it: what could not be written as intent, for a
    placement or a cluster, is not done there."""
    if published is decision.after:
        return decision, operations
    placements = _differing(decision.after.placements, published.placements)
    clusters = _differing(decision.after.clusters, published.clusters)
    clusters |= _differing(decision.after.inventory, published.inventory)
    works = {
        name: tuple(work for work in found if work.placement not in placements)
        for name, found in decision.works.items()
        if name not in clusters
    }
    kept = tuple(o for o in operations if o.placement not in placements and o.cluster not in clusters)
    held = replace(decision, after=published, works=works, failures=decision.failures + failures)
    return held, kept


def _differing(one: Mapping[K, V], other: Mapping[K, V]) -> set[K]:
    return {key for key in {*one, *other} if one.get(key) is not other.get(key)}


def settle(
    decision: Decision, operations: tuple[Operation, ...], outcomes: tuple[Outcome, ...], now: datetime
) -> tuple[FleetState, tuple[Failure, ...]]:
    """The state after the operations: what the servers answered, what is gone, and the conditions that follow; and
    what could not be settled."""
    after, failures = decision.after, Failures()
    settled = apply.settle_all(after.inventory, operations, outcomes, failures)
    inventory = rollout.release_left(settled, after.clusters, now)
    left_behind = apply.left_behind(after.inventory, inventory, outcomes, decision.inputs.observations)
    seen = observe.Seen.of(decision.works, operations, outcomes, decision.touched(outcomes))
    owners = rollout.owners_of(after.placements, inventory, failures)
    records: dict[PlacementKey, PlacementRecord] = {}
    for key, old in after.placements.items():
        record = failures.contain(
            Subject.of_placement(key), old, placing.settle_placement, old, seen, owners, now, failures
        )
        if record is not None:
            records[key] = record
    clusters = rollout.without_left(after.clusters, records, inventory, failures)
    state = replace(after, placements=records, inventory=inventory, clusters=clusters, left_behind=left_behind)
    return status.with_unsettled(state, after, failures, now), failures.found
