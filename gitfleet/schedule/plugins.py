"""The scheduler's extension points, as small Protocols: implement those you need, in one object with a `name`.

The stages are KubeFleet's (kubefleet.md §2), in this order:

    batch         how many clusters are missing                                the framework's own
    post-batch    the most that may be picked in this cycle                    PostBatchPlugin
    pre-filter    whether the filter is needed                                 PreFilterPlugin
    filter        which clusters may not be picked; the first refusal counts   FilterPlugin
    pre-score     whether the score is needed                                  PreScorePlugin
    score         how well each cluster fits; PickN only                       ScorePlugin
    sort          best first, the largest name winning a tie                   the framework's own
    bind          decisions become bindings                                    the framework's own

PickAll runs pre-filter, filter and bind; PickFixed asks no plug-in at all. A plug-in is pure: it does no I/O, reads no
clock and keeps nothing between calls but what it puts into `cycle.notes`. An exception aborts the placement's
scheduling: its bindings stay as they are, the answer says which plug-in failed, other placements go on. `Unschedulable`
is for failures that are foreseen. Nothing here interrupts a plug-in that does not return; the caller's time budget
is checked between calls, and the shell calls third parties' plug-ins with a time limit (`gitfleet.loop.plugin_guard`).

Third parties register a factory `(args) -> plug-in` as an entry point of the group `gitfleet.scheduler_plugins`; the
plug-ins of `gitfleet.schedule` are registered in the same way. Public address: `gitfleet.ports.scheduling`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Protocol, TypeAlias

from gitfleet.model.clusters import MemberCluster
from gitfleet.model.objects import JsonObject
from gitfleet.model.placements import PlacementKey, PlacementPolicy
from gitfleet.schedule.fleet import Fact, FleetIndex


class Unschedulable(ValueError):
    """Scheduling this placement is impossible until somebody changes something; one sentence says what is wrong."""


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
    """The refused clusters as a set (`FleetIndex`), and which of them silently."""

    refused: int
    silent: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """What a plug-in may look at in one scheduling cycle.

    `present` are the clusters that hold a Scheduled or Bound binding made by the current policy, `obsolete` those whose
    binding was made by an older policy; both are sets of `fleet`. `notes` lasts for all cycles of one placement: use
    your plug-in's name as the key.
    """

    placement: PlacementKey
    policy: PlacementPolicy
    fleet: FleetIndex
    now: datetime
    number: int
    present: int
    obsolete: int
    notes: dict[str, Any]

    def holds_binding(self, cluster: MemberCluster) -> bool:
        """Whether the cluster is picked already, by the current policy."""
        return bool(self.present >> self.fleet.position[cluster.name] & 1)

    def holds_obsolete_binding(self, cluster: MemberCluster) -> bool:
        """Whether the cluster was picked by an older policy."""
        return bool(self.obsolete >> self.fleet.position[cluster.name] & 1)


class Plugin(Protocol):
    """What every plug-in has.

    An optional attribute `depends_on_bindings` (taken as True when it is missing) tells whether filter and score may
    change while clusters are being picked. Where it is False, each cluster is asked about once instead of once a cycle.
    """

    @property
    def name(self) -> str:
        """The name in decisions and explanations."""


class PostBatchPlugin(Plugin, Protocol):
    """Limits how many clusters a cycle picks; cycles follow one another until there are enough."""

    def post_batch(self, cycle: Cycle, size: int) -> int:
        """The most to be picked now, at least 0; `size` (what is missing) for no limit."""


class PreFilterPlugin(Plugin, Protocol):
    """May switch its filter off for a cycle."""

    def pre_filter(self, cycle: Cycle) -> bool:
        """Whether the filter is to be asked."""


class FilterPlugin(Plugin, Protocol):
    """Refuses clusters."""

    def filter(self, cycle: Cycle, cluster: MemberCluster) -> Refusal | None:
        """Why the cluster may not be picked, None when it may."""


class PreScorePlugin(Plugin, Protocol):
    """May switch its score off for a cycle."""

    def pre_score(self, cycle: Cycle) -> bool:
        """Whether the score is to be asked."""


class ScorePlugin(Plugin, Protocol):
    """Prefers clusters."""

    def score(self, cycle: Cycle, cluster: MemberCluster) -> Score:
        """What the cluster gets; the profile multiplies it by the plug-in's weight."""


class FleetFilterPlugin(FilterPlugin, Protocol):
    """A filter that judges the whole fleet at once, with the same outcome as asking about each cluster."""

    def filter_fleet(self, cycle: Cycle, candidates: int) -> FleetRefusal:
        """The candidates that may not be picked."""


class FleetScorePlugin(ScorePlugin, Protocol):
    """A score given to the whole fleet at once, with the same outcome as asking about each cluster."""

    def score_fleet(self, cycle: Cycle, candidates: int) -> Mapping[Score, int]:
        """The candidates by score: disjoint sets that together are `candidates`."""


class RemedyPlugin(FilterPlugin, Protocol):
    """Can say what would make it accept a cluster; for `gitfleet explain`."""

    def remedy(self, cycle: Cycle, cluster: MemberCluster) -> str:
        """What to change, in the imperative; "" when nothing helps."""


class FactsPlugin(Plugin, Protocol):
    """Can say what it looks at, so that a placement is scheduled again only when that changes.

    Without it, every change of any cluster makes every placement be scheduled again.
    """

    def depends_on(self, placement: PlacementKey, policy: PlacementPolicy) -> Iterable[Fact]:
        """The facts about clusters on which filter and score depend."""


PluginFactory: TypeAlias = Callable[[JsonObject], Plugin]
"""What an entry point of `gitfleet.scheduler_plugins` names: makes a plug-in from the profile's `args`."""


def depends_on_bindings(plugin: Plugin) -> bool:
    """Whether the plug-in may answer differently from cycle to cycle."""
    return bool(getattr(plugin, "depends_on_bindings", True))
