"""Remembers the index of the payload that was read last: a commit that did not change is not indexed again."""

from __future__ import annotations

from gitfleet.model.desired import Desired
from gitfleet.snapshots.index import PayloadIndex, index_payload


class PayloadMemo:
    """One payload's index; it can be lost at any time and costs time only."""

    def __init__(self) -> None:
        self._known: tuple[Desired, PayloadIndex] | None = None

    def index(self, desired: Desired) -> PayloadIndex:
        """The index of a commit's payload."""
        if self._known is None or self._known[0] is not desired:
            index = index_payload(desired.payload, desired.namespaced, holds_removals=desired.holds_removals)
            self._known = (desired, index)
        return self._known[1]
