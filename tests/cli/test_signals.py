"""SIGTERM, SIGINT and SIGHUP in every phase, as PID 1 too: an exit code that is documented, no traceback, and a state
that the next run carries on from."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.cli.conftest import Shell, commit, git, with_usual_signals

GITFLEET = [sys.executable, "-m", "gitfleet"]
ONCE, SETTLING, CONTINUOUS = ["run", "--once"], ["run", "--until-settled"], ["run"]
WAIT_SECONDS = 120
SOAK = pytest.mark.soak("crashes")
OF_CTRL_C = pytest.param(signal.SIGINT, 130, marks=SOAK)
OF_HANG_UP = pytest.param(signal.SIGHUP, 129, marks=SOAK)
HANGING = """#!/bin/sh
for word in "$@"; do
    if [ "$word" = "$HANG_AT" ]; then touch {reached}; exec sleep 600; fi
done
exec {git} "$@"
"""


@pytest.fixture
def reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A `git` on the PATH that hangs at the subcommand $HANG_AT; it makes this file when it does."""
    folder, reached = tmp_path / "bin", tmp_path / "reached"
    folder.mkdir()
    (folder / "git").write_text(HANGING.format(reached=reached, git=shutil.which("git")))
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    yield reached


def begin(words: Sequence[str | Path], before: Sequence[str] = ()) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*before, *GITFLEET, *map(str, words)],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=with_usual_signals,
    )


def await_that(condition: Callable[[], object], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(0.02)


def ending(process: subprocess.Popen[str]) -> int:
    try:
        _, talk = process.communicate(timeout=WAIT_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    assert "Traceback" not in talk and "unexpected" not in talk, talk
    return process.returncode


@pytest.mark.parametrize(
    ("phase", "command", "number", "code"),
    [
        pytest.param("ls-remote", ONCE, signal.SIGTERM, 143, marks=SOAK),
        pytest.param("fetch", SETTLING, signal.SIGINT, 130, marks=SOAK),
        ("fetch", CONTINUOUS, signal.SIGTERM, 0),
        pytest.param("ls-tree", CONTINUOUS, signal.SIGHUP, 129, marks=SOAK),
        pytest.param("fast-import", ONCE, signal.SIGHUP, 129, marks=SOAK),
        pytest.param("push", ONCE, signal.SIGTERM, 143, marks=SOAK),
        pytest.param("push", CONTINUOUS, signal.SIGINT, 130, marks=SOAK),
    ],
)
def test_a_run_that_hangs_in_git_ends(
    gitfleet: Shell, fleet: Path, reached: Path, monkeypatch: pytest.MonkeyPatch, phase: str, command: list[str],
    number: signal.Signals, code: int,
) -> None:  # fmt: skip
    monkeypatch.setenv("HANG_AT", phase)
    process = begin([*command, fleet])
    await_that(reached.exists, process)
    process.send_signal(number)

    assert ending(process) == code
    monkeypatch.delenv("HANG_AT")
    assert gitfleet("run", "--until-settled", fleet).code == 0
    assert git(fleet, "fsck", "--strict", "--no-dangling") == ""


def test_a_second_signal_ends_it_at_once(fleet: Path, reached: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANG_AT", "push")
    process = begin(["run", fleet])
    await_that(reached.exists, process)
    for _ in range(2):
        process.send_signal(signal.SIGINT)
        time.sleep(0.05)  # two that are pending at once are one
    assert ending(process) == 130


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), OF_CTRL_C, OF_HANG_UP])
def test_a_command_that_reads_ends_where_it_is(
    fleet: Path, reached: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals, code: int
) -> None:
    monkeypatch.setenv("HANG_AT", "fetch")
    process = begin(["plan", "--clusters", "none", fleet])
    await_that(reached.exists, process)
    process.send_signal(number)
    assert ending(process) == code


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), OF_HANG_UP, OF_CTRL_C])
def test_a_run_that_moves_or_sleeps_ends(fleet: Path, number: signal.Signals, code: int) -> None:
    process = begin(["run", fleet, "-o", "jsonl"])
    assert process.stdout is not None
    for line in process.stdout:
        if '"type":"commit"' in line.replace(" ", ""):
            break
    process.send_signal(number)
    assert ending(process) == code


MEMBER = """\
apiVersion: cluster.kubernetes-fleet.io/v1beta1
kind: MemberCluster
metadata: {{name: {name}, labels: {{env: prod, region: eu}}}}
spec: {{connection: {{simulated: true}}}}
"""


@pytest.mark.soak("crashes")
def test_a_run_that_ends_between_intent_and_operations_is_carried_on(gitfleet: Shell, fleet: Path) -> None:
    """Nobody reads its events, so it waits in the middle of them: the intent is pushed, nothing is performed yet."""
    commit(fleet, {f"clusters/{name}.yaml": MEMBER.format(name=name) for name in (f"x{n}" for n in range(150))})
    process = begin([*ONCE, fleet, "-o", "jsonl"])
    state = ["git", "rev-parse", "--verify", "--quiet", "gitfleet/state"]
    await_that(lambda: subprocess.run(state, cwd=fleet, capture_output=True, check=False).returncode == 0, process)
    time.sleep(1)
    for _ in range(2):
        process.send_signal(signal.SIGTERM)
        time.sleep(0.05)
    assert ending(process) == 143
    assert git(fleet, "rev-list", "--count", "gitfleet/state") == "1\n", "the intent and no report"
    assert gitfleet("run", "--until-settled", fleet).code == 0
    assert git(fleet, "fsck", "--strict", "--no-dangling") == ""


@pytest.mark.soak("crashes")
def test_nohup_is_respected(fleet: Path) -> None:
    process = begin(["run", fleet, "-o", "jsonl"], before=["nohup"])
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGHUP)
    process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    assert ending(process) == 0


def _namespaces() -> bool:
    words = ["unshare", "--pid", "--fork", "--kill-child", "true"]
    return (
        shutil.which("unshare") is not None and subprocess.run(words, capture_output=True, check=False).returncode == 0
    )


@pytest.mark.skipif(not _namespaces(), reason="a PID namespace needs rights that this machine does not give")
@pytest.mark.parametrize(
    ("command", "code"),
    [
        pytest.param(ONCE, 143, marks=SOAK),
        (CONTINUOUS, 0),
        pytest.param(["plan", "--clusters", "none"], 143, marks=SOAK),
    ],
)
def test_as_pid_1(fleet: Path, reached: Path, monkeypatch: pytest.MonkeyPatch, command: list[str], code: int) -> None:
    """The first process of a container has no default actions: a signal that nobody handles is lost."""
    monkeypatch.setenv("HANG_AT", "fetch")
    process = begin([*command, fleet], before=["unshare", "--pid", "--fork", "--kill-child"])
    await_that(reached.exists, process)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    os.kill(int(children[0]), signal.SIGTERM)
    assert ending(process) == code
