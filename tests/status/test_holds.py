"""What is said while removals wait for a person's approval: a placement's condition, the events, and the commits."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.conditions import Condition, Status
from gitfleet.api.holds import ClusterCount, Hold, HoldReason, HoldRule, Removal, RemovalKind
from gitfleet.api.placements import PlacementKey
from gitfleet.model.state import FleetState
from gitfleet.status import commit_message, emit_events, sentence, with_holds
from gitfleet.status.texts import StatusText
from tests.state.builders import T0, binding, cluster, condition, record

WEB, OTHER = PlacementKey("", "web"), PlacementKey("shop", "web")
RECORDS = {WEB: record("web", binding(WEB, "a")), OTHER: record("web", namespace="shop")}
NOW, LATER = T0 + timedelta(minutes=5), T0 + timedelta(minutes=9)
RULES = (HoldRule.MASS_REMOVAL,)
GOES, OTHER_GOES = (Removal(kind=RemovalKind.BINDING, placement=key, cluster="a", rules=RULES) for key in (WEB, OTHER))
CLUSTER_GOES = Removal(kind=RemovalKind.CLUSTER, cluster="a", rules=RULES)
LET_GO = replace(GOES, rules=())
WHY = HoldReason(rule=HoldRule.MASS_REMOVAL, message="web gives up 7 of its 8 clusters, more than 30%")
REJECTED, APPROVED = (condition("Approved", status) for status in ("False", "True"))


def hold(name: str, *removals: Removal, answer: Condition | None = None) -> Hold:
    """A hold of seven objects on two clusters."""
    return Hold(
        name=name,
        commit="c",
        since=T0,
        digest="d",
        reasons=(WHY,),
        removals=removals,
        objects=7,
        clusters=(ClusterCount(cluster="a", objects=5), ClusterCount(cluster="b", objects=2)),
        conditions=() if answer is None else (answer,),
    )


def state(*holds: Hold, **more: Any) -> FleetState:
    """Two placements and holds."""
    return FleetState(**{"placements": RECORDS, "holds": {one.name: one for one in holds}, **more})


def held(kind: str, names: str, since: Any = NOW) -> Condition:
    """The condition of a placement of which something is held."""
    return Condition(
        type=f"{kind}RemovalsHeld",
        status=Status.TRUE,
        reason="ApprovalPending",
        message=StatusText.REMOVALS_WAIT_APPROVAL(holds=f"{names} (MassRemoval)"),
        last_transition_time=since,
        observed_generation=1,
    )


@pytest.mark.parametrize(
    ("holds", "web", "other"),
    [
        ((hold("h-1", GOES),), "h-1", None),
        ((hold("h-1", GOES, CLUSTER_GOES, OTHER_GOES),), "h-1", "h-1"),
        ((hold("h-1", GOES, GOES), hold("h-2", GOES)), "h-1 (MassRemoval) and h-2", None),
        ((hold("h-1", GOES, answer=APPROVED), hold("h-2", OTHER_GOES)), None, "h-2"),
        ((hold("h-1", CLUSTER_GOES),), None, None),
        ((hold("h-1", LET_GO, OTHER_GOES),), None, "h-1"),
        ((hold("h-1", replace(GOES, placement=PlacementKey("", "gone"))),), None, None),
    ],
)
def test_which_placements_say_that_their_removals_are_held(
    holds: tuple[Hold, ...], web: str | None, other: str | None
) -> None:
    decided = state(*holds)
    marked = with_holds(decided, FleetState(placements=RECORDS), NOW)
    for key, names in ((WEB, web), (OTHER, other)):
        more = () if names is None else (held(key.kind, names),)
        assert marked.placements[key] == replace(RECORDS[key], conditions=(*RECORDS[key].conditions, *more))
        if names is None:
            assert marked.placements[key] is RECORDS[key]
    kept = with_holds(marked, marked, LATER)
    assert [kept.placements[key] is marked.placements[key] for key in RECORDS] == [True, True]


def test_a_cluster_whose_removal_is_held_says_so() -> None:
    """As long as that lasts."""
    members = {name: cluster(name) for name in ("a", "b")}
    for answer, names in ((None, "h-1 (MassRemoval)"), (REJECTED, "h-1 (MassRemoval; rejected)")):
        decided = state(hold("h-1", CLUSTER_GOES, answer=answer), clusters=members)
        marked = with_holds(decided, decided, NOW)
        said = Condition(
            type="RemovalHeld",
            status=Status.TRUE,
            reason="ApprovalPending",
            message=StatusText.REMOVAL_WAITS_APPROVAL(hold=names),
            last_transition_time=NOW,
            observed_generation=1,
        )
        assert marked.clusters["a"].status.conditions == (*members["a"].status.conditions, said)
        assert marked.clusters["b"] is members["b"] and list(marked.clusters) == ["a", "b"]
        assert with_holds(marked, marked, LATER).clusters["a"] is marked.clusters["a"]
        approved = replace(marked, holds={"h-1": hold("h-1", CLUSTER_GOES, answer=APPROVED)})
        for over in (replace(marked, holds={}), approved):
            assert with_holds(over, marked, LATER).clusters == members


def test_what_is_no_longer_held_is_no_longer_said() -> None:
    marked = with_holds(state(hold("h-1", GOES)), FleetState(placements=RECORDS), NOW)
    later = with_holds(replace(marked, holds={}), marked, LATER)
    assert later.placements == RECORDS
    nothing = state()
    assert with_holds(nothing, nothing, LATER) is nothing
    assert with_holds(nothing, marked, LATER).placements[WEB] is RECORDS[WEB]
    assert with_holds(state(hold("h-1", GOES)), marked, NOW).placements[WEB] is marked.placements[WEB]
    edited = replace(marked.placements[WEB], schedule_key="another")
    decided = state(hold("h-1", GOES), placements={WEB: edited})
    assert with_holds(decided, marked, LATER).placements[WEB] is edited
    gone = replace(marked, placements={OTHER: RECORDS[OTHER]}, holds={})
    assert with_holds(gone, marked, LATER).placements == {OTHER: RECORDS[OTHER]}
    older = replace(RECORDS[WEB], placement=replace(RECORDS[WEB].placement, generation=4))
    new = with_holds(state(hold("h-2", GOES), placements={WEB: older}), FleetState(), NOW)
    assert new.placements[WEB].conditions[-1] == replace(held(WEB.kind, "h-2"), observed_generation=4)


WAITS: dict[str, Any] = {
    "type": "held",
    "hold": "h-1",
    "objects": 7,
    "clusters": ["a", "b"],
    "removals": [str(GOES)],
    "message": str(WHY),
    "rejected": False,
    "approval": "approvals/h-1.yaml",
}
SAID = f"h-1 {StatusText.WAITS_APPROVAL()}: {WHY}"


@pytest.mark.parametrize(
    ("before", "after", "events", "said"),
    [
        (None, hold("h-1", GOES), [WAITS], [SAID]),
        (hold("h-1", GOES), replace(hold("h-1", GOES), objects=9), [], []),
        (hold("h-1", GOES, OTHER_GOES), hold("h-1", GOES), [WAITS], [SAID]),
        (
            hold("h-1", GOES),
            hold("h-1", GOES, answer=REJECTED),
            [{**WAITS, "rejected": True}],
            [f"h-1 rejected: {WHY}"],
        ),
        (hold("h-1", GOES, answer=REJECTED), hold("h-1", GOES), [WAITS], [SAID]),
        (
            hold("h-1", GOES),
            hold("h-1", GOES, answer=APPROVED),
            [{"type": "released", "hold": "h-1", "objects": 7, "approved": True}],
            ["h-1 approved"],
        ),
        (
            hold("h-1", GOES, answer=REJECTED),
            None,
            [{"type": "released", "hold": "h-1", "objects": 7, "approved": False}],
            [f"h-1 {StatusText.GONE_REMOVALS_TAKEN_BACK()}"],
        ),
        (hold("h-1", GOES, answer=APPROVED), None, [], []),
        (None, replace(hold("h-1", GOES), reasons=()), [], []),
        (replace(hold("h-1", GOES), reasons=()), hold("h-1", GOES), [WAITS], [SAID]),
        (
            hold("h-1", GOES),
            replace(hold("h-1", GOES), reasons=()),
            [{"type": "released", "hold": "h-1", "objects": 7, "approved": False}],
            [f"h-1 {StatusText.GONE_REMOVALS_TAKEN_BACK()}"],
        ),
    ],
)
def test_what_happens_to_a_hold(
    before: Hold | None, after: Hold | None, events: list[dict[str, Any]], said: list[str]
) -> None:
    first, then = (FleetState(holds={} if one is None else {one.name: one}) for one in (before, after))
    found = emit_events(first, then)
    assert [event.to_json() for event in found] == events
    assert [sentence(event) for event in found] == said
    assert commit_message(found)[0] == (said[0].strip() if said else StatusText.STATE_FLEET_BROUGHT_UP_DATE())
