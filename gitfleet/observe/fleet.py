"""What one observation of the whole fleet means for the bindings of each placement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from gitfleet.api.bindings import Binding
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.objects import Identity
from gitfleet.api.placements import PlacementKey
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.observations import Availability, ClusterObservation
from gitfleet.model.operations import Keep, KeepCode, Operation, Outcome
from gitfleet.model.state import PlacementRecord
from gitfleet.model.works import Work
from gitfleet.observe.availability import availability_of
from gitfleet.observe.bindings import ClusterSeen, KnownConditions, observe_binding, observe_removal
from gitfleet.observe.checks import NO_CHECKS, Checks
from gitfleet.observe.clusters import observe_cluster, read_cluster
from gitfleet.observe.servers import with_kept_objects


def observe_clusters(
    accepted: Mapping[str, MemberCluster],
    before: Mapping[str, MemberCluster],
    observations: Mapping[str, ClusterObservation],
    now: datetime,
    failures: Failures,
) -> dict[str, MemberCluster]:
    """Every member after one observation; one that was not observed, or not asked, is as it was accepted. One that
    cannot be read is as it was before, or is left out when it is new."""
    seen: dict[str, MemberCluster] = {}
    for name, cluster in accepted.items():
        kept, observation = before.get(name), observations.get(name)
        found = failures.contain(
            Subject("MemberCluster", name), kept, _observe_cluster, cluster, kept, observation, now
        )
        if found is not None:
            seen[name] = found
    return with_kept_objects(seen)


def _observe_cluster(
    cluster: MemberCluster, before: MemberCluster | None, observation: ClusterObservation | None, now: datetime
) -> MemberCluster:
    seen = cluster if observation is None or not observation.asked else observe_cluster(cluster, observation, now)
    if seen is not before:
        read_cluster(seen)
    return seen


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
        wanted: dict[PlacementKey, dict[str, Work]] = {}
        for found in works.values():
            for work in found:
                wanted.setdefault(work.placement, {})[work.cluster] = work
        return cls(works=wanted, operations=planned, outcomes=done_by_cluster, observations=observations, checks=checks)

    def equals_for(self, record: PlacementRecord, other: Seen) -> bool:
        """Whether both observations are the same for a placement, so that nothing has to be observed again."""
        key = record.placement.key
        return (
            self.checks == other.checks
            and self.works.get(key) == other.works.get(key)
            and self.operations.get(key) == other.operations.get(key)
            and self.outcomes.get(key) == other.outcomes.get(key)
            and all(self._reachability(b.cluster) == other._reachability(b.cluster) for b in record.bindings)
        )

    def unavailable_though_kept(self, key: PlacementKey) -> dict[str, frozenset[Identity]]:
        """By cluster: what a placement gave up, keeps there for another one, and is not available. The conditions of
        its binding say nothing of that."""
        found = {
            cluster: frozenset(one.key.identity for one in operations if self._is_unavailable_though_kept(one))
            for cluster, operations in self.operations.get(key, {}).items()
        }
        return {cluster: identities for cluster, identities in found.items() if identities}

    def _is_unavailable_though_kept(self, one: Operation) -> bool:
        if not isinstance(one, Keep) or one.code is not KeepCode.KEPT_FOR_SUCCESSOR or one.live is None:
            return False
        return availability_of(one.live.body, self.checks).availability is Availability.NOT_YET

    def _reachability(self, cluster: str) -> tuple[bool, str] | None:
        observation = self.observations.get(cluster)
        return None if observation is None else (observation.reachable, observation.error)


def observe_bindings(record: PlacementRecord, seen: Seen, now: datetime, failures: Failures) -> tuple[Binding, ...]:
    """A placement's bindings after one observation; the very same tuple where nothing changed.

    A cluster that was not observed, or not asked, keeps what was known of it.
    """
    if not seen.observations:
        return record.bindings
    key, known = record.placement.key, KnownConditions()
    works, plans, done = seen.works.get(key, {}), seen.operations.get(key, {}), seen.outcomes.get(key, {})

    def observed(binding: Binding) -> Binding:
        cluster = binding.cluster
        observation = seen.observations.get(cluster)
        if observation is None or not observation.asked:
            return binding
        mine = ClusterSeen(
            works.get(cluster),
            plans.get(cluster, ()),
            done.get(cluster, ()),
            None if observation.reachable else observation.error,
            seen.checks,
            known,
        )

        def subject() -> Subject:
            return Subject("Binding", str(key), cluster)

        if binding.deleting is not None:
            return failures.contain(subject, binding, observe_removal, binding, mine)
        return failures.contain(subject, binding, observe_binding, binding, mine, now, failures)

    new = [observed(binding) for binding in record.bindings]
    same = all(a is b for a, b in zip(new, record.bindings, strict=True))
    return record.bindings if same else tuple(new)
