"""Rollouts whose workloads are probably not those that they name: what is meant stays as it is until a person says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gitfleet.api.objects import Identity, ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.api.placing_policy import PlacingPolicy
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_records import ClusterRolloutStatus, RolloutRecord
from gitfleet.formats.near_names import nearest
from gitfleet.model.held_fields import HeldFields
from gitfleet.model.observations import ClusterObservation
from gitfleet.model.state import Inventory, PlacementRecord
from gitfleet.workload.finding import (
    Found,
    Movable,
    NotFoundHere,
    Slip,
    Wanted,
    find,
    movable_from,
    placement_of,
    workloads_in,
)
from gitfleet.workload.handlers import Handlers
from gitfleet.workload.handlers.reading import ready_there


def held_for_unnamed(
    rollouts: Mapping[NamespacedName, RolloutRecord],
    placements: Mapping[PlacementKey, PlacementRecord],
    handlers: Handlers,
    policy: PlacingPolicy,
) -> dict[str, dict[Identity, HeldFields]]:
    """The workloads of placements that rollouts mean whose names are a slip, by their clusters: they would all change
    at once. One that is about no cluster yet means all that its placement has."""
    found: dict[str, dict[Identity, HeldFields]] = {}
    for key, record in rollouts.items():
        if placement_of(record) is None or record.removing:
            continue
        try:
            find(record, placements, handlers, policy)
        except Slip as slip:
            placement = placements[slip.placement]
            held = HeldFields(rollout=key, stays=True, untouched=str(slip))
            movable = movable_from(key.namespace, handlers, policy)
            mine = own_workloads(placement, slip.components, movable) or own_workloads(placement, (), movable)
            clusters = {one.cluster for one in record.clusters if slip.concerns(record, one)}
            if not record.clusters:
                clusters = {one.cluster for one in placement.bindings}
            for name in clusters:
                found.setdefault(name, {}).update(dict.fromkeys(mine, held))
        except NotFoundHere:
            continue  # nothing that is there is meant
    return found


def own_workloads(placement: PlacementRecord, components: Sequence[str], movable: Movable) -> list[Identity]:
    """The workloads of a placement that a slip in a rollout may hold, while the placement stays."""
    if placement.placement.deleting is not None:
        return []
    return list(workloads_in(placement, components, movable))


def left_out(
    found: Found, status: ClusterRolloutStatus, wanted: Wanted, inventory: Inventory, observation: ClusterObservation
) -> tuple[ObjectKey, ...]:
    """The workloads that a rollout was about and names no more, that no placement has any more, and that have ready
    pods, which would go with them. None where nothing goes from sources to a target."""
    if not status.sources and not found.sources:
        return ()
    named = {one.identity for one in (found.target, *found.sources)}
    left = (one for one in (status.target, *status.sources) if one is not None and one.identity not in named)
    return tuple(
        key
        for key in left
        if key in inventory and key.identity not in wanted.manifests
        if (live := observation.live.get(key)) is not None and ready_there(live)
    )


def misnamed(
    found: Found, wanted: Wanted, inventory: Inventory, observation: ClusterObservation, namespace: str
) -> tuple[ObjectKey, str] | None:
    """A workload of nearly the name of one that a rollout of `namespace` names and that is nowhere, and the sentence on
    both: a source that would be deleted with all of its pods, as no placement has it any more, or the target that is
    meant. None where all are known, or none is near."""
    for key in (found.target, *found.sources):
        is_known = key.identity in wanted.manifests or key in inventory or observation.live.get(key) is not None
        if is_known or key.namespace != namespace:
            continue
        is_target = key is found.target
        among = [one.key for one in wanted.manifests.values()] if is_target else list(inventory)
        named = {one.identity for one in (found.target, *found.sources)}
        left = {
            one.name: one
            for one in among
            if (one.group_kind, one.namespace) == (key.group_kind, namespace)
            and one.identity not in named
            and (is_target or one.identity not in wanted.manifests)
        }
        if near := nearest(key.name, left):
            meant = left[near]
            if is_target:
                return meant, f"{key} is nowhere, and {meant} has nearly its name; correct targetRef"
            return (
                meant,
                f"{key} is nowhere, and {meant}, which is to be deleted, has nearly its name; correct sourceRef",
            )
    return None
