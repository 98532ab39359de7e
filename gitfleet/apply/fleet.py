"""The same questions for every cluster of the fleet at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Final, NamedTuple

from gitfleet.api.fleet import IgnoreDifferences
from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.api.strategies import DeletePropagation
from gitfleet.apply.applied import AppliedManifests
from gitfleet.apply.comparisons import Comparisons
from gitfleet.apply.ignored import Ignored
from gitfleet.apply.ledgers import by_identity, record_intended, settle_inventory
from gitfleet.apply.plan import plan_apply
from gitfleet.apply.requests import ApplyRequest, unknown
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.held_fields import HeldByCluster
from gitfleet.model.observations import ClusterObservation
from gitfleet.model.operations import Create, Delete, Keep, KeepCode, Operation, Outcome, Update
from gitfleet.model.state import FleetState, Inventory
from gitfleet.model.successors import Successors
from gitfleet.model.works import Work

_COMPARISONS_PER_OBJECT: Final = 4


Works = Mapping[str, tuple[Work, ...]]


class Wanted(NamedTuple):
    """The works to apply, those of the state before this reconcile, and what of live objects is left alone: by rules
    of the fleet, and by workload rollouts."""

    works: Works
    before: Works = MappingProxyType({})
    ignored: tuple[IgnoreDifferences, ...] = ()
    held: HeldByCluster = MappingProxyType({})

    def left_alone(self, cluster: str) -> Ignored:
        """What is left alone on a cluster."""
        return Ignored(self.ignored, self.held.get(cluster, {}))


NOTHING_WANTED: Final = Wanted({})
Removals = Mapping[str, Mapping[PlacementKey, DeletePropagation]]
"""By cluster: which placements give up what they own there, and how."""


def disturbed_by(operations: Iterable[Operation]) -> dict[PlacementKey, frozenset[str]]:
    """The clusters on which something of a placement is to be written: what is available there may soon not be."""
    found: dict[PlacementKey, set[str]] = {}
    for operation in operations:
        if isinstance(operation, Create | Update):
            found.setdefault(operation.placement, set()).add(operation.cluster)
    return {placement: frozenset(clusters) for placement, clusters in found.items()}


@dataclass(frozen=True, slots=True)
class Planned:
    """The result of one cluster's request, and in the request what was compared for it; whether it is to be planned
    again in any case, as other clusters say what may go from this one."""

    request: ApplyRequest
    operations: tuple[Operation, ...]
    again: bool = False


PlansMemo = Mapping[str, Planned]
"""The plans made last, by cluster."""


def plan_fleet(
    state: FleetState,
    wanted: Wanted,
    observations: Mapping[str, ClusterObservation],
    removing: Removals,
    memo: PlansMemo,
    failures: Failures,
) -> tuple[tuple[Operation, ...], PlansMemo]:
    """The operations of every cluster that answers and has, or is to have, anything of ours; by cluster name.

    Where planning fails nothing is done on the cluster. A result in which an object failed is not kept.
    """
    plans, operations = dict[str, Planned](), list[Operation]()
    going = frozenset(key for key, record in state.placements.items() if record.placement.deleting is not None)
    successors = Successors.of(state)
    given_up = successors.given_up(failures)
    for name, observation in sorted(observations.items()):
        owned, placed = state.inventory.get(name, {}), wanted.works.get(name, ())
        if name not in state.clusters or not observation.reachable or not (owned or placed):
            continue
        known, mine = memo.get(name), Failures()
        request = replace(
            _observed(name, observation, known, wanted.left_alone(name)),
            works=placed,
            removing=removing.get(name, {}),
            inventory=owned,
            leaving=state.clusters[name].deleting is not None,
            may_leave=bool(successors.holding(name)),
            going=going,
            outdated=successors.outdated(placed, owned),
            yielding=successors.yielding(placed, owned, given_up),
            given_up={w.placement: given_up[w.placement] for w in placed if w.placement in given_up},
            held=successors.held_on(name),
            keepers={w.placement: why for w in placed if (why := successors.keeper_of(w.placement))},
            applied=AppliedManifests(wanted.before.get(name, ()), state.placements),
        )
        planned = known if known is not None and not known.again and _same(known.request, request) else None
        planned = planned or mine.contain(Subject("MemberCluster", name), None, _plan, request, mine, successors)
        if planned is not None:
            operations += planned.operations
            if not mine.found:
                plans[name] = planned
        failures.note_all(mine)
    return tuple(operations), plans


def _observed(name: str, observation: ClusterObservation, known: Planned | None, ignored: Ignored) -> ApplyRequest:
    """What follows from the observation alone, and from what was compared on the cluster before."""
    return ApplyRequest(
        cluster=name,
        live=observation.live,
        unreadable=observation.unreadable,
        known_namespaces=observation.namespaces,
        compared=_compared_before(known, observation, ignored),
        ignored=ignored,
    )


def _plan(request: ApplyRequest, failures: Failures, successors: Successors) -> Planned:
    operations = plan_apply(request, failures, successors)
    # What was applied before would keep whole states in memory.
    return Planned(replace(request, applied=unknown), operations, any(map(_is_pruned, operations)))


def _is_pruned(operation: Operation) -> bool:
    kept = isinstance(operation, Keep) and operation.code is KeepCode.KEPT_FOR_SUCCESSOR
    return kept or isinstance(operation, Delete)


def _compared_before(known: Planned | None, observation: ClusterObservation, ignored: Ignored) -> Comparisons:
    """What was compared on this cluster so far; dropped as a whole for other rules, and when it has grown far beyond
    what is there."""
    compared = known.request.compared if known is not None else None
    grown = compared is None or len(compared) >= _COMPARISONS_PER_OBJECT * len(observation.live)
    dry_runs = observation.dry_runs
    fresh = compared is None or grown or compared.ignored.rules != ignored.rules
    return Comparisons(ignored, dry_runs) if compared is None or fresh else compared.copy(ignored, dry_runs)


def merge_observations(
    first: Mapping[str, ClusterObservation], newly_observed: Mapping[str, ClusterObservation]
) -> dict[str, ClusterObservation]:
    """The two observations of one reconcile as one; a cluster that became unreachable in between counts as such."""
    merged = dict(first)
    for name, observation in newly_observed.items():
        known = first.get(name)
        if known is None or not observation.reachable:
            merged[name] = observation
            continue
        merged[name] = replace(
            known,
            live={**known.live, **observation.live},
            unreadable={**known.unreadable, **observation.unreadable},
        )
    return merged


def record_all_intended(
    inventory: Mapping[str, Inventory], operations: tuple[Operation, ...], failures: Failures
) -> tuple[Mapping[str, Inventory], tuple[Operation, ...]]:
    """`record_intended` for every cluster, and the operations that may be performed: what cannot be recorded on a
    cluster is not done there. The same mapping is given back when nothing changes."""
    changed: dict[str, Inventory] = {}
    unrecorded: set[str] = set()
    for name, found in _by_cluster(operations).items():
        had = inventory.get(name, {})
        recorded = failures.contain(Subject("MemberCluster", name), None, record_intended, had, found)
        if recorded is None:
            unrecorded.add(name)
        elif recorded is not had:
            changed[name] = recorded
    kept = tuple(o for o in operations if o.cluster not in unrecorded) if unrecorded else operations
    return _with(inventory, changed), kept


def settle_all(
    inventory: Mapping[str, Inventory],
    operations: Iterable[Operation],
    outcomes: Iterable[Outcome],
    failures: Failures,
    plans: PlansMemo,
    wanted: Wanted = NOTHING_WANTED,
) -> Mapping[str, Inventory]:
    """`settle_inventory` for every cluster; a cluster without entries is left out, one that fails is as recorded."""
    came: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        came.setdefault(outcome.operation.cluster, []).append(outcome)
    planned = _by_cluster(operations)
    changed: dict[str, Inventory] = {}
    for name in {*came, *planned}:
        had, done, found = inventory.get(name, {}), came.get(name, ()), planned.get(name, ())
        subject = Subject("MemberCluster", name)
        compared = plans[name].request.compared if name in plans else Comparisons(wanted.left_alone(name))
        settled = failures.contain(subject, had, settle_inventory, had, done, found, failures, compared)
        if settled is not had:
            changed[name] = settled
    return _with(inventory, changed)


def left_behind(
    before: Mapping[str, Inventory],
    after: Mapping[str, Inventory],
    outcomes: Iterable[Outcome],
    observations: Mapping[str, ClusterObservation],
) -> dict[str, dict[PlacementKey, tuple[ObjectKey, ...]]]:
    """The objects that stay on their clusters although the inventory no longer names them, by cluster and placement.

    On a cluster that was not seen, every object that was once applied counts.
    """
    deleted = {(o.operation.cluster, o.operation.key) for o in outcomes if isinstance(o.operation, Delete) and o.ok}
    found: dict[str, dict[PlacementKey, list[ObjectKey]]] = {}
    for name, had in before.items():
        has = after.get(name, {})
        if has is had:
            continue
        kept = by_identity(has)
        for key, entry in had.items():
            gone = key.identity in kept or (name, key) in deleted
            if not gone and _is_there(entry, observations.get(name)):
                found.setdefault(name, {}).setdefault(entry.placement, []).append(key)
    return {name: {key: tuple(left) for key, left in by.items()} for name, by in found.items()}


def _is_there(entry: InventoryEntry, observation: ClusterObservation | None) -> bool:
    if observation is None or entry.key not in observation.live:
        return entry.uid is not None
    live = observation.live[entry.key]
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


def _same(a: ApplyRequest, b: ApplyRequest) -> bool:
    """Whether the same plan comes of both. Live objects count by the identity of their mapping: to compare each of them
    would cost what planning costs."""
    names = (f.name for f in fields(ApplyRequest) if f.compare and f.name != "live")
    same = a.live is b.live and a.compared.dry_runs == b.compared.dry_runs
    return same and all(getattr(a, name) == getattr(b, name) for name in names)
