"""All open watches in one thread: it waits for bytes of any of them, and for moments at which something is to be done.

A thread for each watch would be nine thousand threads on a thousand clusters.
"""

from __future__ import annotations

import contextlib
import logging
import selectors
import socket
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeVar

from gitfleet.model.failures import Failure, Subject, attempt
from gitfleet.ports.transport import OpenStream

log = logging.getLogger(__name__)
_PART: Final = 65536
_MOST_PARTS: Final = 32
"""Parts that are read of one stream before others have their turn."""
_LONGEST_END: Final = 5.0
LONGEST_LINE: Final = 4 * 1024 * 1024
"""Most bytes of a line; one event of a watch is one line."""
_LONGEST_SIZE: Final = 64
T = TypeVar("T")


class NotAResponse(ValueError):
    """The bytes are no lines in such chunks."""


@dataclass(slots=True)
class Lines:
    """Splits a body, chunked (RFC 9112 §7.1) or plain, into lines. At most one line of it is kept."""

    chunked: bool
    over: bool = False
    """Whether the last chunk has come: nothing more is to be read."""
    _raw: bytearray = field(default_factory=bytearray)
    _line: bytearray = field(default_factory=bytearray)
    _awaited_bytes: int = 0
    """Bytes of the present chunk that have not come, its line end included."""

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that are whole now, without their ends; NotAResponse for what is none, or is too long."""
        if self.chunked:
            self._raw += data
            while not self.over and self._next_chunk():
                pass
        else:
            self._line += data
        *whole, unfinished = self._line.split(b"\n")
        self._line = unfinished
        if len(unfinished) > LONGEST_LINE or any(len(line) > LONGEST_LINE for line in whole):
            raise NotAResponse
        return [bytes(line) for line in whole if line]

    def _next_chunk(self) -> bool:
        """Take what has come of a chunk; whether there may be more."""
        raw = self._raw
        if self._awaited_bytes:
            part = raw[: self._awaited_bytes]
            content = max(0, self._awaited_bytes - 2)  # the two last bytes are its line end
            self._line += part[:content]
            self._awaited_bytes -= len(part)
            del raw[: len(part)]
            return bool(raw)
        end = raw.find(b"\r\n")
        if end < 0:
            if len(raw) > _LONGEST_SIZE:
                raise NotAResponse
            return False
        size = bytes(raw[:end]).partition(b";")[0].strip()
        del raw[: end + 2]
        if not size or len(size) > 8 or size.strip(b"0123456789abcdefABCDEF"):
            raise NotAResponse
        self._awaited_bytes = int(size, 16) + 2
        self.over = self._awaited_bytes == 2
        return bool(raw)


@dataclass(slots=True, eq=False, kw_only=True)
class EventStream:
    """One open response. `on_line` gets each line, and `on_end` is called once when it ends in whatever way but `drop`;
    both are called in the thread of EventStreams."""

    opened: OpenStream
    on_line: Callable[[bytes], None]
    on_end: Callable[[], None]
    lines: Lines = field(init=False)

    def __post_init__(self) -> None:
        self.lines = Lines(self.opened.chunked)


class EventStreams:
    """Reads streams in a thread of its own, which is started with the first one. `look` is called whenever something
    came, with nothing held, and says in how many seconds at the latest it is to be called again. Nothing that a stream
    does ends the thread."""

    def __init__(self, look: Callable[[], float]) -> None:
        self._look = look
        self._lock = threading.Lock()
        self._selector = selectors.DefaultSelector()
        self._streams: set[EventStream] = set()
        self._unread: set[EventStream] = set()
        """Of which more was there than was read: the socket may not say so, since TLS has it already."""
        self._dropped: list[EventStream] = []
        self._woken, self._tell = socket.socketpair()
        self._thread: threading.Thread | None = None
        self._closed = False

    def __len__(self) -> int:
        """How many streams are open."""
        return len(self._streams)

    def start(self) -> None:
        """Begin, or look at once where it has begun; from any thread."""
        with self._lock:
            if self._thread is not None or self._closed:
                self._wake()
                return
            for end in (self._woken, self._tell):
                end.setblocking(False)
            self._selector.register(self._woken, selectors.EVENT_READ, None)
            # A daemon: nothing that it does has to be brought to an end.
            self._thread = threading.Thread(target=self._run, name="watches", daemon=True)
            self._thread.start()

    def add(self, stream: EventStream) -> None:
        """Read it from now on; from any thread."""
        self.start()
        stream.opened.sock.setblocking(False)
        with self._lock:
            if self._closed:
                stream.opened.end()
                return
            self._streams.add(stream)
            self._unread.add(stream)  # TLS may have read on already
            self._selector.register(stream.opened.sock, selectors.EVENT_READ, stream)
        self._wake()

    def drop(self, stream: EventStream) -> None:
        """Read it no longer and close it soon, in the one thread that reads it; from any thread. A line that is there
        already may still be told."""
        with self._lock:
            self._dropped.append(stream)
        self._wake()

    def close(self) -> None:
        """Drop all streams and end the thread."""
        with self._lock:
            self._closed = True
        self._wake()
        if self._thread is not None:
            self._thread.join(_LONGEST_END)
        with self._lock:
            for stream in tuple(self._streams):
                self._forget(stream)
        self._selector.close()
        self._woken.close()
        self._tell.close()

    def _forget(self, stream: EventStream) -> bool:
        if stream not in self._streams:
            return False
        self._streams.discard(stream)
        self._unread.discard(stream)
        with contextlib.suppress(KeyError, ValueError):
            self._selector.unregister(stream.opened.sock)
        stream.opened.end()
        return True

    def _wake(self) -> None:
        with contextlib.suppress(OSError):  # full: it wakes anyway
            self._tell.send(b"\0")

    def _run(self) -> None:
        pause = 0.0
        while not self._closed:
            ready = self._selector.select(0.0 if self._unread else pause)
            with self._lock:
                for stream in self._dropped:
                    self._forget(stream)
                self._dropped.clear()
                chosen = {key.data for key, _ in ready if key.data in self._streams} | self._unread
                self._unread = set()
            if any(key.data is None for key, _ in ready):
                with contextlib.suppress(OSError):
                    self._woken.recv(_PART)
            for stream in chosen:
                self._contained(partial(self._read, stream))
            pause = max(0.0, self._contained(self._look) or 0.0)

    def _read(self, stream: EventStream) -> None:
        """What has come of a stream. A stream of which lines cannot be used ends."""
        lines, ended = self._received(stream)
        for line in lines:
            stream.on_line(line)
        if ended:
            with self._lock:
                was_open = self._forget(stream)
            if was_open:
                stream.on_end()

    def _received(self, stream: EventStream) -> tuple[list[bytes], bool]:
        received: list[bytes] = []
        try:
            for _ in range(_MOST_PARTS):
                data = stream.opened.sock.recv(_PART)
                if not data:
                    return received, True
                received += stream.lines.feed(data)
                if stream.lines.over:
                    return received, True
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError, BlockingIOError):
            return received, False
        except (OSError, NotAResponse):
            return received, True
        with self._lock:
            if stream in self._streams:
                self._unread.add(stream)
        return received, False

    def _contained(self, work: Callable[[], T]) -> T | None:
        """A mistake in what is done with one stream must not end all of them."""
        done = attempt(Subject("watch", "of a cluster"), work)
        if isinstance(done, Failure):
            log.error("%s", done.report)
            return None
        return done
