"""A run is initialized, and held against what it was initialized with in every pass (KubeFleet pkg/controllers/
updaterun, initialization.go and validation.go)."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from gitfleet.api.bindings import ClusterContent, is_active
from gitfleet.api.conditions import Status
from gitfleet.api.placements import PlacementType
from gitfleet.api.runs import DELETE_STAGE, ClusterUpdate, RunRecord, RunStatus, StageStatus, StrategySnapshot
from gitfleet.api.staged import Membership, StagedRun, StagedStrategy, strategy_kind
from gitfleet.errors import BadInput, RetryLater
from gitfleet.formats.sentences import named_briefly
from gitfleet.model.state import PlacementRecord
from gitfleet.rollout.staged.phases import RunEvent
from gitfleet.rollout.staged.requests import RunRequest, snapshot_for
from gitfleet.rollout.staged.stages import answer_names, stages_of
from gitfleet.rollout.staged.steps import after_events
from gitfleet.rollout.texts import RolloutText

_NEW_RUN = RolloutText.ADD_NEW_RUN_GO()
_FREEZES = RolloutText.STRATEGY_MEMBERSHIP_FREEZE_KEEPS_RUN()


def initialized(request: RunRequest, record: PlacementRecord) -> RunStatus:
    """The status of a run that begins: its snapshot, its strategy, and every cluster in its stage.

    BadInput when it cannot begin and never will, RetryLater when scheduling is not through yet, its strategy has errors
    or its namespace is not there.
    """
    run, strategy = request.run, request.strategy
    _has_namespace(request, record)
    policy = _scheduled_policy(request, record)
    count = _selected_count(request, record)
    if strategy is None:
        if request.strategy_faults:
            faults = request.strategy_faults
            raise RetryLater(RolloutText.STRATEGY_ERRORS_CORRECT(strategy=run.strategy_name, faults=faults))
        sentence = RolloutText.REFERENCED_UPDATESTRATEGY_NOT_FOUND(strategy=run.strategy_name)
        raise BadInput(sentence, hint=RolloutText.ADD_NAME_NEW_RUN(kind=strategy_kind(run.key.namespace)))
    _compatible(request, strategy)
    _answered_alone(request, strategy)
    snapshot = snapshot_for(run, record)
    if snapshot is None:
        indexes = [str(s.index) for s in record.resource_snapshots] or ["none"]
        index = run.resource_snapshot_index or "latest"
        sentence = RolloutText.NO_RESOURCESNAPSHOTS_INDEX(index=index, placement=run.placement)
        raise BadInput(sentence, hint=RolloutText.INDEXES_THERE_ARE(known=named_briefly(indexes, 10)))
    if snapshot.hash in request.quarantined:
        sentence = f"snapshot {snapshot.index} {request.quarantined[snapshot.hash]}"
        raise BadInput(sentence, hint=RolloutText.THEN_ADD_NEW_RUN())
    stages = stages_of(run, strategy.stages, request.clusters.values(), request.selected)
    return RunStatus(
        policy_snapshot_index_used=policy,
        policy_observed_cluster_count=count,
        resource_snapshot_index_used=str(snapshot.index),
        apply_strategy=record.placement.strategy.apply_strategy,
        strategy=StrategySnapshot(stages=strategy.stages, membership=strategy.membership),
        stages=tuple(replace(s, clusters=tuple(_pinned(request, c) for c in s.clusters)) for s in stages),
        deletion=StageStatus(
            name=DELETE_STAGE, clusters=tuple(ClusterUpdate(cluster=name) for name in request.unpicked)
        ),
    )


def new_run(run: StagedRun, now: datetime) -> RunRecord:
    """A run before its first step. One that began elsewhere is refused: it might bring back what is over, and its
    snapshot number means other content here."""
    record = RunRecord(
        key=run.key,
        placement_name=run.placement_name,
        strategy_name=run.strategy_name,
        resource_snapshot_index=run.resource_snapshot_index,
        state=run.state,
        created=now,
    )
    if not run.began_elsewhere:
        return record
    status = after_events(record.status, [RunEvent.REFUSE], run.began_elsewhere, now)
    return replace(record, status=status)


def check_unchanged(request: RunRequest, record: PlacementRecord) -> None:
    """BadInput, which ends the run, when the placement is not what the run was initialized with (decision D11): its
    apply strategy, its policy, how many clusters there are, and which cluster is in which stage. A strategy with
    `membership: Freeze` only minds the apply strategy. RetryLater when scheduling is not through yet."""
    status = request.run.status
    if record.placement.strategy.apply_strategy != status.apply_strategy:
        raise BadInput(RolloutText.APPLYSTRATEGY_UPDATERUN_OUTDATED(), hint=_NEW_RUN)
    if snapshot_for(request.run, record) is None:
        index = status.resource_snapshot_index_used
        raise BadInput(RolloutText.STATE_BRANCH_LOST_RESOURCE_SNAPSHOT(index=index), hint=_NEW_RUN)
    if frozen(status):
        return
    policy = _scheduled_policy(request, record)
    if policy != status.policy_snapshot_index_used:
        raise BadInput(
            RolloutText.POLICY_SNAPSHOT_INDEX_USED_UPDATERUN(
                policy=policy, policy_snapshot_index_used=status.policy_snapshot_index_used
            ),
            hint=_because(request),
        )
    count = _selected_count(request, record)
    if count != status.policy_observed_cluster_count:
        raise BadInput(
            RolloutText.CLUSTER_COUNT_INITIALIZED_UPDATERUN_OUTDATED(
                count=count, policy_observed_cluster_count=status.policy_observed_cluster_count
            ),
            hint=_because(request),
        )
    strategy = status.strategy or StrategySnapshot(stages=())
    now = stages_of(request.run, strategy.stages, request.clusters.values(), request.selected)
    for old, new in zip(status.stages, now, strict=False):
        before, after = _names(old), _names(new)
        if before != after:
            names = f"new: {', '.join(after)}, existing: {', '.join(before)}"
            sentence = RolloutText.CLUSTERS_STAGE_CHANGED(was=old.name, names=names)
            raise BadInput(sentence, hint=_because(request))
    deleting = set(_names(status.deletion)) if status.deletion else set()
    if fresh := sorted(set(request.unpicked) - deleting):
        sentence = RolloutText.CLUSTER_DELETED_NOT_FOUND_DELETING(fresh=fresh[0])
        raise BadInput(sentence, hint=_because(request))


def _because(request: RunRequest) -> str:
    """Which clusters joined or left since the run began, and how to go on."""
    had = {name for stage in request.run.status.stages for name in _names(stage)}
    has = set(request.selected)
    moves = ((has - had, "joined"), (had - has, "left"))
    changes = (f"{named_briefly(sorted(names), 3)} {did}" for names, did in moves if names)
    return "; ".join((*changes, _NEW_RUN, _FREEZES))


def frozen(status: RunStatus) -> bool:
    """Whether the run keeps its first set of clusters, whoever joins or leaves."""
    return status.strategy is not None and status.strategy.membership is Membership.FREEZE


def _names(stage: StageStatus) -> list[str]:
    return [cluster.cluster for cluster in stage.clusters]


def external(record: PlacementRecord | None) -> PlacementRecord:
    """The record of the placement that a run rolls out; BadInput where there is none, or none for runs."""
    if record is None or record.placement.deleting is not None:
        raise BadInput(RolloutText.PARENT_PLACEMENT_NOT_FOUND(), hint=RolloutText.NAME_PLACEMENT_NEW_RUN())
    strategy = record.placement.strategy
    if not strategy.external:
        raise BadInput(
            RolloutText.PARENT_PLACEMENT_NOT_EXTERNAL_ROLLOUT(strategy=strategy.type),
            hint=RolloutText.GIVE_STRATEGY_TYPE_EXTERNAL(),
        )
    return record


def _has_namespace(request: RunRequest, record: PlacementRecord) -> None:
    """RetryLater while further clusters will be picked, once another placement has brought the namespace there."""
    picks_all = record.placement.effective_policy.placement_type is PlacementType.PICK_ALL
    fulfilled = request.scheduled is not None and request.scheduled.status is Status.TRUE
    if request.awaits_namespace and (picks_all or not fulfilled):
        where = named_briefly(sorted(request.awaits_namespace), 3)
        raise RetryLater(RolloutText.NAMESPACE_NOT_THERE_YET(namespace=record.placement.key.namespace, where=where))


def _scheduled_policy(request: RunRequest, record: PlacementRecord) -> str:
    """The index of the latest policy snapshot, for which everything is scheduled."""
    policy, scheduled = record.latest_policy, request.scheduled
    if policy is None or scheduled is None or scheduled.status is Status.UNKNOWN:
        raise RetryLater(RolloutText.PLACEMENT_NOT_SCHEDULED_YET())
    if scheduled.status is Status.FALSE:
        raise BadInput(RolloutText.POLICY_SNAPSHOT_NOT_FULLY_SCHEDULED(policy=policy.name), hint=scheduled.message)
    old = [b.cluster for b in record.bindings if is_active(b) and b.policy_snapshot != policy.name]
    if old:
        raise RetryLater(RolloutText.PLACEMENT_STILL_EARLIER_POLICY(old=named_briefly(sorted(old), 3)))
    return str(policy.index)


def _selected_count(request: RunRequest, record: PlacementRecord) -> int:
    """How many clusters the placement has; BadInput where that is not what its policy asks for."""
    if not request.selected and not request.unpicked:
        policy = record.latest_policy.name if record.latest_policy else ""
        raise BadInput(
            RolloutText.NO_SCHEDULED_DELETED_BINDINGS_FOUND(policy=policy),
            hint=RolloutText.RUN_NEEDS_LEAST_ONE_CLUSTER(),
        )
    policy_of = record.placement.effective_policy
    count = {
        PlacementType.PICK_ALL: len(request.selected),
        PlacementType.PICK_N: policy_of.number_of_clusters or 0,
        PlacementType.PICK_FIXED: len(policy_of.cluster_names),
    }[policy_of.placement_type]
    if count == len(request.selected):
        return count
    if going := [b.cluster for b in record.bindings if b.deleting is not None]:
        raise RetryLater(RolloutText.PLACEMENT_NOT_GONE_YET_FROM(going=named_briefly(sorted(going), 3)))
    raise BadInput(RolloutText.NUMBER_SELECTED_BINDINGS_NOT_EQUAL(count=len(request.selected), wanted=count))


def _compatible(request: RunRequest, strategy: StagedStrategy) -> None:
    """BadInput unless all unfinished runs of the placement have the same strategy (decision D10)."""
    for run in request.other_runs:
        if run.status.strategy is not None and run.status.strategy.stages != strategy.stages:
            raise BadInput(
                RolloutText.RUN_SAME_PLACEMENT_UNFINISHED_ANOTHER(other=run.key, strategy_name=run.strategy_name),
                hint=RolloutText.CONCURRENT_RUNS_MUST_IDENTICAL_STRATEGIES(),
            )


def _answered_alone(request: RunRequest, strategy: StagedStrategy) -> None:
    """BadInput where one approval would answer two runs: one name for both (`x-before` and a stage of `x`, decision
    D9), or the one is that of a further person's approval of the other (NAME.2)."""
    for name in answer_names(request.run, strategy.stages):
        for taken, other_run in request.answers.items():
            if f"{name}.".startswith(f"{taken}.") or taken.startswith(f"{name}."):
                raise BadInput(
                    RolloutText.APPROVAL_RUN_WOULD_ANSWER_RUN(name=name, other=other_run, taken=taken),
                    hint=RolloutText.ADD_RUN_AGAIN_UNDER_ANOTHER(),
                )


def _pinned(request: RunRequest, cluster: ClusterUpdate) -> ClusterUpdate:
    return replace(cluster, **request.contents.get(cluster.cluster, ClusterContent())._asdict())
