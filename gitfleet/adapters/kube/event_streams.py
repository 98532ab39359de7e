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

from gitfleet.adapters.kube.response_parts import Lines, NotAResponse
from gitfleet.model.failures import Failure, Subject, attempt
from gitfleet.ports.transport import OpenStream

log = logging.getLogger(__name__)
_PART: Final = 65536
_MOST_PARTS: Final = 32
"""Parts that are read of one stream before others have their turn."""
_LONGEST_END: Final = 5.0
T = TypeVar("T")


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
        self._heard, self._tell = socket.socketpair()
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
            for end in (self._heard, self._tell):
                end.setblocking(False)
            self._selector.register(self._heard, selectors.EVENT_READ, None)
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
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(_LONGEST_END)
        with self._lock:
            for stream in tuple(self._streams):
                self._forget(stream)
        self._selector.close()
        self._heard.close()
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
                    self._heard.recv(_PART)
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
        found: list[bytes] = []
        try:
            for _ in range(_MOST_PARTS):
                data = stream.opened.sock.recv(_PART)
                if not data:
                    return found, True
                found += stream.lines.feed(data)
                if stream.lines.over:
                    return found, True
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError, BlockingIOError):
            return found, False
        except (OSError, NotAResponse):
            return found, True
        with self._lock:
            if stream in self._streams:
                self._unread.add(stream)
        return found, False

    def _contained(self, work: Callable[[], T]) -> T | None:
        """A mistake in what is done with one stream must not end all of them."""
        done = attempt(Subject("watch", "of a cluster"), work)
        if isinstance(done, Failure):
            log.error("%s", done.report)
            return None
        return done
