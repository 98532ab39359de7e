"""The decider: the one place that leads through every package, and the newcomer's table of contents.

    decide            accept -> observe -> snapshots -> schedule -> rollout -> works
    plan_operations   apply, once the objects of new works were looked at
    settle            what came of it -> observe -> status

Everything here is pure: the same inputs give the same decision.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from gitfleet import apply, desired, observe, rollout, schedule, snapshots, status, works
from gitfleet.api.conditions import Condition
from gitfleet.api.placements import Placement, PlacementKey
from gitfleet.model.decisions import Decision, Inputs
from gitfleet.model.observations import ClusterObservation
from gitfleet.model.operations import Operation, Outcome
from gitfleet.model.rolling import RolloutPlan
from gitfleet.model.scheduling import ClusterVerdict
from gitfleet.model.state import FleetState, PlacementRecord, keep
from gitfleet.model.works import Work


class Decider:
    """Decides. What it remembers saves work and nothing else."""

    def __init__(self, plugins: Mapping[str, schedule.PluginFactory] | None = None) -> None:
        self._plugins = plugins or {}
        self._payload = snapshots.PayloadMemo()
        self._renderer = works.Renderer()
        self._planner = apply.Planner()
        self._digests: schedule.BindingDigests = {}
        self._fleet: schedule.FleetIndex | None = None

    def decide(self, inputs: Inputs) -> Decision:
        """Which clusters get what from now on: the state to publish (inventory still to be extended) and its works."""
        wanted, before, now = inputs.desired, inputs.before, inputs.now
        accepted = desired.accept(wanted, before, now)
        clusters = observe.observe_clusters(accepted.clusters, inputs.observations, now)
        known = replace(before, clusters=clusters, left_behind={}, misplaced=frozenset())
        rendered = self._renderer.works_of(known)
        leaving = rollout.removals(clusters, before.placements, before.inventory)
        seen_operations = self._planner.plan_fleet(known, rendered, inputs.observations, leaving)
        seen = observe.observe_bindings(before.placements, rendered, seen_operations, (), inputs.observations, now)
        disturbed = apply.disturbed_by(seen_operations)
        in_use = snapshots.references_of(before.placements.values())
        overrides = snapshots.take_override_snapshots(wanted.overrides, before.overrides, in_use=in_use)
        current = snapshots.current_overrides(wanted.overrides, overrides)
        fleet = self._fleet = schedule.index_fleet(clusters.values(), now, self._fleet)
        profile, faults = schedule.profile_for(wanted.config, self._plugins)
        records: dict[PlacementKey, PlacementRecord] = {}
        plans: dict[PlacementKey, RolloutPlan] = {}
        wakes = [fleet.wake_at, rollout.next_forced_leave(clusters)]
        for key, placement in accepted.placements.items():
            old = before.placements.get(key) or PlacementRecord(placement=placement)
            record = replace(old, placement=placement, bindings=seen.get(key, ()))
            scheduled: Condition | None = None
            if placement.deleting is None:
                record, scheduled = self._place(placement, record, inputs, fleet, profile)
                if not placement.strategy.external:
                    record = rollout.give_up(record, clusters, now)
                    latest = record.latest_resources
                    concerned = works.overrides_by_cluster(key, latest, current, clusters.values()) if latest else {}
                    labels = works.pinned_labels(concerned, current, clusters)
                    request = rollout.request_for(record, concerned, now, labels, disturbed.get(key, frozenset()))
                    plans[key] = plan = rollout.plan_rollout(request)
                    record = replace(record, bindings=plan.bindings)
                    wakes.append(now + plan.clock if plan.clock is not None else None)
            records[key] = keep(old, status.with_conditions(rollout.give_up(record, clusters, now), scheduled, now))
        after = replace(
            known,
            observed_commit=wanted.commit,
            placements=records,
            overrides=overrides,
            faults=wanted.faults + faults,
            last_good=wanted.last_good,
        )
        wake_at = min((wake for wake in wakes if wake is not None), default=None)
        works_after = self._renderer.works_of(after)
        return Decision(
            inputs=inputs, after=after, works=works_after, seen_works=rendered, plans=plans, wake_at=wake_at
        )

    def plan_operations(
        self, decision: Decision, closer: Mapping[str, ClusterObservation]
    ) -> tuple[Decision, tuple[Operation, ...]]:
        """The operations on every cluster that answers, and the decision with their inventory: intent first."""
        observations = apply.merge_observations(decision.inputs.observations, closer)
        after = decision.after
        leaving = rollout.removals(after.clusters, after.placements, after.inventory)
        operations = self._planner.plan_fleet(after, decision.works, observations, leaving)
        inventory = apply.record_all_intended(decision.after.inventory, operations)
        recorded = replace(decision.after, inventory=inventory)
        inputs = replace(decision.inputs, observations=observations)
        return replace(decision, after=recorded, inputs=inputs, observed_again=frozenset(closer)), operations

    def settle(
        self, decision: Decision, operations: tuple[Operation, ...], outcomes: tuple[Outcome, ...], now: datetime
    ) -> FleetState:
        """The state after performing: what the servers answered, what is gone, and the conditions that follow."""
        after, observations = decision.after, decision.inputs.observations
        inventory = apply.settle_all(after.inventory, operations, outcomes)
        inventory = rollout.release_left(inventory, after.clusters, now)
        left_behind = apply.left_behind(after.inventory, inventory, outcomes, observations)
        touched = decision.touched(outcomes)
        seen = observe.observe_bindings(after.placements, decision.works, operations, outcomes, touched, now)
        owners = rollout.owners_of(after.placements.values(), inventory)
        records: dict[PlacementKey, PlacementRecord] = {}
        for key, record in after.placements.items():
            bindings = rollout.retire_bindings(seen[key], owners)
            if bindings is not record.bindings:
                record = keep(record, status.with_conditions(replace(record, bindings=bindings), None, now))
            if record.placement.deleting is None or bindings:
                records[key] = record
        clusters = rollout.without_left(after.clusters, records.values(), inventory)
        return replace(after, placements=records, inventory=inventory, clusters=clusters, left_behind=left_behind)

    def explain(self, decision: Decision, key: PlacementKey) -> tuple[ClusterVerdict, ...]:
        """Every cluster's story in the scheduling of one placement."""
        fleet = schedule.index_fleet(decision.after.clusters.values(), decision.inputs.now, self._fleet)
        request = schedule.request_for(decision.after.placements[key], decision.inputs.now)
        profile, _ = schedule.profile_for(decision.inputs.desired.config, self._plugins)
        return schedule.explain(request, fleet, profile=profile)

    def works_when_done(self, decision: Decision) -> dict[str, tuple[Work, ...]]:
        """The works of every cluster as they will be when every rollout is through."""
        current = snapshots.current_overrides(decision.inputs.desired.overrides, decision.after.overrides)
        return works.works_when_done(decision.after, current)

    def _place(
        self,
        placement: Placement,
        record: PlacementRecord,
        inputs: Inputs,
        fleet: schedule.FleetIndex,
        profile: schedule.Profile,
    ) -> tuple[PlacementRecord, Condition | None]:
        """The record with its snapshots and scheduling; the Scheduled condition where something was decided."""
        payload = self._payload.index(inputs.desired)
        taken = snapshots.take_snapshots(placement, payload, record, commit=inputs.desired.commit, now=inputs.now)
        record = replace(record, resource_snapshots=taken.resource_snapshots, policy_snapshots=taken.policy_snapshots)
        if taken.user_error is not None:
            error = taken.user_error
            return record, status.scheduled_condition(record, False, error.reason, error.message, inputs.now)
        request = schedule.request_for(record, inputs.now)
        if schedule.settled_key(request, fleet, profile, self._digests) == record.schedule_key:
            return record, None
        answer = schedule.schedule(request, fleet, profile=profile)
        key = schedule.settled_key(replace(request, bindings=answer.bindings), fleet, profile, self._digests)
        return status.with_schedule(record, answer, key, inputs.now)
