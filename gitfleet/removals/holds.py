"""New holds: what is held back becomes a value with a name that a person can answer."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from gitfleet.api.holds import HOLD_PREFIX, Hold, Removal, removals_digest
from gitfleet.removals.judging import HeldBack

_LONGEST_SUBJECT: Final = 60
_DIGITS: Final = 10


def new_holds(held: Iterable[HeldBack], commit: str, now: datetime) -> dict[str, Hold]:
    """A hold for each set of removals that waits, by name. The name ends with the beginning of the digest, so that a
    file of that name answers this set and no other."""
    holds = {}
    for group in held:
        digest = removals_digest(commit, group.removals)
        name = f"{HOLD_PREFIX}{_subject(group.removals)}-{digest[:_DIGITS]}"
        holds[name] = Hold(
            name=name,
            commit=commit,
            since=now,
            digest=digest,
            reasons=group.reasons,
            removals=group.removals,
            objects=group.objects,
            clusters=group.clusters,
        )
    return dict(sorted(holds.items()))


def _subject(removals: Iterable[Removal]) -> str:
    """The placement or cluster that all removals are about, `fleet` where there are several."""
    found = {f"{r.placement}".replace("/", "-") if r.placement else r.cluster for r in removals}
    name = found.pop() if len(found) == 1 else "fleet"
    return name[:_LONGEST_SUBJECT].rstrip("-.")
