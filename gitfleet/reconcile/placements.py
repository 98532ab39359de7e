"""Deciding placements, each by itself: the steps that lead from a record to the next one.

    decide_placements  each placement's next record, the same again where nothing changed for it
    decide_placement   observe -> evictions -> snapshots -> schedule -> rollout -> status
    settle_placement   observe -> status, once its operations were performed

Whatever these raise for one placement is that one's alone: its record is kept as it was.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from gitfleet import observe, removals, rollout, schedule, snapshots, status, works
from gitfleet.api.bindings import is_active
from gitfleet.api.conditions import Condition
from gitfleet.api.placements import Placement, PlacementKey
from gitfleet.api.staged import Eviction
from gitfleet.errors import GiveUp
from gitfleet.model.calls import Call
from gitfleet.model.failures import Failures, Subject, attempt
from gitfleet.model.rolling import Frozen, RolloutPlan
from gitfleet.model.state import FleetState, MisreadObjects, PlacementRecord, keep
from gitfleet.model.successors import Successors
from gitfleet.reconcile.pins import kept_by, with_pin
from gitfleet.reconcile.runs import Advanced, advance
from gitfleet.reconcile.shared import Shared
from gitfleet.reconcile.texts import ReconcileText
from gitfleet.reconcile.unsaid import misread_selections, unsaid_selections
from gitfleet.rollout import staged
from gitfleet.state import path_of_snapshot


@dataclass(frozen=True, slots=True)
class Decided:
    """A placement's next record, and the plan of its rolling update where there is one.

    `lasting` when the record stayed as it was and will stay so at any later time, as long as nothing else changes.
    `objects` (of which some stand in no file, `unwritten`), `clusters` and, by cluster, `overridden` objects stay only
    because their removal is held. `evictions` are those that were decided now.
    """

    record: PlacementRecord
    plan: RolloutPlan | None = None
    lasting: bool = False
    objects: frozenset[snapshots.Identity] = frozenset()
    clusters: frozenset[str] = frozenset()
    overridden: works.HeldObjects = field(default_factory=dict)
    unwritten: frozenset[snapshots.Identity] = frozenset()
    evictions: tuple[Eviction, ...] = ()
    runs: Advanced | None = None
    frozen: tuple[tuple[Eviction, Frozen], ...] = ()
    """The evictions that wait for the end of a freeze."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementsMemo:
    """The decisions of the pass before, and all that they were made of."""

    facts: tuple[object, ...] = ()
    seen: observe.Seen | None = None
    decided: Mapping[PlacementKey, Decided] = field(default_factory=dict)
    unsaid: Mapping[PlacementKey, frozenset[snapshots.Identity]] = field(default_factory=dict)
    misread: Mapping[PlacementKey, MisreadObjects] = field(default_factory=dict)

    def within(self, state: FleetState) -> FleetState:
        """A state with the records that were decided, and what is known of their selections beside."""
        records = {key: one.record for key, one in self.decided.items()}
        return replace(state, placements=records, unsaid=self.unsaid, misread=self.misread)

    def plans(self) -> dict[PlacementKey, RolloutPlan]:
        """The plan of each rolling update."""
        return {key: one.plan for key, one in self.decided.items() if one.plan is not None}

    def frozen(self) -> list[tuple[Eviction, Frozen]]:
        """The evictions that wait for the end of a freeze."""
        return [waiting for one in self.decided.values() for waiting in one.frozen]

    def wakes(self) -> list[datetime | None]:
        """When each of these freezes ends."""
        return [frozen.until for _, frozen in self.frozen()]

    def waiting(self) -> tuple[str, ...]:
        """The same in a sentence each."""
        return tuple(rollout.eviction_waits(eviction, frozen) for eviction, frozen in self.frozen())

    def runs(self) -> dict[PlacementKey, Advanced]:
        """What became of the unfinished runs of each placement that could be decided; None of them where it failed."""
        return {key: one.runs or Advanced() for key, one in self.decided.items()}

    def calls(self) -> tuple[Call, ...]:
        """What the runs of all placements ask of metric providers."""
        return tuple(call for one in self.decided.values() if one.runs is not None for call in one.runs.calls)

    def kept(self, wanted: removals.Kept) -> removals.Kept:
        """What had to be kept of what was to be kept: the rest is wanted again."""
        objects = {key: one.objects for key, one in self.decided.items() if one.objects}
        bindings = {key: one.clusters for key, one in self.decided.items() if one.clusters}
        overridden = {key: one.overridden for key, one in self.decided.items() if one.overridden}
        return replace(wanted, objects=objects, bindings=bindings, overridden=overridden)

    def lasting(self, old: PlacementRecord, placement: Placement) -> Decided | None:
        """The decision that led to this record of this placement, if it lasts."""
        known = self.decided.get(placement.key)
        same = known is not None and known.lasting and known.record is old and old.placement is placement
        return known if same else None

    def still_holds(self, record: PlacementRecord, seen: observe.Seen, shared: Shared) -> bool:
        """Whether the same was seen of a placement, and selecting and scheduling it again changes nothing."""
        if self.seen is None or not seen.equals_for(record, self.seen):
            return False
        known = self.decided[record.placement.key]
        kept, key = shared.kept, record.placement.key
        if known.overridden != kept.overridden.get(key, {}) or known.unwritten != kept.unwritten.get(key, frozenset()):
            return False
        if record.placement.key in shared.kept.placements:
            return not (known.objects or known.clusters)  # a hold on the whole takes the place of those on its parts
        if record.placement.deleting is not None:
            return True
        return _schedule(record, shared) == _Scheduled(record, None, known.objects, known.clusters)


