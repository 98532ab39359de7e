"""What of a decision is performed: nothing for what could not be published, and no delete where it is not sure."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.fleet import FleetConfig, HealthCheck, IgnoreDifferences, ListedPlugin
from gitfleet.api.objects import ObjectKey
from gitfleet.api.staged import StagedStrategy
from gitfleet.api.strategies import DeletePropagation
from gitfleet.api.texts import ApiText
from gitfleet.api.values import NamespacedName
from gitfleet.apply import Comparisons, Ignored
from gitfleet.formats.cel import read_expression
from gitfleet.model.decisions import Decision, Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.failures import Subject
from gitfleet.model.observations import ClusterObservation, LiveObject
from gitfleet.model.operations import Delete, Outcome, OutcomeCode, Update
from gitfleet.model.removals import RemovalGate
from gitfleet.model.state import FleetState
from gitfleet.reconcile import Memo, decide, plan_operations, settle
from gitfleet.reconcile.later_steps import remaining_operations, when_rolled_out
from gitfleet.status.texts import StatusText
from tests.apply.test_plan_apply import live, owned
from tests.gates import OPEN
from tests.reconcile.test_placements import LATER, MEMBERS, SPACE, Pass, begun, failure, rolled_out, settled
from tests.reconcile.test_runs import asked, known
from tests.removals.fleets import CLUSTERS, SHOP, WEB, config_map, fleet, placed
from tests.rollout.builders import NOW
from tests.schedule.fleets import NOW as PLUGIN_TIME
from tests.schedule.test_plugins import Punctual
from tests.state import builders
from tests.texts import part
from tests.works.builders import obj, override, rule
from tests.works.test_envelopes import DENYING, MADE_ENVELOPE, PLAIN

A, S = config_map("a"), config_map("s", "shop")
AFTER = fleet(placed(WEB, CLUSTERS, A), placed(SHOP, CLUSTERS, S))
EMPTY = Desired(commit="d")


@pytest.mark.parametrize(("gate", "deleted"), [(RemovalGate(), []), (OPEN, sorted(CLUSTERS))])
def test_nothing_is_deleted_that_the_gate_does_not_let_go(gate: RemovalGate, deleted: list[str]) -> None:
    """Nothing of the repo is left; what a cluster has is owned by a placement that goes."""
    goes = {key: replace(one, placement=replace(one.placement, deleting=NOW)) for key, one in AFTER.placements.items()}
    gone = {
        key: replace(one, bindings=tuple(replace(b, deleting=NOW) for b in one.bindings)) for key, one in goes.items()
    }
    observations = {
        name: ClusterObservation(cluster=name, reachable=True, observed=NOW, live=live_of(AFTER, name))
        for name in CLUSTERS
    }
    inputs = Inputs(desired=EMPTY, before=AFTER, observations=observations, now=NOW)
    decision = Decision(inputs=inputs, after=replace(AFTER, placements=gone), gate=gate)
    decided, operations, _ = plan_operations(decision, {}, Memo())
    assert sorted({one.cluster for one in operations if isinstance(one, Delete)}) == deleted
    assert decided.observed_again == frozenset()
    again, _, memo = plan_operations(decision, {"c1": observations["c1"]}, Memo())
    assert again.observed_again == {"c1"} and memo.plans
    state, failures = settle(decided, operations, (), NOW, memo)
    assert not failures and state.placements.keys() == gone.keys(), "nothing was answered"


def live_of(state: FleetState, cluster: str) -> dict[ObjectKey, LiveObject | None]:
    """What the cluster has."""
    return {
        key: LiveObject(key, {"metadata": {"uid": entry.uid, "resourceVersion": "1"}})
        for key, entry in state.inventory[cluster].items()
    }


def observed(*clusters: str, **live: Any) -> dict[str, ClusterObservation]:
    """What clusters answer that have nothing but this."""
    return {
        name: ClusterObservation(cluster=name, reachable=True, observed=NOW, live=live.get("live", {}))
        for name in clusters
    }


def given(one: Pass, **more: Any) -> Inputs:
    """What a pass reads."""
    return Inputs(desired=one.wanted, before=one.before, **{"observations": {}, "now": NOW, **more})


def test_the_plugins_that_are_installed_schedule() -> None:
    config = FleetConfig(scheduler_plugins=(ListedPlugin(name="Punctual"),))
    started = begun().write(objects={"fleetconfigs": {"fleet": config}})
    for now, chosen in ((PLUGIN_TIME, 2), (PLUGIN_TIME + timedelta(1), 0)):
        decision, _ = decide(given(started, now=now), Memo(), {"Punctual": lambda _: Punctual("c1")})
        assert len(decision.after.placements[WEB].bindings) == chosen


def test_a_restored_state_names_the_command_that_continues() -> None:
    rests = settled()
    decision, _ = decide(given(replace(rests, before=replace(rests.before, restored="abc"))), Memo())
    (notice,), (name,) = decision.after.faults, decision.after.holds
    assert notice.message == StatusText.STATE_RESTORED(commit="abc", hold=name)
    assert decision.after.restored == "abc"


def test_what_cannot_be_rendered_or_run_is_noted_with_the_time() -> None:
    """A placement whose snapshot is broken, and a run of a placement that there is not, beside a broken strategy."""
    record = settled().record()
    no_body: Any = None
    broken = replace(record.resource_snapshots[-1], manifests=(no_body,))
    rests = settled().with_record(resource_snapshots=(broken,))
    every = [known(name, placement_name="gone") for name in ("early", "lost")]
    before = replace(rests.before, runs={run.key: run for run in every})
    no_stages: Any = None
    strategy = StagedStrategy(key=NamespacedName("", "all"), stages=no_stages)
    objects: dict[str, Any] = {"runs": {run.key: asked(run.key.name, placement_name="gone") for run in every}}
    objects["strategies"] = {strategy.key: strategy}
    decision, memo = decide(given(replace(rests, before=before).write(objects=objects)), Memo())
    assert {str(one.subject) for one in decision.failures} == {
        "ClusterResourcePlacement web", "ClusterStagedUpdateRun lost"
    }  # fmt: skip
    assert [(fault.object, fault.path) for fault in decision.after.faults if "lost" in fault.object] == [
        ("ClusterStagedUpdateRun/lost", "")
    ]
    decided, _, _ = plan_operations(decision, {}, memo)
    assert set(decision.failures) <= set(decided.failures)


def test_what_is_about_to_be_done_is_written_down_first() -> None:
    """With what was observed again."""
    started = begun().then()
    decision, memo = decide(given(started, observations=observed("c1", "c2")), Memo())
    decision = replace(decision, failures=(failure(Subject("MemberCluster", "c2")),))
    nothing = observed("c1", "c2", live={SPACE.key: None, A.key: None})
    decided, operations, _ = plan_operations(decision, nothing, memo)
    every = [(name, key) for name in ("c1", "c2") for key in (SPACE.key, A.key)]
    assert {(one.cluster, one.key) for one in operations} == {*every}
    assert {(name, key) for name, owned in decided.after.inventory.items() for key in owned} == {*every}
    assert decided.inputs.observations == nothing and decided.observed_again == {"c1", "c2"}
    assert [one.subject for one in decided.failures] == [Subject("MemberCluster", "c2")]


def test_what_cannot_be_settled_stays() -> None:
    """A placement with a broken binding; and a silent cluster that was to leave long ago lets go of what it has."""
    no_binding: Any = None
    broken = settled().with_record(bindings=(no_binding,))
    inventory = {"c1": AFTER.inventory["c1"], "c2": AFTER.inventory["c2"]}
    left = replace(
        builders.cluster("c2", healthy="Unknown"),
        deleting=NOW - timedelta(days=30),
        delete_propagation_policy=DeletePropagation.DELETE,
    )
    after = replace(broken.before, inventory=inventory, clusters={**MEMBERS, "c2": left})
    decision = Decision(inputs=given(broken, observations=observed("c1")), after=after)
    late = NOW + timedelta(hours=1)
    state, failures = settle(replace(decision, observed_again=frozenset({"c1"})), (), (), late, Memo())
    assert {one.subject for one in failures} == {Subject.of_placement(WEB)}
    assert state.placements[WEB].bindings == (no_binding,) and sorted(state.inventory) == ["c1"]


def test_what_the_fleet_may_not_have_overrides_may_not_add() -> None:
    """Not in what was rendered before, nor in what is from now on, nor in what is to come."""
    change = override("ro", PLAIN, rule(MADE_ENVELOPE), ns="web")
    written = {"overrides": {change.override.key: change.override}}
    policy = part(ApiText.DENIED_SPEC_POLICY_DENY_FLEETCONFIG)
    for config, denied in ((FleetConfig(policy=DENYING), True), (FleetConfig(), False)):
        started = rolled_out(payload=(SPACE, PLAIN)).write(objects={**written, "fleetconfigs": {"fleet": config}})
        taken = started.shared().override_snapshots
        started = started.then()
        decision, memo = decide(given(replace(started, before=replace(started.before, overrides=taken))), Memo())
        for works in (decision.seen_works, decision.works, when_rolled_out(decision, memo).works):
            assert any(policy in (work.error or "") for found in works.values() for work in found) is denied


def test_the_health_checks_of_the_fleet_judge_what_was_seen() -> None:
    """Before a decision, and once it was performed."""
    failed = HealthCheck(group="", kind="ConfigMap", failed=read_expression("data.a == 'x'"))
    for checks, answer in (((failed,), "False"), ((), "True")):
        config = FleetConfig(health_checks=checks)
        rests = settled().write(objects={"fleetconfigs": {"fleet": config}})
        works = decide(given(rests), Memo())[0].works
        there = {m.key: (m, live(m, data={"a": "x"})) for work in works["c1"] for m in work.manifests}
        before = replace(rests.before, inventory={"c1": {key: owned(*both) for key, both in there.items()}})
        seen = observed("c1", live={key: one for key, (_, one) in there.items()})
        inputs = given(replace(rests, before=before), observations=seen)
        decision, memo = decide(inputs, Memo())
        decided, operations, memo = plan_operations(decision, {}, memo)
        state, _ = settle(replace(decided, observed_again=frozenset({"c1"})), operations, (), LATER, memo)
        for found in (decision.after, state):
            assert found.placements[WEB].bindings[0].conditions[-1].status.value == answer


VALUE = obj("v1", "ConfigMap", "a", "web", data={"a": "1"})
LEFT_ALONE = IgnoreDifferences(kind="ConfigMap", json_pointers=("/data/a",))


@pytest.mark.parametrize(("rules", "drifted"), [((LEFT_ALONE,), False), ((), True)])
def test_what_the_fleet_leaves_alone_is_no_difference_at_any_step(
    rules: tuple[IgnoreDifferences, ...], drifted: bool
) -> None:
    """Somebody changed a value on c1, and c2 does not answer: what is done now, recorded of it, and done later."""
    config, shape = FleetConfig(ignore_differences=rules), Comparisons(Ignored(rules)).shape
    rests = rolled_out(payload=(SPACE, VALUE)).write(objects={"fleetconfigs": {"fleet": config}})
    applied = {m.key: (m, live(m, manager="gitfleet")) for m in (SPACE, VALUE)}
    entries = {key: replace(owned(*one), shape_digest=shape(*one)) for key, one in applied.items()}
    before = replace(rests.before, inventory=dict.fromkeys(MEMBERS, entries))
    changed = live(VALUE, manager="gitfleet", data={"a": "x"})
    seen = observed("c1", live={SPACE.key: applied[SPACE.key][1], VALUE.key: changed})
    seen["c2"] = ClusterObservation(cluster="c2", reachable=False, error="no route")
    inputs = given(replace(rests, before=before), observations=seen)
    decision, memo = decide(inputs, Memo())
    decided, operations, _ = plan_operations(decision, {}, Memo())
    done = when_rolled_out(decision, memo)
    for found in (memo.plans["c1"].operations, operations, remaining_operations(done, (), {}, Memo())):
        written = [(one.cluster, one.key) for one in found if isinstance(one, Update)]
        assert written == ([("c1", VALUE.key)] if drifted else [])
    update = Update(cluster="c1", placement=WEB, manifest=VALUE, live=changed, wave=1, reason="")
    outcome = Outcome(operation=update, ok=True, code=OutcomeCode.APPLIED, live=changed)
    state, _ = settle(decided, (update,), (outcome,), LATER, Memo())
    assert state.inventory["c1"][VALUE.key].shape_digest == shape(VALUE, changed)
