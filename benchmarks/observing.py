"""Requests of a quiet pass and of a pass for one changed object, with every cluster read and with clusters watched.

    python -m benchmarks.observing [--clusters 20] [--objects 45]

Clusters are simulated behind the HTTP seam of the real adapter, where each request is counted. The lines are the ratios
of watched to read. Goals, of watched clusters: no request in a quiet pass, less than one a cluster and minute in an
hour of passes, and none to a cluster that a change does not concern.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from benchmarks.goals import Goals
from gitfleet.ports.transport import Request, Response
from gitfleet.simulation.cluster import SimulatedCluster
from tests import builders
from tests.scenarios.world import World

_send = SimulatedCluster.request
HOUR = "an hour, a pass each 30 seconds"


@contextmanager
def counted(requests: list[str]) -> Iterator[None]:
    """Note the cluster of each request meanwhile."""

    def request(cluster: SimulatedCluster, request: Request) -> Response:
        requests.append(cluster.name)
        return _send(cluster, request)

    SimulatedCluster.request = request  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        SimulatedCluster.request = _send  # type: ignore[method-assign]


def measured(clusters: int, objects: int, *, watches: bool) -> dict[str, int]:
    """The requests of each kind of pass to a settled fleet, where each cluster has a placement of its own."""
    world = World(watches=watches)
    names = [f"c{number:04}" for number in range(clusters)]
    world.commit(*(builders.member_cluster(name) for name in names))
    for name in names:
        maps = [builders.config_map(f"at-{name}", f"cm-{number:03}", {"a": "1"}) for number in range(objects)]
        placed = builders.placement(f"at-{name}", policy=builders.pick_fixed(name))
        world.commit(builders.namespace(f"at-{name}"), *maps, placed)
    world.settle()
    world.rest()
    found: dict[str, int] = {}
    for what, seconds in (("quiet", 30.0), ("quiet, a minute later", 60.0)):
        requests: list[str] = []
        world.advance(seconds=seconds)
        with counted(requests):
            world.reconcile()
        found[what] = len(requests)
    requests = []
    with counted(requests):
        for _ in range(120):
            world.advance(seconds=30)
            world.reconcile()
    found[HOUR] = len(requests)
    requests = []
    with counted(requests):
        world.commit(builders.config_map(f"at-{names[0]}", "cm-000", {"a": "2"}))
        world.settle()
    found["one object changed, until settled"] = len(requests)
    found["clusters asked for that"] = len(set(requests))
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--clusters", type=int, default=20)
    parser.add_argument("--objects", type=int, default=45)
    given = parser.parse_args(arguments)
    read, watched = (measured(given.clusters, given.objects, watches=watches) for watches in (False, True))
    print(f"requests to {given.clusters} clusters with {given.objects} objects each: read, watched, ratio")
    for what, number in read.items():
        print(f"{what:36} {number:7} {watched[what]:7} {watched[what] / number:7.3f}")
    goals = Goals()
    goals.at_most("requests of a quiet pass", watched["quiet"], 0)
    goals.at_most("requests a cluster and minute", watched[HOUR] / given.clusters / 60, 0.95)
    goals.at_most("clusters asked for one changed object", watched["clusters asked for that"], 1)
    goals.end()


if __name__ == "__main__":
    main()