def decide_placements(
    placements: Mapping[PlacementKey, Placement],
    seen: observe.Seen,
    shared: Shared,
    memo: PlacementsMemo,
    failures: Failures,
) -> PlacementsMemo:
    """The decision on each placement, with all that it was made of; `memo` saves those that nothing changed for."""
    facts = shared.facts()
    last = memo if memo.facts == facts else PlacementsMemo()
    staying = {key: one for key, one in placements.items() if one.deleting is None}
    decided = {key: _decide_one(one, seen, shared, last, failures) for key, one in staying.items()}
    records = {key: one.record for key, one in decided.items()}
    unsaid, misread = unsaid_selections(records, shared, failures), misread_selections(shared, failures)
    shared = replace(shared, successors=Successors(records, shared.clusters, unsaid, misread))  # as they are now
    leaving = {key: one for key, one in placements.items() if key not in staying}
    decided |= {key: _decide_one(one, seen, shared, last, failures) for key, one in leaving.items()}
    in_order = {key: decided[key] for key in placements}
    return PlacementsMemo(facts=facts, seen=seen, decided=in_order, unsaid=unsaid, misread=misread)


def _decide_one(
    placement: Placement, seen: observe.Seen, shared: Shared, memo: PlacementsMemo, failures: Failures
) -> Decided:
    """The placement's next record, and its plan; the record that it has when anything about it failed."""
    before = shared.inputs.before.placements.get(placement.key)
    subject, old = Subject.of_placement(placement.key), before or PlacementRecord(placement=placement)
    kept = Decided(
        old,
        objects=shared.kept.objects.get(placement.key, frozenset()),
        clusters=shared.kept.bindings.get(placement.key, frozenset()),
        overridden=shared.kept.overridden.get(placement.key, {}),
        unwritten=shared.kept.unwritten.get(placement.key, frozenset()),
    )
    if subject in failures:
        return kept
    known = memo.lasting(old, placement)
    asked = placement.key in shared.evictions
    unfinished = bool(shared.runs.unfinished(placement.key))
    idle = not (asked or unfinished)
    if known is not None and idle and attempt(subject, memo.still_holds, old, seen, shared) is True:
        return known
    record, mine = replace(old, placement=placement), Failures()
    after = mine.contain(subject, kept, decide_placement, record, seen, shared, mine)
    failures.note_all(mine)
    moving = unfinished or (after.plan is not None and after.plan.need_roll)
    moving = moving or (placement.deleting is not None and any(b.deleting is None for b in after.record.bindings))
    same = keep(old, after.record)
    return replace(after, record=same, lasting=same is old and not (moving or asked or mine.found))


