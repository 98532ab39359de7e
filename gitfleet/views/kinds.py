"""What `get` and `describe` show of the state branch: KubeFleet's printer columns, whole objects, and kubectl's
description.

Kinds go by kubectl's names, long, short or plural: placements (crp, rp), clusters (mc), bindings (crb, rb), snapshots
(crs, rs), policies (csps, sps), overrides (cro, ro).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, TypeAlias

from gitfleet.api.bindings import Binding, is_active, is_available
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.conditions import Conditions, find_condition
from gitfleet.api.objects import JsonObject
from gitfleet.api.snapshots import OverrideSnapshot, PolicySnapshot, ResourceSnapshot
from gitfleet.errors import BadInput
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.state.shapes.bindings import binding_object
from gitfleet.state.shapes.clusters import cluster_object
from gitfleet.state.shapes.overrides import override_object
from gitfleet.state.shapes.placements import placement_object
from gitfleet.state.shapes.snapshots import policy_snapshot_object, resource_snapshot_object
from gitfleet.status.cluster_states import cluster_state, health_condition, joined_condition
from gitfleet.status.vocabulary import type_of
from gitfleet.views.description import describe_lines
from gitfleet.views.placement_status import status_object

NONE: Final = "<none>"
UNKNOWN: Final = "<unknown>"
NODE_COUNT: Final = "kubernetes-fleet.io/node-count"


@dataclass(frozen=True, slots=True)
class Table:
    """Column titles and rows of texts, as kubectl prints them."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class _Placed:
    """A part of a placement together with it."""

    record: PlacementRecord
    part: Any


