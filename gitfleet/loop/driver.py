"""One reconcile: gather, decide, publish intent, perform, publish report (ARCHITECTURE.md, "One reconcile").

Nothing depends on memory that is not in git: whatever the driver keeps between reconciles only saves work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import ParamSpec

from gitfleet import reconcile, removals, status, views
from gitfleet.api.faults import is_error
from gitfleet.api.fleet import Branches, FleetConfig
from gitfleet.errors import BadInput, LostRace
from gitfleet.loop.approval_history import ApprovalHistory
from gitfleet.loop.dry_runs import AskedClusters
from gitfleet.loop.fanout import Fanout
from gitfleet.loop.hold_lines import Lines, with_field_lines
from gitfleet.loop.kept_observations import KeptObservations
from gitfleet.loop.pull_clusters import PullClusters
from gitfleet.loop.rendered_branch import Heads, RenderedBranch, beside_state
from gitfleet.loop.repeats import Repeats
from gitfleet.loop.reported_failures import ReportedFailures
from gitfleet.loop.request_branches import Asked, RequestBranches
from gitfleet.loop.results import Published, ReconcileResult, lost_race, result_of
from gitfleet.loop.rewrites import LastAccepted, Rewrite
from gitfleet.loop.state_branch import StateBranch
from gitfleet.loop.state_commits import Publication
from gitfleet.loop.steps import Step
from gitfleet.loop.texts import LoopText
from gitfleet.loop.trees import DesiredTrees
from gitfleet.loop.unchanged import UnchangedReconcile, unchanged_after
from gitfleet.loop.watched_branch import last_good_config, no_such_branch
from gitfleet.loop.workload_rollouts import WorkloadRollouts
from gitfleet.model.approvals import ApprovalRequest, FactsByApproval
from gitfleet.model.decisions import Decision, Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.events import Event
from gitfleet.model.failures import Failure, Failures, Subject
from gitfleet.model.observations import ClusterObservation
from gitfleet.model.operations import Operation, Outcome, RolloutWrite, Write
from gitfleet.model.state import FleetState
from gitfleet.ports.clock import Clock
from gitfleet.ports.repos import RepoReader
from gitfleet.ports.watching import Watching
from gitfleet.reconcile import run_approvals
from gitfleet.rendered import Rendering

Checkpoint = Callable[[Step], None]
Listener = Callable[[Event], None]
P = ParamSpec("P")
_MOST_TURNS = 3
_LONGEST_DELAY = 2.0
"""More seconds than these between a push and its operations: the process was suspended or starved, and asks again."""


@dataclass(slots=True, kw_only=True)
class Driver:
    """Drives reconciles on one repository. `checkpoint` is called between steps (tests stop the process there);
    `listen` gets every event as it becomes true, `configure` the configuration that holds for the next observation;
    `requests` keeps the branches by which people approve, `rendered` that with what clusters get, None where none are
    pushed; `approvals` looks who gave an approval; `forge` is told what a forge is to show, and returns at once;
    `watching` vouches that clusters have not changed, None where each pass reads all; `pull` those with agents."""

    reader: RepoReader
    states: StateBranch
    desired_trees: DesiredTrees
    fanout: Fanout
    clock: Clock
    plugins: reconcile.Plugins = field(default_factory=dict)
    version: str
    save_report: Callable[[Failure], None] = lambda _: None
    checkpoint: Checkpoint = lambda _: None
    listen: Listener = lambda _: None
    configure: Callable[[FleetConfig], None] = lambda _: None
    watch_branch: str | None = None
    state_branch: str | None = None
    requests: RequestBranches | None = None
    rendered: RenderedBranch | None = None
    approvals: ApprovalHistory | None = None
    forge: Callable[[FleetState, Asked, Branches], None] | None = None
    watching: Watching | None = None
    pull: PullClusters | None = None
    workloads: WorkloadRollouts = field(default_factory=WorkloadRollouts)
    memo: reconcile.Memo = reconcile.Memo()
    asked_clusters: AskedClusters = field(init=False)
    _config: tuple[str, FleetConfig] | None = None
    _unchanged: tuple[UnchangedReconcile, ReconcileResult] | None = None
    _kept: KeptObservations = field(init=False)
    _report: Callable[[Iterable[Failure]], None] = field(init=False)
    _lines: Lines = field(default_factory=dict)
    _rewrite: tuple[ApprovalRequest, ...] = ()
    _last: LastAccepted = field(default_factory=LastAccepted)
    _repeats: Repeats = field(default_factory=Repeats)
    _rendering: Rendering | None = None
    _heads: Heads | None = None

    def __post_init__(self) -> None:
        self._kept = KeptObservations(clock=self.clock, watching=self.watching)
        self.asked_clusters = AskedClusters(handlers=self.workloads.handlers)
        self._report = ReportedFailures(lambda failure: self.save_report(failure)).report

    @property
    def config(self) -> FleetConfig:
        """The FleetConfig that was read last, all defaults before the first."""
        return self._config[1] if self._config else FleetConfig()

    @property
    def branches(self) -> Branches:
        """The branches' names, those of the watched and the state branch as given to the process."""
        named = self.config.branches
        return replace(named, watch=self.watch_branch or named.watch, state=self.state_branch or named.state)

    @property
    def needed(self) -> tuple[str, ...]:
        """The branches to fetch: nobody else's are read."""
        return self.branches.watch, self.branches.state, *(self.pull.needed if self.pull is not None else ())

    def _is_due(self) -> bool:
        return self.pull is not None and self.pull.is_due

    def interval(self) -> float:
        """The poll interval in seconds."""
        return self.config.interval_seconds

    def watched_commit(self, heads: Mapping[str, str]) -> str:
        """The head of the watched branch; the FleetConfig there says what the branches are called, that one included.

        BadInput when the remote has no such branch, or two configurations send the watch to each other.
        """
        watch = self.branches.watch
        for _ in range(_MOST_TURNS):
            watch = self.branches.watch
            if watch not in heads:
                self._config = None  # it may be a typing error: the next reconcile reads it again
                raise no_such_branch(watch, heads)
            self._read_config(heads[watch], heads)
            if self.branches.watch == watch:
                return heads[watch]
        other, self._config = self.branches.watch, None
        sentence = LoopText.CONFIGURATIONS_SEND_WATCH_EACH_OTHER(watch=watch, other=other)
        raise BadInput(sentence, hint=LoopText.LET_SPEC_BRANCHES_WATCH_SAY())

    def _read_config(self, commit: str, heads: Mapping[str, str]) -> None:
        if self._config is not None and self._config[0] == commit:
            return
        # With the state as the branch is called so far: the reconcile then needs no second reading of the commit.
        before = FleetState()
        with suppress(BadInput):  # that branch may be somebody else's
            before = self.load_state(heads.get(self.branches.state))
        wanted = self.desired_trees.at(commit, before)
        lost = self._config is None and wanted.config.origin is None and any(map(is_error, wanted.faults))
        kept = last_good_config(commit, heads, self.reader, self.desired_trees, self.states.trees) if lost else None
        self._config = (commit, kept or wanted.config)

    def reconcile(self) -> ReconcileResult:
        """Do all that can be done now. RetryLater for a passing error of the remote, GiveUp for a lasting one; whatever
        a cluster does is a result, never an error. After LostRace nothing was done: the next one observes again."""
        now, heads = self.clock.now(), self.reader.fetch(self.needed)
        inputs = self.gather(heads, now)
        self.checkpoint(Step.GATHERED)
        if self._unchanged is not None and self._unchanged[0].still(inputs, due=self._is_due() or inputs.has_news):
            return self._asked(heads, self._unchanged[1], self._rendering)
        inputs, decided, (decision, operations) = self._decided(inputs)
        self.checkpoint(Step.DECIDED)
        try:
            state_head = heads.get(self.branches.state)
            intent = self.publish(inputs.before, decision.after, state_head, decision.inputs, "intent")
            head = intent.head
            decision, operations = reconcile.withhold(decision, operations, intent.state, intent.failures)
            pushed = self.clock.monotonic() if head != state_head else None
            self.checkpoint(Step.INTENT_PUBLISHED)
            self._render(heads, Rendering.of(decision, operations, head))
            writes = (*operations, *decision.steps)
            self._still_ours(head, writes, pushed)
            self._emit(self._events, inputs.before, decision.after)
            outcomes = self.perform(decision, operations, partial(self._still_ours, head, writes, None))
            self.checkpoint(Step.PERFORMED)
            self._emit(status.events_of_outcomes, outcomes, decision.after)
            settled, failures = reconcile.settle(decision, operations, outcomes, self.clock.now(), self.memo)
            self._report(failures)
            report = self.publish(decision.after, settled, head, inputs, "report")
            self._repeats.forget(failure.subject for failure in (*failures, *report.failures))
            after = report.state
            self.checkpoint(Step.REPORTED)
        except LostRace:
            self.states.forget()
            return lost_race(inputs, heads.get(self.branches.state))
        self._emit(self._events, decision.after, after)
        if inputs.before.damage.unfinished:
            self.states.forget()
        result = self._result(decision, outcomes, report, failures, changed=report.head != state_head)
        # Objects that were observed only after deciding are not in the inputs: then every reconcile decides again.
        repeatable = result.settled and not outcomes and not decided.unseen()
        memo = unchanged_after(inputs, after) if repeatable else None
        self._unchanged = (memo, result) if memo is not None else None
        return self._asked(heads, result)

    def _result(
        self,
        decision: Decision,
        outcomes: tuple[Outcome, ...],
        report: Published,
        failures: tuple[Failure, ...],
        *,
        changed: bool,
    ) -> ReconcileResult:
        """`failures` are what could not be settled."""
        failed = Failures((*decision.failures, *failures, *report.failures))
        moved, again_at = changed or any(step.ok for step in self.workloads.outcomes), self._repeats.next_at
        result = result_of(decision, outcomes, report, failed, changed=moved, again_at=again_at)
        others = (*(self.pull.waiting if self.pull else ()), *self.desired_trees.waiting())
        result = replace(result.waiting_for(others), steps=self.workloads.outcomes)
        self._report(failed.found)
        return result

    def gather(self, heads: Mapping[str, str], now: datetime) -> Inputs:
        """The desired tree, the state tree and the clusters' observations at this moment."""
        commit, self._heads = self.watched_commit(heads), heads
        before = self.load_state(heads.get(self.branches.state))
        wanted = self._accepted(self.desired_trees.at(commit, before), before, heads)
        for pushed in beside_state(self.requests, self.rendered):
            wanted = pushed.noted(wanted, before)
        return self.inputs_for(wanted, self.rebuilt(before, wanted), now)

    def rewrite_of(self, wanted: Desired, before: FleetState) -> Rewrite | None:
        """How the watched branch was rewritten, None where it was not or a person has accepted it."""
        if self.approvals is None:
            return None
        read_at = partial(self.desired_trees.at, state=before)
        return self.approvals.rewrite(self.branches.watch, wanted, before, self.clock.now(), read_at)

    def _accepted(self, wanted: Desired, before: FleetState, heads: Mapping[str, str]) -> Desired:
        """What is reconciled: the head of the watched branch, or the commit that was accepted last while the branch
        was rewritten and nobody accepted that. BadInput where it cannot be read any more."""
        found = self.rewrite_of(wanted, before)
        self._rewrite = (found.request(),) if found is not None else ()
        last_at = partial(self.desired_trees.at, state=before)
        return self._last.accepted(wanted, found, last_at, partial(self._ask, heads, before))

    def rebuilt(self, before: FleetState, wanted: Desired) -> FleetState:
        """See StateBranch."""
        return self.states.rebuilt(before, wanted, self.clock.now())

    def inputs_for(self, wanted: Desired, before: FleetState, now: datetime) -> Inputs:
        """Observe every cluster that is known, and there everything that is owned."""
        self.configure(wanted.config)
        clusters = {**before.clusters, **wanted.clusters}
        if self.pull is not None:
            self.pull.gather(self._heads, self.branches, clusters)
        observations = self._kept.observe(self.fanout, clusters, self.workloads.keys(before, wanted, clusters))
        seen = self.workloads.with_pods(self.fanout, before, clusters, observations)
        given, told = self.approvals_of(wanted, before, now), self.asked_clusters.known(seen, now)
        inputs = Inputs(desired=wanted, before=before, observations=told, now=now, approvals=given)
        return self.workloads.told(inputs, self.pull.refused_steps() if self.pull is not None else ())

    def approvals_of(self, wanted: Desired, before: FleetState, now: datetime) -> FactsByApproval | None:
        """How the approvals came to the watched branch that may answer what waits; None where nobody looks."""
        if self.approvals is None:
            return None
        asked = [removals.asked(hold) for hold in before.holds.values()]
        asked += run_approvals.asked_of_people(before, wanted)
        read_at = partial(self.desired_trees.at, state=before)
        return self.approvals.facts(wanted, asked, read_at, before.observed_commit, now)

    def load_state(self, head: str | None) -> FleetState:
        """The state at a head of the state branch."""
        return self.states.at(head)

    def _decided(self, inputs: Inputs) -> tuple[Inputs, Decision, tuple[Decision, tuple[Operation, ...]]]:
        """What is decided, before and after its operations are planned. The clusters that it concerns are read first:
        those of which an earlier observation was taken, and then it is decided again over what they are now."""
        while True:
            decided = self.decide(inputs)
            planned = self.observe_unseen(decided)
            again = self._kept.doubtful(*planned)
            if not again:
                return inputs, decided, planned
            clusters = {**inputs.before.clusters, **inputs.desired.clusters}
            keys = self.workloads.keys(inputs.before, inputs.desired, {name: clusters[name] for name in again})
            fresh = self._kept.read_again(self.fanout, clusters, keys)
            seen = self.workloads.with_pods(self.fanout, inputs.before, clusters, fresh)
            inputs = replace(inputs, observations=self.asked_clusters.known(seen, inputs.now))

    def observe_unseen(self, decision: Decision) -> tuple[Decision, tuple[Operation, ...]]:
        """Plan the operations and record it in the inventory; objects that were not observed yet are observed first."""
        unseen = decision.unseen()
        newly_observed = self.fanout.observe(decision.after.clusters, unseen, probe=False) if unseen else {}
        return self.plan_operations(decision, newly_observed)

    def decide(self, inputs: Inputs) -> Decision:
        """`reconcile.decide` with the memo of the pass before."""
        decision, self.memo = self.asked_clusters.decide(self.fanout, inputs, self.memo, self.plugins)
        decision, failures = with_field_lines(decision, self.reader, self._lines)
        self._report((*decision.failures, *failures))
        return decision

    def plan_operations(
        self, decision: Decision, newly_observed: Mapping[str, ClusterObservation]
    ) -> tuple[Decision, tuple[Operation, ...]]:
        """`reconcile.plan_operations` with the memo of the pass before."""
        plan = self.asked_clusters.plan_operations
        decided, operations, self.memo = plan(self.fanout, decision, newly_observed, self.memo)
        self._report(decided.failures)
        return decided, operations

    def publish(self, before: FleetState, after: FleetState, head: str | None, inputs: Inputs, phase: str) -> Published:
        """Push `after` if the head is the one that was read; what cannot be written stays, as an intent says."""
        asked = Publication(
            before=before,
            after=after,
            inputs=inputs,
            branch=self.branches.state,
            head=head,
            phase=phase,
            now=self.clock.now(),
            version=self.version,
            branches=self.branches.approvals if self.requests is not None else "",
        )
        published = self.states.publish(asked)
        self._report(published.failures)
        if published.commit is not None:
            self.listen(published.commit)
        return published

    def perform(
        self, decision: Decision, operations: tuple[Operation, ...], make_sure: Callable[[], None]
    ) -> tuple[Outcome, ...]:
        """Carry out what has to be written, clusters side by side; `make_sure` raises LostRace once it is no more."""
        self._kept.forget({o.cluster for o in (*operations, *decision.steps) if isinstance(o, Write | RolloutWrite)})
        answered: tuple[Outcome, ...] = ()
        if self.pull is not None:
            answered, operations = self.pull.perform(decision, operations, make_sure)
            decision = self.pull.without_steps(decision)
        performed = partial(self.desired_trees.encrypted.perform, partial(self.fanout.perform, decision.after.clusters))
        outcomes = (*answered, *self._repeats.perform(operations, self.clock, performed))
        self.workloads.carry_out(self.fanout, decision, make_sure)
        return outcomes

    def _asked(self, heads: Heads, result: ReconcileResult, rendering: Rendering | None = None) -> ReconcileResult:
        """The result, once the branches are there by which people approve; what fails there delays nothing."""
        self._render(heads, rendering)
        self._ask(heads, result.state)
        through = all(pushed.is_through(result.state) for pushed in beside_state(self.requests, self.rendered))
        return result if through else replace(result, settled=False)

    def _render(self, heads: Mapping[str, str], rendering: Rendering | None) -> None:
        """Bring the rendered branch to what was published; what fails there delays nothing."""
        if self.rendered is None or rendering is None:
            return
        self._rendering, failures, subject = rendering, Failures(), Subject("Branch", self.branches.rendered)
        event = failures.contain(subject, None, self.rendered.publish, heads, self.branches, rendering)
        self._emit(lambda: (event,) if event is not None else ())
        self._report(failures.found)
        self.checkpoint(Step.RENDERED)

    def _ask(self, heads: Mapping[str, str], state: FleetState) -> None:
        failures, asked = Failures(), Asked() if self.requests is None else None
        if self.requests is not None:
            wanted, publish = (*views.approval_requests(state), *self._rewrite), self.requests.publish
            asked = failures.contain(Subject("approvals", ""), None, publish, heads, self.branches, wanted)
        if self.forge is not None and asked is not None:  # no branches would close every pull request
            failures.contain(Subject("forge", ""), None, self.forge, state, asked, self.branches)
        self._report(failures.found)

    def _still_ours(
        self, head: str | None, operations: tuple[Operation | RolloutWrite, ...], pushed: float | None
    ) -> None:
        """LostRace when another process has moved the state branch since this one made sure of it: `pushed` is when it
        pushed its intent (a clock that never jumps), None when it decided that no state changes.

        What seems to be drift to a process that was late, or was delayed after its push, may be the newer commit
        that the other one rolled out.
        """
        if not any(isinstance(operation, Write | RolloutWrite) for operation in operations):
            return
        sure = pushed is not None and self.clock.monotonic() - pushed <= _LONGEST_DELAY
        if not sure and self.reader.fetch(()).get(self.branches.state) != head:
            raise LostRace(LoopText.MOVED_ANOTHER_PROCESS(state=self.branches.state))

    def _events(self, before: FleetState, after: FleetState) -> tuple[Event, ...]:
        """The events between two states; those of a commit that was just pushed are known."""
        events, failures = self.states.events_between(before, after)
        self._report(failures.found)
        return events

    def _emit(self, events_of: Callable[P, Iterable[Event]], *args: P.args, **named: P.kwargs) -> None:
        """Emit the events; a timeline that cannot be written delays nothing."""

        def emit_all() -> None:
            for event in events_of(*args, **named):
                self.listen(event)

        failures = Failures()
        failures.contain(Subject("events", ""), None, emit_all)
        self._report(failures.found)
