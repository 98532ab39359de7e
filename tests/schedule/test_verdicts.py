"""`explain` as whole verdicts, the profile's errors as whole errors, and the arithmetic of scores and of stepping
down."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest

from gitfleet.api.bindings import ClusterDecision, ClusterScore
from gitfleet.api.cluster_selectors import (
    ClusterAffinity,
    ClusterSelectorTerm,
    PreferredTerm,
    PropertyOperator,
    PropertyRequirement,
)
from gitfleet.api.clusters import AgentStatus, MemberCluster, Taint
from gitfleet.api.fleet import ListedPlugin
from gitfleet.api.labels import LabelOperator, LabelRequirement, LabelSelector
from gitfleet.api.placements import PlacementKey, PlacementPolicy
from gitfleet.model.scheduling import ClusterVerdict
from gitfleet.schedule import explain, index_fleet, profile_from, schedule
from gitfleet.schedule.decisions import list_decisions
from gitfleet.schedule.fleet import Unschedulable
from gitfleet.schedule.plugins import Cycle, PluginFactory, Refusal, SchedulerPlugin
from gitfleet.schedule.texts import ScheduleText
from tests.schedule.fleets import (
    NOW,
    agent,
    binding,
    cluster,
    pick_fixed,
    pick_n,
    request,
    required,
    spread,
    states,
)

GOLD = PreferredTerm(50, ClusterSelectorTerm(label_selector=LabelSelector({"tier": "gold"})))
LIKED = ClusterAffinity(preferred=(GOLD,))
FLEET = index_fleet([cluster(name, {"tier": "gold"} if name == "a" else {}) for name in "abc"], NOW)


def verdict(name: str, *, selected: bool = False, **more: Any) -> ClusterVerdict:
    """A verdict on one cluster."""
    return ClusterVerdict(cluster=name, selected=selected, **more)


def test_every_cluster_of_a_spread_by_score() -> None:
    policy = pick_n(1, affinity=LIKED)
    low = ScheduleText.AFFINITY_SCORE_TOPOLOGY_SPREAD_SCORE(affinity="0", topology_spread="0")
    remedy = ScheduleText.RAISE_NUMBEROFCLUSTERS_ABOVE(wanted="1")
    assert explain(request(policy), FLEET) == (
        verdict(
            "a",
            selected=True,
            reason=(
                ScheduleText.SUCCESSFULLY_SCHEDULED_RESOURCES_PLACEMENT(
                    cluster="a",
                    scores=ScheduleText.AFFINITY_SCORE_TOPOLOGY_SPREAD_SCORE(affinity="50", topology_spread="0"),
                )
            ),
            score=ClusterScore(0, 50),
            scores_by_plugin={"ClusterAffinity": 50},
        ),
        *[
            verdict(
                name,
                reason=ScheduleText.SCORE_NOT_HIGH_ENOUGH(scores=low),
                score=ClusterScore(0, 0),
                scores_by_plugin={"ClusterAffinity": 0, "SamePlacementAffinity": 0},
                remedy=remedy,
            )
            for name in "bc"
        ],
    )


IN_EU = required(expressions=(LabelRequirement("region", LabelOperator.IN, ("eu",)),))
SEVERAL = required(
    expressions=(
        LabelRequirement("env", LabelOperator.IN, ("prod", "staging")),
        LabelRequirement("old", LabelOperator.DOES_NOT_EXIST),
    )
)
BIG = ClusterAffinity(
    required=(ClusterSelectorTerm(property_requirements=(PropertyRequirement("cores", PropertyOperator.GE, ("8",)),)),)
)
REFUSED: list[tuple[PlacementPolicy, MemberCluster, dict[str, Any]]] = [
    (
        PlacementPolicy(),
        cluster("c", taints=(Taint("k", "v"),)),
        {
            "refused_by": "TaintToleration",
            "reason": ScheduleText.TAINT_KEY_VALUE(taint="k", taint_2="v", effect="NoSchedule"),
            "remedy": "tolerate taint k=v:NoSchedule",
        },
    ),
    *[
        (PlacementPolicy(affinity=affinity), member, {"refused_by": "ClusterAffinity", "remedy": remedy})
        for affinity, member, remedy in (
            (IN_EU, cluster("c", {"region": "us"}), "add label region=eu"),
            (
                SEVERAL,
                cluster("c", {"old": "yes"}),
                ScheduleText.ADD_LABEL_ONE_VALUES(key="env", values="prod, staging and remove label old=yes"),
            ),
            (
                BIG,
                cluster("c", properties={"cores": "4"}),
                ScheduleText.BRING_PROPERTY(requirement="cores", wanted="Ge 8", now="it is 4"),
            ),
            (
                BIG,
                cluster("c"),
                ScheduleText.BRING_PROPERTY(requirement="cores", wanted="Ge 8", now=ScheduleText.IT_HAS_NONE()),
            ),
        )
    ],
    (
        PlacementPolicy(),
        cluster("c", taints=(Taint("k", "v"), Taint("l"))),
        {"refused_by": "TaintToleration", "remedy": "tolerate taint k=v:NoSchedule and tolerate taint l=:NoSchedule"},
    ),
    (
        PlacementPolicy(affinity=required({"zone": "a"})),
        cluster("c"),
        {
            "refused_by": "ClusterAffinity",
            "reason": ScheduleText.CLUSTER_NOT_MATCH_ANY_REQUIRED(),
            "remedy": "add label zone=a",
        },
    ),
    *[
        (PlacementPolicy(), member, {"refused_by": "ClusterEligibility", "remedy": remedy})
        for member, remedy in (
            (cluster("c", deleting=NOW), ScheduleText.ADD_CLUSTER_FILE_AGAIN()),
            (cluster("c", status=None), ScheduleText.START_MEMBER_AGENT()),
        )
    ],
]


@pytest.mark.parametrize(("policy", "member", "said"), REFUSED)
def test_who_refused_why_and_what_would_help(
    policy: PlacementPolicy, member: MemberCluster, said: dict[str, Any]
) -> None:
    (found,) = explain(request(policy), index_fleet([member], NOW))
    assert replace(found, reason=said.get("reason", found.reason)) == verdict("c", **{"reason": found.reason, **said})
    assert found.reason


def test_a_namespace_that_is_not_there_or_not_known() -> None:
    def at(name: str, *namespaces: str) -> MemberCluster:
        member = cluster(name)
        return replace(member, status=replace(member.status, namespaces=dict.fromkeys(namespaces, "u")))

    fleet = index_fleet([at("a", "web"), at("b", "other"), cluster("c")], NOW)
    question = request(PlacementPolicy(), placement=PlacementKey("web", "app"))
    assert states(schedule(question, fleet)) == {"a": "Scheduled"}
    refused: dict[str, Any] = {
        "refused_by": "NamespaceAffinity",
        "remedy": ScheduleText.CREATE_NAMESPACE_CLUSTER(namespace="web"),
    }
    assert explain(question, fleet)[1:] == (
        verdict("b", reason=ScheduleText.TARGET_NAMESPACE_NOT_EXIST_CLUSTER(), **refused),
        verdict("c", reason=ScheduleText.CLUSTER_NO_NAMESPACE_INFORMATION_AVAILABLE(), **refused),
    )


def test_the_remedy_is_that_of_the_constraint_that_is_violated() -> None:
    policy = pick_n(3, topology_spread_constraints=(spread("room", 9), spread("zone"), spread("hall", hard=False)))
    labels = {"a1": "a", "a2": "a", "b1": "b"}
    members = [cluster(name, {"zone": zone, "room": zone, "hall": "h"}) for name, zone in labels.items()]
    tainted = replace(members[2], taints=(Taint("k"),))
    fleet = index_fleet([*members[:2], tainted], NOW)
    assert explain(request(policy, binding("a1")), fleet)[1] == verdict(
        "a2",
        refused_by="TopologySpreadConstraints",
        reason=ScheduleText.VIOLATED_DONOTSCHEDULE_TOPOLOGY_SPREAD_CONSTRAINT(key="zone", max_skew="1"),
        remedy=ScheduleText.RAISE_MAXSKEW_CONSTRAINT_MAKE_SCHEDULEANYWAY(key="zone", enough="2"),
    )


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (agent(joined=None), ScheduleText.MEMBER_AGENT_NOT_JOINED_YET()),
    ],
)
def test_pick_fixed_as_whole_verdicts(status: AgentStatus, why: str) -> None:
    fleet = index_fleet([cluster("a"), cluster("b", status=status), cluster("c")], NOW)
    why = ScheduleText.CLUSTER_NOT_CONNECTED_FLEET() + f"{why}"
    success = ScheduleText.SUCCESSFULLY_SCHEDULED_RESOURCES_PLACEMENT_PICKED(cluster="a")
    assert explain(request(pick_fixed("a", "b", "ghost")), fleet) == (
        verdict("a", selected=True, reason=success),
        verdict(
            "b",
            refused_by="ClusterEligibility",
            reason=ScheduleText.NOT_ELIGIBLE_YET(why=why),
            remedy=ScheduleText.MAKE_CLUSTER_ELIGIBLE(why=why),
        ),
        verdict("c", reason=ScheduleText.NOT_NAMED_PLACEMENT(), remedy=ScheduleText.ADD_CLUSTERNAMES()),
        verdict(
            "ghost",
            reason=ScheduleText.SPECIFIED_CLUSTER_NOT_FOUND(cluster="ghost"),
            remedy=ScheduleText.ADD_MEMBERCLUSTER_NAME(),
        ),
    )


def factory_of(plugin: SchedulerPlugin) -> PluginFactory:
    """Makes the very plug-in."""
    return lambda args: plugin


@dataclass(frozen=True)
class Raising(SchedulerPlugin):
    """Answers so many cycles and then fails."""

    error: Exception
    until: int
    name = "Raising"

    def filter(self, cycle: Cycle, cluster: MemberCluster) -> Refusal | None:
        if cycle.number > self.until:
            raise self.error
        return None


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (Unschedulable("the moon is wrong"), "Raising: the moon is wrong"),
        (ZeroDivisionError("x"), ScheduleText.PLUG_FAILED(who="Raising", name="ZeroDivisionError", error="x")),
    ],
)
def test_a_plugin_that_fails_while_it_is_explained(error: Exception, said: str) -> None:
    """One cycle more than it took to pick is asked for."""
    for policy, picked in ((pick_n(1), "c"), (PlacementPolicy(), "abc")):
        for until in (0, 1, 2):
            profile, _ = profile_from([ListedPlugin(name="Raising")], {"Raising": factory_of(Raising(error, until))})
            assert (schedule(request(policy), FLEET, profile).error is None) is (until > 0)
            verdicts = explain(request(policy), FLEET, profile)
            if until == 2 or (until and picked == "abc"):  # then no cluster is left to be asked about
                assert [v.selected for v in verdicts] == [name in picked for name in "abc"]
                assert said not in {v.reason for v in verdicts}
            elif until:
                assert verdicts == tuple(verdict(name, selected=name in picked, reason=said) for name in "abc")


@pytest.mark.parametrize(("held", "others"), [(10, 20), (985, 15), (1000, 0), (1005, 0)])
def test_how_many_decisions_are_listed(held: int, others: int) -> None:
    bindings = [binding(f"h{n:04}") for n in range(held)]
    refused = (ClusterDecision(cluster=f"r{n}", selected=False) for n in range(30))
    listed = list_decisions([bindings], iter(()), refused)
    assert [sum(one.selected is wanted for one in listed) for wanted in (True, False)] == [min(held, 1000), others]


def test_a_negative_limit_is_none_and_the_smallest_counts() -> None:
    class Limit(SchedulerPlugin):
        def __init__(self, name: str, limit: int) -> None:
            self.name, self.limit = name, limit

        def post_batch(self, cycle: Cycle, size: int) -> int:
            return self.limit

    for limits, cycles in (((-1, 5), 1), ((3, 3), 1), ((1, 2), 3), ((2, 1), 3), ((2, -1), 2)):
        plugins = {f"Limit{n}": Limit(f"Limit{n}", limit) for n, limit in enumerate(limits)}
        available = {name: factory_of(plugin) for name, plugin in plugins.items()}
        profile, faults = profile_from([ListedPlugin(name=name) for name in plugins], available)
        assert faults == ()
        answer = schedule(request(pick_n(3)), FLEET, profile)
        assert (answer.cycles, len(answer.bindings)) == (cycles, 3), limits
