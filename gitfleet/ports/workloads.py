"""Workload handlers as third parties write them (entry point `gitfleet.workload_handlers`, its name is KIND.GROUP).

The base class lives in `gitfleet.workload.handlers` (packages may not import ports), which describes its methods one by
one, and has its public address here.
"""

from gitfleet.api.objects import JsonObject, ObjectKey
from gitfleet.api.rollout_plans import RolloutStrategy
from gitfleet.api.workload_records import RolloutMode
from gitfleet.model.observations import LiveObject
from gitfleet.model.rollout_fields import ABSENT, Fields, value_at
from gitfleet.workload.handlers import (
    Counts,
    Goal,
    HandlerFactory,
    Scaling,
    Step,
    WorkloadHandler,
    Workloads,
)

__all__ = [
    "ABSENT",
    "Counts",
    "Fields",
    "Goal",
    "HandlerFactory",
    "JsonObject",
    "LiveObject",
    "ObjectKey",
    "RolloutMode",
    "RolloutStrategy",
    "Scaling",
    "Step",
    "WorkloadHandler",
    "Workloads",
    "value_at",
]
