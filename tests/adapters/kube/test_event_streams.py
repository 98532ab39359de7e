"""Many open responses in one thread: each is read to its end, whatever the others do."""

from __future__ import annotations

import logging
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest

from gitfleet.adapters.kube.event_streams import _MOST_PARTS, EventStream, EventStreams
from gitfleet.ports.transport import OpenStream


def eventually(check: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not check():
        assert time.monotonic() < end
        time.sleep(0.002)


@dataclass
class Told:
    """One stream, and what was told of it; a test holds the other end."""

    lines: list[bytes] = field(default_factory=list)
    ends: int = 0
    closed: int = 0
    stream: EventStream = field(init=False)
    other: socket.socket = field(init=False)

    def begin(self, chunked: bool = False, wrapped: Callable[[socket.socket], Any] = lambda sock: sock) -> EventStream:
        ours, self.other = socket.socketpair()

        def close() -> None:
            self.closed += 1
            ours.close()

        self.stream = EventStream(
            opened=OpenStream(wrapped(ours), chunked, close), on_line=self.lines.append, on_end=self.ended
        )
        return self.stream

    def ended(self) -> None:
        self.ends += 1

    @property
    def seen(self) -> tuple[list[bytes], int, int]:
        return self.lines, self.ends, self.closed


@dataclass
class Ready:
    """A socket with TLS: it has read on already, so that the operating system has nothing for it."""

    sock: socket.socket
    parts: list[bytes]
    failure: type[OSError] = ssl.SSLWantReadError

    def fileno(self) -> int:
        return self.sock.fileno()

    def setblocking(self, blocking: bool) -> None:
        self.sock.setblocking(blocking)

    def recv(self, size: int) -> bytes:
        if self.parts:
            return self.parts.pop(0)
        raise self.failure


@pytest.fixture
def streams() -> Iterator[EventStreams]:
    made = EventStreams(lambda: 60.0)
    yield made
    made.close()


@pytest.fixture
def told() -> Iterator[Told]:
    made = Told()
    yield made
    made.other.close()


def test_lines_are_told_as_they_come_and_the_end_once(streams: EventStreams, told: Told) -> None:
    streams.add(told.begin())
    told.other.sendall(b"one\ntw")
    eventually(lambda: told.lines == [b"one"])
    told.other.sendall(b"o\n")
    eventually(lambda: told.lines == [b"one", b"two"])
    assert (len(streams), told.ends) == (1, 0)
    told.other.close()
    eventually(lambda: told.ends == 1)
    assert (told.seen, len(streams)) == (([b"one", b"two"], 1, 1), 0)


@pytest.mark.parametrize("sent", [b"5\r\none\n\n\r\n0\r\n\r\n", b"5\r\none\n\n\r\nzz\r\n"])
def test_the_last_chunk_or_what_is_none_ends_a_stream(streams: EventStreams, told: Told, sent: bytes) -> None:
    streams.add(told.begin(chunked=True))
    told.other.sendall(sent[:10])
    eventually(lambda: told.lines == [b"one"])
    told.other.sendall(sent[10:])
    eventually(lambda: told.seen == ([b"one"], 1, 1))


def test_a_connection_that_breaks_ends_its_stream(streams: EventStreams, told: Told) -> None:
    streams.add(told.begin(wrapped=lambda sock: Ready(sock, [b"one\n"], ConnectionResetError)))
    eventually(lambda: told.seen == ([b"one"], 1, 1))


@pytest.mark.parametrize("parts", [1, _MOST_PARTS, 3 * _MOST_PARTS + 1])
def test_what_tls_has_read_already_is_read_to_its_end(streams: EventStreams, told: Told, parts: int) -> None:
    streams.add(told.begin(wrapped=lambda sock: Ready(sock, [b"x\n"] * parts)))
    eventually(lambda: len(told.lines) == parts)
    assert (told.ends, len(streams)) == (0, 1)


def test_a_stream_with_much_to_read_lets_others_have_their_turn(told: Told) -> None:
    other, order = Told(), list[bytes]()
    streams = EventStreams(lambda: 60.0)
    for one, line in ((told, b"much\n"), (other, b"little\n")):
        parts = [line] * 2 * _MOST_PARTS
        stream = one.begin(wrapped=partial(Ready, parts=parts))
        stream.on_line = order.append
        streams._streams.add(stream)
        streams._unread.add(stream)
    streams.start()
    eventually(lambda: len(order) == 4 * _MOST_PARTS)
    streams.close()
    other.other.close()
    assert len({order[0], order[_MOST_PARTS]}) == 2


def test_a_dropped_stream_is_closed_and_its_end_is_not_told(streams: EventStreams, told: Told) -> None:
    streams.add(told.begin())
    streams.drop(told.stream)
    eventually(lambda: told.closed == 1)
    streams.drop(told.stream)
    told.other.close()
    streams.start()
    eventually(lambda: not streams._dropped)
    assert (told.seen, len(streams)) == (([], 0, 1), 0)


def test_a_stream_that_is_dropped_while_it_is_read_is_read_no_more(streams: EventStreams, told: Told) -> None:
    stream = told.begin(wrapped=lambda sock: Ready(sock, [b"x\n"] * 2 * _MOST_PARTS))

    def drop(line: bytes) -> None:
        told.lines.append(line)
        streams.drop(stream)

    stream.on_line = drop
    streams.add(stream)
    eventually(lambda: told.closed == 1)
    assert (len(told.lines), told.ends, streams._unread) == (_MOST_PARTS, 0, set())


def test_a_mistake_over_one_stream_costs_no_other_one_anything(
    streams: EventStreams, told: Told, caplog: pytest.LogCaptureFixture
) -> None:
    broken = Told()
    stream = broken.begin()
    stream.on_line = lambda line: [][0]
    streams.add(stream)
    streams.add(told.begin())
    broken.other.sendall(b"x\n")
    eventually(lambda: bool(caplog.records))
    told.other.sendall(b"one\n")
    eventually(lambda: told.lines == [b"one"])
    broken.other.close()
    eventually(lambda: broken.seen == ([], 1, 1))
    assert [(one.levelno, "IndexError" in one.message) for one in caplog.records] == [(logging.ERROR, True)]


def test_it_is_looked_as_soon_as_it_is_due_and_whenever_somebody_wakes_it() -> None:
    looks, pauses = list[float](), [0.05, 60.0]

    def look() -> float:
        looks.append(time.monotonic())
        return pauses.pop(0) if pauses else 60.0

    streams = EventStreams(look)
    streams.start()
    eventually(lambda: len(looks) == 2)
    assert looks[1] - looks[0] >= 0.05
    streams.start()
    eventually(lambda: len(looks) == 3)
    streams.close()
    assert len(looks) == 4, "once more as it ends"


def test_closing_ends_the_thread_and_all_streams(told: Told) -> None:
    streams = EventStreams(lambda: 60.0)
    streams.add(told.begin())
    thread = streams._thread
    assert thread is not None and thread.daemon
    streams.close()
    assert (thread.is_alive(), told.seen, len(streams)) == (False, ([], 0, 1), 0)
    late = Told()
    streams.add(late.begin())
    streams.start()
    assert (late.closed, len(streams), streams._thread) == (1, 0, thread)
    late.other.close()
