"""What each plug-in reads of the clusters, how facts and properties are read, and what is said when they cannot be."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.bindings import BindingState
from gitfleet.api.cluster_selectors import (
    ClusterAffinity,
    ClusterSelectorTerm,
    PreferredTerm,
    PropertyOperator,
    PropertyRequirement,
    PropertySorter,
    SortOrder,
)
from gitfleet.api.clusters import ClusterStatus, MemberCluster, PropertyValue, ResourceUsage, Taint
from gitfleet.api.conditions import Status
from gitfleet.api.labels import LabelOperator, LabelRequirement, LabelSelector
from gitfleet.api.placements import Placement, PlacementKey, PlacementPolicy, Toleration, TolerationOperator
from gitfleet.api.snapshots import PolicySnapshot
from gitfleet.formats.quantities import parse_quantity
from gitfleet.model.scheduling import SchedulingRequest
from gitfleet.model.state import PlacementRecord
from gitfleet.schedule import index_fleet, request_for, schedule, schedule_key
from gitfleet.schedule.admission import tolerates
from gitfleet.schedule.affinity import affinity_score, missing_labels
from gitfleet.schedule.builtin import BUILT_IN, DEFAULT_PLUGINS
from gitfleet.schedule.eligibility import Eligibility, reason_of
from gitfleet.schedule.fleet import ELIGIBILITY, TAINTS, Fact, Unschedulable, property_text, reader
from gitfleet.schedule.keys import BindingDigests
from gitfleet.schedule.profile import DEFAULT_PROFILE, Profile, make_profile
from gitfleet.schedule.properties import interpolate
from gitfleet.schedule.texts import ScheduleText
from tests.schedule.fleets import (
    NOW,
    PLAIN_PROFILE,
    WEB,
    agent,
    binding,
    cluster,
    pick_fixed,
    pick_n,
    request,
    required,
    spread,
)

HERE = PlacementKey("shop", "web")
ZONE = ClusterSelectorTerm(
    label_selector=LabelSelector({"zone": "a"}, (LabelRequirement("env", LabelOperator.EXISTS),)),
    property_requirements=(
        PropertyRequirement("cores", PropertyOperator.GE, ("8",)),
        PropertyRequirement("ram", PropertyOperator.GE, ("8",)),
    ),
)
CHEAP = ClusterSelectorTerm(
    label_selector=LabelSelector({"tier": "x"}), property_sorter=PropertySorter("cost", SortOrder.ASCENDING)
)
WIDE = pick_n(
    2,
    affinity=ClusterAffinity(required=(ZONE, ClusterSelectorTerm()), preferred=(PreferredTerm(5, CHEAP),)),
    topology_spread_constraints=(spread("rack"), spread("room", hard=False)),
)
LABELS = [Fact("label", "zone"), Fact("label", "env")]
READ = {
    "ClusterAffinity": [
        *LABELS,
        Fact("property", "cores"),
        Fact("property", "ram"),
        Fact("label", "tier"),
        Fact("property", "cost"),
    ],
    "ClusterEligibility": [ELIGIBILITY],
    "NamespaceAffinity": [Fact("namespace", "shop")],
    "TaintToleration": [TAINTS],
    "SamePlacementAffinity": [],
    "TopologySpreadConstraints": [Fact("label", "rack"), Fact("label", "room")],
}


@pytest.mark.parametrize("plugin", DEFAULT_PLUGINS, ids=lambda plugin: plugin.name)
def test_what_each_plugin_reads_of_a_cluster(plugin: Any) -> None:
    assert plugin.depends_on(HERE, WIDE) == READ[plugin.name]
    elsewhere = {"ClusterEligibility": [ELIGIBILITY], "TaintToleration": [TAINTS]}
    assert plugin.depends_on(WEB, PlacementPolicy()) == elsewhere.get(plugin.name, [])


def test_the_factories_take_no_args() -> None:
    assert [(name, factory({}).name) for name, factory in BUILT_IN.items()] == [(name, name) for name in READ]
    for factory in BUILT_IN.values():
        with pytest.raises(ValueError, match=f"^{ScheduleText.TAKES_NONE_GOT(args='a, b')}$"):
            factory({"b": 1, "a": 2})


USAGE = ResourceUsage(capacity={"cpu": "40"}, allocatable={"example.com/big-gpu": "3"}, available={"cpu": "2"})
MEMBER = MemberCluster(
    name="c",
    labels={"zone": "a"},
    status=ClusterStatus(properties={"cost": PropertyValue("7")}, resource_usage=USAGE, namespaces={"shop": "u"}),
)
RESOURCES = "resources.kubernetes-fleet.io/"


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        (Fact("label", "zone"), "a"),
        (Fact("label", "env"), None),
        (Fact("label", "kubernetes-fleet.io/member-name"), "c"),
        (Fact("property", "cost"), "7"),
        (Fact("property", "ram"), None),
        (Fact("property", f"{RESOURCES}total-cpu"), "40"),
        (Fact("property", f"{RESOURCES}available-cpu"), "2"),
        (Fact("property", f"{RESOURCES}allocatable-example.com/big-gpu"), "3"),
        (Fact("property", f"{RESOURCES}allocatable-cpu"), None),
        (Fact("namespace", "shop"), "present"),
        (Fact("namespace", "other"), "absent"),
        (TAINTS, None),
    ],
)
def test_how_a_fact_is_read(fact: Fact, text: str | None) -> None:
    assert reader(fact)(MEMBER) == text


def test_what_is_not_known_and_what_cannot_be_named() -> None:
    unseen = replace(MEMBER, status=ClusterStatus())
    assert reader(Fact("namespace", "shop"))(unseen) == "unknown"
    wrong = {
        f"{RESOURCES}total": ScheduleText.NOT_NAME_RESOURCE_PROPERTY(name=f"{RESOURCES}total"),
        f"{RESOURCES}spare-cpu": (ScheduleText.NAMES_NO_CAPACITY(name=f"{RESOURCES}spare-cpu")),
    }
    for name, said in wrong.items():
        with pytest.raises(ValueError) as raised:
            property_text(MEMBER, name)
        assert str(raised.value) == said
        term = ClusterSelectorTerm(property_requirements=(PropertyRequirement(name, PropertyOperator.GE, ("1",)),))
        policy = PlacementPolicy(affinity=ClusterAffinity(required=(term,)))
        for profile in (DEFAULT_PROFILE, PLAIN_PROFILE):
            answer = schedule(request(policy), index_fleet([cluster("c")], NOW), profile)
            assert answer.error == f"ClusterAffinity: {said}"
    with pytest.raises(ValueError, match=re.escape(ScheduleText.NO_FACT_KIND_ABOUT_CLUSTERS(fact="mood"))):
        reader(Fact("mood"))


EVERYTHING = reader(Fact("everything"))


@pytest.mark.parametrize(
    "other",
    [
        replace(MEMBER, labels={"zone": "b"}),
        replace(MEMBER, taints=(Taint("k"),)),
        replace(MEMBER, deleting=NOW),
        replace(MEMBER, status=replace(MEMBER.status, namespaces={"other": "u"})),
        replace(MEMBER, status=replace(MEMBER.status, namespaces=None)),
        replace(MEMBER, status=replace(MEMBER.status, properties={"cost": PropertyValue("8")})),
        replace(MEMBER, status=replace(MEMBER.status, resource_usage=ResourceUsage())),
    ],
)
def test_everything_a_plugin_may_see(other: MemberCluster) -> None:
    assert EVERYTHING(other) != EVERYTHING(MEMBER)
    later = replace(MEMBER, status=replace(MEMBER.status, properties={"cost": PropertyValue("7", NOW)}))
    assert EVERYTHING(later) == EVERYTHING(MEMBER), "when it was measured does not count"


def sorted_by(order: str) -> PlacementPolicy:
    """A policy that prefers clusters by their cost."""
    term = ClusterSelectorTerm(property_sorter=PropertySorter("cost", SortOrder(order)))
    return pick_n(1, affinity=ClusterAffinity(preferred=(PreferredTerm(10, term),)))


def test_many_clusters_of_one_value_and_two_terms_of_one_property() -> None:
    """Each term gives its own weight by its own order."""
    costs = {f"c{n:02}": "1" if n < 10 else "3" for n in range(19)} | {"dear": "5"}
    fleet = index_fleet([cluster(name, properties={"cost": cost}) for name, cost in costs.items()], NOW)
    terms = ((10, "Ascending"), (40, "Ascending"), (6, "Descending"))
    preferred = tuple(
        PreferredTerm(weight, ClusterSelectorTerm(property_sorter=PropertySorter("cost", SortOrder(order))))
        for weight, order in terms
    )
    answer = schedule(request(pick_n(20, affinity=ClusterAffinity(preferred=preferred))), fleet)
    given = {
        each.cluster: each.decision.score.affinity for each in answer.bindings if each.decision and each.decision.score
    }
    assert given == {name: {"1": 50, "3": 5 + 20 + 3, "5": 6}[cost] for name, cost in costs.items()}


def demanding(*values: str, operator: str = "Ge") -> PlacementPolicy:
    """A policy that requires a cost."""
    term = ClusterSelectorTerm(property_requirements=(PropertyRequirement("cost", PropertyOperator(operator), values),))
    return PlacementPolicy(affinity=ClusterAffinity(required=(term,)))


def selecting(operator: str, *values: str) -> PlacementPolicy:
    """A policy that requires something of the label `zone`."""
    return PlacementPolicy(affinity=required(expressions=(LabelRequirement("zone", LabelOperator(operator), values),)))


def selecting_both(*needs: tuple[str, ...], **labels: str) -> PlacementPolicy:
    """A policy that requires several things of the label `zone`, and labels."""
    every = tuple(LabelRequirement("zone", LabelOperator(operator), tuple(values)) for operator, *values in needs)
    term = ClusterSelectorTerm(label_selector=LabelSelector(labels, every))
    return PlacementPolicy(affinity=ClusterAffinity(required=(term,)))


@pytest.mark.parametrize(
    ("policy", "costs"),
    [
        (demanding("2", operator="Eq"), "2"),
        (demanding("2", operator="Ne"), "13"),
        (demanding("2", operator="Gt"), "3"),
        (demanding("2", operator="Ge"), "23"),
        (demanding("2", operator="Lt"), "1"),
        (demanding("2", operator="Le"), "12"),
        (selecting("In", "z1", "z3"), "13"),
        (selecting("NotIn", "z1"), "23 "),
        (selecting("Exists"), "123"),
        (selecting("DoesNotExist"), " "),
        (selecting_both(("In", "z1"), ("Exists",)), "1"),
        (selecting_both(("In", "z1"), ("NotIn", "z2")), "1"),
        (selecting_both(("NotIn", "z1"), ("In", "z1", "z2")), "2"),
        (selecting_both(("NotIn", "z1"), ("Exists",), has="yes"), "23"),
        (selecting_both(("In", "z1"), ("DoesNotExist",)), ""),
        (selecting_both(zone="z1", has="yes"), "1"),
    ],
)
@pytest.mark.parametrize("profile", [DEFAULT_PROFILE, PLAIN_PROFILE], ids=["the whole fleet", "one by one"])
def test_which_clusters_a_term_admits(policy: PlacementPolicy, costs: str, profile: Profile) -> None:
    """Ten clusters of each cost, in a zone of their own; the last ten have neither."""
    names = [f"{cost}-{n}" for cost in "123" for n in range(10)]
    members = [cluster(name, {"zone": f"z{name[0]}", "has": "yes"}, properties={"cost": name[0]}) for name in names]
    members += [cluster(f" -{n}") for n in range(10)]
    answer = schedule(request(policy), index_fleet(members, NOW), profile)
    assert [each.cluster for each in answer.bindings] == sorted(m.name for m in members if m.name[0] in costs)


def test_a_term_asks_one_property_twice_and_only_of_clusters_with_its_labels() -> None:
    wanted = tuple(PropertyRequirement("cost", PropertyOperator(operator), ("2",)) for operator in ("Ge", "Le"))
    term = ClusterSelectorTerm(label_selector=LabelSelector({"zone": "a"}), property_requirements=wanted)
    odd = [cluster(f"odd-{n:02}", {"zone": "b"}, properties={"cost": "cheap"}) for n in range(12)]
    members = [cluster(f"c{cost}", {"zone": "a"}, properties={"cost": cost}) for cost in "123"]
    policy = PlacementPolicy(affinity=ClusterAffinity(required=(term,)))
    answer = schedule(request(policy), index_fleet([*odd, *members], NOW))
    assert (answer.error, [each.cluster for each in answer.bindings]) == (None, ["c2"])


EMPTY = [cluster("a", properties={"cost": "1"}), cluster("b", properties={"cost": ""})]
ODD = [cluster("a", properties={"cost": "1"}), cluster("b", properties={"cost": "cheap"}), cluster("c")]
FINE = [cluster("a", properties={"cost": "1"}), cluster("b", properties={"cost": "2"})]
COMPARED = "ClusterAffinity: " + ScheduleText.PROPERTY_CLUSTER_CANNOT_COMPARED(name="cost", cluster="b", error="")


@pytest.mark.parametrize(
    ("members", "policy", "said"),
    [
        (EMPTY, demanding("1"), f'{COMPARED}""'),
        (ODD, demanding("1"), COMPARED),
        (ODD, sorted_by("Ascending"), COMPARED),
        (
            FINE,
            demanding(),
            ("ClusterAffinity: " + ScheduleText.REQUIREMENT_PROPERTY_MUST_EXACTLY_ONE(requirement="cost")),
        ),
        (
            FINE,
            demanding("1", "2"),
            ("ClusterAffinity: " + ScheduleText.REQUIREMENT_PROPERTY_MUST_EXACTLY_ONE(requirement="cost")),
        ),
        (
            FINE,
            demanding("x"),
            ("ClusterAffinity: " + ScheduleText.REQUIREMENT_PROPERTY_CANNOT_MET(requirement="cost", error="")),
        ),
    ],
)
@pytest.mark.parametrize("profile", [DEFAULT_PROFILE, PLAIN_PROFILE], ids=["the whole fleet", "one by one"])
def test_what_cannot_be_compared_is_said(
    members: list[MemberCluster], policy: PlacementPolicy, said: str, profile: Profile
) -> None:
    error = schedule(request(policy), index_fleet(members, NOW), profile).error or ""
    assert error.startswith(said)
    assert not said.endswith(": ") or len(error) > len(said)


@pytest.mark.parametrize(
    ("value", "low", "high", "order", "points"),
    [
        (None, "0", "10", "Ascending", 0),
        ("0", "0", "10", "Ascending", 10),
        ("10", "0", "10", "Ascending", 0),
        ("0", "0", "10", "Descending", 0),
        ("10", "0", "10", "Descending", 10),
        ("5", "0", "20", "Descending", 3),
        ("5", "5", "5", "Descending", 0),
    ],
)
def test_the_share_of_a_weight(value: str | None, low: str, high: str, order: str, points: int) -> None:
    given = None if value is None else parse_quantity(value)
    assert interpolate(given, parse_quantity(low), parse_quantity(high), SortOrder(order), 10) == points


@pytest.mark.parametrize(("value", "low", "high"), [("11", "0", "10"), ("0", "1", "10")])
def test_a_value_outside_what_was_observed_cannot_be_weighed(value: str, low: str, high: str) -> None:
    with pytest.raises(Unschedulable) as raised:
        interpolate(parse_quantity(value), parse_quantity(low), parse_quantity(high), SortOrder.ASCENDING, 10)
    assert str(raised.value) == ScheduleText.CANNOT_WEIGH_OBSERVED_VALUES_LIE(value=value, low=low, high=high)


def test_preferred_terms_are_added_up() -> None:
    plain = ClusterSelectorTerm(label_selector=LabelSelector({"zone": "a"}))
    other = ClusterSelectorTerm(label_selector=LabelSelector({"zone": "b"}))
    by_cost = ClusterSelectorTerm(property_sorter=PropertySorter("cost", SortOrder.DESCENDING))
    by_ram = ClusterSelectorTerm(property_sorter=PropertySorter("ram", SortOrder.DESCENDING))
    terms = tuple(PreferredTerm(weight, term) for weight, term in ((8, other), (5, plain), (10, by_cost), (4, by_ram)))
    observed = {"cost": (parse_quantity("5"), parse_quantity("9")), "ram": None}
    assert affinity_score(terms, MEMBER, observed.__getitem__) == 5 + 5
    twice = (*terms, PreferredTerm(20, by_cost))
    assert affinity_score(twice, MEMBER, observed.__getitem__) == 5 + 5 + 10


@pytest.mark.parametrize(
    ("toleration", "covered"),
    [
        (Toleration(key="k", operator=TolerationOperator.EQUAL, value="v", effect="NoSchedule"), True),
        (Toleration(key="k", operator=TolerationOperator.EQUAL, value="v"), True),
        (Toleration(key="k", operator=TolerationOperator.EQUAL, value="v", effect="NoExecute"), False),
        (Toleration(key="k", operator=TolerationOperator.EQUAL, value="w"), False),
        (Toleration(key="l", operator=TolerationOperator.EQUAL, value="v"), False),
        (Toleration(key="k", operator=TolerationOperator.EXISTS), True),
        (Toleration(key="", operator=TolerationOperator.EXISTS), True),
        (Toleration(key="", operator=TolerationOperator.EXISTS, effect="NoExecute"), False),
        (Toleration(key="l", operator=TolerationOperator.EXISTS), False),
    ],
)
def test_which_taint_a_toleration_covers(toleration: Toleration, covered: bool) -> None:
    assert tolerates(toleration, Taint("k", "v", "NoSchedule")) is covered


@pytest.mark.parametrize(
    ("selector", "todo"),
    [
        (None, []),
        (LabelSelector({"zone": "a"}), []),
        (LabelSelector({"zone": "b", "env": "x"}), ["add label zone=b", "add label env=x"]),
        (LabelSelector({}, (LabelRequirement("env", LabelOperator.EXISTS),)), ["add label env"]),
        (LabelSelector({}, (LabelRequirement("zone", LabelOperator.DOES_NOT_EXIST),)), ["remove label zone=a"]),
        (LabelSelector({}, (LabelRequirement("zone", LabelOperator.NOT_IN, ("a", "b")),)), ["remove label zone=a"]),
        (LabelSelector({}, (LabelRequirement("zone", LabelOperator.IN, ("b",)),)), ["add label zone=b"]),
        (
            LabelSelector({}, (LabelRequirement("zone", LabelOperator.IN, ("b", "c")),)),
            [ScheduleText.ADD_LABEL_ONE_VALUES(key="zone", values="b, c")],
        ),
    ],
)
def test_what_to_do_to_the_labels(selector: LabelSelector | None, todo: list[str]) -> None:
    assert missing_labels(selector, MEMBER) == todo


DISCONNECTED = ScheduleText.CLUSTER_NOT_CONNECTED_FLEET()


@pytest.mark.parametrize(
    ("verdict", "status", "said"),
    [
        (Eligibility.ELIGIBLE, agent(), ""),
        (Eligibility.LEFT, None, ScheduleText.CLUSTER_LEFT_FLEET()),
        (Eligibility.NOT_ONLINE, None, (f"{DISCONNECTED}" + ScheduleText.MEMBER_AGENT_NOT_ONLINE_YET())),
        (Eligibility.NOT_JOINED, agent(), (f"{DISCONNECTED}" + ScheduleText.MEMBER_AGENT_NOT_JOINED_YET())),
        (Eligibility.HEALTH_UNKNOWN, agent(), (f"{DISCONNECTED}" + ScheduleText.HEALTH_CONDITION_FROM_MEMBER_AGENT())),
        (
            Eligibility.SILENT,
            agent(heard_ago=timedelta(minutes=6, seconds=30)),
            (
                f"{DISCONNECTED}"
                + ScheduleText.NO_RECENT_HEARTBEAT_SIGNALS(
                    disconnected="", when=ScheduleText.LAST_RECEIVED_MINUTES_AGO(minutes="6.50")
                )
            ),
        ),
        (
            Eligibility.SILENT,
            agent(heard_ago=None),
            (f"{DISCONNECTED}" + ScheduleText.NO_RECENT_HEARTBEAT_SIGNALS(disconnected="", when="never received")),
        ),
        (
            Eligibility.SILENT,
            None,
            (f"{DISCONNECTED}" + ScheduleText.NO_RECENT_HEARTBEAT_SIGNALS(disconnected="", when="never received")),
        ),
        (
            Eligibility.UNHEALTHY,
            agent(healthy=Status.FALSE, healthy_ago=timedelta(minutes=7)),
            (f"{DISCONNECTED}" + ScheduleText.UNHEALTHY_PROLONGED_PERIOD_TIME_LAST(disconnected="", since="7.00")),
        ),
        *[
            (
                Eligibility.UNHEALTHY,
                status,
                (f"{DISCONNECTED}" + ScheduleText.UNHEALTHY_PROLONGED_PERIOD_TIME_LAST(disconnected="", since="0.00")),
            )
            for status in (None, agent(healthy=None))
        ],
    ],
)
def test_why_a_cluster_is_not_eligible(verdict: Eligibility, status: Any, said: str) -> None:
    assert reason_of(cluster("c", status=status), verdict, NOW) == said


def record(*policies: PolicySnapshot, **more: Any) -> PlacementRecord:
    """A placement with policy snapshots."""
    return PlacementRecord(
        placement=Placement(key=WEB, selectors=(), policy=pick_n(9)), policy_snapshots=policies, **more
    )


def test_what_is_asked_of_the_scheduler() -> None:
    """The latest policy, with the number of clusters that scaling wrote on it."""
    snapped = pick_n(2, tolerations=(Toleration(operator=TolerationOperator.EXISTS),))
    older, latest = (
        PolicySnapshot(placement=WEB, index=index, hash="h", policy=snapped, number_of_clusters=count)
        for index, count in ((0, 3), (1, 5))
    )
    bound = (binding("a"),)
    assert request_for(record(older, latest, bindings=bound), NOW) == SchedulingRequest(
        placement=WEB, policy=replace(snapped, number_of_clusters=5), policy_snapshot="web-1", bindings=bound, now=NOW
    )
    assert request_for(record(), NOW) == SchedulingRequest(
        placement=WEB, policy=pick_n(9), policy_snapshot="", bindings=(), now=NOW
    )


FLEET = index_fleet([cluster("a", {"zone": "a"}), cluster("b", {"zone": "b"})], NOW)
BASE = request(PlacementPolicy(affinity=required({"zone": "a"})), binding("a"))


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (replace(BASE, now=NOW + timedelta(hours=1)), True),
        (replace(BASE, bindings=(binding("a", BindingState.SCHEDULED),)), True),
        (replace(BASE, bindings=(binding("a"), binding("b", BindingState.UNSCHEDULED))), True),
        (replace(BASE, bindings=()), False),
        (replace(BASE, bindings=(binding("a", policy="web-0"),)), False),
        (replace(BASE, placement=PlacementKey("", "other")), False),
        (replace(BASE, policy_snapshot="web-2"), False),
        (replace(BASE, policy=PlacementPolicy()), False),
    ],
)
def test_what_the_key_of_a_scheduling_depends_on(other: SchedulingRequest, same: bool) -> None:
    assert (schedule_key(other, FLEET) == schedule_key(BASE, FLEET)) is same


def test_the_key_depends_on_the_profile_and_on_facts_that_are_read() -> None:
    key = schedule_key(BASE, FLEET)
    digests: BindingDigests = {}
    assert schedule_key(BASE, FLEET, profile=DEFAULT_PROFILE, digests=digests) == key
    assert digests[WEB][0] is BASE.bindings
    kept = digests[WEB]
    assert schedule_key(BASE, FLEET, profile=DEFAULT_PROFILE, digests=digests) == key and digests[WEB] is kept
    again = replace(BASE, bindings=(binding("b"),))
    assert schedule_key(again, FLEET, profile=DEFAULT_PROFILE, digests=digests) == schedule_key(again, FLEET) != key
    for profile in (replace(DEFAULT_PROFILE, key="other"), replace(DEFAULT_PROFILE, fault="broken")):
        assert (
            schedule_key(BASE, FLEET, profile=profile, digests={}) == schedule_key(BASE, FLEET, profile=profile) != key
        )
    relabelled = index_fleet([cluster("a", {"zone": "a"}), cluster("b", {"zone": "a"})], NOW)
    beside = index_fleet([cluster("a", {"zone": "a", "more": "x"}), cluster("b", {"zone": "b"})], NOW)
    more = index_fleet([*FLEET.clusters, cluster("c", {"zone": "b"})], NOW)
    left = index_fleet([cluster("a", {"zone": "a"}), cluster("b", {"zone": "b"}, deleting=NOW)], NOW)
    assert [schedule_key(BASE, fleet) == key for fleet in (relabelled, beside, more, left)] == [
        False,
        True,
        False,
        False,
    ]
    unjudged = make_profile(entry for entry in DEFAULT_PROFILE.entries if entry.name != "ClusterEligibility")
    assert schedule_key(BASE, left, profile=unjudged) != schedule_key(BASE, FLEET, profile=unjudged), (
        "what is bound to a cluster that left is given up under any profile"
    )
    fixed = request(pick_fixed("a"))
    keys = [schedule_key(fixed, fleet) for fleet in (FLEET, relabelled, left)]
    assert keys[0] == keys[1] != keys[2], "by names, only who is there and eligible counts"
