"""Watching on real clusters: one watch of each kind that is owned there and of Namespaces, of the whole cluster and of
metadata alone; what is not owned is read over and not kept (decision records 0030 and 0031)."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Final

from gitfleet.adapters.kube.client import KubeClient
from gitfleet.adapters.kube.event_streams import EventStream, EventStreams
from gitfleet.adapters.kube.watch_requests import BegunWatch
from gitfleet.adapters.kube.watched_cluster import (
    PROPERTY_KINDS,
    SILENT_AFTER,
    Everything,
    WatchedCluster,
    WatchedKind,
    is_change,
)
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.objects import ObjectKey
from gitfleet.errors import GitfleetError
from gitfleet.model.backoff import KUBEFLEET, Backoff, Curve
from gitfleet.model.failures import Failure, Subject, attempt
from gitfleet.ports.clock import Clock

log = logging.getLogger(__name__)
_OPENERS: Final = 16
_LOOK_EVERY: Final = 1.0
SHORT_LIFE: Final = 5.0
"""A watch that ends within so many seconds is not simply opened again."""


class KubeWatching:
    """Watching over the clients of a directory. `changed` is called, from a thread of its own, when something changed
    that somebody relied on; `most` is how many watches may be open at once, and `pauses` says when those of a cluster
    where one could not be had are tried again."""

    def __init__(
        self,
        clients: Callable[[MemberCluster], KubeClient],
        clock: Clock,
        changed: Callable[[], None],
        *,
        most: int,
        pauses: Curve = KUBEFLEET,
    ) -> None:
        self._clients = clients
        self._clock = clock
        self._changed = changed
        self._most = most
        self._pauses = pauses
        self._lock = threading.RLock()
        self._clusters: dict[str, WatchedCluster] = {}
        self._properties: dict[str, WatchedCluster] = {}
        self._wake_at: float | None = None
        self._looked = 0.0
        self._opening = 0  # watches that threads are at work on: open ones among them count twice for a moment
        self._openers = ThreadPoolExecutor(_OPENERS, thread_name_prefix="watch")
        self._streams = EventStreams(self._look)
        self._closed = False

    def mark(self, cluster: MemberCluster, keys: Collection[ObjectKey]) -> Hashable | None:
        """See Watching."""
        if cluster.connection is None or cluster.connection.is_by_name:
            return None
        now = self._clock.monotonic()
        with self._lock:
            watched = self._of(self._clusters, cluster)
            self._drop(watched.want(keys if isinstance(keys, Set | Mapping) else frozenset(keys)))
            self._begin(watched, now)
            watched.marked = watched.vouches(now)
            watched.awaited = not watched.marked
            return watched.mark() if watched.marked else None

    def unchanged(self, cluster: MemberCluster, mark: Hashable) -> bool:
        """See Watching."""
        return self._vouched(self._clusters, cluster, mark)

    def rests(self, cluster: MemberCluster) -> PropertyRests:
        """What knows of a cluster whether its properties may have changed."""
        return PropertyRests(self, cluster)

    def mark_properties(self, cluster: MemberCluster) -> Hashable | None:
        """This moment for what `core` counts; None where that is not watched yet."""
        now = self._clock.monotonic()
        with self._lock:
            watched = self._of(self._properties, cluster)
            self._drop(watched.want_kinds(PROPERTY_KINDS, Everything()))
            self._begin(watched, now)
            return watched.mark() if watched.vouches(now) else None

    def unchanged_properties(self, cluster: MemberCluster, mark: Hashable) -> bool:
        """Whether nothing was made, changed or deleted since of what `core` counts."""
        return self._vouched(self._properties, cluster, mark)

    def keep(self, names: Collection[str]) -> None:
        """See Watching."""
        with self._lock:
            for all_of in (self._clusters, self._properties):
                for name in all_of.keys() - set(names):
                    self._drop(all_of.pop(name).end())

    def close(self) -> None:
        """End all watches."""
        with self._lock:
            self._closed = True
        self._openers.shutdown(wait=False, cancel_futures=True)
        self._streams.close()

    def _of(self, all_of: dict[str, WatchedCluster], cluster: MemberCluster) -> WatchedCluster:
        watched = all_of.get(cluster.name)
        if watched is None or watched.cluster.connection != cluster.connection:
            if watched is not None:
                self._drop(watched.end())
            once, failures = all_of is self._properties, Backoff(self._pauses)
            watched = all_of[cluster.name] = WatchedCluster(cluster=cluster, once=once, failures=failures)
        return watched

    def _vouched(self, all_of: Mapping[str, WatchedCluster], cluster: MemberCluster, mark: Hashable) -> bool:
        with self._lock:
            watched = all_of.get(cluster.name)
            if watched is None or watched.cluster.connection != cluster.connection:
                return False
            return mark == watched.mark() and watched.vouches(self._clock.monotonic())

    def _drop(self, streams: Iterable[EventStream]) -> None:
        for stream in streams:
            self._streams.drop(stream)

    def _begin(self, watched: WatchedCluster, now: float) -> None:
        """Let a thread open what is missing, unless one is at it or it is too early."""
        number = len(watched.missing())
        if self._closed or watched.opening or now < watched.retry_at or not number:
            return
        if len(self._streams) + self._opening + number > self._most:
            return
        watched.opening = True
        self._opening += number
        self._openers.submit(self._open_all, watched, number)

    def _open_all(self, watched: WatchedCluster, number: int) -> None:
        """Open all watches of a cluster that are missing, one after the other; one that cannot be had ends them all,
        since nothing vouches for the cluster then."""
        done = attempt(Subject("MemberCluster", watched.cluster.name), self._open_missing, watched)
        with self._lock:
            watched.opening = False
            self._opening -= number
            now = self._clock.monotonic()
            if isinstance(done, Failure):
                expected = isinstance(done.cause, GitfleetError)
                log.log(logging.DEBUG if expected else logging.ERROR, "no watch: %s", done.report)
                self._fail(watched, type(done.cause), now)
            if not any(watched_cluster.opening for watched_cluster in self._clusters.values()):
                self._tell_established(now)

    def _open_missing(self, watched: WatchedCluster) -> None:
        client = self._clients(watched.cluster)
        while True:
            with self._lock:
                missing = watched.missing()
                if not missing or self._closed or self._clock.monotonic() < watched.retry_at:
                    return
            for kind in missing:
                self._opened(watched, kind, client.begin_watch(kind.kind, kind.version))

    def _opened(self, watched: WatchedCluster, kind: WatchedKind, begun: BegunWatch) -> None:
        with self._lock:
            if watched.kinds.get(kind.kind) is not kind or self._closed:
                begun.stream.end()
                return
            now = self._clock.monotonic()
            if begun.listed and kind.version:
                self._change(watched, now)
            kind.version, kind.listed, kind.opened, kind.heard = begun.version, begun.listed, now, now
            stream = EventStream(opened=begun.stream, on_line=lambda _: None, on_end=lambda: None)
            stream.on_line = partial(self._on_line, watched, kind, stream)
            stream.on_end = partial(self._on_end, watched, kind, stream)
            kind.stream = stream
            self._streams.add(stream)

    def _on_line(self, watched: WatchedCluster, kind: WatchedKind, stream: EventStream, line: bytes) -> None:
        with self._lock:
            if kind.stream is not stream:
                return
            now = kind.heard = self._clock.monotonic()
            change = is_change(kind, watched.keys, line)
            if change is None:
                self._streams.drop(stream)
                self._change(watched, now)
                kind.version, kind.stream = "", None
                self._go_on(watched, kind, now, lasting=kind.listed)
                return
            watched.failures.forget()
            if change:
                self._change(watched, now)

    def _on_end(self, watched: WatchedCluster, kind: WatchedKind, stream: EventStream) -> None:
        """It goes on from where it ended; only if that is not possible something may have been missed."""
        with self._lock:
            if kind.stream is stream:
                kind.stream = None
                self._go_on(watched, kind, self._clock.monotonic(), lasting=True)

    def _go_on(self, watched: WatchedCluster, kind: WatchedKind, now: float, *, lasting: bool) -> None:
        """Open it again; not at once where that would go on for ever, as it has just been opened."""
        if lasting and now - kind.opened < SHORT_LIFE:
            self._fail(watched, "ended at once", now)
        else:
            self._begin(watched, now)

    def _fail(self, watched: WatchedCluster, why: object, now: float) -> None:
        self._drop(watched.failed(why, now))
        self._change(watched, now)

    def _change(self, watched: WatchedCluster, now: float) -> None:
        was_marked = watched.changed()
        if watched.once:
            self._drop(watched.end())
        elif was_marked:
            self._wake(watched, now)

    def _tell_established(self, now: float) -> None:
        """Clusters that were read in vain while their watches began can be kept after another reading: one pass for
        all of them."""
        ready = [
            watched
            for watched in self._clusters.values()
            if watched.awaited and not watched.missing() and watched.vouches(now)
        ]
        for watched in ready:
            watched.awaited = False
        if ready:
            self._wake(ready[0], now)

    def _wake(self, watched: WatchedCluster, now: float) -> None:
        at = watched.wake_at(now)
        self._wake_at = at if self._wake_at is None else min(at, self._wake_at)
        self._streams.start()

    def _look(self) -> float:
        """Wake the loop when it is time, and begin watches again of which nothing was heard for too long; so many
        seconds may pass until the next look."""
        now = self._clock.monotonic()
        with self._lock:
            due = self._wake_at is not None and self._wake_at <= now
            if due:
                self._wake_at = None
            if now - self._looked >= _LOOK_EVERY:
                self._looked = now
                self._look_after_all(now)
            pause = _LOOK_EVERY if self._wake_at is None else min(_LOOK_EVERY, self._wake_at - now)
        if due:
            self._changed()
        return pause

    def _look_after_all(self, now: float) -> None:
        for watched in (*self._clusters.values(), *self._properties.values()):
            silent = [kind for kind in watched.kinds.values() if kind.stream and now - kind.heard >= SILENT_AFTER]
            for kind in silent:
                self._drop([kind.stream] if kind.stream else [])
                kind.stream = None
            if silent or (watched.awaited and watched.missing()):
                self._begin(watched, now)


@dataclass(frozen=True, slots=True)
class PropertyRests:
    """Rests on one cluster, by watches of nodes and pods that end with the first change: on a busy cluster they would
    say nothing but that, over and over."""

    watching: KubeWatching
    cluster: MemberCluster

    def mark(self) -> Hashable | None:
        """Rests.mark."""
        return self.watching.mark_properties(self.cluster)

    def unchanged(self, mark: Hashable) -> bool:
        """Rests.unchanged."""
        return self.watching.unchanged_properties(self.cluster, mark)
