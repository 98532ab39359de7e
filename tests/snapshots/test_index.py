"""The payload of a commit, indexed once; what references and keys are read from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gitfleet.api.bindings import Binding, BindingState
from gitfleet.api.fleet import FleetConfig
from gitfleet.api.objects import Manifest
from gitfleet.api.overrides import OverrideKey, override_type
from gitfleet.api.placements import PlacementKey
from gitfleet.api.placing_policy import PlacingPolicy, PlacingRule
from gitfleet.api.runs import ClusterUpdate, Former, RunRecord, RunStatus, StageStatus
from gitfleet.api.snapshots import OverrideSnapshot
from gitfleet.api.values import NamespacedName
from gitfleet.model.desired import Desired
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.snapshots import index_of, references_of
from gitfleet.snapshots.index import index_payload
from tests.snapshots.builders import NAMESPACED, index, namespace, obj, placement
from tests.state.builders import T0, condition

WEB = namespace("web", team="a")
ODD: Any = object()


def desired(*payload: Manifest, **more: Any) -> Desired:
    """A commit with a payload."""
    return Desired(commit="c", payload=payload, namespaced=NAMESPACED, **more)


def test_the_index_of_a_commit_is_made_once() -> None:
    one, same = desired(WEB), desired(WEB)
    first, memo = index_of(one, None, Failures())
    assert first == index_payload([WEB], NAMESPACED)
    policy = PlacingPolicy(deny=(PlacingRule(scope="Cluster"),))
    configured = desired(WEB, objects={"fleetconfigs": {"fleet": FleetConfig(policy=policy)}})
    assert index_of(configured, memo, Failures())[0] == index_payload([WEB], NAMESPACED, policy=policy) != first
    again, kept = index_of(one, memo, Failures())
    assert again is first and kept is memo
    other, memo = index_of(same, memo, Failures())
    assert other == first and other is not first, "another reading of the commit"
    assert index_of(same, memo, Failures())[0] is other


def test_disabled_kinds_and_generated_objects_are_left_out() -> None:
    service, endpoints = (obj("v1", kind, "svc", "web") for kind in ("Service", "Endpoints"))
    other = obj("v1", "Endpoints", "other", "web")
    pod, custom_pod = obj("v1", "Pod", "p", "web"), obj("x.io/v1", "Pod", "p", "web")
    found = index(service, endpoints, other, pod, custom_pod)
    assert set(found.objects) == {m.key.identity for m in (service, other, custom_pod)}
    assert found.failed == frozenset()


def bound(**names: Any) -> Binding:
    """A binding that names overrides."""
    return Binding(
        placement=PlacementKey("", "web"), cluster="a", state=BindingState.BOUND, policy_snapshot="web-0", **names
    )


def test_the_overrides_that_any_binding_names() -> None:
    """All that there are, where a placement cannot be read."""
    keys = {name: PlacementKey("", name) for name in ("web", "api", "odd")}
    records = {
        key: PlacementRecord(placement=placement(name=name), bindings=bindings)
        for (name, key), bindings in zip(
            keys.items(),
            [
                (bound(cluster_resource_overrides=("cro-1",)), bound(resource_overrides=("ns/ro-0", "ns/ro-1"))),
                (bound(cluster_resource_overrides=("cro-2", "cro-1")),),
                ODD,
            ],
            strict=True,
        )
    }
    key = OverrideKey("", "cro")
    override = override_type("")(key=key, resources=(), rules=())
    known = {key: tuple(OverrideSnapshot(override=override, index=index, hash="h") for index in (7, 8))}
    readable = {key: record for key, record in records.items() if key.name != "odd"}
    named = {"cro-1", "cro-2", "ns/ro-0", "ns/ro-1"}
    assert references_of(FleetState(placements=readable, overrides=known), Failures()) == named
    update = ClusterUpdate(cluster="a", cluster_resource_overrides=("cro-5",), resource_overrides=("ns/ro-5",))
    former = Former(resource_snapshot="web-0-snapshot", cluster_resource_overrides=("cro-6",))
    stages = (StageStatus(name="all", clusters=(update, replace(update, cluster="b", former=former))),)
    going = RunRecord(
        key=NamespacedName("", "go"),
        placement_name="web",
        strategy_name="all",
        created=T0,
        status=RunStatus(stages=stages),
    )
    over = replace(going, status=replace(going.status, conditions=(condition("Succeeded"),)))
    for run, more in ((going, {"cro-5", "ns/ro-5", "cro-6"}), (over, set())):
        assert references_of(FleetState(runs={run.key: run}, overrides=known), Failures()) == more
    failures = Failures()
    assert references_of(FleetState(placements=records, overrides=known), failures) == named | {"cro-7", "cro-8"}
    lost: Any = object()
    odd, noted = NamespacedName("", "odd"), Failures()
    assert references_of(FleetState(runs={odd: lost}, overrides=known), noted) >= {"cro-7", "cro-8"}
    assert [failure.subject for failure in noted.found] == [Subject.of_run(odd)]
    assert [failure.subject for failure in failures.found] == [Subject.of_placement(keys["odd"])]
