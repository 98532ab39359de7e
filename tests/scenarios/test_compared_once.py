"""`apply` compares an object with its manifest once in a reconcile; what `observe` says of it is that comparison."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from gitfleet.api.objects import JsonObject, ObjectKey
from gitfleet.apply import comparisons
from gitfleet.apply.texts import ApplyText
from tests import builders
from tests.scenarios.world import World

SETTINGS = ObjectKey("", "v1", "ConfigMap", "careful", "settings")
STRICT = {"comparisonOption": "FullComparison", "whenToApply": "IfNotDrifted"}


def fleet(*more: JsonObject) -> list[JsonObject]:
    """One cluster; `careful` leaves what drifted as it is, and `other` gets what `more` says."""
    careful = {**builders.rolling_update(), "applyStrategy": STRICT}
    return [
        builders.member_cluster("c1"),
        builders.namespace("careful"),
        builders.config_map("careful", "settings", {"k": "1"}),
        builders.placement("careful", strategy=careful),
        builders.namespace("other"),
        builders.placement("other"),
        *more,
    ]


class Counted:
    """A comparison that counts how often each pair is asked for."""

    def __init__(self, compare: Callable[..., Any]) -> None:
        self._compare = compare
        self.asked: Counter[tuple[str, ...]] = Counter()

    def __call__(self, wanted: JsonObject, live: JsonObject, **how: bool) -> Any:
        seen = live["metadata"]
        self.asked[seen["uid"], seen["resourceVersion"], seen["name"], str(wanted.get("data")), str(how)] += 1
        return self._compare(wanted, live, **how)


def test_an_object_is_compared_once_though_its_cluster_is_planned_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first plan is for the works that are there, the second for the new ones, with objects not observed before."""
    world = World()
    world.roll_out(*fleet())
    world.fleet.cluster("c1").mutate(SETTINGS, [{"op": "replace", "path": "/data/k", "value": "drifted"}])
    world.commit(*fleet(builders.config_map("other", "new", {"k": "1"})))
    counts = {name: Counted(getattr(comparisons, name)) for name in ("shape_digest", "find_differences")}
    for name, counted in counts.items():
        monkeypatch.setattr(comparisons, name, counted)
    result = world.driver.reconcile()
    assert [o.operation.key.name for o in result.outcomes] == ["new"]
    for counted in counts.values():
        assert any("settings" in pair for pair in counted.asked), "the object was compared"
        assert set(counted.asked.values()) == {1}


def test_what_a_binding_shows_of_an_object_is_what_apply_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """`observe` asks for no comparison of its own: with another answer of `apply`, it says the other one."""
    world = World()
    world.roll_out(*fleet())
    made_up = (("/data/never", "there", "wanted"),)
    monkeypatch.setattr(comparisons, "find_differences", lambda *_, **__: made_up)
    world.fleet.cluster("c1").mutate(SETTINGS, [{"op": "replace", "path": "/data/k", "value": "drifted"}])
    world.rest()
    binding = world.bindings("careful")["c1"]
    (failed,) = (found for found in binding.failed if found.key == SETTINGS)
    (drifted,) = (found for found in binding.drifted if found.key == SETTINGS)
    difference = ApplyText.IS_AND_SHOULD_BE(
        path="/data/never", there="there", wanted="wanted", by="", more_than_first=""
    )
    assert failed.reason == "FoundDrifts" and difference in failed.message
    assert drifted.details == made_up
