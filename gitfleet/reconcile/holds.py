"""Deciding with holds: what a commit would remove by accident is kept, the rest of the decision goes out.

    decide_with_holds   decide -> what would go? -> judge -> decide again with that kept

Only a commit that removes too much is decided more than once.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from dataclasses import replace
from functools import partial
from typing import TypeVar

from gitfleet import approvals, removals, rollout, status, works
from gitfleet.api.conditions import Status
from gitfleet.api.faults import Fault
from gitfleet.api.holds import Hold, Removal, RemovalKind
from gitfleet.api.placements import PlacementKey
from gitfleet.errors import GiveUp
from gitfleet.model.approvals import Verdict
from gitfleet.model.decisions import Decision, Inputs
from gitfleet.model.failures import Failures, Subject
from gitfleet.reconcile.gates import Gates
from gitfleet.reconcile.run_approvals import wrong_approvals

Memo = TypeVar("Memo")


def decide_with_holds(
    inputs: Inputs, decide: Callable[[removals.Kept], tuple[Decision, Memo, removals.Kept]]
) -> tuple[Decision, Memo]:
    """The decision in which no removal happens that must wait for a person, with the holds that say so.

    `decide` gives the decision under which what it is given stays, and what of it the commit has no more. GiveUp when
    something goes in spite of that, so that nothing is done.
    """
    before, wanted = inputs.before, inputs.desired
    gates, verdicts = _gates(inputs), _verdicts(inputs)
    answered = removals.answered(before.holds, verdicts)
    holds = gates.without_ended(removals.without_corrected(answered, wanted.faults, wanted.read_again), before)
    approved = {removal.id for hold in holds.values() if hold.answer is Status.TRUE for removal in hold.removals}
    held, every = removals.not_begun(holds.values(), before), tuple(holds.values())
    ended = tuple(hold for name, hold in before.holds.items() if name not in holds)
    known = partial(removals.JudgeRequest, desired=wanted, before=before, holds=every, ended=ended, gates=gates)
    fresh: dict[str, Hold] = {}
    while True:
        decision, memo, kept = decide(removals.Kept.of(held, wanted.payload))
        overridden, failures = works.deleted_on(decision.after, decision.overrides), Failures(decision.failures)
        every_deleted = (*decision.deletions, *removals.deleted_still(ended, decision.after, overridden))
        deleted = {removal.id: removal for removal in every_deleted if not kept.asks_for(removal)}.values()
        begun = (*removals.going(before, decision.after), *deleted)
        evicted = rollout.evicted_since(before.evictions, decision.after.evictions)  # a person asked for it
        new = tuple(r for r in begun if r.id not in approved and not _is_evicted(r, evicted))
        if lost := {removal.id for removal in held}.intersection(removal.id for removal in new):
            raise GiveUp(f"the removal of {min(lost)} is held and would happen all the same")
        asked = tuple(removal for removal in held if kept.asks_for(removal))
        request = known(after=decision.after, new=new, held=asked, overridden=overridden, failures=failures)
        request = _with_gated(request, decision, approved.union(removal.id for removal in held))
        groups = removals.judge(request) if request.new or request.waiting or request.handed else ()
        if not groups:
            break
        fresh |= removals.new_holds(groups, wanted.commit, before.observed_commit or "", inputs.now)
        held = (*held, *(removal for group in groups for removal in group.removals))
    late = (*_undecided(holds.values(), kept, failures), *removals.waiting_for_pins(decision.after, failures))
    taken = removals.taken_over(before.holds, before, decision.after, overridden)
    left = removals.remaining(holds, before.holds, kept, late, taken)
    uncounted = [fault for name in left for fault in verdicts[name].faults if verdicts[name].answer is None]
    now = removals.as_of_now({**left, **fresh}, wanted, before, decision.after, overridden)
    return _until_freezes_end(_with_holds(replace(decision, failures=failures.found), now, uncounted), gates), memo


def _verdicts(inputs: Inputs) -> dict[str, Verdict]:
    """What the watched branch says about each hold."""
    wanted, policy, facts = inputs.desired, inputs.desired.config.approvals, inputs.approvals
    return {
        name: approvals.judge(asked, approvals.given(asked, wanted.approvals_by_request), facts, policy, inputs.now)
        for name, asked in ((name, removals.asked(hold)) for name, hold in inputs.before.holds.items())
    }


def _with_gated(request: removals.JudgeRequest, decision: Decision, known: Container[str]) -> removals.JudgeRequest:
    """The request with what waits for the end of a gate and is not `known`, where a commit is decided for the first
    time, or the holds of an earlier decision are lost."""
    if request.desired.commit == request.before.observed_commit and not request.before.damage.lost_holds:
        return request
    waiting = removals.waiting_for_pins(decision.after, request.failures)
    handed = removals.handed_on(request.before, decision.after, request.failures)
    waiting, handed = (tuple(one for one in every if one.id not in known) for every in (waiting, handed))
    return replace(request, waiting=waiting, handed=handed)


def _gates(inputs: Inputs) -> removals.Gates:
    wanted, before = inputs.desired, inputs.before
    gates = Gates.of(inputs, before.clusters)
    return removals.Gates(
        frozen=gates.frozen,
        pinned=before.placements if wanted.holds_removals else gates.pins,
        quarantined=gates.quarantines,
    )


def _until_freezes_end(decision: Decision, gates: removals.Gates) -> Decision:
    """The decision with what is held for freezes alone: that is decided again at their end."""
    holds = decision.after.holds.items()
    found = {name: end for name, hold in holds if (end := gates.until(hold, decision.inputs.before)) is not None}
    waiting = (f"{name} waits for an approval: {end.reason}" for name, end in found.items())
    ends = (decision.wake_at, *(end.until for end in found.values()))
    wake_at = min((end for end in ends if end is not None), default=None)
    return replace(decision, wake_at=wake_at, waiting=(*decision.waiting, *waiting)) if found else decision


def _is_evicted(removal: Removal, evicted: Container[tuple[PlacementKey, str]]) -> bool:
    key = removal.placement
    return removal.kind is RemovalKind.BINDING and key is not None and (key, removal.cluster) in evicted


def _undecided(holds: Iterable[Hold], kept: removals.Kept, failures: Failures) -> Iterable[Removal]:
    """Removals about which this pass decided nothing, because deciding on their placement or cluster failed, or because
    the override that deletes stays as it was on their cluster, for another hold."""
    for hold in holds:
        for removal in hold.removals:
            key = removal.placement
            subject = Subject.of_placement(key) if key is not None else Subject("MemberCluster", removal.cluster)
            waiting = kept.overridden.get(key, {}) if key is not None else {}
            if subject in failures or (removal.kind is RemovalKind.OVERRIDDEN and removal.cluster in waiting):
                yield removal


def _with_holds(decision: Decision, holds: dict[str, Hold], uncounted: Iterable[Fault]) -> Decision:
    inputs, after = decision.inputs, decision.after
    before = inputs.before
    same = holds.keys() == before.holds.keys() and all(holds[name] is before.holds[name] for name in holds)
    warnings = (*uncounted, *wrong_approvals(holds.values(), before, inputs.desired))
    after = replace(
        after,
        holds=before.holds if same else dict(sorted(holds.items())),
        faults=(*after.faults, *warnings) if warnings else after.faults,
    )
    held = replace(decision, after=status.with_holds(after, before, inputs.now))
    return replace(held, after=status.with_kept(held))
