"""What a plan says is at risk counts objects, however often each of them is written."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.clusters import ClusterStatus, MemberCluster
from gitfleet.api.fleet import FleetConfig
from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import Identity, ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.api.workload_records import ClusterRolloutStatus
from gitfleet.model.decisions import Decision, Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.observations import ClusterObservation, LiveObject
from gitfleet.model.operations import Delete
from gitfleet.model.removals import WantedObjects
from gitfleet.model.state import FleetState
from gitfleet.model.works import Work
from gitfleet.views.plan_risk import missing_namespaces, risk_document
from gitfleet.workload.phases import Phase
from tests.builders import manifest_of
from tests.gates import permit
from tests.state.builders import T0, entry
from tests.workload_records import WEB, on, rollout_record

A, B = (entry(ObjectKey("", "v1", "ConfigMap", "web", name)) for name in "ab")


def delete(cluster: str, key: ObjectKey) -> Delete:
    """A deletion."""
    return Delete(
        cluster=cluster, placement=A.placement, reason="r", key=key, uid="u", wave=0, permit=permit(cluster, key)
    )


@pytest.mark.parametrize(
    ("now", "later", "counts"),
    [
        ([], [], (0, 0, 0, 0, 0.0)),
        ([("c1", A)], [], (1, 1, 0, 1, 25.0)),
        ([], [("c1", A), ("c2", A)], (2, 0, 2, 2, 50.0)),
        ([("c1", A)], [("c1", A)], (1, 1, 0, 1, 25.0)),
        ([("c1", A)], [("c1", A), ("c1", B), ("c2", A)], (3, 1, 2, 2, 75.0)),
        ([], [("c1", A), ("c1", A)], (1, 0, 1, 1, 25.0)),
        ([("c1", A), ("c1", A)], [("c1", B)], (2, 2, 1, 1, 50.0)),
    ],
)
def test_an_object_that_is_written_again_later_counts_once(
    now: list[tuple[str, InventoryEntry]], later: list[tuple[str, InventoryEntry]], counts: tuple[float, ...]
) -> None:
    owned = {one.key: one for one in (A, B)}
    state = FleetState(inventory={"c1": owned, "c2": owned})
    decision = Decision(inputs=Inputs(desired=Desired(commit="c"), before=state, observations={}, now=T0), after=state)
    first, rest = ([delete(cluster, one.key) for cluster, one in part] for part in (now, later))
    names = ("objects", "now", "later", "clusters", "percent")
    assert risk_document(decision, first, rest)["delete"] == dict(zip(names, counts, strict=True))


def scaled_down(size: int | None, *statuses: ClusterRolloutStatus, pods: int = 0, **written: Any) -> list[Any]:
    """What a plan says of a rollout to a size, where the manifest has these fields and the cluster so many pods."""
    body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"}}
    manifest = manifest_of({**body, "spec": written})
    work = Work(placement=A.placement, cluster="c1", generation=1, snapshot="s", manifests=(manifest,))
    record = rollout_record(*statuses, target_size=size)
    after = FleetState(rollouts={record.key: record})
    live = LiveObject(key=WEB, body={**body, "spec": {"replicas": pods}})
    there = {"c1": ClusterObservation(cluster="c1", reachable=True, live={WEB: live})} if pods else {}
    inputs = Inputs(desired=Desired(commit="c"), before=FleetState(), observations=there, now=T0)
    found: list[Any] = risk_document(Decision(inputs=inputs, after=after, works={"c1": (work,)}), [], [])["scaledDown"]
    return found


BEGINS = on("c1", Phase.VERIFYING_SPEC)
THROUGH = on("c1", Phase.SUCCEEDED, target_size=2)


@pytest.mark.parametrize(
    ("found", "pods"),
    [
        (scaled_down(2, BEGINS, replicas=6), (6, 2)),
        (scaled_down(2, BEGINS, replicas=6, pods=4), (4, 2)),
        (scaled_down(0, BEGINS), (1, 0)),
        (scaled_down(2, BEGINS, replicas=6, pods=2), None),
        (scaled_down(6, BEGINS, replicas=6), None),
        (scaled_down(7, BEGINS, replicas=6), None),
        (scaled_down(None, BEGINS, replicas=6), None),
        (scaled_down(2, THROUGH, replicas=6), None),
        (scaled_down(1, THROUGH, replicas=6), (6, 1)),
        (scaled_down(2, replace(BEGINS, sources=(WEB,)), replicas=6), None),
        (scaled_down(2, replace(BEGINS, cluster="c2"), replicas=6), None),
        (scaled_down(2, replicas=6), None),
    ],
)
def test_what_is_scaled_down_below_its_manifest(found: list[Any], pods: tuple[int, int] | None) -> None:
    assert [(row["pods"], row["podsAfter"]) for row in found] == ([] if pods is None else [pods])


def test_where_nothing_is_placed_there_is_no_share() -> None:
    empty = FleetState()
    decision = Decision(inputs=Inputs(desired=Desired(commit="c"), before=empty, observations={}, now=T0), after=empty)
    assert risk_document(decision, [delete("c1", A.key)], [])["delete"]["percent"] is None


IN_WEB, SPACE = A.key.identity, ("", "Namespace", "", "web")


def lacking(
    *contents: tuple[Identity, ...] | None,
    namespace: str = "",
    present: tuple[str, ...] = (),
    owned: bool = False,
    existing: tuple[str, ...] = (),
) -> list[dict[str, Any]]:
    """The Namespaces that a cluster lacks where placements want these objects there."""
    wanted = {PlacementKey(namespace, f"p{index}"): {"c1": content} for index, content in enumerate(contents)}
    status = ClusterStatus(namespaces=dict.fromkeys(present, ""))
    after = FleetState(clusters={"c1": MemberCluster(name="c1", status=status)}, wanted=WantedObjects(wanted))
    of_namespace = entry(ObjectKey("", "v1", "Namespace", "", "web"))
    before = FleetState(inventory={"c1": {of_namespace.key: of_namespace}} if owned else {})
    desired = Desired(commit="c", objects={"fleetconfigs": {"fleet": FleetConfig(existing_namespaces=existing)}})
    inputs = Inputs(desired=desired, before=before, observations={}, now=T0)
    return missing_namespaces(Decision(inputs=inputs, after=after))


@pytest.mark.parametrize(
    ("found", "lacks"),
    [
        (lacking((IN_WEB,)), True),
        (lacking((IN_WEB, SPACE)), False),
        (lacking((IN_WEB,), (SPACE,)), False),
        (lacking((IN_WEB,), present=("web",)), False),
        (lacking((IN_WEB,), present=("web",), owned=True), True),  # gitfleet's own goes
        (lacking((IN_WEB,), existing=("w*",)), False),
        (lacking((IN_WEB,), namespace="web"), False),  # a ResourcePlacement waits for its namespace
        (lacking(None), False),
        (lacking((("", "ConfigMap", "default", "a"),)), False),
    ],
)
def test_namespaces_that_nothing_brings_to_a_cluster(found: list[dict[str, Any]], lacks: bool) -> None:
    assert found == ([{"name": "web", "clusters": ["c1"]}] if lacks else [])
