"""Benchmarks at small sizes print their goals and meet them; a program that misses one ends with status 1."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.goals import Goals, exponent

ROOT = Path(__file__).parents[2]
PROGRAMS = {
    "apply": "--objects 100 --rounds 20",
    "fleet": "200x2x4:all 1000x2x4:all",
    "idle": "--sizes 1000x2x4:all 10000x2x4:all --ticks 20",
    "observing": "--clusters 10 --objects 9",
    "reading": "20 10",
    "reconcile": "--small 400 --large 1600 --runs 3",
    "runs": "--sizes 10,50",
    "scheduling": "1000",
    "variants": "40x80 40x320",
    "webhook_to_applied": "--rounds 5",
    "workload_rollouts": "30 100",
}
REAL = {"apply", "reconcile", "variants", "webhook_to_applied"}
WITHOUT_GOALS = {"generated", "goals", "partial_clone"}


@pytest.mark.soak("scale")
@pytest.mark.timeout(1500)
@pytest.mark.parametrize(
    "program", [pytest.param(one, marks=[pytest.mark.real] if one in REAL else []) for one in PROGRAMS]
)
def test_the_goals_are_met(program: str) -> None:
    command = [sys.executable, "-m", f"benchmarks.{program}", *PROGRAMS[program].split()]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert (done.returncode, "goal met: " in done.stdout) == (0, True), done.stdout


def test_every_benchmark_is_run_for_its_goals() -> None:
    programs = {path.stem for path in (ROOT / "benchmarks").glob("*.py")} - {"__init__"}
    assert programs == {*PROGRAMS, *WITHOUT_GOALS}


def test_a_missed_goal_ends_the_program(capsys: pytest.CaptureFixture[str]) -> None:
    goals = Goals()
    goals.at_least("ratio", 0.9, 0.85)
    goals.at_most("exponent", exponent(1, 16, 4), 2)
    goals.end()
    goals.at_least("ratio", 0.5, 0.85)
    goals.at_most("exponent", exponent(1, 64, 4), 2)
    with pytest.raises(SystemExit, match=r"goals missed: ratio 0\.50, at least 0\.85; exponent 3\.00, at most 2"):
        goals.end()
    printed = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in printed] == ["goal met"] * 2 + ["goal MISSED"] * 2
