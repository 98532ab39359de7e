"""What one observation of the whole fleet means for the bindings of each placement."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Final

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


@dataclass(frozen=True)
class _OnCluster:
    """What concerns one cluster."""

    works: Sequence[Work]
    operations: Sequence[Operation] = ()
    outcomes: Sequence[Outcome] = ()

    def of(self, key: PlacementKey) -> tuple[Work | None, Sequence[Operation], Sequence[Outcome]]:
        """What of it concerns one placement."""
        work, operations, outcomes = self._by_placement.get(key, (None, (), ()))
        return work, operations, outcomes

    @cached_property
    def _by_placement(self) -> Mapping[PlacementKey, tuple[Work | None, list[Operation], list[Outcome]]]:
        works = {work.placement: work for work in self.works}
        sorted_: dict[PlacementKey, tuple[Work | None, list[Operation], list[Outcome]]] = {}
        for operation in self.operations:
            key = operation.placement
            sorted_.setdefault(key, (works.get(key), [], []))[1].append(operation)
        for outcome in self.outcomes:
            key = outcome.operation.placement
            sorted_.setdefault(key, (works.get(key), [], []))[2].append(outcome)
        return {key: (work, [], []) for key, work in works.items()} | sorted_


_NOTHING: Final = _OnCluster(())


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One observation of the fleet, by cluster. `changed` are the clusters of which anything else was seen than the
    `last` time."""

    clusters: Mapping[str, _OnCluster]
    observations: Mapping[str, ClusterObservation]
    checks: Checks = field(default_factory=lambda: NO_CHECKS)
    last: Seen | None = None
    changed: Collection[str] = ()

    @classmethod
    def of(
        cls,
        works: Mapping[str, tuple[Work, ...]],
        operations: Iterable[Operation],
        outcomes: Iterable[Outcome],
        observations: Mapping[str, ClusterObservation],
        checks: Checks = NO_CHECKS,
    ) -> Seen:
        """Sort what concerns the whole fleet by cluster; nothing of a cluster that is not observed matters."""
        planned: dict[str, list[Operation]] = {name: [] for name in observations}
        done: dict[str, list[Outcome]] = {name: [] for name in observations}
        for operation in operations:
            if operation.cluster in planned:
                planned[operation.cluster].append(operation)
        for outcome in outcomes:
            if outcome.operation.cluster in done:
                done[outcome.operation.cluster].append(outcome)
        clusters = {name: _OnCluster(works.get(name, ()), planned[name], done[name]) for name in observations}
        return cls(clusters=clusters, observations=observations, checks=checks)

    def since(self, last: Seen | None) -> Seen:
        """The same with what was seen the last time."""
        if last is None:
            return replace(self, last=None)
        old = last.clusters
        clusters = {name: old[name] if old.get(name) == new else new for name, new in self.clusters.items()}
        changed = {
            name
            for name, new in clusters.items()
            if new is not old.get(name) or self._reachability(name) != last._reachability(name)
        }
        return replace(self, clusters=clusters, last=replace(last, last=None), changed=changed)

    def of_binding(self, binding: Binding) -> tuple[Work | None, Sequence[Operation], Sequence[Outcome]]:
        """What concerns a binding."""
        return self.clusters.get(binding.cluster, _NOTHING).of(binding.placement)

    def is_as_last(self, record: PlacementRecord) -> bool:
        """Whether all is as it was seen the last time for a placement, so that nothing has to be observed again. What
        is not observed now changes nothing."""
        last = self.last
        if last is None or self.checks != last.checks:
            return False
        moved = [binding for binding in record.bindings if binding.cluster in self.changed] if self.changed else []
        return all(
            self._reachability(binding.cluster) == last._reachability(binding.cluster)
            and self.of_binding(binding) == last.of_binding(binding)
            for binding in moved
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

    def observed(binding: Binding) -> Binding:
        cluster = binding.cluster
        observation = seen.observations.get(cluster)
        if observation is None or not observation.attempted:
            return binding
        cluster_seen = ClusterSeen(
            *seen.clusters[cluster].of(key),
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
