"""Scheduling a large fleet stays far below what asking about every cluster would take (generous limits)."""

from __future__ import annotations

from time import process_time

import pytest

from gitfleet.model.clusters import MemberCluster
from gitfleet.model.placements import PlacementPolicy
from gitfleet.schedule import index_fleet, schedule
from tests.schedule.fleets import NOW, cluster, pick_n, request, required, spread

CLUSTERS: list[MemberCluster] = [
    cluster(f"c{i:05}", {"env": ("prod", "dev")[i % 2], "region": f"r{i % 20}", "zone": f"z{i * 7 % 60}"})
    for i in range(10_000)
]
PROD = required({"env": "prod"})
SPREAD = tuple(spread(key, hard=False) for key in ("region", "zone"))


@pytest.mark.parametrize(
    ("policy", "seconds"),
    [
        (PlacementPolicy(affinity=PROD), 0.2),
        (pick_n(1000, affinity=PROD), 0.1),
        (pick_n(1000, affinity=PROD, topology_spread_constraints=SPREAD), 0.5),
    ],
    ids=["PickAll", "PickN", "PickN-spread"],
)
def test_ten_thousand_clusters(policy: PlacementPolicy, seconds: float) -> None:
    fleet = index_fleet(CLUSTERS, NOW)
    start = process_time()
    answer = schedule(request(policy), fleet)
    assert process_time() - start < seconds
    assert len(answer.bindings) == (policy.number_of_clusters or 5000)
