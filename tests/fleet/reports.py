"""Reports for publishers."""

from __future__ import annotations

from typing import Any

from gitfleet.api.fleet import Branches
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState
from gitfleet.ports.publishers import Report


def report_of(**fields: Any) -> Report:
    """A report of a fleet without anything, but for these fields."""
    empty: dict[str, Any] = {
        "heads": {},
        "branches": Branches(),
        "desired": Desired(commit="c"),
        "state": FleetState(),
        "state_head": None,
    }
    return Report(**empty | fields)
