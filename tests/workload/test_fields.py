"""What differs between a workload and what a rollout wants of it."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.model.rollout_fields import ABSENT
from gitfleet.workload.goals import differing


@pytest.mark.parametrize(
    ("live", "wanted", "differs"),
    [
        ({}, 0, True),  # what a server has for an absent number may be another one: maxUnavailable is 25% then
        ({"a": 0}, ABSENT, True),
        ({"a": 0}, 0, False),
        ({}, False, False),
        ({"a": False}, ABSENT, False),
        ({"a": False}, False, False),
        ({"a": True}, False, True),
        ({"a": True}, ABSENT, True),
        ({}, ABSENT, False),
        ({}, True, True),
        ({"a": ""}, ABSENT, True),
        ({"a": "25%"}, "25%", False),
    ],
)
def test_what_differs(live: dict[str, Any], wanted: Any, differs: bool) -> None:
    body = {"spec": live}
    assert differing(body, {"/spec/a": wanted}) == ({"/spec/a": wanted} if differs else {})
