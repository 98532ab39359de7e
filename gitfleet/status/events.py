"""What happened between two states, and what outcomes say was applied: the events of the timeline (contracts.md §5).

Beyond the contract's types: `updating` (a bound cluster is to get another snapshot), `updated` (it has it now),
`failed` (a condition of a binding turned False), `released` (so many `objects` of a placement stay on the cluster as
nobody's, the first of them by name in `left`; with `hold`: its removals were approved or are no longer held), `cluster`
(a cluster joined, leaves, left, where so many `objects` stay, or changed its state), `evictionRefused` (an eviction is
invalid or was not executed), `placement` (accepted, removed, renamed with its `former` name, or a condition of it
changed), `commitRead` (another desired commit was observed) and `faultsCleared`. Of several new faults of one cause the
first has their number as `count`, the others 0: people read of them in the line of the first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from gitfleet.api.bindings import DELETED, Binding, BindingState, is_available
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.conditions import Condition, ConditionType, Reason, Status, find_condition
from gitfleet.api.faults import by_cause
from gitfleet.api.holds import Hold
from gitfleet.api.objects import JsonValue, ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.api.staged import Eviction
from gitfleet.model.events import Event, EventType
from gitfleet.model.operations import Create, Delete, Outcome, Update
from gitfleet.model.renames import renamed_placements, under_name
from gitfleet.model.state import FleetState, PlacementRecord, changed
from gitfleet.status.cluster_states import cluster_state
from gitfleet.status.rollout_events import rollout_events
from gitfleet.status.run_events import request_events, run_events
from gitfleet.status.texts import StatusText

_MOST_NAMED: Final = 10
"""So many removals of a hold, or objects that are left, are named in an event."""
_FAILING: Final = (ConditionType.OVERRIDDEN, ConditionType.WORK_SYNCHRONIZED, ConditionType.APPLIED)


def emit_events(before: FleetState, after: FleetState) -> tuple[Event, ...]:
    """The events that lead from one state to the other: the fleet's first, the runs', then each placement's, its
    clusters by name. Equal states give none; records that are the same object cost nothing."""
    return tuple(_events(before, after))


def _events(before: FleetState, after: FleetState) -> Iterator[Event]:
    yield from _fleet_events(before, after)
    for name, old_hold, new_hold in changed(before.holds, after.holds):
        yield from _hold_events(name, old_hold, new_hold)
    for _, old_eviction, new_eviction in changed(before.evictions, after.evictions):
        yield from _eviction_events(old_eviction, new_eviction)
    for name, old_cluster, new_cluster in changed(before.clusters, after.clusters):
        yield from _cluster_events(name, old_cluster, new_cluster, after)
    for _, old_run, new_run in changed(before.runs, after.runs):
        yield from run_events(old_run, new_run)
    for _, old_request, new_request in changed(before.approvals, after.approvals):
        yield from request_events(old_request, new_request)
    for _, old_rollout, new_rollout in changed(before.rollouts, after.rollouts):
        yield from rollout_events(old_rollout, new_rollout)
    yield from _events_of_placements(before, after)


def _events_of_placements(before: FleetState, after: FleetState) -> Iterator[Event]:
    removed = {key: record for key, record in before.placements.items() if key not in after.placements}
    fresh = [after.placements[key].placement for key in after.placements if removed and key not in before.placements]
    names = renamed_placements(removed, fresh)
    for key, old, new in changed(before.placements, after.placements):
        if (former := names.get(key)) is not None:
            old = under_name(before.placements[former], key)
            fields = {"state": "renamed", "former": str(former)}
            yield Event(type=EventType.PLACEMENT, placement=str(key), fields=fields)
        if key not in names.values():
            yield from _placement_events(key, old, new, after)
    for name, by_placement in after.left_behind.items():
        for key, objects in by_placement.items():
            yield from _left_events(name, after.placements.get(key), objects)


def _fleet_events(before: FleetState, after: FleetState) -> Iterator[Event]:
    if after.observed_commit != before.observed_commit and after.observed_commit:
        yield Event(type=EventType.COMMIT_READ, fields={"commit": after.observed_commit})
    if before.faults != after.faults:
        previous = set(before.faults)
        for group in by_cause(fault for fault in after.faults if fault not in previous):
            for fault in group.faults:
                count = len(group.faults) if fault is group.first else 0
                yield Event(type=EventType.FAULT, fields=fault.document() | {"count": count})
        if before.faults and not after.faults:
            yield Event(type=EventType.FAULTS_CLEARED)


def _hold_events(name: str, old: Hold | None, new: Hold | None) -> Iterator[Event]:
    """A list of removals of which something is held now, or in another part or answer than before; or one of which
    nothing is held any more."""
    waited = old is not None and old.waits
    if new is not None and new.waits and (old is None or not waited or _answer_and_size(old) != _answer_and_size(new)):
        fields: Mapping[str, JsonValue] = {
            "hold": name,
            "objects": new.objects,
            "clusters": [count.cluster for count in new.clusters],
            "removals": [str(removal) for removal in new.removals[:_MOST_NAMED]],
            "message": str(new.reasons[0]),
            "rejected": new.answer is Status.FALSE,
            "approval": f"approvals/{name}.yaml",
        }
        yield Event(type=EventType.HELD, fields=fields)
    if old is not None and waited and (new is None or not new.waits):
        approved = new is not None and new.answer is Status.TRUE
        yield Event(type=EventType.RELEASED, fields={"hold": name, "objects": old.objects, "approved": approved})


def _answer_and_size(hold: Hold) -> tuple[Status | None, int]:
    return hold.answer, len(hold.removals)


def _eviction_events(old: Eviction | None, new: Eviction | None) -> Iterator[Event]:
    """An eviction that was decided; nothing when its file is gone."""
    outcome = new.outcome if new is not None and old is None else None
    if new is None or outcome is None:
        return
    yield Event(
        type=EventType.EVICTED if new.was_executed else EventType.EVICTION_REFUSED,
        placement=new.placement_name,
        cluster=new.cluster_name,
        fields={"eviction": new.name, "reason": outcome.reason, "message": outcome.message},
    )


def _cluster_events(
    name: str, old: MemberCluster | None, new: MemberCluster | None, after: FleetState
) -> Iterator[Event]:
    before, state = (cluster_state(cluster) if cluster is not None else None for cluster in (old, new))
    if new is None:
        stay = sum(map(len, after.left_behind.get(name, {}).values()))
        fields = {"state": "left", **({"objects": stay} if stay else {})}
        yield Event(type=EventType.CLUSTER, cluster=name, fields=fields)
    elif state != before:
        yield Event(type=EventType.CLUSTER, cluster=name, fields={"state": state})


def _placement_events(
    key: PlacementKey, old: PlacementRecord | None, new: PlacementRecord | None, after: FleetState
) -> Iterator[Event]:
    name = str(key)
    if old is None:
        yield Event(type=EventType.PLACEMENT, placement=name, fields={"state": "accepted"})
    if new is not None:
        yield from _snapshot_events(name, old, new)
    yield from _bindings_events(key, old, new, after.left_behind)
    if new is None:
        yield Event(type=EventType.PLACEMENT, placement=name, fields={"state": "removed"})
    else:
        yield from _condition_events(key, old, new)


def _left_events(cluster: str, record: PlacementRecord | None, objects: Collection[ObjectKey]) -> Iterator[Event]:
    """What stays on a cluster that its placement goes on with; else the binding's own end says it."""
    if record is not None and any(binding.cluster == cluster for binding in record.bindings):
        yield _left_event(record.placement.key, cluster, objects)


