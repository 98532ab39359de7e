"""What a later commit wants that its base did not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.objects import Origin
from gitfleet.api.rollout_plans import RolloutPlan
from gitfleet.api.staged import Eviction
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_rollouts import ROLLOUTS, RolloutTrait, WorkloadReference
from gitfleet.loop.rolled_out import since
from gitfleet.model.desired import Desired

EVICTION = Eviction(name="off", placement_name="web", cluster_name="c1")
WORKLOAD = WorkloadReference(api_version="apps/v1", kind="Deployment", name="web")
ROLLOUT = RolloutTrait(key=NamespacedName("web", "web"), target_ref=WORKLOAD, rollout_plan=RolloutPlan(num_batches=4))
MOVED = Origin("elsewhere.yaml", 1, "b")


@pytest.mark.parametrize(
    ("part", "old", "new", "remains"),
    [
        ("evictions", None, EVICTION, True),
        ("evictions", EVICTION, replace(EVICTION, cluster_name="c2"), False),
        (ROLLOUTS, None, ROLLOUT, True),
        (ROLLOUTS, ROLLOUT, replace(ROLLOUT, origin=MOVED), False),
        (ROLLOUTS, ROLLOUT, replace(ROLLOUT, rollout_plan=RolloutPlan(num_batches=5)), True),
    ],
)
def test_what_the_base_had_is_over_but_for_rollouts_that_are_edited(
    part: str, old: Any, new: Any, remains: bool
) -> None:
    base = Desired(commit="a", objects={part: {"k": old}} if old is not None else {})
    later = Desired(commit="b", objects={part: {"k": new}})
    assert bool(since(base, later).objects[part]) is remains
