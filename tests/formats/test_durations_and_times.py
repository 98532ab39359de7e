"""Durations, times, and whole numbers or percentages: what is read, what is refused, and that texts read back equal."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitfleet.formats.durations import LONGEST_SECONDS, read_seconds, seconds_text
from gitfleet.formats.int_or_percent import is_zero, read_int_or_percent, scaled
from gitfleet.formats.texts import FormatsText
from gitfleet.formats.times import EPOCH, read_time, time_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [("90s", 90), ("5m", 300), ("24h", 86400), ("1h30m", 5400), ("1.5s", 1.5), ("500ms", 0.5), ("1m500ms", 60.5)],
)
def test_durations(text: str, expected: float) -> None:
    assert read_seconds(text) == read_seconds(text, zero=True) == expected


NO_DURATIONS: list[object] = [
    "", "90", "1d", "-1s", "s", "1h 30m", "1e3s", "٣s", None, True, False, [], "1" * 100_000 + "s",
]  # fmt: skip


NO_TIME: dict[object, str] = {
    "0": FormatsText.MUST_DURATION_M_H30M(),
    0: FormatsText.MUST_UNIT_WRITE_IF_SECONDS(text=0),
    "0s": FormatsText.MUST_DURATION_MORE_ZERO(),
    "0h0m": FormatsText.MUST_DURATION_MORE_ZERO(),
}


@pytest.mark.parametrize("text", NO_TIME)
def test_no_time_at_all(text: object) -> None:
    assert read_seconds(text, zero=True) == 0
    with pytest.raises(ValueError, match=re.escape(NO_TIME[text]) + "$"):
        read_seconds(text)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        *((text, FormatsText.MUST_DURATION_M_H30M()) for text in NO_DURATIONS),
        (90, FormatsText.MUST_UNIT_WRITE_IF_SECONDS(text=90)),
        (1.5, FormatsText.MUST_UNIT_WRITE_IF_SECONDS(text=1.5)),
        ("99999999h", FormatsText.MUST_MOST_TEN_YEARS()),
    ],
)
def test_what_is_no_duration(text: object, sentence: str) -> None:
    for zero in (False, True):
        with pytest.raises(ValueError, match=re.escape(sentence) + "$"):
            read_seconds(text, zero=zero)


@given(st.floats(0.000001, LONGEST_SECONDS))
def test_a_duration_reads_back_equal(seconds: float) -> None:
    assert read_seconds(seconds_text(seconds)) == seconds


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-01-31T12:00:00Z", datetime(2026, 1, 31, 12, tzinfo=UTC)),
        ("2026-01-31T12:00:00.25Z", datetime(2026, 1, 31, 12, 0, 0, 250_000, tzinfo=UTC)),
        ("2026-01-31T12:00:00.123456789+02:00", datetime(2026, 1, 31, 10, 0, 0, 123_456, tzinfo=UTC)),
    ],
)
def test_times(text: str, moment: datetime) -> None:
    assert read_time(text) == moment


NO_TIMES: list[object] = [
    "", "2026-01-01", "12:00Z", 2026, None, "yesterday", "2026-02-30T00:00:00Z",
    "2026-W01-1T00Z", "20260101T000000Z", "2026-01-01 00:00:00Z", "2026-01-01T00:00:00+99:00",
    "0001-01-01T00:00:00+01:00",
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        *((text, FormatsText.MUST_TIME_T12_Z()) for text in NO_TIMES),
        ("2026-01-01T00:00:00", FormatsText.MUST_TIME_ZONE()),
    ],
)
def test_what_is_no_time(text: object, sentence: str) -> None:
    with pytest.raises(ValueError, match=re.escape(sentence) + "$"):
        read_time(text)


@given(st.integers(-(10**16), 2 * 10**17), st.integers(-12, 12))
def test_a_time_reads_back_equal(microseconds: int, hours: int) -> None:
    moment = (EPOCH + timedelta(microseconds=microseconds)).astimezone(timezone(timedelta(hours=hours)))
    assert read_time(time_text(moment)) == moment


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (-1, FormatsText.MUST_LEAST_RAISE),
        *((value, FormatsText.MUST_WHOLE_NUMBER_PERCENTAGE) for value in (True, 1.5, None, list[str]())),
        *(
            (text, FormatsText.MUST_WHOLE_NUMBER_WITHOUT_QUOTES)
            for text in ("3", "101%", "-1%", "1.5%", "%", "٣%", "25% ")
        ),
    ],
)
def test_what_is_no_amount(value: object, code: FormatsText) -> None:
    with pytest.raises(ValueError, match=re.escape(code()) + "$"):
        read_int_or_percent(value)


@given(st.integers(0, 100), st.integers(0, 10_000))
def test_a_percentage_is_rounded_up(percent: int, total: int) -> None:
    number = scaled(f"{percent}%", total)
    assert (number - 1) * 100 < percent * total <= number * 100
    assert is_zero(f"{percent}%") == (percent == 0)


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000001Z", "9999-12-31T23:59:59Z"])
def test_the_first_and_the_last_year_keep_their_digits(text: str) -> None:
    assert time_text(read_time(text)) == text
