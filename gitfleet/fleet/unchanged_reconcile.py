"""A reconcile that left nothing to do: as long as nothing that it depended on changes, the next ones need not decide
again (invariants 6 and 7). What is kept here saves work and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from gitfleet import rollout
from gitfleet.api.clusters import ResourceUsage
from gitfleet.api.objects import ObjectKey
from gitfleet.model.decisions import Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.failures import Failure, Subject, attempt
from gitfleet.model.observations import ClusterObservation, LiveObject, LiveObjects
from gitfleet.model.state import FleetState


@dataclass(slots=True, kw_only=True)
class UnchangedReconcile:
    """What a reconcile that changed nothing depended on, and until when it may be kept: only reconciles without
    `wake_at` are kept, and a freeze that expires is said then."""

    desired: Desired
    state: FleetState
    observations: Mapping[str, ClusterObservation]
    until: datetime | None

    def applies_to(self, inputs: Inputs, *, due: bool = False) -> bool:
        """Whether the same decision would come of these inputs; `due` says that something else is to be done again."""
        if due or (self.until is not None and self.until <= inputs.now):
            return False
        if inputs.desired is not self.desired or inputs.before is not self.state:
            return False
        if inputs.observations.keys() != self.observations.keys():
            return False
        is_same = all(
            observation is self.observations[name] or _is_same(observation, self.observations[name])
            for name, observation in inputs.observations.items()
        )
        if is_same:
            self.observations = inputs.observations  # most will be these very ones the next time
        return is_same


def with_known_objects(
    observations: Mapping[str, ClusterObservation], before: Mapping[str, ClusterObservation]
) -> dict[str, ClusterObservation]:
    """The observations; where a cluster's objects are what they were, with the very mapping of the one before, and
    where some are, with those very objects: whoever keeps a result need not compare their content."""
    return {
        name: _with_objects_of(previous, observation)
        if (previous := before.get(name)) is not None and previous is not observation and observation.reachable
        else observation
        for name, observation in observations.items()
    }


def _with_objects_of(before: ClusterObservation, observation: ClusterObservation) -> ClusterObservation:
    live = attempt(Subject("MemberCluster", observation.cluster), _known_objects, observation.live, before.live)
    return observation if isinstance(live, Failure) or live is observation.live else replace(observation, live=live)


def _known_objects(live: LiveObjects, before: LiveObjects) -> LiveObjects:
    """The live objects, those that are as they were before by the very objects of then; `before` when all are."""
    if not before or live is before:
        return live
    merged: dict[ObjectKey, LiveObject | None] = {}
    all_same = len(live) == len(before)
    for key, current in live.items():
        old = before.get(key)
        seen = key in before and (current is old or current == old)
        merged[key] = old if seen else current
        all_same = all_same and seen
    return before if all_same else merged


def unchanged_after(inputs: Inputs, after: FleetState) -> UnchangedReconcile | None:
    """What to keep of a settled reconcile; None when a value that was measured waits for its time to be written."""
    if not all(_is_written(observation, after) for observation in inputs.observations.values()):
        return None
    return UnchangedReconcile(
        desired=inputs.desired,
        state=after,
        observations=inputs.observations,
        until=rollout.next_expiry(inputs.desired.freezes, inputs.now),
    )


def _is_same(current: ClusterObservation, previous: ClusterObservation) -> bool:
    """What cannot be compared is not the same: then deciding says what is wrong with it."""
    return attempt(Subject("MemberCluster", current.cluster), _same_observation, current, previous) is True


def _same_observation(current: ClusterObservation, previous: ClusterObservation) -> bool:
    """Whether two observations are the same. When they were made does not matter."""
    return (
        (current.reachable, current.healthy, current.error) == (previous.reachable, previous.healthy, previous.error)
        and current.namespaces == previous.namespaces
        and current.reported == previous.reported
        and _values(current) == _values(previous)
        and current.unreadable == previous.unreadable
        and current.dry_runs == previous.dry_runs
        # Objects are compared as a whole: a server may lie about a version, or give it again after a restore.
        and current.live == previous.live
    )


def _values(observation: ClusterObservation) -> tuple[object, ...]:
    return {name: value.value for name, value in observation.properties.items()}, _amounts(observation.resource_usage)


def _amounts(usage: ResourceUsage | None) -> tuple[object, ...]:
    return (dict(usage.capacity), dict(usage.allocatable), dict(usage.available)) if usage is not None else ()


def _is_written(observation: ClusterObservation, after: FleetState) -> bool:
    """Whether the state says of a cluster's properties and resources what was observed."""
    if not observation.reachable:
        return True
    cluster = after.clusters.get(observation.cluster)
    if cluster is None:
        return False
    recorded = {name: value.value for name, value in cluster.status.properties.items()}
    if any(recorded.get(name) != value.value for name, value in observation.properties.items()):
        return False
    usage = observation.resource_usage
    return usage is None or _amounts(usage) == _amounts(cluster.status.resource_usage)
