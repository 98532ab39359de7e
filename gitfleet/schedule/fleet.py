"""The fleet, indexed for scheduling: built once a reconcile, shared by all placements, and carried on from reconcile
to reconcile.

Facts about clusters are kept as columns (`columns.py`), each built when a policy first asks for it. `index_fleet` with
the previous index keeps every column, reads only clusters that are other objects than before, and so costs what
changed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any, TypeVar, cast

from gitfleet.api.clusters import MEMBER_NAME_LABEL, MemberCluster
from gitfleet.formats.canonical_json import digest_of, json_bytes, json_text
from gitfleet.model.failures import Failures, Subject
from gitfleet.schedule.columns import Column
from gitfleet.schedule.eligibility import Eligibility, TimedEligibility, eligibility_of
from gitfleet.schedule.texts import ScheduleText

RESOURCE_PREFIX = "resources.kubernetes-fleet.io/"
T = TypeVar("T")


class Unschedulable(ValueError):
    """Scheduling this placement is impossible until somebody changes something; one sentence says what is wrong."""


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that clusters say: `kind` is label, property, taints, namespace or eligibility; `name` which one.

    The kind `everything` stands for all that a plug-in may see of a cluster, less the times of heartbeats.
    """

    kind: str
    name: str = ""


ELIGIBILITY = Fact("eligibility")
EVERYTHING = Fact("everything")
TAINTS = Fact("taints")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FleetIndex:
    """All clusters in ascending order of names; a set of clusters is an int whose bit i stands for `clusters[i]`.

    `wake_at` is the first moment at which the clock alone changes a cluster's eligibility, None when it never does.
    """

    now: datetime
    names: tuple[str, ...]
    clusters: tuple[MemberCluster, ...]
    position: Mapping[str, int]
    eligibilities: tuple[TimedEligibility, ...]
    wake_at: datetime | None
    columns: dict[Fact, Column] = field(default_factory=dict, repr=False)
    memo: dict[Hashable, Any] = field(default_factory=dict, repr=False)
    """Results that depend on `names` alone."""

    @property
    def all_clusters(self) -> int:
        """The set of all clusters."""
        return (1 << len(self.names)) - 1

    def column(self, fact: Fact) -> Column:
        """What every cluster says about a fact."""
        column = self.columns.get(fact)
        if column is None:
            read = reader(fact)
            column = self.columns[fact] = Column(tuple(map(read, self.clusters)))
        return column

    def digest(self, fact: Fact) -> bytes:
        """Equal for two indexes that say the same about a fact, for the same clusters."""
        return self.column(fact).digest

    @property
    def membership(self) -> bytes:
        """A digest of the clusters' names."""
        return self.once("membership", lambda: sha256(json_bytes(self.names)).digest())

    def once(self, key: Hashable, work_out: Callable[[], T]) -> T:
        """A result that follows from `names` alone, computed when it is first needed."""
        if key not in self.memo:
            self.memo[key] = work_out()
        return cast(T, self.memo[key])


def index_fleet(
    clusters: Iterable[MemberCluster],
    now: datetime,
    previous: FleetIndex | None = None,
    failures: Failures | None = None,
) -> FleetIndex:
    """The index of a fleet at `now`; with `previous`, only clusters that are other objects than there are read.

    The order of `clusters` does not matter; of two with one name the later counts.
    """
    contained = failures or Failures()
    by_name = {cluster.name: cluster for cluster in clusters}
    names = tuple(sorted(by_name))
    ordered = tuple(map(by_name.__getitem__, names))
    if previous is None or previous.names != names:
        return _new_index(names, ordered, now, contained)
    return _next_index(previous, ordered, now, contained)


def _new_index(
    names: tuple[str, ...], ordered: tuple[MemberCluster, ...], now: datetime, failures: Failures
) -> FleetIndex:
    eligibilities = tuple(_eligibility(cluster, now, failures) for cluster in ordered)
    return FleetIndex(
        now=now,
        names=names,
        clusters=ordered,
        position={name: i for i, name in enumerate(names)},
        eligibilities=eligibilities,
        wake_at=_earliest(eligibilities),
        columns={ELIGIBILITY: Column(tuple(eligibility.verdict for eligibility in eligibilities))},
    )


