"""A workload rollout that waits for a person: the fleet is settled, as nothing else goes on either, however many
clusters come after the one that waits."""

from __future__ import annotations

import re
from contextlib import nullcontext
from typing import Any

import pytest

from gitfleet.api.scenarios import ClusterRule, ObjectPattern, WebhookRule
from gitfleet.cli.run import fail_with_rollouts
from gitfleet.errors import BadInput
from gitfleet.observe.texts import ObserveText
from gitfleet.views.texts import ViewsText
from gitfleet.views.workload_rollouts import rollout_failures
from tests.builders import deployment, member_cluster, namespace, placement
from tests.scenarios.test_workload_rollouts import rollout
from tests.scenarios.world import World

OLD, NEW = deployment("web", "web", "web:1", replicas=4), deployment("web", "web", "web:2", replicas=4)
HOOK = {"type": "pre-batch-rollout", "name": "gate", "url": "https://gate.example/x", "onFailure": "fail"}


def a_world(clusters: int, webhooks: tuple[WebhookRule, ...] = (), **plan: Any) -> World:
    """Clusters with new content under a rollout, at rest."""
    world = World(webhooks=webhooks)
    members = [member_cluster(f"c{number}") for number in range(clusters)]
    world.roll_out(*members, namespace("web"), placement("web", "web"), OLD, rollout(OLD, numBatches=2))
    world.roll_out(NEW, rollout(OLD, numBatches=2, **plan))
    return world


@pytest.mark.parametrize("clusters", [1, 3, 8])
@pytest.mark.parametrize("plan", [{"lastBatchToRollout": 0}, {"paused": True}, {"rolloutWebhooks": [HOOK]}])
def test_nothing_else_is_waited_for(clusters: int, plan: dict[str, Any]) -> None:
    world = a_world(clusters, (WebhookRule(url="*", status=403),), **plan)
    result = world.driver.reconcile()
    assert (result.settled, result.waiting) == (True, ())
    assert any(one.startswith("rollout web/web on c") for one in result.asks)
    failed = [
        ViewsText.ROLLOUT_FAILED(record="web/web", cluster=f"c{n}", one="webhook gate rejected: the scenario")
        for n in range(clusters)
    ]
    found = rollout_failures(result.state.rollouts.values())
    assert [one.startswith(tuple(failed)) for one in found] == [True] * ("rolloutWebhooks" in plan)
    with (
        pytest.raises(BadInput, match=re.escape(ViewsText.ROLLOUT_FAILED(record="web/web", cluster="c0", one="")))
        if found
        else nullcontext()
    ):
        fail_with_rollouts(result)
    world.commit(remove=[rollout(OLD)])
    world.roll_out(deployment("web", "web", "web:3", replicas=4))
    result = world.driver.reconcile()
    assert (result.settled, result.waiting, result.asks) == (True, (), ())


def test_what_is_unavailable_beside_it_is_waited_for() -> None:
    never = ClusterRule(object=ObjectPattern(kind="Deployment", name="other"), available="never")
    world = World(rules=(never,))
    world.roll_out(member_cluster("c0"), namespace("web"), placement("web", "web"), OLD, rollout(OLD, numBatches=2))
    other = deployment("web", "other", "web:1", replicas=1)
    world.roll_out(NEW, other, rollout(OLD, numBatches=2, lastBatchToRollout=0))
    result = world.driver.reconcile()
    why = ObserveText.REPLICAS_AVAILABLE(available=0, wanted=1)
    other_waits = ObserveText.IS_NOT(first="Deployment/web/other", verb="available", why=why, more_than_first="")
    assert not result.settled and other_waits in result.waiting[0]
