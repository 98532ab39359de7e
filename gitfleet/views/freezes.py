"""Freezes for people: windows, Freezes and FreezeOverrides, each with its state at a moment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from gitfleet.api import write
from gitfleet.api.freeze_files import Freeze, FreezeOverride, FreezeRules
from gitfleet.api.freezes import FreezeScope, FreezeWindow
from gitfleet.api.objects import JsonObject
from gitfleet.formats import schedules
from gitfleet.formats.times import moment_text
from gitfleet.state import StateReader
from gitfleet.views.tables import NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class FreezeView:
    """A freeze window, a Freeze or a FreezeOverride."""

    value: FreezeWindow | Freeze | FreezeOverride

    @property
    def namespace(self) -> str:
        """None has a namespace."""
        return ""

    @property
    def name(self) -> str:
        """Its name."""
        return self.value.name

    @property
    def kind(self) -> str:
        """Its kind; windows stand in the FleetConfig."""
        return type(self.value).__name__

    @property
    def scope(self) -> str:
        """What it is about, "everything" for all."""
        lifted = []
        if isinstance(self.value, FreezeOverride):
            lifted = [*self.value.windows, *self.value.freezes]
        return " ".join([*([",".join(lifted)] if lifted else []), *_parts(self.value.scope)]) or "everything"

    @property
    def owner(self) -> str:
        """Who answers for it."""
        return NONE if isinstance(self.value, FreezeWindow) else self.value.owner

    @property
    def reason(self) -> str:
        """Why."""
        return NONE if isinstance(self.value, FreezeWindow) else self.value.reason

    @property
    def when(self) -> str:
        """When it counts, at any moment."""
        match self.value:
            case FreezeWindow(schedule=schedule, duration=duration, time_zone=zone):
                return f"{schedule} for {timedelta(seconds=duration)} {zone}"
            case Freeze(start=start, until=until):
                return f"{f'from {moment_text(start)} ' if start else ''}until {moment_text(until)}"
            case FreezeOverride(expires=expires):
                return f"until {moment_text(expires)}"

    def state(self, now: datetime) -> str:
        """Frozen, Lifting, Waiting for its time, or Expired."""
        match self.value:
            case FreezeWindow():
                return "Frozen" if self._end(self.value, now) else "Waiting"
            case Freeze(start=start, until=until):
                return "Expired" if until <= now else "Waiting" if start and now < start else "Frozen"
            case FreezeOverride(expires=expires):
                return "Expired" if expires <= now else "Lifting"

    def next(self, now: datetime) -> str:
        """When that state ends; `<none>` for what has expired."""
        match self.value:
            case FreezeWindow(schedule=schedule, time_zone=zone):
                end = self._end(self.value, now) or next(schedules.starts_after(schedule, zone, now), None)
                return schedules.time_in(end, zone) if end is not None else NONE
            case Freeze(start=start, until=until):
                later = [moment for moment in (start, until) if moment is not None and moment > now]
                return moment_text(min(later)) if until > now else NONE
            case FreezeOverride(expires=expires):
                return moment_text(expires) if expires > now else NONE

    def body(self) -> JsonObject:
        """The whole object; a window has the FleetConfig's fields as its spec."""
        if not isinstance(self.value, FreezeWindow):
            return write(self.value)
        return {"kind": self.kind, "metadata": {"name": self.name}, "spec": write(self.value)}

    def _end(self, window: FreezeWindow, now: datetime) -> datetime | None:
        return schedules.end_at(window.schedule, window.time_zone, timedelta(seconds=window.duration), now)


def views_of(rules: FreezeRules) -> list[FreezeView]:
    """Windows, Freezes and FreezeOverrides, in this order."""
    freezes: Iterable[FreezeWindow | Freeze | FreezeOverride] = (*rules.windows, *rules.freezes, *rules.overrides)
    return [FreezeView(value=value) for value in freezes]


def freeze_views(state: StateReader, name: str | None = None) -> Iterator[FreezeView]:
    """Every one as of the commit that was reconciled last, or those of a name."""
    return (view for view in views_of(state.head().freezes) if name in (None, view.name))


def _parts(scope: FreezeScope) -> Iterator[str]:
    for word, names in (("placements", scope.placements), ("stages", scope.stages)):
        if names:
            yield f"{word}={','.join(names)}"
    if scope.clusters is not None:
        labels = [f"{key}={value}" for key, value in scope.clusters.match_labels.items()]
        labels += [
            f"{expression.key} {expression.operator} {'|'.join(expression.values)}".strip()
            for expression in scope.clusters.match_expressions
        ]
        yield f"clusters={','.join(labels)}"
