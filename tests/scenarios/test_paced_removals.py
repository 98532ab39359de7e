"""What bounds one pass of removals: the floor of the new target (kubefleet.md §3; the vectors
roll-pickn-overscheduled-zero-budget and fz-r-203 show it with maxUnavailable 0). Clusters beyond what the policy asks
for go together."""

from __future__ import annotations

from typing import Any

import pytest

from tests import builders
from tests.scenarios.world import World

CLUSTERS = tuple(f"c{number}" for number in range(1, 9))
FIRST_SIX = CLUSTERS[:6]


def placed(policy: dict[str, Any], **strategy: int | str) -> dict[str, Any]:
    """The placement."""
    return builders.placement("web", policy=policy, strategy=builders.rolling_update(**strategy))


def settled(policy: dict[str, Any]) -> World:
    """Eight clusters, a Deployment on those that the policy picks; nothing is held."""
    world = World()
    world.roll_out(
        builders.fleet_config(removals={"approval": "Never"}),
        *(builders.member_cluster(name, labels={"zone": "a" if name < "c7" else "b"}) for name in CLUSTERS),
        builders.namespace("web"),
        builders.deployment("web", "web"),
        placed(policy),
    )
    return world


def cleared(world: World) -> list[set[str]]:
    """Settles; by pass, the clusters whose objects were deleted."""
    passes: list[set[str]] = []
    while True:
        start = len(world.happenings)
        result = world.reconcile()
        if gone := {h.cluster for h in world.happenings[start:] if h.what == "delete"}:
            passes.append(gone)
        if result is not None and not result.changed:
            moments = [m for m in (world.fleet.next_change(), result.wake_at) if m is not None]
            if not moments:
                return passes
            world.move_to(min(moments))


ROWS = {
    # new policy, strategy, how many go in each pass: available - (target - maxUnavailable), while there are more
    "six to two": (builders.pick_fixed("c1", "c2"), {}, [4]),
    "six to five": (builders.pick_fixed(*CLUSTERS[:5]), {"maxUnavailable": 1}, [1]),
    "six to two others": (builders.pick_fixed("c7", "c8"), {"maxUnavailable": 1, "maxSurge": 1}, [5, 1]),
    "six to six, two others": (
        builders.pick_fixed("c1", "c2", "c3", "c4", "c7", "c8"),
        {"maxUnavailable": 1, "maxSurge": 1},
        [1, 1],
    ),
}


@pytest.mark.parametrize(("policy", "strategy", "passes"), ROWS.values(), ids=ROWS)
def test_a_pass_removes_what_is_beyond_the_floor_of_the_new_target(
    policy: dict[str, Any], strategy: dict[str, Any], passes: list[int]
) -> None:
    world = settled(builders.pick_fixed(*FIRST_SIX))
    target = len(policy["clusterNames"])
    floors: list[int] = []
    world.watch = lambda _: floors.append(sum(world.image(name) is not None for name in CLUSTERS))
    world.commit(placed(policy, **strategy))
    assert [len(gone) for gone in cleared(world)] == passes
    assert min(floors) >= target - 1
    assert {name for name in CLUSTERS if world.image(name)} == set(policy["clusterNames"])


@pytest.mark.parametrize("selected", ["web", "other"])
def test_a_name_that_is_leaving_may_be_used_again_for_another_policy(selected: str) -> None:
    """As the error about a change of the type says; what has not left yet is not removed where it is the same."""
    world = settled(builders.pick_fixed(*FIRST_SIX))
    world.commit(builders.namespace("other"), builders.deployment("other", "web"), remove=["placements/web.yaml"])
    world.reconcile()
    start = len(world.happenings)
    again = builders.placement("web", selectors=[builders.select_namespace(selected)])
    world.roll_out(again)
    assert world.state().faults == () and not world.state().holds
    assert {name for name in CLUSTERS if world.image_in(name, selected)} == set(CLUSTERS)
    left = {name for name in CLUSTERS if world.image_in(name, "web")}
    deleted = {h.key.namespace or h.key.name for h in world.happenings[start:] if h.what == "delete"}
    assert (left, deleted) == ((set(CLUSTERS), set()) if selected == "web" else (set(), {"web"}))
