"""Where what an agent is to do is pushed, and where not."""

from __future__ import annotations

import pytest

from tests.builders import config_map, fleet_config, namespace, placement, repo_files_for
from tests.scenarios.pull_world import PullWorld, pulled_cluster

DELIVER = "gitfleet/deliver/shop-1"
WEB = (namespace("web"), config_map("web", "settings", {"k": "1"}), placement("web"))


@pytest.mark.parametrize("name", ["watch", "state", "rendered"])
def test_no_delivery_is_pushed_to_a_branch_that_holds_something_else(name: str) -> None:
    world = PullWorld()
    files = repo_files_for(fleet_config(branches={name: DELIVER}), pulled_cluster("shop-1"), *WEB)
    for branch in ("main", DELIVER) if name == "watch" else ("main",):
        world.repo.commit_files(branch, files, world.clock.now())
    world.reconcile()
    assert world.driver.pull is not None
    sentence = f"what shop-1 is to do cannot be pushed to {DELIVER}: that branch holds something else"
    assert sentence in world.driver.pull.waiting
