"""What brings something outside up to date after a report was published: branches for people, forges, notifications.

A new output is a class with the methods of Publisher and a line in a composition root.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeAlias

from gitfleet.api.faults import Fault
from gitfleet.api.fleet import Branches
from gitfleet.model.approvals import ApprovalRequest
from gitfleet.model.desired import Desired
from gitfleet.model.events import Event
from gitfleet.model.state import FleetState
from gitfleet.rendered import Rendering

Heads: TypeAlias = Mapping[str, str]
"""The remote's branches with their commits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a pass has published. `state_head` is the state branch, `heads` are the branches as the pass fetched them;
    `rewrite` asks people to accept a rewritten branch, `rendering` is what the clusters are to have (None: not known),
    `events` are those since the report before."""

    heads: Heads
    branches: Branches
    desired: Desired
    state: FleetState
    state_head: str | None
    rewrite: tuple[ApprovalRequest, ...] = ()
    rendering: Rendering | None = None
    events: tuple[Event, ...] = ()


class Publisher(Protocol):
    """Brings something outside up to date. What takes long belongs on a thread of the publisher's own, and whatever
    fails is contained, reported, and delays nothing."""

    name: ClassVar[str]
    asks_for_approval: ClassVar[bool] = False
    """Whether people can approve by what it brings up to date."""
    kind: ClassVar[str] = ""
    """How the objects of its warnings begin."""
    refused: dict[str, Fault] | None = None
    """What the next state says of it, by name; None before the first look: what the last state says holds."""
    due: bool = False
    """Whether something is left for the next pass."""

    def publish(self, report: Report) -> Iterable[Event]:
        """Bring it up to date with a report, within a bound; the events of what that took."""
