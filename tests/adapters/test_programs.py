"""Programs that gitfleet starts do not outlive it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gitfleet.adapters.git.runner import GitRunner
from gitfleet.adapters.programs import run_program

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a parent-death signal")
WAITS = "echo $$ > {}; exec sleep 60"
STARTS = """
import os, sys, threading
from pathlib import Path
from gitfleet.adapters.git.runner import GitRunner
from gitfleet.adapters.hermetic import network_cut
from gitfleet.adapters.programs import run_program

folder, waits = Path(sys.argv[1]), sys.argv[2]

def program(name, before=()):
    command = [*before, "sh", "-c", waits.format(name)]
    run_program(command, environment={"PATH": os.environ["PATH"]}, folder=folder, seconds=60, largest_output=9)

def git(name):
    GitRunner(folder, {}).run("-c", f"alias.wait=!{waits.format(folder / name)}", "wait")

for work in ((program, "plain"), (program, "cut", network_cut()), (git, "git")):
    threading.Thread(target=work[0], args=work[1:]).start()
"""


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_running(file: Path) -> bool:
    """Whether the process whose id a file has is there, and no zombie."""
    try:
        stat = Path("/proc", file.read_text().strip(), "stat").read_text()
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def test_programs_end_with_a_process_that_is_killed(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("plain", "cut", "git")]
    starter = subprocess.Popen(
        [sys.executable, "-c", STARTS, str(tmp_path), WAITS], cwd=Path(__file__).parents[2], env=os.environ
    )
    try:
        until(lambda: all(file.exists() and file.read_text().strip() for file in files))
        assert all(is_running(file) for file in files)
    finally:
        starter.kill()
        starter.wait()
    until(lambda: not any(is_running(file) for file in files))


def test_what_a_program_started_has_a_limit_on_its_cpu_time(tmp_path: Path) -> None:
    """Whatever it leaves behind: in a session of its own, or beneath git."""
    asks = "ulimit -t > {0}; ulimit -Ht >> {0}"
    for name, text in (("plain", asks), ("session", f"setsid --wait sh -c '{asks}'")):
        run_program(
            ["sh", "-c", text.format(name)],
            environment={"PATH": os.environ["PATH"]},
            folder=tmp_path,
            seconds=7,
            largest_output=9,
        )
    file = tmp_path / "git"
    GitRunner(tmp_path, {}).run("-c", f"alias.ask=!{asks.format(file)}", "ask", seconds=7)
    most = str(7 * (os.cpu_count() or 1) + 1)
    assert [(tmp_path / name).read_text().split() for name in ("plain", "session", "git")] == [[most] * 2] * 3


def test_a_program_that_is_not_there_cannot_be_started(tmp_path: Path) -> None:
    for command in ("no-such-program", "./no-such-program", str(tmp_path / "none")):
        with pytest.raises(FileNotFoundError):
            run_program([command], environment={}, folder=tmp_path, seconds=1, largest_output=9)
