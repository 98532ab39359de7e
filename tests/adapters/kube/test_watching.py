"""Watches of servers that behave badly, over sockets that a test holds the other end of."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitfleet.adapters.kube.event_streams import LONGEST_LINE, Lines, NotAResponse
from gitfleet.adapters.kube.watch_requests import NAMESPACES, BegunWatch, Kind, NotWatchable
from gitfleet.adapters.kube.watched_cluster import SILENT_AFTER, WatchedCluster, WatchedKind
from gitfleet.adapters.kube.watching import KubeWatching
from gitfleet.api.clusters import Connection, MemberCluster
from gitfleet.api.objects import ObjectKey
from gitfleet.model.backoff import Curve
from gitfleet.ports.transport import OpenStream

KEY = ObjectKey("", "v1", "ConfigMap", "web", "flag")
MAPS = ("", "v1", "ConfigMap")


@dataclass
class Stepped:
    """A clock that a test moves."""

    seconds: float = 1000.0

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC)

    def monotonic(self) -> float:
        return self.seconds


@dataclass
class Server:
    """Begins watches and holds the other ends; `refuses` is raised instead."""

    begun: list[tuple[Kind, str]] = field(default_factory=list)
    ends: dict[Kind, socket.socket] = field(default_factory=dict)
    all_ends: list[socket.socket] = field(default_factory=list)
    refuses: Exception | None = None
    ends_at_once: bool = False
    asked: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Held while nothing is answered."""

    def begin_watch(self, kind: Kind, version: str) -> BegunWatch:
        self.asked += 1
        with self.lock:
            return self._begun(kind, version)

    def _begun(self, kind: Kind, version: str) -> BegunWatch:
        if self.refuses is not None:
            self.begun.append((kind, version))
            raise self.refuses
        ours, theirs = socket.socketpair()
        self.ends[kind] = theirs
        self.all_ends.append(theirs)
        if self.ends_at_once:
            theirs.close()
        self.begun.append((kind, version))  # at last: a test that sees it uses the end
        return BegunWatch(OpenStream(ours, False, ours.close), version or "7", not version)

    def tell(self, kind: Kind, type_: str, version: str, namespace: str = "web", name: str = "flag") -> None:
        metadata = {"resourceVersion": version, "namespace": namespace, "name": name}
        self.ends[kind].sendall(json.dumps({"type": type_, "object": {"metadata": metadata}}).encode() + b"\n")


@dataclass
class Play:
    """Watches of one server, in a time that a test moves."""

    server: Server
    clock: Stepped
    watching: KubeWatching
    wakes: list[float]
    cluster: MemberCluster = field(default=MemberCluster(name="c", connection=Connection(context="c")))

    def mark(self, *keys: ObjectKey) -> Hashable | None:
        return self.watching.mark(self.cluster, keys or (KEY,))

    def marked(self) -> Hashable:
        eventually(lambda: self.mark() is not None)
        return self.mark()

    def holds(self, mark: Hashable) -> bool:
        return self.watching.unchanged(self.cluster, mark)

    def pass_time(self, seconds: float) -> None:
        self.clock.seconds += seconds
        self.watching._streams.start()  # looks at once


