"""One reconcile: gather, decide, publish intent, perform, publish report (ARCHITECTURE.md, "One reconcile").

Nothing depends on memory that is not in git: whatever the driver keeps between reconciles only saves work.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import ClassVar, Final, ParamSpec, Protocol, runtime_checkable

from gitfleet import reconcile, status
from gitfleet.api.faults import Fault
from gitfleet.api.fleet import FleetConfig
from gitfleet.branches.log_once import ReportOnce
from gitfleet.branches.repository import Repository
from gitfleet.branches.state_branch import Publication, Published
from gitfleet.branches.steps import Step, SteppedCache, SteppedWriter
from gitfleet.errors import LostRace
from gitfleet.fleet.clusters import Clusters
from gitfleet.fleet.unchanged_reconcile import UnchangedReconcile, unchanged_after
from gitfleet.loop.results import ReconcileResult, Resting, clock_behind, lost_race, result_of, waiting_sentences
from gitfleet.loop.texts import LoopText
from gitfleet.model.decisions import Decision, Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.events import Event
from gitfleet.model.failures import Failure, Failures, Subject
from gitfleet.model.observations import ClusterObservation
from gitfleet.model.operations import Operation, Outcome, Write
from gitfleet.model.state import FleetState
from gitfleet.ports.clock import Clock
from gitfleet.ports.publishers import Heads, Publisher, Report
from gitfleet.ports.repos import RepoWriter
from gitfleet.rendered import Rendering

Checkpoint = Callable[[Step], None]
Listener = Callable[[Event], None]
P = ParamSpec("P")
_MOST_EVENTS: Final = 20_000
"""Between two reports: one for each cluster of a large fleet, and no more memory than that."""
_LONGEST_DELAY = 2.0
"""More seconds than these between a push and its operations: the process was suspended or starved, and asks again."""


@dataclass(slots=True)
class Publishers:
    """All publishers of a process, in order. `events` are those since the last report."""

    members: list[Publisher] = field(default_factory=list)
    events: deque[Event] = field(default_factory=lambda: deque(maxlen=_MOST_EVENTS))
    _noted: tuple[Desired, tuple[Fault, ...], Desired] | None = None

    def with_warnings(self, desired: Desired, before: FleetState) -> Desired:
        """The desired fleet with the warnings of all publishers; the same for the same."""
        notes = tuple(fault for publisher in self.members for fault in _warnings(publisher, before))
        if not notes:
            return desired
        if self._noted is None or self._noted[0] is not desired or self._noted[1] != notes:
            self._noted = (desired, notes, replace(desired, faults=(*desired.faults, *notes)))
        return self._noted[2]

    def publish(self, report: Report) -> tuple[tuple[Event, ...], tuple[Failure, ...]]:
        """Give all of them the report; the events of what they did, and what failed."""
        failures, done = Failures(), list[Event]()
        report = replace(report, events=tuple(self.events))
        self.events.clear()
        for publisher in self.members:
            done += failures.contain(Subject("publisher", publisher.name), (), publisher.publish, report)
        return tuple(done), failures.found

    @property
    def ask_for_approval(self) -> bool:
        """Whether people can approve by what any of them brings up to date."""
        return any(publisher.asks_for_approval for publisher in self.members)

    def is_done(self, state: FleetState) -> bool:
        """Whether nothing is left for the next pass, and a state has these warnings and no others."""
        return not any(
            member.due or set(_warnings(member, state)) != set(_recorded(member, state)) for member in self.members
        )


def _warnings(publisher: Publisher, before: FleetState) -> tuple[Fault, ...]:
    return _recorded(publisher, before) if publisher.refused is None else tuple(publisher.refused.values())


def _recorded(publisher: Publisher, state: FleetState) -> tuple[Fault, ...]:
    kind = publisher.kind
    return tuple(fault for fault in state.faults if kind and fault.object.startswith(kind))


class Pusher(Protocol):
    """What pushes a branch, or several of one kind."""

    writer: RepoWriter


@runtime_checkable
class PushingPublisher(Pusher, Protocol):
    """A publisher that pushes, with the steps around each push."""

    steps: ClassVar[tuple[Step, Step]]


@dataclass(slots=True)
class _LastPass:
    """What the next pass need not work out again: `unchanged` is set after one that left nothing to do."""

    unchanged: tuple[UnchangedReconcile, ReconcileResult, Report] | None = None
    resting: Resting = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Driver:
    """Drives reconciles on one repository. `checkpoint` is called between steps (tests stop the process there);
    `listen` gets every event as it becomes true, `configure` the configuration for the next observation."""

    repository: Repository
    clusters: Clusters
    clock: Clock
    version: str
    plugins: reconcile.Plugins = field(default_factory=dict)
    publishers: Publishers = field(default_factory=Publishers)
    failures: ReportOnce = field(default_factory=ReportOnce)
    checkpoint: Checkpoint = lambda _: None
    listen: Listener = lambda _: None
    configure: Callable[[FleetConfig], None] = lambda _: None
    memo: reconcile.Memo = reconcile.Memo()
    _last: _LastPass = field(default_factory=_LastPass)

    @property
    def needed(self) -> tuple[str, ...]:
        """The branches to fetch: nobody else's are read."""
        branches, pull = self.repository.branches, self.clusters.pull
        return branches.watch, branches.state, *(pull.needed if pull is not None else ())

    def reconcile(self) -> ReconcileResult:
        """Do all that can be done now. RetryLater for a passing error of the remote, GiveUp for a lasting one; whatever
        a cluster does is a result, never an error. After LostRace nothing was done: the next one observes again."""
        now, heads = self.clock.now(), self.repository.reader.fetch(self.needed)
        inputs = self.gather(heads, now)
        self.checkpoint(Step.GATHERED)
        if (later := self.repository.states.written_after(now)) is not None:
            return clock_behind(inputs, heads.get(self.repository.branches.state), later)
        if self._last.unchanged is not None:
            unchanged, last, report = self._last.unchanged
            if unchanged.applies_to(inputs, due=self.clusters.is_due or inputs.has_news):
                return self._published(last, replace(report, heads=heads))
        inputs, decided, (decision, operations) = self._decided(inputs)
        self.checkpoint(Step.DECIDED)
        try:
            state_head = heads.get(self.repository.branches.state)
            intent = self.publish(inputs.before, decision.after, state_head, decision.inputs, "intent")
            pushed = self.clock.monotonic() if intent.head != state_head else None
            self.checkpoint(Step.INTENT_PUBLISHED)
            writes = tuple(operation for operation in operations if isinstance(operation, Write))
            is_writing = bool(writes or decision.steps)
            self._still_ours(intent.head, is_writing, pushed)
            self._emit(self.repository.states.events_between, inputs.before, decision.after)
            sure = partial(self._still_ours, intent.head, is_writing)
            outcomes = self.clusters.perform(decision, writes, sure)
            self.checkpoint(Step.PERFORMED)
            self._emit(status.events_of_outcomes, outcomes, decision.after)
            settled, failures = reconcile.settle(decision, operations, outcomes, self.clock.now(), self.memo)
            written = self.publish(decision.after, settled, intent.head, inputs, "report")
            self.clusters.backoff.forget(failure.subject for failure in failures)
            self.checkpoint(Step.REPORTED)
        except LostRace:
            self.repository.states.forget()
            return lost_race(inputs, heads.get(self.repository.branches.state))
        self._emit(self.repository.states.events_between, decision.after, written.state)
        result = self._result(decision, outcomes, written, failures, changed=written.head != state_head)
        report = self._report_of(heads, inputs.desired, written, Rendering.of(decision, operations, intent.head))
        # Objects that were observed only after deciding are not in the inputs: then every reconcile decides again.
        repeatable = result.settled and not outcomes and not decided.unseen()
        memo = unchanged_after(inputs, report.state) if repeatable else None
        self._last.unchanged = (memo, result, report) if memo is not None else None
        return self._published(result, report)

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
        steps, again_at = self.clusters.workloads.outcomes, self.clusters.backoff.next_at
        moved = changed or any(step.ok for step in steps)
        waiting = waiting_sentences(report.state, decision, failed, self._last.resting)
        result = result_of(decision, outcomes, report, waiting, changed=moved, again_at=again_at)
        result = result.waiting_for((*self.clusters.waiting, *self.repository.desired_trees.waiting()))
        self.failures.report(failed.found)
        return replace(result, steps=steps)

    def name_effects(self, cache: SteppedCache) -> None:
        """Call `checkpoint`, whichever it is then, around each effect."""

        def reach(step: Step) -> None:
            self.checkpoint(step)

        cache.reach = reach
        self.clusters.fanout = replace(self.clusters.fanout, reach=reach)
        for branch, before, after in self.pushers():
            branch.writer = SteppedWriter(branch.writer, before, after, reach)

    def pushers(self) -> list[tuple[Pusher, Step, Step]]:
        """Everything that pushes, with the steps around each push: what applies to every push is put on these."""
        pushers: list[tuple[Pusher, Step, Step]] = [(self.repository.states, Step.STATE_PUSH, Step.STATE_PUSHED)]
        if self.clusters.pull is not None:
            pushers.append((self.clusters.pull, Step.DELIVERY_PUSH, Step.DELIVERY_PUSHED))
        members = (member for member in self.publishers.members if isinstance(member, PushingPublisher))
        return [*pushers, *((member, *member.steps) for member in members)]

    def gather(self, heads: Heads, now: datetime) -> Inputs:
        """The desired tree, the state tree and the clusters' observations at this moment."""
        repository = self.repository
        commit = repository.watched_commit(heads)
        before = repository.load_state(heads.get(repository.branches.state))
        ask = partial(self._ask_alone, heads, before)
        desired = self.publishers.with_warnings(repository.accepted(commit, before, ask), before)
        return self.inputs_for(desired, repository.loaded(before, desired), now, heads)

    def _ask_alone(self, heads: Heads, before: FleetState, desired: Desired) -> None:
        """Ask people in a pass that can do nothing else."""
        head = heads.get(self.repository.branches.state)
        self._tell_publishers(self._report_of(heads, desired, Published(head, before)))

    def inputs_for(self, desired: Desired, before: FleetState, now: datetime, heads: Heads | None = None) -> Inputs:
        """Observe every cluster that is known, and there everything that is owned."""
        self.configure(desired.config)
        approvals = self.repository.approvals_of(desired, before, now)
        inputs = Inputs(desired=desired, before=before, observations={}, now=now, approvals=approvals)
        return self.clusters.observed(inputs, heads, self.repository.branches)

    def _decided(self, inputs: Inputs) -> tuple[Inputs, Decision, tuple[Decision, tuple[Operation, ...]]]:
        """What is decided, before and after its operations are planned. The clusters that it concerns are read first:
        those of which an earlier observation was taken, and then it is decided again over what they are now."""
        while True:
            decided = self.decide(inputs)
            planned = self.observe_unseen(decided)
            again = self.clusters.observations.doubtful(*planned)
            if not again:
                return inputs, decided, planned
            inputs = self.clusters.observed_again(inputs, again)

    def observe_unseen(self, decision: Decision) -> tuple[Decision, tuple[Operation, ...]]:
        """Plan the operations and record it in the inventory; objects that were not observed yet are observed first."""
        unseen = decision.unseen()
        observe = self.clusters.fanout.observe
        return self.plan_operations(decision, observe(decision.after.clusters, unseen, probe=False) if unseen else {})

    def decide(self, inputs: Inputs) -> Decision:
        """`reconcile.decide` with the memo of the pass before."""
        clusters = self.clusters
        decision, self.memo = clusters.dry_runs.decide(clusters.fanout, inputs, self.memo, self.plugins)
        self.failures.report(decision.failures)
        return decision

    def plan_operations(
        self, decision: Decision, newly_observed: Mapping[str, ClusterObservation]
    ) -> tuple[Decision, tuple[Operation, ...]]:
        """`reconcile.plan_operations` with the memo of the pass before."""
        plan, fanout = self.clusters.dry_runs.plan_operations, self.clusters.fanout
        decided, operations, self.memo = plan(fanout, decision, newly_observed, self.memo)
        self.failures.report(decided.failures)
        return decided, operations

    def publish(self, before: FleetState, after: FleetState, head: str | None, inputs: Inputs, phase: str) -> Published:
        """Push `after` if the head is the one that was read."""
        branches = self.repository.branches
        publication = Publication(
            before=before,
            after=after,
            inputs=inputs,
            branch=branches.state,
            head=head,
            phase=phase,
            now=self.clock.now(),
            version=self.version,
            branches=branches.approvals if self.publishers.ask_for_approval else "",
        )
        published = self.repository.states.publish(publication)
        self.failures.report(published.failures)
        if published.commit is not None:
            self._tell(published.commit)
        return published

    def _published(self, result: ReconcileResult, report: Report) -> ReconcileResult:
        """The result, once the publishers have its report; what fails there delays nothing."""
        self._tell_publishers(report)
        return result if self.publishers.is_done(report.state) else replace(result, settled=False)

    def _report_of(
        self, heads: Heads, desired: Desired, published: Published, rendering: Rendering | None = None
    ) -> Report:
        return Report(
            heads=heads,
            branches=self.repository.branches,
            desired=desired,
            state=published.state,
            state_head=published.head,
            rewrite=self.repository.rewrite,
            rendering=rendering,
        )

    def _tell_publishers(self, report: Report) -> None:
        events, failures = self.publishers.publish(report)
        self._emit(lambda: events)
        self.failures.report(failures)

    def _still_ours(self, head: str | None, is_writing: bool, pushed: float | None = None) -> None:
        """LostRace when another process has moved the state branch since this one made sure of it: `pushed` is when it
        pushed its intent (a clock that never jumps), None when it decided that no state changes.

        What seems to be drift to a process that was late, or was delayed after its push, may be the newer commit
        that the other one rolled out.
        """
        if not is_writing:
            return
        sure = pushed is not None and self.clock.monotonic() - pushed <= _LONGEST_DELAY
        reader, state = self.repository.reader, self.repository.branches.state
        if not sure and reader.fetch(()).get(state) != head:
            raise LostRace(LoopText.MOVED_ANOTHER_PROCESS(state=state))

    def _emit(self, events_of: Callable[P, Iterable[Event]], *args: P.args, **named: P.kwargs) -> None:
        """Emit the events; a timeline that cannot be written delays nothing."""

        def emit_all() -> None:
            for event in events_of(*args, **named):
                self._tell(event)

        failures = Failures()
        failures.contain(Subject("events", ""), None, emit_all)
        self.failures.report(failures.found)

    def _tell(self, event: Event) -> None:
        self.publishers.events.append(event)
        self.listen(event)