def decide_placement(record: PlacementRecord, seen: observe.Seen, shared: Shared, failures: Failures) -> Decided:
    """The record with what was seen, selected, scheduled and rolled out;
    GiveUp when it names an override that cannot be read."""
    now, plan = shared.inputs.now, None
    overridden: works.HeldObjects = {}
    evictions: tuple[Eviction, ...] = ()
    works.check_readable(record.bindings, shared.unreadable)
    record = rollout.take_back(record, shared.clusters, shared.inputs.before.clusters)
    record = replace(record, bindings=observe.observe_bindings(record, seen, now, failures))
    key = record.placement.key
    frozen = shared.gates.frozen(key, [b.cluster for b in record.bindings])
    stays = {**rollout.awaiting_successors(record, shared.successors), **frozen}
    asked = shared.evictions.get(key, ())
    if free := [eviction for eviction in asked if eviction.cluster_name not in frozen]:
        record, evictions = rollout.evict(record, free, shared.inputs.desired.budgets.get(key.name), now)
    chosen = _Scheduled(record)
    if record.placement.deleting is None:
        # One that no commit has any more, and whose removal is held, stays as it is: no snapshot, cluster or override.
        chosen = chosen if key in shared.kept.placements else _schedule(record, shared)
        record = chosen.record
        if not record.placement.strategy.external:
            record, plan, overridden = _roll_out(rollout.give_up(record, shared.clusters, now, stays), shared, seen)
    runs = None
    if shared.runs.unfinished(key) and key not in shared.kept.placements:
        record = rollout.give_up(record, shared.clusters, now, stays)
        beside = replace(shared.beside(key), awaits_namespace=_awaiting_namespace(record, shared))
        runs = advance(key, record, chosen.condition or record.scheduled, beside, failures)
        record, plan = runs.record or record, plan or runs.plan
    record = rollout.give_up(record, shared.clusters, now, stays)
    plan = rollout.frozen_removals(record, stays, now, plan)
    record = status.with_conditions(record, chosen.condition, now)
    return Decided(
        record,
        plan,
        objects=chosen.objects,
        clusters=chosen.clusters,
        overridden=overridden,
        unwritten=shared.kept.unwritten.get(key, frozenset()),
        evictions=evictions,
        runs=runs,
        frozen=tuple((e, frozen[e.cluster_name]) for e in asked if e.cluster_name in frozen),
    )


@dataclass(frozen=True, slots=True)
class _Scheduled:
    """A record with its snapshots and scheduling; the Scheduled condition where something was decided; and what it has
    only because its removal is held."""

    record: PlacementRecord
    condition: Condition | None = None
    objects: frozenset[snapshots.Identity] = frozenset()
    clusters: frozenset[str] = frozenset()


def _schedule(record: PlacementRecord, shared: Shared) -> _Scheduled:
    now, profile, digests, closed = shared.inputs.now, shared.profile, shared.digests, shared.kept.clusters
    held = shared.kept.objects.get(record.placement.key, frozenset())
    wanted, pinned = shared.inputs.desired, shared.gates.pins.get(record.placement.key)
    pin, used = shared.gates.followed(record), shared.runs.snapshots_of(record) | kept_by(record, pinned)
    # A name that is none yet, as a slip may be, is no snapshot in use.
    named = shared.rolled_out.get(record.placement.key, frozenset())
    used |= named.intersection(one.name for one in record.resource_snapshots)
    retain = snapshots.Retained(snapshots=used, objects=held, pinned=pin.snapshot if pin is not None else None)
    taken = snapshots.take_snapshots(
        record.placement, shared.payload, record, commit=wanted.commit, now=now, retain=retain
    )
    _check_held(record, taken, held)
    objects = taken.retained
    record = replace(record, resource_snapshots=taken.resource_snapshots, policy_snapshots=taken.policy_snapshots)
    record = with_pin(record, pin, taken.waiting, now)
    if (error := taken.user_error) is not None:
        condition = status.scheduled_condition(record, False, error.reason, error.message, now)
        return _Scheduled(record, condition, objects, shared.kept.bindings.get(record.placement.key, frozenset()))
    request, index = schedule.request_for(record, now), schedule.closed_to_new(shared.index, closed, record.bindings)
    if schedule.schedule_key(request, index, profile=profile, digests=digests) == record.schedule_key:
        return _Scheduled(record, None, objects)
    result = schedule.schedule(request, index, profile=profile)
    index = schedule.closed_to_new(shared.index, closed, result.bindings)
    key = schedule.schedule_key(replace(request, bindings=result.bindings), index, profile=profile, digests=digests)
    return _with_kept_bindings(record, _Scheduled(*status.with_schedule(record, result, key, now), objects), shared)


