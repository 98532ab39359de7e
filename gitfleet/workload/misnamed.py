"""Rollouts whose workloads are probably not those that they name: what is meant stays as it is until a person says."""

from __future__ import annotations

from collections.abc import Mapping

from gitfleet.api.objects import Identity, ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_records import RolloutRecord
from gitfleet.formats.near_names import nearest
from gitfleet.model.held_fields import HeldFields
from gitfleet.model.observations import ClusterObservation
from gitfleet.model.state import Inventory, PlacementRecord
from gitfleet.workload.finding import Found, NotFoundHere, NotOneWorkload, Wanted, find, placement_of, workloads_in
from gitfleet.workload.handlers import Handlers


def held_for_unnamed(
    rollouts: Mapping[NamespacedName, RolloutRecord],
    placements: Mapping[PlacementKey, PlacementRecord],
    handlers: Handlers,
) -> dict[Identity, HeldFields]:
    """The workloads of placements of which a rollout does not say which one it moves: they would all change at once."""
    found: dict[Identity, HeldFields] = {}
    for key, record in rollouts.items():
        of = placement_of(record)
        placement = placements.get(of) if of is not None else None
        if placement is None or record.removing or any(status.target for status in record.clusters):
            continue
        try:
            find(record, placements, handlers)
        except NotOneWorkload as unclear:
            held = HeldFields(rollout=key, stays=True, untouched=str(unclear))
            found.update(dict.fromkeys(workloads_in(placement, (), handlers), held))
        except NotFoundHere:
            continue  # its snapshot is not there, and no workload of now is meant
    return found


def misnamed_source(
    found: Found, wanted: Wanted, inventory: Inventory, observation: ClusterObservation
) -> tuple[ObjectKey, ObjectKey] | None:
    """A source that is nowhere, and a workload of nearly its name that no placement has any more: it would be deleted
    with all of its pods. None where all sources are known, or none is near."""
    missing = [one for one in found.sources if one.identity not in wanted.manifests and one not in inventory]
    missing = [one for one in missing if observation.live.get(one) is None]
    named = {key.identity for key in (found.target, *found.sources)}
    for source in missing:
        left = {
            key.name: key
            for key in inventory
            if (key.group_kind, key.namespace) == (source.group_kind, source.namespace)
            and key.identity not in wanted.manifests
            and key.identity not in named
        }
        if near := nearest(source.name, left):
            return source, left[near]
    return None
