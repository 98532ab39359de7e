"""The attack on kube-system by an envelope (decision D37), played on a whole world."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gitfleet.api.conditions import Status
from tests import builders
from tests.scenarios.world import World

INNER = builders.config_map("kube-system", "coredns", {"Corefile": "evil"})
ANNOTATION = {"kubernetes-fleet.io/envelope-configmap": "true"}
ENVELOPES: dict[str, dict[str, Any]] = {
    "a plain object": INNER,
    "an annotated ConfigMap": builders.config_map(
        "kube-system", "e", {"x.yaml": json.dumps(INNER)}, annotations=ANNOTATION
    ),
    "a ResourceEnvelope": builders.an_object(
        builders.PLACEMENT_API, "ResourceEnvelope", "e", namespace="kube-system", data={"x": INNER}
    ),
}
SELECTORS = [
    {"group": "", "version": "v1", "kind": "ConfigMap"},
    {"group": "placement.kubernetes-fleet.io", "version": "v1beta1", "kind": "ResourceEnvelope"},
]


def world_with(body: dict[str, Any], **policy: Any) -> World:
    attack = builders.an_object(
        builders.PLACEMENT_API,
        "ResourcePlacement",
        "evil",
        namespace="kube-system",
        spec={"resourceSelectors": SELECTORS, "policy": {"placementType": "PickAll"}},
    )
    world = World()
    config = builders.an_object("gitfleet.dev/v1alpha1", "FleetConfig", "fleet", spec={"policy": policy})
    world.commit(builders.member_cluster("c1"), attack)
    world.roll_out(files={"resources/evil.yaml": json.dumps(body), "gitfleet.yaml": json.dumps(config)})
    return world


@pytest.mark.parametrize("way", ENVELOPES)
def test_nothing_is_placed_into_kube_system(way: str) -> None:
    world = world_with(ENVELOPES[way])
    assert world.live("c1", "ConfigMap", "coredns", "kube-system") is None
    (fault,) = [fault for fault in world.state().faults if fault.path == "resources/evil.yaml"]
    assert (fault.field, fault.code) == ("metadata.namespace", "RESERVED_PLACE_ELSEWHERE")


@pytest.mark.parametrize("way", ENVELOPES)
def test_what_the_policy_allowed_stays_when_it_does_so_no_more(way: str) -> None:
    world = world_with(ENVELOPES[way], allow=[{"namespaces": ["kube-system"]}])
    live = world.body("c1", "ConfigMap", "coredns", "kube-system")
    world.roll_out(files={"gitfleet.yaml": None})
    assert world.live("c1", "ConfigMap", "coredns", "kube-system") == live
    (record,) = world.state().placements.values()
    assert record.scheduled is not None and record.scheduled.status is Status.TRUE
    placement, payload = world.state().faults
    assert (placement.path, placement.code) == ("placements/kube-system-evil.yaml", "SELECTS_NO_KIND")
    assert payload.path == "resources/evil.yaml"