def _left_event(key: PlacementKey, cluster: str, objects: Collection[ObjectKey]) -> Event:
    fields: Mapping[str, JsonValue] = {"objects": len(objects), "left": [*map(str, objects)][:_MOST_NAMED]}
    return Event(type=EventType.RELEASED, placement=str(key), cluster=cluster, fields=fields)


def _snapshot_events(name: str, old: PlacementRecord | None, new: PlacementRecord) -> Iterator[Event]:
    if old is not None and old.resource_snapshots is new.resource_snapshots:
        return
    indexes = {snapshot.index for snapshot in old.resource_snapshots} if old else set()
    for snapshot in new.resource_snapshots:
        if snapshot.index not in indexes:
            fields = {"index": str(snapshot.index), "commit": snapshot.commit}
            yield Event(type=EventType.SNAPSHOT, placement=name, fields=fields)


def _bindings_events(
    key: PlacementKey,
    old: PlacementRecord | None,
    new: PlacementRecord | None,
    left_behind: Mapping[str, Mapping[PlacementKey, Collection[ObjectKey]]],
) -> Iterator[Event]:
    name = str(key)
    old_bindings = old.bindings if old else ()
    new_bindings = new.bindings if new else ()
    if old_bindings is new_bindings:
        return
    befores, afters = ({binding.cluster: binding for binding in bindings} for bindings in (old_bindings, new_bindings))
    indexes = {snapshot.name: str(snapshot.index) for snapshot in new.resource_snapshots} if new else {}
    for cluster, earlier, later in changed(befores, afters):
        if later is None:
            objects = left_behind.get(cluster, {}).get(key)
            removed = Event(type=EventType.REMOVED, placement=name, cluster=cluster)
            yield _left_event(key, cluster, objects) if objects else removed
        elif new is not None and later != earlier:
            for type_, condition in _binding_events(indexes, earlier, later):
                yield Event(type=type_, placement=name, cluster=cluster, fields=condition)


