"""`explain`: why each cluster was picked, refused, updated or waits, from one placement's record and the clusters.

The record suffices: what the scheduler's plug-ins say of a cluster that is not picked, and what the rollout waits for,
follow from the recorded bindings and clusters by the deciding functions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from gitfleet import rollout, schedule
from gitfleet.api.bindings import Binding, is_active
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.conditions import ConditionType, MemberConditionType, find_condition, type_of
from gitfleet.api.freeze_files import FreezeRules
from gitfleet.api.objects import JsonObject
from gitfleet.api.quarantines import Quarantine
from gitfleet.api.runs import ApprovalRequest, RunRecord
from gitfleet.api.values import NamespacedName
from gitfleet.errors import BadInput
from gitfleet.model.rolling import Frozen, Held, MoveKind, RolloutPlan
from gitfleet.model.scheduling import ClusterVerdict
from gitfleet.model.state import PlacementRecord
from gitfleet.model.successors import Successors
from gitfleet.rollout import staged
from gitfleet.status import ClusterState, cluster_state, health_condition
from gitfleet.views.holds import held_condition
from gitfleet.views.runs import last_run_failures
from gitfleet.views.texts import ViewsText

Clusters = Mapping[str, MemberCluster]
_BY_RUNS: Final = "strategy External: "


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What beside a placement's record says what it waits for, at a moment: its runs and what they asked people for,
    freezes, clusters, quarantined content, and `others` that may take over what a removed one has."""

    now: datetime
    runs: Iterable[RunRecord] = ()
    freezes: FreezeRules = FreezeRules()
    requests: Mapping[NamespacedName, ApprovalRequest] = field(default_factory=dict)
    clusters: Clusters = field(default_factory=dict)
    quarantines: Iterable[Quarantine] = ()
    others: Iterable[PlacementRecord] = ()

    def frozen(self, record: PlacementRecord, stage: str = "") -> Mapping[str, Frozen]:
        """The clusters of a placement that are frozen for its rolling update, or for a stage of its runs."""
        names = [binding.cluster for binding in record.bindings]
        return rollout.freezes_at(self.freezes, self.now).of(record.placement.key, names, self.clusters, stage)


def recorded_plan(record: PlacementRecord, beside: Recorded) -> RolloutPlan | None:
    """What the rolling update would do with the bindings as they stand, with the overrides that they have; for an
    External placement, what each cluster waits for of its runs."""
    if record.placement.deleting is not None:
        others = {other.placement.key: other for other in beside.others}
        stays = {
            **rollout.awaiting_successors(record, Successors(others, beside.clusters)),
            **beside.frozen(record),
        }
        if (removals_wait := rollout.frozen_removals(record, stays, beside.now)) is not None:
            return removals_wait
    if record.placement.strategy.external:
        return _of_runs(record, beside)
    pinned = {
        binding.cluster: (binding.cluster_resource_overrides, binding.resource_overrides) for binding in record.bindings
    }
    frozen = beside.frozen(record)
    request = rollout.request_for(record, pinned, beside.now)
    refused = rollout.recorded_refusal(record, beside.quarantines)
    return rollout.plan_rollout(replace(request, frozen=frozen, refused=refused))


def _of_runs(record: PlacementRecord, beside: Recorded) -> RolloutPlan:
    """No move, as no run was asked; and which run reaches each cluster that lacks the newest snapshot."""
    latest = record.latest_resources.name if record.latest_resources is not None else None
    refused = rollout.recorded_refusal(record, beside.quarantines)
    waits = {
        b.cluster: f"{_BY_RUNS}{rollout.run_awaited(record, [b], refused)}"
        for b in record.bindings
        if is_active(b) and b.resource_snapshot != latest
    }
    for run in beside.runs:
        if run.placement == record.placement.key and not run.finished:
            specs = run.status.strategy.stages if run.status.strategy else ()
            for spec, stage in zip(specs, run.status.stages, strict=True):
                frozen = beside.frozen(record, stage.name)
                for cluster in stage.clusters:
                    if soaks := staged.soak_wait(str(run.key), spec, stage, (cluster,)):
                        waits[cluster.cluster] = soaks
                    elif staged.cluster_phase(cluster) is staged.ClusterPhase.PENDING:
                        phase = staged.run_phase(run.status)
                        why = f"; {frozen[cluster.cluster].reason}" if cluster.cluster in frozen else ""
                        waits[cluster.cluster] = ViewsText.RUN_REACHES_STAGE(
                            run=run.key, phase=phase, stage=stage.name, why=why
                        )
    held = tuple(Held(cluster=name, kind=MoveKind.UPDATE, reason=reason) for name, reason in waits.items())
    return RolloutPlan(moves=(), held=held, up_to_date=(), need_roll=bool(held), wait=None, bindings=record.bindings)


