"""A reconcile that left nothing to do: as long as nothing that it depended on changes, the next ones need not decide
again (invariants 6 and 7). What is kept here saves work and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from gitfleet import rollout
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

    def still(self, inputs: Inputs, *, due: bool = False) -> bool:
        """Whether the same decision would come of these inputs; `due` says that something else is to be done again."""
        if due or (self.until is not None and self.until <= inputs.now):
            return False
        if inputs.desired is not self.desired or inputs.before is not self.state:
            return False
        if inputs.observations.keys() != self.observations.keys():
            return False
        same = all(
            observation is self.observations[name]
            or _contained(_same_observation, observation, self.observations[name])
            for name, observation in inputs.observations.items()
        )
        if same:
            self.observations = inputs.observations  # most will be these very ones the next time
        return same


def with_known_objects(
    observations: Mapping[str, ClusterObservation], before: Mapping[str, ClusterObservation]
) -> dict[str, ClusterObservation]:
    """The observations; where a cluster's objects are what they were, with the very mapping of the one before, and
    where some are, with those very objects: whoever keeps a result need not compare their content."""
    return {
        name: _with_objects_of(known, observation)
        if (known := before.get(name)) is not None and known is not observation and observation.reachable
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
    known: dict[ObjectKey, LiveObject | None] = {}
    same = len(live) == len(before)
    for key, one in live.items():
        old = before.get(key)
        seen = key in before and _same_object(one, old)
        known[key] = old if seen else one
        same = same and seen
    return before if same else known


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


def _contained(
    same: Callable[[ClusterObservation, ClusterObservation], bool], one: ClusterObservation, other: ClusterObservation
) -> bool:
    """What cannot be compared is not the same: then deciding says what is wrong with it."""
    return attempt(Subject("MemberCluster", one.cluster), same, one, other) is True


def _same_observation(one: ClusterObservation, other: ClusterObservation) -> bool:
    """Whether two observations are the same. When they were made does not matter."""
    return one is other or (
        (one.reachable, one.healthy, one.error) == (other.reachable, other.healthy, other.error)
        and one.namespaces == other.namespaces
        and one.reported == other.reported
        and _values(one) == _values(other)
        and one.unreadable == other.unreadable
        and one.dry_runs == other.dry_runs
        and _same_objects(one, other)
    )


def _same_objects(one: ClusterObservation, other: ClusterObservation) -> bool:
    if one.live is other.live:
        return True
    if one.live.keys() != other.live.keys():
        return False
    return all(_same_object(live, other.live[key]) for key, live in one.live.items())


def _same_object(one: LiveObject | None, other: LiveObject | None) -> bool:
    if one is other:
        return True
    if one is None or other is None:
        return False
    return one == other  # whole: a server may have lied about this version once, or give it again after a restore


def _values(observation: ClusterObservation) -> tuple[object, ...]:
    usage = observation.resource_usage
    amounts = (dict(usage.capacity), dict(usage.allocatable), dict(usage.available)) if usage else None
    return {name: value.value for name, value in observation.properties.items()}, amounts


def _is_written(observation: ClusterObservation, after: FleetState) -> bool:
    """Whether the state says of a cluster's properties and resources what was observed."""
    if not observation.reachable:
        return True
    cluster = after.clusters.get(observation.cluster)
    if cluster is None:
        return False
    status = cluster.status
    known = {name: value.value for name, value in status.properties.items()}
    if any(known.get(name) != value.value for name, value in observation.properties.items()):
        return False
    usage, written = observation.resource_usage, status.resource_usage
    return usage is None or all(
        dict(new) == dict(old)
        for new, old in (
            (usage.capacity, written.capacity),
            (usage.allocatable, written.allocatable),
            (usage.available, written.available),
        )
    )
