"""Where a template says `now`, so that it is rendered at another time; no file of a chart takes for ever."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gitfleet.payload.charts import at_another_time
from tests.growth import grows_with_its_input

THEN = "(toDate `2006-01-02` `2001-02-03`)"


@pytest.mark.parametrize(
    "text",
    [
        "{{ NOW }}",
        "{{- NOW -}}",
        "{{ NOW | date `2006` }}{{ (NOW) | unixEpoch }}",
        "now {{ NOW }} now",
        '{{ "now" }}{{ printf "%s now" NOW }}',
        '{"a": "{{ NOW | date \\"2006\\" }}", "b": "{{ \\"now\\" }}"}',
        'a: \'{{ NOW | date "2006" }}\'\nb: "{{ NOW }}"\n',
        "{{ .now }}{{ $now }}{{ nowhere }}{{ known }}{{ `now` }}{{ NOW}}",
        "{{/* it's \" */}}now{{ NOW }}",
        "now }} {{",
    ],
)
def test_now_is_what_an_action_calls(text: str) -> None:
    assert at_another_time(text.replace("NOW", "now").encode()).decode() == text.replace("NOW", THEN)


@pytest.mark.parametrize(
    "head, again, end",
    [
        ("{{ ", '"a" ', "\n"),
        ("", "{{ ", ""),
        ('{{ "', '\\"', "\n"),
        ("{{ `", '"`', ""),
        ("{{ ", "now ", "}}"),
    ],
)
def test_reading_a_file_takes_as_long_as_it_is(head: str, again: str, end: str) -> None:
    def run(size: int) -> Callable[[], object]:
        text = f"now {head}{again * size}{end}".encode()
        return lambda: at_another_time(text)

    assert grows_with_its_input(run)
