"""Running somebody else's program: no shell, no input, a given environment alone, bounded in time and output.

On Linux no program outlives this process: it has a parent-death signal, and for whatever that cannot reach (what the
program itself started) a limit on CPU time, which each process inherits. git is started by GitPython, and bound in the
same way by `bound`.
"""

from __future__ import annotations

import errno
import math
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Final

LARGEST_COMPLAINT: Final = 1 << 20
"""Bytes of the standard error that are kept; what comes after is read and dropped."""
PLACES: Final = f"{os.defpath}:/usr/bin:/usr/sbin"
"""Where the system's own programs are, whatever PATH says."""
_DRAIN_SECONDS: Final = 1.0
_PROBE_SECONDS: Final = 10.0
_CHUNK: Final = 1 << 16
_running: set[subprocess.Popen[bytes]] = set()
_groups: set[int] = set()
"""Process groups of programs that have ended, of which something was alive when they were asked for last."""
_starting = threading.Lock()
"""Whoever starts a program keeps it locked until the program is in `_running`; who ends them all locks it for good."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """How a program ended: its exit code (negative for a signal), what it printed, and whether it was cut off."""

    code: int
    output: bytes
    errors: bytes
    too_slow: bool = False
    too_much: bool = False


def run_program(
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    folder: Path,
    seconds: float,
    largest_output: int,
    memory: int | None = None,
) -> Finished:
    """Run a program and all that it starts; both are ended after `seconds`, or beyond `largest_output` bytes. On Linux
    each gets at most `memory` bytes. OSError when it cannot be started. What a program leaves behind in the background
    is not waited for."""
    # A limit of data and not of addresses: Go reserves far more of them than it uses.
    process = _started(command, bound(command, seconds, data=memory), environment, folder)
    output = _Reader(process.stdout, largest_output, lambda: _end(process))
    errors = _Reader(process.stderr, LARGEST_COMPLAINT, lambda: None)
    too_slow = False
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        too_slow = True
    finally:
        if process.returncode is None:
            _end(process)
            process.wait()
        if not (output.ended(_DRAIN_SECONDS) and errors.ended(_DRAIN_SECONDS)):
            _end(process)
        _running.discard(process)
        reap(process.pid)
    content, complaint = output.content(), errors.content()
    return Finished(
        code=process.returncode, output=content, errors=complaint, too_slow=too_slow, too_much=output.too_much
    )


def bound(command: Sequence[str], seconds: float, sign: str = "KILL", **most: int | None) -> list[str]:
    """The command for a program that gets a signal when this thread ends (it is to wait for the program), and that has
    limits, as has what it starts: by name (data, as, fsize) in bytes, and in CPU time what all processors have in so
    many seconds. By `setpriv` and `prlimit` (util-linux), which become the program, since nothing of ours may run
    between fork and exec of a process with threads. Neither where the system has no such programs."""
    words = _words("setpriv", "--pdeathsig", sign)
    if _words("prlimit", "--core=0"):
        limits = {"cpu": math.ceil(seconds * (os.cpu_count() or 1)) + 1, **most}
        values = {name: _allowed(name, value) for name, value in limits.items() if value is not None}
        words += _words("prlimit", *(f"--{name}={value}" for name, value in values.items()), probe=False)
    return [*words, *command]


def fingerprint(*programs: str) -> str:
    """Which of some programs PATH has first, as its file: another version is another file. "" where it has none."""
    path = next(filter(None, map(shutil.which, programs)), None)
    if path is None:
        return ""
    file = Path(path).resolve().stat()
    return f"{Path(path).name}-{file.st_size}-{file.st_mtime_ns}"


def _words(program: str, *options: str, probe: bool = True) -> tuple[str, ...]:
    place = shutil.which(program, path=PLACES) if sys.platform == "linux" else None
    words = (str(place), *options, "--")
    return words if place is not None and (not probe or runs_behind(words)) else ()


def _allowed(name: str, value: int) -> int:
    """A limit that this process may set: none above its own hard limit."""
    hard = resource.getrlimit(getattr(resource, f"RLIMIT_{name.upper()}"))[1]
    return value if hard == resource.RLIM_INFINITY else min(value, hard)


@cache
def runs_behind(words: tuple[str, ...]) -> bool:
    """Whether a program can be started with these words before it."""
    command, environment = [*words, "true"], {"PATH": PLACES}
    try:
        done = subprocess.run(  # noqa: S603 - a fixed program, arguments as a list
            command, env=environment, capture_output=True, timeout=_PROBE_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def end_programs() -> None:
    """End every program that is running, with all that it started, and let none start from now on: this process ends
    without waiting for the threads that wait for them."""
    _starting.acquire(timeout=_DRAIN_SECONDS)
    for process in tuple(_running):
        _end(process)


def _started(
    command: Sequence[str], words: Sequence[str], environment: Mapping[str, str], folder: Path
) -> subprocess.Popen[bytes]:
    program = str(folder / command[0]) if "/" in command[0] else command[0]
    if shutil.which(program, path=environment.get("PATH", os.defpath)) is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), command[0])
    with _starting:
        # Not in a `with`: leaving it would wait for whoever in the background still holds the output.
        process = subprocess.Popen(  # noqa: S603 - callers give fixed or allow-listed programs, arguments as a list
            words,
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        _running.add(process)
    return process


class _Reader:
    """Reads a pipe to its end in a thread of its own, and keeps the first bytes."""

    def __init__(self, pipe: IO[bytes] | None, most: int, overflowing: Callable[[], None]) -> None:
        self.too_much = False
        self._kept = bytearray()
        self._most = most
        self._thread = threading.Thread(target=self._read, args=(pipe, overflowing), daemon=True)
        self._thread.start()

    def ended(self, seconds: float) -> bool:
        """Wait so long for the end of the pipe."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def content(self) -> bytes:
        """What was kept, at most as much as is wanted."""
        return bytes(self._kept[: self._most])

    def _read(self, pipe: IO[bytes] | None, overflowing: Callable[[], None]) -> None:
        if pipe is None:
            return
        with pipe:
            while chunk := os.read(pipe.fileno(), _CHUNK):
                free = self._most - len(self._kept)
                self._kept += chunk[: max(free, 0)]
                if len(chunk) > free and not self.too_much:
                    self.too_much = True
                    overflowing()


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the program with all that it started; what made itself a session of its own is beyond reach."""
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)


def reap(group: int) -> None:
    """Take the exit codes of what died of the process group of a program that has ended, and of those before it, so
    that no zombies stay.

    By group, and so nobody else's exit code is taken; what makes itself a session of its own needs an init process.
    """
    _groups.add(group)
    for pending in tuple(_groups):
        with suppress(ChildProcessError):  # as any other process, or with nothing left: init has it, or nobody
            while os.waitpid(-pending, os.WNOHANG)[0]:
                pass
            continue
        _groups.discard(pending)
