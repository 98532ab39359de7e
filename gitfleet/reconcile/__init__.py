"""Deciding: the one place that leads through every package, and the newcomer's table of contents.

    decide            accept -> observe -> snapshots -> schedule -> rollout -> works, and holds on removals
    plan_operations   apply, once the objects of new works were observed
    withhold          nothing is done for what could not be published
    settle            what came of it -> observe -> status

Everything here is pure: the same inputs give the same decision, and the memo only saves work. Each placement, override,
object and cluster is decided by itself: one that cannot be is left as it was, and says so in a condition or a fault.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from gitfleet import apply, desired, observe, removals, rollout, schedule, status, workload, works
from gitfleet.api.faults import Fault, listed
from gitfleet.api.placements import PlacementKey
from gitfleet.api.staged import Eviction
from gitfleet.model.decisions import Decision, Inputs
from gitfleet.model.failures import Failure, Failures, Subject
from gitfleet.model.observations import ClusterObservation
from gitfleet.model.operations import Delete, Operation, Outcome
from gitfleet.model.state import Damage, FleetState, PlacementRecord
from gitfleet.model.works import Work
from gitfleet.reconcile.applying import as_before, to_apply
from gitfleet.reconcile.evictions import decided_elsewhere, remembered, undecided
from gitfleet.reconcile.holds import decide_with_holds
from gitfleet.reconcile.pins import pin_warnings
from gitfleet.reconcile.placements import PlacementsMemo, decide_placements, settle_placement
from gitfleet.reconcile.quarantines import with_quarantines
from gitfleet.reconcile.renamed import with_renamed
from gitfleet.reconcile.run_approvals import uncounted
from gitfleet.reconcile.runs import with_runs
from gitfleet.reconcile.shared import Shared, SharedMemo, prepare, with_settings
from gitfleet.reconcile.withholding import withhold as withhold
from gitfleet.reconcile.workloads import Extensions, movement_of, steps_beside, with_advance, with_rollouts
from gitfleet.reconcile.workloads import Plugins as Plugins


@dataclass(frozen=True, slots=True, kw_only=True)
class Memo:
    """Results of the pass before, each with the inputs it follows from: an empty memo gives the same decision."""

    works: works.WorksMemo = works.WorksMemo()
    plans: apply.PlansMemo = field(default_factory=dict)
    shared: SharedMemo = SharedMemo()
    placements: PlacementsMemo = PlacementsMemo()
    times: status.TimesMemo = status.TimesMemo()


def decide(
    inputs: Inputs, memo: Memo, plugins: Plugins = schedule.BUILT_IN, handlers: workload.Handlers = workload.BUILT_IN
) -> tuple[Decision, Memo]:
    """Which clusters get what from now on: the state to publish (inventory still to be recorded) and its works. What
    may be removed by accident is kept and waits for a person's approval. A clock that jumped back makes nothing wait
    longer than it would have to from now on."""
    failures, with_ = Failures(), Extensions(plugins, handlers)
    before, times = status.with_past_times(inputs.before, inputs.now, memo.times, failures)
    past, known = with_renamed(replace(inputs, before=before), failures), replace(memo, times=times)
    decision, memo = decide_with_holds(past, lambda kept: _decide(past, known, with_, kept, Failures(failures.found)))
    return replace(decision, waiting=(*memo.placements.waiting(), *decision.waiting)), memo


def _decide(
    inputs: Inputs, memo: Memo, extensions: Extensions, kept: removals.Kept, failures: Failures
) -> tuple[Decision, Memo, removals.Kept]:
    """The decision under which nothing of `kept` goes; and what of it had to be kept, as the commit has it no more."""
    wanted, before, now, policy = inputs.desired, inputs.before, inputs.now, inputs.desired.config.policy
    still_wanted, kept = removals.still_wanted(wanted, before, kept)
    accepted = desired.accept(still_wanted, before, now, failures)
    inputs = replace(inputs, observations=observe.usable(accepted.clusters, inputs.observations))
    clusters = observe.observe_clusters(accepted.clusters, before.clusters, inputs.observations, now, failures)
    known = replace(before, clusters=clusters, left_behind={}, misplaced=frozenset(), damage=Damage())
    known = replace(known, left_out=rollout.long_silent(clusters, now, wanted.config.rollout_unreachable))
    seen_works, rendered = works.render_fleet(known, memo.works, failures, policy)
    removing = rollout.removals(clusters, before.placements, before.inventory, failures)
    works_of = as_before(inputs, seen_works, extensions.handlers, failures)
    operations, planned = apply.plan_fleet(known, works_of, inputs.observations, removing, memo.plans, failures)
    seen = observe.Seen.of(seen_works, operations, (), inputs.observations, wanted.config.checks)
    profile, faults = schedule.profile_for(wanted.config, extensions.plugins)
    disturbed = apply.disturbed_by(operations)
    shared = replace(prepare(inputs, clusters, profile, disturbed, memo.shared, failures), kept=kept)
    placements = decide_placements(accepted.placements, seen, shared, memo.placements, failures)
    after, evictions = placements.within(with_settings(known, wanted)), _evictions(inputs, placements, shared, failures)
    after = replace(after, overrides=shared.override_snapshots, evictions=evictions)
    works_after, rendered, after = _rendered(after, placements, shared, rendered, failures)
    had_and_get = seen_works, works_after
    after, rolling = with_rollouts(after, had_and_get, inputs, extensions.handlers, shared.gates, failures)
    said = (*status.standing_notices(before, wanted.commit), *_warnings(shared, placements, after))
    after = replace(after, faults=wanted.faults + listed((*faults, *status.faults_of(failures, after, wanted), *said)))
    decision = Decision(
        inputs=inputs,
        after=status.with_failures(after, before, failures, now),
        works=works_after,
        seen_works=seen_works,
        plans=placements.plans(),
        wake_at=_wake_at(shared, placements, rolling),
        failures=failures.found,
        deletions=shared.deletions,
        overrides=shared.overrides,
        calls=placements.calls(),
    )
    memo = Memo(works=rendered, plans=planned, shared=shared.memo(failures), placements=placements, times=memo.times)
    return with_advance(decision, rolling), memo, placements.kept(kept)


def _evictions(
    inputs: Inputs, placements: PlacementsMemo, shared: Shared, failures: Failures
) -> Mapping[str, Eviction]:
    """What became of every eviction that has an end; one of a placement that cannot be decided waits."""
    decided = [*decided_elsewhere(inputs), *(e for one in placements.decided.values() for e in one.evictions)]
    for key, asked in shared.evictions.items():
        if key not in placements.decided and Subject.of_placement(key) not in failures:
            decided += rollout.evict_nothing(asked, inputs.now)
    return remembered(inputs.desired, inputs.before.evictions, decided)


def _rendered(
    state: FleetState, placements: PlacementsMemo, shared: Shared, memo: works.WorksMemo, failures: Failures
) -> tuple[Mapping[str, tuple[Work, ...]], works.WorksMemo, FleetState]:
    """The works of the decided state, and that state with its runs."""
    after = with_quarantines(with_runs(state, placements.runs(), shared.runs, shared.beside, failures), shared.inputs)
    rendered, memo = works.render_fleet(after, memo, failures, shared.inputs.desired.config.policy)
    return rendered, memo, after


def _warnings(shared: Shared, placements: PlacementsMemo, after: FleetState) -> tuple[Fault, ...]:
    found = (*uncounted(shared.inputs, shared.runs.records), *undecided(shared.inputs, placements.frozen()))
    found += observe.server_faults(shared.inputs.desired.clusters, shared.inputs.observations)
    return (*found, *shared.gates.freezes.notices, *pin_warnings(shared.inputs.desired, after.placements))


def _wake_at(shared: Shared, placements: PlacementsMemo, rolling: workload.Advance) -> datetime | None:
    """The first moment at which time alone may change the decision."""
    clocks = (shared.inputs.now + plan.clock for plan in placements.plans().values() if plan.clock is not None)
    wakes = (
        shared.index.wake_at,
        rollout.next_forced_leave(shared.clusters),
        *clocks,
        *placements.wakes(),
        rolling.wake_at,
    )
    return min((wake for wake in wakes if wake is not None), default=None)


def plan_operations(
    decision: Decision,
    newly_observed: Mapping[str, ClusterObservation],
    memo: Memo,
    handlers: workload.Handlers = workload.BUILT_IN,
) -> tuple[Decision, tuple[Operation, ...], Memo]:
    """The operations on every cluster that is reachable, and the decision with its inventory recorded: intent first."""
    failures = Failures(decision.failures)
    observations = apply.merge_observations(decision.inputs.observations, newly_observed)
    after = decision.after
    removing = rollout.removals(after.clusters, after.placements, after.inventory, failures)
    inputs = replace(decision.inputs, observations=observations)
    moving = movement_of(after, decision.works, inputs, handlers, failures)
    decision = replace(decision, held=moving.held)
    planned, plans = apply.plan_fleet(after, to_apply(decision), observations, removing, memo.plans, failures)
    inventory, operations = apply.record_all_intended(after.inventory, planned, failures)
    before, now = decision.inputs.before, decision.inputs.now
    operations = tuple(o for o in operations if not (isinstance(o, Delete) and o.cluster in before.damage.unsure))
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
    inventory = rollout.release_left(settled, after.clusters, now)
    left_behind = apply.left_behind(after.inventory, inventory, outcomes, decision.inputs.observations)
    seen = observe.Seen.of(decision.works, operations, outcomes, decision.touched(outcomes), config.checks)
    owners = rollout.owners_of(after.placements, inventory, failures)
    records: dict[PlacementKey, PlacementRecord] = {}
    for key, old in after.placements.items():
        record = failures.contain(Subject.of_placement(key), old, settle_placement, old, seen, owners, now, failures)
        if record is not None:
            records[key] = record
    clusters = rollout.without_left(after.clusters, records, inventory, failures)
    state = replace(after, placements=records, inventory=inventory, clusters=clusters, left_behind=left_behind)
    return status.with_unsettled(state, after, failures, now), failures.found
