"""Decisions and conditions in KubeFleet's own sentences (kubefleet.md §2 "Messages")."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice

from gitfleet.api.bindings import Binding, ClusterDecision, ClusterScore
from gitfleet.api.conditions import Reason
from gitfleet.model.scheduling import SchedulingResult
from gitfleet.schedule.cluster_set import positions, positions_down
from gitfleet.schedule.plugins import Cycle, Score
from gitfleet.schedule.stages import Filtered, ScoreGroup
from gitfleet.schedule.texts import ScheduleText

MOST_DECISIONS = 1000
MOST_UNSELECTED = 20
ELIGIBILITY_PLUGIN = "ClusterEligibility"


def picked(cluster: str, topology_spread: int, affinity: int) -> ClusterDecision:
    """A cluster picked by its score."""
    scores = ScheduleText.AFFINITY_SCORE_TOPOLOGY_SPREAD_SCORE(affinity=affinity, topology_spread=topology_spread)
    return ClusterDecision(
        cluster=cluster,
        selected=True,
        score=ClusterScore(topology_spread, affinity),
        reason=ScheduleText.SUCCESSFULLY_SCHEDULED_RESOURCES_PLACEMENT(cluster=cluster, scores=scores),
    )


def picked_by_name(cluster: str) -> ClusterDecision:
    """A cluster that PickFixed names."""
    reason = ScheduleText.SUCCESSFULLY_SCHEDULED_RESOURCES_PLACEMENT_PICKED(cluster=cluster)
    return ClusterDecision(cluster=cluster, selected=True, reason=reason)


def not_eligible(cluster: str, why: str) -> ClusterDecision:
    """A cluster that PickFixed names and that may not get anything yet."""
    reason = ScheduleText.CLUSTER_IS(cluster=cluster, why=ScheduleText.NOT_ELIGIBLE_YET(why=why))
    return ClusterDecision(cluster=cluster, selected=False, reason=reason, refused_by=ELIGIBILITY_PLUGIN)


def not_found(cluster: str) -> ClusterDecision:
    """A cluster that PickFixed names and that the fleet does not have."""
    return ClusterDecision(
        cluster=cluster, selected=False, reason=ScheduleText.SPECIFIED_CLUSTER_NOT_FOUND(cluster=cluster)
    )


def outscored(cluster: str, score: Score) -> ClusterDecision:
    """A cluster that others left behind."""
    points = ClusterScore(score.topology_spread, score.affinity)
    reason = ScheduleText.CLUSTER_IS(cluster=cluster, why=low_score(points))
    return ClusterDecision(cluster=cluster, selected=False, score=points, reason=reason)


def low_score(score: ClusterScore) -> str:
    """Why a cluster was left behind, as the end of a sentence about it."""
    scores = ScheduleText.AFFINITY_SCORE_TOPOLOGY_SPREAD_SCORE(
        affinity=score.affinity, topology_spread=score.topology_spread
    )
    return ScheduleText.SCORE_NOT_HIGH_ENOUGH(scores=scores)


def common_reason(decision: ClusterDecision) -> str:
    """The reason of a decision, the same for all clusters that were left behind with one score."""
    return decision.reason if decision.selected or decision.score is None else low_score(decision.score)


def refused(cluster: str, why: str, plugin: str) -> ClusterDecision:
    """A cluster that a filter refused."""
    reason = ScheduleText.CLUSTER_UNSCHEDULABLE(why=why)
    return ClusterDecision(cluster=cluster, selected=False, reason=reason, refused_by=plugin)


def decision_of_binding(binding: Binding) -> ClusterDecision:
    """The decision that made a binding, which holds as long as the binding does."""
    return binding.decision or ClusterDecision(cluster=binding.cluster, selected=True)


def list_decisions(
    groups: Iterable[Iterable[Binding]], left_behind: Iterator[ClusterDecision], filtered_out: Iterator[ClusterDecision]
) -> tuple[ClusterDecision, ...]:
    """At most 1000: the clusters held, then up to 20 others, those with a score first."""
    selected = list(islice(map(decision_of_binding, chain.from_iterable(groups)), MOST_DECISIONS))
    seen = {decision.cluster for decision in selected}
    most_others = min(MOST_UNSELECTED, MOST_DECISIONS - len(selected))
    unselected = (decision for decision in chain(left_behind, filtered_out) if decision.cluster not in seen)
    return (*selected, *islice(unselected, most_others))


def left_behind_in(cycle: Cycle, groups: Iterable[ScoreGroup]) -> Iterator[ClusterDecision]:
    """Decisions for the candidates that were not picked, best first."""
    for score, members in groups:
        for i in positions_down(members):
            yield outscored(cycle.fleet.names[i], score)


def refused_in(cycle: Cycle, filtered: Filtered) -> Iterator[ClusterDecision]:
    """Decisions for the refused clusters, by name."""
    for i in positions(filtered.decided):
        cluster = cycle.fleet.clusters[i]
        for entry, their in filtered.refusals:
            if their.all >> i & 1:
                why = entry.plugin.filter(cycle, cluster)
                yield refused(cluster.name, why.reason if why else "", entry.name)
                break


def result_of(
    bindings: tuple[Binding, ...], decisions: tuple[ClusterDecision, ...], count: int, *, enough: bool
) -> SchedulingResult:
    """The result with the Scheduled condition: whether as many clusters were found as the policy needs."""
    if enough:
        reason = Reason.SCHEDULING_POLICY_FULFILLED
        message = ScheduleText.FOUND_ALL_CLUSTER_NEEDED_SPECIFIED(found=count)
    else:
        reason = Reason.SCHEDULING_POLICY_UNFULFILLED
        failure = ScheduleText.COULD_NOT_FIND_ALL_CLUSTERS()
        message = f"{failure}, found {count} cluster(s) instead"
    return SchedulingResult(bindings=bindings, decisions=decisions, fulfilled=enough, reason=reason, message=message)
