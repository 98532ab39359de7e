"""removals: the gate that every deletion passes (docs/removal.md).

    orphans_of     what clusters own and no placement wants there, with the kind of each
    judge          which orphans are held by which rules, and the gate that follows
    recorded_gate  the gate as the pass before left it
    asked          what a hold asks of people

Forbidden here: rendering, scheduling, reading files. The caller says what is wanted and what is in the repo.
"""

from gitfleet.removals.judging import Judgement, JudgeRequest, asked, judge, recorded_gate
from gitfleet.removals.orphans import Orphan, OrphanKind, OrphansMemo, OrphansRequest, orphans_of

__all__ = [
    "JudgeRequest",
    "Judgement",
    "Orphan",
    "OrphanKind",
    "OrphansMemo",
    "OrphansRequest",
    "asked",
    "judge",
    "orphans_of",
    "recorded_gate",
]
