"""Deciding placements, each by itself: the steps that lead from a record to the next one.

    decide_placements  each placement's next record, the same again where nothing changed for it
    decide_placement   observe -> evictions -> snapshots -> schedule -> rollout -> status
    settle_placement   observe -> status, once its operations were performed

Whatever these raise for one placement is that one's alone: its record is kept as it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain

from gitfleet import observe, rollout, schedule, snapshots, status, works
from gitfleet.api.bindings import BindingState, is_active
from gitfleet.api.conditions import Condition
from gitfleet.api.placements import Placement, PlacementKey
from gitfleet.api.staged import Eviction
from gitfleet.model.calls import Call
from gitfleet.model.failures import Failures, Subject, attempt
from gitfleet.model.rolling import Frozen, RolloutPlan
from gitfleet.model.state import FleetState, PlacementRecord, keep
from gitfleet.reconcile.pins import kept_by, with_pin
from gitfleet.reconcile.runs import Advanced, advance
from gitfleet.reconcile.shared import Shared
from gitfleet.reconcile.wanted import content_of
from gitfleet.rollout import staged


@dataclass(frozen=True, slots=True)
class Decided:
    """A placement's next record, and the plan of its rolling update where there is one.

    `lasting` when the record stayed as it was and will stay so at any later time, as long as nothing else changes.
    `evictions` are those that were decided now.
    """

    record: PlacementRecord
    plan: RolloutPlan | None = None
    lasting: bool = False
    evictions: tuple[Eviction, ...] = ()
    runs: Advanced | None = None
    frozen: tuple[tuple[Eviction, Frozen], ...] = ()
    """The evictions that wait for the end of a freeze."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementsMemo:
    """The decisions of the pass before, and all that they were made of."""

    facts: tuple[object, ...] = ()
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    seen: observe.Seen | None = None
    decided: Mapping[PlacementKey, Decided] = field(default_factory=dict)

    def within(self, state: FleetState) -> FleetState:
        """A state with the records that were decided."""
        return replace(state, placements={key: decision.record for key, decision in self.decided.items()})

    def plans(self) -> dict[PlacementKey, RolloutPlan]:
        """The plan of each rolling update."""
        return {key: decision.plan for key, decision in self.decided.items() if decision.plan is not None}

    def frozen(self) -> list[tuple[Eviction, Frozen]]:
        """The evictions that wait for the end of a freeze."""
        return [*chain.from_iterable(decision.frozen for decision in self.decided.values())]

    def runs(self) -> dict[PlacementKey, Advanced]:
        """What became of the unfinished runs of each placement that could be decided; None of them where it failed."""
        return {key: decision.runs or Advanced() for key, decision in self.decided.items()}

    def calls(self) -> tuple[Call, ...]:
        """What the runs of all placements ask of metric providers."""
        return tuple(chain.from_iterable(advanced.calls for advanced in self.runs().values()))

    def still_applies(self, record: PlacementRecord, seen: observe.Seen, shared: Shared) -> bool:
        """Whether the same was seen of a placement, and selecting and scheduling it again changes nothing."""
        if not seen.is_as_last(record) or (self.labels != shared.labels and shared.depends_on_labels(record)):
            return False
        return record.placement.deleting is not None or _schedule(record, shared) == _Scheduled(record)

    def is_settled(self, record: PlacementRecord, seen: observe.Seen) -> bool:
        """Whether a record lasts as it was decided, and nothing else was seen of it since: what was seen of it then
        changed nothing."""
        decided = self.decided.get(record.placement.key)
        if decided is None or not decided.lasting or decided.record is not record:
            return False
        return seen.is_as_last(record) and all(binding.deleting is None for binding in record.bindings)


def decide_placements(
    placements: Mapping[PlacementKey, Placement],
    seen: observe.Seen,
    shared: Shared,
    memo: PlacementsMemo,
    failures: Failures,
) -> PlacementsMemo:
    """The decision on each placement, with all that it was made of; `memo` saves those that nothing changed for."""
    facts = shared.facts()
    last, seen = memo if memo.facts == facts else PlacementsMemo(), seen.since(memo.seen)
    made: dict[PlacementKey, Decided] = {}
    ordered = failures.contain(Subject("FleetState", ""), [*placements], shared.ordered, placements)
    for key in ordered:
        made[key] = decision = _decide_one(placements[key], seen, shared, last, failures)
        runs = decision.runs.runs if decision.runs is not None else shared.runs.unfinished(key)
        shared.decided[key] = decision.record, runs
    decided = {key: made[key] for key in placements}
    return PlacementsMemo(facts=facts, labels=shared.labels, seen=seen.since(None), decided=decided)


