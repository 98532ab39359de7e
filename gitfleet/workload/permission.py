"""Which workloads a rollout may move: the fleet's policy holds for them as for what is placed (decision D37), and a
rollout acts on its own namespace only (decision D39)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from gitfleet.api.objects import ObjectKey
from gitfleet.api.placing_policy import PlacingPolicy
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_records import RolloutRecord
from gitfleet.model.held_fields import HeldFields
from gitfleet.workload.finding import placement_of
from gitfleet.workload.movement import Movement
from gitfleet.workload.texts import WorkloadText


def denial(policy: PlacingPolicy, record: RolloutRecord, keys: Iterable[ObjectKey]) -> str:
    """Why a rollout may not move workloads, "" where it may."""
    placement = placement_of(record)
    for key in keys:
        note = policy.denial(key, str(placement) if placement is not None else None)
        if note is not None:
            return f"{key}: its {note[0][-1]} {note[1]}"
        if not policy.reaches(record.key.namespace, key.namespace):
            return WorkloadText.ANOTHER_NAMESPACE(key=key, namespace=key.namespace)
    return ""


def permitted(moving: Movement, rollouts: Mapping[NamespacedName, RolloutRecord], policy: PlacingPolicy) -> Movement:
    """What rollouts hold and do, without the steps of those that may not move what they name: nothing is written to
    their workloads."""
    denied: dict[tuple[NamespacedName, str], str] = {}
    for key, record in rollouts.items():
        for status in record.clusters:
            keys = [one for one in (status.target, *status.sources, *status.named) if one is not None]
            if why := denial(policy, record, keys):
                denied[key, status.cluster] = why
    if not denied:
        return moving
    held = {
        cluster: {identity: _judged(one, denied.get((one.rollout, cluster), "")) for identity, one in objects.items()}
        for cluster, objects in moving.held.items()
    }
    return Movement(held=held, steps=tuple(one for one in moving.steps if (one.rollout, one.cluster) not in denied))


def _judged(held: HeldFields, denied: str) -> HeldFields:
    return replace(held, fields={}, stays=True, untouched=denied) if denied else held
