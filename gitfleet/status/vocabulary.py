"""The condition types of a placement in their order, with KubeFleet's reasons and messages (kubefleet.md §9).

Where a seed shows a message, it is the seed's; the others are KubeFleet's own (pkg/utils/condition/condition.go),
spelling included, because people and scripts search for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gitfleet.api.conditions import ConditionType, Reason
from gitfleet.api.strategies import ApplyStrategyType

SCHEDULED: Final = ConditionType.SCHEDULED
NO_OVERRIDE: Final = (Reason.NO_OVERRIDE_SPECIFIED, "No override rules are configured for the selected resources")
BLOCKED: Final = (Reason.ROLLOUT_NOT_STARTED_YET, "The rollout is being blocked by the rollout strategy")
SCHEDULE_PENDING: Final = (Reason.SCHEDULE_PENDING, "Scheduling has not completed")
EXTERNAL: Final = Reason.ROLLOUT_CONTROLLED_BY_EXTERNAL_CONTROLLER
EXTERNAL_DIFFERENT: Final = (
    "Rollout is controlled by an external controller and different resource snapshot versions are observed across "
    "clusters"
)
EXTERNAL_NOT_STARTED: Final = (
    "Rollout is controlled by an external controller and no resource snapshot name is observed across clusters, "
    "probably rollout has not started yet"
)
EXTERNAL_CLUSTER_UNKNOWN: Final = (
    "Rollout is controlled by an external controller and cluster {} is in RolloutStarted Unknown state"
)


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
        "There are still {} cluster(s) in the process of deciding whether to roll out the latest resources or not",
    ),
    (Reason.ROLLOUT_NOT_STARTED_YET, "The rollout is being blocked by the rollout strategy in {} cluster(s)"),
    (Reason.ROLLOUT_STARTED, "All {} cluster(s) start rolling out the latest resource"),
    "In the process of deciding whether to roll out the latest resources or not",
)
OVERRIDDEN: Final = Step(
    ConditionType.OVERRIDDEN,
    (
        Reason.OVERRIDDEN_PENDING,
        (
            "There are still {} cluster(s) in the process of overriding the selected resources if there is any "
            "override defined"
        ),
    ),
    (Reason.OVERRIDDEN_FAILED, "Failed to override resources in {} cluster(s)"),
    (Reason.OVERRIDDEN_SUCCEEDED, "The selected resources are successfully overridden in the {} clusters"),
    "In the process of overriding the selected resources if there is any override defined",
)
WORK_SYNCHRONIZED: Final = Step(
    ConditionType.WORK_SYNCHRONIZED,
    (
        Reason.WORK_SYNCHRONIZED_UNKNOWN,
        "There are still {} cluster(s) in the process of creating or updating the work object(s) in the hub cluster",
    ),
    (
        Reason.WORK_NOT_SYNCHRONIZED_YET,
        "There are {} cluster(s) which have not finished creating or updating work(s) yet",
    ),
    (Reason.WORK_SYNCHRONIZED, "Works(s) are succcesfully created or updated in the {} target clusters' namespaces"),
    "In the process of creating or updating the work object(s) in the hub cluster",
)
APPLIED: Final = Step(
    ConditionType.APPLIED,
    (
        Reason.APPLY_PENDING,
        "There are still {} cluster(s) in the process of applying the resources on the member cluster",
    ),
    (Reason.APPLY_FAILED, "Failed to apply resources to {} cluster(s), please check the `failedPlacements` status"),
    (Reason.APPLY_SUCCEEDED, "The selected resources are successfully applied to {} clusters"),
    "In the process of applying the resources on the member cluster",
)
AVAILABLE: Final = Step(
    ConditionType.AVAILABLE,
    (
        Reason.RESOURCE_AVAILABLE_UNKNOWN,
        "There are still {} cluster(s) in the process of checking the availability of the selected resources",
    ),
    (Reason.RESOURCE_NOT_AVAILABLE_YET, "The selected resources in {} cluster(s) are still not available yet"),
    (Reason.RESOURCE_AVAILABLE, "The selected resources in {} cluster are available now"),
    "The availability of the selected resources is unknown yet",
)
DIFF_REPORTED: Final = Step(
    ConditionType.DIFF_REPORTED,
    (
        Reason.DIFF_REPORTING_PENDING,
        "There are still {} cluster(s) in the process of checking for configuration differences",
    ),
    (Reason.DIFF_REPORTING_INCOMPLETE_OR_FAILED, "Diff reporting in {} clusters is still in progress or has failed"),
    (Reason.DIFF_REPORTING_COMPLETED, "Diff reporting in {} cluster(s) has been completed"),
    "Diff reporting has just started; its status is not yet to be known",
)

APPLY_STEPS: Final = (ROLLOUT_STARTED, OVERRIDDEN, WORK_SYNCHRONIZED, APPLIED, AVAILABLE)
DIFF_STEPS: Final = (ROLLOUT_STARTED, OVERRIDDEN, WORK_SYNCHRONIZED, DIFF_REPORTED)


def steps_of(type_: ApplyStrategyType) -> tuple[Step, ...]:
    """The condition types that a placement shows, in order; ReportDiff has its own."""
    return DIFF_STEPS if type_.only_reports else APPLY_STEPS