def _decide_one(
    placement: Placement, seen: observe.Seen, shared: Shared, memo: PlacementsMemo, failures: Failures
) -> Decided:
    """The placement's next record, and its plan; the record that it has when anything about it failed."""
    before = shared.inputs.before.placements.get(placement.key)
    subject, old = Subject.of_placement(placement.key), before or PlacementRecord(placement=placement)
    unchanged = Decided(old)
    if subject in failures:
        return unchanged
    previous = memo.decided.get(placement.key)
    lasts = previous is not None and previous.lasting and previous.record is old and old.placement is placement
    evicted = placement.key in shared.evictions
    unfinished = bool(shared.runs.unfinished(placement.key))
    idle = not (evicted or unfinished)
    if previous is not None and lasts and idle and attempt(subject, memo.still_applies, old, seen, shared) is True:
        return previous
    record, own_failures = replace(old, placement=placement), Failures()
    after = own_failures.contain(subject, unchanged, decide_placement, record, seen, shared, own_failures)
    failures.note_all(own_failures)
    moving = unfinished or (after.plan is not None and after.plan.need_roll)
    moving = moving or (placement.deleting is not None and any(b.deleting is None for b in after.record.bindings))
    record = keep(old, after.record)
    return replace(after, record=record, lasting=record is old and not (moving or evicted or own_failures.found))


def decide_placement(record: PlacementRecord, seen: observe.Seen, shared: Shared, failures: Failures) -> Decided:
    """The record with what was seen, selected, scheduled and rolled out."""
    now, plan = shared.inputs.now, None
    evictions: tuple[Eviction, ...] = ()
    record = rollout.take_back(record, shared.clusters, shared.inputs.before.clusters)
    record = replace(record, bindings=observe.observe_bindings(record, seen, now, failures))
    key = record.placement.key
    gate = shared.gates.of_placement(record)
    requested = shared.evictions.get(key, ())
    if requested:
        budget = shared.inputs.desired.budgets.get(key.name)
        record, evictions = rollout.evict(record, requested, budget, now, gate)
    chosen = _Scheduled(record)
    if record.placement.deleting is None:
        chosen = _schedule(record, shared)
        record = chosen.record
        if not record.placement.strategy.external:
            record, plan = _roll_out(rollout.give_up(record, shared.clusters, now, gate), shared)
    runs = None
    if shared.runs.unfinished(key):
        record = rollout.give_up(record, shared.clusters, now, gate)
        awaited = _awaiting_namespace(record, shared)
        beside = replace(shared.beside(key), awaits_namespace=awaited, waits=shared.waits(record))
        runs = advance(key, record, chosen.condition or record.scheduled, beside, failures)
        record, plan = runs.record or record, plan or runs.plan
    record = rollout.give_up(record, shared.clusters, now, gate)
    plan = rollout.frozen_removals(record, gate.frozen, now, plan)
    record = status.with_conditions(record, chosen.condition, now)
    return Decided(
        record,
        plan,
        evictions=evictions,
        runs=runs,
        frozen=tuple((e, gate.frozen[e.cluster_name]) for e in requested if e.cluster_name in gate.frozen),
    )


@dataclass(frozen=True, slots=True)
class _Scheduled:
    """A record with its snapshots and scheduling, and the Scheduled condition where something was decided."""

    record: PlacementRecord
    condition: Condition | None = None


