"""Runs and evictions of a placement whose file has an error and that was never accepted: they wait, and say so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gitfleet.api.faults import Fault, Severity
from gitfleet.api.objects import Origin
from gitfleet.api.placements import Placement, PlacementKey
from gitfleet.api.staged import Eviction, StagedRun
from gitfleet.api.values import NamespacedName
from gitfleet.model.decisions import Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState
from gitfleet.reconcile.evictions import with_errors_waited_for
from tests.rollout.builders import NOW
from tests.state.builders import record

WEB, INNER, SHOP, API = (PlacementKey(*names) for names in (("", "web"), ("x", "web"), ("", "shop"), ("", "api")))
GO = StagedRun(
    key=NamespacedName("", "go"), placement_name="web", strategy_name="all", origin=Origin("runs/go.yaml", 5)
)
UP = replace(GO, key=NamespacedName("x", "up"), origin=Origin("runs/up.yaml", 2))
OUT = Eviction(name="out", placement_name="web", cluster_name="c1", origin=Origin("evictions/out.yaml", 1))
RUNS = [GO, UP, replace(GO, key=NamespacedName("", "shop"), placement_name="shop")]
EVICTIONS = [OUT, replace(OUT, name="shop", placement_name="shop"), replace(OUT, name="api", placement_name="api")]
MISREAD = {
    key: Fault(f"placements/{number}.yaml", 1, f"{key.kind}/{key}", "", "is wrong")
    for number, key in enumerate((WEB, INNER, SHOP, API))
}
NOT_THERE = [
    Fault(path, line, name, "spec.placementName", "names no placement")
    for path, line, name in (
        ("evictions/out.yaml", 1, "ClusterResourcePlacementEviction/out"),
        ("runs/go.yaml", 5, "ClusterStagedUpdateRun/go"),
        ("runs/up.yaml", 2, "StagedUpdateRun/x/up"),
    )
]
OTHERS = [
    replace(NOT_THERE[1], path="runs/other.yaml"),
    replace(NOT_THERE[1], object="ClusterStagedUpdateRun/other"),
    replace(NOT_THERE[1], field="spec.x", message="is wrong"),
]
UNTIL = "waits until the error at {}:1 is corrected, as {} may be there"


def commit(*names: PlacementKey) -> Inputs:
    """A commit in which the files of these placements have errors; one is there, and one was accepted before."""
    objects: dict[str, Mapping[Any, Any]] = {
        "placements": {SHOP: Placement(key=SHOP, selectors=())},
        "runs": {one.key: one for one in RUNS},
        "evictions": {one.name: one for one in EVICTIONS},
    }
    wrong = [MISREAD[key] for key in names]
    desired = Desired(commit="d", objects=objects, faults=tuple(sorted((*NOT_THERE, *OTHERS, *wrong))))
    return Inputs(desired=desired, before=FleetState(placements={API: record("api")}), observations={}, now=NOW)


def test_what_names_a_placement_with_an_error_waits_and_nothing_else_does() -> None:
    """With a warning in the place of the error that the placement is not there."""
    given = commit(*MISREAD)
    web, inner = "ClusterResourcePlacement web", "ResourcePlacement x/web"
    waits = [
        replace(fault, field="", message=UNTIL.format(path, name), severity=Severity.WARNING)
        for fault, path, name in zip(
            NOT_THERE, ["placements/0.yaml"] * 2 + ["placements/1.yaml"], [web, web, inner], strict=True
        )
    ]
    objects = {**given.desired.objects, "runs": {RUNS[2].key: RUNS[2]}, "evictions": {e.name: e for e in EVICTIONS[1:]}}
    expected = replace(given.desired, objects=objects, faults=tuple(sorted((*OTHERS, *waits, *MISREAD.values()))))
    assert with_errors_waited_for(given) == replace(given, desired=expected)


def test_where_the_placement_is_there_or_was_nothing_waits() -> None:
    for names in ((), (SHOP,), (API,), (SHOP, API)):
        given = commit(*names)
        assert with_errors_waited_for(given) is given