def _check_held(record: PlacementRecord, taken: snapshots.SnapshotResult, held: Collection[snapshots.Identity]) -> None:
    """GiveUp when what a hold keeps stands in no snapshot, and the state branch lost one that clusters have: then the
    placement stays as it is until a person answers."""
    lost = record.lost_snapshots if held else ()
    if not lost:
        return
    latest = taken.resource_snapshots[-1] if taken.resource_snapshots else None
    there = Successors({}).content(record.placement.key, latest)
    if gone := sorted({*held} - there - taken.retained):
        path, (_, kind, namespace, name) = path_of_snapshot(record.placement.key, lost[-1]), gone[0]
        raise GiveUp(ReconcileText.STATE_BRANCH_LOST(path=path, kind=kind, namespace=namespace or "-", name=name))


def _with_kept_bindings(before: PlacementRecord, scheduled: _Scheduled, shared: Shared) -> _Scheduled:
    """What was scheduled, with the bindings as they were `before` that are unpicked now and whose removal is held.

    Such a record is scheduled again in every pass: only that shows whether the removal is still asked for.
    """
    held = shared.kept.bindings.get(before.placement.key, frozenset())
    active = {b.cluster: b for b in before.bindings if b.cluster in held and is_active(b)}
    stay = {b.cluster for b in scheduled.record.bindings if is_active(b)}
    back = {cluster: binding for cluster, binding in active.items() if cluster not in stay}
    if not back:
        return scheduled
    others = [b for b in scheduled.record.bindings if b.cluster not in back]
    bindings = tuple(sorted([*others, *back.values()], key=lambda binding: binding.cluster))
    record = replace(scheduled.record, bindings=bindings, schedule_key="")
    condition = scheduled.condition
    if condition is not None:
        condition = replace(condition, message=f"{condition.message}; {len(back)} more kept by a hold")
    return replace(scheduled, record=record, condition=condition, clusters=frozenset(back))


def _roll_out(
    record: PlacementRecord, shared: Shared, seen: observe.Seen
) -> tuple[PlacementRecord, RolloutPlan | None, works.HeldObjects]:
    key, clusters, now = record.placement.key, shared.clusters, shared.inputs.now
    held = shared.kept.overridden.get(key, {})
    target = works.target_overrides(record, shared.overrides, clusters, held, shared.unwritten(key))
    if key in shared.kept.placements:
        return record, None, target.held
    disturbed = shared.disturbed.get(key, frozenset())
    unavailable = seen.unavailable_though_kept(key)
    again = shared.successors.content(key, record.latest_resources) if unavailable else frozenset()
    lacking = frozenset(cluster for cluster, kept in unavailable.items() if kept & again)
    request = rollout.request_for(record, target.references, now, target.labels, disturbed)
    silent = rollout.silent_since(record, clusters)
    skips = shared.inputs.desired.config.rollout_unreachable == "Skip"
    frozen = shared.gates.frozen(key, [b.cluster for b in record.bindings])
    refused = shared.gates.refusal(record)
    request = replace(request, lacking=lacking, silent=silent, skip_silent=skips, frozen=frozen, refused=refused)
    plan = rollout.plan_rollout(request)
    return replace(record, bindings=plan.bindings), plan, target.held


def _awaiting_namespace(record: PlacementRecord, shared: Shared) -> frozenset[str]:
    """The clusters that a ResourcePlacement with a new run lacks until another placement brings its Namespace there."""
    key, before = record.placement.key, shared.inputs.before.placements
    if not key.namespace or not any(staged.run_phase(run.status) == "new" for run in shared.runs.unfinished(key)):
        return frozenset()
    request, namespace = schedule.request_for(record, shared.inputs.now), ("", "Namespace", "", key.namespace)
    lacking = schedule.without_namespace(request, shared.index, shared.profile)
    found: set[str] = set()
    for other in shared.inputs.desired.placements.values() if lacking else ():
        if all(one.key.identity != namespace for one in snapshots.select(other, shared.payload).manifests):
            continue
        known = before.get(other.key)
        latest = known.latest_resources if known is not None else None
        if known is None or latest is None or namespace not in Successors({}).content(other.key, latest):
            return lacking  # it is decided in this very pass
        found.update(binding.cluster for binding in known.bindings if is_active(binding))
    return lacking & found


def settle_placement(
    old: PlacementRecord, seen: observe.Seen, owners: rollout.Owners, now: datetime, failures: Failures
) -> PlacementRecord | None:
    """The record after what was done; None when it was deleted and nothing of it is left."""
    bindings = rollout.retire_bindings(observe.observe_bindings(old, seen, now, failures), owners)
    if bindings is not old.bindings:
        old = status.with_conditions(replace(old, bindings=bindings), None, now)
    return old if old.placement.deleting is None or bindings else None
