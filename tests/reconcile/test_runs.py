"""Which runs there are in a pass, what each sees beside its placement, and what becomes of several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.bindings import BindingState
from gitfleet.api.clusters import AgentStatus
from gitfleet.api.conditions import Condition, Status
from gitfleet.api.faults import Fault
from gitfleet.api.holds import Hold
from gitfleet.api.objects import Origin
from gitfleet.api.placements import PlacementKey
from gitfleet.api.quarantines import Quarantine
from gitfleet.api.runs import ASKED_AT, ApprovalRequest, RunRecord
from gitfleet.api.stage_tasks import OnStageFailure
from gitfleet.api.staged import Approval, RunState, Stage, StagedRun, StagedStrategy
from gitfleet.api.values import NamespacedName
from gitfleet.approvals.texts import ApprovalsText
from gitfleet.model.approvals import Change
from gitfleet.model.decisions import Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.failures import Failures
from gitfleet.model.rolling import RolloutPlan
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.reconcile.run_approvals import asked_of_people, uncounted, verdict_on, wrong_approvals
from gitfleet.reconcile.runs import Beside, Runs, advance, runs_of
from gitfleet.rollout import staged
from gitfleet.rollout.texts import RolloutText
from tests.growth import grows_with_its_input
from tests.rollout.builders import NOW, condition, scheduled
from tests.rollout.run_trials import APPROVAL, begun, frozen, had, record, stage, trial
from tests.texts import part
from tests.works.builders import NAMESPACE, override, rule, snapshot

WEB = PlacementKey("", "web")
SCHEDULED = condition("Scheduled", Status.TRUE, "SchedulingPolicyFulfilled")
EARLIER = NOW - timedelta(hours=1)
Stages = tuple[Stage, ...]


def asked(name: str, namespace: str = "", **more: Any) -> StagedRun:
    """A run as people write it."""
    fields: dict[str, Any] = {"placement_name": "web", "strategy_name": "all", **more}
    return StagedRun(key=NamespacedName(namespace, name), **fields)


def known(name: str, namespace: str = "", **more: Any) -> RunRecord:
    """A run that gitfleet saw an hour ago."""
    fields: dict[str, Any] = {"placement_name": "web", "strategy_name": "all", "created": EARLIER, **more}
    return RunRecord(key=NamespacedName(namespace, name), **fields)


def fresh(name: str, namespace: str = "", **more: Any) -> RunRecord:
    """A run that gitfleet sees now."""
    return replace(known(name, namespace), created=NOW, **more)


def requested(name: str, run: str, namespace: str = "", **more: Any) -> ApprovalRequest:
    """What a run asks of people."""
    fields: dict[str, Any] = {"target_stage": "all", "created": NOW, "task": "afterStage", **more}
    return ApprovalRequest(key=NamespacedName(namespace, name), parent_run=run, **fields)


def commit(*runs: StagedRun, approvals: Iterable[Approval] = (), **strategies: Stages) -> Desired:
    """A commit with these runs and approvals, and strategies of these stages by name."""
    written = [StagedStrategy(key=NamespacedName("", name), stages=stages) for name, stages in strategies.items()]
    kinds: Mapping[str, Iterable[Any]] = {"runs": runs, "strategies": written, "approvals": approvals}
    objects = {kind: {one.key: one for one in ones} for kind, ones in kinds.items()}
    return Desired(commit="c0ffee", objects=objects)


def inputs(desired: Desired, *runs: RunRecord, requests: tuple[ApprovalRequest, ...] = (), **more: Any) -> Inputs:
    """A commit read against these runs."""
    before = FleetState(runs={run.key: run for run in runs}, approvals={one.key: one for one in requests}, **more)
    return Inputs(desired=desired, before=before, observations={}, now=NOW)


@pytest.mark.parametrize(
    ("desired", "before", "records", "states"),
    [
        (commit(), [], [], []),
        (commit(asked("b"), asked("a")), [], [fresh("a"), fresh("b")], ["Run", "Run"]),
        (
            commit(asked("a", "shop", state=RunState.STOP, resource_snapshot_index="3")),
            [],
            [fresh("a", "shop", state=RunState.STOP, resource_snapshot_index="3")],
            ["Stop"],
        ),
        (commit(asked("a", state=RunState.STOP)), [known("a")], [known("a")], ["Stop"]),
        (commit(asked("a")), [known("a", state=RunState.STOP)], [known("a", state=RunState.STOP)], ["Run"]),
        (commit(), [known("a")], [], []),
        (commit(asked("a", placement_name="shop")), [known("a")], [fresh("a", placement_name="shop")], ["Run"]),
        (commit(asked("a", strategy_name="x")), [known("a")], [fresh("a", strategy_name="x")], ["Run"]),
        (
            commit(asked("a", resource_snapshot_index="2")),
            [known("a")],
            [fresh("a", resource_snapshot_index="2")],
            ["Run"],
        ),
    ],
)
def test_the_runs_of_a_commit(
    desired: Desired, before: list[RunRecord], records: list[RunRecord], states: list[str]
) -> None:
    found = runs_of(inputs(desired, *before))
    assert list(found.records.values()) == records
    assert list(found.records) == [run.key for run in records]
    assert found.states == {run.key: state for run, state in zip(records, states, strict=True)}


@pytest.mark.parametrize(
    ("namespace", "path", "object_", "hides"),
    [
        ("", "all.yaml", "ClusterStagedUpdateStrategy/all", True),
        ("shop", "all.yaml", "StagedUpdateStrategy/shop/all", True),
        ("shop", "all.yaml", "ClusterStagedUpdateStrategy/all", False),
        ("", "strategies/all.yaml", "", True),
        ("", "runs/all.yaml", "", False),
    ],
)
def test_a_run_whose_strategy_cannot_be_read_says_where_the_error_is(
    namespace: str, path: str, object_: str, hides: bool
) -> None:
    fault = Fault(path, 3, object_, "spec", "is wrong")
    shared = beside(replace(commit(asked("one", namespace)), faults=(fault,)), known("one", namespace))
    after = advance(PlacementKey(namespace, "web"), record(scheduled("a")), SCHEDULED, shared, Failures())
    (run,) = after.runs
    said = " ".join([told(run) if run.status.conditions else "", *(after.plan.waiting if after.plan else ())])
    assert (f"{path}:3" in said) is hides, said


OVER = replace(known("over"), status=staged.new_run(asked("over", began_elsewhere="is over"), NOW).status)


def test_runs_keep_the_snapshots_that_they_roll_out_and_those_that_they_replaced() -> None:
    going = begun(stage(), bindings=had("ab")).request.run
    first = replace(going, key=NamespacedName("", "first"), status=replace(going.status, stages=()))
    for runs, names in (
        ([], set()),
        ([known("new")], {"web-1-snapshot"}),
        ([known("old", resource_snapshot_index="0")], {"web-0-snapshot"}),
        ([known("gone", resource_snapshot_index="7")], set()),
        ([first], {"web-1-snapshot"}),
        ([going], {"web-1-snapshot", "web-0-snapshot"}),
        ([OVER], set()),
    ):
        assert Runs(records={run.key: run for run in runs}).snapshots_of(record()) == names


def beside(desired: Desired, *runs: RunRecord, **more: Any) -> Beside:
    """What these runs see."""
    given = inputs(desired, *runs, placements={WEB: record()})
    members = trial(stage(), clusters="ab").request.clusters
    return Beside(inputs=given, runs=runs_of(given), clusters=members, **more)


def told(run: RunRecord) -> str:
    """The last thing that a run says of itself."""
    last = run.status.conditions[-1]
    return f"{last.reason} {last.message}".strip()


ALL = (stage(),)


def test_runs_advance_one_after_the_other_and_see_those_before_them() -> None:
    """The first begins, the second has nothing else to do yet: the cluster a has what both give it."""
    runs = (known("one"), fresh("two"))
    shared = beside(commit(asked("one"), asked("two"), all=ALL), *runs)
    after = advance(WEB, record(scheduled("a"), scheduled("b")), SCHEDULED, shared, Failures())
    assert [told(run) for run in after.runs] == ["UpdateRunStarted"] * 2
    assert after.record is not None
    assert [(b.state, b.resource_snapshot, b.generation) for b in after.record.bindings] == [
        (BindingState.BOUND, "web-1-snapshot", 2),
        (BindingState.SCHEDULED, None, 1),
    ]
    plan = after.plan
    assert plan is not None
    assert [(move.cluster, move.reason) for move in plan.moves] == [
        ("a", "run one, stage all: web-1-snapshot goes out")
    ]
    assert plan.blocked == {"b": "run two: " + RolloutText.STAGE_UPDATES_MOST_SAME_TIME(stage="all", limit="1")}
    assert replace(plan, moves=(), blocked={}) == RolloutPlan(
        moves=(),
        blocked={},
        up_to_date=(),
        need_roll=True,
        bindings=after.record.bindings,
        clock=timedelta(minutes=5) + timedelta.resolution,
    )
    more = (replace(stage(), max_concurrency=2),)
    desired = commit(asked("one"), asked("two", strategy_name="more"), all=ALL, more=more)
    shared = beside(desired, known("one"), fresh("two", strategy_name="more"))
    after = advance(WEB, record(scheduled("a")), SCHEDULED, shared, Failures())
    unfinished = RolloutText.RUN_SAME_PLACEMENT_UNFINISHED_ANOTHER
    assert unfinished(other="one", strategy_name="all") in told(after.runs[1])
    assert after.plan is not None and after.plan.up_to_date == ()
    under_way = replace(begun(*ALL, bindings=had("ab")).step.run, key=NamespacedName("", "mid"))
    later = fresh("three", strategy_name="more")
    desired = commit(asked("one", strategy_name="more"), asked("mid"), asked("three", strategy_name="more"), more=more)
    shared = beside(desired, known("one", strategy_name="more"), replace(under_way, created=NOW), later)
    after = advance(WEB, record(scheduled("a")), SCHEDULED, shared, Failures())
    assert [run.key.name for run in after.runs] == ["one", "mid", "three"]
    assert unfinished(other="mid", strategy_name="all") in told(after.runs[0]), "one that comes later counts, too"
    assert after.runs[1].finished and told(after.runs[2]) == "UpdateRunStarted", "one that has just ended does not"


def test_a_run_sees_the_approvals_of_runs_that_were_there_before() -> None:
    """Its own namespace, begun or first by time and name; what another strategy asks now where it has not begun."""
    gates = (stage(after_tasks=(APPROVAL,)),)
    going = replace(begun(*gates, clusters="ab").request.run, key=NamespacedName("", "x"))
    for other, refused in (
        (going, True),
        (replace(going, created=NOW + timedelta(1)), True),
        (replace(going, strategy_name="changed"), True),
        (known("x"), True),
        (replace(known("x"), created=NOW + timedelta(1)), False),
        (replace(known("x"), status=OVER.status), False),
        (replace(known("x", strategy_name="none")), False),
        (replace(known("x", "shop")), False),
    ):
        mine = fresh("x-after", placement_name="web")
        desired = commit(asked("x-after"), asked(other.key.name, other.key.namespace), all=gates)
        every = (mine, replace(other, placement_name="shop"), known("y", placement_name="shop"))
        shared = beside(desired, *every)
        runs = Runs(records={run.key: run for run in every}, states={run.key: RunState.RUN for run in every})
        shared = replace(shared, runs=runs)
        after = advance(WEB, record(scheduled("a")), SCHEDULED, shared, Failures())
        assert (part(RolloutText.APPROVAL_RUN_WOULD_ANSWER_RUN) in told(after.runs[0])) is refused, other


STUCK = stage(max_concurrency=2, stuck_after=60.0, on_failure=OnStageFailure.ROLLBACK)


def two_runs(**more: Any) -> tuple[Beside, PlacementRecord]:
    """Two runs of web under way, `one` on the clusters a and b, of which a has not become healthy."""
    first = begun(STUCK, bindings=had("ab"))
    first.observe("b", "Available")
    second = begun(STUCK, bindings=had("ab")).step.run
    runs = [replace(first.step.run, key=known("one").key), replace(second, key=known("two").key)]
    desired = commit(asked("one"), asked("two"), all=(STUCK,), **more)
    given = replace(beside(desired, *runs), inputs=replace(inputs(desired, *runs), now=NOW + timedelta(seconds=61)))
    assert first.request.record is not None
    return given, first.request.record


def test_what_one_run_takes_back_is_quarantined_for_the_others_in_the_same_pass() -> None:
    """Whichever comes first; but not where a person lifted that, or where all of them take it back."""
    seen, of = two_runs()
    fresh = known("late", created=NOW + timedelta(1))
    states = {**seen.runs.states, fresh.key: RunState.RUN}
    runs = replace(seen.runs, records={**seen.runs.records, fresh.key: fresh}, states=states)
    lifts = Quarantine(name="q", placement=WEB, digest="hash-1", lifted=True)
    for lifted, refused in (((), True), ((lifts,), False), ((replace(lifts, lifted=False),), True)):
        given = replace(seen, runs=runs, inputs=with_quarantines_of(seen.inputs, lifted))
        after = advance(WEB, of, SCHEDULED, given, Failures())
        assert [run.key.name for run in after.runs] == ["one", "two", "late"]
        assert [run.fell_back for run in after.runs] == [True, True, False]
        assert after.plan is not None
        assert not [ask for ask in after.plan.asks if ask.startswith(("run one", "run two"))], "they go back already"
        assert ("snapshot 1" in told(after.runs[2])) is refused, told(after.runs[2])
        assert after.record is not None and after.record.bindings
    first, late = (runs.records[known(name).key] for name in ("one", "late"))
    both = replace(runs, records={one.key: one for one in (first, late)})
    after = advance(WEB, of, SCHEDULED, replace(seen, runs=both), Failures())
    assert after.runs[0].fell_back and "snapshot 1" in told(after.runs[1])
    one = known("one").key
    alone = Runs(records={one: seen.runs.records[one]}, states=seen.runs.states)
    after = advance(WEB, of, SCHEDULED, replace(seen, runs=alone), Failures())
    assert [run.fell_back for run in after.runs] == [True]
    assert after.plan is not None and after.plan.asks == ()


def with_quarantines_of(given: Inputs, every: Iterable[Quarantine]) -> Inputs:
    """The same with quarantines that people wrote."""
    objects = {**given.desired.objects, "quarantines": {one.name: one for one in every}}
    return replace(given, desired=replace(given.desired, objects=objects))


def plan_of(of: PlacementRecord, desired: Desired, *runs: RunRecord, **more: Any) -> tuple[RunRecord, RolloutPlan, Any]:
    """What becomes of the first run, what the plan says, and the bindings."""
    changes = {name: more.pop(name) for name in ("clusters",) if name in more}
    after = advance(WEB, of, SCHEDULED, replace(beside(desired, *runs, **more), **changes), Failures())
    assert after.record is not None and after.plan is not None
    return after.runs[0], after.plan, after


FRONT = replace(override("front", NAMESPACE, rule(region="eu")), index=0)


def test_what_a_run_sees_beside_its_record() -> None:
    """Freezes, silent clusters, drift, quarantines, overrides with labels, and what clusters had before the pass."""
    desired, both = commit(asked("one"), all=ALL), record(*had("ab"))
    members = trial(stage(), clusters="ab").request.clusters
    held = plan_of(both, desired, known("one"), freezes=frozen())[1]
    assert {name: "frozen by" in why for name, why in held.blocked.items()} == {"a": True, "b": True}
    agent = AgentStatus(conditions=(condition("Healthy", Status.UNKNOWN, "x"),))
    lost = {name: replace(one, status=replace(one.status, agent=agent)) for name, one in members.items()}
    silent = plan_of(both, desired, known("one"), clusters=lost)[1]
    assert silent.waiting == (RolloutText.RUN_STARTS_NO_CLUSTER_WHILE(run="one", silent="a, b"),)
    bad = told(plan_of(both, desired, known("one"), quarantined={"hash-1": "is quarantined: it burns"})[0])
    assert "snapshot 1 is quarantined: it burns" in bad
    run, _, after = plan_of(both, desired, known("one"))
    assert [(c.cluster, c.former and c.former.resource_snapshot) for c in run.status.stages[0].clusters] == [
        ("a", "web-0-snapshot"), ("b", None)
    ]  # fmt: skip
    going = begun(stage(), bindings=had("ab"))
    going.observe("a", "Available")
    assert going.request.record is not None
    under_way = replace(going.step.run, key=known("one").key)
    for disturbed, done in ((frozenset[str](), True), (frozenset({"a"}), False)):
        run, _, _ = plan_of(going.request.record, desired, under_way, disturbed=disturbed)
        first = run.status.stages[0].clusters[0]
        assert (staged.cluster_phase(first) is staged.ClusterPhase.UPDATED) is done
    gates = commit(asked("one"), all=(stage(before_tasks=(APPROVAL,)),))
    waiting, _, after = plan_of(both, gates, known("one"))
    (request,) = after.requests.values()
    assert request.annotations[ASKED_AT] == "c0ffee"
    given = replace(inputs(gates, waiting, requests=(request,)), now=NOW + timedelta(1))
    seen = replace(beside(gates, waiting), inputs=given, runs=runs_of(given))
    again = advance(WEB, both, SCHEDULED, seen, Failures())
    assert again.requests == {request.key: request}, "it is asked once"
    east = {**members, "a": replace(members["a"], labels={"region": "eu"})}
    documents = snapshot(NAMESPACE).documents
    every = tuple(replace(s, documents=documents, manifests=(NAMESPACE,)) for s in both.resource_snapshots)
    content = replace(both, resource_snapshots=every)
    for more, references in (({}, ()), ({"overrides": (FRONT,), "every_override": (FRONT,)}, ("front-0",))):
        run, _, after = plan_of(content, desired, known("one"), clusters=east, **more)
        (first, second) = run.status.stages[0].clusters
        assert (first.cluster_resource_overrides, second.cluster_resource_overrides) == (references, ())
        bound_to = after.record.bindings[0]
        assert bound_to.cluster_resource_overrides == references
        assert bound_to.override_labels == ((("region", "eu"),) if references else ())


def test_a_run_that_rolls_back_gives_the_overrides_that_there_were_with_their_labels() -> None:
    seen, _ = two_runs()
    bindings = tuple(replace(b, cluster_resource_overrides=("front-0",)) for b in had("ab"))
    first = begun(STUCK, bindings=bindings)
    first.observe("b", "Available")
    mine = replace(first.step.run, key=known("one").key)
    runs = replace(seen.runs, records={mine.key: mine})
    east = {name: replace(one, labels={"region": "eu"}) for name, one in seen.clusters.items()}
    given = replace(seen, runs=runs, clusters=east, overrides=(), every_override=(FRONT,))
    assert first.request.record is not None
    after = advance(WEB, first.request.record, SCHEDULED, given, Failures())
    assert after.record is not None and after.runs[0].fell_back
    twice = replace(given, runs=replace(runs, records={mine.key: after.runs[0]}))
    last = advance(WEB, after.record, SCHEDULED, twice, Failures()).record
    assert last is not None
    assert {b.cluster: (b.resource_snapshot, b.cluster_resource_overrides, b.override_labels) for b in last.bindings}[
        "b"
    ] == ("web-0-snapshot", ("front-0",), (("region", "eu"),))


def test_a_strategy_with_errors_is_waited_for() -> None:
    wrong = Fault("strategies/all.yaml", 3, "ClusterStagedUpdateStrategy/all", "spec", "is wrong")
    other = replace(wrong, object="ClusterStagedUpdateStrategy/other")
    for faults, where in (
        ((wrong, replace(wrong, line=9)), "(strategies/all.yaml:3, strategies/all.yaml:9)"),
        ((other,), ""),
    ):
        desired = replace(commit(asked("one")), faults=faults)
        run, plan, _ = plan_of(record(*had("ab")), desired, known("one"))
        assert (plan.waiting, bool(plan.asks)) == ((), bool(where))
        assert where in " ".join(plan.asks)
        assert (part(RolloutText.REFERENCED_UPDATESTRATEGY_NOT_FOUND) in told(run)) is not bool(where)


def test_two_runs_of_one_pass_remember_what_a_cluster_had_before_both() -> None:
    of = record(*(replace(b, resource_snapshot="web-7-snapshot") for b in had("a")))
    desired = commit(asked("one"), asked("two", resource_snapshot_index="0"), all=ALL)
    after = plan_of(of, desired, known("one"), fresh("two", resource_snapshot_index="0"))[2]
    assert [dict(run.formers)["a"].resource_snapshot for run in after.runs] == ["web-7-snapshot"] * 2


def approval(name: str, answer: str = "True", **more: Any) -> Approval:
    """What a person merged."""
    said = Condition(type="Approved", status=Status(answer), reason="", last_transition_time=NOW)
    return Approval(key=NamespacedName("", name), conditions=(said,), origin=Origin(f"{name}.yaml", 2), **more)


def given(*approvals: Approval, **more: Any) -> Inputs:
    """A commit with these approvals."""
    return inputs(commit(approvals=approvals), **more)


REQUEST = requested("go-all", "go")
YES = approval("go-all")


def test_an_answer_that_does_not_count_is_warned_of_while_its_request_waits() -> None:
    for wrong in (
        approval("go-all", annotations={"gitfleet.dev/digest": "e" * 64}),
        approval("go-all", parent_run="x"),
    ):
        verdict = verdict_on(REQUEST, given(wrong))
        assert verdict.answer is None and len(verdict.faults) == 1
        for run, request, warned in (
            (known("go"), REQUEST, True),
            (replace(known("go"), status=OVER.status), REQUEST, False),
            (known("went"), REQUEST, False),
            (known("go"), replace(REQUEST, conditions=YES.conditions), False),
        ):
            waiting = given(wrong, requests=(request,))
            assert list(uncounted(waiting, {run.key: run})) == (list(verdict.faults) if warned else [])
        both = given(wrong, approval("go-after-all"), requests=(REQUEST,))
        assert list(uncounted(both, {known("go").key: known("go")})) == [], "another one counts"


def test_an_approval_that_answers_no_hold_is_said() -> None:
    hold = Hold(name="hold-web-0123456789", commit="c", since=NOW, digest="d" * 64, reasons=(), removals=())
    stray = approval("hold-web-0123456780")
    (said,) = wrong_approvals([hold], FleetState(), commit(approvals=[stray]))
    text = ApprovalsText.ANSWERS_NO_NOW(what="hold", name=hold.name)
    assert (said.path, said.message) == ("hold-web-0123456780.yaml", text)


def test_people_are_asked_for_what_they_have_said_something_to() -> None:
    run = begun(stage(after_tasks=(APPROVAL,)), bindings=had("a"), clusters="a").request.run
    accepted = condition("ApprovalAccepted", Status.TRUE, "x")
    state: PlacementRecord = record(*had("a"))
    for approvals, request, runs, found in (
        ([YES], REQUEST, [run], 1),
        ([approval("go-after-all.2")], REQUEST, [run], 1),
        ([], REQUEST, [run], 0),
        ([YES], replace(REQUEST, conditions=(accepted,)), [run], 0),
        ([YES], REQUEST, [], 0),
    ):
        facts = given(*approvals)
        before = FleetState(
            runs={one.key: one for one in runs}, approvals={request.key: request}, placements={WEB: state}
        )
        every = list(asked_of_people(before, facts.desired))
        assert len(every) == found
        assert [replace(one, changes=()) for one in every] == [staged.asked(request)] * found
        assert all(isinstance(change, Change) for one in every for change in one.changes)
        assert all(one.changes for one in every)


@pytest.mark.parametrize("answer", ["go-{}-all", "go-{}-all.2"])
def test_no_request_goes_through_all_approvals(answer: str) -> None:
    def run(number: int) -> Callable[[], object]:
        runs = [known(f"go-{n}") for n in range(number)]
        requests = [requested(f"go-{n}-all", f"go-{n}") for n in range(number)]
        desired = commit(
            *(asked(run.key.name) for run in runs), approvals=[approval(answer.format(n)) for n in range(number)]
        )
        facts = inputs(desired, *runs, requests=tuple(requests))

        def work() -> None:
            found = runs_of(facts)
            assert all(verdict_on(request, facts).answer for request in requests)
            assert not list(uncounted(facts, found.records))
            assert len(list(asked_of_people(facts.before, desired))) == number
            assert not list(wrong_approvals([], facts.before, desired))

        return work

    assert grows_with_its_input(run)
