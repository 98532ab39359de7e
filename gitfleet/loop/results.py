"""What one reconcile did, for whoever decides when the next one starts."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from datetime import datetime

from gitfleet import rollout
from gitfleet.api.bindings import Binding, is_active
from gitfleet.api.clusters import silent_from
from gitfleet.api.placements import PlacementKey
from gitfleet.branches.state_branch import Published
from gitfleet.formats.sentences import more_than_first, named_briefly
from gitfleet.formats.times import time_text
from gitfleet.loop.texts import LoopText
from gitfleet.model.decisions import Decision, Inputs
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.operations import Outcome, RolloutOutcome
from gitfleet.model.rolling import FreezeWait, RolloutPlan
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.rollout import staged

log = logging.getLogger(__name__)
Resting = dict[PlacementKey, tuple[PlacementRecord, RolloutPlan | None]]
"""The placements that were found to wait for nothing, with what that follows from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconcileResult:
    """What one reconcile did.

    `settled` means that nothing was changed or performed and that no clock will bring anything; `waiting` names, in one
    sentence each, what a rollout is waiting for, `asks` what only a person can let go on; `wake_at` is when time alone
    may change the decision. `frozen` means that nothing was changed and all that waits waits for freezes to end.
    """

    commit: str
    state_head: str | None
    state: FleetState
    changed: bool
    settled: bool
    waiting: tuple[str, ...]
    wake_at: datetime | None
    outcomes: tuple[Outcome, ...] = ()
    steps: tuple[RolloutOutcome, ...] = ()
    """What came of the steps of workload rollouts."""
    asks: tuple[str, ...] = ()
    lost_race: bool = False
    frozen: bool = False

    @property
    def asks_only(self) -> bool:
        """Whether nothing was changed, and people alone can let go on what does not wait for its time."""
        return bool(self.asks) and not (self.changed or self.waiting) and all(outcome.ok for outcome in self.outcomes)

    def waiting_for(self, sentences: tuple[str, ...]) -> ReconcileResult:
        """The same where something else is waited for, too."""
        return replace(self, settled=False, waiting=(*self.waiting, *sentences)) if sentences else self


def lost_race(inputs: Inputs, head: str | None) -> ReconcileResult:
    """The result where another process moved the state branch first: nothing was done."""
    return replace(_nothing_done(inputs, head, LoopText.ANOTHER_PROCESS_MOVED_STATE_BRANCH()), lost_race=True)


def clock_behind(inputs: Inputs, head: str | None, written: datetime) -> ReconcileResult:
    """The result where this machine's clock is behind the last commit of the state: nothing was done."""
    sentence = LoopText.CLOCK_BEHIND(now=time_text(inputs.now), written=time_text(written))
    log.warning("%s", sentence)
    return replace(_nothing_done(inputs, head, sentence), wake_at=written)


def _nothing_done(inputs: Inputs, head: str | None, why: str) -> ReconcileResult:
    return ReconcileResult(
        commit=inputs.desired.commit,
        state_head=head,
        state=inputs.before,
        changed=False,
        settled=False,
        waiting=(why,),
        wake_at=None,
    )


def result_of(
    decision: Decision,
    outcomes: tuple[Outcome, ...],
    report: Published,
    waiting: tuple[str, ...],
    *,
    changed: bool,
    again_at: datetime | None,
) -> ReconcileResult:
    """What a reconcile says of itself: `waiting` are the `waiting_sentences`, `again_at` is when something is applied
    again that waits."""
    return ReconcileResult(
        commit=decision.inputs.desired.commit,
        state_head=report.head,
        state=report.state,
        changed=changed,
        settled=not changed and not waiting and decision.wake_at is None and all(o.ok for o in outcomes),
        waiting=waiting,
        wake_at=min(filter(None, (decision.wake_at, again_at)), default=None),
        outcomes=outcomes,
        asks=asking_sentences(decision),
        frozen=not changed
        and bool(waiting)
        and all(o.ok for o in outcomes)
        and all(isinstance(sentence, FreezeWait) for sentence in waiting),
    )


def asking_sentences(decision: Decision) -> tuple[str, ...]:
    """What rollouts wait for that only a person can give, in a sentence each."""
    sentences: list[str] = list(decision.asks)
    for key, record in sorted(decision.after.placements.items()):
        plan = decision.plans.get(key)
        if lost := _left_by_runs(decision.after, record):
            sentences.append(f"{key}: {rollout.way_out(lost[0])}{more_than_first(lost)}")
        asks = plan.asks if plan is not None else ()
        sentences += asks if record.placement.strategy.external else (f"{key}: {sentence}" for sentence in asks)
    return tuple(sentences)


def _left_by_runs(state: FleetState, record: PlacementRecord) -> tuple[Binding, ...]:
    """The bindings that only a new run can help, and that no unfinished run updates or rolls back."""
    if not record.placement.strategy.external:
        return ()
    stuck = [binding for binding in record.bindings if is_active(binding) and rollout.needs_new_run(binding)]
    runs = [run for run in state.runs.values() if run.placement == record.placement.key and not run.finished]
    clusters = [cluster for run in runs for stage in run.status.stages for cluster in stage.clusters] if stuck else ()
    busy = {cluster.cluster for cluster in clusters if staged.cluster_phase(cluster) in ("updating", "rolling-back")}
    return tuple(binding for binding in stuck if binding.cluster not in busy)


def _without_asking(record: PlacementRecord, plan: RolloutPlan | None, decision: Decision) -> PlacementRecord:
    """A placement without the clusters where all that is not as it is to be belongs to workload rollouts that wait for
    a person, and where there are any, without those whose turn comes after them."""
    asking = set[str]()
    for binding in record.bindings:
        by_object, name = decision.by_rollouts.get(binding.cluster, {}), binding.cluster
        fields = [by_object.get(failed.key.identity) for failed in binding.failed]
        if fields and all(owned is not None and (name, owned.rollout) in decision.asking for owned in fields):
            asking.add(name)
    if not asking:
        return record
    if plan is not None:
        asking |= plan.blocked.keys()
    return replace(record, bindings=tuple(binding for binding in record.bindings if binding.cluster not in asking))


def waiting_sentences(state: FleetState, decision: Decision, failures: Failures, resting: Resting) -> tuple[str, ...]:
    """What failed, what each placement waits for, and that clusters are to be asked in the next pass, in a sentence
    each. Of those that are known to be silent nothing else is expected. `resting` is kept from pass to pass."""
    rolling: list[str] = []
    for key in resting.keys() - state.placements.keys():
        del resting[key]
    for key, record in state.placements.items():
        plan = decision.plans.get(key)
        last_record, last_plan = resting.get(key, (None, None))
        if last_record is record and last_plan is plan:
            continue
        moving = _without_asking(record, plan, decision)
        if lost := _left_by_runs(state, record):
            moving = replace(moving, bindings=tuple(binding for binding in moving.bindings if binding not in lost))
        waits = failures.contain(Subject.of_placement(key), None, rollout.waiting_for, moving, plan)
        sentences = (*(waits or ()), *(plan.waiting if plan is not None else ()))
        resting.pop(key, None)
        if waits is not None and moving is record and not sentences:
            resting[key] = record, plan
        rolling += sentences
    rolling += decision.waiting
    observations = decision.inputs.observations
    unasked = [
        name
        for name, seen in observations.items()
        if not seen.attempted and silent_from(state.clusters.get(name)) is None
    ]
    if unasked:
        rolling.append(LoopText.NO_TIME_ASK(left=named_briefly(unasked, 3)))
    return (*(f"{failure.subject}: {failure.sentence}" for failure in failures.found), *rolling)
