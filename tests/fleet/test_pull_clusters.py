"""Where what an agent is to do is pushed, and where not."""

from __future__ import annotations

import pytest

from gitfleet.fleet.texts import FleetText
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
    assert world.driver.clusters.pull is not None
    sentence = FleetText.CANNOT_PUSHED(name="shop-1", branch=DELIVER, error=FleetText.BRANCH_HOLDS_SOMETHING_ELSE())
    assert sentence in world.driver.clusters.pull.waiting
