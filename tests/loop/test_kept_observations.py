"""For which clusters the observation of an earlier pass counts, with a watch that vouches for everything."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest

from gitfleet.api.clusters import Connection, MemberCluster
from gitfleet.api.objects import ObjectKey
from gitfleet.loop.kept_observations import KeptObservations
from gitfleet.model.observations import ClusterObservation
from gitfleet.simulation.clock import ManualClock

ONE, OTHER = (ObjectKey("", "v1", "ConfigMap", "web", name) for name in ("one", "other"))
CLUSTER = MemberCluster(name="c", connection=Connection(context="c"))


@dataclass
class Vouches:
    """A watch whose mark moves on with each change."""

    changes: int = 0

    def mark(self, cluster: MemberCluster, keys: Collection[ObjectKey]) -> Hashable:
        return self.changes

    def unchanged(self, cluster: MemberCluster, mark: Hashable) -> bool:
        return mark == self.changes

    def keep(self, names: Collection[str]) -> None: ...


@dataclass
class Asked:
    """A fan-out to one cluster: how often it was asked for its objects."""

    seen: ClusterObservation = ClusterObservation(cluster="c", reachable=True, live={ONE: None})
    times: int = 0
    watching: Vouches = field(default_factory=Vouches)
    meanwhile: int = 0

    def observe(self, clusters: Any, keys: Mapping[str, Collection[ObjectKey]]) -> dict[str, ClusterObservation]:
        self.times += 1
        self.watching.changes += self.meanwhile
        return dict.fromkeys(keys, self.seen)

    def pass_of(self, kept: KeptObservations, cluster: MemberCluster = CLUSTER, *keys: ObjectKey) -> int:
        """One pass; how often the cluster was asked in it."""
        before = self.times
        kept.observe(cast(Any, self), {"c": cluster}, {"c": keys or (ONE,)})
        return self.times - before


def kept_by(asked: Asked) -> KeptObservations:
    return KeptObservations(clock=ManualClock(), watching=asked.watching)


def test_what_a_watch_vouches_for_is_not_read_again() -> None:
    asked = Asked()
    kept = kept_by(asked)
    assert [asked.pass_of(kept) for _ in range(3)] == [1, 0, 0]
    asked.watching.changes += 1
    assert [asked.pass_of(kept) for _ in range(2)] == [1, 0]


@pytest.mark.parametrize(
    "seen",
    [
        replace(Asked.seen, unreadable={ONE: "forbidden"}),
        ClusterObservation(cluster="c", reachable=True, live={}, unreadable={ONE: "forbidden"}),
    ],
)
def test_an_observation_with_anything_unreadable_is_kept_no_longer_than_its_pass(seen: ClusterObservation) -> None:
    asked = Asked(seen=seen)
    kept = kept_by(asked)
    assert [asked.pass_of(kept) for _ in range(3)] == [1, 1, 1]


def test_another_connection_or_another_object_is_read() -> None:
    asked = Asked()
    kept = kept_by(asked)
    elsewhere = replace(CLUSTER, connection=Connection(context="elsewhere"))
    assert [asked.pass_of(kept), asked.pass_of(kept, elsewhere), asked.pass_of(kept, elsewhere)] == [1, 1, 0]
    assert asked.pass_of(kept, elsewhere, ONE, OTHER) == 1


def test_what_changes_while_it_is_read_is_read_again() -> None:
    asked = Asked(meanwhile=1)
    kept = kept_by(asked)
    assert asked.pass_of(kept) == 1
    asked.meanwhile = 0
    assert [asked.pass_of(kept) for _ in range(2)] == [1, 0]
