"""The three ways to pick clusters, each run to the end of its chain of cycles.

Source: kubefleet.md §2 "PickAll", "PickN" and "PickFixed"; decisions D5 and D27. KubeFleet asks itself to run again
until a placement needs no more clusters or finds none; the results here are those after the last of these cycles.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from gitfleet.api.bindings import Binding, ClusterDecision, ClusterScore
from gitfleet.model.scheduling import SchedulingRequest, SchedulingResult
from gitfleet.schedule.classified_bindings import ClassifiedBindings, classify_bindings
from gitfleet.schedule.cluster_set import ClusterSet, ascending, first_down
from gitfleet.schedule.decisions import (
    left_behind_in,
    list_decisions,
    not_eligible,
    not_found,
    picked,
    picked_by_name,
    refused_in,
    result_of,
)
from gitfleet.schedule.eligibility import Eligibility, reason_of
from gitfleet.schedule.fleet import FleetIndex, Unschedulable
from gitfleet.schedule.plugins import Cycle, Score
from gitfleet.schedule.stages import ScoreGroup, Stages
from gitfleet.schedule.texts import ScheduleText


@dataclass(frozen=True, slots=True)
class Run:
    """One placement's scheduling: the question, the fleet, and the stages with what they keep from cycle to cycle."""

    request: SchedulingRequest
    fleet: FleetIndex
    stages: Stages
    notes: dict[str, Any]

    def cycle(self, classified: ClassifiedBindings, number: int) -> Cycle:
        """What plug-ins see now."""
        return Cycle(
            placement=self.request.placement,
            policy=self.request.policy,
            fleet=self.fleet,
            now=self.request.now,
            number=number,
            present=ClusterSet(self.fleet.names, classified.present),
            obsolete=ClusterSet(self.fleet.names, classified.obsolete_set),
            notes=self.notes,
        )


def pick_all(run: Run) -> SchedulingResult:
    """Every cluster that passes the filters, by name; clusters that are held already stay, whatever their state."""
    classified = classify_bindings(run.request, run.fleet)
    cycle = run.cycle(classified, 1)
    filtered = run.stages.filter(cycle)
    current = (classified.listed(classified.scheduled), classified.listed(classified.bound))
    if filtered.candidates or classified.obsolete:
        names = list(ascending(filtered.candidates, run.fleet.names))
        decisions = run.fleet.once(
            "picked-without-score", lambda: tuple(picked(name, 0, 0) for name in run.fleet.names)
        )
        bound = classified.bind(names, list(ascending(filtered.candidates, decisions)))
        new = (bound.created, bound.patched)
    else:
        new = ((), ())
    decisions = list_decisions((*new, *current), iter(()), refused_in(cycle, filtered))
    return result_of(classified.finish(), decisions, classified.count, enough=True)


def pick_n(run: Run) -> SchedulingResult:
    """The N best; what is held already stays and counts, too many are given up from the lowest score."""
    target = run.request.policy.number_of_clusters
    if target is None:
        raise Unschedulable(ScheduleText.PLACEMENT_TYPE_PICKN_NEEDS_NUMBEROFCLUSTERS())
    classified = classify_bindings(run.request, run.fleet)
    if target <= classified.count:
        groups = (
            _downscale(classified, classified.count - target)
            if classified.count > target or classified.obsolete
            else None
        )
        current = groups or (classified.listed(classified.bound), classified.listed(classified.scheduled))
        decisions = list_decisions(current, iter(()), iter(()))
        return result_of(classified.finish(), decisions, classified.count, enough=True)
    number = 0
    while True:
        number += 1
        cycle = run.cycle(classified, number)
        need = target - classified.count
        limit = run.stages.post_batch(cycle, need)
        filtered = run.stages.filter(cycle)
        best, remaining = _take(run.stages.rank(cycle, filtered), limit, run.fleet)
        bound = classified.bind([decision.cluster for decision in best], best)
        if need == limit or bound.count < limit or not bound.count:
            break
        classified.follow(bound, run.fleet)
    new = {binding.cluster for binding in (*bound.created, *bound.patched)}
    groups = (classified.listed(classified.scheduled), classified.listed(classified.bound))
    older = [[binding for binding in group if binding.cluster not in new] for group in groups]
    decisions = list_decisions(
        (bound.created, bound.patched, *older), left_behind_in(cycle, remaining), refused_in(cycle, filtered)
    )
    result = result_of(classified.finish(), decisions, classified.count, enough=classified.count >= target)
    return replace(result, cycles=number)


