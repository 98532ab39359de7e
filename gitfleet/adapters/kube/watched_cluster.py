"""What is known of the watches of one cluster: whether they vouch for what was read, and when they begin again."""

from __future__ import annotations

from collections.abc import Collection, Container, Hashable, Set
from dataclasses import dataclass, field
from typing import Any, Final

from gitfleet.adapters.kube.event_streams import EventStream
from gitfleet.adapters.kube.watch_requests import NAMESPACES, Kind
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.objects import ObjectKey
from gitfleet.formats.canonical_json import parse_json
from gitfleet.model.backoff import Backoff, Curve

SILENT_AFTER: Final = 150.0
"""Seconds without a word after which a watch vouches for nothing: an API server sends a bookmark each minute."""
PROPERTY_KINDS: Final = frozenset({("", "v1", "Node"), ("", "v1", "Pod")})
"""What `core` counts; the version of the API server itself changes with a restart, which ends the watches."""
_WAKES: Final = Curve.growing(1.0, 1.5, 60.0)
_AT_FIRST: Final = 0.2
"""Seconds from a change to the pass: what was changed together is then seen together."""


class Everything:
    """All keys."""

    def __contains__(self, key: object) -> bool:
        return True


@dataclass(slots=True, eq=False)
class WatchedKind:
    """The watch of one collection: `version` is where it goes on from, "" where it has to begin with a list."""

    kind: Kind
    version: str = ""
    listed: bool = False
    """Whether it began with a list the last time."""
    opened: float = 0.0
    heard: float = 0.0
    stream: EventStream | None = None


@dataclass(slots=True, eq=False, kw_only=True)
class WatchedCluster:
    """All watches of one cluster. Whoever uses it holds the lock of its KubeWatching."""

    cluster: MemberCluster
    once: bool = False
    """Whether it is watched for any change at all, and no longer than until the first one."""
    keys: Container[ObjectKey] = ()
    kinds: dict[Kind, WatchedKind] = field(default_factory=dict)
    changes: int = 0
    """How often something changed, or may have."""
    marked: bool = False
    """Whether somebody relies on that nothing has changed since."""
    awaited: bool = False
    """Whether somebody asked for a mark in vain since all watches were there last."""
    opening: bool = False
    """Whether a thread is at work on it."""
    failures: Backoff = field(default_factory=Backoff)
    retry_at: float = 0.0
    """Not before this moment are its watches begun again."""
    _wakes: int = 0
    _woke: float = float("-inf")

    def want(self, keys: Collection[ObjectKey]) -> list[EventStream]:
        """Watch the kinds of these keys, and Namespaces; the streams that nobody needs any more."""
        return self.want_kinds({NAMESPACES, *((key.group, key.version, key.kind) for key in keys)}, keys)

    def want_kinds(self, kinds: Set[Kind], keys: Container[ObjectKey]) -> list[EventStream]:
        """Watch these kinds for changes of these keys; as `want`."""
        self.keys = keys
        dropped = [self.kinds.pop(kind).stream for kind in self.kinds.keys() - kinds]
        for kind in kinds - self.kinds.keys():
            self.kinds[kind] = WatchedKind(kind)
        return [stream for stream in dropped if stream is not None]

    def missing(self) -> list[WatchedKind]:
        """The watches that are not open."""
        return [watched for watched in self.kinds.values() if watched.stream is None]

    def mark(self) -> Hashable:
        """What stands for the changes until now."""
        return id(self), self.changes

    def vouches(self, now: float) -> bool:
        """Whether each watch was there a short while ago, without a gap since."""
        heard = [watched.heard if watched.version else float("-inf") for watched in self.kinds.values()]
        return bool(heard) and now - min(heard) < SILENT_AFTER

    def changed(self) -> bool:
        """Note that something changed or may have; whether somebody is to hear of it."""
        self.changes += 1
        was_marked, self.marked = self.marked, False
        return was_marked

    def failed(self, why: object, now: float) -> list[EventStream]:
        """Nothing vouches for it until its watches are begun again; the streams to drop."""
        self.retry_at = now + self.failures.after(why)
        streams = self._streams()
        for watched in self.kinds.values():
            watched.version, watched.stream = "", None
        return streams

    def end(self) -> list[EventStream]:
        """Watch nothing any more; the streams to drop."""
        streams = self._streams()
        self.kinds.clear()
        return streams

    def _streams(self) -> list[EventStream]:
        return [watched.stream for watched in self.kinds.values() if watched.stream is not None]

    def wake_at(self, now: float) -> float:
        """When the loop is to hear of a change: at once, and less and less often while one follows the other."""
        if self._woke > now:
            return self._woke
        pause = _WAKES.after(self._wakes) if self._wakes else _AT_FIRST
        calm = now - self._woke > 2 * pause
        self._wakes = 1 if calm else self._wakes + 1
        self._woke = max(now + _AT_FIRST, now if calm else self._woke + pause)
        return self._woke


def is_change(watched: WatchedKind, keys: Container[ObjectKey], line: bytes) -> bool | None:
    """Whether an event of a watch is about one of the keys or about a Namespace; the version is kept. None where the
    watch cannot go on: the server does not know any more what happened since, or it is no event."""
    try:
        event: Any = parse_json(line)
        kind, metadata = event["type"], event["object"]["metadata"]
        version, namespace = metadata.get("resourceVersion"), metadata.get("namespace") or ""
        if kind not in ("ADDED", "MODIFIED", "DELETED", "BOOKMARK") or not isinstance(version, str) or not version:
            return None
    except (KeyError, TypeError, AttributeError, ValueError):
        return None
    watched.version = version
    if kind == "BOOKMARK":
        return False
    return watched.kind == NAMESPACES or ObjectKey(*watched.kind, namespace, metadata.get("name")) in keys