def eventually(check: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not check():
        assert time.monotonic() < end
        time.sleep(0.005)


@pytest.fixture
def play() -> Iterator[Play]:
    server, clock, wakes = Server(), Stepped(), list[float]()
    client: Any = server
    pauses = Curve(fixed=5.0, first=2.0)
    watching = KubeWatching(lambda _: client, clock, lambda: wakes.append(clock.seconds), most=10, pauses=pauses)
    yield Play(server, clock, watching, wakes)
    watching.close()
    for end in server.all_ends:
        end.close()


def test_an_event_of_an_owned_object_counts_and_others_move_the_version_on(play: Play) -> None:
    mark = play.marked()
    play.server.tell(MAPS, "ADDED", "8", name="other")
    play.server.tell(MAPS, "BOOKMARK", "9")
    eventually(lambda: play.watching._clusters["c"].kinds[MAPS].version == "9")
    assert play.holds(mark)
    play.pass_time(10)
    play.server.ends[MAPS].close()
    eventually(lambda: play.server.begun.count((MAPS, "9")) == 1)  # it goes on from there
    play.server.tell(MAPS, "DELETED", "10")
    eventually(lambda: not play.holds(mark))


def test_a_watch_vouches_for_no_other_connection(play: Play) -> None:
    mark = play.marked()
    assert play.watching.unchanged(play.cluster, mark)
    elsewhere = replace(play.cluster, connection=Connection(context="elsewhere"))
    assert not play.watching.unchanged(elsewhere, mark)


def test_a_watch_that_ends_at_once_is_not_opened_over_and_over(play: Play) -> None:
    play.server.ends_at_once = True
    for _ in range(100):
        play.mark()
        time.sleep(0.002)
    assert len(play.server.begun) <= 3
    before = len(play.server.begun)
    play.pass_time(6)
    eventually(lambda: len(play.server.begun) > before)  # somebody waits for it, and it is time
    eventually(lambda: play.mark() is None)  # it counts as open until somebody reads that it ended


@pytest.mark.parametrize("line", (b"garbage\n", b'{"type":"ERROR","object":{"metadata":{},"code":410}}\n', b"[]\n"))
def test_what_is_no_event_counts_as_a_change_and_the_watch_begins_with_a_list(play: Play, line: bytes) -> None:
    mark = play.marked()
    play.pass_time(10)
    play.server.ends[MAPS].sendall(line)
    eventually(lambda: not play.holds(mark))
    eventually(lambda: play.server.begun.count((MAPS, "")) == 2)
    eventually(lambda: play.mark() is not None)


def test_a_line_without_end_ends_the_watch(play: Play) -> None:
    play.marked()
    play.pass_time(10)
    end = play.server.ends[MAPS]
    end.settimeout(10)
    with pytest.raises(OSError):
        for _ in range(2 * LONGEST_LINE >> 16):
            end.sendall(b"x" * (1 << 16))


def test_silence_is_believed_for_its_time_only(play: Play) -> None:
    mark = play.marked()
    play.pass_time(SILENT_AFTER - 1)
    assert play.holds(mark)
    play.clock.seconds += 2
    assert not play.holds(mark)
    play.watching._streams.start()  # now it looks, and begins again
    eventually(lambda: play.server.begun.count((MAPS, "7")) == 1 and play.holds(mark))  # nothing was missed


def test_one_refused_watch_ends_all_of_its_cluster_and_wakes_who_relied_on_them(play: Play) -> None:
    mark = play.marked()
    eventually(lambda: bool(play.watching._clusters["c"].missing()) is False)
    play.pass_time(10)
    play.wakes.clear()
    play.server.refuses = NotWatchable("may not")
    play.server.ends[NAMESPACES].close()
    eventually(lambda: not play.holds(mark) and len(play.watching._streams) == 0)
    play.pass_time(1)
    eventually(lambda: len(play.wakes) == 1)


@pytest.mark.parametrize("error", (RuntimeError("a mistake"), OSError("no file")))
def test_what_nobody_foresaw_costs_that_cluster_its_watches(play: Play, error: Exception) -> None:
    play.server.refuses = error
    assert play.mark() is None
    eventually(lambda: play.watching._clusters["c"].retry_at > play.clock.seconds)
    play.server.refuses = None
    play.pass_time(6)
    play.marked()


def test_properties_are_watched_until_the_first_change_and_wake_nobody(play: Play) -> None:
    rests = play.watching.rests(play.cluster)
    eventually(lambda: rests.mark() is not None)
    mark = rests.mark()
    assert mark is not None and rests.unchanged(mark)
    play.wakes.clear()
    play.server.tell(("", "v1", "Pod"), "MODIFIED", "8", name="any")
    eventually(lambda: not rests.unchanged(mark) and len(play.watching._streams) == 0)
    play.pass_time(10)
    assert rests.mark() is None and play.wakes == []
    eventually(lambda: rests.mark() is not None)


def test_clusters_that_leave_and_kinds_that_go_are_watched_no_longer(play: Play) -> None:
    play.marked()
    eventually(lambda: len(play.watching._streams) == 2)
    play.mark(ObjectKey("", "v1", "Namespace", "", "web"))
    eventually(lambda: len(play.watching._streams) == 1)
    play.watching.keep(["another"])
    eventually(lambda: len(play.watching._streams) == 0)


def test_no_more_watches_are_opened_than_there_may_be(play: Play) -> None:
    play.watching._most = 1
    for _ in range(20):
        assert play.mark() is None
    assert play.server.begun == []
    play.watching._most = 2
    assert play.marked() is not None, "two are not more than two"


def test_watches_that_are_being_opened_count_as_open(play: Play) -> None:
    """The clusters of a pass are marked one after the other, before the first answer has come."""
    play.watching._most = 4
    clusters = [replace(play.cluster, name=f"c{number}") for number in range(5)]
    with play.server.lock:
        for cluster in clusters:
            play.watching.mark(cluster, (KEY,))
    eventually(lambda: not any(one.opening for one in play.watching._clusters.values()))
    for cluster in clusters:
        play.watching.mark(cluster, (KEY,))
    assert not any(one.opening for one in play.watching._clusters.values())
    assert len(play.watching._streams) == len(play.server.begun) == 4
    play.watching.keep(["c4"])
    eventually(lambda: play.watching.mark(clusters[4], (KEY,)) is not None)
    eventually(lambda: len(play.watching._streams) == 2)


def test_a_cluster_that_leaves_while_its_watches_are_opened_keeps_none(play: Play) -> None:
    with play.server.lock:
        play.mark()
        watched = play.watching._clusters["c"]
        eventually(lambda: play.server.asked == 1)
        play.watching.keep([])
    eventually(lambda: not watched.opening)
    assert len(play.watching._streams) == 0


def is_at(kind: WatchedKind, version: str) -> bool:
    return kind.version == version


def test_a_watch_that_came_to_something_has_its_failures_forgotten(play: Play) -> None:
    pauses = list[float]()
    for number in range(4):
        play.marked()
        if number == 2:
            play.server.tell(MAPS, "BOOKMARK", "9")
            watched = play.watching._clusters["c"]
            kind = watched.kinds[MAPS]
            eventually(partial(is_at, kind, "9"))
        play.pass_time(10)
        play.server.refuses = NotWatchable("may not")
        play.server.ends[NAMESPACES].close()
        eventually(lambda: play.watching._clusters["c"].retry_at > play.clock.seconds)
        pauses.append(play.watching._clusters["c"].retry_at - play.clock.seconds)
        play.server.refuses = None
        play.pass_time(pauses[-1])
    assert pauses == [5.0, 2.0, 5.0, 2.0], "one that only began again has not come to anything yet"


def test_an_object_that_changes_all_the_time_wakes_less_and_less_often() -> None:
    watched = WatchedCluster(cluster=MemberCluster(name="c"))
    times = [watched.wake_at(second / 10) for second in range(6000)]
    woken = sorted(set(times))
    pauses = [later - sooner for sooner, later in pairwise(woken)]
    assert woken[0] == pytest.approx(0.2) and pauses[0] == pytest.approx(1.0)
    assert max(pauses) < 61 and len(woken) < 30
    assert watched.wake_at(10_000) == pytest.approx(10_000.2)


@given(st.lists(st.binary(max_size=20).filter(lambda line: b"\n" not in line), max_size=8), st.data())
def test_lines_are_the_same_however_a_body_is_cut_up(lines: list[bytes], data: st.DataObject) -> None:
    body = b"".join(line + b"\n" for line in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=4)))
    chunks = [body[a:b] for a, b in zip([0, *cuts], [*cuts, len(body)], strict=True) if a < b]
    wire = b"".join(b"%x;e=1\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"
    for chunked, sent in ((False, body), (True, wire)):
        at = sorted(data.draw(st.lists(st.integers(0, len(sent)), max_size=6)))
        reader, found = Lines(chunked), list[bytes]()
        for a, b in zip([0, *at], [*at, len(sent)], strict=True):
            found += reader.feed(sent[a:b])
        assert found == [line for line in lines if line] and reader.over is chunked


@pytest.mark.parametrize("sent", (b"zz\r\n", b"\r\n", b"-1\r\n", b"fffffffff\r\n", b"1" * 65))
def test_what_is_no_chunk_is_refused(sent: bytes) -> None:
    with pytest.raises(NotAResponse):
        Lines(True).feed(sent)
