"""A fleet without workload rollouts loads nothing of them but the seam."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLAYED = """
import sys
from tests.builders import config_map, member_cluster, namespace, placement
from tests.scenarios.world import World

world = World()
world.commit(member_cluster("c1"), namespace("web"), placement("web", "web"), config_map("web", "a"))
world.settle()
assert world.live("c1", "ConfigMap", "a", "web") is not None
print(*sorted(one for one in sys.modules if one.startswith("gitfleet.workload")))
"""


def test_a_fleet_without_rollouts_loads_none_of_it() -> None:
    played = subprocess.run([sys.executable, "-c", PLAYED], cwd=ROOT, capture_output=True, text=True, check=True)
    assert played.stdout.split() == ["gitfleet.workload", "gitfleet.workload.loading", "gitfleet.workload.seam"]
