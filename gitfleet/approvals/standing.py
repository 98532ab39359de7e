"""Approvals that only stand another way: reformatted, renamed, moved into another file, and not given again."""

from __future__ import annotations

from collections.abc import Mapping

from gitfleet.api.conditions import find_condition
from gitfleet.api.holds import APPROVED
from gitfleet.api.staged import Approval
from gitfleet.api.values import NamespacedName
from gitfleet.approvals.naming import given
from gitfleet.formats.times import EPOCH
from gitfleet.model.approvals import Asked, ByRequest

Approvals = Mapping[NamespacedName, Approval]


def standing(asked: Asked, approval: Approval, now: Approvals, before: ByRequest) -> Approval | None:
    """The approval of a request among those of an earlier commit that gave the same answer as `approval`, one of those
    that there are `now`: under its name, or under one that is gone. None where the answer came later."""
    found = (old for old in given(asked, before) if old.key == approval.key or old.key not in now)
    same = [old for old in found if _is_same(old, approval)]
    return min(same, key=lambda old: old.key != approval.key, default=None)


def _is_same(old: Approval, new: Approval) -> bool:
    """Whether nobody answered again. The words of an answer, what it leaves out now, and its format are no answer."""
    before, after = (find_condition(one.conditions, APPROVED) for one in (old, new))
    if before is None or after is None or before.status is not after.status:
        return False
    named = ((old.parent_run, new.parent_run), (old.target_stage, new.target_stage))
    return (
        after.last_transition_time in (before.last_transition_time, EPOCH)
        and new.digest in (old.digest, None)
        and all(None in both or both[0] == both[1] for both in named)
    )
