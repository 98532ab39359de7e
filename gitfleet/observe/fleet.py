"""What one observation of the whole fleet means for the bindings of each placement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from gitfleet.api.bindings import Binding
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.placements import PlacementKey
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.observations import ClusterObservation
from gitfleet.model.operations import Operation, Outcome
from gitfleet.model.state import PlacementRecord
from gitfleet.model.works import Work
from gitfleet.observe.availability import NO_CHECKS, Checks
from gitfleet.observe.bindings import ClusterSeen, observe_binding, observe_removal
from gitfleet.observe.clusters import observe_cluster, with_kept_objects


def observe_clusters(
    accepted: Mapping[str, MemberCluster],
    before: Mapping[str, MemberCluster],
    observations: Mapping[str, ClusterObservation],
    now: datetime,
    failures: Failures,
) -> dict[str, MemberCluster]:
    """Every member after one observation; one that was not observed, or not asked, is as it was accepted. One of which
    that fails is as it was before, or is left out when it is new."""
    seen: dict[str, MemberCluster] = {}
    for name, cluster in accepted.items():
        previous, observation = before.get(name), observations.get(name)
        member: MemberCluster | None = cluster
        if observation is not None and observation.attempted:
            subject = Subject("MemberCluster", name)
            member = failures.contain(subject, previous, observe_cluster, cluster, observation, now)
        if member is not None:
            seen[name] = member
    return with_kept_objects(seen)


W = TypeVar("W")
ByCluster = Mapping[PlacementKey, Mapping[str, W]]
"""What concerns each placement, by cluster."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One observation of the fleet, by placement and cluster, so that each placement is observed by itself."""

    works: ByCluster[Work]
    operations: ByCluster[Sequence[Operation]]
    outcomes: ByCluster[Sequence[Outcome]]
    observations: Mapping[str, ClusterObservation]
    checks: Checks = field(default_factory=lambda: NO_CHECKS)

    @classmethod
    def of(
        cls,
        works: Mapping[str, tuple[Work, ...]],
        operations: Iterable[Operation],
        outcomes: Iterable[Outcome],
        observations: Mapping[str, ClusterObservation],
        checks: Checks = NO_CHECKS,
    ) -> Seen:
        """Sort what concerns the whole fleet by placement and cluster."""
        planned: dict[PlacementKey, dict[str, list[Operation]]] = {}
        for operation in operations:
            planned.setdefault(operation.placement, {}).setdefault(operation.cluster, []).append(operation)
        done_by_cluster: dict[PlacementKey, dict[str, list[Outcome]]] = {}
        for outcome in outcomes:
            done = outcome.operation
            done_by_cluster.setdefault(done.placement, {}).setdefault(done.cluster, []).append(outcome)
        placed: dict[PlacementKey, dict[str, Work]] = {}
        for cluster_works in works.values():
            for work in cluster_works:
                placed.setdefault(work.placement, {})[work.cluster] = work
        return cls(works=placed, operations=planned, outcomes=done_by_cluster, observations=observations, checks=checks)

    def equals_for(self, record: PlacementRecord, previous: Seen) -> bool:
        """Whether both observations are the same for a placement, so that nothing has to be observed again."""
        key = record.placement.key
        return (
            self.checks == previous.checks
            and self.works.get(key) == previous.works.get(key)
            and self.operations.get(key) == previous.operations.get(key)
            and self.outcomes.get(key) == previous.outcomes.get(key)
            and all(self._reachability(b.cluster) == previous._reachability(b.cluster) for b in record.bindings)
        )

    def _reachability(self, cluster: str) -> tuple[bool, str] | None:
        observation = self.observations.get(cluster)
        return None if observation is None else (observation.reachable, observation.error)


def observe_bindings(record: PlacementRecord, seen: Seen, now: datetime, failures: Failures) -> tuple[Binding, ...]:
    """A placement's bindings after one observation; the very same tuple where nothing changed.

    A cluster that was not observed, or not asked, keeps what was known of it.
    """
    if not seen.observations:
        return record.bindings
    key = record.placement.key
    works, plans, done = seen.works.get(key, {}), seen.operations.get(key, {}), seen.outcomes.get(key, {})

    def observed(binding: Binding) -> Binding:
        cluster = binding.cluster
        observation = seen.observations.get(cluster)
        if observation is None or not observation.attempted:
            return binding
        cluster_seen = ClusterSeen(
            works.get(cluster),
            plans.get(cluster, ()),
            done.get(cluster, ()),
            None if observation.reachable else observation.error,
            seen.checks,
        )

        def subject() -> Subject:
            return Subject("Binding", str(key), cluster)

        if binding.deleting is not None:
            return failures.contain(subject, binding, observe_removal, binding, cluster_seen)
        return failures.contain(subject, binding, observe_binding, binding, cluster_seen, now)

    new = [observed(binding) for binding in record.bindings]
    unchanged = all(a is b for a, b in zip(new, record.bindings, strict=True))
    return record.bindings if unchanged else tuple(new)
