"""Deciding one placement: the steps that lead from its record to the next one.

    decide_placement   observe -> snapshots -> schedule -> rollout -> status
    settle_placement   observe -> status, once its operations were performed

Whatever these raise is this placement's alone: `reconcile` keeps the record as it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from gitfleet import observe, rollout, schedule, snapshots, status, works
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.conditions import Condition
from gitfleet.api.placements import Placement, PlacementKey
from gitfleet.api.snapshots import OverrideSnapshot
from gitfleet.model.decisions import Inputs
from gitfleet.model.failures import Failures
from gitfleet.model.rolling import RolloutPlan
from gitfleet.model.state import PlacementRecord, keep


@dataclass(frozen=True, slots=True)
class Decided:
    """A placement's next record, and the plan of its rolling update where there is one.

    `lasting` when the record stayed as it was and will stay so at any later time, as long as nothing else changes.
    """

    record: PlacementRecord
    plan: RolloutPlan | None = None
    lasting: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """What all placements of one pass share."""

    inputs: Inputs
    clusters: Mapping[str, MemberCluster]
    index: schedule.FleetIndex
    profile: schedule.Profile
    payload: snapshots.PayloadIndex
    overrides: tuple[OverrideSnapshot, ...]
    unreadable: frozenset[str]
    disturbed: Mapping[PlacementKey, frozenset[str]]
    digests: schedule.BindingDigests

    def facts(self) -> tuple[object, ...]:
        """What every placement depends on beside what was seen of it, its selection and its scheduling."""
        clusters = {name: (cluster.deleting, cluster.labels) for name, cluster in self.clusters.items()}
        return self.overrides, self.unreadable, clusters


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementsMemo:
    """The decisions of the pass before, and all that they were made of."""

    facts: tuple[object, ...] = ()
    seen: observe.Seen | None = None
    decided: Mapping[PlacementKey, Decided] = field(default_factory=dict)

    def lasting(self, old: PlacementRecord, placement: Placement) -> Decided | None:
        """The decision that led to this record of this placement, if it lasts."""
        known = self.decided.get(placement.key)
        same = known is not None and known.lasting and known.record is old and old.placement is placement
        return known if same else None

    def still_holds(self, record: PlacementRecord, seen: observe.Seen, fleet: Shared) -> bool:
        """Whether the same was seen of a placement, and selecting and scheduling it again changes nothing."""
        if self.seen is None or not seen.says_the_same(record, self.seen):
            return False
        return record.placement.deleting is not None or _schedule(record, fleet) == (record, None)


def decide_placement(record: PlacementRecord, seen: observe.Seen, fleet: Shared, failures: Failures) -> Decided:
    """The record with what was seen, selected, scheduled and rolled out;
    GiveUp when it names an override that cannot be read."""
    now, scheduled, plan = fleet.inputs.now, None, None
    works.check_readable(record.bindings, fleet.unreadable)
    record = rollout.take_back(record, fleet.clusters)
    record = replace(record, bindings=observe.observe_bindings(record, seen, now, failures))
    if record.placement.deleting is None:
        record, scheduled = _schedule(record, fleet)
        if not record.placement.strategy.external:
            record, plan = _roll_out(rollout.give_up(record, fleet.clusters, now), fleet)
    return Decided(status.with_conditions(rollout.give_up(record, fleet.clusters, now), scheduled, now), plan)


def _schedule(record: PlacementRecord, fleet: Shared) -> tuple[PlacementRecord, Condition | None]:
    """The record with its snapshots and scheduling; the Scheduled condition where something was decided."""
    now, index, profile, digests = fleet.inputs.now, fleet.index, fleet.profile, fleet.digests
    taken = snapshots.take_snapshots(
        record.placement, fleet.payload, record, commit=fleet.inputs.desired.commit, now=now
    )
    record = replace(record, resource_snapshots=taken.resource_snapshots, policy_snapshots=taken.policy_snapshots)
    if (error := taken.user_error) is not None:
        return record, status.scheduled_condition(record, False, error.reason, error.message, now)
    request = schedule.request_for(record, now)
    if schedule.settled_key(request, index, profile, digests) == record.schedule_key:
        return record, None
    answer = schedule.schedule(request, index, profile=profile)
    key = schedule.settled_key(replace(request, bindings=answer.bindings), index, profile, digests)
    return status.with_schedule(record, answer, key, now)


def _roll_out(record: PlacementRecord, fleet: Shared) -> tuple[PlacementRecord, RolloutPlan]:
    key, latest, clusters = record.placement.key, record.latest_resources, fleet.clusters
    concerned = works.overrides_by_cluster(key, latest, fleet.overrides, clusters.values()) if latest else {}
    labels = works.pinned_labels(concerned, fleet.overrides, clusters)
    request = rollout.request_for(record, concerned, fleet.inputs.now, labels, fleet.disturbed.get(key, frozenset()))
    plan = rollout.plan_rollout(request)
    return replace(record, bindings=plan.bindings), plan


def settle_placement(
    old: PlacementRecord, seen: observe.Seen, owners: rollout.Owners, now: datetime, failures: Failures
) -> PlacementRecord | None:
    """The record after what was done; None when it was deleted and nothing of it is left."""
    bindings = rollout.retire_bindings(observe.observe_bindings(old, seen, now, failures), owners)
    if bindings is not old.bindings:
        old = keep(old, status.with_conditions(replace(old, bindings=bindings), None, now))
    return old if old.placement.deleting is None or bindings else None
