"""The benchmark of requests, on a small fleet."""

from __future__ import annotations

from benchmarks.observing import measured


def test_a_quiet_pass_asks_nobody_where_clusters_are_watched() -> None:
    read, watched = (measured(3, 9, watches=watches) for watches in (False, True))
    assert read["quiet"] > 0 and watched["quiet"] == 0
    assert watched["quiet, a minute later"] < read["quiet, a minute later"]
    assert watched["clusters asked for that"] == 1
