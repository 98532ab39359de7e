"""What leaves as a whole: a placement that was deleted, a cluster that leaves the fleet.

A leaving cluster is neither bound nor updated, no budget counts for it, its own deleteOptions say what becomes of its
objects, and it is dropped once nothing of ours is left on it. A deleted placement leaves its clusters a few at a time.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from gitfleet.api.bindings import Binding, BindingState
from gitfleet.api.clusters import MemberCluster, is_leaving, silent_from
from gitfleet.api.placements import PlacementKey
from gitfleet.api.strategies import DeletePropagation
from gitfleet.formats.int_or_percent import scaled
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.rolling import Frozen, MoveKind, Passage, PlacementGate, RolloutPlan
from gitfleet.model.state import Inventory, PlacementRecord
from gitfleet.rollout.moves import take_off
from gitfleet.rollout.silence import silent_since

FORCED_LEAVE: Final = timedelta(minutes=15)
"""KubeFleet's force-delete-wait-time."""
_CLOCK_STEP: Final = timedelta.resolution

Records = Mapping[PlacementKey, PlacementRecord]
Owners = Mapping[str, frozenset[PlacementKey]]
"""By cluster: the placements that own something there."""


def give_up(
    record: PlacementRecord, clusters: Mapping[str, MemberCluster], now: datetime, gate: PlacementGate
) -> PlacementRecord:
    """The record with its bindings by cluster name, those marked deleting that are given up now.

    Those on a cluster that is leaving or gone, and those that were unpicked before they got anything; and of a
    placement that was deleted as many as may be unavailable at once (KubeFleet deletes all of them), at least one,
    clusters that do not answer besides: a deletion that is noticed late has not reached every cluster yet. A deleted
    placement stays where its gate is closed. A cluster that still gives resources up gets no second binding of the same
    placement: it is picked again when the first one is gone, or at once where that keeps what is selected again.
    """
    record = _picked_again(record)
    giving_up = {b.cluster for b in record.bindings if b.deleting is not None}
    leaving = {b.cluster for b in record.bindings if is_leaving(clusters.get(b.cluster))}
    out = leaving | silent_since(record, clusters).keys()
    # All that is left there is held or taken over: nothing is missing.
    waiting = {binding.cluster for binding in record.bindings if binding.only_keeps}
    most_at_once = max(1, scaled(record.placement.strategy.rolling_update.max_unavailable, len(record.bindings)))
    allowance = most_at_once - len(giving_up - out - waiting)
    bindings, may_leave = list[Binding](), record.placement.deleting is not None
    for binding in record.bindings:
        if binding.deleting is None and binding.cluster in giving_up:
            continue
        if binding.deleting is None and (binding.cluster in leaving or _never_began(binding)):
            binding = replace(binding, deleting=now)
        elif may_leave and binding.deleting is None and (binding.cluster in out or allowance > 0):
            leave = gate.passage(binding.cluster, MoveKind.REMOVE)
            if isinstance(leave, Passage):
                binding = take_off(binding, leave, now)
                allowance -= binding.cluster not in out
        bindings.append(binding)
    ordered = tuple(sorted(bindings, key=lambda binding: binding.cluster))
    if ordered == record.bindings:
        return record
    dropped = len(ordered) < len(record.bindings)
    return replace(record, bindings=ordered, schedule_key="" if dropped else record.schedule_key)


def _picked_again(record: PlacementRecord) -> PlacementRecord:
    """The record with bindings in force again that were unpicked, keep objects for another placement which are selected
    again, and whose clusters are picked again: to go first would delete them."""
    fresh = {binding.cluster: binding for binding in record.bindings if binding.deleting is None}
    documents = record.latest_resources.documents if record.latest_resources else ()
    selected = {document.key.identity for document in documents}
    back = {
        binding.cluster: replace(
            binding,
            deleting=None,
            state=binding.previous_state or BindingState.BOUND,
            previous_state=None,
            policy_snapshot=fresh[binding.cluster].policy_snapshot,
            decision=fresh[binding.cluster].decision,
        )
        for binding in record.bindings
        if binding.deleting is not None
        and binding.state is BindingState.UNSCHEDULED
        and binding.cluster in fresh
        and any(failed.key.identity in selected for failed in binding.kept)
    }
    unaffected = (binding for binding in record.bindings if binding.cluster not in back)
    return replace(record, bindings=(*unaffected, *back.values())) if back else record


