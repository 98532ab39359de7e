"""A real Prometheus reads escaped values as they were, and names as a regular expression as themselves alone."""

from __future__ import annotations

import pytest

from gitfleet.analysis.templates import alternatives, resolved
from tests.realparts.prometheus import PrometheusServer

HOSTILE = (
    'a"b', "a'b", "a`b", "a\\b", "a\nb", 'a"} or vector(0) or hostile{x="', "\\", "\\\\", "ü\u2028é", "{{ y }}",
    "a.b|c",
)  # fmt: skip


def exposed(value: str) -> str:
    """A label's value as the text format of metrics has it."""
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def found(server: PrometheusServer, query: str) -> list[str]:
    """The label `name` of what a query gives."""
    return [one["metric"]["name"] for one in server.query(query)]


@pytest.mark.real
def test_every_value_finds_its_own_series_alone(prometheus: PrometheusServer) -> None:
    prometheus.scrape("".join(f'hostile{{name="{exposed(one)}"}} 1\n' for one in HOSTILE))
    for value in HOSTILE:
        for template in ('hostile{name="{{ x }}"}', "hostile{name='{{ x }}'}"):
            assert found(prometheus, resolved(template, {"x": value})) == [value]
        for pattern in ('hostile{name=~"{{ x }}"}', "hostile{name=~'{{ x }}'}"):
            query = resolved(pattern, {"x": alternatives([value, "nothing"])})
            assert found(prometheus, query) == [value]
