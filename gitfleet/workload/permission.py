"""Which workloads a rollout may move: the fleet's policy holds for them as for what is placed (decision D37), and what
is nobody's by this repo belongs to its own namespace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from gitfleet.api.objects import ObjectKey
from gitfleet.api.placing_policy import PlacingPolicy
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_records import RolloutRecord
from gitfleet.model.held_fields import HeldFields
from gitfleet.model.observations import ClusterObservation
from gitfleet.model.state import Inventory
from gitfleet.model.works import Work
from gitfleet.workload.cases import is_placed
from gitfleet.workload.finding import NotFoundHere, live_of, placement_of
from gitfleet.workload.movement import Movement
from gitfleet.workload.texts import WorkloadText


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """What a rollout's workloads are judged by: the policy, and what gitfleet places, or has applied, by cluster."""

    policy: PlacingPolicy
    works: Mapping[str, tuple[Work, ...]]
    inventory: Mapping[str, Inventory]
    observations: Mapping[str, ClusterObservation]

    def denial(self, record: RolloutRecord, cluster: str, keys: Iterable[ObjectKey]) -> str:
        """Why a rollout may not move workloads on a cluster, "" where it may."""
        placement = placement_of(record)
        for key in keys:
            note = self.policy.denial(key, str(placement) if placement is not None else None)
            if note is not None:
                return f"{key}: its {note[0][-1]} {note[1]}"
            if key.namespace != record.key.namespace and self._is_others(cluster, key):
                return WorkloadText.ANOTHER_NAMESPACE_GITFLEET_NOT_PLACE(key=key, namespace=key.namespace)
        return ""

    def _is_others(self, cluster: str, key: ObjectKey) -> bool:
        """Whether a workload is on a cluster that no placement has and that gitfleet never applied."""
        manifests = (one for work in self.works.get(cluster, ()) for one in work.manifests)
        if key in self.inventory.get(cluster, {}) or any(one.key.identity == key.identity for one in manifests):
            return False
        observation = self.observations.get(cluster)
        try:
            live = live_of(observation, key) if observation is not None else None
        except NotFoundHere:
            return False  # nothing is done with what was not read
        return live is not None and not is_placed(live)


def permitted(moving: Movement, rollouts: Mapping[NamespacedName, RolloutRecord], permission: Permission) -> Movement:
    """What rollouts hold and do, without the steps of those that may not move what they name: nothing is written to
    their workloads."""
    denied: dict[tuple[NamespacedName, str], str] = {}
    for key, record in rollouts.items():
        for status in record.clusters:
            keys = [one for one in (status.target, *status.sources, *status.named) if one is not None]
            if why := permission.denial(record, status.cluster, keys):
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
