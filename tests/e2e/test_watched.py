"""A continuous run on a real cluster, polling once an hour: what happens there wakes it."""

from __future__ import annotations

import time

import pytest

from tests.e2e.manifests import config_map, member, namespace_file, placement
from tests.e2e.members import Members
from tests.e2e.programs import Program, eventually
from tests.e2e.repos import ConfigRepo
from tests.e2e.test_long_lived import HOURLY

pytestmark = pytest.mark.real


def test_what_is_deleted_by_hand_is_put_back_long_before_the_next_poll(
    config: ConfigRepo, program: Program, members: Members
) -> None:
    namespace, cluster = members.namespace("watched"), members.by_name["cluster-1"]
    config.commit(
        {"clusters/c.yaml": member(cluster.name), "placements/web.yaml": placement(namespace), "gitfleet.yaml": HOURLY}
        | {"resources/web.yaml": namespace_file(namespace) + "---\n" + config_map(namespace, k="one")}
    )
    with program.running() as running:
        eventually(lambda: cluster.config_map(namespace) == {"k": "one"}, lambda: running.talk)
        time.sleep(3)  # by now nothing moves any more
        cluster.delete_config_map(namespace)
        eventually(lambda: cluster.config_map(namespace) == {"k": "one"}, lambda: running.talk)
        assert running.terminate() == 0
    assert "Traceback" not in running.talk
