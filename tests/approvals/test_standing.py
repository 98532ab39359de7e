"""Answers that only stand another way than in an earlier commit: whether somebody has answered again."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from gitfleet.api.conditions import Condition, Status
from gitfleet.api.staged import DIGEST, Approval
from gitfleet.api.values import NamespacedName
from gitfleet.approvals import standing
from gitfleet.formats.times import EPOCH
from gitfleet.model.approvals import Asked, by_request

AT = datetime(2026, 1, 1, 12, tzinfo=UTC)
ASKED = Asked(name="go-canary", digest="d", commit="c")
YES = Condition(type="Approved", status=Status.TRUE, reason="Fine", message="looks good", last_transition_time=AT)


def answer(name: str = "go-canary", condition: Condition | None = YES, digest: str | None = "d") -> Approval:
    """An approval of the stage canary of the run go."""
    return Approval(
        key=NamespacedName("", name),
        conditions=() if condition is None else (condition,),
        annotations={} if digest is None else {DIGEST: digest},
        parent_run="go",
        target_stage="canary",
    )


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        (answer(), answer(), True),
        (answer(), answer(condition=replace(YES, reason="", message="other words")), True),
        (answer(), answer(condition=replace(YES, last_transition_time=EPOCH)), True),
        (answer(), answer(digest=None), True),
        (answer(digest=None), answer(), False),
        (answer(digest=None), answer(digest=None), True),
        (answer(), answer(digest="e"), False),
        (answer(), replace(answer(), parent_run=None), True),
        (answer(), replace(answer(), target_stage=None), True),
        (replace(answer(), parent_run=None), answer(), True),
        (replace(answer(), target_stage=None), answer(), True),
        (answer(), replace(answer(), parent_run="up"), False),
        (answer(), replace(answer(), target_stage="prod"), False),
        (answer(), answer(condition=replace(YES, last_transition_time=AT + timedelta(seconds=1))), False),
        (answer(condition=replace(YES, last_transition_time=EPOCH)), answer(), False),
        (answer(), answer(condition=replace(YES, status=Status.FALSE)), False),
        (answer(), answer(condition=None), False),
        (answer(condition=None), answer(), False),
        (answer(condition=None), answer(condition=None), False),
    ],
)
def test_whether_somebody_answered_again(old: Approval, new: Approval, same: bool) -> None:
    assert standing(ASKED, new, {new.key: new}, by_request([old])) == (old if same else None)


@pytest.mark.parametrize(
    ("before", "now", "found"),
    [
        ([], [], None),
        (["go-canary"], [], "go-canary"),
        (["go-canary.ann", "go-canary.2"], [], "go-canary.2"),
        (["go-canary.ann"], [], "go-canary.ann"),
        (["go-canary.2"], ["go-canary.2"], None),
        (["go-canary", "go-canary.ann"], [], "go-canary"),
        (["go-canary.2", "go-canary.ann"], ["go-canary.2"], "go-canary.ann"),
        (["go-prod"], [], None),
    ],
)
def test_an_answer_stood_under_its_name_or_under_one_that_is_gone(
    before: list[str], now: list[str], found: str | None
) -> None:
    new = answer("go-canary")
    there = {one.key: one for one in (new, *map(answer, now))}
    assert standing(ASKED, new, there, by_request(map(answer, before))) == (found and answer(found))
