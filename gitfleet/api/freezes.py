"""Freezes: the times in which nothing starts to move, as people write them (decision record 0018)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from fnmatch import fnmatchcase
from typing import Annotated, Final

from gitfleet.api.annotations import Break, Check
from gitfleet.api.labels import LabelSelector
from gitfleet.api.placing_policy import NamePattern
from gitfleet.api.texts import ApiText
from gitfleet.api.values import NonEmpty, ObjectName, Seconds
from gitfleet.formats import schedules

_LONGEST: Final = timedelta(days=31)
_TOO_LONG: Final = ApiText.MUST_MOST_DAYS_H()


@dataclass(frozen=True, slots=True, kw_only=True)
class FreezeScope:
    """What is frozen: what all of the fields match; an empty field matches everything.

    placements: NAME, or NAMESPACE/NAME of a ResourcePlacement, `*` for any text
    stages: names of stages of staged update runs, `*` for any text; with them only runs are frozen
    clusters: labels of clusters
    """

    placements: tuple[NamePattern, ...] = ()
    stages: tuple[NamePattern, ...] = ()
    clusters: LabelSelector | None = None

    def has(self, placement: object) -> bool:
        """Whether it is for a placement, on some cluster and stage."""
        return not self.placements or any(fnmatchcase(str(placement), pattern) for pattern in self.placements)

    @property
    def is_everything(self) -> bool:
        """Whether it says nothing: an empty selector of clusters matches all of them."""
        return not self.placements and not self.stages and self.clusters in (None, LabelSelector())


def _duration_fault(seconds: float) -> str | None:
    return _TOO_LONG if timedelta(seconds=seconds) > _LONGEST else None


@dataclass(frozen=True, slots=True, kw_only=True)
class FreezeWindow:
    """A time that comes again and again, in which nothing starts to move.

    name: its name
    schedule: when it begins, as five fields of cron
    duration: how long it lasts, in real time; at most 31 days
    timeZone: the IANA time zone of the schedule
    scope: what it freezes; everything where it is absent
    """

    name: ObjectName
    schedule: Annotated[NonEmpty, Check(schedules.schedule_fault, schedules.SCHEDULE_SCHEMA)]
    duration: Annotated[Seconds, Check(_duration_fault)]
    time_zone: Annotated[NonEmpty, Check(schedules.zone_fault, schedules.ZONE_SCHEMA)] = "UTC"
    scope: FreezeScope = FreezeScope()

    def breaks(self) -> Iterator[Break]:
        """It ends some time."""
        if schedules.is_endless(self.schedule, self.time_zone, timedelta(seconds=self.duration)):
            yield ("duration",), ApiText.LONG_WINDOW_BEGINS_AGAIN_BEFORE()
