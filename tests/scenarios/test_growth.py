"""Work grows with the number of clusters and objects, not with its square: function calls are counted, not seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.holds import HoldRule
from gitfleet.api.labels import LabelSelector
from gitfleet.api.objects import Manifest
from gitfleet.api.placements import Placement, PlacementKey, ResourceSelector
from gitfleet.desired.gates import gate_slips
from gitfleet.desired.readings import read_file
from gitfleet.desired.recovery import Recovery
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.model.successors import Successors
from gitfleet.removals import JudgeRequest, going, judge
from gitfleet.rollout import awaiting_successors
from gitfleet.views import Recorded, recorded_plan
from tests import builders
from tests.desired.commits import request_of
from tests.removals.fleets import config_map, fleet, none_overridden, placed
from tests.scenarios.staged_world import EXTERNAL, members, one_stage, run, run_named
from tests.scenarios.world import World

Work = Callable[[], object]
_LETTERS = str.maketrans("0123456789", "abcdefghij")


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


def handed_over(clusters: int) -> Work:
    """A placement that goes from so many clusters while one that has its objects on others stays."""

    def on(side: str) -> dict[str, Any]:
        terms = {"clusterSelectorTerms": [{"labelSelector": {"matchLabels": {"side": side}}}]}
        required = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
        return {"placementType": "PickAll", "affinity": {"clusterAffinity": required}}

    world, whole = World(), builders.rolling_update(maxUnavailable="100%")
    fleet = [m for side in "ab" for m in members(*(f"{side}{i}" for i in range(clusters)), side=side)]
    placements = [builders.placement(side, "web", policy=on(side), strategy=whole) for side in "ab"]
    world.commit(*fleet, builders.namespace("web"), builders.config_map("web", "a", {"k": "v"}), *placements)
    world.settle()
    state = world.state()
    going = state.placements[PlacementKey("", "a")]
    going = replace(going, placement=replace(going.placement, deleting=world.clock.now()))
    successors = Successors({**state.placements, going.placement.key: going}, state.clusters)
    return lambda: awaiting_successors(going, successors)


def explained(clusters: int) -> Work:
    """An External placement whose run has so many clusters in a stage."""
    world = World()
    names = [f"c{i}" for i in range(clusters)]
    web = builders.namespace("web"), builders.deployment("web", "web"), builders.placement("web", strategy=EXTERNAL)
    world.commit(*members(*names), *web, one_stage(), run())
    world.reconcile()
    record, go = world.state().placements[PlacementKey("", "web")], run_named(world, "go")
    assert not go.finished
    return lambda: recorded_plan(record, Recorded(now=world.clock.now(), runs=[go]))


def frozen(size: int) -> Work:
    """An edit of a freeze by which each of many names is wrong, among as many placements."""

    def naming(*names: str) -> dict[str, str]:
        scope = {"placements": list(names)}
        freeze = builders.freeze("f", "2099-01-01T00:00:00Z", scope=scope)
        return {"a.yaml": builders.to_yaml(freeze, builders.placement("web"))}

    request = request_of(naming(*(f"web-{n}-x" for n in range(10 * size))), before=naming("web-1"))
    parsed = request.files["a.yaml"].parsed
    assert parsed is not None
    edited, web = read_file("a.yaml", "", parsed, request.contents).objects
    assert isinstance(web.value, Placement)
    names = [f"web-{n}" for n in range(10 * size)]
    others = [
        replace(web, identity=(*web.identity[:3], name), value=replace(web.value, key=PlacementKey("", name)))
        for name in names
    ]
    recovery = Recovery(request)
    assert len(gate_slips([edited, *others[:2]], recovery, FleetState(), request.contents)) == 10 * size
    return lambda: gate_slips([edited, *others], recovery, FleetState(), request.contents)


def relabelled(size: int) -> Work:
    """A commit by which each of many objects loses its selector and nearly gets the label of another placement."""
    words = ["".join(letter * 2 for letter in f"{n:03}".translate(_LETTERS)) for n in range(10 * size)]

    def by(value: str) -> ResourceSelector:
        return ResourceSelector(group="", version="v1", kind="ConfigMap", label_selector=LabelSelector({"team": value}))

    def selecting(name: str, *selectors: ResourceSelector, has: Iterable[Manifest] = ()) -> PlacementRecord:
        record = placed(PlacementKey("", name), ["c1"], *has)
        return replace(record, placement=replace(record.placement, selectors=selectors))

    teams = [selecting(word, by(word), has=[config_map(word, team=word)]) for word in words]
    before = fleet(selecting("web", by("web"), has=[config_map(f"{word}-x", team="web") for word in words]), *teams)
    after = replace(before, placements={record.placement.key: record for record in (selecting("web"), *teams)})
    there = [config_map(word, team=word) for word in words]
    written = [*there, *(config_map(f"{word}-x", team=f"{word}x") for word in words)]
    desired, new = Desired(commit="d", payload=tuple(written)), going(before, after)
    request = JudgeRequest(desired=desired, before=before, after=after, new=new, overridden=none_overridden)
    typos = [one for held in judge(request) for one in held.reasons if one.rule is HoldRule.LIKELY_TYPO]
    assert len(new) == 10 * size and typos
    return lambda: judge(request)


@pytest.mark.parametrize("work", [handed_over, explained, frozen, relabelled])
def test_four_times_as_much_costs_four_times_as_much(
    work: Callable[[int], Work], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gitfleet.desired.present._MOST_COMPARED", 500)
    assert calls(work(40)) <= 5 * calls(work(10))
