"""gitfleet as its users run it: a process of its own, by its command line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

_LONGEST_SECONDS = 120.0


@dataclass(frozen=True, kw_only=True)
class Program:
    """One installation of gitfleet: a repo, a cache of its own, and what it was given to reach clusters."""

    repo: str
    home: Path
    kubeconfig: Path | None = None
    simulated: Path | None = None
    more: tuple[str, ...] = ()

    def run(self, *options: str, expect: int | None = 0, timeout: float = _LONGEST_SECONDS) -> Ended:
        """`gitfleet run` to its end; AssertionError when it ends otherwise than expected (None: any way)."""
        return self.command("run", self.repo, *options, *self.options(), expect=expect, timeout=timeout)

    def settle(self, timeout: float = 60.0) -> Ended:
        """`gitfleet run --until-settled`."""
        return self.run("--until-settled", "--timeout", str(timeout))

    def command(self, *words: str, expect: int | None = 0, timeout: float = _LONGEST_SECONDS) -> Ended:
        """Any command to its end."""
        return ended(self._start([sys.executable, "-m", "gitfleet", *words]), expect=expect, timeout=timeout)

    def start(self, *options: str) -> subprocess.Popen[str]:
        """`gitfleet run` in the background; the caller ends it."""
        return self._start([sys.executable, "-m", "gitfleet", "run", self.repo, *options, *self.options()])

    def start_script(self, module: str, *words: str) -> subprocess.Popen[str]:
        """A Python module of the tests in the background, with the surroundings of this installation."""
        return self._start([sys.executable, "-m", module, *words])

    @contextmanager
    def running(self, *options: str) -> Iterator[Running]:
        """`gitfleet run` for as long as the block lasts; killed at its end if it has not ended by then."""
        self.home.mkdir(parents=True, exist_ok=True)
        talk = self.home / "talk.txt"
        with talk.open("a") as sink:
            process = subprocess.Popen(
                [sys.executable, "-m", "gitfleet", "run", self.repo, *options, *self.options()],
                env=self._environment(), stdin=subprocess.DEVNULL, stdout=sink, stderr=sink, text=True,
            )  # fmt: skip
        try:
            yield Running(process, talk)
        finally:
            process.kill()
            process.wait()

    def options(self) -> list[str]:
        """The options that say where its cache is and how clusters are reached."""
        options = ["--cache-dir", str(self.home / "cache")]
        if self.kubeconfig is not None:
            options += ["--kubeconfig", str(self.kubeconfig)]
        if self.simulated is not None:
            options += ["--simulated-dir", str(self.simulated)]
        return [*options, *self.more]

    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "TMPDIR", "PYTHONPATH")}
        mine = {"HOME": str(self.home), "PYTHONUNBUFFERED": "1", "GIT_CONFIG_NOSYSTEM": "1"}
        return kept | mine

    def _start(self, words: Sequence[str]) -> subprocess.Popen[str]:
        self.home.mkdir(parents=True, exist_ok=True)
        return subprocess.Popen(
            list(words), env=self._environment(), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip


@dataclass(frozen=True)
class Ended:
    """What a process left: exit code, data and talk."""

    code: int
    output: str
    talk: str


@dataclass(frozen=True)
class Running:
    """A process at work; what it says goes to a file."""

    process: subprocess.Popen[str]
    _talk: Path = field(repr=False)

    @property
    def talk(self) -> str:
        """All that it has said so far, data and talk."""
        return self._talk.read_text()

    def terminate(self) -> int:
        """Send SIGTERM; the exit code. AssertionError when it does not end."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(_LONGEST_SECONDS)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still there {_LONGEST_SECONDS:g} s after SIGTERM:\n{self.talk}") from None


def ended(process: subprocess.Popen[str], *, expect: int | None = 0, timeout: float = _LONGEST_SECONDS) -> Ended:
    """Wait for a process; AssertionError with all that it said when it ends otherwise than expected."""
    try:
        output, talk = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        output, talk = process.communicate()
        raise AssertionError(f"still there after {timeout:g} s\n{output}\n{talk}") from None
    assert expect is None or process.returncode == expect, f"exit code {process.returncode}\n{output}\n{talk}"
    return Ended(process.returncode, output, talk)


def eventually(what: Callable[[], bool], why: Callable[[], str] = str) -> None:
    """Wait until something is true; AssertionError when it never is, which is no measure of how fast it should be."""
    end = time.monotonic() + _LONGEST_SECONDS
    while not what():
        if time.monotonic() > end:
            raise AssertionError(f"not within {_LONGEST_SECONDS:g} s: {why()}")
        time.sleep(0.1)
