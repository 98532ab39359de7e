"""What a placement says of itself that goes on as it was, or stays while it leaves: for whom, or until when."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.conditions import Condition, Status
from gitfleet.api.objects import Origin
from gitfleet.api.placements import PlacementKey
from gitfleet.model.decisions import Decision, Inputs
from gitfleet.model.desired import Desired, Misread
from gitfleet.model.rolling import Held, MoveKind, RolloutPlan
from gitfleet.model.state import FleetState
from gitfleet.status import with_kept
from gitfleet.status.texts import StatusText
from tests.state.builders import T0, binding, record

WEB, API, SITE = PlacementKey("", "web"), PlacementKey("", "api"), PlacementKey("shop", "site")
NOW = T0 + timedelta(minutes=5)
FILES = StatusText.GOES_ACCEPTED_LAST_UNTIL_ERRORS(files="{}")
NAME = StatusText.GOES_UNDER_NAME_UNTIL_CALLED(late="shop/site", where="{}")
FOR_SITE = StatusText.STAYS_UNTIL_OBJECTS_GITFLEET_EXPLAIN(where="{}", other="ResourcePlacement", other_2="shop/site")
FOR_API = StatusText.STAYS_UNTIL_OBJECTS_GITFLEET_EXPLAIN(where="{}", other="ClusterResourcePlacement", other_2="api")
GOES, API_GOES = (
    replace(one, placement=replace(one.placement, deleting=T0))
    for one in (record("web", binding(WEB, "a")), record("api"))
)


def awaiting(*found: tuple[str, PlacementKey | None]) -> RolloutPlan:
    """A plan that holds clusters for other placements, or (None) for another reason."""
    held = tuple(
        Held(cluster=cluster, kind=MoveKind.REMOVE, reason="it is frozen", awaits=awaits) for cluster, awaits in found
    )
    return RolloutPlan(moves=(), held=held, up_to_date=(), need_roll=False, wait=None, bindings=())


def decision(after: FleetState, *, plan: RolloutPlan | None = None, waiting: Any = None, **desired: Any) -> Decision:
    """The decision of a pass in which everything was as it is."""
    wanted = Desired(commit="c", **desired)
    inputs = Inputs(desired=wanted, before=FleetState(), observations={}, now=NOW, waiting=waiting or {})
    return Decision(inputs=inputs, after=after, plans={} if plan is None else {WEB: plan})


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


LATE = replace(record("site", namespace="shop").placement, origin=Origin("placements/site.yaml", 4))
FOR_OTHERS = awaiting(("b", SITE), ("a", SITE), ("z", None), ("e", API), ("d", API), ("c", API), ("b", API))
BROKEN = {API: Misread("placements/api.yaml", None)}


@pytest.mark.parametrize(
    ("web", "beside", "given", "said"),
    [
        (record("web"), {}, {}, None),
        (record("web"), {}, {"kept": {API: ("a.yaml",)}, "waiting": {API: LATE}, "plan": FOR_OTHERS}, None),
        (record("web"), {}, {"kept": {WEB: ("a.yaml",)}}, FILES.format("a.yaml")),
        (record("web"), {}, {"kept": {WEB: ("a", "b", "c", "d", "e")}}, FILES.format("a, b, c and 2 more")),
        (record("web"), {}, {"waiting": {WEB: LATE}}, NAME.format(" at placements/site.yaml:4")),
        (record("web"), {}, {"waiting": {WEB: replace(LATE, origin=None)}}, NAME.format("")),
        (record("web"), {}, {"waiting": {WEB: replace(LATE, origin=None)}, "kept": {WEB: ("a.yaml",)}},
         f"{FILES.format('a.yaml')}; {NAME.format('')}"),
        (GOES, {}, {}, None),
        (GOES, {}, {"plan": awaiting(("z", None))}, None),
        (GOES, {API: record("api")}, {"plan": FOR_OTHERS},
         f"{FOR_API.format('b, c, d and 1 more')}; {FOR_SITE.format('a and b')}"),
        (GOES, {API: record("api")}, {"plan": awaiting(("a", API)), "misread": BROKEN}, FOR_API.format("a")),
        (GOES, {API: API_GOES}, {"plan": awaiting(("a", API))}, FOR_API.format("a")),
        (GOES, {API: API_GOES}, {"plan": awaiting(("a", API)), "misread": BROKEN},
         StatusText.STAYS_UNTIL_ERRORS_CORRECTED(where="a", misread="placements/api.yaml")),
        (GOES, {}, {"plan": awaiting(("a", API)), "misread": BROKEN},
         StatusText.STAYS_UNTIL_ERRORS_CORRECTED(where="a", misread="placements/api.yaml")),
        (GOES, {}, {"plan": awaiting(("a", API)), "misread": {SITE: BROKEN[API]}}, FOR_API.format("a")),
    ],
)  # fmt: skip
def test_what_a_placement_says_that_is_kept(web: Any, beside: Any, given: dict[str, Any], said: str | None) -> None:
    """Of one that leaves, by placement that takes over; the placements beside it say nothing."""
    state = FleetState(placements={**beside, WEB: web})
    found = with_kept(decision(state, **given)).placements
    more = () if said is None else (says(said),)
    assert found == {**beside, WEB: replace(web, conditions=(*web.conditions, *more))}


def test_it_is_said_as_long_as_it_is_so_and_since_when() -> None:
    """The first placement says nothing, and the next does all the same; what is said again is the same record."""
    plain, late = record("api"), NOW - timedelta(minutes=1)
    told = replace(record("web"), conditions=(*record("web").conditions, says(FILES.format("a.yaml"), late)))
    for kept, web in (({WEB: ("a.yaml",)}, told), ({}, record("web"))):
        found = with_kept(decision(FleetState(placements={API: plain, WEB: told}), kept=kept)).placements
        assert found == {API: plain, WEB: web} and found[API] is plain
    now = decision(FleetState(placements={WEB: record("web")}), kept={WEB: ("a.yaml",)})
    before = FleetState(
        placements={WEB: replace(told, conditions=(*record("web").conditions, says(FILES.format("a.yaml"))))}
    )
    again = replace(now, inputs=replace(now.inputs, before=before))
    assert with_kept(again).placements[WEB] is before.placements[WEB]
