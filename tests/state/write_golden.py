"""`python -m tests.state.write_golden` writes the golden tree of the small fleet again; read the diff."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from gitfleet.api.placements import PlacementKey
from gitfleet.model.state import FleetState
from tests.state.builders import T0, composed, small_fleet

GOLDEN = Path(__file__).parent / "golden"
WEB = PlacementKey("", "web")


def written_fleet() -> FleetState:
    """The small fleet with conditions of its placement that say the same, whatever gitfleet says of them."""
    fleet = small_fleet()
    web = fleet.placements[WEB]
    conditions = tuple(replace(one, message="What is said of it") for one in web.conditions)
    return replace(fleet, placements={WEB: replace(web, conditions=conditions)})


def main() -> None:
    """Replace the tree."""
    shutil.rmtree(GOLDEN, ignore_errors=True)
    for path, content in composed(FleetState(), written_fleet(), now=T0, version="0.1.0").write.items():
        (GOLDEN / path).parent.mkdir(parents=True, exist_ok=True)
        (GOLDEN / path).write_bytes(content)


if __name__ == "__main__":
    main()
