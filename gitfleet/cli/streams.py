"""stdout and stderr as this process found them, and what happens when they are lost.

A command that prints data ends at once when the reader of its pipe has gone, as by SIGPIPE (141) and without a word, as
git and cat do; when stdout cannot be written (a full disk, a closed descriptor) it ends with a sentence and 1. `run`
goes on with its work and to its own exit code; it says once that stdout cannot be written. Losing stderr loses
messages and changes nothing else.

Ending with 0 would claim what nobody knows, such as `no changes` of `plan --detailed-exitcode`.
"""

from __future__ import annotations

import errno
import io
import os
import select
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TextIO

from gitfleet.cli.messages import say
from gitfleet.cli.texts import CliText

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

EXIT_READER_GONE = 141


class OutputLost(BaseException):
    """stdout cannot be written any more. No Exception: nothing on the way may take it for one of its own."""

    def __init__(self, error: OSError) -> None:
        super().__init__(str(error))
        self.reader_gone = error.errno == errno.EPIPE
        self.sentence = CliText.STDOUT_CANNOT_WRITTEN(strerror=error.strerror)


class _Output(io.RawIOBase):
    """A file descriptor that is written to until that fails; `lost` is called once, the rest is dropped."""

    def __init__(self, descriptor: int, lost: Callable[[OSError], None]) -> None:
        self._descriptor = descriptor
        self._is_lost = False
        self.lost = lost

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)

    def write(self, data: ReadableBuffer, /) -> int:
        """All of it, however long a pipe that does not block is full."""
        remaining = memoryview(data).cast("B")
        length = len(remaining)
        while len(remaining) and not self._is_lost:
            try:
                remaining = remaining[os.write(self._descriptor, remaining) :]
            except BlockingIOError:
                select.select([], [self._descriptor], [])
            except OSError as error:
                self._is_lost = True
                self.lost(error)
        return length


def guard_streams() -> None:
    """Put streams that know what to do about a loss in the place of Python's."""
    _occupy_descriptors()
    sys.stdout = _text(sys.stdout, _Output(1, _end))
    sys.stderr = _text(sys.stderr, _Output(2, lambda _: None))


def outlive_stdout() -> None:
    """From now on the work goes on when stdout is lost, as `run` does."""
    if (output := _guarded()) is not None:
        output.lost = _say


def _guarded() -> _Output | None:
    """What lies below stdout, None where a test or another program has put its own there."""
    below = getattr(sys.stdout, "buffer", None)
    raw = getattr(below, "raw", below)
    return raw if isinstance(raw, _Output) else None


def _end(error: OSError) -> None:
    raise OutputLost(error)


def _say(error: OSError) -> None:
    lost = OutputLost(error)
    if not lost.reader_gone:
        say(CliText.WORK_GOES(sentence=lost.sentence))


def _text(stream: TextIO | None, output: _Output) -> TextIO:
    """A text stream on an output, in the form of the one that Python made."""
    at_once = bool(getattr(stream, "write_through", False))
    raw: Any = output
    below: Any = raw if at_once else io.BufferedWriter(raw)
    return io.TextIOWrapper(
        below,
        encoding=getattr(stream, "encoding", None) or "utf-8",
        errors=getattr(stream, "errors", None) or "backslashreplace",
        line_buffering=bool(getattr(stream, "line_buffering", False)) or output.isatty(),
        write_through=at_once,
    )


def _occupy_descriptors() -> None:
    """No file that is opened later may take the place of a standard stream that was closed from the start."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            with suppress(OSError):
                os.open(os.devnull, os.O_RDONLY)  # the lowest number that is free; writing there says so
