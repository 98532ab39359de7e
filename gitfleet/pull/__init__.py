"""pull: clusters that are reached by their own agent, through git.

    delivered, performable        an operation on its way to an agent
    delivered_step, performable_step, refused_steps      a step of a workload rollout likewise
    report_of, object_files       what an agent reports, as files
    read_delivery                 what a hub delivers, read by an agent
    read_report, seen_from        the same, read by the hub
    observation_of, outcomes_of   what a report says of a cluster, and of what was delivered

Everything here is pure.
"""

from gitfleet.pull.operations import (
    by_cluster,
    delivered,
    delivered_step,
    operation_id,
    performable,
    performable_step,
    read_delivery,
    refused_steps,
    writes_by_cluster,
)
from gitfleet.pull.reports import (
    LARGEST_OBJECT,
    LARGEST_OBJECTS,
    LARGEST_REPORT,
    MemberSeen,
    applied_file,
    listed_files,
    news_of,
    object_files,
    observation_of,
    outcomes_of,
    pods_of,
    read_report,
    report_content,
    report_of,
    reported,
    reported_step,
    seen_from,
)

__all__ = [
    "LARGEST_OBJECT",
    "LARGEST_OBJECTS",
    "LARGEST_REPORT",
    "MemberSeen",
    "applied_file",
    "by_cluster",
    "delivered",
    "delivered_step",
    "listed_files",
    "news_of",
    "object_files",
    "observation_of",
    "operation_id",
    "outcomes_of",
    "performable",
    "performable_step",
    "pods_of",
    "read_delivery",
    "read_report",
    "refused_steps",
    "report_content",
    "report_of",
    "reported",
    "reported_step",
    "seen_from",
    "writes_by_cluster",
]
