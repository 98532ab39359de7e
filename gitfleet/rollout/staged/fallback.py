"""A run that rolls back by itself (`onFailure: Rollback`): the clusters that it updated get what they had before.

As on the way forward, at most maxConcurrency clusters of a stage are under way, at most startRate start within a
minute, and none starts while most do not answer. The later stages go back first, and in each those that did not finish.
A cluster that had nothing before keeps what it has: nothing is removed (invariant 3). Decision record 0015.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

from gitfleet.api.bindings import Binding, ClusterContent
from gitfleet.api.runs import ClusterUpdate, Former, RunConditionType, StageStatus
from gitfleet.api.snapshots import snapshot_index
from gitfleet.api.staged import Stage
from gitfleet.model.rolling import MoveKind
from gitfleet.model.state import PlacementRecord
from gitfleet.rollout.moves import roll_out
from gitfleet.rollout.staged.clusters import (
    binding_of,
    held_back,
    is_current,
    is_silent,
    is_updated,
    rolled_out_by,
    until_stuck,
)
from gitfleet.rollout.staged.phases import ClusterEvent, ClusterPhase
from gitfleet.rollout.staged.steps import Pass, cluster_phase
from gitfleet.rollout.staged.waits import stuck_text
from gitfleet.rollout.texts import RolloutText


def revert_clusters(work: Pass, spec: Stage, stage: StageStatus, record: PlacementRecord) -> StageStatus:
    """The stage after this pass of a run that rolls back."""
    clusters = [_followed(work, spec, cluster) for cluster in stage.clusters]
    goes, why, free = work.request.state.starts, "", 0
    order = sorted(range(len(clusters)), key=lambda at: cluster_phase(clusters[at]) is ClusterPhase.UPDATED)
    for at in order:
        former = _owed(work, clusters[at])
        if former is None:
            continue
        if not (why or free):
            why, free = held_back(work, spec, stage, clusters, may_start=goes, back=True)
        if why:
            work.blocked[clusters[at].cluster] = RolloutText.RUN_ROLLS_BACK(run=work.name, why=why)
        else:
            free -= 1
            clusters[at] = _reverted(work, spec, clusters[at], former, record)
    return replace(stage, clusters=tuple(clusters))


def is_reverted(work: Pass, stages: Iterable[StageStatus]) -> bool:
    """Whether nothing of a rollback is left to do."""
    clusters = [cluster for stage in stages for cluster in stage.clusters]
    under_way = any(cluster_phase(cluster) is ClusterPhase.ROLLING_BACK for cluster in clusters)
    return not under_way and all(_owed(work, cluster) is None for cluster in clusters)


def reverted_text(stages: Iterable[StageStatus]) -> str:
    """Which clusters have what they had before, in a sentence."""
    clusters = (cluster for stage in stages for cluster in stage.clusters)
    names = [c.cluster for c in clusters if c.reverted is not None]
    return RolloutText.WENT_BACK_BEFORE(names=stuck_text(names)) if names else RolloutText.NO_CLUSTER_ANYTHING_GO_BACK()


def _owed(work: Pass, cluster: ClusterUpdate) -> Former | None:
    """What a cluster had before and is still to get: None where it has it, where it had nothing, and where another run
    has updated it since."""
    binding, phase = binding_of(work, cluster.cluster), cluster_phase(cluster)
    if binding is None or phase in (ClusterPhase.PENDING, ClusterPhase.ROLLING_BACK, ClusterPhase.ROLLED_BACK):
        return None
    return cluster.former if is_current(work, cluster, binding) else None


def _reverted(
    work: Pass, spec: Stage, cluster: ClusterUpdate, former: Former, record: PlacementRecord
) -> ClusterUpdate:
    """The cluster with what it had before."""
    name, snapshot = cluster.cluster, record.snapshot_named(former.resource_snapshot)
    refused = work.request.quarantined.get(snapshot.hash) if snapshot is not None else None
    if snapshot is None or refused:
        why = refused or "is lost"
        sentence = RolloutText.WHICH_IT_HAD(resource_snapshot=former.resource_snapshot, why=why)
        return work.cluster(work.cluster(cluster, ClusterEvent.REVERT), ClusterEvent.REVERTED, sentence)
    contents = {name: ClusterContent.of(former)}
    moving = replace(work.moving, latest_snapshot=snapshot.name, contents=contents, labels=work.request.former_labels)
    cause = rolled_out_by(work, str(snapshot.index))
    work.bindings[name] = roll_out(moving, work.bindings[name], work.moving.gate.way_back(name), work.now, cause)
    failed = snapshot_index(work.request.run.snapshot)
    work.move(
        name,
        MoveKind.UPDATE,
        RolloutText.RUN_ROLLS_BACK_AGAIN_INSTEAD(run=work.name, snapshot=snapshot.name, failed=failed),
    )
    return _followed(work, spec, work.cluster(replace(cluster, reverted=work.now), ClusterEvent.REVERT))


def _followed(work: Pass, spec: Stage, cluster: ClusterUpdate) -> ClusterUpdate:
    """A cluster that got what it had before: through, or under way; any other as it is."""
    if cluster_phase(cluster) is not ClusterPhase.ROLLING_BACK:
        return cluster
    name = cluster.cluster
    binding = binding_of(work, name)
    if binding is None or not _has(binding, cluster.former):
        return work.cluster(cluster, ClusterEvent.REVERTED, RolloutText.SOMETHING_ELSE_UPDATED_CLUSTER_SINCE())
    if is_updated(work, binding):
        return work.cluster(cluster, ClusterEvent.REVERTED)
    if is_silent(work, name):
        return work.cluster(cluster, ClusterEvent.REVERTED, RolloutText.NOT_ANSWER_GETS_WHEN_ANSWERS())
    remaining = until_stuck(work, spec, cluster, binding, RunConditionType.ROLLED_BACK)
    if remaining < timedelta(0):
        work.stuck.append(name)
    else:
        work.clock(remaining + timedelta.resolution)
    return cluster


def _has(binding: Binding, former: Former | None) -> bool:
    if former is None:
        return False
    is_content = ClusterContent.of(binding) == ClusterContent.of(former)
    return is_content and binding.resource_snapshot == former.resource_snapshot
