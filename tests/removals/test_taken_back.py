"""What a gate's end holds of an object that its placement had given up, and that nobody takes over any more."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitfleet.api.holds import HoldRule, Removal
from gitfleet.api.objects import Manifest
from gitfleet.model.state import PlacementRecord
from gitfleet.removals import taken_over
from tests.removals.fleets import SHOP, WEB, config_map, fleet, none_overridden, of_binding, of_object, placed
from tests.removals.test_takers import OF_WEB, OTHER, A, B, because, having, then, waiting

HERE, EARLIER = "here", "earlier"


def web(*contents: tuple[str, tuple[Manifest, ...]]) -> PlacementRecord:
    """The placement with one snapshot after the other, each with its commit."""
    record = placed(WEB, ("c1",), A, B)
    snapshots = [
        replace(placed(WEB, (), *content).resource_snapshots[0], index=index, commit=commit)
        for index, (commit, content) in enumerate(contents)
    ]
    return replace(record, resource_snapshots=tuple(snapshots))


BACK = web((EARLIER, (B,)), (HERE, (A, B)))
OF_A, OF_B = of_object(A), of_object(B)


@pytest.mark.parametrize(
    ("record", "others", "removal", "done"),
    [
        (BACK, [], OF_A, True),
        (web((EARLIER, (A, B)), (EARLIER, (B,)), (HERE, (A, B))), [], OF_A, True),
        (web((EARLIER, (B,)), (HERE, (B, A)), ("later", (A,))), [], OF_A, True),
        (BACK, [having(OTHER, B)], OF_A, True),
        # It had the object all the time, or has it not.
        (BACK, [], OF_B, False),
        (web((HERE, (A, B))), [], OF_A, False),
        (web((EARLIER, (A,)), (HERE, (A, B))), [], OF_A, False),
        (web((EARLIER, (B,)), (HERE, (B,))), [], OF_A, False),
        # It got it by another commit than that of the hold.
        (web((EARLIER, (B,)), ("other", (A, B))), [], OF_A, False),
        (web((EARLIER, (B,)), ("other", (A, B)), (HERE, (A,))), [], OF_A, False),
        # Another placement takes it over.
        (BACK, [having(OTHER, A)], OF_A, False),
        # Not an object, or of a placement that is not there.
        (BACK, [], OF_WEB, False),
        (BACK, [], of_binding("c1"), False),
        (BACK, [], of_object(A, SHOP), False),
        (BACK, [], of_object(config_map("new"), SHOP), False),
    ],
)
def test_what_a_gate_holds_is_done_with_where_it_was_given_up_before_and_nobody_wants_it(
    record: PlacementRecord, others: list[PlacementRecord], removal: Removal, done: bool
) -> None:
    before = fleet(record)
    held = replace(waiting(removal, why=[because(HoldRule.GATE_LOST)]), commit=HERE)
    left = then(record, *others, before=before)
    assert taken_over({"h": held}, before, left, none_overridden) == ({removal.id} if done else set())
