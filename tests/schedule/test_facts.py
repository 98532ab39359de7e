"""What each plug-in reads of the clusters, how facts and properties are read, and what is said when they cannot be."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

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
from gitfleet.api.labels import LabelOperator, LabelRequirement, LabelSelector
from gitfleet.api.placements import Placement, PlacementPolicy, Toleration, TolerationOperator
from gitfleet.api.snapshots import PolicySnapshot
from gitfleet.formats.quantities import parse_quantity
from gitfleet.model.scheduling import SchedulingRequest
from gitfleet.model.state import PlacementRecord
from gitfleet.schedule import index_fleet, request_for, schedule, schedule_key
from gitfleet.schedule.affinity import missing_labels
from gitfleet.schedule.builtin import BUILT_IN
from gitfleet.schedule.fleet import ELIGIBILITY, TAINTS, Fact, Unschedulable, property_text, reader
from gitfleet.schedule.keys import BindingDigests
from gitfleet.schedule.profile import DEFAULT_PROFILE, make_profile
from gitfleet.schedule.properties import interpolate
from gitfleet.schedule.texts import ScheduleText
from tests.schedule.fleets import (
    NOW,
    WEB,
    binding,
    cluster,
    pick_fixed,
    pick_n,
    request,
    required,
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
        answer = schedule(request(policy), index_fleet([cluster("c")], NOW))
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
def test_what_cannot_be_compared_is_said(members: list[MemberCluster], policy: PlacementPolicy, said: str) -> None:
    error = schedule(request(policy), index_fleet(members, NOW)).error or ""
    assert error.startswith(said)
    assert not said.endswith(": ") or len(error) > len(said)


@pytest.mark.parametrize(("value", "low", "high"), [("11", "0", "10"), ("0", "1", "10")])
def test_a_value_outside_what_was_observed_cannot_be_weighed(value: str, low: str, high: str) -> None:
    with pytest.raises(Unschedulable) as raised:
        interpolate(parse_quantity(value), parse_quantity(low), parse_quantity(high), SortOrder.ASCENDING, 10)
    assert str(raised.value) == ScheduleText.CANNOT_WEIGH_OBSERVED_VALUES_LIE(value=value, low=low, high=high)


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
