"""The plug-ins that admit or refuse a cluster for what it is: eligibility, taints, namespaces, and being picked
already.

Source: kubefleet.md §2.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gitfleet.api.clusters import MemberCluster, Taint
from gitfleet.api.placements import PlacementKey, PlacementPolicy, Toleration, TolerationOperator
from gitfleet.formats.canonical_json import parse_json
from gitfleet.schedule.cluster_set import ClusterSet
from gitfleet.schedule.eligibility import Eligibility, reason_of
from gitfleet.schedule.fleet import ELIGIBILITY, TAINTS, Fact
from gitfleet.schedule.plugins import Cycle, FleetRefusal, Refusal, SchedulerPlugin, Score
from gitfleet.schedule.texts import ScheduleText


class ClusterEligibility(SchedulerPlugin):
    """Stage filter: only clusters that have joined, answer and are healthy."""

    name = "ClusterEligibility"
    depends_on_bindings = False

    def depends_on(self, placement: PlacementKey, policy: PlacementPolicy) -> list[Fact]:
        """The verdict on each cluster."""
        return [ELIGIBILITY]

    def filter(self, cycle: Cycle, cluster: MemberCluster) -> Refusal | None:
        """With the times of the moment."""
        verdict = cycle.fleet.eligibilities[cycle.fleet.position[cluster.name]].verdict
        return None if verdict is Eligibility.ELIGIBLE else Refusal(reason_of(cluster, verdict, cycle.fleet.now))

    def filter_fleet(self, cycle: Cycle, candidates: ClusterSet) -> FleetRefusal:
        """As `filter` for each candidate."""
        return FleetRefusal(candidates - cycle.clusters_with(ELIGIBILITY, Eligibility.ELIGIBLE))

    def remedy(self, cycle: Cycle, cluster: MemberCluster) -> str:
        """What the owners of the cluster can do."""
        if cluster.deleting is not None:
            return ScheduleText.ADD_CLUSTER_FILE_AGAIN()
        return ScheduleText.START_MEMBER_AGENT()


class NamespaceAffinity(SchedulerPlugin):
    """Stages pre-filter and filter: a ResourcePlacement goes where its namespace is."""

    name = "NamespaceAffinity"
    depends_on_bindings = False

    def depends_on(self, placement: PlacementKey, policy: PlacementPolicy) -> list[Fact]:
        """Whether each cluster has the namespace."""
        return [Fact("namespace", placement.namespace)] if placement.namespace else []

    def pre_filter(self, cycle: Cycle) -> bool:
        """Needed for a ResourcePlacement."""
        return bool(cycle.placement.namespace)

    def filter(self, cycle: Cycle, cluster: MemberCluster) -> Refusal | None:
        """Unknown namespaces refuse too."""
        namespaces = cluster.status.namespaces
        if namespaces is None:
            return Refusal(ScheduleText.CLUSTER_NO_NAMESPACE_INFORMATION_AVAILABLE())
        if cycle.placement.namespace not in namespaces:
            return Refusal(ScheduleText.TARGET_NAMESPACE_NOT_EXIST_CLUSTER())
        return None

    def filter_fleet(self, cycle: Cycle, candidates: ClusterSet) -> FleetRefusal:
        """As `filter` for each candidate."""
        return FleetRefusal(candidates - cycle.clusters_with(Fact("namespace", cycle.placement.namespace), "present"))

    def remedy(self, cycle: Cycle, cluster: MemberCluster) -> str:
        """The namespace must be there first."""
        return ScheduleText.CREATE_NAMESPACE_CLUSTER(namespace=cycle.placement.namespace)


class TaintToleration(SchedulerPlugin):
    """Stage filter: every taint of a cluster needs a toleration."""

    name = "TaintToleration"
    depends_on_bindings = False

    def depends_on(self, placement: PlacementKey, policy: PlacementPolicy) -> list[Fact]:
        """All taints."""
        return [TAINTS]

    def filter(self, cycle: Cycle, cluster: MemberCluster) -> Refusal | None:
        """The first taint that is not tolerated counts, in KubeFleet's own sentence, as Go prints a taint."""
        taint = untolerated(cluster.taints, cycle.policy.tolerations)
        if taint is None:
            return None
        return Refusal(ScheduleText.TAINT_KEY_VALUE(taint=taint.key, taint_2=taint.value, effect=taint.effect))

    def filter_fleet(self, cycle: Cycle, candidates: ClusterSet) -> FleetRefusal:
        """As `filter` for each candidate; clusters with the same taints are judged together."""
        column = cycle.fleet.column(TAINTS)
        refused = ClusterSet(candidates.names)
        for text in column.positions:
            if untolerated((Taint(*parts) for parts in parse_json(text)), cycle.policy.tolerations):
                refused |= cycle.clusters_with(TAINTS, text)
        return FleetRefusal(candidates & refused)

    def remedy(self, cycle: Cycle, cluster: MemberCluster) -> str:
        """Each toleration that is missing."""
        missing = [taint for taint in cluster.taints if untolerated((taint,), cycle.policy.tolerations)]
        return " and ".join(f"tolerate taint {t.key}={t.value}:{t.effect}" for t in missing)


class SamePlacementAffinity(SchedulerPlugin):
    """Stages filter and score: a cluster is picked once, and one that an older policy picked wins a tie."""

    name = "SamePlacementAffinity"

    def depends_on(self, placement: PlacementKey, policy: PlacementPolicy) -> list[Fact]:
        """Nothing but the placement's own bindings."""
        return []

    def filter(self, cycle: Cycle, cluster: MemberCluster) -> Refusal | None:
        """Silent: that a cluster is picked already is no decision of this cycle."""
        return Refusal(ScheduleText.CLUSTER_ALREADY_SELECTED(), silent=True) if cluster.name in cycle.present else None

    def filter_fleet(self, cycle: Cycle, candidates: ClusterSet) -> FleetRefusal:
        """As `filter` for each candidate."""
        picked = candidates & cycle.present
        return FleetRefusal(picked, picked)

    def score(self, cycle: Cycle, cluster: MemberCluster) -> Score:
        """One point, of the kind that is compared last."""
        return Score(obsolete_affinity=int(cluster.name in cycle.obsolete))

    def score_fleet(self, cycle: Cycle, candidates: ClusterSet) -> Mapping[Score, ClusterSet]:
        """As `score` for each candidate."""
        obsolete = candidates & cycle.obsolete
        return {Score(obsolete_affinity=1): obsolete, Score(): candidates - obsolete}


def untolerated(taints: Iterable[Taint], tolerations: tuple[Toleration, ...]) -> Taint | None:
    """The first taint that no toleration covers."""
    return next((taint for taint in taints if not any(tolerates(covering, taint) for covering in tolerations)), None)


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Whether a toleration covers a taint: an empty effect covers every effect, Exists without a key every key."""
    if toleration.effect not in ("", taint.effect):
        return False
    match toleration.operator:
        case TolerationOperator.EXISTS:
            return toleration.key in ("", taint.key)
        case TolerationOperator.EQUAL:
            return toleration.key == taint.key and toleration.value == taint.value
