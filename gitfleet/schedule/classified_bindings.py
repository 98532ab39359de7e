"""One placement's bindings while it is being scheduled, sorted by what they mean; and the stage bind.

Source: kubefleet.md §2 "Cycle start" and "PickN" (KubeFleet's classifyBindings and crossReferencePickedClusters).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from itertools import compress, repeat
from operator import attrgetter, lt, not_
from typing import cast

from gitfleet.api.bindings import Binding, BindingState, ClusterDecision, raised, unscheduled
from gitfleet.model.scheduling import SchedulingRequest
from gitfleet.schedule.cluster_set import set_of
from gitfleet.schedule.eligibility import Eligibility
from gitfleet.schedule.fleet import ELIGIBILITY, FleetIndex

_MANY = 16
ByCluster = dict[str, Binding]
_cluster = attrgetter("cluster")
_state = attrgetter("state")
_policy = attrgetter("policy_snapshot")
_deleting = attrgetter("deleting")


@dataclass(frozen=True, slots=True)
class Bound:
    """What binding some picked clusters did, in KubeFleet's order."""

    created: Sequence[Binding]
    patched: Sequence[Binding]

    @property
    def count(self) -> int:
        """How many clusters got or kept a binding."""
        return len(self.created) + len(self.patched)


@dataclass(slots=True)
class ClassifiedBindings:
    """Bindings by cluster: `fresh` were made in this cycle, `before` is what was given up in this cycle, as it was.

    Deleting ones are only carried along; `changed` says whether anything differs from the start.
    """

    request: SchedulingRequest
    scheduled: ByCluster = field(default_factory=dict)
    bound: ByCluster = field(default_factory=dict)
    obsolete: ByCluster = field(default_factory=dict)
    unscheduled: ByCluster = field(default_factory=dict)
    carried: list[Binding] = field(default_factory=list)
    fresh: list[Binding] = field(default_factory=list)
    before: ByCluster = field(default_factory=dict)
    present: int = 0
    obsolete_set: int = 0
    in_order: bool = True
    changed: bool = False

    @property
    def count(self) -> int:
        """The clusters that the current policy holds."""
        return len(self.scheduled) + len(self.bound) + len(self.fresh)

    def has_current(self, cluster: str) -> bool:
        """Whether the current policy holds the cluster."""
        return cluster in self.scheduled or cluster in self.bound

    def listed(self, group: ByCluster) -> list[Binding]:
        """A group in listing order: that of the request, then what came since by name."""
        if not self.changed:
            return list(group.values())
        rank = {binding.cluster: i for i, binding in enumerate(self.request.bindings)}
        return sorted(group.values(), key=lambda b: (rank.get(b.cluster, len(rank)), b.cluster))

    def unschedule(self, bindings: Iterable[Binding]) -> None:
        """Give up bindings of any other state; the state they had is kept."""
        for binding in list(bindings):
            for group in (self.scheduled, self.bound, self.obsolete):
                if group.get(binding.cluster) is binding:
                    del group[binding.cluster]
            self.before[binding.cluster] = binding
            self.add(self.unscheduled, unscheduled(binding))
            self.changed = True

    def bind(self, names: Sequence[str], decisions: Sequence[ClusterDecision]) -> Bound:
        """Bindings for picked clusters: patched where there is one already, else made; other obsolete ones are given
        up.

        A cluster that the current policy holds already gets nothing, whoever let it be picked.
        """
        patched: list[Binding] = []
        if self.obsolete or self.unscheduled:
            chosen = dict(zip(names, decisions, strict=True))
            patched = [
                self._patch(self.obsolete.pop(name), chosen[name]) for name in list(self.obsolete) if name in chosen
            ]
            again = [name for name in self.unscheduled if name in chosen and not self.has_current(name)]
            patched += [self._patch(self.unscheduled.pop(name), chosen[name]) for name in again]
            self.unschedule(self.obsolete.values())
        if self.scheduled or self.bound:
            new = [pair for pair in zip(names, decisions, strict=True) if not self.has_current(pair[0])]
            names, decisions = [name for name, _ in new], [decision for _, decision in new]
        self.fresh = new_bindings(self.request, names, decisions)
        self.changed = self.changed or bool(self.fresh or patched)
        return Bound(self.fresh, patched)

    def follow(self, bound: Bound, fleet: FleetIndex) -> None:
        """Bring the sets up to date for another cycle: obsolete bindings are either patched or given up by now."""
        where = [fleet.position[binding.cluster] for binding in (*bound.patched, *bound.created)]
        self.present |= set_of(where, len(fleet.names))
        self.obsolete_set = 0
        self.scheduled.update((binding.cluster, binding) for binding in self.fresh)
        self.fresh = []

    def finish(self) -> tuple[Binding, ...]:
        """All bindings by cluster, a deleting one before its successor; the very same tuple when nothing changed."""
        if not self.changed and self.in_order:
            return self.request.bindings
        everything = [*self.carried]
        for group in (self.scheduled, self.bound, self.obsolete, self.unscheduled):
            everything += group.values()
        everything += self.fresh
        if not _strictly_ascending(list(map(_cluster, everything))):
            everything.sort(key=_cluster)
        return tuple(everything)

    def _patch(self, binding: Binding, decision: ClusterDecision) -> Binding:
        """The same binding for the current policy; one that was given up takes its state up again.

        What an earlier cycle of this very chain gave up is as if it never had been.
        """
        snapshot = self.request.policy_snapshot
        old = self.before.pop(binding.cluster, binding)
        patched = replace(old, policy_snapshot=snapshot, decision=decision, previous_state=None)
        if old.state is BindingState.UNSCHEDULED:
            patched = replace(raised(patched), state=old.previous_state or BindingState.SCHEDULED)
        self.add(self.scheduled if patched.state is BindingState.SCHEDULED else self.bound, patched)
        return patched

    def add(self, group: ByCluster, binding: Binding) -> None:
        """A second binding of one kind on one cluster should not be; it is carried along rather than lost."""
        if group.setdefault(binding.cluster, binding) is not binding:
            self.carried.append(binding)


