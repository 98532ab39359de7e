"""Scheduler plug-ins as third parties write them (entry point `gitfleet.scheduler_plugins`).

The stages are KubeFleet's: batch, post-batch, pre-filter, filter, pre-score, score, sort, bind. The Protocols live in
`gitfleet.schedule.plugins` (packages may not import ports), which tells the stages one by one, and are given here under
their public address. `examples/scheduler-plugin/` is a whole package to start from.
"""

from gitfleet.schedule.fleet import EVERYTHING, Fact, FleetIndex
from gitfleet.schedule.plugins import (
    Cycle,
    FactsPlugin,
    FilterPlugin,
    FleetFilterPlugin,
    FleetRefusal,
    FleetScorePlugin,
    Plugin,
    PluginFactory,
    PostBatchPlugin,
    PreFilterPlugin,
    PreScorePlugin,
    Refusal,
    RemedyPlugin,
    Score,
    ScorePlugin,
    Unschedulable,
)

__all__ = [
    "EVERYTHING",
    "Cycle",
    "Fact",
    "FactsPlugin",
    "FilterPlugin",
    "FleetFilterPlugin",
    "FleetIndex",
    "FleetRefusal",
    "FleetScorePlugin",
    "Plugin",
    "PluginFactory",
    "PostBatchPlugin",
    "PreFilterPlugin",
    "PreScorePlugin",
    "Refusal",
    "RemedyPlugin",
    "Score",
    "ScorePlugin",
    "Unschedulable",
]