def standing_lines(record: PlacementRecord, beside: Recorded) -> dict[str, str]:
    """What is said of a placement's held removals, its pin, why it is kept, what its runs wait for, and its last run
    where that failed, by their fields in `explain -o json`; "" where there is none."""
    key = record.placement.key
    pinned, kept = (
        find_condition(record.conditions, type_of(key.kind, one)) for one in (ConditionType.PINNED, ConditionType.KEPT)
    )
    held = held_condition(key, record.conditions)
    mine = [run for run in beside.runs if run.placement == key and record.placement.strategy.external]
    failed = last_run_failures(beside.runs, {key: record})
    return {
        "removalsHeld": ViewsText.GITFLEET_GET_HOLDS(key=key, held=held.message) if held is not None else "",
        "pinned": f"{key}: {pinned.message}" if pinned is not None else "",
        "kept": f"{key}: {kept.message}" if kept is not None else "",
        "runWaits": "; ".join(w for run in mine for w in staged.waits_of(run, beside.requests, beside.now)),
        "lastRunFailed": failed.get(key, ""),
    }


def held_clusters(clusters: Iterable[MemberCluster]) -> frozenset[str]:
    """The clusters whose removal waits for a person."""
    said = MemberConditionType.REMOVAL_HELD
    return frozenset(one.name for one in clusters if find_condition(one.status.conditions, said) is not None)


def explanation(
    record: PlacementRecord,
    clusters: Clusters,
    profile: schedule.Profile,
    plan: RolloutPlan | None,
    now: datetime,
    held_back: Collection[str] = (),
) -> list[JsonObject]:
    """A row for every cluster, those picked first (the `clusters` of `explain -o json`); the removal of clusters in
    `held_back` is held."""
    bindings = {binding.cluster: binding for binding in record.bindings}
    index = schedule.closed_to_new(schedule.index_fleet(clusters.values(), now), held_back, record.bindings)
    verdicts = schedule.explain(schedule.request_for(record, now), index, profile=profile)
    held = {held.cluster: held.reason for held in plan.held} if plan else {}
    moves = {move.cluster: move.reason for move in plan.moves} if plan else {}
    rows = [
        {
            **_scheduled(verdict, clusters.get(verdict.cluster)),
            **_rolled_out(record, bindings.get(verdict.cluster), held.get(verdict.cluster), moves.get(verdict.cluster)),
        }
        for verdict in verdicts
    ]
    return sorted(rows, key=lambda row: (not row["selected"], row["clusterName"]))


def no_placement(name: str, known: list[str], runs: Iterable[RunRecord] = ()) -> BadInput:
    """The error for a placement that is not there; for a run of that name it names the run's placement."""
    for run in runs:
        if str(run.key) == name:
            hint = ViewsText.GITFLEET_EXPLAIN_SAYS_WAITS(placement=run.placement, name=name)
            return BadInput(ViewsText.NO_PLACEMENT_BUT_RUN_PLACEMENT(name=name, placement=run.placement), hint=hint)
    return BadInput(ViewsText.NO_PLACEMENT(name=name), hint=f"placements: {', '.join(known) or 'none'}")


def _scheduled(verdict: ClusterVerdict, cluster: MemberCluster | None) -> JsonObject:
    state = cluster_state(cluster) if cluster else None
    health = health_condition(cluster) if cluster and state is not ClusterState.HEALTHY else None
    score = verdict.score
    return {
        "clusterName": verdict.cluster,
        "selected": verdict.selected,
        "refusedBy": verdict.refused_by,
        "reason": verdict.reason,
        "clusterScore": score and {"topologySpreadScore": score.topology_spread, "affinityScore": score.affinity},
        "scoresByPlugin": dict(verdict.scores_by_plugin),
        "remedy": verdict.remedy,
        "clusterState": state,
        "clusterMessage": health.message if health else "",
        "why": verdict.reason,
    }


def _rolled_out(record: PlacementRecord, binding: Binding | None, held: str | None, move: str | None) -> JsonObject:
    if binding is None:
        nothing = dict.fromkeys(("state", "resourceSnapshot", "appliedSnapshot", "next"))
        return {**nothing, "waiting": []}
    mine = replace(record, bindings=(binding,))
    awaited = rollout.run_awaited(mine)
    run = [f"{_BY_RUNS}{awaited}"] if awaited else []
    waiting = [held] if held else [] if move else list(rollout.waiting_for(mine)) or run
    waiting += [kept] if (kept := rollout.kept_there(binding)) else []
    picked = is_active(binding)
    return {
        "state": str(binding.state),
        "resourceSnapshot": binding.resource_snapshot,
        "appliedSnapshot": binding.applied_snapshot,
        "waiting": waiting,
        "next": move,
        **({"selected": True} if picked else {}),
        **({"why": waiting[0]} if waiting else {}),
    }
