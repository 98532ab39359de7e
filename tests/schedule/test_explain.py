"""Why each cluster was chosen or not, and what would have to change."""

from __future__ import annotations

import pytest

from gitfleet.api.cluster_selectors import ClusterAffinity, ClusterSelectorTerm, PreferredTerm, PropertyRequirement
from gitfleet.api.clusters import MemberCluster, Taint
from gitfleet.api.labels import LabelRequirement, LabelSelector
from gitfleet.api.placements import PlacementKey, PlacementPolicy
from gitfleet.schedule import explain, index_fleet
from gitfleet.schedule.texts import ScheduleText
from tests.schedule.fleets import NOW, agent, binding, cluster, pick_fixed, pick_n, request, required, spread

IN_EU = required(expressions=(LabelRequirement("region", "In", ("eu",)),))
SEVERAL = required(
    expressions=(LabelRequirement("env", "In", ("prod", "staging")), LabelRequirement("old", "DoesNotExist"))
)
BIG = ClusterAffinity(
    required=(ClusterSelectorTerm(property_requirements=(PropertyRequirement("cores", "Ge", ("8",)),)),)
)

REFUSALS: list[tuple[PlacementPolicy, MemberCluster, str, str]] = [
    (PlacementPolicy(affinity=required({"region": "eu"})), cluster("c"), "ClusterAffinity", "add label region=eu"),
    (PlacementPolicy(affinity=IN_EU), cluster("c", {"region": "us"}), "ClusterAffinity", "add label region=eu"),
    (
        PlacementPolicy(affinity=SEVERAL),
        cluster("c", {"old": "yes"}),
        "ClusterAffinity",
        ScheduleText.ADD_LABEL_ONE_VALUES(key="env", values="prod, staging and remove label old=yes"),
    ),
    (
        PlacementPolicy(affinity=BIG),
        cluster("c", properties={"cores": "4"}),
        "ClusterAffinity",
        ScheduleText.BRING_PROPERTY(requirement="cores", wanted="Ge 8", now="it is 4"),
    ),
    (
        PlacementPolicy(affinity=BIG),
        cluster("c"),
        "ClusterAffinity",
        ScheduleText.BRING_PROPERTY(requirement="cores", wanted="Ge 8", now="it has none"),
    ),
    (
        PlacementPolicy(),
        cluster("c", taints=(Taint("k", "v"), Taint("l"))),
        "TaintToleration",
        "tolerate taint k=v:NoSchedule and tolerate taint l=:NoSchedule",
    ),
    (PlacementPolicy(), cluster("c", status=None), "ClusterEligibility", "start the member agent"),
    (PlacementPolicy(), cluster("c", deleting=NOW), "ClusterEligibility", ScheduleText.ADD_CLUSTER_FILE_AGAIN()),
]


@pytest.mark.parametrize(("policy", "member", "refused_by", "remedy"), REFUSALS)
def test_refusals_and_remedies(policy: PlacementPolicy, member: MemberCluster, refused_by: str, remedy: str) -> None:
    (verdict,) = explain(request(policy), index_fleet([member], NOW))
    assert (verdict.selected, verdict.refused_by) == (False, refused_by)
    assert verdict.reason
    assert verdict.remedy.startswith(remedy)


def test_the_term_that_is_nearest_to_being_met_gives_the_remedy() -> None:
    policy = PlacementPolicy(affinity=required({"a": "1", "b": "2"}, {"region": "eu", "env": "prod"}))
    (verdict,) = explain(request(policy), index_fleet([cluster("c", {"region": "eu"})], NOW))
    assert verdict.remedy == "add label env=prod"


def test_a_namespace_that_is_missing() -> None:
    question = request(PlacementPolicy(), placement=PlacementKey("web", "app"))
    (verdict,) = explain(question, index_fleet([cluster("c")], NOW))
    assert (verdict.refused_by, verdict.remedy) == (
        "NamespaceAffinity",
        ScheduleText.CREATE_NAMESPACE_CLUSTER(namespace="web"),
    )


def test_scores_by_plugin_of_picked_and_outscored() -> None:
    gold = PreferredTerm(50, ClusterSelectorTerm(label_selector=LabelSelector({"tier": "gold"})))
    policy = pick_n(1, affinity=ClusterAffinity(preferred=(gold,)))
    picked, left = explain(request(policy), index_fleet([cluster("a", {"tier": "gold"}), cluster("b")], NOW))
    assert (picked.selected, picked.score and picked.score.affinity, picked.scores_by_plugin) == (
        True,
        50,
        {"ClusterAffinity": 50},
    )
    assert (left.selected, left.refused_by, left.scores_by_plugin) == (
        False,
        None,
        {"ClusterAffinity": 0, "SamePlacementAffinity": 0},
    )
    assert left.reason == ScheduleText.CLUSTER_NOT_SCORE_HIGH_ENOUGH(
        cluster="b", scores=ScheduleText.AFFINITY_SCORE_TOPOLOGY_SPREAD_SCORE(affinity="0", topology_spread="0")
    )
    assert left.remedy.startswith(ScheduleText.RAISE_NUMBEROFCLUSTERS_ABOVE(wanted="1"))


def test_a_violated_spread_tells_the_skew_that_would_do() -> None:
    policy = pick_n(3, topology_spread_constraints=(spread("zone"),))
    members = [cluster(name, {"zone": name[0]}) for name in ("a1", "a2", "a3", "b1")]
    verdicts = {each.cluster: each for each in explain(request(policy, binding("b1")), index_fleet(members, NOW))}
    assert verdicts["a1"].refused_by is None or verdicts["a1"].refused_by == "TopologySpreadConstraints"
    refused = [each for each in verdicts.values() if each.refused_by]
    assert [each.remedy for each in refused] == [
        ScheduleText.RAISE_MAXSKEW_CONSTRAINT_MAKE_SCHEDULEANYWAY(key="zone", enough="2")
    ] * len(refused)
    assert refused


def test_pick_fixed() -> None:
    fleet = index_fleet([cluster("a"), cluster("b", status=agent(joined=None)), cluster("c")], NOW)
    verdicts = explain(request(pick_fixed("a", "b", "ghost")), fleet)
    assert [(each.cluster, each.selected, each.refused_by) for each in verdicts] == [
        ("a", True, None),
        ("b", False, "ClusterEligibility"),
        ("c", False, None),
        ("ghost", False, None),
    ]
    assert [each.remedy for each in verdicts] == [
        "",
        ScheduleText.MAKE_CLUSTER_ELIGIBLE(
            why=(ScheduleText.CLUSTER_NOT_CONNECTED_FLEET() + ScheduleText.MEMBER_AGENT_NOT_JOINED_YET())
        ),
        ScheduleText.ADD_CLUSTERNAMES(),
        ScheduleText.ADD_MEMBERCLUSTER_NAME(),
    ]
