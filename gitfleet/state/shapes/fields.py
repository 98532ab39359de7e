"""What the files of the state branch share."""

from __future__ import annotations

from typing import Any, Final

LATEST_LABEL: Final = "kubernetes-fleet.io/is-latest-snapshot"
OURS: Final = "gitfleet"
"""The part of `status` that holds what KubeFleet has no field for."""


def present(**fields: Any) -> dict[str, Any]:
    """The fields that are not None and not empty."""
    return {name: value for name, value in fields.items() if value is not None and value not in ("", [], {})}
