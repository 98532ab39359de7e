"""Cron schedules in time zones: when something begins, and how long it goes on when it begins again before it is over.

Five fields as Debian's cron reads them, its rules for daylight-saving time among them: what begins at a time that the
clock skips begins right after the gap, what begins in an hour that comes twice begins once (decision record 0018).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

from cronsim import CronSim, CronSimError

from gitfleet.formats.near_names import did_you_mean
from gitfleet.formats.texts import FormatsText

_NEAR: Final = timedelta(hours=3)
"""More than a zone's offset changes by: near a change the clock does not show which moment was first."""
_ANY_DAY: Final = datetime(2026, 1, 1, tzinfo=UTC)
_LONGEST_TEXT: Final = 200
_FIVE_FIELDS: Final = "[!-~]+(?: +[!-~]+){4}"
_ZONE_NAME: Final = "[A-Za-z][-+A-Za-z0-9_/]*"
SCHEDULE_SCHEMA: Final = {"pattern": f"^{_FIVE_FIELDS}$", "maxLength": _LONGEST_TEXT}
ZONE_SCHEMA: Final = {"pattern": f"^{_ZONE_NAME}$", "maxLength": _LONGEST_TEXT}
"""What the JSON Schemas of schedules and zones say; the fields' own values and the names are left to the reader."""
_MOST_REPETITIONS: Final = 3000
_ENDLESS: Final = timedelta(days=100)
"""Two months of 31 days follow each other, no more: what lasts longer than that has no end."""
_MACHINE_ZONE: Final = "localtime"


class InvalidSchedule(ValueError):
    """A text that is no schedule, or no time zone that is known here; the sentence says what to do."""


def schedule_fault(text: str) -> str | None:
    """What is wrong with a schedule, and what to do; None when nothing is."""
    try:
        starts = list(islice(starts_after(text, "UTC", _ANY_DAY), 1))
    except InvalidSchedule as error:
        return str(error)
    return None if starts else FormatsText.CRON_NOT_KNOW(where="day-of-month")


def zone_fault(name: str) -> str | None:
    """What is wrong with a time zone, and what to do; None when nothing is."""
    try:
        _zone(name)
    except InvalidSchedule as error:
        return str(error)
    return None


def starts_after(schedule: str, zone: str, moment: datetime) -> Iterator[datetime]:
    """The starts later than `moment`, the next one first, in UTC; InvalidSchedule."""
    return (s for s in _starts(schedule, zone, moment, timedelta(seconds=-1)) if s > moment)


def starts_until(schedule: str, zone: str, moment: datetime) -> Iterator[datetime]:
    """The starts at `moment` and before, the last one first, in UTC; InvalidSchedule."""
    return (s for s in _starts(schedule, zone, moment, timedelta(seconds=1)) if s <= moment)


def end_at(schedule: str, zone: str, duration: timedelta, moment: datetime) -> datetime | None:
    """When that ends which begins by the schedule and lasts `duration` (in real time) each time; None when it is not
    under way at `moment`. Where it begins again before it is over, or just then, it goes on; what goes on for months
    ends some time later. InvalidSchedule."""
    end = moment
    for _ in range(_MOST_REPETITIONS):
        start = next(starts_until(schedule, zone, end), None)
        if start is None or start + duration <= end or end - moment > _ENDLESS:
            break
        end = start + duration
    return None if end == moment else end


def is_endless(schedule: str, zone: str, duration: timedelta) -> bool:
    """Whether it always begins again before it is over. InvalidSchedule."""
    start = next(starts_after(schedule, zone, _ANY_DAY))
    end = end_at(schedule, zone, duration, start) or start
    return end - start > _ENDLESS or end_at(schedule, zone, duration, end) is not None


def time_in(moment: datetime, zone: str) -> str:
    """`2026-11-23 06:00 Europe/Berlin`: a moment as clocks of a zone show it; InvalidSchedule."""
    return f"{moment.astimezone(_zone(zone)):%Y-%m-%d %H:%M} {zone}"


def _starts(schedule: str, zone: str, moment: datetime, step: timedelta) -> Iterator[datetime]:
    """The starts from about `moment` on, in the direction of `step`, and a few on its other side."""
    if len(schedule) > _LONGEST_TEXT or re.fullmatch(_FIVE_FIELDS, schedule) is None:
        raise InvalidSchedule(FormatsText.MUST_FIVE_FIELDS_MINUTE())
    zone_info = _zone(zone)
    offsets = {(moment + near).astimezone(zone_info).utcoffset() for near in (-_NEAR, _NEAR)}
    first = moment + (step if len(offsets) == 1 else step / abs(step) * _NEAR)
    try:
        starts = CronSim(schedule, first.astimezone(zone_info), reverse=step > timedelta(0))
    except CronSimError as error:
        where = str(error).removeprefix("Bad ")
        raise InvalidSchedule(FormatsText.CRON_NOT_KNOW(where=where)) from None
    return (start.astimezone(UTC) for start in starts)


def _zone(name: str) -> ZoneInfo:
    if len(name) > _LONGEST_TEXT or re.fullmatch(_ZONE_NAME, name) is None:
        raise InvalidSchedule(FormatsText.MUST_NAME_TIME_ZONE_EUROPE())
    try:
        if name != _MACHINE_ZONE:
            return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        pass
    zones = available_timezones() - {_MACHINE_ZONE}
    hint = did_you_mean(name, zones, FormatsText.WRITE_ONE_EUROPE_BERLIN())
    raise InvalidSchedule(FormatsText.NO_TIME_ZONE_IANA_DATABASE(hint=hint))