def classify_bindings(request: SchedulingRequest, fleet: FleetIndex) -> ClassifiedBindings:
    """Sort the bindings; those on clusters that are gone or leaving are given up at once."""
    names = list(map(_cluster, request.bindings))
    classified = ClassifiedBindings(request, in_order=_strictly_ascending(names))
    where = list(map(fleet.position.get, names))
    leaving = set(fleet.column(ELIGIBILITY).positions.get(Eligibility.LEFT, ()))
    size = len(fleet.names)
    if classified.in_order and _all_current(request, where, leaving):
        states = list(map(_state, request.bindings))
        if states.count(BindingState.SCHEDULED) == len(states):
            classified.scheduled = dict(zip(names, request.bindings, strict=True))
        else:
            bound = [state is BindingState.BOUND for state in states]
            classified.bound = dict(compress(zip(names, request.bindings, strict=True), bound))
            classified.scheduled = dict(compress(zip(names, request.bindings, strict=True), map(not_, bound)))
        classified.present = set_of(cast(list[int], where), size)
        return classified
    current: list[int] = []
    older: list[int] = []
    dangling: list[Binding] = []
    for binding, at in zip(request.bindings, where, strict=True):
        if binding.deleting is not None:
            classified.carried.append(binding)
        elif binding.state is BindingState.UNSCHEDULED:
            classified.add(classified.unscheduled, binding)
        elif at is None or at in leaving:
            dangling.append(binding)
        elif binding.policy_snapshot != request.policy_snapshot:
            older.append(at)
            classified.add(classified.obsolete, binding)
        else:
            current.append(at)
            classified.add(
                classified.scheduled if binding.state is BindingState.SCHEDULED else classified.bound, binding
            )
    classified.unschedule(dangling)
    classified.present = set_of(current, size)
    classified.obsolete_set = set_of(older, size)
    return classified


def _all_current(request: SchedulingRequest, where: list[int | None], leaving: set[int]) -> bool:
    """Whether every binding is held by the current policy on a cluster that stays: the usual case, found quickly."""
    count = len(where)
    states = list(map(_state, request.bindings))
    return (
        None not in where
        and leaving.isdisjoint(where)
        and not any(map(_deleting, request.bindings))
        and states.count(BindingState.SCHEDULED) + states.count(BindingState.BOUND) == count
        and list(map(_policy, request.bindings)).count(request.policy_snapshot) == count
    )


def new_bindings(
    request: SchedulingRequest, names: Sequence[str], decisions: Sequence[ClusterDecision]
) -> list[Binding]:
    """Scheduled bindings of generation 1, one for each name.

    Written column by column through the slots: three times as fast as the constructor, which counts when a placement
    picks thousands of clusters at once.
    """
    if len(names) < _MANY:
        return [_new_binding(request, name, decision) for name, decision in zip(names, decisions, strict=True)]
    made = list(map(object.__new__, repeat(Binding, len(names))))
    columns: dict[str, Iterable[object]] = {
        "placement": repeat(request.placement),
        "cluster": names,
        "state": repeat(BindingState.SCHEDULED),
        "policy_snapshot": repeat(request.policy_snapshot),
        "decision": decisions,
    }
    for name, default in _DEFAULTS:
        write = getattr(Binding, name).__set__
        any(map(write, made, columns.get(name, repeat(default))))  # runs to the end: a write returns None
    return made


def _new_binding(request: SchedulingRequest, name: str, decision: ClusterDecision) -> Binding:
    return Binding(
        placement=request.placement,
        cluster=name,
        state=BindingState.SCHEDULED,
        policy_snapshot=request.policy_snapshot,
        decision=decision,
    )


def _strictly_ascending(names: list[str]) -> bool:
    return all(map(lt, names, names[1:]))


_DEFAULTS = tuple(
    (f.name, f.default_factory() if f.default_factory is not MISSING else f.default) for f in fields(Binding)
)
