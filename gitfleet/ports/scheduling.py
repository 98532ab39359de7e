"""Scheduler plug-ins as third parties write them (entry point `gitfleet.scheduler_plugins`).

The base class lives in `gitfleet.schedule.plugins` (packages may not import ports), which describes the stages one by
one, and has its public address here. `examples/scheduler-plugin/` is a whole package to start from.
"""

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.objects import JsonObject
from gitfleet.api.placements import PlacementKey, PlacementPolicy
from gitfleet.schedule import (
    EVERYTHING,
    ClusterSet,
    Cycle,
    Fact,
    FleetRefusal,
    PluginFactory,
    Refusal,
    SchedulerPlugin,
    Score,
    Unschedulable,
)

__all__ = [
    "EVERYTHING",
    "ClusterSet",
    "Cycle",
    "Fact",
    "FleetRefusal",
    "JsonObject",
    "MemberCluster",
    "PlacementKey",
    "PlacementPolicy",
    "PluginFactory",
    "Refusal",
    "SchedulerPlugin",
    "Score",
    "Unschedulable",
]
