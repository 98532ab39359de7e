"""Edits of fields that may not change once they are accepted (decision D21; KubeFleet pkg/utils/validator and its CEL
rules on the CRDs; for workload rollouts seed 004, Operational features).

Each function compares the version accepted last with the new one and gives every break, from the document's top.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from gitfleet.api import Break
from gitfleet.api.annotations import below
from gitfleet.api.placements import Placement, PlacementPolicy, PlacementType, Toleration
from gitfleet.api.rollout_plans import RolloutBatch, RolloutPlan
from gitfleet.api.runs import placement_of
from gitfleet.api.staged import Approval, Eviction, RunState, StagedRun
from gitfleet.api.workload_records import RolloutRecord
from gitfleet.api.workload_rollouts import AppRollout, RolloutTrait, WorkloadRollout
from gitfleet.desired.checks.commit import Commit, Refusal, noted
from gitfleet.desired.history import rollout_of
from gitfleet.desired.reading.files import ReadObject
from gitfleet.desired.texts import DesiredText
from gitfleet.model.renames import rollout_under_name

_RECREATE: Final = DesiredText.REMOVE_OBJECT_ONE_COMMIT_ADD()
_FIXED: Final = DesiredText.CANNOT_CHANGE_WHILE_ROLLOUT_RUNS()
_FORBIDDEN_STATES: Final = frozenset({
    (RunState.INITIALIZE, RunState.STOP),
    (RunState.RUN, RunState.INITIALIZE),
    (RunState.STOP, RunState.INITIALIZE),
})  # fmt: skip


def update_refusals(commit: Commit) -> Iterator[Refusal]:
    """Refuse such edits. A placement that is leaving does not limit another one of its name; one that is renamed in
    this commit is compared under the new name."""
    for item in commit.objects.values():
        yield from noted(item, _update_breaks(item, commit))


def _update_breaks(item: ReadObject, commit: Commit) -> list[Break]:
    accepted = commit.accepted
    match item.value:
        case Placement(key=key) as placement if record := accepted.placements.get(commit.renamed.get(key, key)):
            return placement_update_breaks(record.placement, placement) if record.placement.deleting is None else []
        case Eviction() as eviction if old := accepted.evictions.get(eviction.name):
            return eviction_update_breaks(old, eviction)
        case (RolloutTrait() | AppRollout()) as rollout if running := accepted.rollouts.get(rollout.key):
            if isinstance(rollout, AppRollout) and rollout.placement in commit.renamed:
                running = rollout_under_name(running, rollout.placement)
            return rollout_update_breaks(running, rollout)
        case (StagedRun() | Approval()) as value if previous := commit.history.previous(item.identity):
            return _run_breaks(previous.value, value, commit)
        case _:
            return []


def _run_breaks(old: object, new: StagedRun | Approval, commit: Commit) -> list[Break]:
    if isinstance(new, StagedRun) and isinstance(old, StagedRun):
        if commit.renamed.get(placement_of(new)) == placement_of(old):
            old = replace(old, placement_name=new.placement_name)
        return run_update_breaks(old, new)
    if isinstance(new, Approval) and isinstance(old, Approval):
        return approval_update_breaks(old, new)
    return []


def placement_update_breaks(old: Placement, new: Placement) -> list[Break]:
    """Policy type and presence, tolerations, strategy type External, and the status's scope."""
    breaks: list[Break] = []
    if sentence := policy_update_break(old.policy, new.policy):
        location = ("spec", "policy", "placementType") if new.policy else ("spec", "policy")
        breaks.append((location, sentence))
    elif removed_tolerations(old.effective_policy.tolerations, new.effective_policy.tolerations):
        sentence = DesiredText.ONLY_GAIN_ITEMS(recreate=_RECREATE)
        breaks.append((("spec", "policy", "tolerations"), sentence))
    if old.strategy.external and not new.strategy.external:
        sentence = DesiredText.CANNOT_CHANGE_FROM(before="External", after="RollingUpdate", recreate=_RECREATE)
        breaks.append((("spec", "strategy", "type"), sentence))
    if old.status_reporting_scope != new.status_reporting_scope:
        sentence = DesiredText.CANNOT_CHANGE_PUT_BACK(
            status_reporting_scope=old.status_reporting_scope, recreate=_RECREATE
        )
        breaks.append((("spec", "statusReportingScope"), sentence))
    return breaks


def policy_update_break(old: PlacementPolicy | None, new: PlacementPolicy | None) -> str | None:
    """What forbids going from one policy to another: none may become PickAll, and a policy that is there stays there
    (the CRD's own rule)."""
    before = old.placement_type if old else PlacementType.PICK_ALL
    after = new.placement_type if new else PlacementType.PICK_ALL
    if old is not None and new is None:
        return DesiredText.CANNOT_REMOVED_ONCE_SET(before=before, recreate=_RECREATE)
    if before == after:
        return None
    return DesiredText.CANNOT_CHANGE_FROM(before=before, after=after, recreate=_RECREATE)


def removed_tolerations(old: Sequence[Toleration], new: Sequence[Toleration]) -> tuple[Toleration, ...]:
    """Those that were there and are not any more; a changed one counts as removed."""
    return tuple(toleration for toleration in old if toleration not in new)


