"""Running somebody else's program: no shell, no input, a given environment alone, bounded in time and output."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from gitfleet.adapters.orphans import reap

LARGEST_COMPLAINT: Final = 1 << 20
"""Bytes of the standard error that are kept; what comes after is read and dropped."""
_DRAIN_SECONDS: Final = 1.0
_CHUNK: Final = 1 << 16
_running: set[subprocess.Popen[bytes]] = set()
_starting = threading.Lock()
"""Whoever starts a program holds it until the program is in `_running`; who ends them all holds it for good."""


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
    process = _started(command, environment, folder)
    _limit_memory(process.pid, memory)
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
    kept, complaint = output.content(), errors.content()
    return Finished(code=process.returncode, output=kept, errors=complaint, too_slow=too_slow, too_much=output.too_much)


def end_programs() -> None:
    """End every program that is running, with all that it started, and let none start from now on: this process ends
    without waiting for the threads that wait for them."""
    _starting.acquire(timeout=_DRAIN_SECONDS)
    for process in tuple(_running):
        _end(process)


def _started(command: Sequence[str], environment: Mapping[str, str], folder: Path) -> subprocess.Popen[bytes]:
    with _starting:
        # Not in a `with`: leaving it would wait for whoever in the background still holds the output.
        process = subprocess.Popen(  # noqa: S603 - callers give fixed or allow-listed programs, arguments as a list
            list(command),
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


def _limit_memory(pid: int, most: int | None) -> None:
    """Of data, not of addresses: Go reserves far more addresses than it uses. By prlimit, since nothing of ours may run
    between fork and exec of a process with threads; the program has not begun to read by then."""
    if most is None or sys.platform != "linux":
        return
    with contextlib.suppress(ProcessLookupError):  # it has ended already
        resource.prlimit(pid, resource.RLIMIT_DATA, (most, most))


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the program with all that it started; what made itself a session of its own is beyond reach."""
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
