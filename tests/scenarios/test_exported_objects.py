"""Objects that were exported from a hub with their status (decision D35): what is over there does not happen here."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.api.texts import ApiText
from gitfleet.desired.texts import DesiredText
from gitfleet.model.events import EventType
from tests import builders
from tests.scenarios.staged_world import members, message, rolled_out, said, staged
from tests.scenarios.test_evictions import CLUSTERS, INVALID, VALID, outcomes, removed, running, settled
from tests.scenarios.test_evictions import message as end_of
from tests.scenarios.world import World

NEVER_BEGINS = DesiredText.NEVER_BEGINS_HERE(began_elsewhere=ApiText.BEFORE_CAME_HERE())


def with_conditions(body: dict[str, Any], **conditions: str) -> dict[str, Any]:
    """An object with the conditions that a hub gave it."""
    at = "2025-03-12T23:21:39Z"
    given = [
        {
            "type": t,
            "status": s,
            "reason": f"{t}{s}",
            "message": f"It is {t}" * (s != "Unknown"),
            "lastTransitionTime": at,
        }
        for t, s in conditions.items()
    ]
    return {**body, "status": {"conditions": given}}


@pytest.mark.parametrize(
    "ends",
    [
        {"Valid": "True", "Executed": "True"},
        {"Executed": "False"},
        {"Valid": "False"},
        {"Valid": "True"},
        {"Executed": "Unknown"},
        {"executed": "True"},
    ],
)
def test_an_eviction_that_was_decided_elsewhere_is_not_carried_out(ends: dict[str, str]) -> None:
    world = settled()
    eviction = builders.eviction("drain", "web", "c2")
    world.roll_out(with_conditions(eviction, **ends))
    said = ApiText.DECIDED_BEFORE_CAME_HERE()
    assert outcomes(world) == {"drain": INVALID}
    known = [f" (It is {name})" for name in ("Executed", "Valid") if ends.get(name, "Unknown") != "Unknown"]
    assert end_of(world, "drain") == f"The eviction{(*known, '')[0]} {said}"
    assert not [event for event in world.events if event.type is EventType.EVICTED]
    assert [fault.message for fault in world.state().faults] == [DesiredText.SAY_THAT_IT(elsewhere=said)]

    world.commit(eviction)
    world.restart()
    world.settle()
    assert (outcomes(world), removed(world), running(world)) == ({"drain": INVALID}, [], list(CLUSTERS))

    world.roll_out(remove=[eviction])
    world.roll_out(eviction)
    assert (outcomes(world), removed(world)) == ({"drain": VALID}, ["c2"]), "a file without status is a new one"


def test_what_ran_here_may_come_back_with_its_own_status() -> None:
    world = settled()
    world.roll_out(builders.eviction("drain", "web", "c2"))
    world.roll_out(files={"evictions/drain.yaml": world.state_text("evictions/drain.yaml")})
    assert (outcomes(world), world.state().faults) == ({"drain": VALID}, ())

    world, _ = with_runs({})
    world.roll_out(files={"runs/go.yaml": world.state_text("runs/go.yaml")})
    assert "Succeeded=True UpdateRunSucceeded" in said(world, "go")
    assert world.state().faults == ()


def with_runs(status: Any) -> tuple[World, dict[str, Any]]:
    """An External placement, and a run of it that has this status in its file."""
    world = staged(World(), *members("c1", "c2", tier="all"))
    run = builders.staged_run("go", placement="web", strategy="slow", index="0")
    world.roll_out(builders.staged_strategy("slow", builders.stage("all")), {**run, "status": status})
    return world, run


@pytest.mark.parametrize(
    "status",
    [
        {"conditions": [{"type": "Succeeded", "status": "True"}]},
        {"conditions": [{"type": "Initialized", "status": "False"}]},
        {"resourceSnapshotIndexUsed": "7", "stagesStatus": [{"stageName": "all"}]},
        {"conditions": [3]},
        {"conditions": {"type": "Succeeded", "status": "True"}},
        {"policyObservedClusterCount": 0},
    ],
)
def test_a_run_that_began_elsewhere_never_begins_here(status: Any) -> None:
    world, run = with_runs(status)
    assert said(world, "go") == ["Initialized=False UpdateRunInitializedFailed"]
    assert message(world, "go", "Initialized") == NEVER_BEGINS
    assert [fault.message for fault in world.state().faults] == [DesiredText.SAYS_IT_BEGAN(sentence=NEVER_BEGINS)]
    world.commit(run)
    world.restart()
    world.settle()
    assert rolled_out(world) == {"c1": None, "c2": None}, "nor when its status is cut away"

    world.roll_out(builders.staged_run("new", placement="web", strategy="slow"))
    assert None not in rolled_out(world).values()


@pytest.mark.parametrize(
    "status",
    [
        {},
        {"conditions": [], "stagesStatus": []},
        {"conditions": None, "stagesStatus": None},
        None,
        {"conditions": [{"type": "Initialized", "status": "Unknown"}]},
    ],
)
def test_a_run_that_did_not_begin_elsewhere_begins(status: dict[str, Any] | None) -> None:
    world, _ = with_runs(status)
    assert None not in rolled_out(world).values()


def test_a_run_under_way_goes_on_whatever_its_file_says() -> None:
    world = staged(World(), *members("c1", tier="all"))
    run = builders.staged_run("go", placement="web", strategy="slow")
    world.roll_out(builders.staged_strategy("slow", builders.stage("all", approval=True)), run)
    world.roll_out(with_conditions(run, Initialized="True", Succeeded="False"), builders.approval("go", "all"))
    assert said(world, "go")[-1].startswith("Succeeded=True")
