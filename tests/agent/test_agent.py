"""What an agent carries out of the delivery that it finds, and what not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api import write
from gitfleet.api.deliveries import ClusterDelivery, DeliveredOperation, DeliveredStep, DeliveryAction, StepAction
from gitfleet.api.objects import ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.formats.yaml_writer import yaml_text
from gitfleet.pull import read_report
from gitfleet.pull.texts import PullText
from tests.builders import config_map, secret
from tests.scenarios.pull_world import PullWorld

KEY = ObjectKey("", "v1", "ConfigMap", "default", "settings")
POD = ObjectKey("", "v1", "Pod", "default", "web-0")
CREATE = DeliveredOperation(
    id="a" * 32, action=DeliveryAction.CREATE, placement=PlacementKey("", "web"), object=KEY, file="settings.yaml"
)
STEP = DeliveredStep(id="b" * 32, action=StepAction.DELETE_POD, rollout="web/web", object=POD, uid="u")
DELIVERY = ClusterDelivery(cluster="shop-1", operations=(CREATE,), steps=(STEP,))
MANIFEST = config_map("default", "settings", {"k": "1"})


class Site:
    """One cluster with an agent, and deliveries that a test writes."""

    def __init__(self) -> None:
        self.world = PullWorld()
        self.agent = self.world.start_agent("shop-1")

    def carried_out(self, delivery: ClusterDelivery, manifest: dict[str, Any] = MANIFEST) -> list[str]:
        """What the agent answers to the operations of a delivery: ok, or why not."""
        files = {"delivery.yaml": yaml_text(write(delivery)), "settings.yaml": yaml_text(manifest)}
        self.world.repo.commit_files("gitfleet/deliver/shop-1", files, self.world.clock.now())
        self.agent.reconcile()
        answers = read_report("shop-1", self.world.repo.files("gitfleet/member/shop-1")["report.yaml"]).outcomes
        return ["ok" if one.ok else one.message for one in answers]


DELIVERED_BADLY = [
    replace(DELIVERY, cluster="shop-2"),
    *(
        bad
        for name in ("", "../" + "a" * 29, "A" * 32, "a" * 31, "a" * 33, "a" * 32 + "\n")
        for bad in (
            replace(DELIVERY, operations=(replace(CREATE, id=name),)),
            replace(DELIVERY, steps=(replace(STEP, id=name),)),
        )
    ),
]


@pytest.mark.parametrize("delivery", DELIVERED_BADLY)
def test_a_delivery_of_another_cluster_or_with_ids_of_another_form_is_not_carried_out(
    delivery: ClusterDelivery,
) -> None:
    site = Site()
    assert site.carried_out(delivery) == []
    assert site.carried_out(DELIVERY) == ["ok", "ok"]
    assert site.carried_out(delivery) == [], "nor is the one before it any more"


@pytest.mark.parametrize(
    "manifest",
    [config_map("default", "other", {}), config_map("kube-system", "settings", {}), secret("default", "settings", {})],
)
def test_the_manifest_of_another_object_is_not_applied(manifest: dict[str, Any]) -> None:
    assert Site().carried_out(DELIVERY, manifest) == [PullText.MANIFEST_NOT_DELIVERY(object=KEY), "ok"]
