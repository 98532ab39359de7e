"""The benchmark of workload rollouts on small fleets: it runs to its end and shows its ratios. Nothing is timed."""

from __future__ import annotations

import re

import pytest

from benchmarks import workload_rollouts


def test_an_edit_is_compared_with_the_same_one_without_rollouts(capsys: pytest.CaptureFixture[str]) -> None:
    workload_rollouts.main(["1", "3"])
    lines = [line for line in capsys.readouterr().out.splitlines() if not line.startswith("goal ")]
    number, passes = r"[0-9]+\.[0-9]+", r"[1-9][0-9]*"
    for line, count in zip(lines, (1, 3), strict=True):
        edit = (
            f" +{count} rollouts: one edit {number} s CPU in {passes} passes, without rollouts {number} s in {passes}"
        )
        assert re.fullmatch(f"{edit}: {number} times, {number} times a pass", line), line
