"""What a plan says is at risk counts objects, however often each of them is written."""

from __future__ import annotations

import pytest

from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import ObjectKey
from gitfleet.model.decisions import Decision, Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.operations import Delete
from gitfleet.model.state import FleetState
from gitfleet.views.plan_risk import risk_document
from tests.state.builders import T0, entry

A, B = (entry(ObjectKey("", "v1", "ConfigMap", "web", name)) for name in "ab")


def delete(cluster: str, key: ObjectKey) -> Delete:
    """A deletion."""
    return Delete(cluster=cluster, placement=A.placement, reason="r", key=key, uid="u", wave=0)


@pytest.mark.parametrize(
    ("now", "later", "counts"),
    [
        ([], [], (0, 0, 0, 0, 0.0)),
        ([("c1", A)], [], (1, 1, 0, 1, 25.0)),
        ([], [("c1", A), ("c2", A)], (2, 0, 2, 2, 50.0)),
        ([("c1", A)], [("c1", A)], (1, 1, 0, 1, 25.0)),
        ([("c1", A)], [("c1", A), ("c1", B), ("c2", A)], (3, 1, 2, 2, 75.0)),
        ([], [("c1", A), ("c1", A)], (1, 0, 1, 1, 25.0)),
        ([("c1", A), ("c1", A)], [("c1", B)], (2, 2, 1, 1, 50.0)),
    ],
)
def test_an_object_that_is_written_again_later_counts_once(
    now: list[tuple[str, InventoryEntry]], later: list[tuple[str, InventoryEntry]], counts: tuple[float, ...]
) -> None:
    owned = {one.key: one for one in (A, B)}
    state = FleetState(inventory={"c1": owned, "c2": owned})
    decision = Decision(inputs=Inputs(desired=Desired(commit="c"), before=state, observations={}, now=T0), after=state)
    first, rest = ([delete(cluster, one.key) for cluster, one in part] for part in (now, later))
    names = ("objects", "now", "later", "clusters", "percent")
    assert risk_document(decision, first, rest)["delete"] == dict(zip(names, counts, strict=True))


def test_where_nothing_is_placed_there_is_no_share() -> None:
    empty = FleetState()
    decision = Decision(inputs=Inputs(desired=Desired(commit="c"), before=empty, observations={}, now=T0), after=empty)
    assert risk_document(decision, [delete("c1", A.key)], [])["delete"]["percent"] is None
