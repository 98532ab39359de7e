"""Builders and random fleets for the tests of scheduling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

from hypothesis import strategies as st

from gitfleet.api.bindings import Binding, BindingState, ClusterDecision, ClusterScore
from gitfleet.api.cluster_selectors import (
    ClusterAffinity,
    ClusterSelectorTerm,
    PreferredTerm,
    PropertyRequirement,
    PropertySorter,
    SortOrder,
)
from gitfleet.api.clusters import AgentStatus, ClusterStatus, MemberCluster, PropertyValue, Taint
from gitfleet.api.conditions import Condition, Status
from gitfleet.api.labels import LabelOperator, LabelRequirement, LabelSelector
from gitfleet.api.placements import (
    PlacementKey,
    PlacementPolicy,
    PlacementType,
    Toleration,
    TolerationOperator,
    TopologySpreadConstraint,
)
from gitfleet.model.scheduling import SchedulingRequest, SchedulingResult
from gitfleet.schedule.builtin import DEFAULT_PLUGINS
from gitfleet.schedule.plugins import SchedulerPlugin, stages_of
from gitfleet.schedule.profile import Entry, make_profile

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
WEB = PlacementKey("", "web")
CURRENT, OLDER = "web-1", "web-0"
NODES = "kubernetes-fleet.io/node-count"


def condition(type_: str, status: Status = Status.TRUE, ago: timedelta = HOUR) -> Condition:
    """A condition that has held for a while."""
    return Condition(type=type_, status=status, reason="Test", last_transition_time=NOW - ago)


def agent(
    *,
    joined: Status | None = Status.TRUE,
    healthy: Status | None = Status.TRUE,
    healthy_ago: timedelta = HOUR,
    heard_ago: timedelta | None = timedelta(0),
) -> AgentStatus:
    """A member agent that sends heartbeats."""
    conditions = [] if joined is None else [condition("Joined", joined)]
    if healthy is not None:
        conditions.append(condition("Healthy", healthy, healthy_ago))
    heartbeat = None if heard_ago is None else NOW - heard_ago
    return AgentStatus(conditions=tuple(conditions), last_received_heartbeat=heartbeat)


def cluster(
    name: str,
    labels: Mapping[str, str] | None = None,
    *,
    taints: tuple[Taint, ...] = (),
    properties: Mapping[str, str] | None = None,
    status: AgentStatus | None = agent(),
    **more: Any,
) -> MemberCluster:
    """A member that has joined and is healthy."""
    values = {key: PropertyValue(value) for key, value in (properties or {}).items()}
    return MemberCluster(
        name=name, labels=labels or {}, taints=taints, status=ClusterStatus(properties=values, agent=status), **more
    )


def binding(
    name: str,
    state: BindingState = BindingState.BOUND,
    policy: str = CURRENT,
    score: tuple[int, int] | None = (0, 0),
    **more: Any,
) -> Binding:
    """A binding of the placement `web`."""
    decision = ClusterDecision(cluster=name, selected=True, score=ClusterScore(*score) if score else None)
    return Binding(placement=WEB, cluster=name, state=state, policy_snapshot=policy, decision=decision, **more)


def request(policy: PlacementPolicy, *bindings: Binding, placement: PlacementKey = WEB) -> SchedulingRequest:
    """The question about the placement `web`."""
    return SchedulingRequest(placement=placement, policy=policy, policy_snapshot=CURRENT, bindings=bindings, now=NOW)


def pick_n(count: int, **more: Any) -> PlacementPolicy:
    """A PickN policy."""
    return PlacementPolicy(placement_type=PlacementType.PICK_N, number_of_clusters=count, **more)


def pick_fixed(*names: str) -> PlacementPolicy:
    """A PickFixed policy."""
    return PlacementPolicy(placement_type=PlacementType.PICK_FIXED, cluster_names=names)


def required(*labels: Mapping[str, str], expressions: tuple[LabelRequirement, ...] = ()) -> ClusterAffinity:
    """One required term for each set of labels, or one of expressions."""
    selectors = [LabelSelector(each) for each in labels] or [LabelSelector({}, expressions)]
    return ClusterAffinity(required=tuple(ClusterSelectorTerm(label_selector=selector) for selector in selectors))


def spread(key: str, max_skew: int = 1, *, hard: bool = True) -> TopologySpreadConstraint:
    """A topology spread constraint."""
    when = "DoNotSchedule" if hard else "ScheduleAnyway"
    return TopologySpreadConstraint(max_skew=max_skew, topology_key=key, when_unsatisfiable=when)


def states(answer: SchedulingResult) -> dict[str, str]:
    """Each cluster's state, for one whole comparison."""
    return {each.cluster: each.state.value for each in answer.bindings}


def one_by_one(plugin: SchedulerPlugin) -> SchedulerPlugin:
    """A built-in plug-in without its whole-fleet judgements, called for each cluster in each cycle."""
    stages = {
        stage: staticmethod(getattr(plugin, stage))
        for stage in stages_of(plugin)
        if stage not in ("filter_fleet", "score_fleet")
    }
    made: type[SchedulerPlugin] = type("OneByOne", (SchedulerPlugin,), {"name": plugin.name, **stages})
    return made()


