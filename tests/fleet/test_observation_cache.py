"""For which clusters the observation of an earlier pass counts, with a watch that vouches for everything."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from gitfleet.api.clusters import Connection, MemberCluster
from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.fleet.observation_cache import PROBED_AFTER, READ_AFTER, ObservationCache
from gitfleet.model.decisions import Decision
from gitfleet.model.observations import ClusterObservation
from gitfleet.model.operations import Delete, PropagationPolicy
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.simulation.clock import ManualClock
from tests.gates import permit
from tests.state.builders import binding, record

ONE, OTHER = (ObjectKey("", "v1", "ConfigMap", "web", name) for name in ("one", "other"))
CLUSTER = MemberCluster(name="c", connection=Connection(context="c"))


def placed(name: str, *clusters: str) -> PlacementRecord:
    """A placement on these clusters."""
    return record(name, *(binding(PlacementKey("", name), cluster) for cluster in clusters))


@dataclass
class Vouches:
    """A watch whose mark moves on with each change."""

    changes: int = 0
    there: bool = True

    def mark(self, cluster: MemberCluster, keys: Collection[ObjectKey]) -> Hashable | None:
        return self.changes if self.there else None

    def unchanged(self, cluster: MemberCluster, mark: Hashable) -> bool:
        return mark == self.changes

    def keep(self, names: Collection[str]) -> None: ...


@dataclass
class Asked:
    """A fan-out to one cluster: how often it was asked for its objects."""

    seen: ClusterObservation = ClusterObservation(cluster="c", reachable=True, live={ONE: None})
    times: int = 0
    checks: int = 0
    watching: Vouches = field(default_factory=Vouches)
    meanwhile: int = 0

    def observe(self, clusters: Any, keys: Mapping[str, Collection[ObjectKey]]) -> dict[str, ClusterObservation]:
        self.times += 1
        self.watching.changes += self.meanwhile
        return dict.fromkeys(keys, self.seen)

    def check(self, clusters: Any, known: Mapping[str, ClusterObservation]) -> dict[str, ClusterObservation]:
        self.checks += 1
        return {name: replace(one, reachable=self.seen.reachable) for name, one in known.items()}

    def pass_of(self, kept: ObservationCache, cluster: MemberCluster = CLUSTER, *keys: ObjectKey) -> int:
        """One pass; how often the cluster was asked in it."""
        before = self.times
        kept.observe(cast(Any, self), {"c": cluster}, {"c": keys or (ONE,)})
        return self.times - before


def kept_by(asked: Asked) -> ObservationCache:
    return ObservationCache(clock=ManualClock(), watching=asked.watching)


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
        replace(Asked.seen, reachable=False),
    ],
)
def test_an_observation_of_which_anything_was_not_read_is_kept_no_longer_than_its_pass(
    seen: ClusterObservation,
) -> None:
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


def test_health_is_asked_for_now_and_then_and_all_objects_less_often() -> None:
    asked, clock = Asked(), ManualClock()
    kept = ObservationCache(clock=clock, watching=asked.watching)
    for _ in range(int(2 * READ_AFTER / 10)):
        asked.pass_of(kept)
        clock.advance(10)
    assert 2 <= asked.times <= 4, "after three quarters to the whole of it"
    assert 2 * READ_AFTER / PROBED_AFTER - 3 <= asked.checks <= 4 * READ_AFTER / PROBED_AFTER


def test_a_cluster_that_does_not_answer_is_kept_no_longer() -> None:
    asked, clock = Asked(), ManualClock()
    kept = ObservationCache(clock=clock, watching=asked.watching)
    asked.pass_of(kept)
    asked.seen = replace(asked.seen, reachable=False)
    clock.advance(PROBED_AFTER)
    assert asked.pass_of(kept) == 0 and asked.checks == 1
    asked.seen = replace(asked.seen, reachable=True)
    assert asked.pass_of(kept) == 1


def test_a_cluster_that_answered_has_its_failures_forgotten() -> None:
    asked, clock = Asked(watching=Vouches(there=False)), ManualClock()
    kept = ObservationCache(clock=clock, watching=asked.watching)

    def pause() -> int:
        """In how many seconds it is asked again."""
        for second in range(1, 100):
            clock.advance(1)
            if asked.pass_of(kept):
                return second
        raise AssertionError("it is never asked again")

    asked.seen = replace(asked.seen, reachable=False)
    asked.pass_of(kept)
    pauses = [pause() for _ in range(8)]
    assert max(pauses) > pauses[0] > 1
    asked.seen = replace(asked.seen, reachable=True)
    pause()
    asked.seen = replace(asked.seen, reachable=False)
    assert [pause(), pause()] == [1, pauses[0]], "it was read in each pass, then it fails for the first time again"


OWNED = {ONE: InventoryEntry(key=ONE, placement=PlacementKey("", "web"))}
WEB, DB = placed("web", "a", "b"), placed("db", "c")


def state(*records: PlacementRecord, inventory: str = "abc") -> FleetState:
    return FleetState(inventory=dict.fromkeys(inventory, OWNED), placements={one.placement.key: one for one in records})


STATE = state(WEB, DB)
DELETE = Delete(
    cluster="c", placement=PlacementKey("", "db"), reason="", key=ONE, uid="u", wave=0,
    propagation=PropagationPolicy.BACKGROUND, permit=permit("c", ONE))  # fmt: skip


@pytest.mark.parametrize(
    ("after", "operations", "names"),
    [
        (STATE, [DELETE], "c"),
        (STATE, [replace(DELETE, cluster="unknown")], ""),
        (state(WEB, DB, inventory="ab"), [], "c"),
        (replace(STATE, inventory={**STATE.inventory, "a": {}}), [], "a"),
        (state(WEB), [], "c"),
        (state(placed("web", "a"), DB), [], "ab"),
        (state(WEB, DB, placed("new", "b")), [], "b"),
    ],
)
def test_all_clusters_that_a_decision_concerns_are_read_before_anything_is_done(
    after: FleetState, operations: list[Delete], names: str
) -> None:
    """An operation, a changed inventory, or a placement of which anything changes (decision record 0030)."""
    asked = Asked()
    kept, clusters = kept_by(asked), {name: replace(CLUSTER, name=name) for name in "abc"}
    keys = dict.fromkeys(clusters, (ONE,))
    decision = cast("Decision", SimpleNamespace(inputs=SimpleNamespace(before=STATE), after=after))
    for _ in range(2):
        kept.observe(cast(Any, asked), clusters, keys)
    assert kept.doubtful(decision, operations) == set(names)
    kept.read_again(cast(Any, asked), clusters, {name: keys[name] for name in names})
    assert kept.doubtful(decision, operations) == frozenset(), "what was read in this pass is known"
