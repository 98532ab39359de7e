"""The same questions for every cluster of the fleet at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from functools import cache
from itertools import chain
from types import MappingProxyType
from typing import Final, NamedTuple, TypeVar

from gitfleet.api.fleet import IgnoreDifferences
from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import Identity, JsonObject, Manifest, ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.api.strategies import DeletePropagation
from gitfleet.apply.claims import ApplyRequest, unknown
from gitfleet.apply.comparisons import Comparisons
from gitfleet.apply.ignored import NOTHING_IGNORED, Ignored
from gitfleet.apply.ledgers import by_identity, record_intended, settle_inventory
from gitfleet.apply.plan import plan_apply
from gitfleet.apply.shapes import shape_digest
from gitfleet.formats.json_values import section
from gitfleet.formats.managed_fields import FIELD_MANAGER
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.folder_order import NO_ORDER, FolderOrder
from gitfleet.model.observations import ClusterObservation, LiveObject
from gitfleet.model.operations import Create, Delete, Keep, Operation, Outcome, Update
from gitfleet.model.removals import RemovalGate
from gitfleet.model.rollout_fields import RolloutFieldsByCluster
from gitfleet.model.state import FleetState, Inventory, PlacementRecord
from gitfleet.model.works import Work

_COMPARISONS_PER_OBJECT: Final = 4
_COMPARED: Final = tuple(f.name for f in fields(ApplyRequest) if f.compare and f.name != "live")
_Item = TypeVar("_Item")
_ByDigest = dict[tuple[Identity, str | None], Manifest]

Works = Mapping[str, tuple[Work, ...]]


class Wanted(NamedTuple):
    """The works to apply, those of the state before this reconcile, and what of live objects is left alone: by rules
    of the fleet, and by workload rollouts; `order` is which folders wait for which; with `foresees` nothing waits for
    steps."""

    works: Works
    before: Works = MappingProxyType({})
    ignored: tuple[IgnoreDifferences, ...] = ()
    by_rollouts: RolloutFieldsByCluster = MappingProxyType({})
    order: FolderOrder = NO_ORDER
    now: datetime | None = None
    foresees: bool = False

    def left_alone(self, cluster: str) -> Ignored:
        """What is left alone on a cluster."""
        return Ignored(self.ignored, self.by_rollouts.get(cluster, {}))


NOTHING_WANTED: Final = Wanted({})
Removals = Mapping[str, Mapping[PlacementKey, DeletePropagation]]
"""By cluster: which placements give up what they own there, and how."""


class Going(NamedTuple):
    """What placements give up, and the gate of all deletions."""

    removing: Removals
    gate: RemovalGate


def disturbed_by(operations: Iterable[Operation]) -> dict[PlacementKey, frozenset[str]]:
    """The clusters on which something of a placement is to be written: what is available there may soon not be."""
    disturbed: dict[PlacementKey, frozenset[str]] = {}
    for operation in operations:
        if isinstance(operation, Create | Update):
            placement = operation.placement
            disturbed[placement] = disturbed.get(placement, frozenset()) | {operation.cluster}
    return disturbed


@dataclass(frozen=True, slots=True)
class Planned:
    """The result of one cluster's request, and in the request what was compared for it; `late` is when time alone may
    change it."""

    request: ApplyRequest
    operations: tuple[Operation, ...]
    late: datetime | None = None

    def lasts(self, now: datetime | None) -> bool:
        """Whether time alone changes nothing of the result."""
        return now is None or self.late is None or now < self.late


def next_late(operations: Iterable[Operation]) -> datetime | None:
    """When the time of the next step is over; None where no step runs."""
    return min((o.until for o in operations if isinstance(o, Keep) and o.until is not None), default=None)


PlansMemo = Mapping[str, Planned]
"""The plans made last, by cluster."""


def plan_fleet(
    state: FleetState,
    to_apply: Wanted,
    observations: Mapping[str, ClusterObservation],
    going: Going,
    memo: PlansMemo,
    failures: Failures,
) -> tuple[tuple[Operation, ...], PlansMemo]:
    """The operations of every cluster that answers and has, or is to have, anything of ours; by cluster name. Nothing
    is deleted that the gate does not let go.

    Where planning fails nothing is done on the cluster. A result in which an object failed is not kept.
    """
    plans, operations = dict[str, Planned](), list[Operation]()
    for name, observation in sorted(observations.items()):
        owned, works = state.inventory.get(name, {}), to_apply.works.get(name, ())
        if name not in state.clusters or not observation.reachable or not (owned or works):
            continue
        previous, cluster_failures = memo.get(name), Failures()
        request = _request(name, state, to_apply, observation, going, previous)
        planned = previous
        if previous is None or not (previous.lasts(request.now) and _same(previous.request, request)):
            subject = Subject("MemberCluster", name)
            planned = cluster_failures.contain(subject, None, _plan, request, cluster_failures)
        if planned is not None:
            operations += planned.operations
            if not cluster_failures.found:
                plans[name] = planned
        failures.note_all(cluster_failures)
    return tuple(operations), plans


def _request(
    name: str,
    state: FleetState,
    to_apply: Wanted,
    observation: ClusterObservation,
    going: Going,
    previous: Planned | None,
) -> ApplyRequest:
    return ApplyRequest(
        cluster=name,
        works=to_apply.works.get(name, ()),
        removing=going.removing.get(name, {}),
        inventory=state.inventory.get(name, {}),
        live=observation.live,
        unreadable=observation.unreadable,
        known_namespaces=observation.namespaces,
        leaving=state.clusters[name].deleting is not None,
        wants=state.wanted.on(name),
        later=state.wanted.later_on(name),
        gate=going.gate.on(name),
        order=to_apply.order,
        now=to_apply.now,
        foresees=to_apply.foresees,
        compared=_compared_before(previous, observation, to_apply.left_alone(name)),
        applied=applied_manifests(to_apply.before.get(name, ()), state.placements),
    )


def _plan(request: ApplyRequest, failures: Failures) -> Planned:
    # What was applied before would keep whole states in memory.
    operations = plan_apply(request, failures)
    return Planned(replace(request, applied=unknown), operations, next_late(operations))


def _compared_before(previous: Planned | None, observation: ClusterObservation, ignored: Ignored) -> Comparisons:
    """What was compared on this cluster so far; dropped as a whole for other rules, and when it has grown far beyond
    what is there."""
    if previous is not None:
        compared = previous.request.compared
        is_small = len(compared) < _COMPARISONS_PER_OBJECT * len(observation.live)
        if is_small and compared.ignored.rules == ignored.rules:
            return compared.copy(ignored, observation.dry_runs)
    return Comparisons(ignored, observation.dry_runs)


def merge_observations(
    first: Mapping[str, ClusterObservation], newly_observed: Mapping[str, ClusterObservation]
) -> dict[str, ClusterObservation]:
    """The two observations of one reconcile as one; a cluster that became unreachable in between counts as such."""
    merged = dict(first)
    for name, observation in newly_observed.items():
        merged[name] = observation
        if observation.reachable:
            previous = first.get(name, observation)
            live = {**previous.live, **observation.live}
            merged[name] = replace(previous, live=live, unreadable={**previous.unreadable, **observation.unreadable})
    return merged


def record_all_intended(
    inventory: Mapping[str, Inventory], operations: tuple[Operation, ...], failures: Failures
) -> tuple[Mapping[str, Inventory], tuple[Operation, ...]]:
    """`record_intended` for every cluster, and the operations that may be performed: what cannot be recorded on a
    cluster is not done there. The same mapping is given back when nothing changes."""
    changed: dict[str, Inventory] = {}
    unrecorded: set[str] = set()
    for name, planned in _grouped(operations, lambda operation: operation.cluster).items():
        had = inventory.get(name, {})
        recorded = failures.contain(Subject("MemberCluster", name), None, record_intended, had, planned)
        if recorded is None:
            unrecorded.add(name)
        elif recorded is not had:
            changed[name] = recorded
    return _with(inventory, changed), tuple(o for o in operations if o.cluster not in unrecorded)


def settle_all(
    inventory: Mapping[str, Inventory],
    operations: Iterable[Operation],
    outcomes: Iterable[Outcome],
    failures: Failures,
    plans: PlansMemo,
    to_apply: Wanted = NOTHING_WANTED,
) -> Mapping[str, Inventory]:
    """`settle_inventory` for every cluster; a cluster without entries is left out, one that fails is as recorded."""
    came = _grouped(outcomes, lambda outcome: outcome.operation.cluster)
    planned = _grouped(operations, lambda operation: operation.cluster)
    changed: dict[str, Inventory] = {}
    for name in {*came, *planned}:
        had, done, settling = inventory.get(name, {}), came.get(name, ()), planned.get(name, ())
        subject = Subject("MemberCluster", name)
        compared = plans[name].request.compared if name in plans else Comparisons(to_apply.left_alone(name))
        settled = failures.contain(subject, had, settle_inventory, had, done, settling, failures, compared)
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
    retained: dict[str, dict[PlacementKey, list[ObjectKey]]] = {}
    for name, had in before.items():
        has = after.get(name, {})
        if has is had:
            continue
        owned = by_identity(has)
        for key, entry in had.items():
            is_accounted = key.identity in owned or (name, key) in deleted
            if not is_accounted and _is_there(entry, observations.get(name)):
                retained.setdefault(name, {}).setdefault(entry.placement, []).append(key)
    return {name: {key: tuple(keys) for key, keys in by_placement.items()} for name, by_placement in retained.items()}


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


def _grouped(items: Iterable[_Item], cluster_of: Callable[[_Item], str]) -> dict[str, list[_Item]]:
    by_cluster: dict[str, list[_Item]] = {}
    for item in items:
        by_cluster.setdefault(cluster_of(item), []).append(item)
    return by_cluster


def _same(a: ApplyRequest, b: ApplyRequest) -> bool:
    """Whether the same plan comes of both. Live objects count by the identity of their mapping: to compare each of them
    would cost what planning costs."""
    if a.live is not b.live or (a.compared.ignored, a.compared.dry_runs) != (b.compared.ignored, b.compared.dry_runs):
        return False
    pairs = ((getattr(a, name), getattr(b, name)) for name in _COMPARED)
    return all(old is new or old == new for old, new in pairs)  # most are one mapping, which `==` would go through


def applied_manifests(
    works: Sequence[Work], records: Mapping[PlacementKey, PlacementRecord]
) -> Callable[[InventoryEntry], Manifest | None]:
    """Finds the manifest of the digest that an entry has, in one cluster's works before a change, then in the snapshots
    that are loaded: a cluster that was not reached for a while has an older one."""

    @cache
    def rendered() -> _ByDigest:
        return _by_digest(work.manifests for work in works)

    @cache
    def recorded(placement: PlacementKey) -> _ByDigest:
        record = records.get(placement)
        snapshots = record.resource_snapshots if record is not None else ()
        return _by_digest(snapshot.manifests or () for snapshot in snapshots)

    def applied(entry: InventoryEntry) -> Manifest | None:
        key = entry.key.identity, entry.applied_digest
        return rendered().get(key) or recorded(entry.placement).get(key)

    return applied


def _by_digest(sources: Iterable[Iterable[Manifest]]) -> _ByDigest:
    return {(manifest.key.identity, manifest.digest): manifest for manifest in chain.from_iterable(sources)}


def as_recorded(
    cluster: str, inventory: Inventory, works: Iterable[Work], ignored: Ignored = NOTHING_IGNORED
) -> tuple[ClusterObservation, dict[ObjectKey, InventoryEntry]]:
    """The cluster as if it answered and had what `inventory` says was applied, and the inventory to compare it with.

    An object that was never applied is not there. One that was is as its manifest in `works` says, where that is the
    manifest that was applied; otherwise nothing but its name is known.
    """
    applied = _by_digest(work.manifests for work in works)
    live: dict[ObjectKey, LiveObject | None] = {}
    entries: dict[ObjectKey, InventoryEntry] = {}
    for key, entry in inventory.items():
        if entry.uid is None:
            live[key], entries[key] = None, entry
            continue
        manifest = applied.get((key.identity, entry.applied_digest))
        observed = LiveObject(key, _with_uid(manifest.body if manifest is not None else {}, key, entry.uid))
        live[key] = observed
        if manifest is not None:
            body, _ = ignored.compared(key, manifest.body, observed.body)
            entry = replace(entry, shape_digest=shape_digest(body, observed.body))
        entries[key] = entry
    return ClusterObservation(cluster=cluster, reachable=True, live=live), entries


def _with_uid(body: JsonObject, key: ObjectKey, uid: str) -> JsonObject:
    applied = {"manager": FIELD_MANAGER, "operation": "Apply"}
    metadata = {**section(body, "metadata"), "name": key.name, "uid": uid, "managedFields": [applied]}
    if key.namespace:
        metadata["namespace"] = key.namespace
    return {"apiVersion": key.api_version, "kind": key.kind, **body, "metadata": metadata}
