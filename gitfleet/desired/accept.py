"""Desired objects meet what was accepted before: generations grow, and what is gone starts to leave."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

from gitfleet.api import write
from gitfleet.api.clusters import ClusterStatus, MemberCluster
from gitfleet.api.overrides import Override
from gitfleet.api.placements import Placement, PlacementKey
from gitfleet.model.desired import Desired
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.state import FleetState

_Key = TypeVar("_Key", PlacementKey, str)
_Value = TypeVar("_Value", Placement, MemberCluster)


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """Every placement and cluster that still counts, leaving ones included; a leaving one has `deleting` set."""

    placements: Mapping[PlacementKey, Placement]
    clusters: Mapping[str, MemberCluster]


def accept(desired: Desired, before: FleetState, now: datetime, failures: Failures) -> Accepted:
    """The placements and clusters from now on.

    A new object has generation 1, a changed spec the next one, an unchanged object is the very object of `before`, so
    that nobody has to compare it again. What the commit no longer has is leaving since `now` (or since it was first
    seen gone), unless the commit holds removals (invariant 2: a file that cannot be read takes nothing away). One that
    cannot be accepted is as it was before, or is left out when it is new.
    """
    former = {key: record.placement for key, record in before.placements.items()}

    def accepted(
        objects: Mapping[_Key, _Value],
        known: Mapping[_Key, _Value],
        merge: Callable[[_Value, _Value | None], _Value],
        subject: Callable[[_Key], Subject],
    ) -> dict[_Key, _Value]:
        values: dict[_Key, _Value | None] = {
            key: value if desired.refused or value.deleting else replace(value, deleting=now)
            for key, value in known.items()
            if key not in objects
        }
        for key, value in objects.items():
            previous = known.get(key)
            values[key] = failures.contain(subject(key), previous, merge, value, previous)
        return {key: checked for key in sorted(values) if (checked := values[key]) is not None}

    return Accepted(
        placements=accepted(desired.placements, former, _placement, Subject.of_placement),
        clusters=accepted(desired.clusters, before.clusters, _cluster, lambda name: Subject("MemberCluster", name)),
    )


def _placement(new: Placement, old: Placement | None) -> Placement:
    if old is None or old.deleting is not None:
        # A placement that comes back while it is leaving is the same to its bindings: they are deleting already.
        return replace(new, generation=1 if old is None else old.generation + 1)
    if replace(new, generation=old.generation, origin=old.origin) == old or as_written(new) == as_written(old):
        return old
    return replace(new, generation=old.generation + _spec_changed(new, old))


def _cluster(new: MemberCluster, old: MemberCluster | None) -> MemberCluster:
    if old is None:
        # An export of a hub says what that hub observed; whether this cluster answers shows only when it does.
        return replace(new, status=replace(new.status, conditions=(), agent=None))
    # What is known of a cluster outlives an edit of its file: the status is observed, not written by people.
    unobserved = replace(new, generation=old.generation, status=old.status)
    if replace(unobserved, origin=old.origin) == old or (old.deleting is None and as_written(new) == as_written(old)):
        return old
    return replace(unobserved, generation=old.generation + _spec_changed(new, old))


def _spec_changed(new: Placement | MemberCluster, old: Placement | MemberCluster) -> bool:
    return bool(as_written(new)["spec"] != as_written(old)["spec"])


def same_content(value: object, accepted: object) -> bool:
    """Whether what people wrote now is what was accepted before, for the kinds that are accepted by their content."""
    if isinstance(value, Placement | MemberCluster | Override) and type(accepted) is type(value):
        return as_written(value) == as_written(accepted)
    return False


def as_written(value: Placement | MemberCluster | Override) -> dict[str, Any]:
    """What people say with an object, in the one form in which it is stored: two files that say the same are the same
    object, however they say it."""
    if isinstance(value, MemberCluster):
        value = replace(value, status=ClusterStatus())
    body = write(value)
    metadata = {name: part for name, part in body["metadata"].items() if name in ("labels", "annotations")}
    return {"metadata": metadata, "spec": body.get("spec", {})}
