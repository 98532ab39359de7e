"""Every sentence of gitfleet.model, each with its code."""

from __future__ import annotations

from gitfleet.formats.text_table import TextTable


class ModelText(TextTable):
    """A code, and its sentence with the names of the values in it."""

    LAST_ATTEMPT_FAILED = "the last attempt failed: {why}"
    REMOVAL_NOT_JUDGED = "stays until the removal rules have judged it in the next pass"
    ROLLOUT_STRATEGY_HOLDS_LATEST_RESOURCES = "The rollout strategy holds the latest resources back for now"
