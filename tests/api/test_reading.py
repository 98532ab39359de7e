"""What is read of people and of the state branch, whatever the kind."""

from __future__ import annotations

import re
from typing import Any

import pytest

from gitfleet.api import Break, InvalidContent, read, read_state
from gitfleet.api.conditions import Condition
from gitfleet.api.placements import PlacementPolicy
from gitfleet.api.staged import Stage
from gitfleet.api.texts import ApiText


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        ("3", (("numberOfClusters",), ApiText.MUST_WHOLE_NUMBER())),
        (3, (("clusterNames",), ApiText.NOT_GO_PLACEMENTTYPE(placement_type="PickN"))),
    ],
)
def test_a_rule_between_fields_is_judged_once_the_fields_are_sound(number: object, expected: Break) -> None:
    body = {"placementType": "PickN", "numberOfClusters": number, "clusterNames": ["a"]}
    assert read(PlacementPolicy, body)[1] == [expected]


def test_the_state_branch_is_read_whatever_a_newer_version_added() -> None:
    body: dict[str, Any] = {"name": "One", "afterStageTasks": [{"type": "Approval", "color": "red"}]}
    assert len(read_state(Stage, body).after_tasks) == 1
    with pytest.raises(InvalidContent, match=re.escape(f"`afterStageTasks` {ApiText.MUST_LIST_BEGIN_EACH_ITEM()}")):
        read_state(Stage, {**body, "afterStageTasks": {}})


def test_a_boolean_is_no_number_wherever_it_stands() -> None:
    sound = {"type": "Applied", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": 1}
    spoilt = {**sound, "observedGeneration": True}

    assert len(read_state(tuple[Condition, ...], [sound, sound])) == 2
    for conditions in ([spoilt], [sound, spoilt]):
        with pytest.raises(InvalidContent, match="observedGeneration"):
            read_state(tuple[Condition, ...], conditions)
