"""A person's approval of a hold, or refusal: an approval file of its name on the watched branch."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import replace
from typing import Final

from gitfleet.api.conditions import Condition, Reason, Status
from gitfleet.api.holds import APPROVED, OF_GATES, Hold, Removal, RemovalKind
from gitfleet.model.approvals import Asked, Verdict
from gitfleet.model.state import FleetState
from gitfleet.model.successors import is_held_for
from gitfleet.removals.going import content_of
from gitfleet.removals.kept import Kept

IN_PART: Final = "; a part of it is held no more, the rest still is"
"""What a reason ends with once some of its removals were taken back."""
Holds = Mapping[str, Hold]


def asked(hold: Hold) -> Asked:
    """What a hold asks of people."""
    return Asked(name=hold.name, digest=hold.digest, commit=hold.commit, after=hold.after, since=hold.since)


def answered(holds: Holds, verdicts: Mapping[str, Verdict]) -> dict[str, Hold]:
    """The holds with what the watched branch says about them now, whatever was recorded: who may write the state branch
    alone approves nothing. Answers that count for nothing are a condition of the hold."""
    return {name: _answered(hold, verdicts[name]) for name, hold in holds.items()}


def _answered(hold: Hold, verdict: Verdict) -> Hold:
    said = (verdict.answer,) if verdict.answer is not None else ()
    if verdict.waits:
        said = (
            Condition(
                type=APPROVED,
                status=Status.UNKNOWN,
                reason=Reason.APPROVAL_NOT_COUNTED.value,
                message=verdict.waits,
                last_transition_time=hold.since,
            ),
        )
    return hold if said == hold.conditions else replace(hold, conditions=said)


def pending(holds: Iterable[Hold]) -> tuple[Removal, ...]:
    """The removals of holds that are not approved: none of them may happen."""
    return tuple(removal for hold in holds if hold.answer is not Status.TRUE for removal in hold.removals)


def not_begun(holds: Iterable[Hold], before: FleetState) -> tuple[Removal, ...]:
    """`pending` without what is under way, since it was approved; what a hold of gates keeps had been given up before
    that."""
    return tuple(
        removal
        for hold in holds
        for removal in pending([hold])
        if is_held_for(hold, removal, *OF_GATES) or not _has_begun(removal, before)
    )


def _has_begun(removal: Removal, before: FleetState) -> bool:
    record = before.placements.get(removal.placement) if removal.placement is not None else None
    if record is None:
        return False
    if removal.kind is RemovalKind.PLACEMENT:
        return record.placement.deleting is not None
    latest, gone = record.latest_resources, removal.object
    if removal.kind is not RemovalKind.OBJECT or gone is None or latest is None:
        return False
    if record.lost_snapshots:  # the newest content may have had it
        return False
    return all(one.identity != gone.identity for _, one in content_of(latest))


def remaining(
    holds: Holds, before: Holds, kept: Kept, undecided: Iterable[Removal], taken: Container[str] = ()
) -> dict[str, Hold]:
    """The holds that go on: each with the removals that the newest commit still asks for and that take something away
    (not those `taken` over, by id).

    One whose removals were all taken back is gone. One that is approved stays for the decision that lets its removals
    happen, and is gone with the next one, but for removals that are `undecided`. A smaller set keeps the name and the
    digest: whoever approves the larger one approves each part of it.
    """
    left: dict[str, Hold] = {}
    late = {removal.id for removal in undecided}
    for name, hold in holds.items():
        if hold.answer is Status.TRUE:
            was_approved = name in before and before[name].answer is Status.TRUE
            removals = tuple(r for r in hold.removals if r.id in late) if was_approved else hold.removals
        else:
            removals = tuple(r for r in hold.removals if kept.asks_for(r) and r.id not in taken)
        if removals:
            left[name] = hold if removals == hold.removals else _part(hold, removals)
    return left


def _part(hold: Hold, removals: tuple[Removal, ...]) -> Hold:
    """A hold with some of its removals: the reasons that none of these waits for are gone, those of which a part is
    left say so."""
    every = tuple(range(len(hold.reasons)))
    waiting = {removal.id: removal.reasons or every for removal in removals}
    stay = sorted(set().union(*waiting.values()))
    lessened = {n for removal in hold.removals if removal.id not in waiting for n in removal.reasons or every}
    reasons = (
        replace(hold.reasons[n], message=f"{hold.reasons[n].message.removesuffix(IN_PART)}{IN_PART}")
        if n in lessened
        else hold.reasons[n]
        for n in stay
    )
    renumbered = (replace(removal, reasons=tuple(stay.index(n) for n in removal.reasons)) for removal in removals)
    return replace(hold, reasons=tuple(reasons), removals=tuple(renumbered))
