"""Which evictions are decided in a pass, which wait, and which are remembered."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.conditions import Status
from gitfleet.api.faults import Fault, Severity
from gitfleet.api.objects import Origin
from gitfleet.api.placements import PlacementKey
from gitfleet.api.staged import DisruptionBudget, Eviction
from gitfleet.model.decisions import Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.rolling import Frozen
from gitfleet.model.state import FleetState
from gitfleet.reconcile.evictions import asked_for, decided_elsewhere, remembered, undecided
from gitfleet.reconcile.texts import ReconcileText
from gitfleet.rollout import evicted_elsewhere
from gitfleet.status.texts import StatusText
from tests.rollout.builders import NOW, condition

WEB, SHOP = PlacementKey("", "web"), PlacementKey("", "shop")


def of(name: str, placement: str = "web", cluster: str = "c1") -> Eviction:
    """An eviction as people write it."""
    place = Origin(f"evictions/{name}.yaml", 3)
    return Eviction(name=name, placement_name=placement, cluster_name=cluster, origin=place)


A, B, C, D = of("a"), of("b", "shop"), of("c"), of("d", cluster="c2")


def wanted(*evictions: Eviction, faults: tuple[Fault, ...] = (), budgets: tuple[str, ...] = (), **more: Any) -> Desired:
    """A commit with these evictions."""
    objects: dict[str, Any] = {
        "evictions": {one.name: one for one in evictions},
        "budgets": {name: DisruptionBudget(name=name, min_available=1) for name in budgets},
    }
    return Desired(commit="c", objects=objects, faults=faults, **more)


def error(path: str, object_: str = "", severity: Severity = Severity.ERROR) -> Fault:
    """What is wrong in a file."""
    return Fault(path, 1, object_, "", "is wrong", severity)


UNREAD = error("budgets/web.yaml")
OF_WEB = error("budgets/all.yaml", "ClusterResourcePlacementDisruptionBudget/web")
BOTH = {WEB: (A, C), SHOP: (B,)}


OF_C1 = error("clusters/all.yaml", "MemberCluster/c1")
OF_SHOP = error("placements/shop.yaml", "ClusterResourcePlacement/shop")


def refused(fault: Fault) -> str:
    return ReconcileText.HAS_ERRORS_CORRECT_FIRST(object=fault.object or "budgets", place=f"{fault.path}:{fault.line}")


@pytest.mark.parametrize(
    ("desired", "known", "asked", "waiting"),
    [
        (wanted(), {}, {}, {}),
        (wanted(C, B, A), {}, BOTH, {}),
        (wanted(A, B, C), {"a": A}, {WEB: (C,), SHOP: (B,)}, {}),
        (wanted(A), {"a": A}, {}, {}),
        (
            wanted(A, B, C, faults=(UNREAD,)),
            {},
            {},
            {name: refused(UNREAD) for name in "abc"},
        ),
        (wanted(A, B, C, faults=(UNREAD,), budgets=("web",)), {}, {WEB: (A, C)}, {"b": refused(UNREAD)}),
        (wanted(A, B, C, faults=(OF_WEB,)), {}, {SHOP: (B,)}, {"a": refused(OF_WEB), "c": refused(OF_WEB)}),
        (wanted(A, B, C, faults=(OF_WEB,), budgets=("web",)), {}, BOTH, {}),
        (wanted(A, B, C, faults=(error("placements/web.yaml"),)), {}, BOTH, {}),
        (wanted(A, B, C, faults=(error("budgets/web.yaml", severity=Severity.WARNING),)), {}, BOTH, {}),
        (wanted(A, B, D, faults=(OF_SHOP, OF_C1)), {}, {WEB: (D,)}, {"a": refused(OF_C1), "b": refused(OF_C1)}),
        (wanted(A, B, D, faults=(OF_SHOP,)), {}, {WEB: (A, D)}, {"b": refused(OF_SHOP)}),
        (wanted(A, B, faults=(replace(OF_C1, severity=Severity.WARNING),)), {}, {WEB: (A,), SHOP: (B,)}, {}),
        (wanted(A, faults=(OF_C1, OF_WEB)), {}, {}, {"a": refused(OF_C1)}),
    ],
)
def test_an_eviction_is_decided_once_and_never_without_a_budget_that_may_be_there(
    desired: Desired,
    known: dict[str, Eviction],
    asked: dict[PlacementKey, tuple[Eviction, ...]],
    waiting: dict[str, str],
) -> None:
    assert asked_for(desired, known) == asked
    inputs = Inputs(desired=desired, before=FleetState(evictions=known), observations={}, now=NOW)
    assert [(fault.path, fault.line, fault.object, fault.message) for fault in undecided(inputs, ())] == [
        (
            f"evictions/{name}.yaml",
            3,
            f"ClusterResourcePlacementEviction/{name}",
            StatusText.WAITS_TAKE_OFF(placement_name=desired.evictions[name].placement_name, eviction="c1", why=why),
        )
        for name, why in waiting.items()
    ]


def test_an_eviction_that_is_frozen_waits_with_the_freezes_reason() -> None:
    inputs = Inputs(desired=wanted(A), before=FleetState(), observations={}, now=NOW)
    (fault,) = undecided(inputs, [(A, Frozen("frozen by night", NOW))])
    assert fault.message == StatusText.WAITS_TAKE_OFF(
        placement_name=A.placement_name, eviction="c1", why="frozen by night"
    )


def test_evictions_are_remembered_as_long_as_their_files_are_there() -> None:
    known = {"a": A, "c": C}
    assert remembered(wanted(A, C), known, []) is known
    assert remembered(wanted(A), known, []) == {"a": A}
    assert list(remembered(wanted(A, B, C), known, [B]).items()) == [("a", A), ("b", B), ("c", C)]
    later = of("a", cluster="c9")
    assert remembered(wanted(A, C), known, [later]) == {"a": later, "c": C}


def test_an_eviction_that_was_over_elsewhere_is_never_decided_here() -> None:
    over = replace(A, conditions=(condition("Executed", Status.TRUE, "x"),))
    assert over.is_over and not A.is_over
    for evictions, known, found in (
        ((over, B), {}, [evicted_elsewhere(over, NOW)]),
        ((over,), {"a": A}, []),
        ((A, B), {}, []),
    ):
        inputs = Inputs(desired=wanted(*evictions), before=FleetState(evictions=known), observations={}, now=NOW)
        assert list(decided_elsewhere(inputs)) == found
