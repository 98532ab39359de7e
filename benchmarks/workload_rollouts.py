"""What one edit costs beside many workload rollouts that are over, and beside none.

    python -m benchmarks.workload_rollouts [COUNT ...]        default: 100 300 1000 rollouts

One simulated cluster has as many Deployments as there are rollouts. All have succeeded; then one Deployment gets
another content, until nothing moves. The ratio is to the CPU seconds of the same edit in the same fleet without
rollouts. Passes are those of either. Goals: a pass costs at most 6 times as much, and from one count to the next it
costs in proportion to the rollouts (exponent).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from time import process_time

from benchmarks.goals import Goals, exponent
from gitfleet.api.objects import JsonObject
from gitfleet.cli.collector import collect_rarely
from tests.builders import an_object, deployment, member_cluster, namespace, placement
from tests.scenarios.world import World


@dataclass(frozen=True, slots=True)
class Cost:
    """Passes until nothing moved, and the CPU seconds of all of them."""

    passes: int
    seconds: float


def main(words: Sequence[str] | None = None) -> None:
    """Print a line for each count."""
    collect_rarely()
    goals, before = Goals(), None
    for count in map(int, words if words is not None else sys.argv[1:] or ("100", "300", "1000")):
        bare, beside = edit_beside(count, rollouts=False), edit_beside(count, rollouts=True)
        ratio = beside.seconds / beside.passes / (bare.seconds / bare.passes)
        print(
            f"{count:>5} rollouts: one edit {beside.seconds:.2f} s CPU in {beside.passes} passes, without rollouts "
            f"{bare.seconds:.2f} s in {bare.passes}: {beside.seconds / bare.seconds:.1f} times, "
            f"{ratio:.1f} times a pass"
        )
        goals.at_most(f"{count} rollouts: a pass, times one without", ratio, 6)
        if before is not None:
            grown = exponent(before[1], beside.seconds, count / before[0])
            goals.at_most(f"{count} rollouts: exponent", grown, 1.25)
        before = (count, beside.seconds)
    goals.end()


def edit_beside(count: int, *, rollouts: bool) -> Cost:
    """The cost of other content for the first of so many Deployments."""
    world = World()
    names = [f"web-{number}" for number in range(count)]
    bodies = [deployment("web", name, "web:1", replicas=2) for name in names]
    world.commit(member_cluster("c1"), namespace("web"), placement("web", "web"), *bodies)
    _settled(world)
    if rollouts:
        world.commit(*map(_rollout, names))
        _settled(world)
    world.commit(deployment("web", names[0], "web:2", replicas=2))
    return _settled(world)


def _rollout(name: str) -> JsonObject:
    spec = {
        "targetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": name},
        "rolloutPlan": {"numBatches": 2},
    }
    return an_object("standard.oam.dev/v1alpha1", "RolloutTrait", name, namespace="web", spec=spec)


def _settled(world: World) -> Cost:
    passes, seconds = 0, 0.0
    while True:
        began = process_time()
        result = world.reconcile()
        passes, seconds = passes + 1, seconds + process_time() - began
        if result is None or result.changed or result.lost_race:
            continue
        moments = [one for one in (result.wake_at, world.fleet.next_change()) if one and one > world.clock.now()]
        if not moments:
            return Cost(passes, seconds)
        world.move_to(min(moments))


if __name__ == "__main__":
    main()
