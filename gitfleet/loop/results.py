"""What one reconcile did, for whoever decides when the next one starts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from gitfleet import rollout
from gitfleet.api.bindings import Binding, is_active
from gitfleet.api.clusters import silent_from
from gitfleet.api.conditions import ConditionType, Status, find_condition
from gitfleet.api.holds import RemovalKind
from gitfleet.api.placements import PlacementKey
from gitfleet.formats.sentences import more_than_first, named_briefly
from gitfleet.loop.texts import LoopText
from gitfleet.model.decisions import Decision, Inputs
from gitfleet.model.events import Event
from gitfleet.model.failures import Failure, Failures, Subject
from gitfleet.model.operations import Outcome, RolloutOutcome
from gitfleet.model.rolling import RolloutPlan
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.model.successors import Successors
from gitfleet.rollout import staged


@dataclass(frozen=True, slots=True)
class Published:
    """The head of the state branch, what it holds, what could not be written there, and the event of the commit that
    this took."""

    head: str | None
    state: FleetState
    failures: tuple[Failure, ...] = ()
    commit: Event | None = None


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

    def waiting_for(self, sentences: tuple[str, ...]) -> ReconcileResult:
        """The same where something else is waited for, too."""
        return replace(self, settled=False, waiting=(*self.waiting, *sentences)) if sentences else self


def lost_race(inputs: Inputs, head: str | None) -> ReconcileResult:
    """The result where another process moved the state branch first: nothing was done."""
    return ReconcileResult(
        commit=inputs.desired.commit,
        state_head=head,
        state=inputs.before,
        changed=False,
        settled=False,
        waiting=(LoopText.ANOTHER_PROCESS_MOVED_STATE_BRANCH(),),
        wake_at=None,
        lost_race=True,
    )


def result_of(
    decision: Decision,
    outcomes: tuple[Outcome, ...],
    report: Published,
    failed: Failures,
    *,
    changed: bool,
    again_at: datetime | None,
) -> ReconcileResult:
    """What a reconcile says of itself: `failed` is all that failed in it, `again_at` when something is applied again
    that waits."""
    waiting = waiting_sentences(report.state, decision, failed)
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
        frozen=not changed and all(o.ok for o in outcomes) and all_frozen(waiting, decision),
    )


def asking_sentences(decision: Decision) -> tuple[str, ...]:
    """What rollouts wait for that only a person can give, in a sentence each; and which placements keep what another
    one takes over until that one, which waits for a person or for a run, has it."""
    found: list[str] = list(decision.asks)
    successors, keepers = Successors.of(decision.after), keepers_of(decision.after)
    for key, record in sorted(decision.after.placements.items()):
        plan = decision.plans.get(key)
        found += kept_elsewhere(decision.after, record, plan, keepers)
        if lost := _left_by_runs(decision.after, record):
            commits = {one.reference: one.commit for every in decision.after.overrides.values() for one in every}
            found.append(f"{key}: {rollout.way_out(lost[0], record, commits)}{more_than_first(lost)}")
        asks = plan.asks if plan is not None else ()
        found += asks if record.placement.strategy.external else (f"{key}: {sentence}" for sentence in asks)
        awaited: dict[PlacementKey, set[str]] = {}
        for held in plan.held if plan is not None else ():
            if held.awaits is not None:
                awaited.setdefault(held.awaits, set()).add(held.cluster)
        for binding in record.bindings:
            for kept in binding.kept:
                if (other := successors.awaited(key, binding.cluster, kept.key.identity)) is not None:
                    awaited.setdefault(other, set()).add(binding.cluster)
        for other, clusters in sorted(awaited.items()):
            moves, asks_for = decision.plans.get(other), successors.asks_for(other)
            if moves is not None and not moves.asks and not asks_for:
                continue  # it goes on by itself
            where = named_briefly(sorted(clusters), 3)
            what = "stays" if record.placement.deleting is not None else LoopText.KEEPS_NO_LONGER_SELECTS()
            until = "" if other == key and asks_for else LoopText.UNTIL_OBJECTS(other=other.kind, other_2=other)
            stays = f"{key} {what} on {where}{until}"
            waits = rollout.run_awaited(decision.after.placements[other]) if moves is None and not asks_for else ""
            run = LoopText.WAITS_RUN_ADD_ONE_GITFLEET(other=other)
            found.append(f"{stays}, and {asks_for}" if asks_for else f"{stays}{run if waits else ''}")
    return tuple(found)


def keepers_of(state: FleetState) -> dict[PlacementKey, str]:
    """The placements that give up nothing but by a person's hand, each with what keeps it and what to do."""
    successors = Successors.of(state)
    return {key: why for key in state.placements if (why := successors.keeper_of(key))}


