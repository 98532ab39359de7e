"""Holds: what is held back becomes a value with a name that a person can answer, and says what is true of it now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from typing import Final

from gitfleet.api.holds import (
    HOLD_PREFIX,
    OF_GATES,
    Cause,
    FieldPlace,
    Hold,
    HoldReason,
    HoldRule,
    Removal,
    RemovalKind,
    removals_digest,
)
from gitfleet.formats.sentences import named_briefly
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState
from gitfleet.model.successors import is_held_for
from gitfleet.removals.answers import pending
from gitfleet.removals.causes import Causes
from gitfleet.removals.going import content_of
from gitfleet.removals.judging import HeldBack
from gitfleet.removals.kept import Kept
from gitfleet.removals.placed import Losses, Overridden

_LONGEST_SUBJECT: Final = 60
_DIGITS: Final = 10
_MOST_NAMED: Final = 3


def new_holds(held: Iterable[HeldBack], commit: str, after: str, now: datetime) -> dict[str, Hold]:
    """A hold for each set of removals that waits, by name; `after` is the commit that was reconciled before. The
    name ends with the beginning of the digest, so that a file of that name answers this set and no other."""
    holds = {}
    for group in held:
        digest = removals_digest(commit, group.removals)
        name = f"{HOLD_PREFIX}{_subject(group.removals)}-{digest[:_DIGITS]}"
        holds[name] = Hold(
            name=name,
            commit=commit,
            after=after,
            since=now,
            digest=digest,
            reasons=group.reasons,
            removals=group.removals,
        )
    return dict(sorted(holds.items()))


def as_of_now(
    holds: Mapping[str, Hold], desired: Desired, before: FleetState, after: FleetState, overridden: Overridden
) -> dict[str, Hold]:
    """The holds of a decision with the causes and counts of what they hold now, where overrides delete what they are
    said to (`overridden`). One that says so already is the same object."""
    if not holds:
        return {}
    losses = Losses.between(before, after, Kept.of(pending(holds.values())), overridden)
    causes = Causes.between(before, after, desired)
    return {name: _as_of_now(hold, losses, causes) for name, hold in holds.items()}


def taken_over(holds: Mapping[str, Hold], before: FleetState, after: FleetState, overridden: Overridden) -> set[str]:
    """The held removals that take nothing away any more, by id: other placements take over all of it, on the same
    clusters. Where that is what is held (OF_GATES), those that had been given up before, and nobody takes over now.
    Not where nobody knows why it is held."""
    losses = Losses.between(before, after, Kept.of(pending(holds.values())), overridden) if holds else None
    return {
        removal.id
        for hold in holds.values()
        for removal in hold.removals
        if losses is not None
        and not is_held_for(hold, removal, HoldRule.UNREADABLE_HOLD)
        and removal.kind in (RemovalKind.OBJECT, RemovalKind.PLACEMENT, RemovalKind.BINDING)
        and (
            _is_taken_back(hold, removal, losses)
            if is_held_for(hold, removal, *OF_GATES)
            else losses.is_taken_over(removal)
        )
    }


def _is_taken_back(hold: Hold, removal: Removal, losses: Losses) -> bool:
    """Whether a placement had given an object up before the commit of a hold, and no other one wants it any more."""
    record = losses.before.placements.get(removal.placement) if removal.placement is not None else None
    if record is None or removal.object is None or losses.has_taker(removal):
        return False
    had = [(one.commit, any(k == removal.object for _, k in content_of(one))) for one in record.resource_snapshots]
    return any(new == (hold.commit, True) and not old[1] for old, new in pairwise(had))


def _as_of_now(hold: Hold, losses: Losses, causes: Causes) -> Hold:
    removals = tuple(
        removal if (cause := causes.of_held(removal)) == removal.cause else replace(removal, cause=cause)
        for removal in hold.removals
    )
    clusters = losses.counts(removals)
    now = replace(
        hold,
        reasons=_reasons(hold, removals),
        removals=removals,
        objects=sum(count.objects for count in clusters),
        clusters=clusters,
    )
    return hold if now == hold else now


def fields_of(holds: Mapping[str, Hold]) -> frozenset[FieldPlace]:
    """The fields whose lines the causes and reasons of some holds still lack."""
    causes = (removal.cause.field for hold in holds.values() for removal in hold.removals)
    reasons = (reason.field for hold in holds.values() for reason in hold.reasons)
    return frozenset(field for field in (*causes, *reasons) if field is not None)


def with_lines(holds: Mapping[str, Hold], lines: Mapping[FieldPlace, int]) -> dict[str, Hold]:
    """The holds with the lines of these fields."""
    return {name: _with_lines(hold, lines) for name, hold in holds.items()}


def _with_lines(hold: Hold, lines: Mapping[FieldPlace, int]) -> Hold:
    removals = tuple(
        replace(removal, cause=removal.cause.at_line(lines[field]))
        if (field := removal.cause.field) is not None and field in lines
        else removal
        for removal in hold.removals
    )
    reasons = tuple(one.at_line(lines[one.field]) if one.field and one.field in lines else one for one in hold.reasons)
    if (removals, reasons) == (hold.removals, hold.reasons):
        return hold
    return replace(hold, removals=removals, reasons=_reasons(replace(hold, reasons=reasons), removals))


def _reasons(hold: Hold, removals: Sequence[Removal]) -> tuple[HoldReason, ...]:
    return tuple(
        _with_causes(reason, (r.cause for r in removals if not r.reasons or number in r.reasons))
        for number, reason in enumerate(hold.reasons)
    )


def _with_causes(reason: HoldReason, causes: Iterable[Cause]) -> HoldReason:
    """A reason with the place of its first cause, and what happened at all of them."""
    known = [cause for cause in causes if cause.path]
    texts = named_briefly(list(dict.fromkeys(cause.text for cause in known)), _MOST_NAMED)
    path, line = (known[0].path, known[0].line) if known else ("", 0)
    return replace(reason, causes=texts, path=path, line=line)


def _subject(removals: Iterable[Removal]) -> str:
    """The placement or cluster that all removals are about, `fleet` where there are several."""
    found = {f"{r.placement}".replace("/", "-") if r.placement else r.cluster for r in removals}
    name = found.pop() if len(found) == 1 else "fleet"
    return name[:_LONGEST_SUBJECT].rstrip("-.")