_Entry: TypeAlias = tuple[str, str, Any]
"""namespace, name, and what it is."""
_Column: TypeAlias = tuple[str, bool, Callable[[Any, datetime], str]]
"""Title, whether only `-o wide` shows it, and the cell."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """How one kind is listed, shown in a table, and made an object."""

    entries: Callable[[FleetState], Iterator[_Entry]]
    columns: tuple[_Column, ...]
    to_object: Callable[[Any], JsonObject]


def table_of(kind: str, state: FleetState, name: str | None = None, *, now: datetime, wide: bool = False) -> Table:
    """The objects of a kind, or the one of a name (`name` or `namespace/name`), as rows. BadInput for an unknown
    kind.

    A NAMESPACE column is there only when an object has a namespace. AGE counts from the first thing that is dated.
    """
    wanted = _kind(kind)
    found = list(_entries(wanted, state, name))
    namespaced = any(namespace for namespace, _, _ in found)
    columns = [column for column in wanted.columns if wide or not column[1]]
    rows = []
    for namespace, own_name, entry in found:
        first = (namespace, own_name) if namespaced else (own_name,)
        rows.append((*first, *(cell(entry, now) for _, _, cell in columns)))
    head = ("NAMESPACE", "NAME") if namespaced else ("NAME",)
    return Table((*head, *(title for title, _, _ in columns)), tuple(rows))


def objects_of(kind: str, state: FleetState, name: str | None = None) -> list[JsonObject]:
    """The objects of a kind, or the one of a name, as the state branch's files show them. BadInput for an unknown
    kind."""
    wanted = _kind(kind)
    return [wanted.to_object(entry) for _, _, entry in _entries(wanted, state, name)]


def kinds() -> tuple[str, ...]:
    """The kinds that can be asked for, by their plain names."""
    return tuple(_KINDS)


def _kind(word: str) -> _Kind:
    plain = _ALIASES.get(word.lower(), word.lower())
    if plain not in _KINDS:
        raise BadInput(f'there is no kind "{word}" on the state branch', hint=f"ask for one of: {', '.join(_KINDS)}")
    return _KINDS[plain]


def _entries(kind: _Kind, state: FleetState, name: str | None) -> Iterator[_Entry]:
    for entry in kind.entries(state):
        if name is None or name in (entry[1], f"{entry[0]}/{entry[1]}"):
            yield entry


def age(since: datetime | None, now: datetime) -> str:
    """A duration as kubectl prints it (apimachinery duration.HumanDuration): 44s, 2m2s, 3h5m, 4d2h, 2y10d."""
    if since is None:
        return UNKNOWN
    seconds = max(0, int((now - since) / timedelta(seconds=1)))
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if seconds < 120:
        return f"{seconds}s"
    if minutes < 10:
        return f"{minutes}m{seconds % 60}s" if seconds % 60 else f"{minutes}m"
    if hours < 3:
        return f"{minutes}m"
    if hours < 8:
        return f"{hours}h{minutes % 60}m" if minutes % 60 else f"{hours}h"
    if hours < 48:
        return f"{hours}h"
    if days < 8:
        return f"{days}d{hours % 24}h" if hours % 24 else f"{days}d"
    if days < 730:
        return f"{days}d"
    years, rest = divmod(days, 365)
    return f"{years}y{rest}d" if years < 8 and rest else f"{years}y"


def _first_time(conditions: Conditions) -> datetime | None:
    return min((condition.last_transition_time for condition in conditions), default=None)


def _status_of(conditions: Conditions, type_: str) -> str:
    found = find_condition(conditions, type_)
    return found.status.value if found else ""


def _placements(state: FleetState) -> Iterator[_Entry]:
    for key, record in sorted(state.placements.items()):
        yield key.namespace, key.name, record


def _placement_status(record: PlacementRecord, type_: str) -> str:
    return _status_of(record.conditions, type_of(record.placement.key, type_))


def _placement_generation(record: PlacementRecord, type_: str) -> str:
    found = find_condition(record.conditions, type_of(record.placement.key, type_))
    return str(found.observed_generation) if found else ""


def _placement_age(record: PlacementRecord, now: datetime) -> str:
    dated = [*(s.created for s in record.resource_snapshots), _first_time(record.conditions)]
    return age(min((moment for moment in dated if moment is not None), default=None), now)


def _available_of_all(record: PlacementRecord) -> str:
    """How many of the picked clusters are available, as in `2/3`."""
    picked = [binding for binding in record.bindings if is_active(binding)]
    return f"{sum(map(is_available, picked))}/{len(picked)}"


def _newest_snapshot(record: PlacementRecord) -> str:
    return str(record.latest_resources.index) if record.latest_resources else NONE


def _placement_object(record: PlacementRecord) -> JsonObject:
    return placement_object(record, status_object(record))


def _clusters(state: FleetState) -> Iterator[_Entry]:
    for name, cluster in sorted(state.clusters.items()):
        yield "", name, cluster


def _joined(cluster: MemberCluster) -> str:
    found = joined_condition(cluster)
    return found.status.value if found else ""


def _cluster_age(cluster: MemberCluster, now: datetime) -> str:
    joined = joined_condition(cluster)
    return age(joined.last_transition_time if joined else _first_time(cluster.status.conditions), now)


def _last_seen(cluster: MemberCluster, now: datetime) -> str:
    agent = cluster.status.agent
    return age(agent.last_received_heartbeat if agent else None, now)


def _why_unhealthy(cluster: MemberCluster, _now: datetime) -> str:
    health = health_condition(cluster)
    return health.message if health is not None and cluster_state(cluster) != "healthy" else ""


def _property(cluster: MemberCluster, name: str) -> str:
    found = cluster.status.properties.get(name)
    return found.value if found else ""


def _of_placements(parts: Callable[[PlacementRecord], Iterable[Any]]) -> Callable[[FleetState], Iterator[_Entry]]:
    def entries(state: FleetState) -> Iterator[_Entry]:
        for key, record in sorted(state.placements.items()):
            for part in parts(record):
                yield key.namespace, part.name, _Placed(record, part)

    return entries


def _condition_cell(type_: str) -> Callable[[_Placed, datetime], str]:
    def cell(placed: _Placed, _now: datetime) -> str:
        binding: Binding = placed.part
        found = find_condition(binding.conditions, type_, generation=binding.generation)
        return found.status.value if found else ""

    return cell


def _latest_snapshot(placed: _Placed) -> bool:
    return placed.part is placed.record.latest_resources


def _snapshot_object(placed: _Placed) -> JsonObject:
    snapshot: ResourceSnapshot = placed.part
    return resource_snapshot_object(snapshot, latest=_latest_snapshot(placed))


def _policy_object(placed: _Placed) -> JsonObject:
    snapshot: PolicySnapshot = placed.part
    return policy_snapshot_object(
        snapshot,
        latest=snapshot is placed.record.latest_policy,
        scheduled=placed.record.scheduled,
        decisions=placed.record.decisions,
    )


def _overrides(state: FleetState) -> Iterator[_Entry]:
    for key, every in sorted(state.overrides.items()):
        for snapshot in every:
            yield key.namespace, snapshot.name, (snapshot, snapshot is every[-1])


def _override_targets(entry: tuple[OverrideSnapshot, bool]) -> str:
    return ",".join(f"{item.kind}/{item.name}" for item in entry[0].override.resources) or NONE


_KINDS: Final[dict[str, _Kind]] = {
    "placements": _Kind(
        _placements,
        (
            ("GEN", False, lambda record, _: str(record.placement.generation)),
            ("TYPE", True, lambda record, _: record.placement.effective_policy.placement_type.value),
            ("SCHEDULED", False, lambda record, _: _placement_status(record, "Scheduled")),
            ("SCHEDULED-GEN", True, lambda record, _: _placement_generation(record, "Scheduled")),
            ("WORK-SYNCHRONIZED", True, lambda record, _: _placement_status(record, "WorkSynchronized")),
            ("WORK-SYNCHRONIZED-GEN", True, lambda record, _: _placement_generation(record, "WorkSynchronized")),
            ("AVAILABLE", False, lambda record, _: _placement_status(record, "Available")),
            ("AVAILABLE-GEN", True, lambda record, _: _placement_generation(record, "Available")),
            ("CLUSTERS", False, lambda record, _: _available_of_all(record)),
            ("SNAPSHOT", False, lambda record, _: _newest_snapshot(record)),
            ("AGE", False, _placement_age),
        ),
        _placement_object,
    ),
    "clusters": _Kind(
        _clusters,
        (
            ("JOINED", False, lambda cluster, _: _joined(cluster)),
            ("STATE", False, lambda cluster, _: cluster_state(cluster)),
            ("AGE", False, _cluster_age),
            ("MEMBER-AGENT-LAST-SEEN", True, _last_seen),
            ("NODE-COUNT", False, lambda cluster, _: _property(cluster, NODE_COUNT)),
            ("AVAILABLE-CPU", False, lambda cluster, _: cluster.status.resource_usage.available.get("cpu", "")),
            ("AVAILABLE-MEMORY", True, lambda cluster, _: cluster.status.resource_usage.available.get("memory", "")),
            ("ALLOCATABLE-CPU", True, lambda cluster, _: cluster.status.resource_usage.allocatable.get("cpu", "")),
            (
                "ALLOCATABLE-MEMORY",
                True,
                lambda cluster, _: cluster.status.resource_usage.allocatable.get("memory", ""),
            ),
            ("MESSAGE", True, _why_unhealthy),
        ),
        cluster_object,
    ),
    "bindings": _Kind(
        _of_placements(lambda record: record.bindings),
        (
            ("CLUSTER", False, lambda placed, _: placed.part.cluster),
            ("STATE", False, lambda placed, _: placed.part.state.value),
            ("SNAPSHOT", False, lambda placed, _: placed.record.snapshot_index(placed.part.resource_snapshot) or NONE),
            ("HAS", True, lambda placed, _: placed.record.snapshot_index(placed.part.applied_snapshot) or NONE),
            ("WORKSYNCHRONIZED", True, _condition_cell("WorkSynchronized")),
            ("RESOURCESAPPLIED", True, _condition_cell("Applied")),
            ("AVAILABLE", False, _condition_cell("Available")),
            ("AGE", False, lambda placed, now: age(_first_time(placed.part.conditions), now)),
        ),
        lambda placed: binding_object(placed.part),
    ),
    "snapshots": _Kind(
        _of_placements(lambda record: record.resource_snapshots),
        (
            ("PLACEMENT", True, lambda placed, _: placed.part.placement.name),
            ("INDEX", False, lambda placed, _: str(placed.part.index)),
            ("LATEST", False, lambda placed, _: str(_latest_snapshot(placed)).lower()),
            ("RESOURCES", False, lambda placed, _: str(len(placed.part.documents))),
            ("COMMIT", False, lambda placed, _: placed.part.commit[:12]),
            ("HASH", True, lambda placed, _: placed.part.hash[:12]),
            ("AGE", False, lambda placed, now: age(placed.part.created, now)),
        ),
        _snapshot_object,
    ),
    "policies": _Kind(
        _of_placements(lambda record: record.policy_snapshots),
        (
            ("PLACEMENT", False, lambda placed, _: placed.part.placement.name),
            ("INDEX", False, lambda placed, _: str(placed.part.index)),
            ("LATEST", False, lambda placed, _: str(placed.part is placed.record.latest_policy).lower()),
            ("TYPE", False, lambda placed, _: placed.part.policy.placement_type.value),
        ),
        _policy_object,
    ),
    "overrides": _Kind(
        _overrides,
        (
            ("INDEX", False, lambda entry, _: str(entry[0].index)),
            ("LATEST", False, lambda entry, _: str(entry[1]).lower()),
            ("RULES", False, lambda entry, _: str(len(entry[0].override.rules))),
            ("RESOURCES", False, lambda entry, _: _override_targets(entry)),
        ),
        lambda entry: override_object(entry[0], latest=entry[1]),
    ),
}

_ALIASES: Final[dict[str, str]] = {
    alias: plain
    for plain, aliases in {
        "placements": "placement crp rp clusterresourceplacement clusterresourceplacements resourceplacement "
        "resourceplacements",
        "clusters": "cluster mc membercluster memberclusters",
        "bindings": "binding crb rb clusterresourcebinding clusterresourcebindings resourcebinding resourcebindings",
        "snapshots": "snapshot crs rs clusterresourcesnapshot clusterresourcesnapshots resourcesnapshot "
        "resourcesnapshots",
        "policies": "policy policysnapshot policysnapshots csps sps clusterschedulingpolicysnapshot "
        "clusterschedulingpolicysnapshots schedulingpolicysnapshot schedulingpolicysnapshots",
        "overrides": "override cro ro clusterresourceoverride clusterresourceoverrides resourceoverride "
        "resourceoverrides clusterresourceoverridesnapshot clusterresourceoverridesnapshots "
        "resourceoverridesnapshot resourceoverridesnapshots",
    }.items()
    for alias in aliases.split()
}

__all__ = ["Table", "age", "describe_lines", "kinds", "objects_of", "table_of"]
