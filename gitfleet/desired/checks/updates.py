"""Edits of fields that may not change once they are accepted (decision D21; KubeFleet pkg/utils/validator and its CEL
rules on the CRDs; for workload rollouts seed 004, Operational features).

Each function compares the version accepted last with the new one and gives every break, from the document's top.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from operator import attrgetter
from typing import Any, Final

from gitfleet.api import Break
from gitfleet.api.annotations import below
from gitfleet.api.placements import Placement
from gitfleet.api.rollout_plans import RolloutPlan
from gitfleet.api.runs import placement_of
from gitfleet.api.staged import Approval, Eviction, RunState, StagedRun
from gitfleet.api.workload_records import RolloutRecord
from gitfleet.api.workload_rollouts import AppRollout, RolloutTrait, WorkloadRollout
from gitfleet.desired.checks.commit import Commit, Refusal, noted
from gitfleet.desired.history import rollout_of
from gitfleet.desired.reading.files import ReadObject
from gitfleet.desired.texts import DesiredText
from gitfleet.formats.json_values import section
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
    for kind, (accepted, breaks) in _RULES.items():
        for item, new in commit.of(kind):
            if (old := accepted(commit, new, item)) is not None:
                yield from noted(item, breaks(old, new))


def _placement(commit: Commit, new: Placement, _: ReadObject) -> Placement | None:
    record = commit.accepted.placements.get(commit.renamed.get(new.key, new.key))
    return None if record is None or record.placement.deleting else record.placement


def _app_rollout(commit: Commit, new: AppRollout, _: ReadObject) -> RolloutRecord | None:
    record = commit.accepted.rollouts.get(new.key)
    return rollout_under_name(record, new.placement) if record and new.placement in commit.renamed else record


def _previous(commit: Commit, _: object, item: ReadObject) -> Any:
    previous = commit.history.previous(item.identity)
    return None if previous is None else previous.value


def _run(commit: Commit, new: StagedRun, item: ReadObject) -> StagedRun | None:
    old: StagedRun | None = _previous(commit, new, item)
    is_renamed = old is not None and commit.renamed.get(placement_of(new)) == placement_of(old)
    return replace(old, placement_name=new.placement_name) if old is not None and is_renamed else old


def placement_update_breaks(old: Placement, new: Placement) -> Iterator[Break]:
    """Policy type and presence (none may become PickAll, and a policy that is there stays there: the CRD's own rule),
    tolerations, strategy type External, and the status's scope."""
    before, after = old.effective_policy, new.effective_policy
    if old.policy and not new.policy:
        sentence = DesiredText.CANNOT_REMOVED_ONCE_SET(before=before.placement_type, recreate=_RECREATE)
        yield ("spec", "policy"), sentence
    elif before.placement_type != after.placement_type:
        sentence = DesiredText.CANNOT_CHANGE_FROM(
            before=before.placement_type, after=after.placement_type, recreate=_RECREATE
        )
        yield ("spec", "policy", "placementType"), sentence
    elif not set(before.tolerations) <= set(after.tolerations):
        yield ("spec", "policy", "tolerations"), DesiredText.ONLY_GAIN_ITEMS(recreate=_RECREATE)
    if old.strategy.external and not new.strategy.external:
        sentence = DesiredText.CANNOT_CHANGE_FROM(before="External", after="RollingUpdate", recreate=_RECREATE)
        yield ("spec", "strategy", "type"), sentence
    scope = old.status_reporting_scope
    sentence = DesiredText.CANNOT_CHANGE_PUT_BACK(status_reporting_scope=scope, recreate=_RECREATE)
    yield from _changed(sentence, old, new, statusReportingScope="status_reporting_scope")


def run_update_breaks(old: StagedRun, new: StagedRun) -> Iterator[Break]:
    """A run's target is fixed, and its state only goes from Initialize to Run, and between Run and Stop.

    No state is Run: such a run starts at once (decision D8).
    """
    yield from _changed(
        DesiredText.CANNOT_CHANGE_RUN(),
        old,
        new,
        placementName="placement_name",
        resourceSnapshotIndex="resource_snapshot_index",
        stagedRolloutStrategyName="strategy_name",
    )
    transition = (old.state or RunState.RUN, new.state or RunState.RUN)
    if transition in _FORBIDDEN_STATES:
        yield ("spec", "state"), DesiredText.CANNOT_GO_FROM(transition=transition[0], transition_2=transition[1])


def approval_update_breaks(old: Approval, new: Approval) -> list[Break]:
    """An approval request belongs to one stage of one run, once it names them."""
    names = {"parentStageRollout": "parent_run", "targetStage": "target_stage"}
    sentence = DesiredText.CANNOT_CHANGE_PUT_BACK_MAKE()
    return _changed(sentence, old, new, **names) if old.parent_run and new.parent_run else []


def eviction_update_breaks(old: Eviction, new: Eviction) -> list[Break]:
    """An eviction that was decided happens once."""
    names = {"placementName": "placement_name", "clusterName": "cluster_name"}
    return _changed(DesiredText.CANNOT_CHANGE_ONCE_DECIDED(), old, new, **names)


def _changed(sentence: str, old: object, new: object, **attributes: str) -> list[Break]:
    """The fields of a spec, each with the attribute that has its value, that are not the same before and after."""
    changed = (field for field, name in attributes.items() if getattr(old, name) != getattr(new, name))
    return [(("spec", field), sentence) for field in changed]


def rollout_update_breaks(old: RolloutRecord, new: WorkloadRollout) -> list[Break]:
    """What an edit of a rollout that runs on a cluster may not do: `lastBatchToRollout` only grows, `rolloutBatches`
    only change after it, and metrics, `paused` and `revertOnDelete` change freely. One with another target is another
    rollout, and so is one that was removed, and one that still ends with other workloads, or runs for another revision,
    than it names."""
    is_running = any(status.is_running and not status.named and old.is_taken_up(status) for status in old.clusters)
    former, (target, fields) = rollout_of(old), _ROLLOUTS[type(new)]
    if old.removing or not is_running or type(former) is not type(new) or target(former) != target(new):
        return []
    has_partition = "batchPartition" in section(new.body, "spec", "rolloutPlan")
    name = "batchPartition" if has_partition else "lastBatchToRollout"
    plan = list(_of_plan(former.rollout_plan, new.rollout_plan, name))
    return [*_changed(_FIXED, former, new, **fields), *below(("spec", "rolloutPlan"), plan)]


_ROLLOUTS: Final[Mapping[type, tuple[Callable[[WorkloadRollout], object], Mapping[str, str]]]] = {
    RolloutTrait: (
        attrgetter("target.identity"),
        {"clusters": "clusters", "order": "order", "sourceRef": "sources"},
    ),
    AppRollout: (
        attrgetter("target_revision"),
        {
            "clusters": "clusters",
            "order": "order",
            "placementRef": "placement_ref",
            "sourceRevision": "source_revision",
            "componentList": "component_list",
        },
    ),
}
"""What a rollout brings, and the fields that are fixed while it runs, each with the attribute that has its value."""


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
        elif replace(before, canary_metric=()) != replace(new.batches[number], canary_metric=()):
            yield ("rolloutBatches", number), DesiredText.NOT_AFTER_BATCH_LASTBATCHTOROLLOUT(partition=partition)


def _number(plan: RolloutPlan) -> int:
    """`numBatches`, as it counts where it is absent; 0 beside `rolloutBatches`."""
    return 0 if plan.batches else plan.number_of_batches


def _partition(plan: RolloutPlan) -> int:
    """The number of the batch after which the rollout waits, or ends."""
    return plan.number_of_batches - 1 if plan.last_batch is None else plan.last_batch


_RULES: Final[Mapping[type[Any], tuple[Callable[[Commit, Any, ReadObject], Any], Callable[..., Iterable[Break]]]]] = {
    Placement: (_placement, placement_update_breaks),
    Eviction: (lambda commit, new, _: commit.accepted.evictions.get(new.name), eviction_update_breaks),
    RolloutTrait: (lambda commit, new, _: commit.accepted.rollouts.get(new.key), rollout_update_breaks),
    AppRollout: (_app_rollout, rollout_update_breaks),
    StagedRun: (_run, run_update_breaks),
    Approval: (_previous, approval_update_breaks),
}
"""Of each kind, how the version accepted last is found, and what may not change."""
