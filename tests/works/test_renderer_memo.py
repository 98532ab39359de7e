"""What is kept of works saves work and nothing else: whatever part of one changes alone, it is rendered again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.bindings import Binding
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.overrides import JsonPatch
from gitfleet.api.placements import Placement
from gitfleet.api.snapshots import OverrideSnapshot, ResourceSnapshot
from gitfleet.api.strategies import ApplyStrategy
from gitfleet.model.failures import Failures
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.model.works import Work
from gitfleet.works import WorksMemo, render_fleet
from tests.works.builders import EAST, NAMESPACE, ROLE, SETTINGS, WEB, binding_of, override, rule, snapshot


class Renderer:
    """Renders one state after the other."""

    def __init__(self) -> None:
        self.memo: WorksMemo = WorksMemo()

    def works_of(self, state: FleetState) -> dict[str, tuple[Work, ...]]:
        failures = Failures()
        works, self.memo = render_fleet(state, self.memo, failures)
        assert not failures.found
        return works


FEW = override("few", NAMESPACE, rule(JsonPatch("add", "/metadata/labels", {"region": "eu"}), region="eu"))
OTHER = override("few", NAMESPACE, rule(delete=True))
RESOURCES = snapshot(NAMESPACE, SETTINGS)
BINDING = replace(binding_of(EAST), resource_snapshot=RESOURCES.name, cluster_resource_overrides=(FEW.reference,))


def state_of(
    *,
    binding: Binding = BINDING,
    resources: ResourceSnapshot = RESOURCES,
    few: OverrideSnapshot | None = FEW,
    cluster: MemberCluster = EAST,
) -> FleetState:
    """A fleet of one cluster with one placement and one override."""
    record = PlacementRecord(
        placement=Placement(key=WEB, selectors=()), bindings=(binding,), resource_snapshots=(resources,)
    )
    overrides = {} if few is None else {few.override.key: (few,)}
    return FleetState(placements={WEB: record}, overrides=overrides, clusters={EAST.name: cluster})


CHANGES: dict[str, Callable[[], FleetState]] = {
    "generation": lambda: state_of(binding=replace(BINDING, generation=8)),
    "snapshot": lambda: state_of(resources=snapshot(NAMESPACE, ROLE)),
    "apply strategy": lambda: state_of(binding=replace(BINDING, apply_strategy=ApplyStrategy(force_conflicts=True))),
    "override that is not there": lambda: state_of(few=None),
    "override that says something else": lambda: state_of(few=OTHER),
    "snapshot that was not loaded": lambda: state_of(resources=replace(RESOURCES, manifests=None)),
    "other references": lambda: state_of(binding=replace(BINDING, cluster_resource_overrides=())),
    "other references in the namespace": lambda: state_of(binding=replace(BINDING, resource_overrides=("web/few-0",))),
    "labels of the cluster": lambda: state_of(cluster=replace(EAST, labels={"region": "us"})),
    "labels that the rollout pinned": lambda: state_of(binding=replace(BINDING, override_labels=(("region", "us"),))),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_changed_alone_is_rendered_anew(change: str) -> None:
    first, then = state_of(), CHANGES[change]()
    renderer = Renderer()
    assert renderer.works_of(first) == Renderer().works_of(first)
    assert renderer.works_of(then) == Renderer().works_of(then)
    assert renderer.works_of(then) != Renderer().works_of(first), "the change must be one that is to be seen"
    assert renderer.works_of(first) == Renderer().works_of(first)


def test_what_did_not_change_is_the_very_same_work() -> None:
    renderer = Renderer()
    (first,) = renderer.works_of(state_of())[EAST.name]
    for _ in range(2):
        (again,) = renderer.works_of(state_of())[EAST.name]
        assert again is first


def test_another_fleet_or_other_overrides_are_seen_though_the_placement_is_the_same() -> None:
    state = state_of()
    changes: tuple[dict[str, Any], ...] = (
        {"clusters": {EAST.name: replace(EAST, labels={"region": "us"})}},
        {"overrides": {}},
    )
    for changed in changes:
        renderer = Renderer()
        renderer.works_of(state)
        then = replace(state, **changed)
        assert renderer.works_of(then) == Renderer().works_of(then) != Renderer().works_of(state)
        assert renderer.works_of(then) == Renderer().works_of(then)