def _never_began(binding: Binding) -> bool:
    """Whether a binding is unpicked that was never bound: nothing is on the cluster, so no budget or freeze counts."""
    has_nothing = binding.resource_snapshot is None and binding.applied_snapshot is None
    return has_nothing and binding.state is BindingState.UNSCHEDULED


def frozen_removals(
    record: PlacementRecord, frozen: Mapping[str, Frozen], now: datetime, plan: RolloutPlan | None = None
) -> RolloutPlan | None:
    """That a deleted placement stays on its `frozen` clusters for now, with what its runs wait for by its `plan`; that
    plan where it stays on none."""
    stay = [b.cluster for b in record.bindings if b.cluster in frozen and b.deleting is None]
    if record.placement.deleting is None or not stay:
        return plan
    blocked = {name: frozen[name].reason for name in stay}
    clock = min((wait for name in stay if (wait := frozen[name].wait(now)) is not None), default=None)
    waiting, asks = (plan.waiting, plan.asks) if plan is not None else ((), ())
    return RolloutPlan(
        moves=(), blocked=blocked, up_to_date=(), need_roll=True, bindings=record.bindings, clock=clock,
        waiting=waiting, asks=asks,
    )  # fmt: skip


def take_back(
    record: PlacementRecord, clusters: Mapping[str, MemberCluster], were: Mapping[str, MemberCluster] | None = None
) -> PlacementRecord:
    """The record without removals that nothing asks for any more; the same record when there are none.

    A binding is given up because its placement was deleted, its cluster leaves, or the scheduler unpicked it. Marked as
    given up for none of these (the placement or the cluster came back, decision D33; or somebody edited the state
    branch) it is in force again: what was not deleted yet stays, and what was is applied again. One that is unpicked on
    a cluster that was leaving (by the clusters as they `were`) and came back is given up no more, and scheduled again.
    """
    if record.placement.deleting is not None:
        return record
    back = tuple(
        replace(binding, deleting=None) if _removal_was_withdrawn(binding, clusters, were or {}) else binding
        for binding in record.bindings
    )
    return record if back == record.bindings else replace(record, bindings=back)


def _removal_was_withdrawn(
    binding: Binding, clusters: Mapping[str, MemberCluster], were: Mapping[str, MemberCluster]
) -> bool:
    came_back = binding.cluster in were and is_leaving(were[binding.cluster])
    if binding.deleting is None or (binding.state is BindingState.UNSCHEDULED and not came_back):
        return False
    return not is_leaving(clusters.get(binding.cluster))


def removals(
    clusters: Mapping[str, MemberCluster],
    records: Records,
    inventory: Mapping[str, Inventory],
    failures: Failures,
) -> dict[str, dict[PlacementKey, DeletePropagation]]:
    """By cluster: which placements give up what they own there, and how. Delete prunes it, Abandon lets it stay.

    A placement that has a binding on the cluster gives nothing up, whatever became of its work; one that cannot be read
    gives nothing up anywhere. A cluster that leaves decides for all of its placements by its own deleteOptions.
    """
    everywhere = frozenset(clusters)
    bound = {
        key: failures.contain(Subject.of_placement(key), everywhere, _bound_clusters, record)
        for key, record in records.items()
    }
    by_cluster: dict[str, dict[PlacementKey, DeletePropagation]] = {}
    for name, cluster in clusters.items():
        owners = {entry.placement for entry in inventory.get(name, {}).values()}
        for key in (key for key in owners if name not in bound.get(key, ())):
            if cluster.deleting is not None:
                by_cluster.setdefault(name, {})[key] = cluster.delete_propagation_policy
            elif key in records:
                by_cluster.setdefault(name, {})[key] = records[key].placement.strategy.delete_propagation_policy
    return by_cluster