def pick_fixed(run: Run) -> SchedulingResult:
    """The clusters that are named and eligible; taints, affinity and plug-ins are not evaluated.

    What the current policy holds stays even where the cluster is no longer eligible, but does not count. An empty list
    selects nothing, so everything is given up (decision D5).
    """
    fleet, policy = run.fleet, run.request.policy
    classified = classify_bindings(run.request, fleet)
    valid: list[ClusterDecision] = []
    ineligible: list[ClusterDecision] = []
    missing: list[ClusterDecision] = []
    for name in dict.fromkeys(policy.cluster_names):
        where = fleet.position.get(name)
        if where is None:
            missing.append(not_found(name))
        elif fleet.eligibilities[where].verdict is Eligibility.ELIGIBLE:
            valid.append(picked_by_name(name))
        else:
            why = reason_of(fleet.clusters[where], fleet.eligibilities[where].verdict, fleet.now)
            ineligible.append(not_eligible(name, why))
    if not policy.cluster_names:
        classified.unschedule((*classified.scheduled.values(), *classified.bound.values()))
    classified.bind([decision.cluster for decision in valid], valid)
    enough = not ineligible and not missing
    return result_of(classified.finish(), (*valid, *ineligible, *missing), len(valid), enough=enough)


def _take(
    groups: Iterator[ScoreGroup], count: int, fleet: FleetIndex
) -> tuple[list[ClusterDecision], Iterator[ScoreGroup]]:
    """The best `count` candidates, the largest name first where scores are equal, and the groups that are left."""
    best: list[ClusterDecision] = []
    for score, members in groups:
        best_positions = first_down(members, count - len(best))
        decisions: dict[int, ClusterDecision] = fleet.once(("picked", score), dict)
        for i in best_positions:
            if i not in decisions:
                decisions[i] = picked(fleet.names[i], score.topology_spread, score.affinity)
            best.append(decisions[i])
        if len(best) == count:
            return best, _left(score, members, best_positions, groups)
    return best, iter(())


def _left(score: Score, members: int, taken: list[int], groups: Iterator[ScoreGroup]) -> Iterator[ScoreGroup]:
    """The group without those taken from its top, and the groups behind it."""
    yield score, members & ((1 << taken[-1]) - 1) if taken else members
    yield from groups


def _downscale(classified: ClassifiedBindings, count: int) -> tuple[list[Binding], list[Binding]]:
    """Give up all obsolete bindings and `count` others: Scheduled before Bound, each from the lowest score up.

    What is left is listed as KubeFleet does: a group that was searched for the lowest score stays in that order.
    """
    classified.unschedule(classified.obsolete.values())
    scheduled = classified.listed(classified.scheduled)
    bound = classified.listed(classified.bound)
    if 0 < count < len(scheduled):
        scheduled.sort(key=_fitness)
    elif count > len(scheduled):
        bound.sort(key=_fitness)
    dropped = [*scheduled, *bound][:count]
    classified.unschedule(dropped)
    return scheduled[count:], bound[max(0, count - len(scheduled)) :]


def _fitness(binding: Binding) -> tuple[bool, ClusterScore, str]:
    score = binding.decision.score if binding.decision else None
    return (score is not None, score or ClusterScore(), binding.cluster)
