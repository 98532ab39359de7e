"""Of which placements `get` says that removals wait."""

from __future__ import annotations

import pytest

from gitfleet.api.holds import Hold
from gitfleet.views import held_placements_line
from tests.state.builders import reader_of
from tests.status.test_holds import APPROVED, CLUSTER_GOES, GOES, OTHER_GOES, REJECTED, hold, state

BOTH = "removals of web and shop/web are held: `gitfleet get holds`"
SHOP = "removals of shop/web are held: `gitfleet get holds`"


@pytest.mark.parametrize(
    ("holds", "name", "line"),
    [
        ([], None, ""),
        ([hold("a", GOES), hold("b", OTHER_GOES, GOES)], None, BOTH),
        ([hold("a", GOES), hold("b", OTHER_GOES)], "web", BOTH),
        ([hold("a", GOES), hold("b", OTHER_GOES)], "shop/web", SHOP),
        ([hold("a", GOES)], "shop/web", ""),
        ([hold("a", GOES)], "we", ""),
        ([hold("a", GOES, answer=APPROVED), hold("b", OTHER_GOES, answer=REJECTED)], None, SHOP),
        ([hold("a", CLUSTER_GOES)], None, ""),
    ],
)
def test_the_line_about_held_removals(holds: list[Hold], name: str | None, line: str) -> None:
    assert held_placements_line(reader_of(state(*holds)), name) == line
