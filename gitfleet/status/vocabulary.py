"""The condition types of a placement in their order, with KubeFleet's reasons and messages (kubefleet.md §9).

Where a seed shows a message, it is the seed's; the others are KubeFleet's own (pkg/utils/condition/condition.go),
spelling included, because people and scripts search for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gitfleet.api.conditions import ConditionType, Reason
from gitfleet.api.strategies import ApplyStrategyType
from gitfleet.status.texts import StatusText

SCHEDULED: Final = ConditionType.SCHEDULED
NO_OVERRIDE: Final = (Reason.NO_OVERRIDE_SPECIFIED, StatusText.NO_OVERRIDE_RULES_CONFIGURED_SELECTED())
BLOCKED: Final = (Reason.ROLLOUT_NOT_STARTED_YET, StatusText.ROLLOUT_BEING_BLOCKED_ROLLOUT_STRATEGY())
SCHEDULE_PENDING: Final = (Reason.SCHEDULE_PENDING, StatusText.SCHEDULING_NOT_COMPLETED())
EXTERNAL: Final = Reason.ROLLOUT_CONTROLLED_BY_EXTERNAL_CONTROLLER
EXTERNAL_DIFFERENT: Final = StatusText.ROLLOUT_CONTROLLED_EXTERNAL_CONTROLLER_DIFFERENT()
EXTERNAL_NOT_STARTED: Final = StatusText.ROLLOUT_CONTROLLED_EXTERNAL_CONTROLLER_NO()
EXTERNAL_CLUSTER_UNKNOWN: Final = StatusText.ROLLOUT_CONTROLLED_EXTERNAL_CONTROLLER_CLUSTER()


@dataclass(frozen=True, slots=True)
class Step:
    """One condition type: (reason, message) for a placement with `{}` for the number of clusters, and what one
    cluster shows while its binding says nothing of the type."""

    type: ConditionType
    unknown: tuple[Reason, str]
    false: tuple[Reason, str]
    true: tuple[Reason, str]
    cluster_unknown: str


ROLLOUT_STARTED: Final = Step(
    ConditionType.ROLLOUT_STARTED,
    (
        Reason.ROLLOUT_STARTED_UNKNOWN,
        StatusText.STILL_CLUSTER_PROCESS_DECIDING_WHETHER(),
    ),
    (Reason.ROLLOUT_NOT_STARTED_YET, StatusText.ROLLOUT_BEING_BLOCKED_ROLLOUT_STRATEGY_CLUSTER()),
    (Reason.ROLLOUT_STARTED, StatusText.ALL_CLUSTER_START_ROLLING_OUT()),
    StatusText.PROCESS_DECIDING_WHETHER_ROLL_OUT(),
)
OVERRIDDEN: Final = Step(
    ConditionType.OVERRIDDEN,
    (
        Reason.OVERRIDDEN_PENDING,
        (StatusText.STILL_CLUSTER_PROCESS_OVERRIDING_SELECTED()),
    ),
    (Reason.OVERRIDDEN_FAILED, StatusText.FAILED_OVERRIDE_RESOURCES_CLUSTER()),
    (Reason.OVERRIDDEN_SUCCEEDED, StatusText.SELECTED_RESOURCES_SUCCESSFULLY_OVERRIDDEN_CLUSTERS()),
    StatusText.PROCESS_OVERRIDING_SELECTED_RESOURCES_IF(),
)
WORK_SYNCHRONIZED: Final = Step(
    ConditionType.WORK_SYNCHRONIZED,
    (
        Reason.WORK_SYNCHRONIZED_UNKNOWN,
        StatusText.STILL_CLUSTER_PROCESS_CREATING_UPDATING(),
    ),
    (
        Reason.WORK_NOT_SYNCHRONIZED_YET,
        StatusText.CLUSTER_NOT_FINISHED_CREATING_UPDATING(),
    ),
    (Reason.WORK_SYNCHRONIZED, StatusText.WORKS_SUCCCESFULLY_CREATED_UPDATED_TARGET()),
    StatusText.PROCESS_CREATING_UPDATING_WORK_OBJECT(),
)
APPLIED: Final = Step(
    ConditionType.APPLIED,
    (
        Reason.APPLY_PENDING,
        StatusText.STILL_CLUSTER_PROCESS_APPLYING_RESOURCES(),
    ),
    (Reason.APPLY_FAILED, StatusText.FAILED_APPLY_RESOURCES_CLUSTER()),
    (Reason.APPLY_SUCCEEDED, StatusText.SELECTED_RESOURCES_SUCCESSFULLY_APPLIED_CLUSTERS()),
    StatusText.PROCESS_APPLYING_RESOURCES_MEMBER_CLUSTER(),
)
AVAILABLE: Final = Step(
    ConditionType.AVAILABLE,
    (
        Reason.RESOURCE_AVAILABLE_UNKNOWN,
        StatusText.STILL_CLUSTER_PROCESS_CHECKING_AVAILABILITY(),
    ),
    (Reason.RESOURCE_NOT_AVAILABLE_YET, StatusText.SELECTED_RESOURCES_CLUSTER_STILL_NOT()),
    (Reason.RESOURCE_AVAILABLE, StatusText.SELECTED_RESOURCES_CLUSTER_AVAILABLE_NOW()),
    StatusText.AVAILABILITY_SELECTED_RESOURCES_UNKNOWN_YET(),
)
DIFF_REPORTED: Final = Step(
    ConditionType.DIFF_REPORTED,
    (
        Reason.DIFF_REPORTING_PENDING,
        StatusText.STILL_CLUSTER_PROCESS_CHECKING_CONFIGURATION(),
    ),
    (Reason.DIFF_REPORTING_INCOMPLETE_OR_FAILED, StatusText.DIFF_REPORTING_CLUSTERS_STILL_PROGRESS()),
    (Reason.DIFF_REPORTING_COMPLETED, StatusText.DIFF_REPORTING_CLUSTER_COMPLETED()),
    StatusText.DIFF_REPORTING_JUST_STARTED(),
)

APPLY_STEPS: Final = (ROLLOUT_STARTED, OVERRIDDEN, WORK_SYNCHRONIZED, APPLIED, AVAILABLE)
DIFF_STEPS: Final = (ROLLOUT_STARTED, OVERRIDDEN, WORK_SYNCHRONIZED, DIFF_REPORTED)


def steps_of(type_: ApplyStrategyType) -> tuple[Step, ...]:
    """The condition types that a placement shows, in order; ReportDiff has its own."""
    return DIFF_STEPS if type_.only_reports else APPLY_STEPS
