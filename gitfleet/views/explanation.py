"""`explain`: why each cluster was picked, refused, updated or waits, from one placement's record and the clusters.

The record suffices: what the scheduler's plug-ins say of a cluster that is not picked, and what the rollout waits for,
follow from the recorded bindings and clusters by the deciding functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final

from gitfleet import rollout, schedule
from gitfleet.api.bindings import Binding, ClusterContent, is_active
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.conditions import ConditionType
from gitfleet.api.objects import JsonObject
from gitfleet.api.runs import RunRecord
from gitfleet.errors import BadInput
from gitfleet.model.rolling import Frozen, PlacementGate, RolloutPlan
from gitfleet.model.scheduling import ClusterVerdict
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.rollout import staged
from gitfleet.status import ClusterState, cluster_state, health_condition
from gitfleet.views.evictions import with_evictions
from gitfleet.views.holds import held_line
from gitfleet.views.rollout_documents import with_rollouts
from gitfleet.views.runs import last_run_failures
from gitfleet.views.texts import ViewsText

Clusters = Mapping[str, MemberCluster]
_BY_RUNS: Final = "strategy External: "


def explained(
    record: PlacementRecord,
    state: FleetState,
    now: datetime,
    profile: schedule.Profile,
    plan: RolloutPlan | None = None,
) -> tuple[dict[str, str], list[JsonObject]]:
    """What waits of one placement, what pins it and why its last run failed, in a sentence each ("" for nothing); and
    every cluster's part in it, chosen ones first. `plan` is what the rolling update does, where that was decided. No
    other placement of the state is looked at."""
    plan = plan or recorded_plan(record, state, now)
    rows = _rows(record, state.clusters, profile, plan, now)
    rows = with_evictions(rows, record.placement.key, state)
    rows = with_rollouts(rows, record, state.rollouts.values())
    return _standing_lines(record, state, now), [{**row, "why": why(row)} for row in rows]


def why(row: JsonObject) -> str:
    """The one sentence that matters most about a cluster: what it waits for, else what happens next, else why it was
    picked or not."""
    if row["waiting"]:
        return str(row["waiting"][0])
    if row["selected"] and row["next"]:
        return f"next: {row['next']}"
    if row["selected"] and row["appliedSnapshot"]:
        return ViewsText.UP_DATE()
    return f"{row['reason']} ({row['clusterMessage']})" if row["clusterMessage"] else str(row["reason"])


def recorded_plan(record: PlacementRecord, state: FleetState, now: datetime) -> RolloutPlan | None:
    """What the rolling update would do with the bindings as they stand, with the overrides that they have; for an
    External placement, what each cluster waits for of its runs."""
    frozen = _frozen(record, state, now)
    if (removals_wait := rollout.frozen_removals(record, frozen, now)) is not None:
        return removals_wait
    if record.placement.strategy.external:
        return _of_runs(record, state, now)
    pinned = {binding.cluster: ClusterContent.of(binding) for binding in record.bindings}
    refused = rollout.recorded_refusal(record, state.quarantines.values())
    gate = PlacementGate(frozen={**rollout.recorded_waits(record), **frozen}, refused=refused)
    return rollout.plan_rollout(rollout.request_for(record, pinned, now, gate))


def _frozen(record: PlacementRecord, state: FleetState, now: datetime, stage: str = "") -> Mapping[str, Frozen]:
    """The clusters of a placement that are frozen for its rolling update, or for a stage of its runs."""
    names = [binding.cluster for binding in record.bindings]
    return rollout.freezes_at(state.freezes, now).of(record.placement.key, names, state.clusters, stage)


def _of_runs(record: PlacementRecord, state: FleetState, now: datetime) -> RolloutPlan:
    """No move, as no run was asked; and which run reaches each cluster that lacks the newest snapshot."""
    latest = record.latest_resources.name if record.latest_resources is not None else None
    refused = rollout.recorded_refusal(record, state.quarantines.values())
    waits = {
        b.cluster: f"{_BY_RUNS}{rollout.run_awaited(record, [b], refused)}"
        for b in record.bindings
        if is_active(b) and b.resource_snapshot != latest
    }
    for run in state.runs.values():
        if run.placement == record.placement.key and not run.finished:
            specs = run.status.strategy.stages if run.status.strategy else ()
            for spec, stage in zip(specs, run.status.stages, strict=True):
                frozen = _frozen(record, state, now, stage.name)
                for cluster in stage.clusters:
                    if soaks := staged.soak_wait(str(run.key), spec, stage, (cluster,)):
                        waits[cluster.cluster] = soaks
                    elif staged.cluster_phase(cluster) is staged.ClusterPhase.PENDING:
                        phase = staged.run_phase(run.status)
                        why = f"; {frozen[cluster.cluster].reason}" if cluster.cluster in frozen else ""
                        waits[cluster.cluster] = ViewsText.RUN_REACHES_STAGE(
                            run=run.key, phase=phase, stage=stage.name, why=why
                        )
    return RolloutPlan(moves=(), blocked=waits, up_to_date=(), need_roll=bool(waits), bindings=record.bindings)


def _standing_lines(record: PlacementRecord, state: FleetState, now: datetime) -> dict[str, str]:
    """What is said of a placement's held removals, its pin, why it is kept, what its runs wait for, and its last run
    where that failed, by their fields in `explain -o json`; "" where there is none."""
    key = record.placement.key
    pinned, retained = record.pinned, record.condition(ConditionType.KEPT)
    held = record.condition(ConditionType.REMOVALS_HELD)
    of_fleet = [held_line(hold) for hold in state.holds.values() if hold.waits and not hold.removals]
    why_held = [held.message, *of_fleet] if held is not None else of_fleet
    own_runs = [run for run in state.runs.values() if run.placement == key and record.placement.strategy.external]
    failed = last_run_failures(state.runs.values(), {key: record})
    return {
        "removalsHeld": ViewsText.GITFLEET_GET_HOLDS(key=key, held="; ".join(why_held)) if why_held else "",
        "pinned": f"{key}: {pinned.message}" if pinned is not None else "",
        "kept": f"{key}: {retained.message}" if retained is not None else "",
        "runWaits": "; ".join(w for run in own_runs for w in staged.waits_of(run, state.approvals, now)),
        "lastRunFailed": failed.get(key, ""),
    }


def _rows(
    record: PlacementRecord,
    clusters: Clusters,
    profile: schedule.Profile,
    plan: RolloutPlan | None,
    now: datetime,
) -> list[JsonObject]:
    """A row for every cluster, those picked first (the `clusters` of `explain -o json`)."""
    bindings = {binding.cluster: binding for binding in record.bindings}
    index = schedule.index_fleet(clusters.values(), now)
    verdicts = schedule.explain(schedule.request_for(record, now), index, profile=profile)
    blocked = plan.blocked if plan else {}
    moves = {move.cluster: move.reason for move in plan.moves} if plan else {}
    rows = [
        {
            **_scheduled(verdict, clusters.get(verdict.cluster)),
            **_rolled_out(
                record, bindings.get(verdict.cluster), blocked.get(verdict.cluster), moves.get(verdict.cluster)
            ),
            **_variants(record, bindings.get(verdict.cluster), clusters.get(verdict.cluster)),
        }
        for verdict in verdicts
    ]
    return sorted(rows, key=lambda row: (not row["selected"], row["clusterName"]))


def no_placement(name: str, names: list[str], runs: Iterable[RunRecord] = ()) -> BadInput:
    """The error for a placement that is not there; for a run of that name it names the run's placement."""
    for run in runs:
        if str(run.key) == name:
            hint = ViewsText.GITFLEET_EXPLAIN_SAYS_WAITS(placement=run.placement, name=name)
            return BadInput(ViewsText.NO_PLACEMENT_BUT_RUN_PLACEMENT(name=name, placement=run.placement), hint=hint)
    return BadInput(ViewsText.NO_PLACEMENT(name=name), hint=f"placements: {', '.join(names) or 'none'}")


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
    }


