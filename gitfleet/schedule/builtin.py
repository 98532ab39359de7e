"""The built-in plug-ins, made by factories like anybody else's."""

from __future__ import annotations

from collections.abc import Mapping

from gitfleet.api.objects import JsonObject
from gitfleet.schedule.admission import ClusterEligibility, NamespaceAffinity, SamePlacementAffinity, TaintToleration
from gitfleet.schedule.affinity import ClusterAffinity
from gitfleet.schedule.plugins import PluginFactory, SchedulerPlugin
from gitfleet.schedule.topology import TopologySpread


def _without_args(plugin: SchedulerPlugin, args: JsonObject) -> SchedulerPlugin:
    if args:
        raise ValueError(f"it takes none, and got {', '.join(sorted(args))}")
    return plugin


def cluster_affinity(args: JsonObject) -> SchedulerPlugin:
    """The factory of ClusterAffinity, as its entry point names it."""
    return _without_args(ClusterAffinity(), args)


def cluster_eligibility(args: JsonObject) -> SchedulerPlugin:
    """The factory of ClusterEligibility."""
    return _without_args(ClusterEligibility(), args)


def namespace_affinity(args: JsonObject) -> SchedulerPlugin:
    """The factory of NamespaceAffinity."""
    return _without_args(NamespaceAffinity(), args)


def taint_toleration(args: JsonObject) -> SchedulerPlugin:
    """The factory of TaintToleration."""
    return _without_args(TaintToleration(), args)


def same_placement_affinity(args: JsonObject) -> SchedulerPlugin:
    """The factory of SamePlacementAffinity."""
    return _without_args(SamePlacementAffinity(), args)


def topology_spread(args: JsonObject) -> SchedulerPlugin:
    """The factory of TopologySpreadConstraints."""
    return _without_args(TopologySpread(), args)


BUILT_IN: Mapping[str, PluginFactory] = {
    "ClusterAffinity": cluster_affinity,
    "ClusterEligibility": cluster_eligibility,
    "NamespaceAffinity": namespace_affinity,
    "TaintToleration": taint_toleration,
    "SamePlacementAffinity": same_placement_affinity,
    "TopologySpreadConstraints": topology_spread,
}
"""The built-in plug-ins in KubeFleet's order; each is an entry point of `gitfleet.scheduler_plugins` as well."""

DEFAULT_PLUGINS: tuple[SchedulerPlugin, ...] = tuple(factory({}) for factory in BUILT_IN.values())