def run_update_breaks(old: StagedRun, new: StagedRun) -> list[Break]:
    """A run's target is fixed, and its state only goes from Initialize to Run, and between Run and Stop.

    No state is Run: such a run starts at once (decision D8).
    """
    breaks = _changed(
        DesiredText.CANNOT_CHANGE_RUN(),
        placementName=(old.placement_name, new.placement_name),
        resourceSnapshotIndex=(old.resource_snapshot_index, new.resource_snapshot_index),
        stagedRolloutStrategyName=(old.strategy_name, new.strategy_name),
    )
    transition = (old.state or RunState.RUN, new.state or RunState.RUN)
    if transition in _FORBIDDEN_STATES:
        sentence = DesiredText.CANNOT_GO_FROM(transition=transition[0], transition_2=transition[1])
        breaks.append((("spec", "state"), sentence))
    return breaks


def approval_update_breaks(old: Approval, new: Approval) -> list[Break]:
    """An approval request belongs to one stage of one run."""
    return _changed(
        DesiredText.CANNOT_CHANGE_PUT_BACK_MAKE(),
        parentStageRollout=(old.parent_run or new.parent_run, new.parent_run or old.parent_run),
        targetStage=(old.target_stage or new.target_stage, new.target_stage or old.target_stage),
    )


def eviction_update_breaks(old: Eviction, new: Eviction) -> list[Break]:
    """An eviction that was decided happens once."""
    return _changed(
        DesiredText.CANNOT_CHANGE_ONCE_DECIDED(),
        placementName=(old.placement_name, new.placement_name),
        clusterName=(old.cluster_name, new.cluster_name),
    )


def _changed(sentence: str, **fields: tuple[object, object]) -> list[Break]:
    """The fields of a spec that are not the same before and after."""
    return [(("spec", field), sentence) for field, (before, after) in fields.items() if before != after]


def rollout_update_breaks(old: RolloutRecord, new: WorkloadRollout) -> list[Break]:
    """What an edit of a rollout that runs on a cluster may not do: `lastBatchToRollout` only grows, `rolloutBatches`
    only change after it, and metrics, `paused` and `revertOnDelete` change freely. One with another target is another
    rollout, and so is one that was removed, and one that still ends with other workloads, or runs for another revision,
    than it names."""
    is_running = any(status.is_running and not status.named and old.is_taken_up(status) for status in old.clusters)
    if old.removing or not is_running or _target(rollout_of(old)) != _target(new):
        return []
    return list(_breaks(old, new))


def _target(rollout: WorkloadRollout) -> object:
    match rollout:
        case RolloutTrait():
            return rollout.target.identity
        case AppRollout():
            return rollout.target_revision


def _breaks(old: RolloutRecord, new: WorkloadRollout) -> Iterator[Break]:
    pairs: dict[str, tuple[object, object]] = {
        "clusters": (old.clusters_selector, new.clusters),
        "order": (old.order, new.order),
    }
    match new:
        case RolloutTrait():
            sources = tuple(reference.key(old.key.namespace) for reference in old.source_ref)
            pairs["sourceRef"] = (sources, new.sources)
        case AppRollout():
            pairs["placementRef"] = (old.placement_ref, new.placement_ref)
            pairs["sourceRevision"] = (old.source_revision, new.source_revision)
            pairs["componentList"] = (old.component_list, new.component_list)
    yield from _changed(_FIXED, **pairs)
    written = (new.body.get("spec") or {}).get("rolloutPlan")
    name = "batchPartition" if isinstance(written, Mapping) and "batchPartition" in written else "lastBatchToRollout"
    yield from below(("spec", "rolloutPlan"), list(_of_plan(old.rollout_plan, new.rollout_plan, name)))


def _of_plan(old: RolloutPlan, new: RolloutPlan, partition_name: str) -> Iterator[Break]:
    pairs: dict[str, tuple[object, object]] = {
        "rolloutStrategy": (old.rollout_strategy, new.rollout_strategy),
        "targetSize": (old.target_size, new.target_size),
        "numBatches": (_number(old), _number(new)),
        "rolloutWebhooks": (old.webhooks, new.webhooks),
    }
    yield from (((name,), _FIXED) for name, (before, after) in pairs.items() if before != after)
    partition = _partition(old)
    if _partition(new) < partition:
        yield (partition_name,), DesiredText.ONLY_RAISED_WHILE_ROLLOUT_RUNS(partition=partition)
    if bool(old.batches) != bool(new.batches):
        return
    for number, before in enumerate(old.batches[: partition + 1]):
        if number >= len(new.batches):
            yield ("rolloutBatches",), DesiredText.NEEDS_BATCH_NOT_GO_WHILE(number=number)
        elif _without_metrics(before) != _without_metrics(new.batches[number]):
            yield ("rolloutBatches", number), DesiredText.NOT_AFTER_BATCH_LASTBATCHTOROLLOUT(partition=partition)


def _number(plan: RolloutPlan) -> int:
    """`numBatches`, as it counts where it is absent; 0 beside `rolloutBatches`."""
    return 0 if plan.batches else plan.number_of_batches


def _partition(plan: RolloutPlan) -> int:
    """The number of the batch after which the rollout waits, or ends."""
    return plan.number_of_batches - 1 if plan.last_batch is None else plan.last_batch


def _without_metrics(batch: RolloutBatch) -> RolloutBatch:
    return replace(batch, canary_metric=())
