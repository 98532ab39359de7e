"""Why each cluster was chosen or not, and what would have to change: `gitfleet explain`.

The verdicts on clusters that are not picked are those of one more cycle after the last: what the plug-ins would say if
one more cluster were needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from gitfleet.api.bindings import Binding, ClusterScore
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.placements import PlacementType
from gitfleet.model.failures import Failure, Subject, attempt
from gitfleet.model.scheduling import ClusterVerdict, SchedulingRequest, SchedulingResult
from gitfleet.schedule.classified_bindings import classify_bindings
from gitfleet.schedule.decisions import decision_of_binding, low_score
from gitfleet.schedule.eligibility import reason_of
from gitfleet.schedule.fleet import FleetIndex
from gitfleet.schedule.pick import Run
from gitfleet.schedule.plugins import Cycle, Score
from gitfleet.schedule.profile import Entry, Profile
from gitfleet.schedule.stages import Filtered, Stages, failure_of
from gitfleet.schedule.texts import ScheduleText


def explain_clusters(
    request: SchedulingRequest, result: SchedulingResult, fleet: FleetIndex, profile: Profile
) -> tuple[ClusterVerdict, ...]:
    """A verdict on every cluster of the fleet, by name; PickFixed: also on names that the fleet does not have."""
    after = replace(request, bindings=result.bindings)
    classified = classify_bindings(after, fleet)
    picked = {**classified.scheduled, **classified.bound}
    if result.error is not None:
        return _undecided(fleet, picked, result.error)
    if request.policy.placement_type is PlacementType.PICK_FIXED:
        return _fixed(result, fleet, picked)
    stages = Stages(profile)
    cycle = Run(after, fleet, stages, {}).cycle(classified, result.cycles + 1)
    verdicts = attempt(Subject.of_placement(request.placement), _one_more_cycle, stages, cycle, picked)
    if isinstance(verdicts, Failure):
        return _undecided(fleet, picked, failure_of(stages, verdicts) or verdicts.sentence)
    return verdicts


def _one_more_cycle(stages: Stages, cycle: Cycle, picked: Mapping[str, Binding]) -> tuple[ClusterVerdict, ...]:
    filtered = stages.filter(cycle)
    scorer = _scorer(stages.profile, cycle)
    return tuple(
        _picked(picked[cluster.name], scorer)
        if cluster.name in picked
        else _refused(cluster, cycle, filtered) or _outscored(cluster, scorer)
        for cluster in cycle.fleet.clusters
    )


@dataclass(frozen=True, slots=True)
class _Scorer:
    """The plug-ins that score in this cycle; none for PickAll."""

    cycle: Cycle
    plugins: tuple[Entry, ...]

    def scores(self, cluster: MemberCluster, *, steady: bool = False) -> dict[str, Score]:
        """What each gives, weighted; with `steady` only those that do not depend on bindings."""
        return {
            entry.name: Score(*(part * entry.weight for part in entry.plugin.score(self.cycle, cluster)))
            for entry in self.plugins
            if not (steady and entry.plugin.depends_on_bindings)
        }


def _scorer(profile: Profile, cycle: Cycle) -> _Scorer:
    if cycle.policy.placement_type is PlacementType.PICK_ALL:
        return _Scorer(cycle, ())
    scoring = (*profile.steady_scores, *profile.moving_scores)
    return _Scorer(cycle, tuple(entry for entry in scoring if entry.plugin.pre_score(cycle)))


def _picked(binding: Binding, scorer: _Scorer) -> ClusterVerdict:
    """The decision stands as it was made; the plug-ins that do not depend on bindings give what they would give
    today."""
    decision = decision_of_binding(binding)
    cluster = scorer.cycle.fleet.clusters[scorer.cycle.fleet.position[binding.cluster]]
    return ClusterVerdict(
        cluster=binding.cluster,
        selected=True,
        reason=decision.reason,
        score=decision.score,
        scores_by_plugin=_points(scorer.scores(cluster, steady=True)),
    )


def _refused(cluster: MemberCluster, cycle: Cycle, filtered: Filtered) -> ClusterVerdict | None:
    where = cycle.fleet.position[cluster.name]
    for entry, refused in filtered.refusals:
        if refused.all >> where & 1:
            why = entry.plugin.filter(cycle, cluster)
            return ClusterVerdict(
                cluster=cluster.name,
                selected=False,
                refused_by=entry.name,
                reason=why.reason if why else "",
                remedy=entry.plugin.remedy(cycle, cluster),
            )
    return None


def _outscored(cluster: MemberCluster, scorer: _Scorer) -> ClusterVerdict:
    scores = scorer.scores(cluster)
    total = Score(*map(sum, zip(*scores.values(), strict=True)))
    remedy = ScheduleText.RAISE_NUMBEROFCLUSTERS_ABOVE(wanted=scorer.cycle.policy.number_of_clusters or 0)
    score = ClusterScore(total.topology_spread, total.affinity)
    return ClusterVerdict(
        cluster=cluster.name,
        selected=False,
        reason=low_score(score),
        score=score,
        scores_by_plugin=_points(scores),
        remedy=remedy,
    )


def _fixed(result: SchedulingResult, fleet: FleetIndex, picked: Mapping[str, Binding]) -> tuple[ClusterVerdict, ...]:
    decisions = {decision.cluster: decision for decision in result.decisions}
    verdicts: list[ClusterVerdict] = []
    for name in sorted({*fleet.names, *decisions}):
        decision = decisions.get(name)
        reason = decision.reason if decision else ScheduleText.NOT_NAMED_PLACEMENT()
        remedy = "" if name in picked else ScheduleText.ADD_CLUSTERNAMES()
        if decision is not None and not decision.selected:
            where = fleet.position.get(name)
            remedy = ScheduleText.ADD_MEMBERCLUSTER_NAME()
            if where is not None:
                why = reason_of(fleet.clusters[where], fleet.eligibilities[where].verdict, fleet.now)
                reason = ScheduleText.NOT_ELIGIBLE_YET(why=why)
                remedy = ScheduleText.MAKE_CLUSTER_ELIGIBLE(why=why)
        verdicts.append(
            ClusterVerdict(
                cluster=name,
                selected=name in picked,
                refused_by=decision.refused_by if decision else None,
                reason=reason,
                remedy=remedy,
            )
        )
    return tuple(verdicts)


def _undecided(fleet: FleetIndex, picked: Mapping[str, Binding], error: str) -> tuple[ClusterVerdict, ...]:
    """Nothing was decided: what is held stays, and every cluster carries the reason."""
    return tuple(ClusterVerdict(cluster=name, selected=name in picked, reason=error) for name in fleet.names)


def _points(scores: Mapping[str, Score]) -> dict[str, int]:
    return {name: sum(score) for name, score in scores.items()}
