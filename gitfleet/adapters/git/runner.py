"""Runs git through GitPython: bytes in, bytes out, bounded in time and size. It knows nothing of what arguments
mean."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

from gitfleet.adapters.git.hardening import unsafe_variables
from gitfleet.adapters.git.texts import GitText
from gitfleet.adapters.programs import bound, finished
from gitfleet.errors import MissingPart

if TYPE_CHECKING:
    import git

OLDEST_GIT = (2, 34)
"""GIT_CONFIG_COUNT, on which the hardening rests, is older (2.31); fast-import and fsck of 2.34 are what we tried."""
LOCAL_SECONDS = 120.0
"""Longest time for a command that does not leave this machine."""
OUTPUT_BYTES = 256 << 20
"""Most that a command may print; a tree that unfolds without end stops here."""


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
        done = finished(process, seconds, output_bytes, stdin)
        return GitResult(done.code, done.output, done.errors.decode(errors="replace"), done.too_slow, done.too_much)


def _open(folder: Path) -> git.Git:
    # Imported here: GitPython searches for the program when it is imported, and commands that need no git start faster.
    try:
        import git
    except ImportError as error:
        raise _no_git() from error
    _check_version()
    # Not git.Repo: it reads the repository's settings itself, and a damaged mirror must stay ours to repair.
    return git.Git(str(folder))


@cache
def _check_version() -> None:
    import git

    try:
        text = str(git.Git().execute(["git", "version"]))
    except git.GitCommandNotFound as error:
        raise _no_git() from error
    match = re.search(r"(\d+)\.(\d+)", text)
    if not match or (int(match[1]), int(match[2])) < OLDEST_GIT:
        raise _no_git()


def _no_git() -> MissingPart:
    return MissingPart(GitText.GIT_NOT_INSTALLED(oldest=".".join(map(str, OLDEST_GIT))))
