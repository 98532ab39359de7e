"""What a placement says of itself that goes on as it was, or stays while it leaves: for whom, or until when."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from gitfleet.api.conditions import Condition, Status
from gitfleet.api.placements import PlacementKey
from gitfleet.model.decisions import Decision, Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState
from gitfleet.status import with_kept
from gitfleet.status.texts import StatusText
from tests.state.builders import T0, record

WEB, API = PlacementKey("", "web"), PlacementKey("", "api")
NOW = T0 + timedelta(minutes=5)
FILES = StatusText.GOES_ACCEPTED_LAST_UNTIL_ERRORS(files="{}")


def decision(after: FleetState, **desired: Any) -> Decision:
    """The decision of a pass in which everything was as it is."""
    wanted = Desired(commit="c", **desired)
    inputs = Inputs(desired=wanted, before=FleetState(), observations={}, now=NOW)
    return Decision(inputs=inputs, after=after)


def says(message: str, since: Any = NOW) -> Condition:
    """The condition of a placement that is kept."""
    return Condition(
        type="ClusterResourcePlacementKept",
        status=Status.TRUE,
        reason="Kept",
        message=message,
        last_transition_time=since,
        observed_generation=1,
    )


def test_it_is_said_as_long_as_it_is_so_and_since_when() -> None:
    """The first placement says nothing, and the next does all the same; what is said again is the same record."""
    plain, late = record("api"), NOW - timedelta(minutes=1)
    told = replace(record("web"), conditions=(*record("web").conditions, says(FILES.format("a.yaml"), late)))
    for kept, web in (({WEB: ("a.yaml",)}, told), ({}, record("web"))):
        found = with_kept(decision(FleetState(placements={API: plain, WEB: told}), retained=kept)).placements
        assert found == {API: plain, WEB: web} and found[API] is plain
    now = decision(FleetState(placements={WEB: record("web")}), retained={WEB: ("a.yaml",)})
    before = FleetState(
        placements={WEB: replace(told, conditions=(*record("web").conditions, says(FILES.format("a.yaml"))))}
    )
    again = replace(now, inputs=replace(now.inputs, before=before))
    assert with_kept(again).placements[WEB] is before.placements[WEB]
