"""The scheduler's extension point: a plug-in derives from `SchedulerPlugin` and overrides the stages that it needs.

The stages are KubeFleet's (kubefleet.md §2), in this order:

    batch         how many clusters are missing                                the framework's own
    post_batch    the most that may be picked in this cycle
    pre_filter    whether the filter is needed
    filter        which clusters may not be picked; the first refusal counts
    pre_score     whether the score is needed
    score         how well each cluster fits; PickN only
    sort          best first, the largest name winning a tie                   the framework's own
    bind          decisions become bindings                                    the framework's own

PickAll runs pre_filter, filter and bind; PickFixed calls no plug-in at all. A plug-in is pure: it does no I/O, reads no
clock and keeps nothing between calls but what it puts into `cycle.notes`. An exception aborts the placement's
scheduling: its bindings stay as they are, the result says which plug-in failed, other placements go on. `Unschedulable`
is for failures that are foreseen. Nothing here interrupts a plug-in that does not return; the caller's time budget
is checked between calls, and `gitfleet.loop.plugin_guard` calls third parties' plug-ins with a time limit.

Third parties register a factory `(args) -> plug-in` as an entry point of the group `gitfleet.scheduler_plugins`; the
plug-ins of `gitfleet.schedule` are registered in the same way. Public address: `gitfleet.ports.scheduling`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.objects import JsonObject
from gitfleet.api.placements import PlacementKey, PlacementPolicy
from gitfleet.formats.hooks import misspelt_hook, overridden
from gitfleet.schedule.cluster_set import ClusterSet
from gitfleet.schedule.fleet import EVERYTHING, Fact, FleetIndex
from gitfleet.schedule.texts import ScheduleText


class UnusablePlugin(TypeError):
    """What a factory made cannot be used as a scheduler plug-in; one sentence says why."""


class Score(NamedTuple):
    """What a plug-in adds to a cluster's score; totals are compared in this order."""

    topology_spread: int = 0
    affinity: int = 0
    obsolete_affinity: int = 0


class Refusal(NamedTuple):
    """Why a cluster may not be picked. A silent refusal makes no decision: the cluster is picked already."""

    reason: str
    silent: bool = False


class FleetRefusal(NamedTuple):
    """The refused clusters, and which of them silently (None: none)."""

    refused: ClusterSet
    silent: ClusterSet | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """What a plug-in may read in one scheduling cycle.

    `present` are the clusters that hold a Scheduled or Bound binding made by the current policy, `obsolete` those whose
    binding was made by an older policy. `notes` lasts for all cycles of one placement: use your plug-in's name as the
    key. `fleet` is gitfleet's own index of the clusters, which may change from release to release.
    """

    placement: PlacementKey
    policy: PlacementPolicy
    fleet: FleetIndex
    now: datetime
    number: int
    present: ClusterSet
    obsolete: ClusterSet
    notes: dict[str, Any]

    @property
    def clusters(self) -> ClusterSet:
        """All clusters of the fleet."""
        return ClusterSet(self.fleet.names, self.fleet.all_clusters)

    def cluster(self, name: str) -> MemberCluster:
        """A cluster of the fleet by its name; KeyError when there is none."""
        return self.fleet.clusters[self.fleet.position[name]]

    def clusters_with(self, fact: Fact, text: str) -> ClusterSet:
        """The clusters about which a fact says exactly `text`, as with a label's value; looked up, not computed."""
        return ClusterSet(self.fleet.names, self.fleet.column(fact).members(text))


class SchedulerPlugin:
    """The base class of scheduler plug-ins: every stage is optional.

    `name` stands in decisions and explanations. `depends_on_bindings` says whether filter and score may change while
    clusters are being picked; where it is False, each cluster is judged once instead of once a cycle. Other public
    methods than these are refused when the plug-in is loaded, so that a misspelt stage is noticed.
    """

    __slots__ = ()
    name: str = ""
    depends_on_bindings: bool = True

    def depends_on(self, placement: PlacementKey, policy: PlacementPolicy) -> Iterable[Fact]:
        """The facts about clusters on which filter and score depend: a placement is scheduled again when they change.

        Unless overridden, any change of any cluster schedules every placement again.
        """
        return (EVERYTHING,)

    def post_batch(self, cycle: Cycle, size: int) -> int:
        """The most clusters to pick now, at least 0; `size` (how many are missing) for no limit. Cycles follow one
        another until there are enough.
        """
        return size

    def pre_filter(self, cycle: Cycle) -> bool:
        """Whether the filter is needed in this cycle."""
        return True

    def filter(self, cycle: Cycle, cluster: MemberCluster) -> Refusal | None:
        """Why the cluster may not be picked, None when it may."""
        return None

    def filter_fleet(self, cycle: Cycle, candidates: ClusterSet) -> FleetRefusal | None:
        """The candidates that may not be picked, judged at once, with the same outcome as `filter` for each of them.

        None: `filter` is called for each candidate. `filter` gives the reasons, so it must be there too.
        """
        return None

    def remedy(self, cycle: Cycle, cluster: MemberCluster) -> str:
        """What to change so that `filter` accepts the cluster, in the imperative, for `gitfleet explain`; "" when
        nothing helps.
        """
        return ""

    def pre_score(self, cycle: Cycle) -> bool:
        """Whether the score is needed in this cycle."""
        return True

    def score(self, cycle: Cycle, cluster: MemberCluster) -> Score:
        """What the cluster gets; the profile multiplies it by the plug-in's weight."""
        return Score()

    def score_fleet(self, cycle: Cycle, candidates: ClusterSet) -> Mapping[Score, ClusterSet] | None:
        """The candidates by score: disjoint sets that together are `candidates`, with the same outcome as `score`.

        None: `score` is called for each candidate. `explain` calls `score`, so it must be there too.
        """
        return None


PluginFactory: TypeAlias = Callable[[JsonObject], SchedulerPlugin]
"""What an entry point of `gitfleet.scheduler_plugins` names: makes a plug-in from the profile's `args`."""


def stages_of(plugin: SchedulerPlugin) -> frozenset[str]:
    """The stages and other hooks that a plug-in implements itself."""
    return overridden(plugin, SchedulerPlugin)


def usable(plugin: object) -> SchedulerPlugin:
    """The plug-in; UnusablePlugin when it is not one, lacks a name or a stage, or misspells one."""
    if not isinstance(plugin, SchedulerPlugin):
        raise UnusablePlugin(ScheduleText.FACTORY_MADE_NOT_DERIVE_FROM(name=type(plugin).__name__))
    misspelt = misspelt_hook(plugin, SchedulerPlugin)
    if misspelt is not None:
        raise UnusablePlugin(misspelt)
    if not isinstance(plugin.name, str) or not plugin.name:
        raise UnusablePlugin(ScheduleText.NO_NAME(name=type(plugin).__name__))
    stages = stages_of(plugin)
    for whole, single in (("filter_fleet", "filter"), ("score_fleet", "score")):
        if whole in stages and single not in stages:
            raise UnusablePlugin(
                ScheduleText.WITHOUT_EXPLAINS_RESULTS(name=type(plugin).__name__, whole=whole, single=single)
            )
    if stages.isdisjoint({"post_batch", "filter", "score"}):
        raise UnusablePlugin(ScheduleText.IMPLEMENTS_NONE_POST_BATCH(name=type(plugin).__name__))
    return plugin