def _schedule(record: PlacementRecord, shared: Shared) -> _Scheduled:
    now, profile, digests = shared.inputs.now, shared.profile, shared.digests
    desired, pinned = shared.inputs.desired, shared.gates.pins.get(record.placement.key)
    pin, used = shared.gates.followed(record), shared.runs.snapshots_of(record) | kept_by(record, pinned)
    # A name that is none yet, as a slip may be, is no snapshot in use.
    named = shared.rolled_out.get(record.placement.key, frozenset())
    used |= named.intersection(snapshot.name for snapshot in record.resource_snapshots)
    retain = snapshots.Retained(snapshots=used, pinned=pin.snapshot if pin is not None else None)
    taken = snapshots.take_snapshots(
        record.placement, shared.payload, record, commit=desired.commit, now=now, retain=retain
    )
    record = replace(record, resource_snapshots=taken.resource_snapshots, policy_snapshots=taken.policy_snapshots)
    record = with_pin(record, pin, taken.waiting, now)
    if (error := taken.user_error) is not None:
        return _Scheduled(record, status.scheduled_condition(record, False, error.reason, error.message, now))
    request, index = schedule.request_for(record, now), shared.index
    if schedule.schedule_key(request, index, profile=profile, digests=digests) == record.schedule_key:
        return _Scheduled(record)
    result = schedule.schedule(request, index, profile=profile)
    key = schedule.schedule_key(replace(request, bindings=result.bindings), index, profile=profile, digests=digests)
    return _Scheduled(*status.with_schedule(record, result, key, now))


def _roll_out(record: PlacementRecord, shared: Shared) -> tuple[PlacementRecord, RolloutPlan]:
    key, clusters, now = record.placement.key, shared.clusters, shared.inputs.now
    target = works.target_contents(record, shared.overrides, clusters)
    disturbed = shared.disturbed.get(key, frozenset())
    gate = shared.gates.of_placement(record)
    gate = replace(gate, frozen={**shared.waits(record), **gate.frozen})
    if not gate.refused:
        record = rollout.renumbered(record, target.contents)
    request = rollout.request_for(record, target.contents, now, gate, target.labels, disturbed)
    silent = rollout.silent_since(record, clusters)
    skips = shared.inputs.desired.config.rollout_unreachable == "Skip"
    request = replace(request, taking_over=_taking_over(record, shared), silent=silent, skip_silent=skips)
    plan = rollout.plan_rollout(request)
    return replace(record, bindings=plan.bindings), plan


def _taking_over(record: PlacementRecord, shared: Shared) -> frozenset[str]:
    """The clusters that a placement is new on, and where it takes objects over that another one has and does not
    select any more."""
    own, latest, inventory = record.placement.key, record.latest_resources, shared.inputs.before.inventory
    new = [b.cluster for b in record.bindings if b.state is BindingState.SCHEDULED and b.deleting is None]
    if not new or latest is None:
        return frozenset()
    content = content_of(latest) or frozenset()
    return frozenset(
        name
        for name in new
        for key, entry in inventory.get(name, {}).items()
        if key.identity in content and entry.placement != own and key.identity not in shared.selected(entry.placement)
    )


def _awaiting_namespace(record: PlacementRecord, shared: Shared) -> frozenset[str]:
    """The clusters that a ResourcePlacement with a new run lacks until another placement brings its Namespace there."""
    key, before = record.placement.key, shared.inputs.before.placements
    if not key.namespace or not any(
        staged.run_phase(run.status) is staged.RunPhase.NEW for run in shared.runs.unfinished(key)
    ):
        return frozenset()
    request, namespace = schedule.request_for(record, shared.inputs.now), ("", "Namespace", "", key.namespace)
    lacking = schedule.without_namespace(request, shared.index, shared.profile)
    arriving: set[str] = set()
    for placement in shared.inputs.desired.placements.values() if lacking else ():
        if namespace not in shared.selected(placement.key):
            continue
        previous = before.get(placement.key)
        latest = previous.latest_resources if previous is not None else None
        if previous is None or latest is None or namespace not in (content_of(latest) or ()):
            return lacking  # it is decided in this very pass
        arriving.update(binding.cluster for binding in previous.bindings if is_active(binding))
    return lacking & arriving


def settle_placement(
    old: PlacementRecord,
    seen: observe.Seen,
    owners: rollout.Owners,
    now: datetime,
    failures: Failures,
    memo: PlacementsMemo,
) -> PlacementRecord | None:
    """The record after what was done; None when it was deleted and nothing of it is left."""
    if memo.is_settled(old, seen):
        return old
    bindings = rollout.retire_bindings(observe.observe_bindings(old, seen, now, failures), owners)
    if bindings is not old.bindings:
        old = status.with_conditions(replace(old, bindings=bindings), None, now)
    return old if old.placement.deleting is None or bindings else None