def _next_index(
    previous: FleetIndex, ordered: tuple[MemberCluster, ...], now: datetime, failures: Failures
) -> FleetIndex:
    """The index of clusters with the same names."""
    pairs = zip(previous.clusters, ordered, strict=True)
    changed = [i for i, (old, new) in enumerate(pairs) if old is not new]
    eligibilities = _updated_eligibilities(previous, ordered, changed, now, failures)
    columns = {
        fact: column.changed([(i, read(ordered[i])) for i in changed])
        for fact, column in list(previous.columns.items())
        if fact != ELIGIBILITY
        for read in (reader(fact),)
    }
    verdicts = previous.columns[ELIGIBILITY]
    if eligibilities is not previous.eligibilities:
        verdicts = verdicts.changed((i, eligibility.verdict) for i, eligibility in enumerate(eligibilities))
    columns[ELIGIBILITY] = verdicts
    return FleetIndex(
        now=now,
        names=previous.names,
        clusters=ordered,
        position=previous.position,
        eligibilities=eligibilities,
        wake_at=previous.wake_at if eligibilities is previous.eligibilities else _earliest(eligibilities),
        columns=columns,
        memo=previous.memo,
    )


def _updated_eligibilities(
    previous: FleetIndex,
    clusters: tuple[MemberCluster, ...],
    changed: list[int],
    now: datetime,
    failures: Failures,
) -> tuple[TimedEligibility, ...]:
    """The standings at `now`: of clusters that changed, and of all when the clock passed a limit (or went back)."""
    if now < previous.now or (previous.wake_at is not None and now >= previous.wake_at):
        return tuple(_eligibility(cluster, now, failures) for cluster in clusters)
    if not changed:
        return previous.eligibilities
    eligibilities = list(previous.eligibilities)
    for i in changed:
        eligibilities[i] = _eligibility(clusters[i], now, failures)
    return tuple(eligibilities)


def _eligibility(cluster: MemberCluster, now: datetime, failures: Failures) -> TimedEligibility:
    """The cluster's standing; one that cannot be judged gets nothing new."""
    subject = Subject("MemberCluster", cluster.name)
    return failures.contain(subject, TimedEligibility(Eligibility.HEALTH_UNKNOWN), eligibility_of, cluster, now)


def _earliest(eligibilities: tuple[TimedEligibility, ...]) -> datetime | None:
    return min((s.until for s in eligibilities if s.until is not None), default=None)


def reader(fact: Fact) -> Callable[[MemberCluster], str | None]:
    """How a fact is read from one cluster."""
    name = fact.name
    match fact.kind:
        case "label" if name == MEMBER_NAME_LABEL:
            return lambda cluster: cluster.labels.get(name, cluster.name)
        case "label":
            return lambda cluster: cluster.labels.get(name)
        case "property":
            return lambda cluster: property_text(cluster, name)
        case "taints":
            return _taints_text
        case "namespace":
            return lambda cluster: _namespace_text(cluster, name)
        case "everything":
            return _all_fields
        case _:
            raise ValueError(ScheduleText.NO_FACT_KIND_ABOUT_CLUSTERS(fact=fact.kind))


def property_text(cluster: MemberCluster, name: str) -> str | None:
    """The text of a property, None when the cluster does not have it.

    `resources.kubernetes-fleet.io/<total|allocatable|available>-<resource>` is read from the resource usage; the
    resource may have hyphens and slashes of its own (decision D36). Unschedulable for another name with that prefix.
    """
    if not name.startswith(RESOURCE_PREFIX):
        value = cluster.status.properties.get(name)
        return None if value is None else value.value
    usage = cluster.status.resource_usage
    capacity, _, resource = name.removeprefix(RESOURCE_PREFIX).partition("-")
    if not resource:
        raise Unschedulable(ScheduleText.NOT_NAME_RESOURCE_PROPERTY(name=name))
    match capacity:
        case "total":
            return usage.capacity.get(resource)
        case "allocatable":
            return usage.allocatable.get(resource)
        case "available":
            return usage.available.get(resource)
        case _:
            raise Unschedulable(ScheduleText.NAMES_NO_CAPACITY(name=name))


def _taints_text(cluster: MemberCluster) -> str | None:
    if not cluster.taints:
        return None
    return json_text([[taint.key, taint.value, taint.effect] for taint in cluster.taints])


def _namespace_text(cluster: MemberCluster, namespace: str) -> str:
    if cluster.status.namespaces is None:
        return "unknown"
    return "present" if namespace in cluster.status.namespaces else "absent"


def _all_fields(cluster: MemberCluster) -> str:
    status = cluster.status
    usage = status.resource_usage
    seen = (
        dict(cluster.labels),
        dict(cluster.annotations),
        cluster.taints,
        cluster.deleting is not None,
        {name: value.value for name, value in status.properties.items()},
        [dict(usage.capacity), dict(usage.allocatable), dict(usage.available)],
        None if status.namespaces is None else sorted(status.namespaces),
    )
    return digest_of(seen)
