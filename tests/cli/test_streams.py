"""What happens to a command when nobody reads its output, or nothing can be written there: at any moment."""

from __future__ import annotations

import fcntl
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from gitfleet.cli.texts import CliText
from tests.cli.conftest import Ended, tiered

GITFLEET = [sys.executable, "-m", "gitfleet"]
READER_GONE = 141
LISTINGS = [
    "get crp -C {repo}",
    "get bindings -o yaml -C {repo}",
    "describe crp web -C {repo}",
    "explain web -C {repo}",
    "plan --clusters none --detailed-exitcode {repo}",
    "plan --clusters none -o json {repo}",
    "simulate {repo}",
    "simulate -o jsonl {repo}",
    "schema ClusterResourcePlacement",
    "run --help",
    "--version",
]
RUNS = ["run --once {repo}", "run --until-settled -o json {repo}", "run --until-settled -o jsonl {repo}"]
SOME = tiered({command: command for command in LISTINGS}, "get crp -C {repo}")
SINKS = ("2>/dev/full", "2>&-", "2>&1 >/dev/null | true")


def write_into(stdout: int, command: str, repo: Path) -> Ended:
    """A command that writes to a descriptor of ours, which is closed here then."""
    words = command.replace("{repo}", shlex.quote(str(repo)))
    done = subprocess.run(
        [*GITFLEET, *shlex.split(words)], stdout=stdout, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(stdout)
    return Ended(done.returncode, "", done.stderr)


def pipe_without_reader() -> int:
    read, write = os.pipe()
    os.close(read)
    return write


def full_disk() -> int:
    return os.open("/dev/full", os.O_WRONLY)


def not_for_writing() -> int:
    """What stands for a stdout that was closed from the start."""
    return os.open(os.devnull, os.O_RDONLY)


def shell(line: str) -> Ended:
    """A line of bash."""
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    return Ended(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("command", SOME)
def test_a_listing_whose_reader_has_gone_ends_as_by_sigpipe(settled: Path, command: str) -> None:
    """As git, cat and most programs do: quietly, and never with an exit code that says what nobody can know, such as 0
    for `no changes`."""
    ended = write_into(pipe_without_reader(), command, settled)
    assert (ended.code, ended.err) == (READER_GONE, "")


@pytest.mark.parametrize("command", SOME)
def test_a_listing_that_cannot_be_written_is_an_error(settled: Path, command: str) -> None:
    ended = write_into(full_disk(), command, settled)
    assert (ended.code, ended.err.splitlines()[-2:]) == (
        1,
        [
            ("error: " + CliText.STDOUT_CANNOT_WRITTEN(strerror="No space left on device")),
            CliText.HINT_FREE_SOME_SPACE(),
        ],
    )
    assert "Traceback" not in ended.err


def test_a_listing_without_stdout_is_an_error() -> None:
    for ended in (write_into(not_for_writing(), "schema", Path()), shell(f"{shlex.join(GITFLEET)} schema >&-")):
        assert (ended.code, ended.err.splitlines()[0]) == (
            1,
            ("error: " + CliText.STDOUT_CANNOT_WRITTEN(strerror="Bad file descriptor")),
        )


@pytest.mark.parametrize("command", tiered({command: command for command in RUNS}, RUNS[0]))
def test_a_run_does_its_work_whoever_reads(fleet: Path, command: str) -> None:
    """What it decides and does must not hang on a terminal or a log: the exit code is that of the work."""
    ended = write_into(pipe_without_reader(), command, fleet)
    assert ended.code == 0, ended.err
    assert "stdout" not in ended.err and "Traceback" not in ended.err
    for lost in (full_disk(), not_for_writing()):
        ended = write_into(lost, command, fleet)
        assert (ended.code, ended.err.count(CliText.WORK_GOES(sentence="") + "\n")) in ((0, 1), (0, 0)), ended.err
        assert "Traceback" not in ended.err


@pytest.mark.parametrize("sink", tiered({sink: sink for sink in SINKS}, SINKS[0]))
def test_messages_that_nobody_reads_change_no_exit_code(settled: Path, sink: str) -> None:
    repo = shlex.quote(str(settled))
    for command, code in ((f"get nonsense -C {repo}", 1), ("nonsense", 64), (f"get crp -C {repo}", 0)):
        ended = shell(f"{{ {{ {shlex.join(GITFLEET)} {command}; echo $? >&3; }} {sink}; }} 3>&1 >/dev/null")
        assert ended.out == f"{code}\n", command


def test_all_three_streams_may_be_closed_from_the_start(fleet: Path) -> None:
    """A file that is opened then must not take the place of stdout: others would write into it."""
    repo = shlex.quote(str(fleet))
    assert shell(f"{shlex.join(GITFLEET)} run --until-settled {repo} <&- >&- 2>&-").code == 0
    assert len(shell(f"{shlex.join(GITFLEET)} get crp -C {repo}").out.splitlines()) == 3


def test_a_reader_that_comes_late_gets_everything() -> None:
    """A pipe that does not block when it is full, as some programs leave theirs to us; it is full again and again."""
    read, write = os.pipe()
    os.set_blocking(write, False)
    fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 4096)
    printing = "from gitfleet.cli.streams import guard_streams\nguard_streams()\nprint('x' * 1_000_000)"
    process = subprocess.Popen([sys.executable, "-c", printing], stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        text = pipe.read()
    assert process.communicate()[1] == b"" and process.returncode == 0
    assert text == b"x" * 1_000_000 + b"\n"
