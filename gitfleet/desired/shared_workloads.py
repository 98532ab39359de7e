"""No two workload rollouts may move one workload on one cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from gitfleet.api import Location
from gitfleet.api.objects import Identity
from gitfleet.api.placements import PlacementKey
from gitfleet.api.workload_rollouts import AppRollout, RolloutTrait, WorkloadRollout
from gitfleet.desired.crosschecks import Refusals
from gitfleet.desired.readings import ReadObject
from gitfleet.desired.texts import DesiredText

Clusters = Mapping[str, Mapping[str, str]]
"""The labels of each cluster by its name."""
_EVERY: Final = "*every*"
"""Stands for all clusters, or components, of a rollout that selects none of them."""
_SOME: Final = "*some*"
"""Stands for any cluster, or component, that an earlier rollout is for."""
_Workload = Identity | tuple[str, PlacementKey]
"""A workload, or one of those that a placement has in a namespace."""


@dataclass(slots=True)
class _Taken:
    """Which rollouts move a workload, by component and cluster, so that no two of them need be compared that have
    nothing in common."""

    clusters: Clusters
    earlier: list[tuple[ReadObject, WorkloadRollout]] = field(default_factory=list)
    _found: dict[tuple[_Workload, str, str], list[int]] = field(default_factory=dict)
    _selected: dict[int, tuple[str, ...] | None] = field(default_factory=dict)

    def add(self, item: ReadObject, rollout: WorkloadRollout) -> None:
        """Note all that a rollout moves."""
        number, on, component = len(self.earlier), self._clusters_of(rollout), _component(rollout)
        self.earlier.append((item, rollout))
        if on == ():
            return
        for workload, _ in _workloads(rollout):
            for of in (component or _EVERY, _SOME):
                for cluster in (*(on if on is not None else (_EVERY,)), _SOME):
                    self._found.setdefault((workload, of, cluster), []).append(number)

    def before(self, workload: _Workload, rollout: WorkloadRollout) -> Iterator[tuple[ReadObject, str]]:
        """Those that move a workload of the rollout already, in order, with the first cluster that both are for ("":
        both are for every one)."""
        on, component = self._clusters_of(rollout), _component(rollout)
        if on == ():
            return
        found = set[int]()
        for of in (component, _EVERY) if component else (_SOME,):
            for cluster in (*on, _EVERY) if on is not None else (_SOME,):
                found.update(self._found.get((workload, of, cluster), ()))
        for number in sorted(found):
            item, other = self.earlier[number]
            yield item, _first(on, self._clusters_of(other))

    def _clusters_of(self, rollout: WorkloadRollout) -> tuple[str, ...] | None:
        """The clusters that a rollout selects, by name; None for every one."""
        selector = rollout.clusters
        if selector is None:
            return None
        if id(rollout) not in self._selected:
            names = (name for name, labels in self.clusters.items() if selector.matches(labels))
            self._selected[id(rollout)] = tuple(sorted(names))
        return self._selected[id(rollout)]


def same_workload_refusals(rollouts: Sequence[tuple[ReadObject, WorkloadRollout]], clusters: Clusters) -> Refusals:
    """Rollouts of a workload that an earlier one moves on one of their clusters."""
    refused: Refusals = []
    taken = _Taken(clusters)
    for item, rollout in rollouts:
        found = [
            (item, (field, _sentence(other, where)))
            for workload, field in _workloads(rollout)
            for other, where in taken.before(workload, rollout)
        ]
        refused += found
        if not found:
            taken.add(item, rollout)
    return refused


def _sentence(other: ReadObject, where: str) -> str:
    on = f" on {where}" if where else ""
    way = DesiredText.REMOVE_ONE_TWO()
    return DesiredText.MOVED_ALREADY(other=other.label, origin=other.origin, on=on, way=way)


def _workloads(rollout: WorkloadRollout) -> Iterator[tuple[_Workload, Location]]:
    """What a rollout moves, and the field that says so: a workload, or one of those of a placement."""
    match rollout:
        case RolloutTrait():
            yield from ((workload.identity, field) for workload, field in rollout.workloads)
        case AppRollout():
            yield (rollout.key.namespace, rollout.placement), ("spec", "placementRef")


def _component(rollout: WorkloadRollout) -> str:
    """The one workload of a placement that a rollout moves, "" where it does not say."""
    return next(iter(rollout.component_list), "") if isinstance(rollout, AppRollout) else ""


def _first(one: tuple[str, ...] | None, other: tuple[str, ...] | None) -> str:
    if one is None or other is None:
        return next(iter(one or other or ()), "")
    return next(name for name in one if name in set(other))
