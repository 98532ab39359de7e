"""Work grows with the number of clusters and objects, not with its square: function calls are counted, not seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.objects import Identity
from gitfleet.api.placements import PlacementKey
from gitfleet.desired import read_desired
from gitfleet.model.desired import Desired
from gitfleet.model.removals import WantedObjects
from gitfleet.model.state import FleetState
from gitfleet.removals import JudgeRequest, OrphansMemo, OrphansRequest, judge, orphans_of
from gitfleet.views.explanation import recorded_plan
from tests import builders
from tests.desired.commits import request_of
from tests.removals.fleets import NOW, config_map, fleet, placed
from tests.scenarios.staged_world import EXTERNAL, members, one_stage, run, run_named
from tests.scenarios.world import World

Work = Callable[[], object]


def calls(work: Work) -> int:
    """How many functions a piece of work calls."""
    count = 0

    def note(frame: Any, event: str, arg: Any) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def explained(clusters: int) -> Work:
    """An External placement whose run has so many clusters in a stage."""
    world = World()
    names = [f"c{i}" for i in range(clusters)]
    web = builders.namespace("web"), builders.deployment("web", "web"), builders.placement("web", strategy=EXTERNAL)
    world.commit(*members(*names), *web, one_stage(), run())
    world.reconcile()
    record, go = world.state().placements[PlacementKey("", "web")], run_named(world, "go")
    assert not go.finished
    state = FleetState(runs={go.key: go})
    return lambda: recorded_plan(record, state, world.clock.now())


def frozen(size: int) -> Work:
    """A freeze by which each of many names is wrong, among as many placements."""
    scope = {"placements": [f"web-{n}-x" for n in range(10 * size)]}
    freeze = builders.freeze("f", "2099-01-01T00:00:00Z", scope=scope)
    placements = (builders.placement(f"web-{n}", "web") for n in range(10 * size))
    request = request_of({"a.yaml": builders.to_yaml(freeze, *placements, builders.namespace("web"))})
    assert len(read_desired(request).faults) >= 100
    return lambda: read_desired(request)


def judged(size: int) -> Work:
    """A commit by which each of many placements on many clusters loses an object."""
    clusters = [f"c{n}" for n in range(size)]
    records = [placed(PlacementKey("", f"p{n}"), clusters, config_map(f"a{n}")) for n in range(10)]
    state = fleet(*records)
    nothing = dict.fromkeys(clusters, frozenset[Identity]())
    state = replace(state, wanted=WantedObjects({record.placement.key: nothing for record in records}))

    def work() -> object:
        orphans, _ = orphans_of(OrphansRequest(state=state), OrphansMemo())
        request = JudgeRequest(desired=Desired(commit="d"), before=state, after=state, orphans=orphans, now=NOW)
        found = judge(request)
        assert len(found.holds) == 10 and len(orphans) == 10 * size
        return found

    return work


@pytest.mark.parametrize("work", [explained, frozen, judged])
def test_four_times_as_much_costs_four_times_as_much(
    work: Callable[[int], Work], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gitfleet.desired.checks.commit._MOST_COMPARED", 500)
    assert calls(work(40)) <= 5 * calls(work(10))
