"""What a whole look at the fleet means for the bindings of each placement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from gitfleet.api.bindings import Binding
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.placements import PlacementKey
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.observations import ClusterObservation
from gitfleet.model.operations import Operation, Outcome
from gitfleet.model.state import PlacementRecord
from gitfleet.model.works import Work
from gitfleet.observe.bindings import observe_binding
from gitfleet.observe.clusters import observe_cluster, read_cluster


def observe_clusters(
    accepted: Mapping[str, MemberCluster],
    before: Mapping[str, MemberCluster],
    observations: Mapping[str, ClusterObservation],
    now: datetime,
    failures: Failures,
) -> dict[str, MemberCluster]:
    """Every member after one look; one that nobody looked at is as it was accepted. One that cannot be read is as it
    was before, or is left out when it is new."""
    seen: dict[str, MemberCluster] = {}
    for name, cluster in accepted.items():
        kept, answer = before.get(name), observations.get(name)
        found = failures.contain(Subject("MemberCluster", name), kept, _observe_cluster, cluster, kept, answer, now)
        if found is not None:
            seen[name] = found
    return seen


def _observe_cluster(
    cluster: MemberCluster, before: MemberCluster | None, answer: ClusterObservation | None, now: datetime
) -> MemberCluster:
    seen = cluster if answer is None else observe_cluster(cluster, answer, now)
    if seen is not before:
        read_cluster(seen)
    return seen


Pair = tuple[str, PlacementKey]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One look at the fleet, by cluster and placement, so that each placement is observed by itself."""

    works: Mapping[Pair, Work]
    operations: Mapping[Pair, Sequence[Operation]]
    outcomes: Mapping[Pair, Sequence[Outcome]]
    observations: Mapping[str, ClusterObservation]

    @classmethod
    def of(
        cls,
        works: Mapping[str, tuple[Work, ...]],
        operations: Iterable[Operation],
        outcomes: Iterable[Outcome],
        observations: Mapping[str, ClusterObservation],
    ) -> Seen:
        """Sort what concerns the whole fleet by cluster and placement."""
        planned: dict[Pair, list[Operation]] = {}
        for operation in operations:
            planned.setdefault((operation.cluster, operation.placement), []).append(operation)
        came: dict[Pair, list[Outcome]] = {}
        for outcome in outcomes:
            came.setdefault((outcome.operation.cluster, outcome.operation.placement), []).append(outcome)
        by_pair = {(work.cluster, work.placement): work for found in works.values() for work in found}
        return cls(works=by_pair, operations=planned, outcomes=came, observations=observations)


def observe_bindings(record: PlacementRecord, seen: Seen, now: datetime, failures: Failures) -> tuple[Binding, ...]:
    """A placement's bindings after one look; the very same tuple where nothing changed.

    A cluster that nobody looked at keeps what was known of it.
    """
    new: list[Binding] = []
    for binding in record.bindings:
        pair = (binding.cluster, record.placement.key)
        answer = seen.observations.get(binding.cluster)
        if answer is None or binding.deleting is not None:
            new.append(binding)
            continue
        new.append(
            failures.contain(
                Subject("Binding", str(record.placement.key), binding.cluster),
                binding,
                observe_binding,
                binding,
                seen.works.get(pair),
                seen.operations.get(pair, ()),
                seen.outcomes.get(pair, ()),
                now,
                unreachable=None if answer.reachable else answer.error,
                failures=failures,
            )
        )
    same = all(a is b for a, b in zip(new, record.bindings, strict=True))
    return record.bindings if same else tuple(new)
