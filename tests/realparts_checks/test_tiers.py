"""A run that exceeds its budget fails and names the file; a test that hangs ends, and is named; a test has its tier."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import tiers_of
from tests.costs import FILE_BUDGET, Cost, excesses

ROOT = Path(__file__).resolve().parents[2]
SPEND = "import time\n\ndef test_dear():\n    while time.process_time() < {seconds}: pass\n"
GROUP = """import time
import pytest

@pytest.mark.xdist_group("one")
@pytest.mark.parametrize("number", range(6))
def test_it(number):
    time.sleep(0.1)
"""
HANG = "import time\n\ndef test_sound():\n    pass\n\ndef test_hanging():\n    time.sleep(600)\n"


def run(folder: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    """A run of pytest with two workers over one file, with the settings of this project."""
    (folder / "test_it.py").write_text(text)
    (folder / "pytest.ini").write_text("[pytest]\ntimeout_method = thread\n")
    command = ["-m", "pytest", "-p", "tests.costs", "-p", "no:cacheprovider", "-n", "2", "--rootdir", str(folder)]
    return subprocess.run(
        [sys.executable, *command, *options, str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize(("budget", "code"), [("1", 1), ("1000", 0)])
def test_a_run_that_exceeds_its_budget_fails(tmp_path: Path, budget: str, code: int) -> None:
    done = run(tmp_path, SPEND.format(seconds=2), "--budget", budget)
    assert done.returncode == code, done.stdout
    assert ("over budget" in done.stdout) == bool(code)
    assert "test_it.py (1 tests)" in done.stdout


def test_a_test_that_hangs_ends_and_is_named(tmp_path: Path) -> None:
    done = run(tmp_path, HANG, "--timeout", "2")
    assert done.returncode == 1, done.stdout
    assert "crashed while running 'test_it.py::test_hanging'" in done.stdout
    assert "1 failed, 1 passed" in done.stdout


def test_the_tests_of_a_group_run_on_one_worker(tmp_path: Path) -> None:
    done = run(tmp_path, GROUP, "--dist", "loadgroup", "--verbose")
    workers = set(re.findall(r"\[(gw\d)\].* PASSED", done.stdout))
    assert (done.returncode, len(workers)) == (0, 1), done.stdout


@pytest.mark.parametrize(
    ("cost", "total", "named"),
    [
        (FILE_BUDGET - 1, 50, []),
        (FILE_BUDGET + 1, 50, ["a.py"]),
        (1, 101, ["all tests"]),
        (99, 101, ["a.py", "all tests"]),
    ],
)
def test_what_exceeds_its_budget_is_named(cost: float, total: float, named: list[str]) -> None:
    found = excesses({"a.py": Cost(cpu=cost)}, total, 100)
    assert [sentence.partition(" cost ")[0] for sentence in found] == named


@pytest.mark.parametrize(
    ("marks", "tiers"),
    [
        ([], {"test"}),
        ([pytest.mark.soak("real")], {"real"}),
        ([pytest.mark.deeper("walks")], {"test", "walks"}),
        ([pytest.mark.soak("real"), pytest.mark.deeper("walks")], {"real", "walks"}),
    ],
)
def test_the_tiers_of_a_test(
    marks: list[pytest.MarkDecorator], tiers: set[str], request: pytest.FixtureRequest
) -> None:
    for mark in marks:
        request.node.add_marker(mark)
    assert tiers_of(request.node) == tiers


def test_an_unknown_part_is_an_error(request: pytest.FixtureRequest) -> None:
    request.node.add_marker(pytest.mark.soak("nonsense"))
    with pytest.raises(pytest.UsageError, match="nonsense is no part of the soak tier"):
        tiers_of(request.node)
