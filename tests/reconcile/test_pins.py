"""Which snapshot a pin keeps its placement at, why it keeps none, and what the record and the commit's warnings say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.conditions import Status
from gitfleet.api.objects import Origin
from gitfleet.api.pins import Pin
from gitfleet.api.placements import PlacementKey
from gitfleet.api.strategies import RolloutStrategy
from gitfleet.model.desired import Desired
from gitfleet.model.state import PlacementRecord
from gitfleet.reconcile.pins import Followed, followed, pin_warnings, with_pin
from gitfleet.reconcile.texts import ReconcileText
from tests.rollout.builders import NOW
from tests.rollout.run_trials import record, snapshot

WEB = PlacementKey("", "web")
EXTERNAL = record()
ROLLING = replace(EXTERNAL, placement=replace(EXTERNAL.placement, strategy=RolloutStrategy()))
PIN = Pin(name="web", placement=WEB, snapshot=0, digest="hash-0", reason="1 burns", origin=Origin("pins/web.yaml", 2))
WHERE = "pins/web.yaml:2"
AT_0 = f"{WHERE} " + ReconcileText.KEEPS_CONTENT_SNAPSHOT(what="it", snapshot="0")


def wanted(*pins: Pin, placement: PlacementRecord | None = ROLLING, **more: Any) -> Desired:
    """A commit with these pins, and the placement web."""
    placements = {WEB: placement.placement} if placement is not None else {}
    return Desired(commit="c", objects={"pins": {pin.name: pin for pin in pins}, "placements": placements}, **more)


def until_removed(waiting: str) -> str:
    return ReconcileText.WAITS_UNTIL_FILE_REMOVED_2(keeps="", waiting=waiting)


NO_SNAPSHOT = ReconcileText.NO_SNAPSHOT_NAME_ONE_THESE(placement="web", snapshot="7", known="0, 1")
NONE_AT_ALL = ReconcileText.NO_SNAPSHOT_NAME_ONE_THESE(placement="web", snapshot="0", known="none")
OTHER_DIGEST = ReconcileText.SNAPSHOT_DIGEST_OTHER_CONTENT(
    snapshot="0", placement="web", hash="hash-0"
) + ReconcileText.WRITE_ONLY_IF_MEANT(content="")
STOPS = ReconcileText.UNTIL_THEN_NOTHING_ROLLED_OUT(why="")
LOST = ReconcileText.OBJECTS_SNAPSHOT_NOT_ALL_STATE(snapshot="0")
REMOVE = ReconcileText.REMOVE_FILE_UNTIL_THEN_NOTHING(why=LOST)
BACK = replace(ROLLING, resource_snapshots=(*ROLLING.resource_snapshots, replace(snapshot(2), hash="hash-0")))
NEWER = replace(ROLLING, resource_snapshots=(*ROLLING.resource_snapshots, snapshot(3)))
UNLOADED = replace(ROLLING, resource_snapshots=(replace(snapshot(0), manifests=None), snapshot(1)))


@pytest.mark.parametrize(
    ("of", "pin", "found"),
    [
        (ROLLING, None, None),
        (EXTERNAL, PIN, None),
        (ROLLING, PIN, Followed(PIN, snapshot(0))),
        (
            ROLLING,
            replace(PIN, snapshot=1, digest="hash-1"),
            Followed(replace(PIN, snapshot=1, digest="hash-1"), snapshot(1)),
        ),
        (BACK, PIN, Followed(PIN, BACK.resource_snapshots[-1])),
        (ROLLING, replace(PIN, snapshot=7), Followed(replace(PIN, snapshot=7), why=NO_SNAPSHOT + STOPS)),
        (ROLLING, replace(PIN, digest="x"), Followed(replace(PIN, digest="x"), why=OTHER_DIGEST + STOPS)),
        (replace(ROLLING, resource_snapshots=()), PIN, Followed(PIN, why=NONE_AT_ALL + STOPS)),
        (UNLOADED, PIN, Followed(PIN, why=REMOVE)),
    ],
)
def test_what_a_pin_keeps_of_its_placement(of: PlacementRecord, pin: Pin | None, found: Followed | None) -> None:
    assert followed(of, pin, wanted()) == found


@pytest.mark.parametrize(
    ("found", "waiting", "status", "message"),
    [
        (Followed(PIN, snapshot(0)), "", "True", (f"{AT_0} (1 burns); " + ReconcileText.NOTHING_NEWER_WAITS())),
        (
            Followed(replace(PIN, reason=""), snapshot(0)),
            "snapshot 1",
            "True",
            AT_0 + until_removed("snapshot 1"),
        ),
        (
            Followed(replace(PIN, origin=None), why="it is odd"),
            "",
            "False",
            ("Pin " + ReconcileText.CANNOT_FOLLOWED(where="web", why="it is odd")),
        ),
    ],
)
def test_the_record_says_what_its_pin_does(found: Followed, waiting: str, status: str, message: str) -> None:
    after = with_pin(ROLLING, found, waiting, NOW)
    (said,) = after.conditions
    reason = "PinInForce" if status == "True" else "PinUnusable"
    assert (said.type, said.status, said.reason) == ("ClusterResourcePlacementPinned", Status(status), reason)
    assert (said.message, said.last_transition_time) == (message, NOW)
    assert with_pin(after, found, waiting, NOW) is after
    assert with_pin(after, None, waiting, NOW).conditions == ()


EXTERNAL_TEXT = ReconcileText.COUNTS_NOTHING_RUNS_NAME_SNAPSHOTS(placement="web", snapshot="0")
KEEPS = ReconcileText.KEEPS_CONTENT_SNAPSHOT(what="web", snapshot="0 (1 burns)")


@pytest.mark.parametrize(
    ("pin", "of", "message"),
    [
        (PIN, None, None),
        (PIN, EXTERNAL, EXTERNAL_TEXT),
        (PIN, BACK, KEEPS + until_removed(ReconcileText.SNAPSHOT_NEWER(newer="1"))),
        (PIN, NEWER, KEEPS + until_removed(ReconcileText.SNAPSHOT_NEWER(newer="3"))),
        (PIN, replace(ROLLING, resource_snapshots=(snapshot(0),)), KEEPS + until_removed("newer content")),
        (replace(PIN, snapshot=7), ROLLING, NO_SNAPSHOT),
        (replace(PIN, digest="x"), ROLLING, OTHER_DIGEST),
    ],
)
def test_a_pin_is_a_warning(pin: Pin, of: PlacementRecord | None, message: str | None) -> None:
    for origin, place in ((pin.origin, ("pins/web.yaml", 2)), (None, ("pins", 1))):
        desired = wanted(replace(pin, origin=origin), placement=of)
        found = [
            (fault.path, fault.line, fault.object, fault.field, fault.message, fault.severity.value)
            for fault in pin_warnings(desired, {WEB: of} if of is not None else {})
        ]
        assert found == ([(*place, "Pin/web", "", message, "warning")] if message is not None else [])
    assert [fault.message for fault in pin_warnings(wanted(PIN), {})] == [NONE_AT_ALL]
