"""Slips in the first version of a rollout: a rollout was asked for, so that its workload stays as it is until the slip
is corrected, or the file is removed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import pytest

from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_records import RollingState
from gitfleet.workload.texts import WorkloadText
from tests.builders import an_object, custom_definition, deployment, member_cluster, namespace, placement
from tests.scenarios.test_workload_rollout_changes import images
from tests.scenarios.world import World

OLD = deployment("web", "web", "web:1", replicas=4)
NEW = deployment("web", "web", "web:2", replicas=4)
PATH = "rollouts/web.yaml"
REFERENCE = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
RIGHT = an_object(
    "standard.oam.dev/v1alpha1",
    "RolloutTrait",
    "web",
    namespace="web",
    spec={"targetRef": REFERENCE, "rolloutPlan": {"numBatches": 2}},
)
HPA = an_object(
    "autoscaling/v2",
    "HorizontalPodAutoscaler",
    "web",
    namespace="web",
    spec={"scaleTargetRef": REFERENCE, "minReplicas": 2, "maxReplicas": 9},
)
METRIC = {"name": "m", "metricsRange": {"max": 1}, "templateRef": {"name": "none"}}
HOOK = {"type": "pre-batch-rollout", "name": "x", "url": "https://hooks.example/x", "onFailure": "Rollback"}


def plan(**fields: Any) -> dict[str, Any]:
    """The rollout with another plan."""
    return with_spec(rolloutPlan=fields)


def with_spec(**fields: Any) -> dict[str, Any]:
    """The rollout with other fields; None for one that is missing."""
    body = deepcopy(RIGHT)
    body["spec"] = {name: value for name, value in {**body["spec"], **fields}.items() if value is not None}
    return body


def target(**fields: Any) -> dict[str, Any]:
    """The rollout with another target."""
    return with_spec(targetRef={**REFERENCE, **fields})


NAMELESS = {**RIGHT, "metadata": {"name": "web"}}
SLIPS: Mapping[str, tuple[dict[str, Any], ...]] = {
    "no batches": (plan(numBatches=0),),
    "a number in quotes": (plan(numBatches="2"),),
    "both ways to give batches": (plan(numBatches=2, rolloutBatches=[{"replicas": 4}]),),
    "the last batch in quotes": (plan(numBatches=2, lastBatchToRollout="0"),),
    "more than all pods": (plan(rolloutBatches=[{"replicas": "60%"}, {"replicas": "60%"}]),),
    "a field of the plan": (plan(numBatchs=2),),
    "a field of the spec": (with_spec(rolloutPlans={"numBatches": 2}),),
    "a kind": ({**RIGHT, "kind": "RolloutTraits"},),
    "a group": ({**RIGHT, "apiVersion": "standrad.oam.dev/v1alpha1"},),
    "a version": ({**RIGHT, "apiVersion": "standard.oam.dev/v1beta1"},),
    "no version": ({name: part for name, part in RIGHT.items() if name != "apiVersion"},),
    "a source that is no list": (with_spec(sourceRef=REFERENCE),),
    "a source that is the target": (with_spec(sourceRef=[REFERENCE]),),
    "a target of no group": (target(apiVersion="v1"),),
    "a target of a group of the past": (target(apiVersion="extensions/v1beta1"),),
    "a target's kind": (target(kind="Deploymnet"),),
    "a target's field": (target(nmae="web"),),
    "no plan": (with_spec(rolloutPlan=None),),
    "no namespace": (NAMELESS,),
    "no name": ({**RIGHT, "metadata": {"namespace": "web"}},),
    "a size beside an autoscaler": (plan(numBatches=2, targetSize=4), HPA),
    "none may go": (plan(rolloutStrategy="DecreaseFirst", rolloutBatches=[{"replicas": 4, "maxUnavailable": 0}]),),
    "a strategy": (plan(rolloutStrategy="decreaseFirst"),),
    "a metric without its template": (plan(numBatches=2, canaryMetric=[METRIC]),),
    "an answer to a failure": (plan(numBatches=2, rolloutWebhooks=[HOOK]),),
}


def a_world(*clusters: str) -> World:
    """Clusters with web:1, settled."""
    world = World()
    world.commit(*(member_cluster(name) for name in clusters), namespace("web"), placement("web", "web"), OLD)
    world.settle()
    return world


def commit_all(world: World, *rollout: dict[str, Any]) -> None:
    """One commit with the new content and a rollout in its file."""
    first, *others = rollout
    world.commit(NEW, *others)
    world.write({PATH: json.dumps(first)})


def said(world: World) -> str:
    """What is waited for."""
    result = world.reconcile()
    assert result is not None
    return "\n".join((*result.waiting, *result.asks))


@pytest.mark.parametrize("slip", SLIPS)
def test_the_workload_stays_until_the_slip_is_corrected(slip: str) -> None:
    world = a_world("c1", "c2")
    commit_all(world, *SLIPS[slip])
    world.settle()
    for cluster in ("c1", "c2"):
        live = world.live(cluster, "Deployment", "web", "web")
        assert live is not None
        assert (world.image(cluster), live["spec"]["replicas"], "paused" in live["spec"]) == ("web:1", 4, False)
    fault = next(one for one in world.state().faults if one.path == PATH)
    assert f"it has an error at {PATH}:{fault.line}; correct it" in said(world)
    pods: list[int] = []

    def count() -> None:
        live = world.live("c1", "Deployment", "web", "web")
        assert live is not None
        pods.append(live["status"].get("updatedReplicas", 0) if world.image("c1") == "web:2" else 0)

    world.watch = lambda _: count()
    world.commit(remove=[HPA] if slip == "a size beside an autoscaler" else [])
    world.write({PATH: json.dumps(RIGHT)})
    world.settle(each=count)
    assert {world.image("c1"), world.image("c2")} == {"web:2"}
    states = {one.rolling_state for one in world.state().rollouts[NamespacedName("web", "web")].clusters}
    assert states == {RollingState.SUCCEEDED}
    assert 2 in pods, pods


@pytest.mark.parametrize("slip", ["no batches", "a kind", "no namespace"])
def test_the_workload_goes_on_once_the_file_is_removed(slip: str) -> None:
    world = a_world("c1")
    commit_all(world, *SLIPS[slip])
    world.settle()
    world.restart()
    world.settle()
    assert world.image("c1") == "web:1"
    world.write({PATH: None})
    world.settle()
    assert (world.image("c1"), said(world)) == ("web:2", "")


def test_both_sides_of_a_pair_stay() -> None:
    """The new Deployment is not made, and the old one, which the same commit takes away, is not deleted."""
    world = a_world("c1")
    other = deployment("web", "web-2", "web:2", replicas=4)
    pair = with_spec(targetRef={**REFERENCE, "name": "web-2"}, sourceRef=[REFERENCE])
    world.write({PATH: json.dumps({**pair, "spec": {**pair["spec"], "rolloutPlan": {"numBatchs": 2}}})})
    world.commit(other, remove=[OLD])
    world.settle()
    assert world.live("c1", "Deployment", "web-2", "web") is None
    assert world.image("c1") == "web:1"
    world.write({PATH: json.dumps(pair)})
    world.settle()
    assert (world.image("c1", "web-2"), world.image("c1")) == ("web:2", None)


def app(**fields: Any) -> dict[str, Any]:
    """A rollout of the placement to its snapshot 1; None for a field that is missing."""
    spec = {"placementRef": {"name": "web"}, "targetRevision": "1", "sourceRevision": "0", **fields}
    spec = {name: value for name, value in {"rolloutPlan": {"numBatches": 2}, **spec}.items() if value is not None}
    return an_object("core.oam.dev/v1beta1", "AppRollout", "web", namespace="web", spec=spec)


@pytest.mark.parametrize(
    "slip",
    [
        app(rolloutPlan={"numBatchs": 2}),
        app(rolloutPlan=None),
        app(componentList="web"),
        app(sourceRevision="1"),
        app(targetRevision="v2"),
        {**app(), "kind": "AppRollouts"},
        {**app(), "kind": "ApplicationDeploymnt"},
        {**app(), "apiVersion": "core.oam.dev/v1"},
        {**app(), "apiVersion": "standard.oam.dev/v1alpha1"},
        {**app(), "metadata": {"name": "web"}},
    ],
)
def test_the_workloads_of_a_placement_stay_until_the_slip_is_corrected(slip: dict[str, Any]) -> None:
    """The new Deployment is not made, the old one not deleted; what is no workload goes out."""
    world = a_world("c1", "c2")
    settings = an_object("v1", "ConfigMap", "settings", namespace="web", data={"a": "b"})
    world.write({PATH: json.dumps(slip)})
    world.commit(deployment("web", "web-2", "web:2", replicas=4), settings, remove=[OLD])
    world.settle()
    world.restart()
    world.settle()
    for cluster in ("c1", "c2"):
        assert world.live(cluster, "Deployment", "web-2", "web") is None
        assert world.image(cluster) == "web:1"
    # The second cluster is as it was applied last, and waits for the first one as for any that is not available.
    settings_on = [world.live(cluster, "ConfigMap", "settings", "web") is not None for cluster in ("c1", "c2")]
    assert settings_on == [True, False]
    fault = next(one for one in world.state().faults if one.path == PATH)
    assert f"it has an error at {PATH}:{fault.line}; correct it" in said(world)
    # An error keeps what its commit takes away, so that both are in snapshot 1.
    world.write({PATH: json.dumps(app(targetRevision="2"))})
    world.settle()
    assert (world.image("c1", "web-2"), world.image("c1"), world.image("c2")) == ("web:2", None, None)
    assert world.live("c2", "ConfigMap", "settings", "web") is not None


def test_a_component_alone_is_held_and_an_error_beside_a_sound_rollout_holds_nothing() -> None:
    world = a_world("c1")
    api = deployment("web", "api", "api:1", replicas=2)
    world.commit(api)
    world.settle()
    world.write({PATH: json.dumps(app(componentList=["web"], rolloutPlan={"numBatchs": 2}))})
    world.commit(NEW, deployment("web", "api", "api:2", replicas=2))
    world.settle()
    assert (world.image("c1"), world.image("c1", "api")) == ("web:1", "api:2")
    world.write({PATH: None, "rollouts/app.yaml": json.dumps(app(componentList=["web"], targetRevision="2"))})
    world.settle()
    assert world.image("c1") == "web:2"
    second = {**app(componentList=["web"], rolloutPlan={"numBatchs": 2}), "metadata": {"name": "b", "namespace": "web"}}
    world.write({PATH: json.dumps(second)})
    world.commit(deployment("web", "api", "api:3", replicas=2))
    world.settle()
    assert world.image("c1", "api") == "api:3"


@pytest.mark.parametrize(
    ("rollout", "right", "why"),
    [
        (app(componentList=["wbe"]), app(componentList=["web"]), "has no workload wbe of a kind that a rollout can"),
        (app(), app(componentList=["web"]), "has 2 workloads; name one of them in componentList"),
    ],
)
def test_a_rollout_that_does_not_say_which_workload_it_moves_lets_none_change(
    rollout: dict[str, Any], right: dict[str, Any], why: str
) -> None:
    world = a_world("c1")
    world.commit(deployment("web", "api", "api:1", replicas=2))
    world.settle()
    right["spec"]["targetRevision"] = rollout["spec"]["targetRevision"] = "2"
    right["spec"]["sourceRevision"] = rollout["spec"]["sourceRevision"] = "1"
    world.commit(NEW, deployment("web", "api", "api:2", replicas=2), rollout)
    world.settle()
    assert (world.image("c1"), world.image("c1", "api")) == ("web:1", "api:1")
    assert ("rollout web/web on c1: " + WorkloadText.SNAPSHOT_PLACEMENT(index="2", key=f"web {why}")) in said(world)
    world.commit(right)
    world.settle()
    assert (world.image("c1"), world.image("c1", "api")) == ("web:2", "api:2")


def test_a_size_of_the_workload_of_a_snapshot_that_an_autoscaler_scales_is_asked_about() -> None:
    world = a_world("c1")
    world.commit(HPA)
    world.settle()
    world.commit(NEW, app(targetRevision="2", sourceRevision="1", rolloutPlan={"targetSize": 4}))
    world.settle()
    assert images(world) == {"web:1": 4}
    assert WorkloadText.ITS_WORKLOAD_IS(is_scaled_by="scaled by HorizontalPodAutoscaler/web/web") in said(world)
    world.commit(remove=[HPA])
    world.settle()
    (status,) = world.state().rollouts[NamespacedName("web", "web")].clusters
    assert (world.image("c1"), status.rolling_state) == ("web:2", RollingState.SUCCEEDED)


def test_a_source_of_nearly_the_name_of_what_the_commit_takes_away() -> None:
    """It would be deleted with all of its pods, as it is no source."""
    world = a_world("c1")
    other = deployment("web", "store", "web:2", replicas=4)
    pair = with_spec(targetRef={**REFERENCE, "name": "store"}, sourceRef=[{**REFERENCE, "name": "wbe"}])
    world.write({PATH: json.dumps(pair)})
    world.commit(other, remove=[OLD])
    world.settle()
    assert world.image("c1") == "web:1"
    assert "Deployment/web/wbe is nowhere, and Deployment/web/web, which is to be deleted, has nearly its name" in said(
        world
    )
    world.write({PATH: json.dumps(with_spec(targetRef={**REFERENCE, "name": "store"}, sourceRef=[REFERENCE]))})
    world.settle()
    assert (world.image("c1", "store"), world.image("c1")) == ("web:2", None)


def test_a_second_rollout_with_an_error_stops_no_sound_one() -> None:
    world = a_world("c1")
    world.commit(RIGHT)
    world.settle()
    second = {**plan(numBatches=0), "metadata": {"name": "other", "namespace": "web"}}
    world.write({"rollouts/other.yaml": json.dumps(second)})
    world.commit(NEW)
    world.settle()
    assert world.image("c1") == "web:2"


def test_what_targets_a_workload_and_is_no_rollout_holds_nothing() -> None:
    world = a_world("c1")
    vpa = an_object(
        "autoscaling.k8s.io/v1", "VerticalPodAutoscaler", "web", namespace="web", spec={"targetRef": REFERENCE}
    )
    world.write({"resources/vpa.yaml": json.dumps({**vpa, "metadata": {"name": "web", "namespace": 1}})})
    world.commit(NEW)
    world.settle()
    assert world.image("c1") == "web:2"


def test_a_workload_whose_handler_is_not_installed_stays_and_says_so() -> None:
    def game(image: str) -> dict[str, Any]:
        return an_object("games.example.com/v1", "Game", "web", namespace="web", spec={"image": image})

    def image() -> str:
        live = world.live("c1", "Game", "web", "web")
        assert live is not None
        return str(live["spec"]["image"])

    world = World()
    world.fleet.cluster("c1").apply_by_hand(custom_definition("games.example.com", "Game"))
    world.commit(member_cluster("c1"), namespace("web"), placement("web", "web"), game("web:1"))
    world.settle()
    rollout = target(apiVersion="games.example.com/v1", kind="Game")
    world.commit(game("web:2"), rollout)
    world.settle()
    sentence = "rollout web/web on c1: Game/web/web is of a kind that no workload handler knows; known are"
    assert (image(), sentence in said(world)) == ("web:1", True), said(world)
    world.commit(remove=[rollout])
    world.settle()
    assert (image(), said(world)) == ("web:2", "")
