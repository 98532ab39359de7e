"""Freeze and FreezeOverride (gitfleet.dev/v1alpha1): freezes with dates, and what lifts freezes until it expires."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Final

from gitfleet.api.annotations import At, Break
from gitfleet.api.fleet import GITFLEET_GROUP
from gitfleet.api.freezes import FreezeScope, FreezeWindow
from gitfleet.api.layout import document
from gitfleet.api.objects import Authored
from gitfleet.api.texts import ApiText
from gitfleet.api.values import NonEmpty, ObjectName, Time

FREEZES: Final = "freezes"
"""The folder of both kinds."""
_API_VERSION: Final = f"{GITFLEET_GROUP}/v1alpha1"


@document("spec", identify=lambda _: (_API_VERSION, "Freeze"))
@dataclass(frozen=True, slots=True, kw_only=True)
class Freeze(Authored):
    """A time with dates in which nothing starts to move.

    scope: what it freezes; everything where it is absent
    reason: why
    owner: who answers for it
    from: when it begins; at once where it is absent
    until: when it ends
    """

    name: Annotated[ObjectName, At("metadata", "name")]
    scope: FreezeScope = FreezeScope()
    reason: NonEmpty
    owner: NonEmpty
    start: Annotated[Time | None, At("spec", "from")] = None
    until: Time

    def breaks(self) -> Iterator[Break]:
        """It ends after it begins."""
        if self.start is not None and self.until <= self.start:
            yield ("spec", "until"), ApiText.NOT_LATER_FROM()


@document("spec", identify=lambda _: (_API_VERSION, "FreezeOverride"))
@dataclass(frozen=True, slots=True, kw_only=True)
class FreezeOverride(Authored):
    """What lets go on what is frozen. At least one of windows, freezes and scope says what it lifts.

    windows: names of freeze windows of the FleetConfig
    freezes: names of Freezes; every freeze is lifted where both lists are empty
    scope: for what it lifts them; for everything where it is absent
    reason: why
    owner: who answers for it
    expires: from when on it counts for nothing
    """

    name: Annotated[ObjectName, At("metadata", "name")]
    windows: tuple[ObjectName, ...] = ()
    freezes: tuple[ObjectName, ...] = ()
    scope: FreezeScope = FreezeScope()
    reason: NonEmpty
    owner: NonEmpty
    expires: Time

    def breaks(self) -> Iterator[Break]:
        """It says what it lifts."""
        if not self.windows and not self.freezes and self.scope.is_everything:
            yield ("spec",), ApiText.NEEDS_LEAST_ONE_WINDOWS()


@dataclass(frozen=True, slots=True, kw_only=True)
class FreezeRules:
    """All that a commit says of freezes."""

    windows: tuple[FreezeWindow, ...] = ()
    freezes: tuple[Freeze, ...] = ()
    overrides: tuple[FreezeOverride, ...] = ()