PLAIN_PROFILE = make_profile(Entry(one_by_one(plugin)) for plugin in DEFAULT_PLUGINS)


_selectors = st.one_of(
    st.none(),
    st.builds(LabelSelector, st.dictionaries(st.sampled_from(["zone", "env"]), st.sampled_from("abc"), max_size=2)),
    st.builds(
        lambda key, operator, values: LabelSelector(
            {}, (LabelRequirement(key, operator, tuple(values) if operator.endswith("In") else ()),)
        ),
        st.sampled_from(["zone", "env", "rack"]),
        st.sampled_from(LabelOperator),
        st.lists(st.sampled_from("abc"), min_size=1, max_size=2, unique=True),
    ),
)
_requirements = st.builds(
    PropertyRequirement,
    st.just(NODES),
    st.sampled_from(["Gt", "Ge", "Eq", "Ne", "Lt", "Le"]),
    st.tuples(st.sampled_from(["2", "5", "9"])),
)
_required = st.builds(
    lambda selector, requirements: ClusterSelectorTerm(
        label_selector=selector, property_requirements=tuple(requirements)
    ),
    _selectors,
    st.lists(_requirements, max_size=1),
)
_preferred = st.builds(
    lambda weight, selector, order: PreferredTerm(
        weight,
        ClusterSelectorTerm(label_selector=selector, property_sorter=PropertySorter(NODES, order) if order else None),
    ),
    st.integers(-100, 100),
    _selectors,
    st.sampled_from([None, *SortOrder]),
)
_agents = st.sampled_from(
    [agent(), agent(), agent(), agent(), None, agent(joined=Status.FALSE), agent(heard_ago=timedelta(minutes=6))]
)
# All that a cluster may have, listed: drawing each part by itself costs more than scheduling.
_taints = st.sampled_from([(), *((Taint(key, value),) for key, value in product("kl", "vw"))])
_labels = st.sampled_from(
    [
        {key: value for key, value in zip(("zone", "env", "rack"), values, strict=True) if value}
        for values in product(("", "a", "b", "c"), repeat=3)
    ]
)
_properties = st.sampled_from([{}, *({NODES: str(count)} for count in range(10))])
_leaving = st.sampled_from([*[None] * 9, NOW])
_constraints = st.builds(spread, st.sampled_from(["zone", "rack", "env"]), st.integers(1, 2), hard=st.booleans())


@st.composite
def fleets(draw: st.DrawFn, *, plain: bool = False) -> list[MemberCluster]:
    """Up to twelve clusters with labels and, unless `plain`, taints, properties and troubles."""
    count = draw(st.integers(0, 12))
    made: list[MemberCluster] = []
    for i in range(count):
        made.append(
            cluster(
                f"c{i:02}",
                draw(_labels),
                taints=() if plain else draw(_taints),
                properties={} if plain else draw(_properties),
                status=agent() if plain else draw(_agents),
                deleting=None if plain else draw(_leaving),
            )
        )
    return made


@st.composite
def policies(draw: st.DrawFn) -> PlacementPolicy:
    """Valid policies of all three types."""
    kind = draw(st.sampled_from(PlacementType))
    if kind is PlacementType.PICK_FIXED:
        names = [f"c{i:02}" for i in range(13)]
        return pick_fixed(*draw(st.lists(st.sampled_from(names), max_size=5, unique=True)))
    tolerations = draw(
        st.sampled_from([(), (Toleration(operator=TolerationOperator.EXISTS),), (Toleration(key="k", value="v"),)])
    )
    terms = tuple(draw(st.lists(_required, max_size=2)))
    if kind is PlacementType.PICK_ALL:
        return PlacementPolicy(affinity=ClusterAffinity(required=terms), tolerations=tolerations)
    return pick_n(
        draw(st.integers(0, 12)),
        affinity=ClusterAffinity(required=terms, preferred=tuple(draw(st.lists(_preferred, max_size=2)))),
        topology_spread_constraints=tuple(draw(st.lists(_constraints, max_size=2))),
        tolerations=tolerations,
    )


@st.composite
def histories(draw: st.DrawFn) -> tuple[Binding, ...]:
    """At most one binding that is not deleting for each cluster, on clusters that may be gone."""
    names = draw(st.lists(st.sampled_from([f"c{i:02}" for i in range(13)] + ["gone"]), max_size=6, unique=True))
    made: list[Binding] = []
    for name in names:
        state = draw(st.sampled_from(BindingState))
        given_up = state is BindingState.UNSCHEDULED
        previous = draw(st.sampled_from([BindingState.SCHEDULED, BindingState.BOUND])) if given_up else None
        score = draw(st.sampled_from([None, (0, 0), (1, 5), (-1, 50)]))
        one = binding(name, state, draw(st.sampled_from([CURRENT, OLDER])), score, previous_state=previous)
        made.append(replace(one, deleting=NOW) if draw(st.integers(0, 5)) == 0 else one)
    return tuple(sorted(made, key=lambda each: each.cluster))
