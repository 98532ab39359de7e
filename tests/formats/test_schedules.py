"""Cron schedules in time zones, over both changes of daylight-saving time; what ends counts in real time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitfleet.formats.schedules import (
    end_at,
    is_endless,
    schedule_fault,
    starts_after,
    starts_until,
    time_in,
    zone_fault,
)
from gitfleet.formats.texts import FormatsText

BERLIN = "Europe/Berlin"
UNKNOWN = FormatsText.NO_TIME_ZONE_IANA_DATABASE
NO_NAME = FormatsText.MUST_NAME_TIME_ZONE_EUROPE()


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("schedule", "zone", "after", "starts"),
    [
        ("0 18 * * 5", BERLIN, "2026-03-20", ["2026-03-20 17:00", "2026-03-27 17:00", "2026-04-03 16:00"]),
        ("30 2 * * *", BERLIN, "2026-03-28", ["2026-03-28 01:30", "2026-03-29 01:00", "2026-03-30 00:30"]),
        ("30 2 * * *", BERLIN, "2026-10-24", ["2026-10-24 00:30", "2026-10-25 00:30", "2026-10-26 01:30"]),
        ("30 * * * *", BERLIN, "2026-10-25 00:00", ["2026-10-25 00:30", "2026-10-25 01:30", "2026-10-25 02:30"]),
        ("0 2 * * 0", "America/New_York", "2026-03-07", ["2026-03-08 07:00", "2026-03-15 06:00"]),
        ("0 1 * * 0", "America/New_York", "2026-10-31", ["2026-11-01 05:00", "2026-11-08 06:00"]),
        ("0 2 * * 0", "UTC", "2026-03-28", ["2026-03-29 02:00", "2026-04-05 02:00"]),
        ("0 0 29 2 *", "UTC", "2026-01-01", ["2028-02-29 00:00", "2032-02-29 00:00"]),
    ],
    ids=[
        "the hour moves with the clock", "in the gap: right after it", "in the hour that comes twice: once",
        "each hour: in both", "New York's gap", "New York's repeated hour", "UTC has neither", "a day that is rare",
    ],
)  # fmt: skip
def test_when_it_starts(schedule: str, zone: str, after: str, starts: list[str]) -> None:
    found = list(islice(starts_after(schedule, zone, utc(after)), len(starts)))
    assert found == [utc(start) for start in starts]
    last = list(islice(starts_until(schedule, zone, found[-1]), len(starts)))
    assert last == found[::-1]


@pytest.mark.parametrize(
    ("schedule", "hours", "at", "end"),
    [
        ("0 18 * * 5", 62, "2026-11-20 16:59", None),
        ("0 18 * * 5", 62, "2026-11-20 17:00", "2026-11-23 08:00 Europe/Berlin"),
        ("0 18 * * 5", 62, "2026-11-23 06:59", "2026-11-23 08:00 Europe/Berlin"),
        ("0 18 * * 5", 62, "2026-11-23 07:00", None),
        ("0 18 * * 5", 62, "2026-03-28 12:00", "2026-03-30 09:00 Europe/Berlin"),
        ("0 18 * * 5", 62, "2026-10-24 12:00", "2026-10-26 07:00 Europe/Berlin"),
        ("30 2 * * *", 1, "2026-03-29 00:59", None),
        ("30 2 * * *", 1, "2026-03-29 01:00", "2026-03-29 04:00 Europe/Berlin"),
        ("30 2 * * *", 1, "2026-03-29 02:00", None),
        ("30 2 * * *", 1, "2026-10-25 00:30", "2026-10-25 02:30 Europe/Berlin"),
        ("30 2 * * *", 1, "2026-10-25 01:29", "2026-10-25 02:30 Europe/Berlin"),
        ("30 2 * * *", 1, "2026-10-25 01:30", None),
        ("0 0 * * 6,0", 24, "2026-11-21 12:00", "2026-11-23 00:00 Europe/Berlin"),
        ("0 0 * * 6,0", 30, "2026-11-21 12:00", "2026-11-23 06:00 Europe/Berlin"),
    ],
    ids=[
        "before it", "its first moment", "its last minute", "its end is not in it",
        "over the gap it ends an hour later",
        "over the repeated hour an hour earlier", "before the gap", "from the gap on", "after it", "the first 2:30",
        "the second 2:29", "the second 2:30", "two that touch are one", "two that overlap are one",
    ],
)  # fmt: skip
def test_when_it_ends(schedule: str, hours: int, at: str, end: str | None) -> None:
    found = end_at(schedule, BERLIN, timedelta(hours=hours), utc(at))
    assert (found and time_in(found, BERLIN)) == end


@given(
    schedule=st.sampled_from(
        ["30 2 * * *", "0 0 * * *", "15,45 1-3 * * *", "*/30 * * * *", "0 18 * * 5", "30 * * * *"]
    ),
    zone=st.sampled_from(
        [BERLIN, "America/New_York", "America/Sao_Paulo", "Africa/Casablanca", "Asia/Kathmandu", "UTC"]
    ),
    minutes=st.integers(0, 20 * 366 * 24 * 60),
    lasts=st.integers(1, 29),
)
def test_it_is_under_way_exactly_between_a_start_and_its_end(
    schedule: str, zone: str, minutes: int, lasts: int
) -> None:
    at, duration = utc("2010-01-01") + timedelta(minutes=minutes), timedelta(minutes=lasts)
    starts = list(takewhile(lambda s: s <= at, starts_after(schedule, zone, at - timedelta(hours=1))))
    end = end_at(schedule, zone, duration, at)
    assert (end is not None) == any(start + duration > at for start in starts)
    assert end is None or end_at(schedule, zone, duration, end) is None


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("0 18 * * 5", None),
        ("*/15 0-6 1,15 JAN-MAR mon-fri", None),
        ("0 18 * *", FormatsText.MUST_FIVE_FIELDS_MINUTE()),
        ("0 0 18 * * 5", FormatsText.MUST_FIVE_FIELDS_MINUTE()),
        ("60 18 * * 5", FormatsText.CRON_NOT_KNOW(where="minute")),
        ("0 0 30 2 *", FormatsText.CRON_NOT_KNOW(where="day-of-month")),
        ("0 0 32 2 *", FormatsText.CRON_NOT_KNOW(where="day-of-month")),
        ("0 0 ² * *", FormatsText.MUST_FIVE_FIELDS_MINUTE()),
    ],
)  # fmt: skip
def test_what_is_no_schedule(text: str, fault: str | None) -> None:
    assert schedule_fault(text) == fault


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("Europe/Berlin", None),
        ("UTC", None),
        ("Europe/Berln", UNKNOWN(hint=FormatsText.YOU_MEAN(near=BERLIN))),
        ("europe/berlin", UNKNOWN(hint=FormatsText.YOU_MEAN(near=BERLIN))),
        ("localtime", UNKNOWN(hint=FormatsText.WRITE_ONE_EUROPE_BERLIN())),
        *((name, NO_NAME) for name in ("../UTC", "/etc/passwd", "a\0b", "", "x" * 201)),
    ],
)
def test_what_is_no_time_zone(name: str, fault: str | None) -> None:
    assert zone_fault(name) == fault


@pytest.mark.parametrize(
    ("schedule", "hours", "endless"),
    [
        ("* * * * *", 1 / 60, True),
        ("*/10 * * * *", 1 / 6, True),
        ("* * * * 1-5", 1 / 60, False),
        ("0 0 * * *", 23, False),
        ("0 * * * 1-5", 1, False),
        ("0 0 1 * *", 744, True),
    ],
)
def test_what_never_ends(schedule: str, hours: float, endless: bool) -> None:
    assert is_endless(schedule, BERLIN, timedelta(hours=hours)) is endless
