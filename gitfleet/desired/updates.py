"""What may not change once accepted (decision D21; KubeFleet pkg/utils/validator and its CEL rules on the CRDs).

Each function compares the version accepted last with the new one and gives every break, from the document's top.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gitfleet.api import Break
from gitfleet.api.placements import Placement, PlacementPolicy, PlacementType, Toleration
from gitfleet.api.staged import Approval, Eviction, StagedRun
from gitfleet.desired.texts import DesiredText
from gitfleet.formats.sentences import agreeing, named_briefly

_RECREATE: Final = DesiredText.REMOVE_OBJECT_ONE_COMMIT_ADD()
_FORBIDDEN_STATES: Final = frozenset({("Initialize", "Stop"), ("Run", "Initialize"), ("Stop", "Initialize")})


def placement_update_breaks(old: Placement, new: Placement, unfinished: Sequence[str] = ()) -> list[Break]:
    """Policy type and presence, tolerations, External while a run of it is `unfinished` (KubeFleet refuses it always;
    decision record 0019), and the status's scope."""
    breaks: list[Break] = []
    if sentence := policy_update_break(old.policy, new.policy):
        location = ("spec", "policy", "placementType") if new.policy else ("spec", "policy")
        breaks.append((location, sentence))
    elif removed_tolerations(old.effective_policy.tolerations, new.effective_policy.tolerations):
        sentence = DesiredText.ONLY_GAIN_ITEMS(recreate=_RECREATE)
        breaks.append((("spec", "policy", "tolerations"), sentence))
    if unfinished and old.strategy.external and not new.strategy.external:
        runs = f"{agreeing(len(unfinished), 'run', 'runs')} {named_briefly(unfinished, 3)}"
        is_ = agreeing(len(unfinished), "is", "are")
        sentence = DesiredText.CANNOT_GO_BACK_ROLLINGUPDATE_WHILE(runs=runs, found=is_)
        sentence += DesiredText.THEN_HELD_UNTIL_PERSON_APPROVES(word=agreeing(len(unfinished), "it", "them"))
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
    transition = (old.state or "Run", new.state or "Run")
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


def _changed(sentence: str, **fields: tuple[str | None, str | None]) -> list[Break]:
    """The fields of a spec that are not the same before and after."""
    return [(("spec", field), sentence) for field, (before, after) in fields.items() if before != after]
