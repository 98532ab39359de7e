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
import selectors
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Final, cast

from gitfleet.adapters.clock import SystemClock

LARGEST_COMPLAINT: Final = 1 << 20
"""Bytes of the standard error that are kept; what comes after is read and dropped."""
PLACES: Final = f"{os.defpath}:/usr/bin:/usr/sbin"
"""Where the system's own programs are, whatever PATH says."""
_LAST_SECONDS: Final = 1.0
_PROBE_SECONDS: Final = 10.0
_CHUNK: Final = 1 << 16
_monotonic: Final = SystemClock().monotonic
_running: set[subprocess.Popen[bytes]] = set()
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
    each gets at most `memory` bytes. OSError when it cannot be started."""
    # A limit of data and not of addresses: Go reserves far more of them than it uses.
    process = _started(command, bound(command, seconds, data=memory), environment, folder)
    try:
        return finished(process, seconds, largest_output)
    finally:
        _running.discard(process)


def finished(
    process: subprocess.Popen[bytes], seconds: float, largest_output: int, stdin: Iterable[bytes] | None = None
) -> Finished:
    """Feed a program, read what it prints and wait for it; it is ended with all that it started after `seconds`, or
    beyond `largest_output` bytes. Whoever else holds a pipe, a program that it left in the background, is waited for
    as long. `stdin` is given in pieces, which together are never copied; None for a program without."""
    end = _monotonic() + seconds
    pipes = [pipe for pipe in (process.stdout, process.stderr, process.stdin) if pipe is not None]
    try:
        output, errors, too_slow, too_much = _transfer(pipes, stdin or (), largest_output, end)
        if not (too_slow or too_much):
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, end - _monotonic()))
            too_slow = process.returncode is None
        return Finished(code=_ended(process), output=output, errors=errors, too_slow=too_slow, too_much=too_much)
    finally:
        _ended(process)
        for pipe in pipes:
            with suppress(OSError):
                pipe.close()


def _transfer(
    pipes: Sequence[IO[bytes]], stdin: Iterable[bytes], largest_output: int, end: float
) -> tuple[bytes, bytes, bool, bool]:
    """Feed and drain the pipes together, so that neither side ever waits for the other."""
    from_program, errors_of_program, *to_program = pipes
    chunks = _chunks(stdin)
    pending = next(chunks, None)
    output, errors, length = list[bytes](), bytearray(), 0
    with selectors.DefaultSelector() as selector:
        selector.register(from_program, selectors.EVENT_READ)
        selector.register(errors_of_program, selectors.EVENT_READ)
        for pipe in to_program:
            os.set_blocking(pipe.fileno(), False)
            selector.register(pipe, selectors.EVENT_WRITE)
        while selector.get_map() and (seconds_left := end - _monotonic()) > 0:
            for key, mask in selector.select(seconds_left):
                pipe = cast("IO[bytes]", key.fileobj)
                if mask & selectors.EVENT_WRITE:
                    pending = _write_chunk(key.fd, pending, chunks) if pending is not None else None
                    if pending is None:
                        selector.unregister(pipe)
                        pipe.close()
                elif not (chunk := os.read(key.fd, _CHUNK)):
                    selector.unregister(pipe)
                elif pipe is from_program:
                    output.append(chunk)
                    length += len(chunk)
                    if length > largest_output:
                        return b"", bytes(errors), False, True
                else:
                    errors += chunk[: LARGEST_COMPLAINT - len(errors)]
        return b"".join(output), bytes(errors), bool(selector.get_map()), False


def _chunks(pieces: Iterable[bytes]) -> Iterator[memoryview]:
    """The same bytes in pieces that are worth a system call each; none is empty."""
    pending: list[bytes] = []
    length = 0
    for piece in pieces:
        pending.append(piece)
        length += len(piece)
        if length >= _CHUNK:
            yield memoryview(b"".join(pending))
            pending, length = [], 0
    if length:
        yield memoryview(b"".join(pending))


def _write_chunk(descriptor: int, pending: memoryview, chunks: Iterator[memoryview]) -> memoryview | None:
    """What is to be written next; None when there is nothing more."""
    try:
        return pending[os.write(descriptor, pending) :] or next(chunks, None)
    except BlockingIOError:
        return pending
    except BrokenPipeError:  # it ended early; its exit code and errors say why
        return None


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
    _starting.acquire(timeout=_LAST_SECONDS)
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


def _ended(process: subprocess.Popen[bytes]) -> int:
    """The exit code of a program; one that goes on is ended first."""
    if process.returncode is None:
        _end(process)
    return process.wait()


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the program with all that it started; what made itself a session of its own is beyond reach."""
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