def _bound_clusters(record: PlacementRecord) -> frozenset[str]:
    return frozenset(binding.cluster for binding in record.bindings if binding.deleting is None)


def release_left(
    inventory: Mapping[str, Inventory], clusters: Mapping[str, MemberCluster], blocked: Collection[str], now: datetime
) -> Mapping[str, Inventory]:
    """The inventory without what leaving clusters take along; the same mapping when they take nothing.

    By default (Abandon) a cluster keeps its objects when it leaves, whether it answers or not (KubeFleet). With
    deleteOptions that remove them, one that is unreachable for FORCED_LEAVE after it was removed is released
    nevertheless, unless removals there are `held`.
    """
    released = {
        name
        for name, cluster in clusters.items()
        if name in inventory
        and cluster.deleting is not None
        and (
            cluster.delete_propagation_policy.keeps_objects
            or (name not in blocked and _is_long_silent(cluster, cluster.deleting, now))
        )
    }
    return {name: owned for name, owned in inventory.items() if name not in released} if released else inventory


def _is_long_silent(cluster: MemberCluster, leaving: datetime, now: datetime) -> bool:
    """Whether a leaving cluster has not answered for FORCED_LEAVE since it leaves."""
    silent = silent_from(cluster)
    return silent is not None and now - max(silent, leaving) > FORCED_LEAVE


def next_forced_leave(clusters: Mapping[str, MemberCluster]) -> datetime | None:
    """The first moment at which `release_left` will let a leaving cluster go by the clock alone; None when none."""
    leaving = ((c.deleting, silent_from(c)) for c in clusters.values() if not c.delete_propagation_policy.keeps_objects)
    waiting = (max(since, silent) for since, silent in leaving if since is not None and silent is not None)
    return min((since + FORCED_LEAVE + _CLOCK_STEP for since in waiting), default=None)


def owners_of(records: Records, inventory: Mapping[str, Inventory], failures: Failures) -> Owners:
    """Who owns anything on the clusters that some binding gives up; a record that cannot be read gives nothing up."""
    given_up = {
        name
        for key, record in records.items()
        for name in failures.contain(Subject.of_placement(key), (), _given_up, record)
    }
    return {name: frozenset(e.placement for e in inventory.get(name, {}).values()) for name in given_up}


def _given_up(record: PlacementRecord) -> Sequence[str]:
    return [binding.cluster for binding in record.bindings if binding.deleting is not None]


def retire_bindings(bindings: tuple[Binding, ...], owners: Owners) -> tuple[Binding, ...]:
    """The bindings without those that are given up and own nothing on their cluster any more; the same tuple when all
    stay. An inventory entry leaves only when the server says NotFound, so a binding on an unreachable cluster waits."""
    if not owners:
        return bindings
    remaining = tuple(
        b for b in bindings if b.deleting is None or b.cluster not in owners or b.placement in owners[b.cluster]
    )
    return bindings if len(remaining) == len(bindings) else remaining


def without_left(
    clusters: Mapping[str, MemberCluster], records: Records, inventory: Mapping[str, Inventory], failures: Failures
) -> dict[str, MemberCluster]:
    """The clusters without those that were leaving and on which no binding and no owned object is left. All stay
    while a record cannot be read, as its bindings may be anywhere."""
    leaving = {name for name, cluster in clusters.items() if cluster.deleting is not None and not inventory.get(name)}
    for key, record in records.items() if leaving else ():
        leaving.difference_update(failures.contain(Subject.of_placement(key), leaving, _clusters_of, record))
    return {name: cluster for name, cluster in clusters.items() if name not in leaving}


def _clusters_of(record: PlacementRecord) -> set[str]:
    return {binding.cluster for binding in record.bindings}
