"""invariants of plan_apply over any works, any inventory and any meddling: it settles, and it deletes only its own."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from gitfleet.api.objects import Manifest
from gitfleet.api.placements import PlacementKey
from gitfleet.api.strategies import (
    ApplyStrategy,
    ApplyStrategyType,
    ComparisonOption,
    DeletePropagation,
    WhenToApply,
    WhenToTakeOver,
)
from gitfleet.apply import ApplyRequest, plan_apply, record_intended, settle_inventory
from gitfleet.model.operations import Create, Delete, Keep, Refuse, Update
from gitfleet.model.state import Inventory
from gitfleet.model.works import Work
from tests.apply.model_cluster import ModelCluster, config_map, namespace
from tests.gates import open_gate
from tests.profiles import examples

PLACEMENTS = tuple(PlacementKey("", name) for name in ("a", "b", "c"))

manifests = st.one_of(
    st.builds(namespace, st.sampled_from(["n1", "n2"])),
    st.builds(
        lambda name, ns, value: config_map(name, ns, v=value),
        st.sampled_from(["x", "y", "z"]),
        st.sampled_from(["n1", "n2"]),
        st.sampled_from(["1", "2"]),
    ),
)
strategies = st.builds(
    ApplyStrategy,
    type=st.sampled_from(ApplyStrategyType),
    comparison_option=st.sampled_from(ComparisonOption),
    when_to_apply=st.sampled_from(WhenToApply),
    when_to_take_over=st.sampled_from(WhenToTakeOver),
)
works = st.builds(
    lambda placement, wanted, strategy, error: Work(
        placement=placement,
        cluster="c1",
        generation=1,
        snapshot="s",
        manifests=() if error else tuple(wanted),
        apply_strategy=strategy,
        error=error,
    ),
    st.sampled_from(PLACEMENTS),
    st.lists(manifests, max_size=5),
    strategies,
    st.sampled_from([None, None, None, "overrides failed"]),
)
fleets = st.lists(works, max_size=3, unique_by=lambda w: w.placement).map(tuple)
leaving = st.dictionaries(st.sampled_from(PLACEMENTS), st.sampled_from(DeletePropagation), max_size=2)
rounds = st.lists(st.tuples(fleets, leaving, st.lists(manifests, max_size=3), st.booleans()), min_size=1, max_size=4)


def question(
    cluster: ModelCluster, fleet: tuple[Work, ...], gone: dict[PlacementKey, DeletePropagation], inventory: Inventory
) -> ApplyRequest:
    keys = {m.key for w in fleet for m in w.manifests} | set(inventory)
    spoken_of = {w.placement for w in fleet}
    return ApplyRequest(
        gate=open_gate("c1"),
        cluster="c1",
        works=fleet,
        removing={p: policy for p, policy in gone.items() if p not in spoken_of},
        inventory=inventory,
        live=cluster.live(keys),
        known_namespaces=("n1", "n2"),
    )


def meddle(cluster: ModelCluster, foreign: list[Manifest]) -> None:
    """Somebody else applies objects of their own, or over ours."""
    for wanted in foreign:
        cluster.put(dict(wanted.body), manager="kubectl")


@settings(max_examples=examples(150))
@given(rounds)
def test_a_plan_settles_and_deletes_only_what_the_inventory_names_with_its_uid(
    played: list[tuple[tuple[Work, ...], dict[PlacementKey, DeletePropagation], list[Manifest], bool]],
) -> None:
    cluster = ModelCluster()
    state: Inventory = {}
    for fleet, gone, foreign, crash in played:
        meddle(cluster, foreign)
        request = question(cluster, fleet, gone, state)
        plan = plan_apply(request)
        assert plan == plan_apply(request)
        _deletes_only_its_own(plan, request)
        recorded = record_intended(state, plan)
        assert {o.key.identity for o in plan if isinstance(o, Create | Update)} <= {k.identity for k in recorded}
        outcomes = cluster.perform(plan)
        state = recorded if crash else settle_inventory(recorded, outcomes, plan)
        for _ in range(3 if crash else 2):  # releases of a crashed round, and what was freed by them, come later
            again = question(cluster, fleet, gone, state)
            plan = plan_apply(again)
            _deletes_only_its_own(plan, again)
            state = settle_inventory(record_intended(state, plan), cluster.perform(plan), plan)
        last = plan_apply(question(cluster, fleet, gone, state))
        assert all(isinstance(o, Keep | Refuse) for o in last), last


@settings(max_examples=examples(100))
@given(fleets, st.lists(manifests, max_size=5), st.sampled_from(["nothing", "unreadable"]))
def test_a_look_that_failed_takes_nothing_away(fleet: tuple[Work, ...], foreign: list[Manifest], observe: str) -> None:
    cluster = ModelCluster()
    meddle(cluster, foreign)
    state: Inventory = {}
    first = plan_apply(question(cluster, fleet, {}, state))
    state = settle_inventory(state, cluster.perform(first), first)
    blind = replace(question(cluster, (), dict.fromkeys(PLACEMENTS, DeletePropagation.DELETE), state), live={})
    if observe == "unreadable":
        blind = replace(blind, unreadable=dict.fromkeys(state, "forbidden"))
    assert all(isinstance(o, Keep) for o in plan_apply(blind))
    failed = tuple(replace(w, manifests=(), error="x") for w in fleet)
    assert not any(isinstance(o, Create | Update | Delete) for o in plan_apply(question(cluster, failed, {}, state)))


def _deletes_only_its_own(plan: tuple[object, ...], request: ApplyRequest) -> None:
    for operation in plan:
        if isinstance(operation, Delete):
            entry = request.inventory[operation.key]
            live = request.live[operation.key]
            assert live is not None and operation.uid == live.uid and entry.uid in (None, live.uid)
            assert operation.placement == entry.placement
            wanted_by_others = {m.key.identity for w in request.works for m in w.manifests if w.error is None}
            assert operation.key.identity not in wanted_by_others
