"""Steps of workload rollouts on their way to an agent, and pods on their way back."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from gitfleet.api import write
from gitfleet.api.deliveries import ClusterDelivery, DeliveredStep
from gitfleet.api.member_reports import MemberReport, ReportedPods
from gitfleet.api.objects import ObjectKey
from gitfleet.api.values import NamespacedName
from gitfleet.formats.yaml_writer import yaml_text
from gitfleet.model.observations import LiveObject
from gitfleet.model.operations import DeletePod, Patch, RolloutWrite
from gitfleet.pull import (
    MemberSeen,
    delivered_step,
    performable_step,
    pods_of,
    read_delivery,
    read_report,
    report_content,
)
from gitfleet.pull.texts import PullText

KEY = ObjectKey("apps", "v1", "Deployment", "web", "web")
POD = ObjectKey("", "v1", "Pod", "web", "web-0")
COMMON: dict[str, Any] = {"cluster": "shop-1", "rollout": NamespacedName("web", "roll"), "reason": "so"}
PATCH = Patch(**COMMON, key=KEY, uid="u", resource_version="7", patch={"spec": {"replicas": 3, "paused": None}})
DELETE = DeletePod(**COMMON, key=POD, uid="p")
CLUSTER_WIDE = replace(DELETE, rollout=NamespacedName("", "roll"))


def live(uid: str = "u", version: str = "7", generation: int = 0) -> LiveObject:
    metadata: dict[str, Any] = {"name": "web", "namespace": "web", "uid": uid, "resourceVersion": version}
    return LiveObject(KEY, {"metadata": {**metadata, **({"generation": generation} if generation else {})}})


@pytest.mark.parametrize(
    ("step", "there", "now", "performed"),
    [
        (PATCH, live(), live(), PATCH),
        (PATCH, live(generation=4), live(generation=4, version="9"), replace(PATCH, resource_version="9")),
        (DELETE, live(), live(), DELETE),
        (CLUSTER_WIDE, live(), live(), CLUSTER_WIDE),
    ],
)  # fmt: skip
def test_what_is_delivered_is_performed_as_it_was_decided(
    step: RolloutWrite, there: LiveObject, now: LiveObject, performed: RolloutWrite
) -> None:
    delivery = ClusterDelivery(cluster="shop-1", steps=(delivered_step(step, {KEY: there}),))
    (order,) = read_delivery(yaml_text(write(delivery)).encode()).steps
    assert performable_step("shop-1", order, {KEY: now}) == performed


@pytest.mark.parametrize(
    ("seen", "now", "sentence"),
    [
        (live(), None, PullText.DELETED_REPLACED_SINCE_HUB_SAW),
        (live(), live(uid="v"), PullText.DELETED_REPLACED_SINCE_HUB_SAW),
        (live(), live(version="8"), PullText.CHANGED_SINCE_HUB_SAW),
        (live(generation=4), live(generation=5), PullText.CHANGED_SINCE_HUB_SAW),
    ],
)
def test_what_changed_since_the_hub_saw_it_is_left_alone(
    seen: LiveObject, now: LiveObject | None, sentence: PullText
) -> None:
    found = performable_step("shop-1", delivered_step(PATCH, {KEY: seen}), {KEY: now})
    assert found == sentence(object=KEY)


def names(step: RolloutWrite, there: LiveObject) -> str:
    return delivered_step(step, {KEY: there}).id


def test_a_step_is_the_same_while_the_spec_of_its_object_is() -> None:
    same = {names(replace(PATCH, resource_version=version), live(version=version, generation=4)) for version in "789"}
    assert len(same) == 1
    other = [
        names(PATCH, live(generation=5)),
        names(PATCH, live()),
        names(replace(PATCH, resource_version="8"), live(version="8")),
        names(replace(PATCH, patch={"spec": {"replicas": 4}}), live(generation=4)),
        names(replace(PATCH, rollout=NamespacedName("web", "other")), live(generation=4)),
        names(replace(PATCH, uid="v"), live(generation=4)),
        names(DELETE, live()),
        names(replace(DELETE, uid="q"), live()),
    ]
    assert len({*other} | same) == 9


def test_an_agent_that_knows_no_steps_reads_the_rest_of_a_delivery() -> None:
    order = delivered_step(DELETE, {})
    assert isinstance(order, DeliveredStep)
    text = yaml_text(write(ClusterDelivery(cluster="shop-1", steps=(order,), pods=(KEY,))))
    known = read_delivery(text.replace("steps:", "others:").replace("pods:", "more:").encode())
    assert known == ClusterDelivery(cluster="shop-1")


def pod(name: str, namespace: str = "web", **metadata: Any) -> dict[str, Any]:
    named = {"name": name, "namespace": namespace, "uid": f"uid-{name}", **metadata}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": named, "status": {"phase": "Running"}}


def test_the_pods_of_a_report_are_those_of_its_namespace() -> None:
    odd: dict[str, Any] = {"kind": "Pod", "metadata": "none"}
    other = {**pod("secret"), "kind": "Secret"}
    sets = {**pod("web-1"), "apiVersion": "apps/v1", "kind": "ReplicaSet"}
    listed = ReportedPods(workload=KEY, pods=(pod("a"), pod("b", "elsewhere"), odd, other, pod("c", uid=""), sets))
    report = MemberReport(cluster="shop-1", at=datetime(2026, 1, 1, tzinfo=UTC), pods=(listed,))
    read = read_report("shop-1", report_content(report))
    assert read == report
    missing = ObjectKey("apps", "v1", "Deployment", "web", "unread")
    found = pods_of(MemberSeen(report=read), [KEY, missing])
    assert {key: [one.body for one in pods] for key, pods in found.items()} == {KEY: [pod("a"), sets]}
