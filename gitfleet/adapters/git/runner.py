"""Runs git through GitPython: bytes in, bytes out, bounded in time and size. It knows nothing of what arguments
mean."""

from __future__ import annotations

import os
import re
import selectors
import signal
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal, cast

from gitfleet.adapters.clock import SystemClock
from gitfleet.adapters.git.hardening import unsafe_variables
from gitfleet.adapters.programs import bound, reap
from gitfleet.errors import MissingPart

if TYPE_CHECKING:
    import git

OLDEST_GIT = (2, 34)
"""GIT_CONFIG_COUNT, on which the hardening rests, is older (2.31); fast-import and fsck of 2.34 are what we tried."""
LOCAL_SECONDS = 120.0
"""Longest time for a command that does not leave this machine."""
OUTPUT_BYTES = 256 << 20
"""Most that a command may print; a tree that unfolds without end stops here."""
_INSTALL = "Install git {}.{} or newer.".format(*OLDEST_GIT)
_ERROR_BYTES = 64 << 10
_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class GitResult:
    """What a git process said: its exit status (-9 when it was stopped), output, and errors as text."""

    status: int
    output: bytes
    errors: str
    timed_out: bool = False
    too_large: bool = False

    @property
    def ok(self) -> bool:
        """Whether git did what it was asked to."""
        return self.status == 0 and not self.timed_out and not self.too_large


class GitRunner:
    """One GitPython command object in one folder with one environment; for one thread. `memory_bytes` bounds each
    process, where the system can (Linux)."""

    def __init__(self, folder: Path, environment: Mapping[str, str], *, memory_bytes: int | None = None) -> None:
        self._memory_bytes = memory_bytes
        self._environment = dict(environment)
        self._git = _open(folder)

    def run(
        self,
        *arguments: str,
        stdin: Iterable[bytes] = (),
        seconds: float = LOCAL_SECONDS,
        output_bytes: int = OUTPUT_BYTES,
        file_bytes: int | None = None,
        lock: int | None = None,
    ) -> GitResult:
        """Run `git ARGUMENTS`; never raises for what git reports.

        `stdin` is given in pieces, which together are never copied.
        `lock` is the descriptor of a lock that the process (and its children) shall keep alive when we are killed.
        `file_bytes` bounds each file that the process writes, where the system can (Linux).
        A process that runs longer than `seconds` or prints more than `output_bytes` is stopped with its children.
        """
        command: Sequence[str] = ["git", *arguments]
        if names := unsafe_variables(self._environment):
            # GitPython always starts from our whole environment; only `env` can take a variable out again.
            command = ["env", *(word for name in names for word in ("-u", name)), *command]
        started = self._git.execute(
            # TERM: git passes it on to what it started, and removes its locks.
            bound(command, seconds, "TERM", fsize=file_bytes, **{"as": self._memory_bytes}),
            istream=subprocess.PIPE,
            as_process=True,
            env=self._environment,
            shell=False,
            start_new_session=True,
            pass_fds=() if lock is None else (lock,),
        )
        process = cast("subprocess.Popen[bytes]", started.proc)
        return _communicate(process, stdin, seconds, output_bytes)


def _communicate(
    process: subprocess.Popen[bytes], stdin: Iterable[bytes], seconds: float, output_bytes: int
) -> GitResult:
    monotonic = SystemClock().monotonic
    end = monotonic() + seconds

    def left() -> float:
        return max(0.0, end - monotonic())

    pipes = [cast("IO[bytes]", pipe) for pipe in (process.stdin, process.stdout, process.stderr)]
    try:
        output, errors, stopped = _transfer(pipes, stdin, output_bytes, left)
        if not stopped:
            with suppress(subprocess.TimeoutExpired):
                process.wait(left())
        timed_out = process.returncode is None and stopped != "large"
        if process.returncode is None:
            _kill(process)
        status = process.wait()
    except BaseException:
        _kill(process)
        process.wait()
        raise
    finally:
        for pipe in pipes:
            with suppress(OSError):
                pipe.close()
        reap(process.pid)
    return GitResult(status, output, errors.decode(errors="replace"), timed_out, stopped == "large")


def _transfer(
    pipes: Sequence[IO[bytes]], stdin: Iterable[bytes], output_bytes: int, seconds_left: Callable[[], float]
) -> tuple[bytes, bytes, Literal["", "late", "large"]]:
    """Feed and drain the three pipes together, so that neither side ever waits for the other. Whoever else holds a
    pipe, a program that git left in the background, is not waited for when no time is left."""
    to_git, from_git, errors_of_git = pipes
    chunks = _chunks(stdin)
    pending = next(chunks, None)
    output, errors, length = list[bytes](), bytearray(), 0
    with selectors.DefaultSelector() as selector:
        selector.register(from_git, selectors.EVENT_READ)
        selector.register(errors_of_git, selectors.EVENT_READ)
        if pending is not None:
            os.set_blocking(to_git.fileno(), False)
            selector.register(to_git, selectors.EVENT_WRITE)
        else:
            to_git.close()
        while selector.get_map() and seconds_left():
            for key, _ in selector.select(seconds_left()):
                if key.fileobj is to_git:
                    pending = _write_chunk(key.fd, pending, chunks) if pending is not None else None
                    if pending is None:
                        selector.unregister(to_git)
                        to_git.close()
                    continue
                chunk = os.read(key.fd, _CHUNK)
                if not chunk:
                    selector.unregister(key.fileobj)
                elif key.fileobj is from_git:
                    output.append(chunk)
                    length += len(chunk)
                    if length > output_bytes:
                        return b"", bytes(errors), "large"
                elif len(errors) < _ERROR_BYTES:
                    errors += chunk
        return b"".join(output), bytes(errors), "late" if selector.get_map() else ""


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
    except BrokenPipeError:  # git ended early; its status and errors say why
        return None


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End git with all that it started, also where git itself has ended: nobody has taken its exit code yet."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _open(folder: Path) -> git.Git:
    # Imported here: GitPython searches for the program when it is imported, and commands that need no git start faster.
    try:
        import git
    except ImportError as error:
        raise MissingPart("The program git is not installed.", hint=_INSTALL) from error
    _check_version()
    # Not git.Repo: it reads the repository's settings itself, and a damaged mirror must stay ours to repair.
    return git.Git(str(folder))


@cache
def _check_version() -> None:
    import git

    try:
        text = str(git.Git().execute(["git", "version"]))
    except git.GitCommandNotFound as error:
        raise MissingPart("The program git is not installed.", hint=_INSTALL) from error
    match = re.search(r"(\d+)\.(\d+)", text)
    if not match or (int(match[1]), int(match[2])) < OLDEST_GIT:
        raise MissingPart(f"{text[:60]} is too old.", hint=_INSTALL)