def _variants(record: PlacementRecord, binding: Binding | None, cluster: MemberCluster | None) -> JsonObject:
    """The variants of a cluster, each with the labels of the cluster that its selector reads."""
    snapshot = record.snapshot_named(binding.resource_snapshot) if binding is not None else None
    if binding is None or snapshot is None or cluster is None or not snapshot.folders:
        return {}
    chosen, labels = dict(binding.variants), cluster.scheduling_labels
    variants = []
    for folder in snapshot.folders:
        variant = next((v for v in folder.variants if v.name == chosen.get(folder.name)), None)
        keys = variant.cluster_selector.keys if variant is not None else ()
        read = {key: labels[key] for key in keys if key in labels}
        variants.append({"folder": folder.name, "variant": chosen.get(folder.name), "labels": read})
    return {"variants": variants}


def _rolled_out(record: PlacementRecord, binding: Binding | None, blocked: str | None, move: str | None) -> JsonObject:
    if binding is None:
        nothing = dict.fromkeys(("state", "resourceSnapshot", "appliedSnapshot", "next"))
        return {**nothing, "waiting": []}
    awaited = rollout.run_awaited(record, [binding])
    run = [f"{_BY_RUNS}{awaited}"] if awaited else []
    waiting = [blocked] if blocked else [] if move else list(rollout.waiting_state(binding, record)) or run
    waiting += [retained] if (retained := rollout.kept_there(binding)) else []
    picked = is_active(binding)
    return {
        "state": str(binding.state),
        "resourceSnapshot": binding.resource_snapshot,
        "appliedSnapshot": binding.applied_snapshot,
        "waiting": waiting,
        "next": move,
        **({"selected": True} if picked else {}),
    }
