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
from gitfleet.reconcile.pins import Followed, followed, kept_by, pin_warnings, pins_of, with_pin
from tests.rollout.builders import NOW
from tests.rollout.run_trials import record, snapshot

WEB = PlacementKey("", "web")
EXTERNAL = record()
ROLLING = replace(EXTERNAL, placement=replace(EXTERNAL.placement, strategy=RolloutStrategy()))
PIN = Pin(name="web", placement=WEB, snapshot=0, digest="hash-0", reason="1 burns", origin=Origin("pins/web.yaml", 2))
NEWEST = replace(PIN, snapshot=1, digest="hash-1")
WHERE = "pins/web.yaml:2"
AT_0 = f"{WHERE} keeps it at the content of snapshot 0"


def wanted(*pins: Pin, placement: PlacementRecord | None = ROLLING, **more: Any) -> Desired:
    """A commit with these pins, and the placement web."""
    placements = {WEB: placement.placement} if placement is not None else {}
    return Desired(commit="c", objects={"pins": {pin.name: pin for pin in pins}, "placements": placements}, **more)


NO_SNAPSHOT = "web has no snapshot 7 (it has 0, 1); name one of these or remove the file"
NONE_AT_ALL = "web has no snapshot 0 (it has none); name one of these or remove the file"
OTHER_DIGEST = (
    "snapshot 0 of web has the digest hash-0, which is other content; "
    "write that only if it is meant, or remove the file and revert the change instead"
)
STOPS = "; until then nothing is rolled out, and what runs stays"
LOST = "the objects of snapshot 0 are not all on the state branch any more; name another snapshot or remove the file"
BACK = replace(ROLLING, resource_snapshots=(*ROLLING.resource_snapshots, replace(snapshot(2), hash="hash-0")))
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
        (UNLOADED, PIN, Followed(PIN, why=LOST + STOPS)),
    ],
)
def test_what_a_pin_keeps_of_its_placement(of: PlacementRecord, pin: Pin | None, found: Followed | None) -> None:
    for holds in (False, True):
        assert followed(of, pin, wanted(holds_removals=holds)) == found


def test_a_pin_whose_file_cannot_be_read_keeps_what_it_kept() -> None:
    pinned = with_pin(ROLLING, Followed(PIN, snapshot(0)), "", NOW)
    assert pinned.is_pinned
    assert followed(pinned, None, wanted(holds_removals=True)) == Followed(None, snapshot(1))
    assert followed(pinned, None, wanted()) is None
    assert with_pin(pinned, Followed(None, snapshot(1)), "", NOW) is pinned


@pytest.mark.parametrize(
    ("found", "waiting", "status", "message"),
    [
        (
            Followed(PIN, snapshot(0)),
            "",
            "True",
            f"{AT_0} (1 burns); nothing newer waits",
        ),
        (
            Followed(replace(PIN, reason=""), snapshot(0)),
            "snapshot 1",
            "True",
            f"{AT_0}; snapshot 1 waits until the file is removed",
        ),
        (Followed(replace(PIN, origin=None), why="it is odd"), "", "False", "Pin web cannot be followed: it is odd"),
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


EXTERNAL_TEXT = (
    "counts for nothing, as runs name the snapshots of web (strategy External); remove the file and go back with "
    "`gitfleet rollback web --to 0`"
)
KEEPS = "keeps web at the content of snapshot 0 (1 burns)"


@pytest.mark.parametrize(
    ("pin", "of", "message"),
    [
        (PIN, None, None),
        (PIN, EXTERNAL, EXTERNAL_TEXT),
        (PIN, ROLLING, f"{KEEPS}; snapshot 1 or what is newer waits until the file is removed"),
        (PIN, BACK, f"{KEEPS}; snapshot 1 or what is newer waits until the file is removed"),
        (
            PIN,
            replace(ROLLING, resource_snapshots=(*ROLLING.resource_snapshots, snapshot(3))),
            f"{KEEPS}; snapshot 3 or what is newer waits until the file is removed",
        ),
        (
            PIN,
            replace(ROLLING, resource_snapshots=(snapshot(0),)),
            f"{KEEPS}; newer content waits until the file is removed",
        ),
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


def test_a_pin_is_known_by_its_placement_and_keeps_its_snapshot() -> None:
    assert pins_of(wanted(PIN)) == {WEB: PIN}
    assert kept_by(ROLLING, PIN) == {"web-0-snapshot"}
    assert kept_by(ROLLING, None) == kept_by(ROLLING, replace(PIN, snapshot=7)) == frozenset()


def test_every_pin_has_its_warning() -> None:
    other = replace(PIN, name="gone", placement=PlacementKey("", "gone"))
    assert [fault.object for fault in pin_warnings(wanted(other, PIN), {WEB: ROLLING})] == ["Pin/web"]
