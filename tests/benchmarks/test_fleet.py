"""The benchmarks of fleets and runs on small ones: they run to their end and show every figure. Nothing is timed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import fleet, runs
from benchmarks.generated import Size

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[dict[str, Any]]]:
    """What the command printed, and the figures that it wrote."""
    file = tmp_path_factory.mktemp("figures") / "figures.json"
    command = [sys.executable, "-m", "benchmarks.fleet", "20x3x20", "10x2x4:all", "--json", str(file)]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout, json.loads(file.read_text())


@pytest.mark.soak("scale")
@pytest.mark.parametrize("place", (0, 1))
def test_the_fleet_is_settled_and_whole(shown: tuple[str, list[dict[str, Any]]], place: int) -> None:
    figures = shown[1][place]
    size = Size.parse(figures["size"])
    assert figures["settled"] and figures["settled again"]
    assert (figures["bindings"], figures["objects"]) == (size.bindings, size.objects)
    assert figures["edit commits"] > 0
    assert figures["state commits"] > 0
    assert figures["state files"] > size.clusters
    assert figures["state bytes"] > 0


@pytest.mark.soak("scale")
def test_every_figure_is_printed(shown: tuple[str, list[dict[str, Any]]]) -> None:
    printed, (first, second) = shown
    for figures in (first, second):
        assert figures["size"] in printed
        for step in fleet.STEPS:
            assert f"  {step:<8}{figures[step]:>9.2f} s CPU" in printed
    for words in ("MiB peak", "times git ls-remote", "times a pickle round trip", "files", "MiB packed"):
        assert printed.count(words) >= 2


def test_a_size_is_read_as_it_is_written() -> None:
    size = Size.parse("1000x10x20:all")
    assert (size, str(size), size.bindings) == (Size(1000, 10, 20, pick_all=True), "1000x10x20:all", 10_000)
    for wrong in ("10x10", "10x10x5", "10x10x10:some", "axbxc"):
        with pytest.raises(ValueError):
            Size.parse(wrong)


def test_runs_are_measured_to_their_end(capsys: pytest.CaptureFixture[str]) -> None:
    runs.main(["--sizes", "1,3"])
    printed = [line for line in capsys.readouterr().out.splitlines() if not line.startswith("goal ")]
    assert [line.split()[:2] for line in printed] == [[case, size] for case in runs.CASES for size in ("1", "3")]
    assert all(f"{step} " in line for line in printed for step in runs.STEPS)