def kept_elsewhere(
    state: FleetState, record: PlacementRecord, plan: RolloutPlan | None, keepers: Mapping[PlacementKey, str]
) -> tuple[str, ...]:
    """Why a placement moves no further but by a person's hand, where nothing else keeps it: what clusters refuse
    belongs there to others that give it up by a person's hand alone (`keepers`)."""
    key = record.placement.key
    others = keepers.keys() - {key}
    refused: dict[str, tuple[str, PlacementKey]] = {}
    for binding in record.bindings if others else ():
        owned = state.inventory.get(binding.cluster, {})
        failed = [one for one in binding.failed if one not in binding.kept]
        holders = [owned[one.key].placement if one.key in owned else key for one in failed]
        if holders and others.issuperset(holders):
            refused[binding.cluster] = (
                LoopText.STAYS_WITH(failed=failed[0].key, holders=holders[0].kind, holders_2=holders[0]),
                holders[0],
            )
    waiting = {held.cluster for held in plan.held} if plan is not None else set()
    left = tuple(one for one in record.bindings if one.cluster not in refused and one.cluster not in waiting)
    if not refused or (plan is not None and plan.moves) or rollout.waiting_for(replace(record, bindings=left), plan):
        return ()
    what, holder = next(iter(refused.values()))
    return (f"{key}: {what} on {named_briefly(sorted(refused), 3)}, {keepers[holder].format(taker=key)}",)


def _left_by_runs(state: FleetState, record: PlacementRecord) -> tuple[Binding, ...]:
    """The bindings that only a new run can help, and that no unfinished run updates or rolls back."""
    if not record.placement.strategy.external:
        return ()
    found = [one for one in record.bindings if is_active(one) and rollout.needs_new_run(one)]
    runs = [run for run in state.runs.values() if run.placement == record.placement.key and not run.finished]
    clusters = [cluster for run in runs for stage in run.status.stages for cluster in stage.clusters] if found else ()
    busy = {one.cluster for one in clusters if staged.cluster_phase(one) in ("updating", "rolling-back")}
    return tuple(one for one in found if one.cluster not in busy)


def _moving(record: PlacementRecord) -> PlacementRecord:
    """A placement of which the removal is held, without the clusters that its rollout has not reached: it stopped."""
    started = (find_condition(one.conditions, ConditionType.ROLLOUT_STARTED) for one in record.bindings)
    stay = (
        one for one, said in zip(record.bindings, started, strict=True) if said is None or said.status is Status.TRUE
    )
    return replace(record, bindings=tuple(stay))


def _without_asking(record: PlacementRecord, plan: RolloutPlan | None, decision: Decision) -> PlacementRecord:
    """A placement without the clusters where all that is not as it is to be belongs to workload rollouts that wait for
    a person, and where there are any, without those whose turn comes after them."""
    asking = set[str]()
    for binding in record.bindings:
        held, name = decision.held.get(binding.cluster, {}), binding.cluster
        holders = [held[one.key.identity].rollout if one.key.identity in held else None for one in binding.failed]
        if holders and all(one is not None and (name, one) in decision.asking for one in holders):
            asking.add(name)
    if not asking:
        return record
    if plan is not None:
        asking |= {held.cluster for held in plan.held}
    return replace(record, bindings=tuple(one for one in record.bindings if one.cluster not in asking))


def all_frozen(waiting: Iterable[str], decision: Decision) -> bool:
    """Whether there are sentences of `waiting_sentences` and each ends with a freeze that is in force."""
    said, inputs = tuple(waiting), decision.inputs
    reasons = rollout.freezes_at(inputs.desired.freezes, inputs.now).reasons
    return bool(said) and all(sentence.endswith(reasons) for sentence in said)


def waiting_sentences(state: FleetState, decision: Decision, failures: Failures) -> tuple[str, ...]:
    """What failed, what each placement waits for, and that clusters are to be asked in the next pass, in a sentence
    each. Of those that are known to be silent nothing else is expected."""
    rolling: list[str] = []
    keepers, held = keepers_of(state), (removal for hold in state.holds.values() for removal in hold.removals)
    stopped = {removal.placement for removal in held if removal.kind is RemovalKind.PLACEMENT}
    for key, record in state.placements.items():
        plan = decision.plans.get(key)
        moving = _without_asking(_moving(record) if key in stopped else record, plan, decision)
        if lost := _left_by_runs(state, record):
            moving = replace(moving, bindings=tuple(one for one in moving.bindings if one not in lost))
        waits = failures.contain(Subject.of_placement(key), (), rollout.waiting_for, moving, plan)
        rolling += waits if waits and not kept_elsewhere(state, record, plan, keepers) else ()
        rolling += plan.waiting if plan is not None else ()
    rolling += decision.waiting
    observations = decision.inputs.observations
    left = [
        name for name, seen in observations.items() if not seen.asked and silent_from(state.clusters.get(name)) is None
    ]
    if left:
        rolling.append(LoopText.NO_TIME_ASK(left=named_briefly(left, 3)))
    return (*(f"{failure.subject}: {failure.sentence}" for failure in failures.found), *rolling)
