"""Builders give what a config repo holds, and text that means the same to Kubernetes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitfleet.formats.yaml_reader import parse_documents
from gitfleet.ports.clock import Clock
from gitfleet.simulation.clock import ManualClock
from tests import builders as make


def read(text: str) -> list[Any]:
    parsed = parse_documents(text.encode(), max_bytes=1 << 20)
    assert not parsed.faults
    return [document.value for document in parsed.documents]


@pytest.mark.parametrize(
    "text", ["y", "1e3", "0777", ".inf", "12:30", "", "~", "null", "a\nb\n", "2001-01-01", "- a", "on"]
)
def test_text_stays_text(text: str) -> None:
    body = make.config_map("a", "b", {"k": text})
    assert read(make.to_yaml(body)) == [body]


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=30))
def test_any_printable_text_stays_text(text: str) -> None:
    body = make.config_map("a", "b", {"k": text})
    assert read(make.to_yaml(body)) == [body]


def test_the_manual_clock() -> None:
    clock = ManualClock(datetime(2026, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))))
    port: Clock = clock
    assert (port.now(), port.monotonic()) == (datetime(2026, 1, 1, tzinfo=UTC), 0.0)
    assert clock.advance(1.5) == datetime(2026, 1, 1, 0, 0, 1, 500000, tzinfo=UTC)
    assert clock.advance(3598.5) == port.now() == datetime(2026, 1, 1, 1, tzinfo=UTC)
    assert port.monotonic() == 3600.0
    with pytest.raises(ValueError, match="back"):
        clock.advance(-1)
    with pytest.raises(ValueError, match="zone"):
        ManualClock(datetime(2026, 1, 1))  # noqa: DTZ001 - that is the point
