"""Objects inside envelopes count as placed objects: what a commit takes out of one may wait for a person too."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.api.holds import HoldRule
from tests import builders
from tests.scenarios.test_holds import CLUSTERS, answer, only_hold
from tests.scenarios.world import World

INNER = tuple(f"inner-{number}" for number in range(1, 5))
API = "placement.kubernetes-fleet.io/v1beta1"


def objects_named(*names: str) -> list[dict[str, Any]]:
    return [builders.config_map("web", name, {"key": "value"}) for name in names]


def config_map(*names: str) -> dict[str, Any]:
    texts = {f"{found['metadata']['name']}.yaml": builders.to_yaml(found) for found in objects_named(*names)}
    return builders.config_map("web", "bundle", texts, annotations={"kubernetes-fleet.io/envelope-configmap": "true"})


def resource_envelope(*names: str) -> dict[str, Any]:
    data = {f"{found['metadata']['name']}.yaml": found for found in objects_named(*names)}
    return {**builders.an_object(API, "ResourceEnvelope", "bundle", namespace="web"), "data": data}


def settled(envelope: dict[str, Any]) -> World:
    world = World()
    world.commit(
        *(builders.member_cluster(name) for name in CLUSTERS), builders.namespace("web"), envelope,
        builders.placement("web"),
    )  # fmt: skip
    world.settle()
    assert placed(world) == {f"{cluster} {name}" for cluster in CLUSTERS for name in INNER}
    return world


def placed(world: World) -> set[str]:
    clusters = world.fleet.clusters.items()
    return {f"{n} {o.key.name}" for n, cluster in clusters for o in cluster.objects() if o.key.name in INNER}


@pytest.mark.parametrize("envelope", [config_map, resource_envelope])
@pytest.mark.parametrize("left", [INNER[:2], ()], ids=["half", "nothing"])
def test_what_an_envelope_loses_is_held_released_and_taken_back(envelope: Any, left: tuple[str, ...]) -> None:
    world = settled(envelope(*INNER))
    with world.nothing_deleted():
        world.commit(envelope(*left))
        world.settle()
        world.restart()
        world.settle()
        hold = only_hold(world)
    gone = set(INNER) - set(left)
    assert {removal.object.name for removal in hold.removals if removal.object} == gone
    assert hold.objects == len(gone) * len(CLUSTERS)
    assert hold.reasons[0].rule is HoldRule.MASS_DELETION
    assert "bundle" in hold.reasons[0].path
    world.write(answer(hold))
    world.settle()
    assert placed(world) == {f"{cluster} {name}" for cluster in CLUSTERS for name in left}
    world.settle()
    assert not world.state().holds


def test_an_object_that_leaves_an_envelope_for_a_file_is_no_removal() -> None:
    world = settled(config_map(*INNER))
    with world.nothing_deleted():
        world.commit(config_map(), *objects_named(*INNER))
        world.settle()
    assert not world.state().holds
    assert placed(world) == {f"{cluster} {name}" for cluster in CLUSTERS for name in INNER}


def test_a_hold_on_an_envelope_is_gone_when_the_commit_is_taken_back() -> None:
    world = settled(config_map(*INNER))
    with world.nothing_deleted():
        world.commit(config_map())
        world.settle()
        assert world.state().holds
        world.commit(config_map(*INNER))
        world.settle()
    assert not world.state().holds


def test_an_object_that_moves_beside_a_held_envelope_stays_where_it_was() -> None:
    world = settled(config_map(*INNER))
    with world.nothing_deleted():
        world.commit(config_map(), *objects_named(INNER[0]))
        world.settle()
    assert placed(world) == {f"{cluster} {name}" for cluster in CLUSTERS for name in INNER}
    world.write(answer(only_hold(world)))
    world.settle()
    assert placed(world) == {f"{cluster} {INNER[0]}" for cluster in CLUSTERS}
    assert not [fault for fault in world.state().faults if fault.severity == "error"]
