"""Clusters that are watched: a quiet pass asks nobody, a change asks the clusters that it concerns, and nothing is done
on what an earlier pass saw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise

import pytest

from gitfleet.api.objects import JsonObject, ObjectKey
from gitfleet.fleet.observation_cache import PROBED_AFTER, READ_AFTER
from gitfleet.ports.transport import Request, Response
from gitfleet.simulation.cluster import SimulatedCluster
from tests import builders
from tests.scenarios.world import World, end_of
from tests.watching import MemoryWatching

NAMES = [f"c{number}" for number in range(6)]
HALVES = {"web-a": NAMES[:3], "web-b": NAMES[3:]}
FLAG = ObjectKey("", "v1", "ConfigMap", "web-a", "flag")


@dataclass
class Asked:
    """What clusters were asked, in order."""

    requests: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def clusters(self) -> Counter[str]:
        return Counter(name for name, _, _ in self.requests)


@contextmanager
def counting() -> Iterator[Asked]:
    asked, send = Asked(), SimulatedCluster.request

    def request(cluster: SimulatedCluster, request: Request) -> Response:
        asked.requests.append((cluster.name, request.method, request.path))
        return send(cluster, request)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SimulatedCluster, "request", request)
        yield asked


def placed(*, watches: bool = True) -> World:
    """Two placements on three clusters each, all settled."""
    world = World(watches=watches)
    world.commit(*(builders.member_cluster(name) for name in NAMES))
    for name, clusters in HALVES.items():
        world.commit(builders.namespace(name), flag(name, "1"), place(name, clusters))
    world.settle()
    world.rest()
    return world


def place(name: str, clusters: list[str]) -> JsonObject:
    strategy = builders.rolling_update(maxUnavailable="100%")
    return builders.placement(name, policy=builders.pick_fixed(*clusters), strategy=strategy)


def flag(namespace: str, value: str) -> JsonObject:
    return builders.config_map(namespace, "flag", {"a": value})


def watching(world: World) -> MemoryWatching:
    assert world.watching is not None
    return world.watching


def value(world: World, cluster: str) -> str | None:
    body = world.live(cluster, "ConfigMap", "flag")
    return body["data"]["a"] if body else None


def test_a_quiet_pass_asks_nobody_and_a_minute_later_only_for_their_health() -> None:
    world = placed()
    with counting() as asked:
        world.reconcile()
        world.reconcile()
        assert asked.requests == []
        world.advance(seconds=PROBED_AFTER)
        world.reconcile()
    assert set(asked.clusters) == set(NAMES)
    assert not [path for _, _, path in asked.requests if "configmaps" in path]
    world.advance(seconds=READ_AFTER)
    with counting() as asked:
        world.reconcile()
    assert len([path for _, _, path in asked.requests if "configmaps" in path]) == len(NAMES)


def test_a_pass_for_one_changed_placement_asks_only_the_clusters_that_it_concerns() -> None:
    world = placed()
    with counting() as asked:
        world.roll_out(flag("web-a", "2"))
    assert set(asked.clusters) == set(HALVES["web-a"])
    assert {value(world, name) for name in HALVES["web-a"]} == {"2"}


def test_what_is_changed_or_deleted_by_hand_is_put_right_on_its_cluster_alone() -> None:
    world = placed()
    world.fleet.cluster("c0").mutate(FLAG, [{"op": "replace", "path": "/data/a", "value": "9"}])
    world.fleet.cluster("c1").delete_by_hand(FLAG)
    with counting() as asked:
        world.settle()
    assert (value(world, "c0"), value(world, "c1")) == ("1", "1")
    assert not set(asked.clusters) & set(HALVES["web-b"])


def test_what_happened_while_a_watch_was_cut_off_is_read() -> None:
    world = placed()
    watching(world).refused.add("c0")
    world.fleet.cluster("c0").delete_by_hand(FLAG)
    watching(world).cut("c0")
    watching(world).refused.clear()
    world.settle()
    assert value(world, "c0") == "1"


def test_a_cluster_that_may_not_be_watched_is_read_in_each_pass() -> None:
    world = placed()
    watching(world).refused.add("c5")
    with counting() as asked:
        world.reconcile()
        world.reconcile()
    assert set(asked.clusters) == {"c5"}
    assert len([path for _, _, path in asked.requests if "configmaps" in path]) == 2


def test_a_watch_that_hangs_is_believed_no_longer_than_its_limit() -> None:
    world = placed()
    watching(world).silent.add("c0")
    world.fleet.cluster("c0").delete_by_hand(FLAG)
    with world.nothing_deleted():
        world.settle()
        assert value(world, "c0") is None, "nobody knows of it yet"
        world.advance(seconds=READ_AFTER)
        world.settle()
    assert value(world, "c0") == "1"


def test_a_cluster_that_does_not_answer_is_asked_less_and_less_often() -> None:
    world = placed()
    world.silence("c0")
    times = []
    for second in range(1200):
        world.advance(seconds=1)
        with counting() as asked:
            world.reconcile()
        if asked.clusters["c0"]:
            times.append(second)
    pauses = [later - sooner for sooner, later in pairwise(times)]
    assert pauses[:4] == [5, 2, 3, 3] and pauses == [5, *sorted(pauses[1:])] and pauses[-1] > 150
    world.fleet.cluster("c0").reachable = True
    with counting() as asked:
        world.reconcile()
    assert asked.clusters["c0"], "its watches say that it is there"


def test_nothing_is_done_on_what_an_earlier_pass_saw() -> None:
    """The watches hang, and meanwhile an object went and somebody else made one of its name: it is read first."""
    ends = []
    for watches in (False, True):
        world = placed(watches=watches)
        if watches:
            watching(world).silent.update(NAMES)
        for name in HALVES["web-a"]:
            world.fleet.cluster(name).delete_by_hand(FLAG)
        world.fleet.cluster("c0").apply_by_hand(flag("web-a", "theirs"))
        with counting() as asked:
            world.roll_out(remove=[flag("web-a", "1")])
        first = {name: next(method for n, method, _ in asked.requests if n == name) for name in asked.clusters}
        assert set(first.values()) == {"GET"} and set(HALVES["web-a"]) <= first.keys()
        ends.append(end_of(world))
    assert ends[0] == ends[1]


@pytest.mark.parametrize("refused", ((), ("c1", "c4"), NAMES))
def test_all_ends_as_without_watches(refused: tuple[str, ...]) -> None:
    ends = []
    for watches in (False, True):
        world = placed(watches=watches)
        if watches:
            watching(world).refused.update(refused)
        world.roll_out(flag("web-a", "2"), place("web-b", NAMES[2:5]))
        world.fleet.cluster("c4").delete_by_hand(ObjectKey("", "v1", "Namespace", "", "web-b"))
        world.settle()
        world.restart()
        world.roll_out(place("web-a", NAMES[:1]), flag("web-b", "3"))
        ends.append(end_of(world))
    assert ends[0] == ends[1]
