"""Which clusters a pass reads, and for which the observation of an earlier pass still counts.

An observation is kept while a watch vouches that nothing has changed since before it was made, within the limits below.
What is kept is good for finding that there is nothing to do, and never for doing it: whatever a decision concerns is
read again, and decided again (decision record 0030).
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final
from zlib import crc32

from gitfleet.api.clusters import Connection, MemberCluster
from gitfleet.api.objects import ObjectKey
from gitfleet.fleet.fanout import Fanout
from gitfleet.fleet.unchanged_reconcile import with_known_objects
from gitfleet.model.backoff import Backoff
from gitfleet.model.decisions import Decision
from gitfleet.model.observations import ClusterObservation
from gitfleet.model.operations import Create, Delete, Operation, Update
from gitfleet.model.state import changed
from gitfleet.ports.clock import Clock
from gitfleet.ports.watching import Watching

PROBED_AFTER: Final = 120.0
"""Seconds after which a cluster is asked for its health again, at the latest."""
READ_AFTER: Final = 7200.0
"""Seconds after which its objects are read again, at the latest, whatever a watch says."""
_Keys = Mapping[str, Collection[ObjectKey]]
_Members = Mapping[str, MemberCluster]
_Observations = dict[str, ClusterObservation]


@dataclass(frozen=True, slots=True)
class _Entry:
    """An observation of some keys and what vouches for it, until when it counts and when to ask for health again: times
    of a clock that never goes back."""

    observation: ClusterObservation
    keys: Collection[ObjectKey]
    connection: Connection | None
    mark: Hashable
    until: float
    check_at: float


@dataclass(frozen=True, slots=True)
class _Unanswered:
    """An observation of a cluster that did not answer, which counts until it is asked again."""

    observation: ClusterObservation
    connection: Connection | None
    failures: Backoff
    retry_at: float


@dataclass(slots=True, kw_only=True)
class ObservationCache:
    """Observes clusters; without `watching` each is read in each pass. With it, one that does not answer is asked again
    along KubeFleet's curve, and at once when its watches are there or its connection is another one."""

    clock: Clock
    watching: Watching | None = None
    _entries: dict[str, _Entry] = field(default_factory=dict)
    _unanswered: dict[str, _Unanswered] = field(default_factory=dict)
    _fresh: set[str] = field(default_factory=set)
    _last: Mapping[str, ClusterObservation] = field(default_factory=dict)

    def observe(self, fanout: Fanout, clusters: _Members, keys: _Keys) -> _Observations:
        """One observation of every cluster that `keys` names, most of them kept on a quiet fleet."""
        self._entries = {name: entry for name, entry in self._entries.items() if name in keys}
        self._fresh, now = set(), self.clock.monotonic()
        if self.watching is not None:
            self.watching.keep(keys)
        self._unanswered = {name: entry for name, entry in self._unanswered.items() if name in keys}
        vouched = {name for name in keys if self._vouched(clusters[name], keys[name], now)}
        probed = {name for name in vouched if now >= self._entries[name].check_at}
        postponed = {name for name in self._unanswered if self._is_postponed(clusters[name], keys[name], now)}
        settled = vouched | postponed
        return self._remembered({
            **{name: self._entries[name].observation for name in vouched - probed},
            **{name: self._unanswered[name].observation for name in postponed},
            **self._probe(fanout, clusters, probed, now),
            **self._read(fanout, clusters, {name: keys[name] for name in keys if name not in settled}, now),
        })  # fmt: skip

    def doubtful(self, decision: Decision, operations: Iterable[Operation]) -> frozenset[str]:
        """The clusters that a decision concerns of which an earlier observation was taken: nothing may be done, and
        nothing be forgotten, before they are read."""
        return frozenset(_concerned(decision, operations) & self._entries.keys() - self._fresh)

    def read_again(self, fanout: Fanout, clusters: _Members, keys: _Keys) -> _Observations:
        """Fresh observations of these clusters."""
        return self._remembered({**self._last, **self._read(fanout, clusters, keys, self.clock.monotonic())})

    def forget(self, names: Iterable[str]) -> None:
        """These were changed by gitfleet itself: a watch may not have heard of it yet."""
        for name in names:
            self._entries.pop(name, None)

    def _vouched(self, cluster: MemberCluster, keys: Collection[ObjectKey], now: float) -> bool:
        entry = self._entries.get(cluster.name)
        if entry is None or self.watching is None or now >= entry.until:
            return False
        if entry.connection is not cluster.connection and entry.connection != cluster.connection:
            return False
        if entry.keys is not keys:  # the very same ones as a rule: a quiet pass must not look at each object
            if not entry.observation.live.keys() >= set(keys):
                return False
            self._entries[cluster.name] = replace(entry, keys=keys)
        return self.watching.unchanged(cluster, entry.mark)

    def _probe(self, fanout: Fanout, clusters: _Members, names: Collection[str], now: float) -> _Observations:
        """What is kept, with the health and properties of now; what is not reachable is kept no longer."""
        earlier = {name: self._entries[name].observation for name in sorted(names)}
        seen = fanout.check(clusters, earlier) if names else {}
        for name, observation in seen.items():
            if observation.reachable:
                check_at = now + _probed_after(clusters[name])
                self._entries[name] = replace(self._entries[name], observation=observation, check_at=check_at)
            else:
                del self._entries[name]
        self._note_unanswered(clusters, seen, now)
        return seen

    def _is_postponed(self, cluster: MemberCluster, keys: Collection[ObjectKey], now: float) -> bool:
        """Whether a cluster that did not answer is not asked in this pass."""
        unanswered = self._unanswered[cluster.name]
        if unanswered.connection != cluster.connection or now >= unanswered.retry_at or self.watching is None:
            return False
        return self.watching.mark(cluster, keys) is None

    def _note_unanswered(self, clusters: _Members, seen: _Observations, now: float) -> None:
        if self.watching is None:
            return
        for name, observation in seen.items():
            if observation.reachable:
                self._unanswered.pop(name, None)
            elif observation.attempted and not clusters[name].is_pulled:
                # What an agent reports comes with the pass and costs no request.
                previous = self._unanswered.get(name)
                failures = previous.failures if previous is not None else Backoff()
                retry_at = now + failures.after("no answer")
                self._unanswered[name] = _Unanswered(observation, clusters[name].connection, failures, retry_at)

    def _read(self, fanout: Fanout, clusters: _Members, keys: _Keys, now: float) -> _Observations:
        if not keys:
            return {}
        self.forget(keys)
        self._fresh |= keys.keys()
        watching = self.watching
        # Marked before they are read: what changes meanwhile is read, or makes the mark old.
        marks = {name: watching.mark(clusters[name], keys[name]) for name in keys} if watching is not None else {}
        seen = fanout.observe(clusters, keys)
        self._note_unanswered(clusters, seen, now)
        for name, mark in marks.items():
            observation = seen[name]
            if mark is not None and observation.reachable and not observation.unreadable:
                until, check_at = now + READ_AFTER * _share(name), now + _probed_after(clusters[name])
                connection = clusters[name].connection
                self._entries[name] = _Entry(observation, keys[name], connection, mark, until, check_at)
        return seen

    def _remembered(self, observations: _Observations) -> _Observations:
        merged = with_known_objects(observations, self._last)
        self._last = merged
        for name in self._entries.keys() & merged.keys():
            if self._entries[name].observation is not merged[name]:
                self._entries[name] = replace(self._entries[name], observation=merged[name])
        return dict(merged)


def _share(name: str) -> float:
    """Between three quarters and one, always the same for a name: clusters that were read together are not asked
    together for ever."""
    return 1.0 - crc32(name.encode()) / 2**34


def _probed_after(cluster: MemberCluster) -> float:
    """Who wants properties to be fresh sets a shorter heartbeat period than the usual one (decision record 0004)."""
    period = float(cluster.heartbeat_period_seconds)
    usual = PROBED_AFTER * _share(cluster.name)
    return min(period, usual) if period < PROBED_AFTER / 2 else usual


def _concerned(decision: Decision, operations: Iterable[Operation]) -> set[str]:
    """The clusters on which something is to be done or whose inventory changes, and all on which a placement is of
    which anything changes: its budget counts them together."""
    before, after = decision.inputs.before, decision.after
    names = {operation.cluster for operation in operations if isinstance(operation, Create | Update | Delete)}
    names |= {name for name, _, _ in changed(before.inventory, after.inventory)}
    for _, old, new in changed(before.placements, after.placements):
        names |= {binding.cluster for record in (old, new) if record is not None for binding in record.bindings}
    return names
