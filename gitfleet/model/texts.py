"""Every sentence of gitfleet.model, each with its code."""

from __future__ import annotations

from gitfleet.formats.text_table import TextTable


class ModelText(TextTable):
    """A code, and its sentence with the names of the values in it."""

    LAST_ATTEMPT_FAILED = "the last attempt failed: {removeprefix}"
    NAMES_PLACEMENT_NOT_REPO = "names a placement that is not in the repo"
    ROLLOUT_STRATEGY_HOLDS_LATEST_RESOURCES = "The rollout strategy holds the latest resources back for now"
    TAKES_PODS_AWAY_FIRST = "takes its pods away first"
