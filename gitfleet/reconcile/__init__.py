"""Deciding: the one place that leads through every package, and the newcomer's table of contents.

    decide            accept -> observe -> snapshots -> schedule -> rollout -> works, and holds on removals
    plan_operations   apply, once the objects of new works were observed
    settle            what came of it -> observe -> status

Everything here is pure: the same inputs give the same decision, and the memo only saves work. Each placement, override,
object and cluster is decided by itself: one that cannot be is left as it was, and says so in a condition or a fault.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from typing import Final

from gitfleet import apply, desired, observe, rollout, schedule, status, workload, works
from gitfleet.api.faults import Fault, listed
from gitfleet.api.placements import PlacementKey
from gitfleet.api.staged import Eviction
from gitfleet.model.decisions import Decision, Inputs
from gitfleet.model.failures import Failure, Failures, Subject
from gitfleet.model.observations import ClusterObservation
from gitfleet.model.operations import Operation, Outcome
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.model.works import Work
from gitfleet.reconcile.applying import as_before, to_apply
from gitfleet.reconcile.evictions import decided_elsewhere, remembered, undecided
from gitfleet.reconcile.holds import GateMemo, gate_before, with_gate, with_wanted
from gitfleet.reconcile.pins import pin_warnings
from gitfleet.reconcile.placements import PlacementsMemo, decide_placements, settle_placement
from gitfleet.reconcile.quarantines import with_quarantines
from gitfleet.reconcile.renames import with_renames
from gitfleet.reconcile.run_approvals import uncounted
from gitfleet.reconcile.runs import with_runs
from gitfleet.reconcile.shared import Shared, SharedMemo, prepare, with_settings
from gitfleet.reconcile.workloads import Plugins as Plugins
from gitfleet.reconcile.workloads import steps_beside, with_advance, with_rollouts

_BUILT_IN: Final = workload.RolloutsLoader()


@dataclass(frozen=True, slots=True, kw_only=True)
class Memo:
    """Results of the pass before, each with the inputs it follows from: an empty memo gives the same decision."""

    works: works.WorksMemo = works.WorksMemo()
    plans: apply.PlansMemo = field(default_factory=dict)
    shared: SharedMemo = SharedMemo()
    placements: PlacementsMemo = PlacementsMemo()
    gate: GateMemo = GateMemo()


def decide(
    inputs: Inputs, memo: Memo, plugins: Plugins = schedule.BUILT_IN, rollouts: workload.RolloutsLoader = _BUILT_IN
) -> tuple[Decision, Memo]:
    """Which clusters get what from now on: the state to publish (inventory still to be recorded), its works, and the
    gate that says what may be deleted."""
    failures = Failures()
    named = failures.contain(Subject("FleetState", ""), inputs, with_renames, inputs)
    decision, memo = _decide(named, memo, plugins, rollouts.of(inputs.desired, inputs.before), failures)
    waiting = (rollout.eviction_waits(eviction, frozen) for eviction, frozen in memo.placements.frozen())
    return replace(decision, waiting=(*waiting, *decision.waiting)), memo


def _decide(
    inputs: Inputs, memo: Memo, plugins: Plugins, rollouts: workload.Rollouts, failures: Failures
) -> tuple[Decision, Memo]:
    tree, before, now, policy = inputs.desired, inputs.before, inputs.now, inputs.desired.config.policy
    accepted = desired.accept(tree, before, now, failures)
    inputs = replace(inputs, observations=observe.usable(accepted.clusters, inputs.observations))
    clusters = observe.observe_clusters(accepted.clusters, before.clusters, inputs.observations, now, failures)
    state = replace(before, clusters=clusters, left_behind={})
    state = replace(state, left_out=rollout.long_silent(clusters, now, tree.config.rollout_unreachable))
    seen_works, rendered = works.render_fleet(state, memo.works, failures, policy)
    state, gate, gate_memo = gate_before(state, rendered.works, memo.gate, failures)
    going = apply.Going(rollout.removals(clusters, before.placements, before.inventory, failures), gate)
    works_of = as_before(inputs, seen_works, rollouts, failures)
    operations, planned = apply.plan_fleet(state, works_of, inputs.observations, going, memo.plans, failures)
    seen = observe.Seen.of(seen_works, operations, (), inputs.observations, tree.config.checks)
    profile, faults = schedule.profile_for(tree.config, plugins)
    shared = prepare(inputs, clusters, profile, apply.disturbed_by(operations), memo.shared, failures)
    shared = replace(shared, rolled_out=rollouts.snapshots_in_use(tree, before))
    placements = decide_placements(accepted.placements, seen, shared, memo.placements, failures)
    after, evictions = placements.within(with_settings(state, tree)), _evictions(inputs, placements, shared, failures)
    after = replace(after, overrides=shared.override_snapshots, evictions=evictions)
    works_after, rendered, after = _rendered(after, placements, shared, rendered, failures)
    after, rolling = with_rollouts(after, (seen_works, works_after), inputs, rollouts, shared.gates, failures)
    after, gate_memo = with_wanted(after, shared.overrides, rendered.works, gate_memo, failures)
    reported = (*faults, *status.faults_of(failures, after, tree), *_warnings(shared, placements, after))
    after = replace(after, faults=tree.faults + listed(reported))
    decision = Decision(
        inputs=inputs,
        after=status.with_failures(after, before, failures, now),
        works=works_after,
        seen_works=seen_works,
        plans=placements.plans(),
        wake_at=_wake_at(shared, placements, rolling.wake_at, apply.next_late(operations)),
        overrides=shared.overrides,
        calls=placements.calls(),
    )
    decision, gate_memo = with_gate(decision, shared, gate_memo, failures)
    next_memo = Memo(works=rendered, plans=planned, shared=shared.memo(failures), placements=placements, gate=gate_memo)
    return with_advance(replace(decision, failures=failures.found), rolling), next_memo


def _evictions(
    inputs: Inputs, placements: PlacementsMemo, shared: Shared, failures: Failures
) -> Mapping[str, Eviction]:
    """What became of every eviction that has an end; one of a placement that cannot be decided waits."""
    decided = [
        *decided_elsewhere(inputs),
        *chain.from_iterable(decision.evictions for decision in placements.decided.values()),
    ]
    for key, evictions in shared.evictions.items():
        if key not in placements.decided and Subject.of_placement(key) not in failures:
            decided += rollout.evict_nothing(evictions, inputs.now)
    return remembered(inputs.desired, inputs.before.evictions, decided)


def _rendered(
    state: FleetState, placements: PlacementsMemo, shared: Shared, memo: works.WorksMemo, failures: Failures
) -> tuple[Mapping[str, tuple[Work, ...]], works.WorksMemo, FleetState]:
    """The works of the decided state, and that state with its runs."""
    after = with_quarantines(with_runs(state, placements.runs(), shared.runs, shared.beside, failures), shared.inputs)
    rendered, memo = works.render_fleet(after, memo, failures, shared.inputs.desired.config.policy)
    return rendered, memo, after


def _warnings(shared: Shared, placements: PlacementsMemo, after: FleetState) -> tuple[Fault, ...]:
    warnings = (*uncounted(shared.inputs, shared.runs.records), *undecided(shared.inputs, placements.frozen()))
    warnings += observe.server_faults(shared.inputs.desired.clusters, shared.inputs.observations)
    return (*warnings, *shared.gates.freezes.notices, *pin_warnings(shared.inputs.desired, after.placements))


def _wake_at(shared: Shared, placements: PlacementsMemo, *moments: datetime | None) -> datetime | None:
    """The first moment at which time alone may change the decision."""
    clocks = (shared.inputs.now + plan.clock for plan in placements.plans().values() if plan.clock is not None)
    wakes = (
        shared.index.wake_at,
        rollout.next_forced_leave(shared.clusters),
        *clocks,
        *(frozen.until for _, frozen in placements.frozen()),
        *moments,
    )
    return min((wake for wake in wakes if wake is not None), default=None)


def plan_operations(
    decision: Decision,
    newly_observed: Mapping[str, ClusterObservation],
    memo: Memo,
    rollouts: workload.RolloutsLoader = _BUILT_IN,
) -> tuple[Decision, tuple[Operation, ...], Memo]:
    """The operations on every cluster that is reachable, and the decision with its inventory recorded: intent first."""
    failures = Failures(decision.failures)
    observations = apply.merge_observations(decision.inputs.observations, newly_observed)
    after = decision.after
    removing = rollout.removals(after.clusters, after.placements, after.inventory, failures)
    inputs = replace(decision.inputs, observations=observations)
    moving = rollouts.of(inputs.desired, after).movement(after, decision.works, inputs, failures)
    decision = replace(decision, by_rollouts=moving.fields)
    going = apply.Going(removing, decision.gate)
    planned, plans = apply.plan_fleet(after, to_apply(decision), observations, going, memo.plans, failures)
    inventory, operations = apply.record_all_intended(after.inventory, planned, failures)
    before, now = decision.inputs.before, decision.inputs.now
    recorded = status.with_failures(replace(after, inventory=inventory), before, failures, now)
    again, steps = frozenset(newly_observed), steps_beside(moving.steps, operations)
    decided = replace(decision, after=recorded, inputs=inputs, observed_again=again, failures=failures.found)
    decided = replace(decided, steps=steps)
    return decided, operations, replace(memo, plans=plans)


def settle(
    decision: Decision, operations: tuple[Operation, ...], outcomes: tuple[Outcome, ...], now: datetime, memo: Memo
) -> tuple[FleetState, tuple[Failure, ...]]:
    """The state after the operations: what the servers returned, what is gone, and the conditions that follow; and
    what could not be settled."""
    after, failures, config = decision.after, Failures(), decision.inputs.desired.config
    settled = apply.settle_all(after.inventory, operations, outcomes, failures, memo.plans, to_apply(decision))
    held = {removal.cluster for hold in after.held.values() for removal in hold.removals}
    inventory = rollout.release_left(settled, after.clusters, held, now)
    left_behind = apply.left_behind(after.inventory, inventory, outcomes, decision.inputs.observations)
    seen = observe.Seen.of(decision.works, operations, outcomes, decision.touched(outcomes), config.checks)
    seen = seen.since(memo.placements.seen)
    owners = rollout.owners_of(after.placements, inventory, failures)
    records: dict[PlacementKey, PlacementRecord] = {}
    for key, old in after.placements.items():
        args = old, seen, owners, now, failures, memo.placements
        record = failures.contain(Subject.of_placement(key), old, settle_placement, *args)
        if record is not None:
            records[key] = record
    clusters = rollout.without_left(after.clusters, records, inventory, failures)
    state = replace(after, placements=records, inventory=inventory, clusters=clusters, left_behind=left_behind)
    return state, failures.found
