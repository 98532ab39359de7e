"""The built-in plug-ins, made by factories like anybody else's."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gitfleet.api.objects import JsonObject
from gitfleet.schedule.admission import ClusterEligibility, NamespaceAffinity, SamePlacementAffinity, TaintToleration
from gitfleet.schedule.affinity import ClusterAffinity
from gitfleet.schedule.plugins import PluginFactory, SchedulerPlugin
from gitfleet.schedule.texts import ScheduleText
from gitfleet.schedule.topology import TopologySpread


def _without_args(plugin: Callable[[], SchedulerPlugin]) -> PluginFactory:
    """The factory of a plug-in that takes no args: ValueError for any."""

    def make(args: JsonObject) -> SchedulerPlugin:
        if args:
            raise ValueError(ScheduleText.TAKES_NONE_GOT(args=", ".join(sorted(args))))
        return plugin()

    return make


cluster_affinity = _without_args(ClusterAffinity)
cluster_eligibility = _without_args(ClusterEligibility)
namespace_affinity = _without_args(NamespaceAffinity)
taint_toleration = _without_args(TaintToleration)
same_placement_affinity = _without_args(SamePlacementAffinity)
topology_spread = _without_args(TopologySpread)

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
