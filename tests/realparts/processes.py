"""Server processes that cannot outlive the test run, however it ends."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_set_process_option = ctypes.CDLL(None).prctl if sys.platform == "linux" else None
_LOG_TAIL_LINES = 40
_STOP_SECONDS = 10.0
_POLL_SECONDS = 0.02

# The kernel's death signal follows the thread that started the process, not the program.
# So one thread starts them all, and lives as long as the program does.
_starter = ThreadPoolExecutor(max_workers=1, thread_name_prefix="server-starter")
_running: weakref.WeakSet[ServerProcess] = weakref.WeakSet()


def running_cpu_seconds() -> float:
    """CPU seconds that all running servers of this process have used; those that ended count as its children."""
    pids = [server.pid for server in [*_running]]
    return sum(_ticks(pid) for pid in pids if pid is not None) / os.sysconf("SC_CLK_TCK")


def _ticks(pid: int) -> int:
    """User and system time of a process: fields 14 and 15 of its `stat`, of which 2 is a name in parentheses."""
    after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(after_name[11]) + int(after_name[12])


class StartFailed(Exception):
    """A server did not become ready; the message carries the end of its log."""


class ServerProcess:
    """One server: its arguments, its log file, and at most one running process.

    The process is killed when the program ends in any way (on Linux by the kernel, even
    after SIGKILL). It is in a session of its own, so Ctrl-C reaches only the test run.
    """

    def __init__(
        self, name: str, arguments: Sequence[str], *, log: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        self.name = name
        self.log = log
        self._arguments = list(arguments)
        self._environment = {**os.environ, **(environment or {})}
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def running(self) -> bool:
        """Whether the process was started and has not ended."""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int | None:
        """The process id while it runs."""
        return self._process.pid if self._process is not None and self.running else None

    def start(self) -> None:
        """Start the process unless it runs; return at once, ready or not."""
        if not self.running:
            self._process = _starter.submit(self._spawn).result()
            _running.add(self)

    def stop(self) -> None:
        """End the process in an orderly way, or by force after ten seconds."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End the process by force, as a crash would."""
        self._end(signal.SIGKILL)

    def freeze(self) -> None:
        """Stop the process from running without ending it: connections hang."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let a frozen process run on."""
        self._signal(signal.SIGCONT)

    def await_ready(self, is_ready: Callable[[], bool], *, seconds: float) -> None:
        """Return when ``is_ready`` says so.

        Raises ``StartFailed`` when the process ends before that, or when time is up.
        """
        deadline = time.monotonic() + seconds
        while not is_ready():
            if not self.running:
                raise StartFailed(f"{self.name} ended before it was ready\n{self.log_tail()}")
            if time.monotonic() > deadline:
                raise StartFailed(f"{self.name} not ready after {seconds:g} s\n{self.log_tail()}")
            time.sleep(_POLL_SECONDS)

    def log_tail(self) -> str:
        """Return the last lines that the process wrote."""
        if not self.log.exists():
            return "(no log)"
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-_LOG_TAIL_LINES:])

    def _spawn(self) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as output:
            return subprocess.Popen(
                self._arguments,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                # Safe beside other threads: it makes one system call, bound before the fork.
                preexec_fn=_die_with_parent if _set_process_option is not None else None,
            )

    def _end(self, signal_number: signal.Signals) -> None:
        self._signal(signal_number)
        self._signal(signal.SIGCONT)
        if self._process is None:
            return
        try:
            self._process.wait(timeout=_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._signal(signal.SIGKILL)
            self._process.wait()

    def _signal(self, signal_number: signal.Signals) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal_number)


class HeldPort:
    """A loopback port that the kernel gives to nobody else as long as this object lives.

    A socket stays bound to it and never listens, so that connections are refused until a server that sets
    ``SO_REUSEADDR``, as Go's and Python's do, listens there; a server that was stopped comes back to the same port.
    """

    def __init__(self) -> None:
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        # Only after the bind: before it, the kernel would share a port that another process holds in this way.
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.number: int = self._socket.getsockname()[1]


def _die_with_parent() -> None:
    if _set_process_option is not None:
        _set_process_option(_PR_SET_PDEATHSIG, signal.SIGKILL)
