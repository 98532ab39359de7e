"""A run that exceeds its budget fails and names the file; a test that hangs ends, and is named; a test has its tier."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import tiers_of
from tests.costs import FILE_BUDGET, Cost, excesses

ROOT = Path(__file__).resolve().parents[2]
SPEND = "import time\n\ndef test_dear():\n    while time.process_time() < 2: pass\n"
GROUP = """import time
import pytest

@pytest.mark.xdist_group("one")
@pytest.mark.parametrize("number", range(6))
def test_it(number):
    time.sleep(0.1)
"""
PLUGINS = [word for name in ("xdist", "pytest_timeout", "tests.costs", "no:cacheprovider") for word in ("-p", name)]
"""No others: three processes of each run would load them."""
HANG = """
import time
import pytest

@pytest.mark.xdist_group("sound")
@pytest.mark.parametrize("number", range(4))
def test_sound(number):
    time.sleep(2)

@pytest.mark.xdist_group("hanging")
def test_hanging():
    time.sleep(600)

@pytest.mark.xdist_group("other")
def test_other():
    pass
"""


def run(folder: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    """A run of pytest with two workers over one file, with the settings of this project."""
    (folder / "test_it.py").write_text(text)
    command = ["-m", "pytest", *PLUGINS, "-n", "2", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(folder)]
    return subprocess.run(
        [sys.executable, *command, *options, str(folder)],
        cwd=ROOT,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_run_that_exceeds_its_budget_fails(tmp_path: Path) -> None:
    done = run(tmp_path, SPEND, "--budget", "1")
    assert done.returncode == 1, done.stdout
    assert "over budget" in done.stdout and "test_it.py (1 tests)" in done.stdout


def test_a_test_that_hangs_ends_and_is_named(tmp_path: Path) -> None:
    parallel = re.search(r"^PARALLEL := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert parallel
    done = run(tmp_path, HANG, "--timeout", "5", *parallel[1].split())
    assert done.returncode == 1, done.stdout
    assert re.search("crashed while running '.*::test_hanging@hanging'", done.stdout)
    assert "1 failed, " in done.stdout


def test_the_tests_of_a_group_run_on_one_worker_within_their_budget(tmp_path: Path) -> None:
    done = run(tmp_path, GROUP, "--dist", "loadgroup", "--verbose", "--budget", "1000")
    workers = set(re.findall(r"\[(gw\d)\].* PASSED", done.stdout))
    assert (done.returncode, len(workers)) == (0, 1), done.stdout
    assert "over budget" not in done.stdout and "test_it.py (6 tests)" in done.stdout


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