def _binding_events(
    indexes: Mapping[str, str], old: Binding | None, new: Binding
) -> Iterator[tuple[EventType, Mapping[str, object]]]:
    """`indexes` are those of the placement's snapshots, by name."""
    state = old.state if old else None
    index, had = indexes.get(new.resource_snapshot or ""), old.resource_snapshot if old else None
    if (old is None and new.state is not BindingState.UNSCHEDULED) or (
        new.state is BindingState.SCHEDULED and state is not BindingState.SCHEDULED
    ):
        yield EventType.SCHEDULED, {"state": BindingState.SCHEDULED.value}
    if new.state is BindingState.BOUND and state is not BindingState.BOUND:
        yield EventType.BOUND, {"state": new.state.value, "snapshot": index}
    elif new.state is BindingState.UNSCHEDULED and state is not BindingState.UNSCHEDULED:
        yield EventType.UNSCHEDULED, {"state": new.state.value}
    elif new.resource_snapshot != had:
        yield EventType.UPDATING, {"snapshot": index}
    if new.applied_snapshot is not None and new.applied_snapshot != (old.applied_snapshot if old else None):
        yield EventType.UPDATED, {"snapshot": indexes.get(new.applied_snapshot)}
    for type_ in _FAILING:
        condition = _current(new, type_)
        if (
            condition is not None
            and condition.status is Status.FALSE
            and condition.reason != Reason.APPLY_IN_PROGRESS  # progress is no failure (decision D6)
            and (old is None or not _same(_current(old, type_), condition))
        ):
            yield EventType.FAILED, {"condition": type_.value, "reason": condition.reason, "message": condition.message}
    if new.failed:
        yield from _refused_removals(old, new)
    available = is_available(new)
    if available != (old is not None and is_available(old)):
        yield EventType.AVAILABLE, {"value": available}


def _refused_removals(old: Binding | None, new: Binding) -> Iterator[tuple[EventType, Mapping[str, object]]]:
    reported = {(failed.key, failed.message) for failed in old.failed} if old else set()
    for failed in new.failed:
        if failed.condition == DELETED and failed not in new.kept and (failed.key, failed.message) not in reported:
            message = StatusText.NOT_DELETED(failed=failed.key, failed_2=failed.message)
            yield EventType.FAILED, {"condition": DELETED, "reason": failed.reason, "message": message}


def _current(binding: Binding, type_: str) -> Condition | None:
    return find_condition(binding.conditions, type_, generation=binding.generation)


def _same(old: Condition | None, new: Condition) -> bool:
    return old is not None and (old.status, old.reason, old.message) == (new.status, new.reason, new.message)


def _condition_events(key: PlacementKey, old: PlacementRecord | None, new: PlacementRecord) -> Iterator[Event]:
    if old is not None and old.conditions is new.conditions:
        return
    for condition in new.conditions:
        earlier = find_condition(old.conditions, condition.type) if old else None
        if not _same(earlier, condition):
            yield Event(
                type=EventType.PLACEMENT,
                placement=str(key),
                fields={
                    "condition": condition.type.removeprefix(key.kind),
                    "status": condition.status.value,
                    "reason": condition.reason,
                    "message": condition.message,
                },
            )


def events_of_outcomes(outcomes: Iterable[Outcome], state: FleetState) -> Iterator[Event]:
    """An `applied` event for every operation that succeeded, in the order given, with the index of the snapshot that
    its cluster was to have in `state` (None where it is to have none any more)."""
    snapshots: dict[PlacementKey, dict[str, str | None]] = {}
    for outcome in outcomes:
        operation = outcome.operation
        if not outcome.ok or not isinstance(operation, Create | Update | Delete):
            continue
        key = operation.placement
        if key not in snapshots:
            snapshots[key] = _wanted_snapshots(state.placements.get(key))
        fields = {
            "snapshot": snapshots[key].get(operation.cluster),
            "object": object_reference(operation.key),
            "action": type(operation).__name__.lower(),
        }
        yield Event(type=EventType.APPLIED, placement=str(key), cluster=operation.cluster, fields=fields)


def _wanted_snapshots(record: PlacementRecord | None) -> dict[str, str | None]:
    """The index of the snapshot that each cluster is to have, by cluster."""
    if record is None:
        return {}
    indexes = {snapshot.name: str(snapshot.index) for snapshot in record.resource_snapshots}
    return {binding.cluster: indexes.get(binding.resource_snapshot or "") for binding in record.bindings}


def object_reference(key: ObjectKey) -> dict[str, str | None]:
    """An object as contracts.md §4 names it; the namespace is null for what is cluster-scoped."""
    return {
        "group": key.group,
        "version": key.version,
        "kind": key.kind,
        "namespace": key.namespace or None,
        "name": key.name,
    }
