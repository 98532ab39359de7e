"""The same questions for every cluster of the fleet at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.placements import DeletePropagation, PlacementKey
from gitfleet.apply.ledgers import by_identity, record_intended, settle_inventory
from gitfleet.apply.plan import plan_apply
from gitfleet.apply.requests import ApplyRequest, ShapeCache
from gitfleet.model.observations import ClusterObservation
from gitfleet.model.operations import Create, Delete, Operation, Outcome, Update
from gitfleet.model.state import FleetState, Inventory
from gitfleet.model.works import Work

_MOST_SHAPES = 500_000
_Question = tuple[tuple[Work, ...], Mapping[PlacementKey, DeletePropagation], Inventory, ClusterObservation]

Removals = Mapping[str, Mapping[PlacementKey, DeletePropagation]]
"""By cluster: which placements give up what they own there, and how."""


def disturbed_by(operations: Iterable[Operation]) -> dict[PlacementKey, frozenset[str]]:
    """The clusters on which something of a placement is to be written: what is available there may soon not be."""
    found: dict[PlacementKey, set[str]] = {}
    for operation in operations:
        if isinstance(operation, Create | Update):
            found.setdefault(operation.placement, set()).add(operation.cluster)
    return {placement: frozenset(clusters) for placement, clusters in found.items()}


class Planner:
    """plan_apply for one cluster after another; the same question is answered once, and shapes are digested once."""

    def __init__(self) -> None:
        self._shapes: ShapeCache = {}
        self._answered: dict[str, tuple[_Question, tuple[Operation, ...]]] = {}

    def plan_fleet(
        self,
        state: FleetState,
        works: Mapping[str, tuple[Work, ...]],
        observations: Mapping[str, ClusterObservation],
        removing: Removals,
    ) -> tuple[Operation, ...]:
        """The operations of every cluster that answers and has, or is to have, anything of ours; by cluster name."""
        operations: list[Operation] = []
        for name, answer in sorted(observations.items()):
            owned = state.inventory.get(name, {})
            if name in state.clusters and answer.reachable and (owned or works.get(name)):
                operations += self.plan(name, works.get(name, ()), removing.get(name, {}), owned, answer)
        return tuple(operations)

    def plan(
        self,
        cluster: str,
        works: tuple[Work, ...],
        removing: Mapping[PlacementKey, DeletePropagation],
        inventory: Inventory,
        answer: ClusterObservation,
    ) -> tuple[Operation, ...]:
        """The operations of one cluster; see `plan_apply`."""
        known = self._answered.get(cluster)
        if known is not None and _same(known[0], (works, removing, inventory, answer)):
            return known[1]
        if len(self._shapes) > _MOST_SHAPES:
            self._shapes.clear()
        operations = plan_apply(
            ApplyRequest(
                cluster=cluster,
                works=works,
                removing=removing,
                inventory=inventory,
                live=answer.live,
                unreadable=answer.unreadable,
                known_namespaces=answer.namespaces,
                shapes=self._shapes,
            )
        )
        self._answered[cluster] = ((works, removing, inventory, answer), operations)
        return operations


def merge_observations(
    first: Mapping[str, ClusterObservation], closer: Mapping[str, ClusterObservation]
) -> dict[str, ClusterObservation]:
    """What was seen in two looks of one reconcile; a cluster that fell silent in between counts as silent."""
    merged = dict(first)
    for name, answer in closer.items():
        known = first.get(name)
        if known is None or not answer.reachable:
            merged[name] = answer
            continue
        merged[name] = replace(
            known,
            live={**known.live, **answer.live},
            unreadable={**known.unreadable, **answer.unreadable},
        )
    return merged


def record_all_intended(inventory: Mapping[str, Inventory], operations: Iterable[Operation]) -> Mapping[str, Inventory]:
    """`record_intended` for every cluster; the same mapping is given back when nothing changes."""
    changed = {
        name: recorded
        for name, found in _by_cluster(operations).items()
        if (recorded := record_intended(inventory.get(name, {}), found)) is not inventory.get(name)
        and (recorded or name in inventory)
    }
    return _with(inventory, changed)


def settle_all(
    inventory: Mapping[str, Inventory], operations: Iterable[Operation], outcomes: Iterable[Outcome]
) -> Mapping[str, Inventory]:
    """`settle_inventory` for every cluster; a cluster without entries is left out."""
    came: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        came.setdefault(outcome.operation.cluster, []).append(outcome)
    planned = _by_cluster(operations)
    changed = {
        name: settled
        for name in {*came, *planned}
        if (settled := settle_inventory(inventory.get(name, {}), came.get(name, ()), planned.get(name, ())))
        is not inventory.get(name)
        and (settled or name in inventory)
    }
    return _with(inventory, changed)


def left_behind(
    before: Mapping[str, Inventory],
    after: Mapping[str, Inventory],
    outcomes: Iterable[Outcome],
    observations: Mapping[str, ClusterObservation],
) -> dict[str, dict[PlacementKey, int]]:
    """How many objects stay on their clusters although the inventory no longer names them, by cluster and placement.

    On a cluster that was not seen, every object that was once applied counts.
    """
    deleted = {(o.operation.cluster, o.operation.key) for o in outcomes if isinstance(o.operation, Delete) and o.ok}
    found: dict[str, dict[PlacementKey, int]] = {}
    for name, had in before.items():
        has = after.get(name, {})
        if has is had:
            continue
        kept = by_identity(has)
        for key, entry in had.items():
            gone = key.identity in kept or (name, key) in deleted
            if not gone and _is_there(entry, observations.get(name)):
                counts = found.setdefault(name, {})
                counts[entry.placement] = counts.get(entry.placement, 0) + 1
    return found


def _is_there(entry: InventoryEntry, answer: ClusterObservation | None) -> bool:
    if answer is None or entry.key not in answer.live:
        return entry.uid is not None
    live = answer.live[entry.key]
    return live is not None and entry.uid in (None, live.uid)


def _with(inventory: Mapping[str, Inventory], changed: Mapping[str, Inventory]) -> Mapping[str, Inventory]:
    if not changed:
        return inventory
    merged = {**inventory, **changed}
    return {name: merged[name] for name in sorted(merged) if merged[name]}


def _by_cluster(operations: Iterable[Operation]) -> dict[str, list[Operation]]:
    found: dict[str, list[Operation]] = {}
    for operation in operations:
        found.setdefault(operation.cluster, []).append(operation)
    return found


def _same(a: _Question, b: _Question) -> bool:
    return _same_observation(a[3], b[3]) and a[0] == b[0] and a[1] == b[1] and (a[2] is b[2] or a[2] == b[2])


def _same_observation(a: ClusterObservation, b: ClusterObservation) -> bool:
    """Whether a plan reads the same in both; objects are compared as a whole, by the identity of their mapping."""
    return a is b or (a.live is b.live and a.unreadable == b.unreadable and a.namespaces == b.namespaces)
