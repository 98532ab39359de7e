"""Who of several processes leads: one record that all of them see and that is changed by compare-and-swap."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from gitfleet.api.objects import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseRecord:
    """A lease as it was read or written: who holds it ("": nobody), for how many seconds from its last renewal, and how
    often it went from one to another. Two records are equal
    as long as nobody has renewed it in between."""

    holder: str
    seconds: float
    transitions: int
    renewed: str
    """When it was renewed last, by the clock of whoever did; only good for being compared."""
    body: JsonObject = field(repr=False, compare=False)
    """The whole object; the version that the server gave it is in it."""


class Lease(Protocol):
    """One lease. RetryLater where its server does not answer; Forbidden and MissingPart where it may not be used."""

    def read(self) -> LeaseRecord | None:
        """The lease as it is now, None where there is none."""

    def write(self, holder: str, seconds: float, over: LeaseRecord | None) -> LeaseRecord | None:
        """Make `holder` hold it for so many seconds from now if it still is as `over` says (None: not there); the lease
        as it is then, None where somebody else was first."""

    def close(self) -> None:
        """Let connections go."""
