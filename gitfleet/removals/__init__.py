"""removals: what one commit takes away is compared with what is placed, and held where it may be an accident.

    going               what a decision takes away that nothing took away before
    waiting_for_pins    what it takes away once a Pin has ended
    handed_on           what was given up before it, and others newly select
    judge               which of these must wait for a person's approval, and why
    Gates               what stops placements, and counts for nothing where others take over what they have
    Kept                the same removals by what must be kept for them
    still_wanted        what people want, and the placements and clusters that stay
    pending             the removals of holds that nobody has approved
    not_begun           those of them that are not under way
    answered            the holds with their answers
    remaining           the holds that are still asked for
    without_corrected   the holds without those that waited for errors which are corrected
    deleted_still       what overrides delete of that which such holds have kept
    new_holds           the holds of this commit
    taken_over          what is held and takes nothing away any more
    as_of_now           the holds with the counts and causes of what they hold now
    fields_of           the fields whose lines are to be found in the files
    with_lines          the holds with these lines

Forbidden here: selecting, scheduling, reading files. Nothing is counted as a removal that the state does not know as
placed, so a fleet without a state holds nothing.

Source: decisions D25, D31 and D33.
"""

from gitfleet.removals.answers import answered, asked, not_begun, pending, remaining
from gitfleet.removals.gated import Gates
from gitfleet.removals.going import going, handed_on, waiting_for_pins
from gitfleet.removals.holds import as_of_now, fields_of, new_holds, taken_over, with_lines
from gitfleet.removals.judging import HeldBack, JudgeRequest, judge
from gitfleet.removals.kept import Kept, still_wanted
from gitfleet.removals.unclear import deleted_still, without_corrected

__all__ = [
    "Gates",
    "HeldBack",
    "JudgeRequest",
    "Kept",
    "answered",
    "as_of_now",
    "asked",
    "deleted_still",
    "fields_of",
    "going",
    "handed_on",
    "judge",
    "new_holds",
    "not_begun",
    "pending",
    "remaining",
    "still_wanted",
    "taken_over",
    "waiting_for_pins",
    "with_lines",
    "without_corrected",
]
