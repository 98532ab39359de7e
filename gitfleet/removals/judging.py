"""Which removals of a commit must wait for a person's approval."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from gitfleet.api.conditions import Status
from gitfleet.api.faults import Fault, errors_of
from gitfleet.api.holds import Hold, HoldReason, Removal, RemovalKind
from gitfleet.model.desired import Desired
from gitfleet.model.failures import Failures
from gitfleet.model.state import FleetState
from gitfleet.removals.causes import Causes
from gitfleet.removals.gains import Gains
from gitfleet.removals.gated import Gates
from gitfleet.removals.kept import Kept
from gitfleet.removals.placed import Losses, Overridden
from gitfleet.removals.shares import Asked, Finding, shares_exceeded
from gitfleet.removals.suspicions import Suspicions
from gitfleet.removals.takers import Takers
from gitfleet.removals.unanswered import held_before
from gitfleet.removals.unclear import changed_meanwhile, of_kept_payload, of_misnamed, unclear
from gitfleet.removals.unfinished import Brought

MOST_REASONS: Final = 20
"""So many reasons of one hold are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRequest:
    """A decision on `desired`, from `before` to `after`; the removals that it would begin, those that are `waiting` for
    the end of a Pin, those of earlier commits that are `handed` on to others now, and those that are held already; what
    overrides delete of placements, and what stops them. `holds` are the earlier ones with their answers, `ended` those
    that ended by themselves."""

    desired: Desired
    before: FleetState
    after: FleetState
    new: tuple[Removal, ...]
    waiting: tuple[Removal, ...] = ()
    handed: tuple[Removal, ...] = ()
    held: tuple[Removal, ...] = ()
    holds: tuple[Hold, ...] = ()
    ended: tuple[Hold, ...] = ()
    overridden: Overridden
    gates: Gates = Gates()
    failures: Failures = field(default_factory=Failures)
    """What could not be read is noted here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldBack:
    """Removals that wait together, each with its cause, and why."""

    reasons: tuple[HoldReason, ...]
    removals: tuple[Removal, ...]


def judge(request: JudgeRequest) -> tuple[HeldBack, ...]:
    """The removals that are held, each once: findings that share a removal wait together. What takes nothing from any
    cluster is let through, unless it is one of too many clusters."""
    losses = Losses.between(request.before, request.after, Kept.of(request.held), request.overridden)
    causes = Causes.between(request.before, request.after, request.desired)
    late = (one for one in request.waiting if _is_new(one, causes, request))
    new = {one: losses.of(one) for one in (*request.new, *late) if not _is_replaced(one, causes, losses)}
    held = {one: losses.of(one) for one in request.held}
    brought = Brought.between(request.before, request.after, losses.kept, (*new, *held), request.failures)
    new = brought.without(new, request.desired.taken_back)
    asked = Asked(new=brought.without(new), held=brought.without(held))
    shares = shares_exceeded(asked, request.before, losses.placed, request.desired.config.mass_delete)
    approved = (removal.id for hold in request.holds if hold.answer is Status.TRUE for removal in hold.removals)
    takers = Takers(request.before, request.after, losses, frozenset(approved))
    gains = Gains(causes, losses)
    suspicions = Suspicions(request.desired, request.before, request.after, new, causes, losses, takers, gains)
    handed = (one for one in request.handed if losses.has(one))
    gates = request.gates.lost(request.before, request.after, (*request.new, *handed), losses)
    found = [*shares, *suspicions.found(), *gates, *held_before(request.holds, new, takers, losses)]
    known = {removal.id for finding in found for removal in finding.removals}
    rest = [removal for removal, cells in new.items() if cells and removal.id not in known]
    rest = [one for one in rest if one.kind is not RemovalKind.STRATEGY]
    found += unclear(request.desired.unclear, rest, _known(request))
    taken = {removal: new[removal] for removal in rest}
    found += of_kept_payload(request.desired, taken, causes)
    found += of_misnamed(request.desired, taken, causes)
    found += changed_meanwhile(request.ended, rest, request.before.observed_commit)
    return tuple(_held_back(group, causes) for group in _joined(found))


def _is_new(removal: Removal, causes: Causes, request: JudgeRequest) -> bool:
    """Whether it is this commit that takes an object out of a selection, which a Pin keeps for now: it is not written
    any more, or the selectors are others. What lost it by labels is held since then, unless that hold may be lost."""
    key = removal.placement
    old, new = (state.placements.get(key) if key is not None else None for state in (request.before, request.after))
    edited = old is None or new is None or old.placement.selectors != new.placement.selectors
    lost = causes.is_written(removal) and causes.selectors_of(removal) != ()
    is_unknown = bool(request.before.damage.lost_holds)
    return is_unknown or edited or lost or causes.vanished(removal) is not None


def _known(request: JudgeRequest) -> Sequence[Fault]:
    """What was unclear before this commit; nothing where one error is corrected, since what that kept back takes effect
    now."""
    before = request.before
    if not errors_of(before.faults) <= errors_of(request.desired.faults):
        return ()
    waited = {reason.unread for hold in before.holds.values() for reason in hold.reasons}
    return (*before.faults, *(place for place in request.desired.unclear if place.path in waited))


def _is_replaced(removal: Removal, causes: Causes, losses: Losses) -> bool:
    """Whether kustomize generates the object under another hash now, and that one is placed: nobody misses it."""
    found = causes.vanished(removal)
    return found is not None and found.replaced and found.successor is not None and losses.is_wanted(found.successor)


def _joined(findings: Iterable[Finding]) -> list[list[Finding]]:
    """The findings, those with a removal in common put together."""
    found = list(findings)
    leaders, first = list(range(len(found))), dict[str, int]()

    def leader(number: int) -> int:
        while leaders[number] != number:
            leaders[number] = number = leaders[leaders[number]]
        return number

    for number, finding in enumerate(found):
        for removal in finding.removals:
            leaders[leader(number)] = leader(first.setdefault(removal.id, number))
    groups: dict[int, list[Finding]] = {}
    for number, finding in enumerate(found):
        groups.setdefault(leader(number), []).append(finding)
    return sorted(groups.values(), key=lambda group: min(removal.id for one in group for removal in one.removals))


def _held_back(findings: list[Finding], causes: Causes) -> HeldBack:
    every = {removal.id: removal for finding in findings for removal in finding.removals}
    shown = findings[:MOST_REASONS]
    numbers: dict[str, list[int]] = {}
    for number, finding in enumerate(shown):
        for removal in finding.removals:
            numbers.setdefault(removal.id, []).append(number)
    removals = []
    for id_, removal in sorted(every.items()):
        mine = tuple(numbers.get(id_, ()))
        removals.append(replace(removal, cause=causes.of(removal), reasons=mine if len(mine) < len(shown) else ()))
    return HeldBack(reasons=tuple(finding.reason for finding in shown), removals=tuple(removals))
