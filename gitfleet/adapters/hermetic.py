"""A program that works on files of an untrusted repo: in an empty folder of its own with nothing but these files, with
an empty home and an environment that holds nothing of ours, bounded in time, memory and output, and where the kernel
allows it without a network.
"""

from __future__ import annotations

import logging
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from gitfleet.adapters.programs import PLACES, Finished, run_program, runs_behind
from gitfleet.adapters.texts import AdaptersText
from gitfleet.errors import BadInput, MissingPart, RetryLater

log = logging.getLogger(__name__)
_NOT_CUT = AdaptersText.RUNS_WITH_NETWORK()
_LARGEST_OUTPUT = 64 << 20
_MEMORY = 512 << 20
"""Measured with kustomize: 38 MiB of output take 250 MiB; so this is enough for the largest output."""
_OUT_OF_MEMORY = re.compile(rb"out of memory|cannot allocate memory")
_LONGEST_MESSAGE = 500
_NAMESPACES = (("--user", "--net"), ("--net",))


class HermeticProgram:
    """A program, called `name` in messages, that is ended after `seconds`, and on Linux when it needs more than
    `memory` bytes; `complaint` takes what it said last from its standard error."""

    def __init__(self, name: str, complaint: Callable[[str], str], *, seconds: float, memory: int = _MEMORY) -> None:
        self._name = name
        self._complaint = complaint
        self._seconds = seconds
        self._memory = memory
        self._network_cut: tuple[str, ...] | None = None

    def output(self, files: Mapping[str, bytes], command: Callable[[Path], list[str]]) -> bytes:
        """What the program prints. `command` is given the folder that has the files. BadInput with the program's
        complaint, without the folder's name; RetryLater when it was ended before it was done."""
        with _scratch(self._name) as scratch:
            root = scratch / "tree"
            root.mkdir()
            for path, content in files.items():
                target = root / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
            done = self._run(command(root), scratch)
        if done.too_much:
            raise BadInput(AdaptersText.PROGRAM_PRINTS_MORE(name=self._name, most=_LARGEST_OUTPUT >> 20))
        if done.too_slow or done.code < 0:
            raise RetryLater(AdaptersText.PROGRAM_ENDED_BEFORE_DONE(name=self._name, seconds=self._seconds))
        if done.code != 0 and _OUT_OF_MEMORY.search(done.errors):
            raise BadInput(AdaptersText.PROGRAM_NEEDS_MORE_MEMORY(name=self._name, memory=self._memory >> 20))
        if done.code != 0:
            complaint = done.errors.decode(errors="replace")
            complaint = complaint.replace(f"{root}/", "").replace(str(root), ".").replace(str(root.parent), "")
            raise BadInput(
                AdaptersText.PROGRAM_SAYS(name=self._name, complaint=self._complaint(complaint)[:_LONGEST_MESSAGE])
            )
        return done.output

    def _run(self, command: list[str], scratch: Path) -> Finished:
        # Nothing that it would need to fetch: no network where the kernel allows that, no git on its path, and a proxy
        # that nobody listens at.
        if self._network_cut is None:
            self._network_cut = network_cut()
            if not self._network_cut:
                log.warning(_NOT_CUT, self._name)
        nowhere = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), "http://127.0.0.1:9")
        environment = {"PATH": "/nonexistent", "HOME": str(scratch), "XDG_CONFIG_HOME": str(scratch), **nowhere}
        return run_program(
            [*self._network_cut, *command],
            environment=environment,
            folder=scratch,
            seconds=self._seconds,
            largest_output=_LARGEST_OUTPUT,
            memory=self._memory,
        )


@contextmanager
def _scratch(name: str) -> Iterator[Path]:
    """A temporary directory; MissingPart where none can be made."""
    try:
        made = tempfile.TemporaryDirectory(prefix=f"gitfleet-{name}-")
    except OSError as error:
        hint = AdaptersText.SET_TMPDIR()
        raise MissingPart(AdaptersText.NEEDS_TEMPORARY_DIRECTORY(name=name, why=error.strerror), hint=hint) from error
    with made as folder:
        yield Path(folder).resolve()


def network_cut() -> tuple[str, ...]:
    """What to put before a command so that it runs in a network namespace of its own, which has no way out; empty where
    the kernel or the container does not allow it, or `unshare` (util-linux) is not there."""
    unshare = shutil.which("unshare", path=PLACES)
    if unshare is None:
        return ()
    return next((words for options in _NAMESPACES if runs_behind(words := (unshare, *options, "--"))), ())
